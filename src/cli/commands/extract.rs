//! The command `extract`: prints the quotations of books, or runs a pipeline up to its scenes.

use std::io::{self, Write};

use super::chunk::{for_each_book, is_pipeline, print_book_error, usage};
use crate::attribution::aliases::Aliases;
use crate::attribution::{Attribution, Gender, QuotationKind, attribute, attribute_with, json_lines};
use crate::cli::args::{ExtractArguments, RunArguments};
use crate::cli::commands::build::run_pipeline;
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::diagnostics::{self, FailedCommand};
use crate::cli::{Terminal, to_stderr};
use crate::config;
use crate::config::{AliasesError, PipelineError};
use crate::schema::Book;
use crate::schema::Stage;
use crate::stages::export::thousands;

/// Maximum number of characters shown of a quotation.
const LONGEST: usize = 160;

/// Prints the quotations of books, or runs a pipeline up to its scenes.
pub(crate) fn extract(arguments: ExtractArguments) -> Exit {
    let pipelines = arguments.paths.iter().filter(|path| is_pipeline(path)).count();
    let is_for_books = arguments.quotes || arguments.characters.is_some() || arguments.encoding.is_some();
    match (pipelines, arguments.paths.len()) {
        (0, _) if !arguments.quotes => usage(
            "books need `--quotes`",
            "add `--quotes` to list speakers and quotations, or give a pipeline file to extract scenes",
        ),
        (0, _) if arguments.options.out.is_some() => usage(
            "`--out` cannot be used with `--quotes`, which writes no files",
            "remove `--out`; redirect stdout to write a file",
        ),
        (0, _) => show(&arguments),
        (1, 1) if is_for_books => usage(
            "`--quotes`, `--characters` and `--encoding` apply to books, not to a pipeline file",
            "give books instead of the pipeline file; a run reads known characters from `scene_pool/aliases/`",
        ),
        (1, 1) => {
            let ExtractArguments { mut paths, options, .. } = arguments;
            run_pipeline(
                &RunArguments { pipeline: paths.remove(0), options },
                false,
                Stage::Extract,
                FailedCommand::Other,
            )
        }
        _ => usage("pipeline files and books cannot be combined", "give one pipeline file, or books and `--quotes`"),
    }
}

fn show(arguments: &ExtractArguments) -> Exit {
    let terminal = Terminal::new();
    let aliases = match arguments.characters.as_deref().map(config::people).transpose() {
        Ok(aliases) => aliases,
        Err(AliasesError::Open(error)) => {
            print_book_error(&error, &terminal);
            return Exit::Usage;
        }
        Err(AliasesError::Invalid(error)) => {
            if let PipelineError::Invalid { sources, problems } = &error {
                to_stderr(&diagnostics::problems(sources, problems, terminal.color));
            }
            let hint = "`dramaturg extract --help` describes the format of a character list";
            to_stderr(&diagnostics::chain(&error, Some(hint), terminal.color));
            return Exit::Usage;
        }
    };
    for_each_book(&arguments.paths, &arguments.options, arguments.encoding.as_deref(), |out, book, _| {
        let attribution = attribution(book, aliases.as_ref());
        if let Some(aliases) = &aliases {
            print_missing_characters(book, aliases, &attribution, arguments.options.quiet);
        }
        let limit = arguments.options.limit.map_or(usize::MAX, |limit| limit as usize);
        if arguments.options.json {
            json(out, book, &attribution, limit)
        } else {
            listing(out, book, &attribution, limit)
        }
    })
}

fn attribution(book: &Book, aliases: Option<&Aliases>) -> Attribution {
    match aliases {
        Some(aliases) => attribute_with(&book.text, book.language, book.script, aliases),
        None => attribute(&book.text, book.language, book.script),
    }
}

/// Prints a note about listed characters that do not occur in the book: misspelled, or renamed without keeping the old
/// name as an alias.
fn print_missing_characters(book: &Book, aliases: &Aliases, attribution: &Attribution, quiet: bool) {
    let missing = aliases.missing(attribution);
    if !missing.is_empty() && !quiet {
        let names: Vec<String> = missing.into_iter().map(|name| format!("`{}`", visible(name))).collect();
        to_stderr(&format!("note: not found in `{}`: {}\n", visible(&book.slug), names.join(", ")));
    }
}

/// Writes the characters and the first `limit` quotations as JSON Lines.
fn json(out: &mut impl Write, book: &Book, attribution: &Attribution, limit: usize) -> io::Result<()> {
    let count = attribution.people.len().saturating_add(limit);
    json_lines(attribution, &book.slug).take(count).try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes the characters and the first `limit` quotations as a table.
fn listing(out: &mut impl Write, book: &Book, attribution: &Attribution, limit: usize) -> io::Result<()> {
    writeln!(out, "{} ({})", visible(&book.title), visible(&book.path))?;
    writeln!(out, "  characters  {}", thousands(attribution.people.len() as u64))?;
    for person in &attribution.people {
        let (lines, mentions) = (thousands(person.lines.into()), thousands(person.mentions.into()));
        let gender = if person.gender == Gender::Unknown { "" } else { person.gender.word() };
        let name = visible(&person.name);
        let s = if person.lines == 1 { ' ' } else { 's' };
        write!(out, "  {lines:>10} line{s}  named {mentions:>6}  {gender:>6}  {name}")?;
        if !person.aliases.is_empty() {
            write!(out, ": {}", visible(&person.aliases.join(", ")))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "  quotations  {}", thousands(attribution.quotations.len() as u64))?;
    for quotation in attribution.quotations.iter().take(limit) {
        let range = format!("{} to {}", thousands(quotation.start.into()), thousands(quotation.end.into()));
        let words = shortened(&quotation.text);
        match quotation.speaker.zip(quotation.kind) {
            Some((speaker, kind)) => {
                let (kind, name) = (QuotationKind::word(kind), visible(&attribution.people[speaker].name));
                writeln!(out, "  {range:>22}  {kind:>9} {:.2}  {name}: {words}", quotation.confidence)
            }
            None => writeln!(out, "  {range:>22}  {:>14}  {words}", "unknown"),
        }?;
    }
    writeln!(out)
}

/// Returns the beginning of a text, followed by `…` if it was cut.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", visible(text[..end].trim_end())),
        None => visible(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_quotations_are_shortened_and_escaped() {
        assert_eq!(shortened(&"字".repeat(LONGEST)), "字".repeat(LONGEST));
        assert_eq!(shortened(&"字".repeat(LONGEST + 1)).chars().count(), LONGEST + 1);
        assert_eq!(shortened("a\u{1b}[31mb"), r"a\u{1b}[31mb");
    }
}
