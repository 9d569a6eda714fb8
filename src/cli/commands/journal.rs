//! The command `journal`: prints statistics and calls of a run's journal. Read-only, so the run may be in progress.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::args::JournalCommand;
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::{visible, visible_lines};
use crate::cli::output::{diagnostics, table};
use crate::cli::{Terminal, to_stderr};
use crate::llm::{JournalError, Record};
use crate::stages::export::thousands;
use crate::store::{JournalView, StoreError};

/// Errors of the `journal` commands.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("no call with key or draw `{key}` in `{}`", path.display())]
    NoMatch { key: String, path: PathBuf },
    #[error("failed to write to stdout")]
    Write(#[from] io::Error),
}

/// Runs a `journal` command.
pub(crate) fn journal(command: &JournalCommand) -> Exit {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let result = match command {
        JournalCommand::Stats { run, json } => stats(&mut out, run, *json),
        JournalCommand::Show { run, key, json } => show(&mut out, run, key, *json),
        JournalCommand::Export { run, ask, model } => export(&mut out, run, ask.as_deref(), model.as_deref()),
    };
    match result.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => Exit::Done,
        // A closed pipe (`| head`) is not an error.
        Err(Fault::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Exit::Done,
        Err(fault) => {
            let hint = match &fault {
                Fault::Store(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    Some("give a run folder, such as `outputs/demo`, or its `journal.jsonl`")
                }
                Fault::NoMatch { .. } => Some(
                    "a key is hexadecimal, 4 digits or more; a draw is a path of ids, and a prefix of it selects all calls below",
                ),
                _ => None,
            };
            to_stderr(&diagnostics::chain(&fault, hint, Terminal::new().color));
            if matches!(fault, Fault::Write(_)) { Exit::Fault } else { Exit::Usage }
        }
    }
}

/// Opens the journal of a run folder, or a journal file.
fn open(run: &Path) -> Result<(JournalView, PathBuf), StoreError> {
    let path = if run.is_dir() { run.join("journal.jsonl") } else { run.to_owned() };
    Ok((JournalView::open(&path)?, path))
}

/// Totals of the records of one ask and model.
#[derive(Debug, Clone, Default, Serialize)]
struct Sums {
    records: u64,
    /// Schema retries: records that ask again after a reply that did not match the schema.
    reasks: u64,
    /// HTTP requests, including failed ones.
    requests: u64,
    prompt: u64,
    cached: u64,
    completion: u64,
    /// Records whose token counts are estimated because the server did not report them.
    estimated: u64,
    /// Total time from the first request to the reply, in milliseconds.
    latency_ms: u64,
}

impl Sums {
    fn add(&mut self, record: &Record) {
        self.records += 1;
        self.reasks += u64::from(record.parent.is_some());
        self.requests += u64::from(record.requests);
        self.prompt += record.usage.prompt;
        self.cached += record.usage.cached;
        self.completion += record.usage.completion;
        self.estimated += u64::from(record.usage.estimated);
        self.latency_ms += record.latency_ms;
    }
}

/// Output of `journal stats --json`.
#[derive(Debug, Serialize)]
struct Stats {
    path: PathBuf,
    /// Number of journal files.
    files: usize,
    /// Total size of the files in bytes.
    bytes: u64,
    damaged: u64,
    records: u64,
    asks: Vec<AskSums>,
    total: Sums,
}

#[derive(Debug, Serialize)]
struct AskSums {
    ask: String,
    model: String,
    #[serde(flatten)]
    sums: Sums,
}

fn stats(out: &mut impl Write, run: &Path, json: bool) -> Result<(), Fault> {
    let (view, path) = open(run)?;
    let mut asks: BTreeMap<(String, String), Sums> = BTreeMap::new();
    let mut total = Sums::default();
    for record in view.records() {
        let record = record?;
        asks.entry((record.ask.clone(), record.model.clone())).or_default().add(&record);
        total.add(&record);
    }
    let asks = asks.into_iter().map(|((ask, model), sums)| AskSums { ask, model, sums }).collect();
    let (bytes, damaged) = (view.bytes(), view.damaged());
    let stats = Stats { path, files: view.segments(), bytes, damaged, records: view.len() as u64, asks, total };
    if json {
        serde_json::to_writer(&mut *out, &stats).map_err(io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    table(out, &stats)
}

fn table(out: &mut impl Write, stats: &Stats) -> Result<(), Fault> {
    let each = stats.bytes.checked_div(stats.records).unwrap_or_default();
    writeln!(
        out,
        "{}: {} records, {} bytes in {}, {} per record",
        visible(&stats.path.display().to_string()),
        thousands(stats.records),
        thousands(stats.bytes),
        if stats.files == 1 { "1 file".to_owned() } else { format!("{} files", stats.files) },
        thousands(each)
    )?;
    if stats.damaged > 0 {
        writeln!(
            out,
            "{} damaged sections; the next run repeats the calls that were stored there",
            thousands(stats.damaged)
        )?;
    }
    let heads = ["ask", "model", "records", "schema retries", "requests", "prompt", "cached", "completion", "mean ms"];
    let row = |ask: &str, model: &str, sums: &Sums| {
        vec![
            visible(ask).into_owned(),
            visible(model).into_owned(),
            thousands(sums.records),
            thousands(sums.reasks),
            thousands(sums.requests),
            thousands(sums.prompt),
            thousands(sums.cached),
            thousands(sums.completion),
            thousands(sums.latency_ms.checked_div(sums.records).unwrap_or_default()),
        ]
    };
    let mut rows: Vec<Vec<String>> = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(stats.asks.iter().map(|ask| row(&ask.ask, &ask.model, &ask.sums)));
    rows.push(row("all", "", &stats.total));
    out.write_all(table::table(&rows, 2).as_bytes())?;
    Ok(())
}

fn show(out: &mut impl Write, run: &Path, key: &str, json: bool) -> Result<(), Fault> {
    let (view, path) = open(run)?;
    // A shorter prefix of a hash would match too many records.
    let is_key = key.len() >= 4 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    let below = format!("{}/", key.trim_end_matches('/'));
    let mut found = false;
    for record in view.records() {
        let record = record?;
        if !((is_key && record.key.starts_with(key)) || record.draw == key || record.draw.starts_with(&below)) {
            continue;
        }
        found = true;
        if json { write_json_line(out, &record)? } else { write_record(out, &record)? }
    }
    if found { Ok(()) } else { Err(Fault::NoMatch { key: key.to_owned(), path }) }
}

fn export(out: &mut impl Write, run: &Path, ask: Option<&str>, model: Option<&str>) -> Result<(), Fault> {
    let (view, _) = open(run)?;
    for record in view.records() {
        let record = record?;
        if ask.is_none_or(|ask| record.ask == ask) && model.is_none_or(|model| record.model == model) {
            write_json_line(out, &record)?;
        }
    }
    Ok(())
}

/// Writes a record as one line of JSON, with the texts that the journal stores separately.
fn write_json_line(out: &mut impl Write, record: &Record) -> Result<(), Fault> {
    serde_json::to_writer(&mut *out, record).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// Writes a record as readable text.
fn write_record(out: &mut impl Write, record: &Record) -> Result<(), Fault> {
    let Record { key, ask, model, draw, request, reply, usage, requests, latency_ms, .. } = record;
    writeln!(out, "{}  {}", visible(ask), visible(draw))?;
    writeln!(out, "     key  {}", visible(key))?;
    if let Some(parent) = &record.parent {
        writeln!(out, "  retry of  {}", visible(parent))?;
    }
    let served = reply.served_model.as_deref().unwrap_or(&request.model);
    writeln!(out, "   model  {} ({})", visible(model), visible(served))?;
    let estimated = if usage.estimated { ", estimated" } else { "" };
    let (prompt, cached, completion) = (thousands(usage.prompt), thousands(usage.cached), thousands(usage.completion));
    writeln!(out, "  tokens  {prompt} prompt ({cached} cached), {completion} completion{estimated}")?;
    let finish = reply.finish.as_deref().map(|finish| format!(", finish `{}`", visible(finish))).unwrap_or_default();
    writeln!(out, "requests  {}, {} ms{finish}", thousands((*requests).into()), thousands(*latency_ms))?;
    for message in &request.messages {
        let role = serde_json::to_value(message.role).map_err(io::Error::from)?;
        write_part(out, role.as_str().unwrap_or_default(), &message.content)?;
    }
    if let Some(reasoning) = &reply.reasoning {
        write_part(out, "reasoning", reasoning)?;
    }
    write_part(out, "reply", &reply.text)?;
    Ok(writeln!(out)?)
}

fn write_part(out: &mut impl Write, name: &str, text: &str) -> Result<(), Fault> {
    Ok(writeln!(out, "--- {name}\n{}", visible_lines(text.trim_end()))?)
}
