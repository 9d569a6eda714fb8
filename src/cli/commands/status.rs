//! The command `status`: progress and remaining work of a run. Read-only, so the run may be in progress.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use super::dry_run::time;
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::summary::{faults, tokens};
use crate::cli::output::{diagnostics, table};
use crate::cli::{Terminal, to_stderr, to_stdout, variables};
use crate::config::Environment;
use crate::pipeline::{self, LaneStatus, RemainingWork, RunError, RunStatus, State};
use crate::stages::export::{dollars, percent, thousands};

/// Refresh interval of `--watch`.
const EVERY: Duration = Duration::from_secs(2);

/// Output of `status --json`.
#[derive(Serialize)]
struct Status<'a> {
    #[serde(flatten)]
    run: &'a RunStatus,
    /// Seconds since the last update of the run's status.
    #[serde(rename = "heard_s")]
    since_update_s: Option<f64>,
    /// Remaining work; null if it was not estimated.
    #[serde(rename = "missing")]
    remaining: Option<&'a RemainingWork>,
}

/// Prints the status of a run; with `watch` repeatedly until the run has ended.
pub(crate) fn status(run: &Path, watch: bool, json: bool, no_estimate: bool) -> Exit {
    let terminal = Terminal::new();
    let environment = match variables(&terminal) {
        Ok(environment) => environment,
        Err(exit) => return exit,
    };
    let redraws = watch && !json && std::io::stdout().is_terminal() && terminal.bars;
    let mut estimate: Option<RemainingWork> = None;
    let (mut last, mut height) = (None, 0);
    loop {
        let (status, last_update) = match pipeline::read_status(run, age) {
            Ok(found) => found,
            Err(error) => {
                let hint = "give a run folder, such as `outputs/demo`; `dramaturg build PIPELINE` creates it";
                to_stderr(&diagnostics::chain(&error, Some(hint), terminal.color));
                return Exit::Usage;
            }
        };
        // Only once, because the dry run takes longer than a refresh.
        if estimate.is_none() && last.is_none() && !no_estimate {
            estimate = estimate_remaining(run, &status, &environment, &terminal);
        }
        let remaining = estimate.as_ref().map(|remaining| remaining.after(&status));
        if last.as_ref() != Some(&status) {
            let output = if json {
                let since_update_s = last_update.map(|last_update| last_update.as_secs_f64());
                let status = Status { run: &status, since_update_s, remaining: remaining.as_ref() };
                format!("{}\n", serde_json::to_string(&status).expect("a status serializes to JSON"))
            } else {
                text(run, &status, last_update, remaining.as_ref())
            };
            if redraws && height > 0 {
                to_stdout(&format!("\x1b[{height}A\x1b[J"));
            }
            height = output.lines().count();
            to_stdout(&output);
        }
        if !watch || status.state != State::Running {
            return Exit::Done;
        }
        last = Some(status);
        std::thread::sleep(EVERY);
    }
}

/// Returns the time since a file was modified.
fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(std::fs::metadata(path).ok()?.modified().ok()?).ok()
}

/// Estimates the remaining work, or prints to stderr why that is not possible.
fn estimate_remaining(
    run: &Path,
    status: &RunStatus,
    environment: &Environment,
    terminal: &Terminal,
) -> Option<RemainingWork> {
    if status.state == State::Done {
        return None;
    }
    let result = if status.configuration.is_empty() {
        Err(None)
    } else {
        pipeline::remaining_work(run, status, environment).map_err(Some)
    };
    match result {
        Ok(remaining) => Some(remaining),
        Err(error) => {
            let why =
                error.as_ref().map_or_else(|| "the run has no stored configuration".to_owned(), RunError::to_string);
            let note = format!(
                "note: the remaining work is not estimated: {why}; run the command where the run was started\n"
            );
            to_stderr(&if terminal.color { format!("\x1b[33m{note}\x1b[0m") } else { note });
            None
        }
    }
}

/// Maximum number of slow lanes listed.
const BEHIND: usize = 3;

/// Formats the number of finished lanes, and the unfinished ones with the lowest progress.
fn lanes(status: &RunStatus) -> String {
    let ended = status.lanes.values().filter(|lane| lane.has_ended).count() as u64;
    let mut unfinished: Vec<(&String, &LaneStatus)> = status.lanes.iter().filter(|(_, lane)| !lane.has_ended).collect();
    unfinished.sort_by_key(|(id, lane)| (u64::from(lane.counted) * 1000 / u64::from(lane.wanted.max(1)), *id));
    let behind: Vec<String> = unfinished
        .iter()
        .take(BEHIND)
        .map(|(id, lane)| {
            let LaneStatus { conversations, counted, wanted, .. } = lane;
            format!("{} {counted} of {wanted} after {conversations} conversations", visible(id))
        })
        .collect();
    let behind = if behind.is_empty() { String::new() } else { format!("; furthest behind: {}", behind.join(", ")) };
    format!("{} of {} finished{behind}", thousands(ended), thousands(status.lanes.len() as u64))
}

fn text(run: &Path, status: &RunStatus, last_update: Option<Duration>, remaining: Option<&RemainingWork>) -> String {
    let mut text = format!("{}: {}\n", visible(&run.display().to_string()), state(status, last_update));
    let mut line = |name: &str, words: &str| {
        let _ = writeln!(text, "{name:>13}  {words}");
    };
    for stage in &status.stages {
        let done = match (&stage.outcome, stage.total) {
            (Some(outcome), _) => visible(outcome).into_owned(),
            (None, Some(total)) => {
                format!("{} of {} ({})", thousands(stage.done), thousands(total), percent(stage.done, total))
            }
            (None, None) => thousands(stage.done),
        };
        line(stage.stage.name(), &done);
    }
    if !status.lanes.is_empty() && status.state != State::Done {
        line("lanes", &lanes(status));
    }
    let rows: Vec<String> = status.rows.iter().map(|(config, rows)| format!("{} {config}", thousands(*rows))).collect();
    if !rows.is_empty() {
        // Once the data set is written these are its rows; before that, rows may still be rejected.
        line(
            if matches!(status.state, State::Done | State::Failures) { "rows" } else { "rows so far" },
            &rows.join(", "),
        );
    }
    let rejected: Vec<String> =
        status.rejected.iter().map(|(stage, count)| format!("{} in {stage}", thousands(*count))).collect();
    if !rejected.is_empty() {
        line("rejected", &rejected.join(", "));
    }
    let calls = &status.calls;
    let (made, journal, failed) = (thousands(calls.made), thousands(calls.journal), thousands(calls.failed));
    let flight = match status.in_flight {
        0 => String::new(),
        count => format!(", {} in flight", thousands(count)),
    };
    line("calls", &format!("{made} made, {journal} from the journal, {failed} failed{flight}"));
    for fault in faults(&status.faults) {
        line("errors", &fault);
    }
    line("tokens", &tokens(&status.tokens));
    line("cost", &dollars(status.usd));
    if let Some(remaining) = remaining {
        let tokens = thousands(remaining.prompt + remaining.completion);
        let (calls, usd, wall) = (thousands(remaining.calls), dollars(remaining.usd), time(remaining.wall_s));
        line("remaining", &format!("about {calls} calls, {tokens} tokens, {usd}, {wall}"));
    }
    text + &asks(status, remaining)
}

fn state(status: &RunStatus, last_update: Option<Duration>) -> String {
    let ago = last_update
        .map_or_else(String::new, |last_update| format!(" (last update {} ago)", time(last_update.as_secs_f64())));
    let worked = time(status.wall_s);
    let why = status.error.as_deref().map_or_else(String::new, |error| format!(": {}", visible(error)));
    match status.state {
        State::Running => format!("running for {worked}{ago}"),
        State::Done => format!("done in {worked}"),
        State::Failures => format!("completed with failures in {worked}"),
        State::Budget => format!("stopped after {worked}{why}"),
        State::Interrupted => format!("interrupted after {worked}"),
        State::Failed => format!("failed after {worked}{why}"),
        State::NotResponding => format!("not responding{ago}; rerun the same command to resume"),
        State::Unknown => "no status file; figures are from the journal".to_owned(),
    }
}

/// Formats a table of calls by ask and model, with the remaining calls if estimated.
fn asks(status: &RunStatus, remaining: Option<&RemainingWork>) -> String {
    let mut heads = vec!["ask", "model", "made", "journal", "failed", "retries", "prompt", "cached", "output", "cost"];
    heads.extend(remaining.map(|_| "remaining"));
    let mut rows = vec![heads.into_iter().map(str::to_owned).collect::<Vec<String>>()];
    let mut pairs: Vec<(&str, &str)> = status.asks.iter().map(|ask| (ask.ask.as_str(), ask.model.as_str())).collect();
    pairs.extend(
        remaining.iter().flat_map(|remaining| &remaining.asks).map(|ask| (ask.ask.as_str(), ask.model.as_str())),
    );
    pairs.sort_unstable();
    pairs.dedup();
    for pair in pairs {
        let known = status.asks.iter().find(|ask| (ask.ask.as_str(), ask.model.as_str()) == pair);
        let known = known.cloned().unwrap_or_default();
        let mut row = vec![visible(pair.0).into_owned(), visible(pair.1).into_owned()];
        let counts = [known.calls.made, known.calls.journal, known.calls.failed, known.reasks];
        row.extend(counts.map(thousands));
        row.extend([known.tokens.prompt, known.tokens.cached, known.tokens.completion].map(thousands));
        row.push(if known.requests + known.calls.made + known.calls.journal == 0 {
            String::new()
        } else {
            dollars(known.usd)
        });
        if let Some(remaining) = remaining {
            let is_it = |ask: &&pipeline::RemainingAsk| (ask.ask.as_str(), ask.model.as_str()) == pair;
            row.push(thousands(remaining.asks.iter().find(is_it).map_or(0, |ask| ask.calls)));
        }
        rows.push(row);
    }
    if rows.len() > 1 { table::table(&rows, 2) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_lanes_are_listed() {
        let lane = |id: &str, counted, has_ended| {
            (id.to_owned(), LaneStatus { conversations: 2, counted, wanted: 50, has_ended })
        };
        let lanes_of = |all: Vec<(String, LaneStatus)>| {
            lanes(&RunStatus { lanes: all.into_iter().collect(), ..RunStatus::default() })
        };
        let all = vec![
            lane("tess/a", 50, true),
            lane("tess/b", 9, false),
            lane("仲愁/a", 3, false),
            lane("仲愁/b", 30, true),
            lane("tess/c", 20, false),
            lane("tess/d", 21, false),
        ];
        assert_eq!(
            lanes_of(all),
            "2 of 6 finished; furthest behind: 仲愁/a 3 of 50 after 2 conversations, tess/b 9 of 50 after 2 conversations, \
             tess/c 20 of 50 after 2 conversations"
        );
        assert_eq!(lanes_of(vec![lane("tess/a", 50, true)]), "1 of 1 finished");
    }
}
