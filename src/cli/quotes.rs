//! The command `extract`: given books, who there is in them and who says what, read by rule; given a pipeline file, the run.

use std::io::{self, Write};

use super::arguments::{ExtractArguments, RunArguments};
use super::books::{each, is_pipeline, tell, usage};
use super::controls::visible;
use super::summary::thousands;
use super::{Exit, Terminal, diagnostics, road, to_stderr};
use crate::pipeline::{self, AliasesError, PipelineError, Stage};
use crate::schema::Book;
use crate::stages::extract::aliases::Aliases;
use crate::stages::extract::reading::{Gender, Kind, Reading, lines, read, read_with};

/// The most characters of a quotation that the listing for people shows.
const LONGEST: usize = 160;

/// Shows the quotations of books, or goes the road of a pipeline up to its scenes.
pub(super) fn extract(arguments: ExtractArguments) -> Exit {
    let pipelines = arguments.paths.iter().filter(|path| is_pipeline(path)).count();
    let is_for_books = arguments.quotes || arguments.characters.is_some() || arguments.encoding.is_some();
    match (pipelines, arguments.paths.len()) {
        (0, _) if !arguments.quotes => usage(
            "books alone are no run",
            "give `--quotes` to see who speaks in them, or a pipeline file to extract their scenes",
        ),
        (0, _) if arguments.options.out.is_some() => usage(
            "`--out` names the folder of a run, and `--quotes` leaves none",
            "leave it out; what is printed can be sent to a file",
        ),
        (0, _) => show(&arguments),
        (1, 1) if is_for_books => usage(
            "`--quotes`, `--characters` and `--encoding` are for books",
            "give books in place of the pipeline file; a run takes people from `scene_pool/aliases/`",
        ),
        (1, 1) => {
            let ExtractArguments { mut paths, options, .. } = arguments;
            road(&RunArguments { pipeline: paths.remove(0), options }, false, Stage::Extract)
        }
        _ => usage("pipeline files and books do not mix", "give one pipeline file, or books and `--quotes`"),
    }
}

fn show(arguments: &ExtractArguments) -> Exit {
    let terminal = Terminal::new();
    let aliases = match arguments.characters.as_deref().map(pipeline::people).transpose() {
        Ok(aliases) => aliases,
        Err(AliasesError::Open(error)) => {
            tell(&error, &terminal);
            return Exit::Usage;
        }
        Err(AliasesError::Invalid(error)) => {
            if let PipelineError::Invalid { sources, problems } = &error {
                to_stderr(&diagnostics::problems(sources, problems, terminal.color));
            }
            let hint = "`dramaturg extract --help` tells what a file of characters holds";
            to_stderr(&diagnostics::chain(&error, Some(hint), terminal.color));
            return Exit::Usage;
        }
    };
    each(&arguments.paths, &arguments.options, arguments.encoding.as_deref(), |out, book, _| {
        let reading = reading(book, aliases.as_ref());
        if let Some(aliases) = &aliases {
            absent(book, aliases, &reading, arguments.options.quiet);
        }
        let limit = arguments.options.limit.map_or(usize::MAX, |limit| limit as usize);
        if arguments.options.json { json(out, book, &reading, limit) } else { listing(out, book, &reading, limit) }
    })
}

fn reading(book: &Book, aliases: Option<&Aliases>) -> Reading {
    match aliases {
        Some(aliases) => read_with(&book.text, book.language, book.script, aliases),
        None => read(&book.text, book.language, book.script),
    }
}

/// Tells who of the file is nowhere in a book: a slip of the pen, or a name that was changed and not kept among the aliases.
fn absent(book: &Book, aliases: &Aliases, reading: &Reading, quiet: bool) {
    let absent = aliases.missing(reading);
    if !absent.is_empty() && !quiet {
        let names: Vec<String> = absent.into_iter().map(|name| format!("`{}`", visible(name))).collect();
        to_stderr(&format!("note: `{}` calls nobody {}\n", visible(&book.slug), names.join(", ")));
    }
}

/// Writes the people and the first quotations as JSON, each on a line.
fn json(out: &mut impl Write, book: &Book, reading: &Reading, limit: usize) -> io::Result<()> {
    let count = reading.people.len().saturating_add(limit);
    lines(reading, &book.slug).take(count).try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes the people and the first quotations for people.
fn listing(out: &mut impl Write, book: &Book, reading: &Reading, limit: usize) -> io::Result<()> {
    writeln!(out, "{} ({})", visible(&book.title), visible(&book.path))?;
    writeln!(out, "      people  {}", thousands(reading.people.len() as u64))?;
    for person in &reading.people {
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
    writeln!(out, "  quotations  {}", thousands(reading.quotations.len() as u64))?;
    for quotation in reading.quotations.iter().take(limit) {
        let place = format!("{} to {}", thousands(quotation.start.into()), thousands(quotation.end.into()));
        let words = shortened(&quotation.text);
        match quotation.speaker.zip(quotation.kind) {
            Some((speaker, kind)) => {
                let (kind, name) = (Kind::word(kind), visible(&reading.people[speaker].name));
                writeln!(out, "  {place:>22}  {kind:>9} {:.2}  {name}: {words}", quotation.confidence)
            }
            None => writeln!(out, "  {place:>22}  {:>14}  {words}", "unknown"),
        }?;
    }
    writeln!(out)
}

/// Returns the beginning of a text, whole where it is short.
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
    fn a_long_quotation_is_shortened_and_steers_no_terminal() {
        assert_eq!(shortened(&"字".repeat(LONGEST)), "字".repeat(LONGEST));
        assert_eq!(shortened(&"字".repeat(LONGEST + 1)).chars().count(), LONGEST + 1);
        assert_eq!(shortened("a\u{1b}[31mb"), r"a\u{1b}[31mb");
    }
}
