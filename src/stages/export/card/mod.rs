//! The data set card: front matter, a description, how to load the data, and how it was made.
//!
//! The card has only content that is the same when the run is replayed from its journal: no time, no count that depends
//! on the source of an answer, no server address.

mod count_tables;
pub(crate) mod front_matter;
mod limitations;
mod markdown;
mod metadata;
mod pipeline_file;
mod provenance;
mod usage;

use std::fmt::Write as _;

pub use self::metadata::{BookMetadata, CardMetadata, CastMetadata};

use self::front_matter::{front, own_licence};
use self::limitations::limitations;
use self::markdown::cell;
use self::pipeline_file::pipeline_file;
use self::provenance::{cost, provenance};
use self::usage::{columns, loading, overview};
use super::Params;
use super::markers::{self, marked};
use super::tally::Table;

/// Returns the text of the card, the `README.md` of the data set.
#[must_use]
pub fn card(params: &Params, metadata: &CardMetadata, tables: &[Table]) -> String {
    let name = params.pretty_name.as_deref().unwrap_or(&metadata.name);
    let mut card = front(params, metadata, tables);
    let _ = write!(card, "\n# {}\n\n{}", cell(name), overview(tables));
    if let Some(licence) = own_licence(params) {
        let _ = write!(card, "Licence as stated by the authors of this data set: {}\n\n", cell(licence));
    }
    if let Some(table) = tables.first() {
        card.push_str(&loading(table));
        card.push_str(&columns(tables));
        let _ = writeln!(card, "{}", marked(markers::SPLITS, ""));
    }
    card.push_str(&provenance(metadata, tables));
    card.push_str(&cost(&metadata.charges));
    card.push_str(&limitations(params, metadata));
    card.push_str(&pipeline_file(metadata));
    card
}

#[cfg(test)]
mod tests {
    use super::{CardMetadata, card};
    use crate::stages::export::Params;
    use crate::stages::export::fixture::{metadata, records, tables};

    fn whole() -> String {
        card(&Params::default(), &metadata(), &tables(&records()))
    }

    #[track_caller]
    fn assert_has(card: &str, parts: &[&str]) {
        for part in parts {
            assert!(card.contains(part), "no `{part}` in:\n{card}");
        }
    }

    #[test]
    fn the_card_explains_every_column() {
        assert_has(
            &whole(),
            &[
                "\n# fixture\n",
                "Rows: 3 `samples`, 2 `conversations`, 2 `scenes`, 2 `characters`, 3 `rejected`. Languages: en, zh.",
                "datasets.load_dataset(\".\", \"samples\", split=\"test\")",
                "polars.read_parquet(\"samples/test-*.parquet\")",
                "select * from 'samples/test-*.parquet'",
                "\n### `scenes`\n\n<!-- dramaturg:counts:scenes -->\n\n`train` 2 rows\n\n<!-- /dramaturg:counts:scenes -->\n\n| column | type | meaning |\n",
                "\n| `id` | `string` | `<conversation id>#<turn>`. |\n",
                "\n| `scene_characters[].profile[].key` | `string` | What it is about, such as `persona` or `性格`; any key. |\n",
                "\n| `turns[].faults` | `list<string>` |",
            ],
        );
    }

    #[test]
    fn the_card_explains_how_the_data_set_was_made() {
        assert_has(
            &whole(),
            &[
                "By dramaturg 0.1.0, with seed 7.",
                "| harbour | The Harbour \\| A Tale | en | cc0-1.0 | https://example.org/harbour |\n| 渡口 | 渡口 | zh | not stated |  |\n",
                "| judge | strong | vendor/strong-1 |\n",
                "τ = 2 times",
                "probability 0.7, and conversations are played in batches of 4",
                "stays in the history at σ ≤ 3. A turn with σ ≤ 2",
                "| FR | Factual recall | 事实记忆 |\n",
                "| dimension | en, established | zh, synthesized | all |\n|---|---:|---:|---:|\n\
                 | CR | 2 | 0 | 2 |\n| FR | 0 | 0 | 0 |\n| PA | 0 | 1 | 1 |\n| all | 2 | 1 | 3 |\n",
                "| σ | 1 | 2 | 3 | 4 | 5 |\n|---|---:|---:|---:|---:|---:|\n| turns | 0 | 1 | 0 | 0 | 0 |\n",
                "1 of them have a reference that was edited by hand",
                "| extract | no_dialogue | 2 |\n| simulate | quality:moderate | 1 |\n",
                "simulate.tau=2\n",
                "## Cost\n\n| stage | calls | prompt tokens | completion tokens | cost |\n|---|---:|---:|---:|---:|\n\
                 | extract | 2 | 700 | 90 | unpriced |\n| select | 1,009 | 4,000 | 500 | $0.50 |\n\
                 | all | 1,011 | 4,700 | 590 | unpriced |\n\n50 % of the tokens are estimates",
                "| select/judge.en | `0123abcd` |\n\n</details>\n",
            ],
        );
    }

    #[test]
    fn offline_parts_are_named_as_such() {
        let mut metadata = metadata();
        let tables = tables(&records());
        assert_has(
            &card(&Params::default(), &metadata, &tables),
            &["by the rule-based offline engine, not by a language model: extractor (offline:plain)."],
        );
        metadata.parts.remove(0);
        assert!(!card(&Params::default(), &metadata, &tables).contains("offline engine"));
    }

    #[test]
    fn the_card_contains_no_server_address() {
        let card = whole();
        assert!(!card.contains("10.0.0.7"), "{card}");
        assert_has(&card, &["base_url = \"(left out)\" # ours\n"]);
    }

    #[test]
    fn a_run_without_rows_has_a_card_too() {
        let card = card(&Params::default(), &CardMetadata { name: "empty".into(), ..CardMetadata::default() }, &[]);
        assert_has(&card, &["pretty_name: \"empty\"", "This run produced no rows.", "## Limitations"]);
        assert!(!card.contains("## Columns") && !card.contains("## Loading the data"));
    }
}
