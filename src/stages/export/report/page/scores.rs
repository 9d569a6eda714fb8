//! Scores by source, by dimension and by order of replies, the agreement of judges, and grounding.

use std::collections::BTreeMap;

use serde::Serialize;

use super::limits::{BARS, NAME, ROWS};
use crate::schema::Language;
use crate::stages::export::amounts::percent;
use crate::stages::export::report::figures::{Agreement, LanguageCounts, ReportStatistics, Scores, mean};
use crate::stages::export::report::plots;
use crate::stages::export::report::sanitize::line;

#[derive(Debug, Serialize)]
pub(super) struct Source {
    name: String,
    conversations: u64,
    kept: u64,
    turns: u64,
    samples: u64,
    share: String,
    mean: String,
}

#[derive(Debug, Serialize)]
pub(super) struct ScoreRow {
    name: String,
    scores: Scores,
    all: u64,
    mean: String,
}

/// The effect on σ of the order in which a judge sees two replies.
#[derive(Debug, Serialize)]
pub(super) struct OrderEffect {
    rows: Vec<ScoreRow>,
    lean: String,
    both: u64,
    same: String,
    opposite: String,
    equal: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Judge {
    name: String,
    turns: u64,
    same_dimension: String,
    kappa: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Grounding {
    language: &'static str,
    scenes: u64,
    lines: Vec<(&'static str, u64)>,
    plot: String,
}

pub(super) fn sources(figures: &ReportStatistics) -> (Vec<Source>, usize) {
    let samples: u64 = figures.sources.values().map(|own| own.samples).sum();
    let rows = figures.sources.iter().take(ROWS).map(|(name, own)| Source {
        name: line(name, NAME),
        conversations: own.conversations,
        kept: own.kept,
        turns: own.scores.iter().sum(),
        samples: own.samples,
        share: percent(own.samples, samples),
        mean: mean_text(&own.scores),
    });
    (rows.collect(), figures.sources.len().saturating_sub(ROWS))
}

impl ScoreRow {
    pub(super) fn new(name: &str, scores: &Scores) -> Self {
        Self { name: line(name, NAME), scores: *scores, all: scores.iter().sum(), mean: mean_text(scores) }
    }
}

impl OrderEffect {
    pub(super) fn new(figures: &ReportStatistics) -> Self {
        let orders = &figures.orders;
        let rows = [("source first", &orders.source_first), ("base first", &orders.base_first)];
        let rows = rows.into_iter().filter(|(_, scores)| scores.iter().any(|count| *count > 0));
        let lean = mean(&orders.base_first).zip(mean(&orders.source_first)).map(|(base, source)| base - source);
        let lean = match lean {
            None => String::new(),
            Some(lean) if lean.abs() < 0.1 => "The order makes no visible difference to the mean.".to_owned(),
            Some(lean) => {
                let position = if lean > 0.0 { "first" } else { "second" };
                format!(
                    "On average the reply that is shown {position} gains {:.2} of σ by its position.",
                    lean.abs() / 2.0
                )
            }
        };
        Self {
            rows: rows.map(|(name, scores)| ScoreRow::new(name, scores)).collect(),
            lean,
            both: orders.both,
            same: percent(orders.same, orders.both),
            opposite: percent(orders.opposite, orders.both),
            equal: orders.equal,
        }
    }
}

impl Judge {
    pub(super) fn new(name: &str, agreement: &Agreement) -> Self {
        Self {
            name: line(name, NAME),
            turns: agreement.turns,
            same_dimension: percent(agreement.same_dimension, agreement.turns),
            kappa: agreement.kappa().map_or_else(|| "–".to_owned(), |kappa| format!("{kappa:.2}")),
        }
    }
}

impl Grounding {
    pub(super) fn new(language: Language, own: &LanguageCounts) -> Option<Self> {
        let scenes: u64 = own.grounding.iter().sum();
        let label = |at: usize| if at == 9 { "90–100".to_owned() } else { format!("{}–", at * 10) };
        let bars: Vec<(String, u64)> =
            own.grounding.iter().enumerate().map(|(at, count)| (label(at), *count)).collect();
        (scenes > 0).then(|| Self {
            language: language.code(),
            scenes,
            lines: own.lines.iter().map(|(name, count)| (*name, *count)).collect(),
            plot: plots::columns(&bars, "per cent of a scene's utterances found in the book", "scenes"),
        })
    }
}

/// Draws the distribution of the number of turns; many different lengths are grouped.
pub(super) fn lengths(lengths: &BTreeMap<u64, u64>) -> Option<String> {
    let (first, last) = (*lengths.keys().next()?, *lengths.keys().next_back()?);
    let step = (last - first + 1).div_ceil(BARS as u64);
    let bars: Vec<(String, u64)> = (first..=last)
        .step_by(usize::try_from(step).unwrap_or(usize::MAX))
        .map(|from| (from.to_string(), lengths.range(from..from + step).map(|(_, count)| count).sum()))
        .collect();
    let axis = if step == 1 { "turns".to_owned() } else { format!("turns, in groups of {step}") };
    Some(plots::columns(&bars, &axis, "conversations"))
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(super) fn mean_length(lengths: &BTreeMap<u64, u64>) -> String {
    let count: u64 = lengths.values().sum();
    let turns: u64 = lengths.iter().map(|(length, count)| length * count).sum();
    format!("{:.1}", turns as f64 / count.max(1) as f64)
}

pub(super) fn plus(one: &Scores, other: &Scores) -> Scores {
    std::array::from_fn(|at| one[at] + other[at])
}

fn mean_text(scores: &Scores) -> String {
    mean(scores).map_or_else(|| "–".to_owned(), |mean| format!("{mean:.2}"))
}
