//! Counts by dimension: by test character and by language.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::limits::{NAME, ROWS};
use crate::schema::Language;
use crate::stages::export::card::CardMetadata;
use crate::stages::export::report::figures::{CharacterCounts, ReportStatistics};
use crate::stages::export::report::sanitize::line;

/// The maximum number of dimensions with a column.
const COLUMNS: usize = 30;

/// Counts by dimension.
#[derive(Debug, Default, Serialize)]
pub(super) struct Balance {
    codes: Vec<String>,
    codes_more: usize,
    rows: Vec<BalanceRow>,
    more: usize,
}

#[derive(Debug, Serialize)]
struct BalanceRow {
    name: String,
    language: &'static str,
    kind: &'static str,
    cells: Vec<BalanceCell>,
    all: u64,
}

/// A count, and the intensity of its background, 0 to 100.
#[derive(Debug, Serialize)]
struct BalanceCell {
    count: u64,
    shade: u64,
}

/// Returns the codes of the dimensions in the order of their table; codes that are not in it come last.
pub(super) fn dimension_codes(metadata: &CardMetadata, figures: &ReportStatistics) -> Vec<String> {
    let mut codes: Vec<String> = metadata.dimensions.iter().map(|dimension| dimension.code.clone()).collect();
    let known: BTreeSet<&String> = metadata.dimensions.iter().map(|dimension| &dimension.code).collect();
    let found = figures.characters.values().flat_map(|own| own.samples.keys().chain(own.targets.keys()));
    let others: BTreeSet<&String> =
        found.chain(figures.dimensions.keys()).filter(|code| !known.contains(code)).collect();
    codes.extend(others.into_iter().cloned());
    codes
}

pub(super) fn by_character(
    figures: &ReportStatistics,
    codes: &[String],
    of: fn(&CharacterCounts) -> &BTreeMap<String, u64>,
) -> Balance {
    let rows = figures.characters.values().map(|own| {
        let language = own.language.map_or("", Language::code);
        (own.name.as_str(), language, own.kind.map_or("", crate::schema::CharacterType::name), of(own))
    });
    Balance::new(codes, rows)
}

pub(super) fn by_language(figures: &ReportStatistics, codes: &[String]) -> Balance {
    let rows = figures.languages.iter().map(|(language, own)| (language.code(), language.code(), "", &own.samples));
    Balance::new(codes, rows)
}

impl Balance {
    fn new<'a>(
        codes: &[String],
        rows: impl Iterator<Item = (&'a str, &'static str, &'static str, &'a BTreeMap<String, u64>)>,
    ) -> Self {
        let rows: Vec<_> = rows.collect();
        let most = rows.iter().flat_map(|(.., counts)| counts.values()).max().copied().unwrap_or(0).max(1);
        let more = rows.len().saturating_sub(ROWS);
        let row =
            |(name, language, kind, counts): (&str, &'static str, &'static str, &BTreeMap<String, u64>)| BalanceRow {
                name: line(name, NAME),
                language,
                kind,
                cells: codes
                    .iter()
                    .take(COLUMNS)
                    .map(|code| counts.get(code).copied().unwrap_or_default())
                    .map(|count| BalanceCell { count, shade: count * 100 / most })
                    .collect(),
                all: counts.values().sum(),
            };
        let rows = rows.into_iter().take(ROWS).map(row).collect();
        let codes_more = codes.len().saturating_sub(COLUMNS);
        Self { codes: codes.iter().take(COLUMNS).map(|code| line(code, NAME)).collect(), codes_more, rows, more }
    }
}
