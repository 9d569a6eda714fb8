//! The command `instruct`: runs a pipeline up to its role data; `dedup` finds near-duplicate questions in any JSON
//! Lines file.
//!
//! The file is read twice, so that only its questions are kept in memory: once to compare them, once to copy every
//! line.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::chunk::usage;
use crate::cli::args::{DedupArguments, InstructArguments, InstructCommand, RunArguments};
use crate::cli::commands::build::run_pipeline;
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::diagnostics::FailedCommand;
use crate::cli::output::{diagnostics, table};
use crate::cli::{Terminal, to_stderr};
use crate::schema::Stage;
use crate::stages::export::thousands;
use crate::text::duplicates::{DuplicateReport, Keep, find_duplicates};

/// Keys added to every line.
const VERDICT: [&str; 3] = ["kept", "similarity", "nearest"];
/// Maximum number of invalid lines that are reported.
const MAX_LISTED_LINES: usize = 10;
/// Maximum number of groups in the table.
const MAX_LISTED_GROUPS: usize = 50;
/// Largest group whose kept questions are measured without `--scores`; in larger groups that takes most of the time.
const LARGE: usize = 50_000;

/// Errors of `instruct dedup`.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("failed to read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("failed to read `{}`: {problem}", path.display())]
    NotRereadable { path: PathBuf, problem: &'static str },
    #[error("{count} invalid lines in `{}`", path.display())]
    Lines { path: PathBuf, count: usize },
    #[error("failed to write to stdout")]
    Write(#[from] io::Error),
}

/// Runs a pipeline up to its role data, or `dedup`.
pub(crate) fn instruct(arguments: InstructArguments) -> Exit {
    match (arguments.command, arguments.pipeline) {
        (Some(InstructCommand::Dedup(dedup)), _) => match judge(&dedup) {
            Ok(()) => Exit::Done,
            // A closed pipe (`| head`) is not an error.
            Err(Fault::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Exit::Done,
            Err(fault) => {
                let hint = match &fault {
                    Fault::NotRereadable { .. } => {
                        Some("write the input to a file first: it is read twice to save memory")
                    }
                    Fault::Lines { .. } => {
                        Some("each line must be a JSON object with a string under the key given by `--field`")
                    }
                    _ => None,
                };
                to_stderr(&diagnostics::chain(&fault, hint, Terminal::new().color));
                if matches!(fault, Fault::Write(_)) { Exit::Fault } else { Exit::Usage }
            }
        },
        (None, Some(pipeline)) => run_pipeline(
            &RunArguments { pipeline, options: arguments.options },
            false,
            Stage::Instruct,
            FailedCommand::Other,
        ),
        (None, None) => usage(
            "a pipeline file or a subcommand is required",
            "give a pipeline file, or `dedup` with a JSON Lines file",
        ),
    }
}

fn judge(arguments: &DedupArguments) -> Result<(), Fault> {
    let questions = Questions::read(arguments)?;
    let keep = match (arguments.threshold, arguments.keep) {
        (Some(threshold), _) => Keep::Threshold(threshold),
        (None, Some(share)) => Keep::Share(share),
        (None, None) => Keep::default(),
    };
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let found: Vec<DuplicateReport> = questions
        .groups
        .iter()
        .map(|group| {
            let texts: Vec<&str> = group.members.iter().map(|member| questions.texts[*member].as_str()).collect();
            find_duplicates(&texts, keep, arguments.scores || texts.len() <= LARGE, threads)
        })
        .collect();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match (arguments.json, arguments.scores) {
        (false, false) => out.write_all(summary(&questions, &found, arguments.group.is_some()).as_bytes())?,
        (json, _) => write(&mut out, arguments, &questions, &found, json)?,
    }
    Ok(out.flush()?)
}

/// The questions of a file.
#[derive(Default)]
struct Questions {
    texts: Vec<String>,
    /// Line number of each question, from 1.
    lines: Vec<u32>,
    /// Ordered by first line.
    groups: Vec<Group>,
}

struct Group {
    name: String,
    /// Indices of its questions, ordered by line.
    members: Vec<usize>,
}

impl Questions {
    fn read(arguments: &DedupArguments) -> Result<Self, Fault> {
        let mut questions = Self::default();
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        let mut faults = 0;
        each_line(&arguments.file, |number, line| {
            match question(line, &arguments.field, arguments.group.as_deref()) {
                Ok((text, name)) => {
                    let next = questions.groups.len();
                    let group = *groups.entry(name).or_insert_with_key(|name| {
                        questions.groups.push(Group { name: name.clone(), members: Vec::new() });
                        next
                    });
                    questions.groups[group].members.push(questions.texts.len());
                    questions.texts.push(text);
                    questions.lines.push(number);
                }
                Err(problem) => {
                    faults += 1;
                    if faults <= MAX_LISTED_LINES {
                        let message = format!("{}:{number}: {problem}", arguments.file.display());
                        to_stderr(&format!("{}\n", visible(&message)));
                    }
                }
            }
            Ok(())
        })?;
        match faults {
            0 => Ok(questions),
            count => Err(Fault::Lines { path: arguments.file.clone(), count }),
        }
    }
}

/// Parses the question of a line and the name of its group.
fn question(line: &[u8], field: &str, group: Option<&str>) -> Result<(String, String), String> {
    let fields: Fields<'_> = serde_json::from_slice(line).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => "not a JSON object".to_owned(),
        _ => format!("invalid JSON: {error}"),
    })?;
    let text = fields.get(field).ok_or_else(|| format!("missing key `{field}`"))?;
    let text = serde_json::from_str(text.get()).map_err(|_| format!("`{field}` is not a string"))?;
    let Some(group) = group else { return Ok((text, String::new())) };
    let name = fields.get(group).ok_or_else(|| format!("missing key `{group}`"))?.get();
    match name.as_bytes().first() {
        Some(b'{' | b'[') => Err(format!("`{group}` is neither a string nor a number")),
        // A group that is a number or null is named by its JSON; a string that parses as such keeps its quotes.
        Some(b'"') => {
            let decoded: String = serde_json::from_str(name).map_err(|_| format!("`{group}` is not a string"))?;
            let reads = serde_json::from_str::<serde_json::Value>(&decoded).is_ok_and(|value| !value.is_string());
            Ok((
                text,
                if reads { serde_json::to_string(&decoded).expect("a string serializes to JSON") } else { decoded },
            ))
        }
        _ => Ok((text, name.to_owned())),
    }
}

/// Writes every line with its verdict, as JSON or as text.
fn write(
    out: &mut impl Write,
    arguments: &DedupArguments,
    questions: &Questions,
    found: &[DuplicateReport],
    json: bool,
) -> Result<(), Fault> {
    let mut verdicts = vec![(false, None, None); questions.texts.len()];
    for (group, found) in questions.groups.iter().zip(found) {
        for (member, verdict) in group.members.iter().zip(&found.verdicts) {
            let nearest = verdict.nearest.map(|nearest| questions.lines[group.members[nearest]]);
            let is_known = found.measured || !verdict.kept;
            verdicts[*member] = (verdict.kept, is_known.then_some(verdict.similarity), nearest);
        }
    }
    let mut next = 0;
    each_line(&arguments.file, |number, line| {
        let changed =
            || Fault::NotRereadable { path: arguments.file.clone(), problem: "it changed while it was being read" };
        let (kept, similarity, nearest) = *verdicts.get(next).ok_or_else(changed)?;
        if questions.lines[next] != number {
            return Err(changed());
        }
        next += 1;
        let line = std::str::from_utf8(line).map_err(|_| changed())?;
        let nearest = nearest.map_or_else(|| "null".to_owned(), |line: u32| line.to_string());
        if !json {
            let similarity = similarity.map_or_else(|| "-".to_owned(), |similarity: f64| format!("{similarity:.3}"));
            let kept = if kept { "kept" } else { "removed" };
            let text = visible(&questions.texts[next - 1]).into_owned();
            return Ok(writeln!(out, "{number}\t{kept}\t{similarity}\t{}\t{text}", nearest.replace("null", "-"))?);
        }
        let similarity = serde_json::to_string(&similarity).expect("a number serializes to JSON");
        let verdict = format!(r#""kept":{kept},"similarity":{similarity},"nearest":{nearest}}}"#);
        let fields: Fields<'_> = serde_json::from_str(line).map_err(|_| changed())?;
        let body = line.trim_end();
        // Old verdict keys are replaced; all other lines are copied byte for byte.
        if !fields.0.iter().any(|(key, _)| VERDICT.contains(&key.as_str())) {
            return Ok(writeln!(out, "{},{verdict}", body.strip_suffix('}').unwrap_or(body).trim_end())?);
        }
        write!(out, "{{")?;
        for (key, value) in fields.0.iter().filter(|(key, _)| !VERDICT.contains(&key.as_str())) {
            write!(out, "{}:{},", serde_json::to_string(key).expect("a string serializes to JSON"), value.get())?;
        }
        Ok(writeln!(out, "{verdict}")?)
    })?;
    if next == questions.texts.len() {
        Ok(())
    } else {
        Err(Fault::NotRereadable { path: arguments.file.clone(), problem: "it changed while it was being read" })
    }
}

/// Formats the result by group.
fn summary(questions: &Questions, found: &[DuplicateReport], with_groups: bool) -> String {
    let row = |name: &str, all: usize, kept: usize, threshold: String| {
        let share = if all == 0 { 0.0 } else { 100.0 * crate::text::float(kept) / crate::text::float(all) };
        let [all_, kept_, removed] = [all, kept, all - kept].map(|count| thousands(count as u64));
        vec![visible(name).into_owned(), all_, kept_, removed, format!("{share:.1} %"), threshold]
    };
    let head = ["group", "questions", "kept", "removed", "share", "threshold"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    let kept: Vec<usize> =
        found.iter().map(|found| found.verdicts.iter().filter(|verdict| verdict.kept).count()).collect();
    for ((group, found), kept) in questions.groups.iter().zip(found).zip(&kept).take(MAX_LISTED_GROUPS) {
        let name = if with_groups { &group.name } else { "all" };
        rows.push(row(name, group.members.len(), *kept, format!("{:.3}", found.threshold)));
    }
    if found.len() != 1 {
        let total = format!("all {} groups", thousands(found.len() as u64));
        rows.push(row(&total, questions.texts.len(), kept.iter().sum(), String::new()));
    }
    let mut text = table::table(&rows, 1);
    if found.len() > MAX_LISTED_GROUPS {
        text.push_str("Only the first groups are shown. ");
    }
    text + "Use `--json` to print every line with its verdict, `--scores` to list the verdicts.\n"
}

/// Calls a function for each non-blank line of a file with its line number, from 1. Line endings and a leading byte
/// order mark are removed.
fn each_line(path: &Path, mut line: impl FnMut(u32, &[u8]) -> Result<(), Fault>) -> Result<(), Fault> {
    let read = |source| Fault::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(read)?;
    let metadata = file.metadata().map_err(read)?;
    if metadata.is_dir() {
        return Err(read(io::Error::from(ErrorKind::IsADirectory)));
    }
    if !metadata.is_file() {
        return Err(Fault::NotRereadable {
            path: path.to_owned(),
            problem: "not a regular file, which is needed to read it twice",
        });
    }
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (mut bytes, mut number) = (Vec::new(), 0);
    loop {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(read)? == 0 {
            return Ok(());
        }
        number += 1;
        let mut text = bytes.as_slice();
        if number == 1 {
            text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        }
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if !text.trim_ascii().is_empty() {
            line(number, text)?;
        }
    }
}

/// The fields of an object in order, with their values as raw JSON.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Returns the value of a key; the last one if it is repeated, as most parsers do.
    fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(other, _)| other == key).map(|(_, value)| *value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(InOrder).map(Self)
    }
}
