//! Speed and memory of attribution by rule and of the book index that scenes are made from.
//!
//! `cargo bench --bench attribution` measures the included books, `cargo bench --bench attribution -- FILE…` others; of a file
//! with several books the first is used. Each book is measured as it is and repeated to 20 MB, and so are all books of a language
//! together, which have many characters. Speeds are MB of UTF-8 text per second of CPU time of one thread, or of wall time where
//! the kernel does not report CPU time. Memory is the increase of the peak, as a multiple of the text.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints what it measured")]

mod clock;

use std::path::Path;
use std::sync::Arc;

use dramaturg::attribution;
use dramaturg::schema::{Book, Language};
use dramaturg::stages::chunk::read;
use dramaturg::stages::extract::BookIndex;

use self::clock::Clock;

/// The included books.
const SHIPPED: &[&str] = &["a_penny_either_way.txt", "lian_wen_ji.txt"];
/// Measurements per text; the best one is reported.
const TIMES: usize = 3;
/// Size of a long text in bytes.
const LONG: usize = 20_000_000;
/// Targets: MB per second, and memory as a multiple of the text.
const TARGETS: (f64, f64) = (5.0, 10.0);

fn main() {
    // Cargo adds `--bench`.
    let mut files: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if files.is_empty() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("books");
        files = SHIPPED.iter().map(|name| folder.join(name).display().to_string()).collect();
    }
    let mut books = Vec::new();
    for file in &files {
        let bytes = std::fs::read(file).map_err(|error| error.to_string());
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        match bytes.and_then(|bytes| read(file, &bytes, None).map_err(|error| error.to_string())) {
            Ok(book) => books.push((name, book)),
            Err(error) => eprintln!("{file}: {error}"),
        }
    }
    println!(
        "{:>8}  {:>7} {:>7} {:>7} MB/s  {:>6}  quotations  characters",
        "text", "speakers", "index", "total", "memory"
    );
    for (name, book) in &books {
        measure(name, book, TIMES);
        measure(&format!("{name}, again and again"), &repeated(book, &book.text), 1);
    }
    for language in Language::ALL {
        let texts: Vec<&str> = books
            .iter()
            .map(|(_, book)| book)
            .filter(|book| book.language == language)
            .map(|book| book.text.as_str())
            .collect();
        let Some((_, first)) = books.iter().find(|(_, book)| book.language == language && texts.len() > 1) else {
            continue;
        };
        measure(&format!("all of `{language}`, again and again"), &repeated(first, &texts.join("\n\n")), 1);
    }
}

/// Returns a book whose text is repeated until it is long.
fn repeated(book: &Book, text: &str) -> Book {
    let times = LONG.div_ceil(text.len().max(1));
    Book { text: format!("{text}\n\n").repeat(times), ..book.clone() }
}

/// Prints the cost of analysing a book.
fn measure(name: &str, book: &Book, times: usize) {
    let text: Arc<str> = Arc::from(book.text.as_str());
    let megabytes = float(text.len()) / 1e6;
    let mut best = [f64::INFINITY; 2];
    let (mut memory, mut found) = (None, (0, 0));
    for _ in 0..times {
        let held = memory_of("VmRSS:");
        // Resets the kernel's peak.
        let anew = std::fs::write("/proc/self/clear_refs", "5").is_ok();
        let begun = Clock::start();
        let read = attribution::attribute(&text, book.language, book.script);
        let attribution = begun.seconds();
        found = (read.quotations.len(), read.people.len());
        let begun = Clock::start();
        let facts = BookIndex::new(book, book.language, Arc::clone(&text), read);
        let made = begun.seconds();
        drop(facts);
        best = [best[0].min(attribution), best[1].min(made)];
        memory = held
            .zip(memory_of("VmHWM:"))
            .filter(|_| anew)
            .map(|(held, peak)| (peak - held).max(0.0) / float(text.len()));
    }
    let [attribution, facts] = best.map(|seconds| megabytes / seconds);
    let total = megabytes / (best[0] + best[1]);
    let slow = if total < TARGETS.0 { "  SLOW" } else { "" };
    let large = if memory.is_some_and(|times| times > TARGETS.1) { "  LARGE" } else { "" };
    let memory = memory.map_or("?".to_owned(), |times| format!("{times:.1} ×"));
    let (quotations, people) = found;
    println!(
        "{megabytes:5.2} MB  {attribution:7.1} {facts:7.1} {total:7.1}       {memory:>6}  {quotations:10}  {people:6}  {name}{slow}{large}"
    );
}

/// Returns a memory figure of this process from the kernel, in bytes.
fn memory_of(key: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[expect(clippy::cast_precision_loss, reason = "no book has 2^52 bytes")]
const fn float(count: usize) -> f64 {
    count as f64
}
