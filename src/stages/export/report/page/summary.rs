//! The totals at the top of the page.

use serde::Serialize;

use super::limits::NAME;
use crate::stages::export::amounts::{dollars, percent, thousands};
use crate::stages::export::card::CardMetadata;
use crate::stages::export::report::Report;
use crate::stages::export::report::cost::AskCost;
use crate::stages::export::report::figures::LanguageCounts;
use crate::stages::export::report::sanitize::line;

#[derive(Debug, Serialize)]
pub(super) struct SummaryTile {
    value: String,
    label: &'static str,
    note: String,
}

pub(super) fn tiles(report: &Report<'_>) -> Vec<SummaryTile> {
    let Report { metadata, figures, .. } = report;
    let rows = |config: &str| {
        report.tables.iter().filter(|table| table.config == config).map(|table| table.rows as u64).sum::<u64>()
    };
    let sum = |of: fn(&LanguageCounts) -> u64| figures.languages.values().map(of).sum::<u64>();
    let by_language = |of: fn(&LanguageCounts) -> u64| {
        let counts =
            figures.languages.iter().map(|(language, own)| (language, of(own))).filter(|(_, count)| *count > 0);
        counts.map(|(language, count)| format!("{} {language}", thousands(count))).collect::<Vec<_>>().join(", ")
    };
    let tile = |value: u64, label, note: String| SummaryTile { value: thousands(value), label, note };
    let mut tiles = vec![
        tile(rows("samples"), "samples", by_language(|own| own.samples.values().sum())),
        tile(rows("conversations"), "conversations", format!("{} passed every filter", thousands(sum(|own| own.kept)))),
        tile(sum(|own| own.turns), "judged turns", by_language(|own| own.turns)),
        tile(rows("characters"), "test characters", by_language(|own| own.characters)),
        tile(rows("scenes"), "scenes", by_language(|own| own.scenes)),
        tile(metadata.books.len() as u64, "books", format!("{} chunks", thousands(report.chunks))),
    ];
    if rows("roles") > 0 {
        let note =
            format!("{} specific, {} general rows", thousands(rows("role_specific")), thousands(rows("role_general")));
        tiles.push(tile(rows("roles"), "roles", note));
    }
    let all = AskCost::sum(&metadata.charges);
    tiles.push(tile(
        all.calls,
        "calls",
        match report.each_sample {
            Some([calls, ..]) => format!("{calls:.1} per sample in conversations"),
            None => String::new(),
        },
    ));
    let tokens = all.prompt + all.completion;
    let estimated =
        if all.estimated > 0 { format!("; {} estimated", percent(all.estimated, tokens)) } else { String::new() };
    let note = format!("{} of prompts cacheable{estimated}", percent(all.cacheable, all.prompt));
    tiles.push(tile(tokens, "tokens billed", note));
    let each = report.each_sample.map_or(String::new(), |[_, billed, cacheable]| {
        format!("{billed:.0} tokens per sample, {cacheable:.0} of them cacheable")
    });
    tiles.push(SummaryTile { value: dollars(all.usd), label: "cost", note: each });
    tiles
}

/// Returns the parts of the cast that the offline engine fills.
pub(super) fn offline(metadata: &CardMetadata) -> impl Iterator<Item = String> {
    let offline = metadata.parts.iter().filter(|part| part.is_offline());
    offline.map(|part| format!("{} ({})", line(&part.part, NAME), line(&part.model, NAME)))
}
