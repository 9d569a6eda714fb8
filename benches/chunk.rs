//! Speed of reading books, finding chapters and cutting chunks, and accuracy of the token estimates.
//!
//! `cargo bench --bench chunk` measures the included books, `cargo bench --bench chunk -- FILE…` others; of a file with
//! several books the first is used. Speeds are MB of UTF-8 text per second of CPU time of one thread, or of wall time where the
//! kernel does not report CPU time. The best batch is reported; the median shows the variance. Each stage of a book is measured
//! for one second. `benches/memory.sh` measures memory.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints what it measured")]

mod clock;

use std::path::Path;

use dramaturg::llm::Tokenizer;
use dramaturg::schema::{Chunk, Language};
use dramaturg::stages::chunk::{Params, chapters, chunk, read};

use self::clock::{Clock, on_core};

/// The included books.
const SHIPPED: &[&str] = &["a_penny_either_way.txt", "forty_kilos_short.fountain", "lian_wen_ji.txt"];
/// Measurements per stage.
const BATCHES: usize = 5;
/// Seconds per measurement.
const BATCH: f64 = 0.2;
/// The reference tokenizer.
const TOKENIZER: Tokenizer = Tokenizer::O200kBase;
/// Maximum error of the estimate for a book and for a chunk, and the share of chunks within it.
const TARGETS: (f64, f64, f64) = (0.08, 0.15, 0.95);

fn main() {
    // Cargo adds `--bench`.
    let mut files: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if files.is_empty() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("books");
        files = SHIPPED.iter().map(|name| folder.join(name).display().to_string()).collect();
    }
    let mut measured = Vec::new();
    for file in &files {
        match std::fs::read(file).map_err(|error| error.to_string()).and_then(|bytes| Measured::of(file, &bytes)) {
            Ok(book) => measured.push(book),
            Err(error) => eprintln!("{file}: {error}"),
        }
    }
    speeds(&measured);
    errors(&measured);
    println!("\nmemory: benches/memory.sh [BOOK…], after `cargo build --release`");
}

/// Measurements of a book.
struct Measured {
    name: String,
    language: Language,
    megabytes: f64,
    /// Seconds for reading, chapters and chunks, best batch of each.
    best: [f64; 3],
    /// Seconds in total, median batches.
    median: f64,
    /// Estimated and counted tokens of each chunk.
    tokens: Vec<(f64, f64)>,
}

impl Measured {
    fn of(path: &str, bytes: &[u8]) -> Result<Self, String> {
        let params = Params::default();
        let book = read(path, bytes, None).map_err(|error| error.to_string())?;
        let headings = chapters(&book);
        let stages = [
            seconds(|| drop(read(path, bytes, None))),
            seconds(|| drop(chapters(&book))),
            seconds(|| drop(chunk(&book, &headings, &params))),
        ];
        let (chunks, _) = chunk(&book, &headings, &params);
        let tokens = |chunk: &Chunk| (f64::from(chunk.tokens), f64::from(TOKENIZER.count(&chunk.text)));
        let name = Path::new(path).file_name().map_or_else(|| path.into(), |name| name.to_string_lossy());
        Ok(Self {
            name: name.into_owned(),
            language: book.language,
            megabytes: float(book.text.len()) / 1e6,
            best: stages.map(|(best, _)| best),
            median: stages.iter().map(|(_, median)| median).sum(),
            tokens: chunks.iter().map(tokens).collect(),
        })
    }
}

/// Returns the seconds of a stage in the best and the median batch.
fn seconds(mut stage: impl FnMut()) -> (f64, f64) {
    let mut batches = [0.0; BATCHES];
    for batch in &mut batches {
        let (begun, mut rounds) = (Clock::start(), 0);
        *batch = loop {
            stage();
            rounds += 1;
            let spent = begun.seconds();
            if spent >= BATCH {
                break spent / f64::from(rounds);
            }
        };
    }
    batches.sort_by(f64::total_cmp);
    (batches[0], batches[BATCHES / 2])
}

/// Prints speeds by book and by language.
fn speeds(books: &[Measured]) {
    let clock = if on_core().is_some() { "seconds on a core" } else { "seconds on the clock: let nothing else run" };
    println!("MB of text by {clock}, one thread");
    println!("{:>8}  {:>7} {:>8} {:>7} {:>7} {:>7}", "text", "read", "chapters", "chunks", "total", "median");
    let line = |megabytes: f64, best: [f64; 3], median: f64, name: &str| {
        let [read, chapters, chunks] = best.map(|seconds| megabytes / seconds);
        let (total, median) = (megabytes / best.iter().sum::<f64>(), megabytes / median);
        println!("{megabytes:5.2} MB  {read:7.0} {chapters:8.0} {chunks:7.0} {total:7.0} {median:7.0}  {name}");
    };
    for book in books {
        line(book.megabytes, book.best, book.median, &book.name);
    }
    for (language, name) in LANGUAGES {
        let of_it: Vec<&Measured> = books.iter().filter(|book| book.language == language).collect();
        if !of_it.is_empty() {
            let sum = |value: &dyn Fn(&Measured) -> f64| of_it.iter().map(|book| value(book)).sum::<f64>();
            let best = std::array::from_fn(|at| sum(&|book| book.best[at]));
            line(sum(&|book| book.megabytes), best, sum(&|book| book.median), name);
        }
    }
}

/// Prints the errors of the estimates by book and by language.
fn errors(books: &[Measured]) {
    let (whole, near, share) = TARGETS;
    println!(
        "\n{:>9} {:>9} {:>7}  chunks within {:.0} %  (wanted: {:.0} % on a book, {:.0} % of the chunks)",
        TOKENIZER.name(),
        "estimate",
        "error",
        near * 100.0,
        whole * 100.0,
        share * 100.0
    );
    let line = |tokens: &[(f64, f64)], name: &str| {
        let (estimated, counted) = tokens.iter().fold((0.0, 0.0), |sum, chunk| (sum.0 + chunk.0, sum.1 + chunk.1));
        let is_near = |(estimate, count): &&(f64, f64)| (estimate - count).abs() <= count * near;
        let within = tokens.iter().filter(is_near).count();
        let part = float(within) / float(tokens.len().max(1));
        let error = estimated / f64::max(counted, 1.0) - 1.0;
        let missed = if error.abs() > whole || part < share { "  MISSED" } else { "" };
        println!(
            "{counted:10.0} {estimated:9.0} {:+6.1} %  {within:3} of {:3}, {:5.1} %  {name}{missed}",
            error * 100.0,
            tokens.len(),
            part * 100.0
        );
    };
    for book in books {
        line(&book.tokens, &book.name);
    }
    for (language, name) in LANGUAGES {
        let of_it = books.iter().filter(|book| book.language == language);
        let tokens: Vec<(f64, f64)> = of_it.flat_map(|book| book.tokens.iter().copied()).collect();
        if !tokens.is_empty() {
            line(&tokens, name);
        }
    }
}

const LANGUAGES: [(Language, &str); 2] = [(Language::En, "English"), (Language::Zh, "Chinese")];

#[expect(clippy::cast_precision_loss, reason = "no book has 2^52 bytes")]
const fn float(count: usize) -> f64 {
    count as f64
}
