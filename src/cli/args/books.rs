//! Arguments of `chunk` and `extract`.

use std::path::PathBuf;

use clap::Args;

use super::run::RunOptions;

pub(super) const CHUNK_EXAMPLES: &str = "\
Examples:
  dramaturg chunk novel.epub                          show the chunks and skipped parts of a book
  dramaturg chunk novels/ --chapters                  show the headings of every book in a folder
  dramaturg chunk old.txt --encoding big5             set the encoding if detection is wrong
  dramaturg chunk novel.txt --set chunk.max_tokens=4096 --json | jq '.chunks[0].text'
  dramaturg chunk mine.toml                           run a pipeline up to its chunks

The limit is 256 MB of text per book. A book that cannot be read is reported on stderr; the others are processed.
";

pub(super) const EXTRACT_EXAMPLES: &str = "\
Examples:
  dramaturg extract mine.toml                         run a pipeline up to its scenes
  dramaturg extract novel.epub --quotes               show the characters and quotations of a book
  dramaturg extract 红楼梦.txt --quotes --json > quotes.jsonl
  dramaturg extract novel.txt --quotes --characters scene_pool/aliases/novel.toml

--json prints one line per character, {speaker_id, name, aliases}, then one per quotation,
{book, start, end, quote, speaker, speaker_id, kind}. Offsets are code points of the decoded text,
quotation marks excluded; kind is explicit, anaphoric, implicit or script; null means unknown.
--limit N shows the first N quotations. No model is called and no file is written.

FILE is TOML with one table [[people]] per character (name, aliases, gender), or the output of
--json. A run writes such a file for each book to scene_pool/aliases/ and uses it if you edit it.
";

/// Arguments of `chunk`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ChunkArguments {
    /// Books (files, folders or globs of plain text, Markdown, HTML, EPUB, Fountain or JSON Lines), or one pipeline
    /// file.
    #[arg(value_name = "BOOK|PIPELINE", required = true, help_heading = "Arguments")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Show the headings instead of the chunks.
    #[arg(long, help_heading = "Book options")]
    pub(in crate::cli) chapters: bool,
    /// Encoding of the books, as a WHATWG label such as `gb18030`. Default: detected.
    #[arg(long, value_name = "LABEL", help_heading = "Book options")]
    pub(in crate::cli) encoding: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
}

/// Arguments of `extract`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ExtractArguments {
    /// A pipeline file; or, with `--quotes`, books: files, folders or globs, as in `chunk`.
    #[arg(value_name = "BOOK|PIPELINE", required = true, help_heading = "Arguments")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Print the characters and quotations of books, as found by rules.
    #[arg(long, help_heading = "Book options")]
    pub(in crate::cli) quotes: bool,
    /// Use exactly the characters of this file.
    #[arg(long, value_name = "FILE", help_heading = "Book options")]
    pub(in crate::cli) characters: Option<PathBuf>,
    /// Encoding of the books, as a WHATWG label such as `gb18030`. Default: detected.
    #[arg(long, value_name = "LABEL", help_heading = "Book options")]
    pub(in crate::cli) encoding: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
}
