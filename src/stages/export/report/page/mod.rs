//! The values that the template of the page prints, in the order of the page.

mod balance;
mod costs;
mod limits;
mod scores;
mod stages;
mod summary;

use std::collections::BTreeMap;

use serde::Serialize;

use self::balance::{Balance, by_character, by_language, dimension_codes};
use self::costs::{CostRow, by_stage, token_plot};
use self::limits::{BARS, NAME, ROWS, largest_first};
use self::scores::{Grounding, Judge, OrderEffect, ScoreRow, Source, lengths, mean_length, plus, sources};
use self::stages::{RejectRow, StageRow, left_out, questions, steps, turns};
use self::summary::{SummaryTile, offline, tiles};
use super::Report;
use super::conversation_view::ConversationView;
use super::cost::AskCost;
use super::figures::{CharacterCounts, Scores};
use super::manual_edits::ManualEdits;
use super::plots::{self, SCORES};
use super::sanitize::line;
use super::splits_section::splits_table;
use crate::stages::export::card::front_matter::languages;

/// The data of the template.
#[derive(Debug, Serialize)]
pub(super) struct Page<'a> {
    name: String,
    /// The rows by config and split, as HTML.
    splits_table: String,
    version: &'a str,
    seed: u64,
    languages: Vec<&'static str>,
    tiles: Vec<SummaryTile>,
    offline: Vec<String>,
    offline_more: usize,
    steps: Vec<StageRow>,
    turns: Option<String>,
    questions: Option<String>,
    left_out: Vec<RejectRow>,
    left_out_more: usize,
    dimensions_below_target: Vec<(String, u64)>,
    dimensions_below_target_more: usize,
    dimensions_without_samples: Vec<(String, u64)>,
    dimensions_without_samples_more: usize,
    dimensions: Vec<DimensionName>,
    dimensions_more: usize,
    balance: Balance,
    targets: Balance,
    language_balance: Balance,
    sources: Vec<Source>,
    sources_more: usize,
    source_plot: Option<String>,
    score_plot: Option<String>,
    dimension_plot: Option<String>,
    scores: Vec<ScoreRow>,
    scores_more: usize,
    lengths: Option<String>,
    mean_length: String,
    ends: Vec<(String, u64)>,
    qualities: Vec<(String, u64)>,
    faults: Vec<(String, u64)>,
    orders: OrderEffect,
    judges: Vec<Judge>,
    judges_more: usize,
    grounding: Vec<Grounding>,
    stages: Vec<CostRow>,
    asks: Vec<CostRow>,
    asks_more: usize,
    total: Option<CostRow>,
    token_plot: Option<String>,
    by_hand: ManualEdits,
    readings: &'a [ConversationView],
    parts: Vec<(String, String, String)>,
    parts_more: usize,
    books: Vec<(String, String, &'static str)>,
    books_more: usize,
    keep_source: u8,
    sample: u8,
    tau: u32,
}

#[derive(Debug, Serialize)]
struct DimensionName {
    code: String,
    en: String,
    zh: String,
}

impl<'a> Page<'a> {
    pub(super) fn new(report: &Report<'a>) -> Self {
        let Report { metadata, figures, .. } = report;
        let codes = dimension_codes(metadata, figures);
        let every = |of: fn(&CharacterCounts) -> &BTreeMap<String, u64>| by_character(figures, &codes, of);
        let (sources, sources_more) = sources(figures);
        let (left_out, left_out_more) = left_out(report.rejects, report.quote_limits);
        let all: Scores = figures.dimensions.values().fold([0; 5], |sum, scores| plus(&sum, scores));
        let by_dimension: Vec<(String, Vec<u64>)> = codes
            .iter()
            .filter_map(|code| Some((code.clone(), figures.dimensions.get(code)?.to_vec())))
            .take(BARS)
            .collect();
        let by_source: Vec<(String, Vec<u64>)> =
            figures.sources.iter().map(|(name, of)| (name.clone(), of.scores.to_vec())).take(BARS).collect();
        let any = |rows: &[(String, Vec<u64>)]| rows.iter().any(|(_, parts)| parts.iter().any(|count| *count > 0));
        Self {
            name: line(report.params.pretty_name.as_deref().unwrap_or(&metadata.name), NAME),
            splits_table: splits_table(report.tables),
            version: &metadata.version,
            seed: metadata.seed,
            languages: languages(report.tables).into_iter().collect(),
            tiles: tiles(report),
            offline: offline(metadata).take(ROWS).collect(),
            offline_more: offline(metadata).count().saturating_sub(ROWS),
            steps: steps(report),
            turns: turns(figures, metadata.sample_threshold),
            questions: questions(&metadata.roles),
            left_out,
            left_out_more,
            dimensions_below_target: report
                .dimensions_below_target
                .iter()
                .take(ROWS)
                .map(|(code, lanes)| (line(code, NAME), *lanes))
                .collect(),
            dimensions_below_target_more: report.dimensions_below_target.len().saturating_sub(ROWS),
            dimensions_without_samples: report
                .dimensions_without_samples
                .iter()
                .take(ROWS)
                .map(|(code, lanes)| (line(code, NAME), *lanes))
                .collect(),
            dimensions_without_samples_more: report.dimensions_without_samples.len().saturating_sub(ROWS),
            dimensions_more: metadata.dimensions.len().saturating_sub(ROWS),
            dimensions: metadata
                .dimensions
                .iter()
                .take(ROWS)
                .map(|dimension| DimensionName {
                    code: line(&dimension.code, NAME),
                    en: line(&dimension.name.en, NAME),
                    zh: line(&dimension.name.zh, NAME),
                })
                .collect(),
            balance: every(|own| &own.samples),
            targets: every(|own| &own.targets),
            language_balance: by_language(figures, &codes),
            sources,
            sources_more,
            source_plot: any(&by_source).then(|| plots::stacks(&by_source, SCORES, true)),
            score_plot: (all.iter().sum::<u64>() > 0).then(|| {
                let bars: Vec<(String, u64)> =
                    (1..).zip(all).map(|(score, count): (u8, u64)| (score.to_string(), count)).collect();
                plots::columns(&bars, "σ: 1 source much better, 3 alike, 5 base much better", "turns")
            }),
            dimension_plot: any(&by_dimension).then(|| plots::stacks(&by_dimension, SCORES, true)),
            scores: std::iter::once(ScoreRow::new("all", &all))
                .chain(figures.dimensions.iter().map(|(code, scores)| ScoreRow::new(code, scores)).take(ROWS))
                .collect(),
            scores_more: figures.dimensions.len().saturating_sub(ROWS),
            lengths: lengths(&figures.lengths),
            mean_length: mean_length(&figures.lengths),
            ends: largest_first(figures.ends.iter().map(|(name, count)| (*name, *count))),
            qualities: largest_first(figures.qualities.iter().map(|(name, count)| (*name, *count))),
            faults: largest_first(figures.faults.iter().map(|(name, count)| (*name, *count)).take(ROWS)),
            orders: OrderEffect::new(figures),
            judges_more: figures.judges.len().saturating_sub(ROWS),
            judges: figures.judges.iter().take(ROWS).map(|(name, agreement)| Judge::new(name, agreement)).collect(),
            grounding: figures.languages.iter().filter_map(|(language, of)| Grounding::new(*language, of)).collect(),
            stages: by_stage(&metadata.charges),
            asks_more: metadata.charges.len().saturating_sub(ROWS),
            asks: metadata.charges.iter().take(ROWS).map(|charge| CostRow::new(&charge.ask, charge)).collect(),
            total: (!metadata.charges.is_empty()).then(|| CostRow::new("all", &AskCost::sum(&metadata.charges))),
            token_plot: token_plot(&metadata.charges),
            by_hand: ManualEdits::new(report),
            readings: report.readings,
            parts_more: metadata.parts.len().saturating_sub(ROWS),
            parts: metadata
                .parts
                .iter()
                .take(ROWS)
                .map(|part| (line(&part.part, NAME), line(&part.name, NAME), line(&part.model, NAME)))
                .collect(),
            books: metadata
                .books
                .iter()
                .take(ROWS)
                .map(|book| (line(&book.slug, NAME), line(&book.title, NAME), book.language.code()))
                .collect(),
            books_more: metadata.books.len().saturating_sub(ROWS),
            keep_source: metadata.keep_source,
            sample: metadata.sample_threshold,
            tau: metadata.tau,
        }
    }
}
