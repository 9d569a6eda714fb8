//! The command `chunk`: shows how books are read and split, or runs a pipeline up to its chunks.
//!
//! Books are read and printed one at a time, so memory use is that of the largest book.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::args::{ChunkArguments, RunArguments, RunOptions};
use crate::cli::commands::build::run_pipeline;
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::diagnostics::{self, FailedCommand};
use crate::cli::{Terminal, to_stderr};
use crate::config;
use crate::config::BookError;
use crate::llm::Tokenizer;
use crate::schema::Stage;
use crate::schema::{Book, Chapter, Chunk, Format, Language, Reject};
use crate::stages::chunk;
use crate::stages::export::thousands;

/// Prints books, or runs a pipeline up to its chunks.
pub(crate) fn chunk(arguments: ChunkArguments) -> Exit {
    let pipelines = arguments.paths.iter().filter(|path| is_pipeline(path)).count();
    match (pipelines, arguments.paths.len()) {
        (0, _) if arguments.options.out.is_some() => usage(
            "`--out` needs a pipeline file; books alone write no files",
            "give a pipeline file, or remove `--out`",
        ),
        (0, _) => show(&arguments),
        (1, 1) if arguments.chapters || arguments.encoding.is_some() => usage(
            "`--chapters` and `--encoding` apply to books, not to a pipeline file",
            "give books instead of the pipeline file; `--set 'chunk.encoding=\"big5\"'` sets a run's encoding",
        ),
        (1, 1) => {
            let ChunkArguments { mut paths, options, .. } = arguments;
            run_pipeline(
                &RunArguments { pipeline: paths.remove(0), options },
                false,
                Stage::Chunk,
                FailedCommand::Other,
            )
        }
        _ => usage("pipeline files and books cannot be combined", "give one pipeline file, or books"),
    }
}

/// Prints a usage error with a hint.
pub(crate) fn usage(text: &str, hint: &str) -> Exit {
    to_stderr(&format!("error: {text}\nhint: {hint}\n"));
    Exit::Usage
}

/// Whether a path names a pipeline file.
pub(crate) fn is_pipeline(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml")
}

fn show(arguments: &ChunkArguments) -> Exit {
    for_each_book(&arguments.paths, &arguments.options, arguments.encoding.as_deref(), |out, book, params| {
        write(out, book, params, arguments)
    })
}

/// Prints why a book or a related file cannot be read.
pub(crate) fn print_book_error(error: &BookError, terminal: &Terminal) {
    let hint = match error {
        BookError::NoMatch { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
        _ => None,
    };
    to_stderr(&diagnostics::chain(error, hint.as_deref(), terminal.color));
}

/// Reads books one after the other and calls `write` for each.
pub(crate) fn for_each_book(
    paths: &[PathBuf],
    options: &RunOptions,
    encoding: Option<&str>,
    mut write: impl FnMut(&mut BufWriter<StdoutLock<'_>>, &Book, &chunk::Params) -> io::Result<()>,
) -> Exit {
    let terminal = Terminal::new();
    let params = match params(options, encoding) {
        Ok(params) => params,
        Err(error) => {
            to_stderr(&diagnostics::chain(
                &error,
                Some("for books only keys of `chunk` can be set, as in `--set chunk.max_tokens=4096`"),
                terminal.color,
            ));
            return Exit::Usage;
        }
    };
    let paths = match config::book_paths(paths) {
        Ok(paths) => paths,
        Err(error) => {
            print_book_error(&error, &terminal);
            return Exit::Usage;
        }
    };
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let (mut printed, mut failed) = (0_u64, 0_u64);
    for path in paths {
        let books = match config::open_books(&path, params.encoding.as_deref()) {
            Ok(books) => books,
            Err(error) => {
                print_book_error(&error, &terminal);
                failed += 1;
                continue;
            }
        };
        for book in books {
            let book = match book {
                Ok(book) => book,
                Err(error) => {
                    failed += 1;
                    print_book_error(&error.into(), &terminal);
                    continue;
                }
            };
            printed += 1;
            if options.quiet && !options.json {
                continue;
            }
            match write(&mut out, &book, &params).and_then(|()| out.flush()) {
                Ok(()) => {}
                // A closed pipe (`| head`) is not an error.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    return if failed == 0 { Exit::Done } else { Exit::Failures };
                }
                Err(error) => {
                    to_stderr(&format!("error: failed to write to stdout\n  caused by: {error}\n"));
                    return Exit::Fault;
                }
            }
        }
    }
    match (printed, failed) {
        (_, 0) => Exit::Done,
        (0, _) => Exit::Usage,
        _ => {
            let all = printed + failed;
            to_stderr(&format!("error: failed to read {failed} of {all} books\n"));
            Exit::Failures
        }
    }
}

/// Returns the `[chunk]` parameters set by `--set` and `--encoding`.
fn params(options: &RunOptions, encoding: Option<&str>) -> Result<chunk::Params, toml::de::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sets {
        #[serde(default)]
        chunk: chunk::Params,
    }
    let mut params = toml::from_str::<Sets>(&options.sets.join("\n"))?.chunk;
    if let Some(encoding) = encoding {
        params.encoding = Some(encoding.to_owned());
    }
    Ok(params)
}

/// Writes a book in the requested format.
fn write(out: &mut impl Write, book: &Book, params: &chunk::Params, arguments: &ChunkArguments) -> io::Result<()> {
    let chapters = chunk::chapters(book);
    if arguments.chapters {
        return if arguments.options.json { lines(out, &chapters) } else { headings(out, book, &chapters) };
    }
    let (mut chunks, rejects) = chunk::chunk(book, &chapters, params);
    let counts = Counts {
        tokens: chunks.iter().map(|chunk| u64::from(chunk.tokens)).sum(),
        chunks: chunks.len(),
        foreign: chunks.iter().filter(|chunk| chunk.language != book.language).count(),
    };
    chunks.truncate(arguments.options.limit.map_or(usize::MAX, |limit| limit as usize));
    let report = BookReport::of(book, chapters.len(), counts.tokens, params.tokenizer, &rejects, &chunks);
    if arguments.options.json { lines(out, &[report]) } else { table(out, &report, &counts) }
}

/// Writes values as JSON Lines.
fn lines<T: Serialize>(out: &mut impl Write, values: &[T]) -> io::Result<()> {
    for value in values {
        serde_json::to_writer(&mut *out, value)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Totals over all chunks of a book, including those not shown.
struct Counts {
    tokens: u64,
    chunks: usize,
    /// Chunks in another language than the book.
    foreign: usize,
}

/// Output of `chunk --json` for a book.
#[derive(Debug, Serialize)]
struct BookReport<'a> {
    book: &'a str,
    title: &'a str,
    author: Option<&'a str>,
    path: &'a str,
    format: Format,
    encoding: &'a str,
    language: Language,
    /// Apparent language, if neither English nor Chinese.
    other_language: Option<&'a str>,
    script: bool,
    /// Number of code points of the decoded text.
    characters: u64,
    /// Number of U+FFFD characters, which replace undecodable bytes.
    replaced: u64,
    /// Total over all chunks.
    tokens: u64,
    /// Tokenizer that counted the tokens; null if they are estimated.
    tokenizer: Option<Tokenizer>,
    /// Number of headings.
    chapters: usize,
    left_out: Vec<Skipped<'a>>,
    chunks: Vec<ChunkReport<'a>>,
}

#[derive(Debug, Serialize)]
struct Skipped<'a> {
    id: &'a str,
    reason: &'a str,
    detail: &'a str,
}

#[derive(Debug, Serialize)]
struct ChunkReport<'a> {
    id: String,
    index: u32,
    language: Language,
    chapter: &'a str,
    start: u32,
    end: u32,
    tokens: u32,
    text: &'a str,
}

impl<'a> BookReport<'a> {
    fn of(
        book: &'a Book,
        chapters: usize,
        tokens: u64,
        tokenizer: Option<Tokenizer>,
        rejects: &'a [Reject],
        chunks: &'a [Chunk],
    ) -> Self {
        let left_out = rejects.iter().map(|reject| Skipped {
            id: &reject.id,
            reason: reject.reason.name(),
            detail: &reject.detail,
        });
        let chunks = chunks.iter().map(|chunk| ChunkReport {
            id: chunk.id(),
            index: chunk.index,
            language: chunk.language,
            chapter: &chunk.chapter,
            start: chunk.start,
            end: chunk.end,
            tokens: chunk.tokens,
            text: &chunk.text,
        });
        Self {
            book: &book.slug,
            title: &book.title,
            author: book.author.as_deref(),
            path: &book.path,
            format: book.format,
            encoding: &book.encoding,
            language: book.language,
            other_language: book.other_language,
            script: book.script,
            characters: book.text.chars().count() as u64,
            replaced: book.text.matches('\u{fffd}').count() as u64,
            tokens,
            tokenizer,
            chapters,
            left_out: left_out.collect(),
            chunks: chunks.collect(),
        }
    }
}

/// Writes a book as readable text.
fn table(out: &mut impl Write, book: &BookReport, counts: &Counts) -> io::Result<()> {
    write!(out, "{}", visible(book.title))?;
    if let Some(author) = book.author {
        write!(out, ", {}", visible(author))?;
    }
    let format = match book.format {
        _ if book.script => "a script",
        Format::Text => "plain text",
        Format::Markdown => "Markdown",
        Format::Html => "HTML",
        Format::Epub => "EPUB",
        Format::Jsonl => "JSON Lines",
    };
    let (path, encoding, language) = (visible(book.path), visible(book.encoding), name(book.language));
    writeln!(out, "\n      file  {path}: {format}, {encoding}, {language}")?;
    if let Some(other) = book.other_language {
        writeln!(out, "   warning  the text appears to be in {other}; only English and Chinese are supported")?;
    }
    if book.replaced > 0 {
        let characters = counted(book.replaced, "character");
        writeln!(out, "   warning  {characters} could not be decoded")?;
    }
    let (characters, tokens) = (counted(book.characters, "character"), counted(book.tokens, "token"));
    let tokens = match book.tokenizer {
        Some(tokenizer) => format!("{tokens} of {}", tokenizer.name()),
        None => format!("about {tokens}"),
    };
    writeln!(out, "      size  {characters}, {tokens}, {}", counted(book.chapters as u64, "heading"))?;
    for skipped in &book.left_out {
        writeln!(out, "   skipped  {}: {}", visible(skipped.reason), visible(skipped.detail))?;
    }
    write!(out, "    chunks  {}", thousands(counts.chunks as u64))?;
    if counts.foreign > 0 {
        let other = if book.language == Language::En { Language::Zh } else { Language::En };
        write!(out, ", of which {} in {}", thousands(counts.foreign as u64), name(other))?;
    }
    out.write_all(b"\n")?;
    for chunk in &book.chunks {
        let (tokens, start, end) =
            (thousands(chunk.tokens.into()), thousands(chunk.start.into()), thousands(chunk.end.into()));
        let range = format!("{start} to {end}");
        writeln!(out, "  {:>8}  {tokens:>6} tokens  {range:>24}  {}", chunk.index, visible(chunk.chapter))?;
    }
    out.write_all(b"\n")
}

/// Formats a count with a noun.
fn counted(count: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(count), if count == 1 { "" } else { "s" })
}

const fn name(language: Language) -> &'static str {
    match language {
        Language::En => "English",
        Language::Zh => "Chinese",
    }
}

/// Writes the headings of a book: the position used by `[books] paths` to select chapters, the level and the printed
/// number.
fn headings(out: &mut impl Write, book: &Book, chapters: &[Chapter]) -> io::Result<()> {
    writeln!(out, "{} ({})", visible(&book.title), visible(&book.path))?;
    for (chapter, position) in chapters.iter().zip(chunk::chapter_numbers(chapters)) {
        let position = position.map(|position| position.to_string()).unwrap_or_default();
        let level = serde_json::to_value(chapter.level).expect("a level serializes to JSON");
        let level = level.as_str().unwrap_or_default();
        let number = chapter.number.map(|number| number.to_string()).unwrap_or_default();
        let line = chapter.line.map(|line| format!("line {}", thousands(line.into()))).unwrap_or_default();
        writeln!(out, "  {position:>5}  {level:>8} {number:>4}  {line:>12}  {}", visible(&chapter.title))?;
    }
    out.write_all(b"\n")
}
