//! Speed of searching lines of speech in a book: lines per second of one core, in books of 0.25 and 1 MB.
//!
//! `cargo bench --bench grounding` generates books from the words of the included ones, `cargo bench --bench grounding -- FILE…`
//! uses other books, cut to 1 MB. One third of the lines is in the book word for word, one third lacks a word, and one third has
//! words of the book in another order. Then come the worst cases: a book in which everybody says the same, lines of 10,000
//! characters that are exact, near and absent, and a book of one paragraph.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints what it measured")]

mod clock;

use std::path::Path;
use std::sync::Arc;

use dramaturg::attribution;
use dramaturg::schema::{Book, Grounded, Language};
use dramaturg::stages::chunk::read;
use dramaturg::stages::extract::{BookIndex, ground};

use self::clock::Clock;

/// The included books.
const SHIPPED: &[&str] = &["a_penny_either_way.txt", "lian_wen_ji.txt"];
/// Size of a book in bytes.
const LONG: usize = 1_000_000;
/// Length of a long line in characters.
const SPEECH: usize = 10_000;
/// The default of `extract.min_similarity`.
const LIKENESS: f64 = 0.6;

fn main() {
    // Cargo adds `--bench`.
    let files: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    println!("   lines  per second  index     exact   near absent");
    for file in &files {
        let bytes = std::fs::read(file).map_err(|error| error.to_string());
        match bytes.and_then(|bytes| read(file, &bytes, None).map_err(|error| error.to_string())) {
            Ok(book) => sizes(&Path::new(file).file_name().unwrap_or_default().to_string_lossy(), &book),
            Err(error) => eprintln!("{file}: {error}"),
        }
    }
    if !files.is_empty() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("books");
    for name in SHIPPED {
        let bytes = std::fs::read(folder.join(name)).expect("the included book is readable");
        let book = read(name, &bytes, None).expect("the included book is valid");
        let mut writer = Writer::new(&book);
        sizes("mixed", &writer.book(LONG, 60, true));
        let same = writer.same();
        measure("all say the same", &same, |lines| lines);
        let length = if book.language == Language::Zh { SPEECH } else { SPEECH / 6 };
        let long = writer.book(LONG, length, true);
        let few = |lines: Vec<String>| lines.into_iter().take(40).collect::<Vec<String>>();
        measure("10,000 characters each, there", &long, few);
        measure("10,000 characters each, nearly there", &long, |lines| {
            few(lines).iter().map(|line| less(line)).collect()
        });
        measure("10,000 characters each, not there", &long, |lines| {
            few(lines).iter().map(|line| shuffled(line, &mut Dice(7))).collect()
        });
        measure("one paragraph", &writer.book(LONG, 60, false), mixed);
    }
}

/// Measures a book and its first quarter.
fn sizes(name: &str, book: &Book) {
    for length in [LONG / 4, LONG] {
        let text = &book.text[..book.text.floor_char_boundary(length)];
        let part = Book { text: text.to_owned(), ..book.clone() };
        measure(&format!("{name}, {:.2} MB", float(text.len()) / 1e6), &part, mixed);
    }
}

/// Prints how fast lines derived from a book are found in it.
fn measure(name: &str, book: &Book, make: impl FnOnce(Vec<String>) -> Vec<String>) {
    let text: Arc<str> = Arc::from(book.text.as_str());
    let attribution = attribution::attribute(&text, book.language, book.script);
    let lines: Vec<String> = attribution.quotations.iter().map(|quotation| quotation.text.clone()).collect();
    let lines = make(lines);
    let end = u32::try_from(text.chars().count()).expect("a book has fewer than 2^32 characters");
    let facts = BookIndex::new(book, book.language, Arc::clone(&text), attribution);
    let begun = Clock::start();
    let nothing = ground(&facts, 0..end, &[], LIKENESS);
    assert!(nothing.is_empty());
    let index = begun.seconds();
    let begun = Clock::start();
    let found = ground(&facts, 0..end, &lines, LIKENESS);
    let seconds = (begun.seconds() - index).max(1e-9);
    let count = |grounded| found.iter().filter(|(other, _)| *other == grounded).count();
    let [exact, near, absent] = [Grounded::Exact, Grounded::Near, Grounded::Absent].map(count);
    let speed = float(lines.len()) / seconds;
    println!(
        "{:8}  {speed:10.0}  {index:5.2} s  {exact:6} {near:6} {absent:6}  {} {name}",
        lines.len(),
        book.language.code()
    );
}

/// Returns lines of which a third is unchanged, a third lacks a word, and a third has another word order.
fn mixed(lines: Vec<String>) -> Vec<String> {
    let mut dice = Dice(11);
    let other = |(at, line): (usize, String)| match at % 3 {
        0 => line,
        1 => less(&line),
        _ => shuffled(&line, &mut dice),
    };
    lines.into_iter().enumerate().map(other).collect()
}

/// Returns a line without its middle word or Chinese character.
fn less(line: &str) -> String {
    let mut pieces = pieces(line);
    if pieces.len() > 2 {
        pieces.remove(pieces.len() / 2);
    }
    joined(&pieces)
}

/// Returns the words of a line in another order.
fn shuffled(line: &str, dice: &mut Dice) -> String {
    let mut pieces = pieces(line);
    for at in (1..pieces.len()).rev() {
        pieces.swap(at, dice.below(at + 1));
    }
    joined(&pieces)
}

/// Splits a text into words, or into characters if it has no spaces.
fn pieces(text: &str) -> Vec<String> {
    if text.is_ascii() || text.contains(' ') {
        text.split_whitespace().map(str::to_owned).collect()
    } else {
        text.chars().filter(|c| !c.is_whitespace()).map(String::from).collect()
    }
}

fn joined(pieces: &[String]) -> String {
    let blank = if pieces.iter().any(|piece| piece.is_ascii()) { " " } else { "" };
    pieces.join(blank)
}

/// Generates books from the words of another book.
struct Writer {
    language: Language,
    words: Vec<String>,
    dice: Dice,
}

impl Writer {
    fn new(book: &Book) -> Self {
        let letters = |piece: &String| piece.chars().all(char::is_alphanumeric);
        let text: String = book.text.chars().filter(|c| *c != '\u{3000}').collect();
        let words = match book.language {
            Language::En => text.split_whitespace().map(str::to_owned).filter(letters).collect(),
            // Character pairs are as frequent as in real text.
            Language::Zh => {
                let chars: Vec<char> = text.chars().collect();
                chars.chunks(2).map(|pair| pair.iter().collect()).filter(letters).collect()
            }
        };
        Self { language: book.language, words, dice: Dice(5) }
    }

    /// Generates a book in which two people speak, with a given number of words per line.
    fn book(&mut self, length: usize, words: usize, parted: bool) -> Book {
        let (blank, stop) = if self.language == Language::En { (" ", ".") } else { ("", "。") };
        let mut text = String::with_capacity(length + 50_000);
        for turn in 0.. {
            if text.len() >= length {
                break;
            }
            // Lines vary in length down to a fifth.
            let count = if words > 100 { words } else { words / 5 + self.dice.below(words * 4 / 5) };
            let count = if self.language == Language::En { count / 2 } else { count / 4 }.max(2);
            let said: Vec<&str> = (0..count).map(|_| self.words[self.dice.below(self.words.len())].as_str()).collect();
            text.push_str(&reporting_clause(self.language, turn, &format!("{}{stop}", said.join(blank))));
            text.push_str(if parted { "\n\n" } else { blank });
        }
        self.bound(text)
    }

    /// Generates a book in which everybody says one of two words.
    fn same(&self) -> Book {
        let said = if self.language == Language::En { ["Yes.", "No."] } else { ["是。", "不是。"] };
        let lines: Vec<String> =
            (0..20_000).map(|turn| reporting_clause(self.language, turn, said[turn / 2 % 2])).collect();
        self.bound(lines.join("\n\n"))
    }

    fn bound(&self, text: String) -> Book {
        Book { slug: "a-book".to_owned(), title: "A Book".to_owned(), language: self.language, text, ..Book::default() }
    }
}

/// Returns a reporting clause.
fn reporting_clause(language: Language, turn: usize, said: &str) -> String {
    match language {
        Language::En => format!("“{said}” said {}.", ["Anna", "Boris"][turn % 2]),
        Language::Zh => format!("{}道：“{said}”", ["陆平", "周七"][turn % 2]),
    }
}

/// A random generator whose output does not depend on a crate's version.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(count.max(1)).expect("the value is small"))
            .expect("the value is small")
    }
}

#[expect(clippy::cast_precision_loss, reason = "no count here has 2^52")]
const fn float(count: usize) -> f64 {
    count as f64
}
