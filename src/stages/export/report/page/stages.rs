//! What each stage produced and rejected.

use std::collections::BTreeMap;

use serde::Serialize;

use super::limits::{NAME, ROWS, largest_first};
use crate::schema::{Language, Reject, RoleGeneral, RoleSpecific, RoleTally, Stage};
use crate::stages::export::amounts::thousands;
use crate::stages::export::groups::TableRow as _;
use crate::stages::export::quote_limits::QuoteLimits;
use crate::stages::export::report::Report;
use crate::stages::export::report::figures::{LanguageCounts, ReportStatistics};
use crate::stages::export::report::plots::{self, AMOUNT};
use crate::stages::export::report::sanitize::{DisplayBudget, DisplayText, line};

/// The maximum length of all details of rejects, and of one of them.
const DETAILS: usize = 60_000;
const DETAIL: usize = 1_000;

/// The output and the rejects of a stage.
#[derive(Debug, Serialize)]
pub(super) struct StageRow {
    stage: &'static str,
    made: String,
    left_out: Vec<(String, u64)>,
}

#[derive(Debug, Serialize)]
pub(super) struct RejectRow {
    stage: String,
    reason: String,
    count: u64,
    id: String,
    detail: DisplayText,
}

pub(super) fn steps(report: &Report<'_>) -> Vec<StageRow> {
    let Report { metadata, figures, .. } = report;
    let sum = |of: fn(&LanguageCounts) -> u64| figures.languages.values().map(of).sum::<u64>();
    let counted = |count: u64, word: &str| format!("{} {word}{}", thousands(count), if count == 1 { "" } else { "s" });
    let mut reasons: BTreeMap<Stage, BTreeMap<&str, u64>> = BTreeMap::new();
    for reject in report.rejects {
        *reasons.entry(reject.stage).or_default().entry(reject.reason.name()).or_default() += 1;
    }
    let step = |stage: Stage, made: String| StageRow {
        stage: stage.name(),
        made,
        left_out: reasons
            .get(&stage)
            .map_or_else(Vec::new, |of| largest_first(of.iter().map(|(reason, count)| (*reason, *count)).take(ROWS))),
    };
    let samples: u64 = sum(|own| own.samples.values().sum());
    let mut steps = vec![
        step(
            Stage::Chunk,
            format!("{} of {}", counted(report.chunks, "chunk"), counted(metadata.books.len() as u64, "book")),
        ),
        step(Stage::Extract, counted(sum(|own| own.scenes), "scene")),
        step(Stage::Synthesize, counted(sum(|own| own.characters), "test character")),
        step(
            Stage::Simulate,
            format!(
                "{} with {}, {} passed every filter",
                counted(sum(|own| own.conversations), "conversation"),
                counted(sum(|own| own.turns), "judged turn"),
                thousands(sum(|own| own.kept))
            ),
        ),
    ];
    if reasons.contains_key(&Stage::Select) {
        let verdicts = figures.judges.values().map(|agreement| agreement.turns).sum();
        steps.push(step(Stage::Select, counted(verdicts, "further verdict")));
    }
    if !metadata.roles.is_empty() {
        let sum = |of: fn(&RoleTally) -> u64| metadata.roles.values().map(of).sum::<u64>();
        let rows = |config: &str| {
            report.tables.iter().filter(|table| table.config == config).map(|table| table.rows as u64).sum::<u64>()
        };
        let made = format!(
            "{} with {} and {}",
            counted(sum(|tally| tally.roles), "role"),
            counted(rows(RoleSpecific::CONFIG), "specific row"),
            counted(rows(RoleGeneral::CONFIG), "general row")
        );
        steps.push(step(Stage::Instruct, made));
    }
    steps.push(step(Stage::Export, counted(samples, "sample")));
    steps
}

/// Draws how many test turns became samples.
pub(super) fn turns(figures: &ReportStatistics, sample: u8) -> Option<String> {
    let sum = |of: &dyn Fn(&LanguageCounts) -> u64| figures.languages.values().map(of).sum::<u64>();
    let better = |own: &LanguageCounts| own.kept_scores.iter().take(sample.into()).sum::<u64>();
    let rows = [
        ("judged".to_owned(), vec![sum(&|own| own.turns)]),
        ("conversation kept".to_owned(), vec![sum(&|own| own.kept_scores.iter().sum())]),
        (format!("σ ≤ {sample}"), vec![sum(&better)]),
        ("samples".to_owned(), vec![sum(&|own| own.samples.values().sum())]),
    ];
    (rows[0].1[0] > 0).then(|| plots::stacks(&rows, AMOUNT, false))
}

/// Draws how many questions to roles were kept.
pub(super) fn questions(roles: &BTreeMap<Language, RoleTally>) -> Option<String> {
    let sum = |of: fn(&RoleTally) -> u64| roles.values().map(of).sum::<u64>();
    let made = sum(|tally| tally.candidates);
    let passed = made.saturating_sub(sum(|tally| tally.filtered));
    let kept = passed.saturating_sub(sum(|tally| tally.removed));
    let rows = [("questions", made), ("passed", passed), ("deduplicated", kept)];
    let rows: Vec<(String, Vec<u64>)> = rows.map(|(name, count)| (name.to_owned(), vec![count])).into();
    (made > 0).then(|| plots::stacks(&rows, AMOUNT, false))
}

/// Counts rejects by stage and reason, each with its first entry.
pub(super) fn left_out(rejects: &[Reject], quote_limits: &QuoteLimits) -> (Vec<RejectRow>, usize) {
    let mut reasons: BTreeMap<(&str, &str), (u64, &Reject)> = BTreeMap::new();
    for reject in rejects {
        reasons.entry((reject.stage.name(), reject.reason.name())).or_insert((0, reject)).0 += 1;
    }
    let more = reasons.len().saturating_sub(ROWS);
    let mut room = DisplayBudget::new(DETAILS, quote_limits).each(DETAIL);
    let rows = reasons.into_iter().take(ROWS).map(|((stage, reason), (count, first))| RejectRow {
        stage: line(stage, NAME),
        reason: line(reason, NAME),
        count,
        id: line(&first.id, NAME),
        detail: room.show(&first.detail),
    });
    (rows.collect(), more)
}
