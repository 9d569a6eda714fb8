//! Tables of counts: samples, scores and rejects.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::markdown::cell;
use super::metadata::CardMetadata;
use crate::stages::export::tally::{Table, TableCounts};

/// Counts samples by dimension, language and character type.
pub(super) fn balance(metadata: &CardMetadata, table: &Table) -> String {
    let counts = &table.tally.samples;
    let mut groups: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (group, count) in counts.values().flatten() {
        *groups.entry(*group).or_default() += count;
    }
    // Dimensions without samples are shown too, in the order of their table. Codes that are not in the table come last.
    let mut codes: Vec<String> = metadata.dimensions.iter().map(|dimension| dimension.code.clone()).collect();
    codes.extend(counts.keys().filter(|code| !metadata.dimensions.iter().any(|known| known.code == **code)).cloned());
    let mut text =
        format!("Samples of split `{}` by dimension, language and character type:\n\n| dimension |", table.split);
    for (language, kind) in groups.keys() {
        let _ = write!(text, " {language}, {kind} |");
    }
    let _ = writeln!(text, " all |\n|---|{}---:|", "---:|".repeat(groups.len()));
    for code in codes {
        let row = counts.get(&code);
        let _ = write!(text, "| {} |", cell(&code));
        for group in groups.keys() {
            let _ = write!(text, " {} |", row.and_then(|row| row.get(group)).unwrap_or(&0));
        }
        let _ = writeln!(text, " {} |", row.map_or(0, |row| row.values().sum::<usize>()));
    }
    text.push_str("| all |");
    for count in groups.values() {
        let _ = write!(text, " {count} |");
    }
    let _ = writeln!(text, " {} |\n", groups.values().sum::<usize>());
    if table.tally.edited > 0 {
        let _ = writeln!(
            text,
            "{} of them have a reference that was edited by hand; the column `edit_reason` gives the reason.\n",
            table.tally.edited
        );
    }
    text
}

/// Counts σ over all judged turns, including those of conversations that were filtered out.
pub(super) fn scores(tally: &TableCounts) -> String {
    let scores: Vec<u8> = (1..=5).collect();
    let head: Vec<String> = scores.iter().map(u8::to_string).collect();
    let row: Vec<String> = scores.iter().map(|score| tally.scores.get(score).unwrap_or(&0).to_string()).collect();
    format!(
        "σ over all judged turns of `conversations`:\n\n| σ | {} |\n|---|{}\n| turns | {} |\n\n",
        head.join(" | "),
        "---:|".repeat(head.len()),
        row.join(" | ")
    )
}

/// Counts rejects by stage and reason.
pub(super) fn rejects(tally: &TableCounts) -> String {
    let mut text =
        "Rejected items (details in the config `rejected`):\n\n| stage | reason | count |\n|---|---|---:|\n".to_owned();
    for ((stage, reason), count) in &tally.rejects {
        let _ = writeln!(text, "| {} | {} | {count} |", cell(stage), cell(reason));
    }
    text.push('\n');
    text
}
