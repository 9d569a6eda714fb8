//! Progress on stderr: bars on a terminal, lines elsewhere, nothing with `--quiet`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::event::{Event, Reporter};
use crate::schema::Stage;
use crate::stages::export::{dollars, thousands};

/// Minimum time between two lines of a stage that has advanced by less than a tenth.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// No output.
    Quiet,
    /// One line per tenth of a stage, or every ten seconds.
    Lines,
    /// Progress bars.
    Bars {
        /// Whether they are colored.
        color: bool,
    },
}

/// Reporter that prints progress.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    bars: Option<MultiProgress>,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Quiet,
    Lines(Lines),
    Bars(Bars),
}

impl Progress {
    pub(crate) fn new(style: Style) -> Self {
        let multi = MultiProgress::new();
        let state = match style {
            Style::Quiet => State::Quiet,
            Style::Lines => State::Lines(Lines::default()),
            Style::Bars { color } => State::Bars(Bars::new(multi.clone(), color)),
        };
        let bars = matches!(style, Style::Bars { .. }).then_some(multi);
        Self { started: Instant::now(), bars, state: Mutex::new(state) }
    }

    /// Returns a writer for log lines that does not disturb the bars.
    pub(crate) fn writer(&self) -> AboveBars {
        AboveBars(self.bars.clone())
    }

    /// Removes the bars and leaves one line per finished stage above any later output.
    pub(crate) fn clear(&self) {
        let Some(multi) = &self.bars else { return };
        // Errors are ignored: without a terminal there is nothing to clear.
        let _ = multi.clear();
        multi.set_draw_target(ProgressDrawTarget::hidden());
        if let State::Bars(bars) = &*self.state.lock().expect("no code panics while holding the lock") {
            for outcome in &bars.outcomes {
                let _ = writeln!(io::stderr(), "{outcome}");
            }
        }
    }
}

impl Reporter for Progress {
    fn report(&self, event: Event) {
        let now = self.started.elapsed();
        let mut state = self.state.lock().expect("no code panics while holding the lock");
        match &mut *state {
            State::Quiet => {}
            State::Bars(bars) => bars.take(&event),
            State::Lines(lines) => {
                if let Some(line) = lines.take(now, &event) {
                    // A closed stderr must not end the run.
                    let _ = writeln!(io::stderr(), "{line}");
                }
            }
        }
    }
}

/// Writes to stderr, above the bars if there are any.
#[derive(Debug, Clone)]
pub(crate) struct AboveBars(Option<MultiProgress>);

impl Write for AboveBars {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let write = || io::stderr().write_all(bytes);
        self.0.as_ref().map_or_else(write, |bars| bars.suspend(write))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Calls, tokens and cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spent {
    calls: u64,
    in_flight: u64,
    tokens: u64,
    usd: Option<f64>,
}

impl Spent {
    fn words(&self) -> String {
        let (calls, tokens) = (thousands(self.calls), thousands(self.tokens));
        format!("{calls} calls, {} in flight, {tokens} tokens, {}", self.in_flight, dollars(self.usd))
    }
}

/// The stage that runs lanes.
const LANES_OF: Stage = Stage::Simulate;

/// The lanes that have started, and whether they have finished.
#[derive(Debug, Default)]
struct Lanes {
    has_ended: BTreeMap<String, bool>,
    ended: u64,
}

impl Lanes {
    /// Records the state of a lane; returns whether the displayed counts changed.
    fn take(&mut self, lane: &str, has_ended: bool) -> bool {
        let known = self.has_ended.get_mut(lane);
        let was = known.map(|known| std::mem::replace(known, has_ended || *known));
        if was.is_none() {
            self.has_ended.insert(lane.to_owned(), has_ended);
        }
        let is_news = has_ended && was != Some(true);
        self.ended += u64::from(is_news);
        is_news || was.is_none()
    }

    fn words(&self) -> Option<String> {
        let count = self.has_ended.len() as u64;
        (count > 0).then(|| format!("{} of {} lanes finished", thousands(self.ended), thousands(count)))
    }
}

/// One bar per stage, and a footer with calls, tokens and cost.
#[derive(Debug)]
struct Bars {
    multi: MultiProgress,
    color: bool,
    stages: BTreeMap<Stage, ProgressBar>,
    rejected: BTreeMap<Stage, u64>,
    lanes: Lanes,
    footer: Option<ProgressBar>,
    outcomes: Vec<String>,
}

impl Bars {
    fn new(multi: MultiProgress, color: bool) -> Self {
        let (stages, rejected, lanes) = Default::default();
        Self { multi, color, stages, rejected, lanes, footer: None, outcomes: Vec::new() }
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Started { stage, total } => {
                let bar = self.multi.add(total.map_or_else(ProgressBar::no_length, ProgressBar::new));
                bar.set_style(self.style(total.is_some()));
                bar.set_prefix(stage.name());
                bar.enable_steady_tick(Duration::from_millis(200));
                self.stages.insert(*stage, bar);
                // Keeps the footer last.
                if let Some(footer) = self.footer.take() {
                    self.multi.remove(&footer);
                    self.footer = Some(self.multi.add(footer));
                }
            }
            Event::Advanced { stage, done, total } => {
                if let Some(bar) = self.stages.get(stage) {
                    if let Some(total) = total {
                        if bar.length().is_none() {
                            bar.set_style(self.style(true));
                        }
                        bar.set_length(*total);
                    }
                    bar.set_position(*done);
                }
            }
            Event::Spent { calls, in_flight, tokens, usd } => {
                let spent = Spent { calls: *calls, in_flight: *in_flight, tokens: *tokens, usd: *usd };
                let footer = self.footer.get_or_insert_with(|| {
                    let style =
                        ProgressStyle::with_template("{msg}").expect("the template is a constant and covered by tests");
                    self.multi.add(ProgressBar::no_length().with_style(style))
                });
                footer.set_message(format!("{:>10}  {}", "", spent.words()));
            }
            Event::Rejected(reject) => {
                *self.rejected.entry(reject.stage).or_default() += 1;
                self.update_message(reject.stage);
            }
            Event::Lane { lane, has_ended, .. } => {
                if self.lanes.take(lane, *has_ended) {
                    self.update_message(LANES_OF);
                }
            }
            Event::Ended { stage, outcome } => {
                self.outcomes.push(format!("{stage:>10}  {outcome}"));
                if let Some(bar) = self.stages.get(stage) {
                    let style = ProgressStyle::with_template("{prefix:>10}  {wide_msg}");
                    bar.set_style(style.expect("the template is a constant and covered by tests"));
                    bar.finish_with_message(outcome.clone());
                }
            }
            Event::Note(note) => {
                let _ = self.multi.println(note);
            }
        }
    }

    /// Updates the message next to a stage's bar: finished lanes and rejected items.
    fn update_message(&self, stage: Stage) {
        let Some(bar) = self.stages.get(&stage) else { return };
        let lanes = (stage == LANES_OF).then(|| self.lanes.words()).flatten();
        let left_out = self.rejected.get(&stage).map(|count| format!("{} rejected", thousands(*count)));
        bar.set_message(lanes.into_iter().chain(left_out).collect::<Vec<_>>().join(", "));
    }

    fn style(&self, total: bool) -> ProgressStyle {
        let template = match (total, self.color) {
            (true, true) => {
                "{prefix:>10.green.bold}  {bar:24.cyan} {human_pos}/{human_len}  {per_sec}, {eta} left  {msg}"
            }
            (true, false) => "{prefix:>10}  {bar:24} {human_pos}/{human_len}  {per_sec}, {eta} left  {msg}",
            (false, true) => "{prefix:>10.green.bold}  {spinner} {human_pos}  {per_sec}  {msg}",
            (false, false) => "{prefix:>10}  {spinner} {human_pos}  {per_sec}  {msg}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is a constant and covered by tests");
        style.progress_chars("=> ").with_key(
            "per_sec",
            |state: &indicatif::ProgressState, w: &mut dyn std::fmt::Write| {
                // Slow stages process less than one item per second.
                let _ = write!(w, "{:.1}/s", state.per_sec());
            },
        )
    }
}

/// Plain lines for log files: at most one per tenth of a stage or ten seconds.
#[derive(Debug, Default)]
struct Lines {
    stages: BTreeMap<Stage, StageLines>,
    lanes: Lanes,
    spent: Spent,
}

#[derive(Debug, Default)]
struct StageLines {
    started: Duration,
    last_line: Duration,
    done: u64,
    tenth: u64,
    total: Option<u64>,
    rejected: u64,
}

impl Lines {
    /// Handles an event that happened `now` after the start; returns a line if one is due.
    fn take(&mut self, now: Duration, event: &Event) -> Option<String> {
        match event {
            Event::Started { stage, total } => {
                let lines = StageLines { started: now, last_line: now, total: *total, ..StageLines::default() };
                self.stages.insert(*stage, lines);
                let of = total.map_or_else(String::new, |total| format!(", {} items", thousands(total)));
                Some(format!("{stage}: started{of}"))
            }
            Event::Advanced { stage, done, total } => {
                let spent = self.spent;
                let lines = self.stages.get_mut(stage)?;
                lines.total = total.or(lines.total);
                lines.done = lines.done.max(*done);
                let tenth = lines.total.filter(|total| *total > 0).map_or(0, |total| done.saturating_mul(10) / total);
                let is_last = lines.total == Some(*done);
                if is_last || (tenth <= lines.tenth && now.saturating_sub(lines.last_line) < LINE_EVERY) {
                    return None; // `Event::Ended` prints the last line
                }
                (lines.tenth, lines.last_line) = (tenth, now);
                let ended = (*stage == LANES_OF).then(|| self.lanes.words()).flatten();
                let ended = ended.map_or_else(String::new, |words| format!("; {words}"));
                Some(format!("{stage}: {}{ended}; {}", lines.words(now), spent.words()))
            }
            Event::Lane { lane, has_ended, .. } => {
                self.lanes.take(lane, *has_ended);
                None
            }
            Event::Spent { calls, in_flight, tokens, usd } => {
                self.spent = Spent { calls: *calls, in_flight: *in_flight, tokens: *tokens, usd: *usd };
                // A single item may take longer than the interval.
                let (stage, lines) =
                    self.stages.iter_mut().find(|(_, lines)| now.saturating_sub(lines.last_line) >= LINE_EVERY)?;
                lines.last_line = now;
                Some(format!("{stage}: {}; {}", lines.words(now), self.spent.words()))
            }
            Event::Rejected(reject) => {
                self.stages.get_mut(&reject.stage)?.rejected += 1;
                None
            }
            Event::Ended { stage, outcome } => {
                let lines = self.stages.remove(stage).unwrap_or_default();
                let left_out = match lines.rejected {
                    0 => String::new(),
                    count => format!(", {} rejected", thousands(count)),
                };
                let seconds = now.saturating_sub(lines.started).as_secs_f64();
                Some(format!("{stage}: {outcome}{left_out}, in {seconds:.1} s"))
            }
            Event::Note(note) => Some(note.clone()),
        }
    }
}

impl StageLines {
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    fn words(&self, now: Duration) -> String {
        let done = self.done;
        let rate = done as f64 / now.saturating_sub(self.started).as_secs_f64().max(1e-3);
        let count = thousands(done);
        match self.total.filter(|total| *total > 0) {
            // The rate is unknown before the first item.
            Some(total) if done == 0 => format!("0 of {}", thousands(total)),
            Some(total) => {
                let percent = done.saturating_mul(100) / total;
                let left = total.saturating_sub(done) as f64 / rate.max(1e-9);
                format!("{count} of {} ({percent} %), {rate:.1}/s, about {left:.0} s left", thousands(total))
            }
            None => format!("{count}, {rate:.1}/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Reject, RejectReason};

    #[test]
    fn lines_are_printed_by_tenths_and_by_time() {
        let mut lines = Lines::default();
        let mut printed = Vec::new();
        let mut take = |seconds: u64, event: Event| printed.extend(lines.take(Duration::from_secs(seconds), &event));
        let advanced = |done| Event::Advanced { stage: Stage::Extract, done, total: Some(40) };
        take(0, Event::Started { stage: Stage::Extract, total: Some(40) });
        take(0, Event::Spent { calls: 1234, in_flight: 5, tokens: 56_789, usd: None });
        take(1, advanced(2)); // 5 %: too early
        take(2, advanced(4)); // 10 %
        take(3, advanced(5));
        take(13, advanced(6)); // after ten seconds
        take(14, Event::Rejected(Reject::new(Stage::Extract, "a@1", RejectReason::NoDialogue, "nobody speaks")));
        take(15, advanced(40)); // `Ended` prints the last line
        take(15, Event::Ended { stage: Stage::Extract, outcome: "34 scenes of 3 books".to_owned() });
        take(16, Event::Started { stage: Stage::Simulate, total: None });
        let lane = |lane: &str, counted, has_ended| {
            let lane = lane.to_owned();
            Event::Lane { lane, conversations: 3, counted, wanted: 20, has_ended }
        };
        take(16, lane("tess/a", 0, false));
        take(16, lane("tess/b", 0, false));
        take(17, lane("tess/a", 20, true));
        take(17, lane("tess/a", 20, false)); // late event of a finished lane
        take(30, Event::Advanced { stage: Stage::Simulate, done: 7, total: None });
        let spent = |calls| Event::Spent { calls, in_flight: 9, tokens: 60_000, usd: Some(1.0) };
        take(32, spent(1300)); // too early
        take(44, spent(1400)); // no progress, but more calls
        insta::assert_snapshot!(printed.join("\n"), @r"
        extract: started, 40 items
        extract: 4 of 40 (10 %), 2.0/s, about 18 s left; 1,234 calls, 5 in flight, 56,789 tokens, unpriced
        extract: 6 of 40 (15 %), 0.5/s, about 74 s left; 1,234 calls, 5 in flight, 56,789 tokens, unpriced
        extract: 34 scenes of 3 books, 1 rejected, in 15.0 s
        simulate: started
        simulate: 7, 0.5/s; 1 of 2 lanes finished; 1,234 calls, 5 in flight, 56,789 tokens, unpriced
        simulate: 7, 0.2/s; 1,400 calls, 9 in flight, 60,000 tokens, $1.00
        ");
    }

    #[test]
    fn bars_take_every_event() {
        let bars = Progress::new(Style::Bars { color: false });
        bars.report(Event::Started { stage: Stage::Extract, total: None });
        bars.report(Event::Spent { calls: 1, in_flight: 1, tokens: 1, usd: Some(0.0) });
        bars.report(Event::Started { stage: Stage::Simulate, total: Some(3) });
        bars.report(Event::Advanced { stage: Stage::Extract, done: 2, total: Some(4) });
        bars.report(Event::Rejected(Reject::new(Stage::Extract, "a@1", RejectReason::NoDialogue, "")));
        {
            let state = bars.state.lock().unwrap();
            let State::Bars(inner) = &*state else { panic!("expected bars") };
            let bar = &inner.stages[&Stage::Extract];
            assert_eq!((bar.position(), bar.length(), bar.message().as_str()), (2, Some(4), "1 rejected"));
        }
        bars.report(Event::Ended { stage: Stage::Extract, outcome: "done".to_owned() });
        bars.report(Event::Note("a note".to_owned()));
        let state = bars.state.lock().unwrap();
        let State::Bars(inner) = &*state else { panic!("expected bars") };
        assert!(inner.stages[&Stage::Extract].is_finished());
        assert_eq!(inner.outcomes, ["   extract  done"]);
        let footer = inner.footer.as_ref().map(ProgressBar::message);
        assert_eq!(footer.as_deref().map(str::trim), Some("1 calls, 1 in flight, 1 tokens, $0.00"));
    }
}
