//! How the data set was made: books, models, settings, dimensions, prompts and cost.

use std::fmt::Write as _;

use super::count_tables::{balance, rejects, scores};
use super::markdown::cell;
use super::metadata::CardMetadata;
use crate::schema::{Conversation, Reject, Sample};
use crate::stages::export::amounts::{dollars, percent, thousands};
use crate::stages::export::groups::TableRow as _;
use crate::stages::export::markers::{self, marked};
use crate::stages::export::report::AskCost;
use crate::stages::export::role_tables;
use crate::stages::export::tally::Table;

pub(super) fn provenance(metadata: &CardMetadata, tables: &[Table]) -> String {
    let mut text = format!("## How it was made\n\nBy dramaturg {}, with seed {}.\n\n", metadata.version, metadata.seed);
    if !metadata.books.is_empty() {
        text.push_str("| book | title | language | licence | source |\n|---|---|---|---|---|\n");
        for book in &metadata.books {
            let license = cell(book.license.as_deref().unwrap_or("not stated"));
            let source = cell(book.source.as_deref().unwrap_or(""));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {license} | {source} |",
                cell(&book.slug),
                cell(&book.title),
                book.language
            );
        }
        text.push('\n');
    }
    if !metadata.parts.is_empty() {
        text.push_str("| part | name | model |\n|---|---|---|\n");
        for part in &metadata.parts {
            let _ = writeln!(text, "| {} | {} | {} |", cell(&part.part), cell(&part.name), cell(&part.model));
        }
        text.push('\n');
    }
    let _ = write!(
        text,
        "Each test character plays conversations with each source model until every dimension has been counted τ = {} \
         times. The turns before each of its test turns target a dimension with probability {}, and conversations are \
         played in batches of {}. At each test turn the source model and the base model both reply, and the judge \
         names the dimension that fits and gives a score σ, from 1 (source much better) to 5 (base much better). The \
         source model's reply stays in the history at σ ≤ {}. A turn with σ ≤ {} in a conversation that passed every \
         filter becomes a sample.\n\n",
        metadata.tau, metadata.target_probability, metadata.batch_size, metadata.keep_source, metadata.sample_threshold
    );
    text.push_str(&dimensions(metadata));
    text.push_str(&role_tables::section(&metadata.roles));
    for table in tables {
        match table.config {
            Sample::CONFIG => text.push_str(&marked(markers::BALANCE, &format!("\n{}", balance(metadata, table)))),
            Conversation::CONFIG => text.push_str(&scores(&table.tally)),
            Reject::CONFIG => text.push_str(&rejects(&table.tally)),
            _ => {}
        }
    }
    text.push_str(&prompts(metadata));
    text
}

/// Returns the usage by stage.
pub(super) fn cost(charges: &[AskCost]) -> String {
    if charges.is_empty() {
        return String::new();
    }
    let head = "| stage | calls | prompt tokens | completion tokens | cost |\n|---|---:|---:|---:|---:|\n";
    let mut text = format!("## Cost\n\n{head}");
    let all = AskCost::sum(charges);
    let stages = AskCost::by_stage(charges);
    for (stage, charge) in stages.iter().map(|(stage, charge)| (stage.name(), charge)).chain([("all", &all)]) {
        let (calls, cost) = (thousands(charge.calls), dollars(charge.usd));
        let (prompt, completion) = (thousands(charge.prompt), thousands(charge.completion));
        let _ = writeln!(text, "| {stage} | {calls} | {prompt} | {completion} | {cost} |");
    }
    if all.estimated > 0 {
        let share = percent(all.estimated, all.prompt + all.completion);
        let _ = write!(text, "\n{share} of the tokens are estimates, because the servers did not report counts.\n");
    }
    text.push('\n');
    text
}

fn dimensions(metadata: &CardMetadata) -> String {
    if metadata.dimensions.is_empty() {
        return String::new();
    }
    let mut text = "| dimension | name | 名称 |\n|---|---|---|\n".to_owned();
    for dimension in &metadata.dimensions {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            cell(&dimension.code),
            cell(&dimension.name.en),
            cell(&dimension.name.zh)
        );
    }
    text.push('\n');
    text
}

/// Lists the prompt templates and their hashes in a collapsed section.
fn prompts(metadata: &CardMetadata) -> String {
    if metadata.prompts.is_empty() {
        return String::new();
    }
    let mut text = "<details><summary>Prompt templates and their BLAKE3 hashes</summary>\n\n".to_owned();
    text.push_str("| template | BLAKE3 |\n|---|---|\n");
    for (name, hash) in &metadata.prompts {
        let _ = writeln!(text, "| {} | `{hash}` |", cell(name));
    }
    text.push_str("\n</details>\n\n");
    text
}
