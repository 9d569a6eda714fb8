//! How fast books are read, cut into chapters and chunks, and weighed: MB of UTF-8 text per second on one core.
//!
//! `cargo bench --bench chunk` measures generated text in both languages, `cargo bench --bench chunk -- FILE…` books.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::time::Instant;

use dramaturg::schema::Book;
use dramaturg::stages::chunk::{Params, chapters, chunk, read};

/// Rounds; the fastest counts, since other work on the machine only slows.
const ROUNDS: u32 = 7;

fn main() {
    // Cargo passes `--bench` along.
    let files: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if files.is_empty() {
        measure("generated.en.txt", generated(8_000_000, "Chapter", EN).as_bytes());
        measure("generated.zh.txt", generated(8_000_000, "第", ZH).as_bytes());
    }
    for file in files {
        match std::fs::read(&file) {
            Ok(bytes) => measure(&file, &bytes),
            Err(error) => println!("{file}: {error}"),
        }
    }
}

const EN: &[&str] = &[
    "The ferry came in at a quarter past six, an hour late, and nobody on the quay had gone home.",
    "“She’ll have the letter,” said the harbour-master. “She always has the letter.”",
    "Nobody answered; the gangway was let down with a noise like a dropped drawer of spoons.",
    "“Then where is Joseph?”",
];

const ZH: &[&str] = &[
    "天还没有亮，码头上已经站满了人。卖馄饨的老周把炉子搬到墙根底下，一边扇火，一边数着今天要还的账。",
    "“听说船今天不来了。”有人在他背后说。",
    "那个人没有再说话，只是把手伸进怀里，摸出一封皱巴巴的信，放在炉子旁边的凳子上。",
    "“谁讲的？”老周头也不抬。",
];

/// Makes a book of about so many bytes, with a chapter for each 20 kB.
fn generated(length: usize, word: &str, sentences: &[&str]) -> String {
    let (mut text, mut number) = (String::with_capacity(length + 1000), 0);
    for at in 0.. {
        if text.len() >= length {
            break;
        }
        if text.len() >= number * 20_000 {
            number += 1;
            let title = if word == "第" { format!("第{number}章\n\n") } else { format!("{word} {number}\n\n") };
            text.push_str(&title);
        }
        text.push_str(sentences[(at * 7 + number) % sentences.len()]);
        // Some paragraphs have several sentences.
        text.push_str(if at % 3 == 0 { "\n\n" } else { " " });
    }
    text
}

fn measure(path: &str, bytes: &[u8]) {
    let params = Params::default();
    let mut best = [f64::INFINITY; 4];
    let (mut megabytes, mut count) = (0.0, 0);
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let book: Book = match read(path, bytes, None) {
            Ok(book) => book,
            Err(error) => {
                println!("{error}");
                return;
            }
        };
        let was_read = begun.elapsed().as_secs_f64();
        let chapters = chapters(&book);
        let has_chapters = begun.elapsed().as_secs_f64();
        let (chunks, _) = chunk(&book, &chapters, &params);
        let done = begun.elapsed().as_secs_f64();
        let times = [was_read, has_chapters - was_read, done - has_chapters, done];
        best = std::array::from_fn(|at| best[at].min(times[at]));
        count = chunks.len();
        #[expect(clippy::cast_precision_loss, reason = "no book has 2^52 bytes")]
        let size = book.text.len() as f64 / 1e6;
        megabytes = size;
    }
    let [read, chapters, chunks, whole] = best.map(|seconds| megabytes / seconds);
    println!(
        "{whole:7.0} MB/s  {megabytes:6.2} MB  {count:4} chunks  (read {read:.0}, chapters {chapters:.0}, chunks {chunks:.0})  {path}"
    );
}
