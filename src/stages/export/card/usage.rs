//! The first sections of the card: the overview, how to load the data, and the columns.

use std::fmt::Write as _;

use super::front_matter::{configs, languages};
use super::markdown::cell_with_code;
use crate::stages::export::amounts::row_counts;
use crate::stages::export::features::notes;
use crate::stages::export::markers::{self, marked};
use crate::stages::export::tally::Table;

pub(super) fn overview(tables: &[Table]) -> String {
    let rows =
        |config: &str| -> usize { tables.iter().filter(|table| table.config == config).map(|table| table.rows).sum() };
    let mut text = "A role-play benchmark generated from books. Each row of `samples` is one turn of a test character \
        in a group chat with the characters of a scene. `messages` is the prompt for the model under evaluation, \
        `baseline` is the reply that its reply is compared with, and `criteria` describes what to compare. The other \
        configs contain the data that the samples were made from.\n\n"
        .to_owned();
    if tables.is_empty() {
        text.push_str("This run produced no rows.\n\n");
        return text;
    }
    let counts: Vec<String> =
        configs(tables).into_iter().map(|(config, _)| format!("{} `{config}`", rows(config))).collect();
    let languages: Vec<&str> = languages(tables).into_iter().collect();
    let _ = writeln!(text, "Rows: {}. Languages: {}.\n", counts.join(", "), languages.join(", "));
    text
}

pub(super) fn loading(table: &Table) -> String {
    let (config, split) = (table.config, table.split);
    let code = format!(
        "\n```python\n\
         import datasets; rows = datasets.load_dataset(\".\", \"{config}\", split=\"{split}\")\n\
         import polars; rows = polars.read_parquet(\"{config}/{split}-*.parquet\")\n\
         import duckdb; rows = duckdb.sql(\"select * from '{config}/{split}-*.parquet'\")\n```\n\n"
    );
    let head = "## Loading the data\n\nWith this folder as the working directory:\n\n";
    format!("{head}{}\n", marked(markers::READING, &code))
}

pub(super) fn columns(tables: &[Table]) -> String {
    let mut text =
        "## Columns\n\nAll columns are nullable. `column[].field` is a field of the structs in a list.\n".to_owned();
    for (config, splits) in configs(tables) {
        let counts = row_counts(splits.iter().map(|table| (table.split, table.rows)));
        let counts = marked(&markers::counts_block(config), &format!("\n{counts}\n\n"));
        let _ = write!(text, "\n### `{config}`\n\n{counts}\n");
        text.push_str("| column | type | meaning |\n|---|---|---|\n");
        for note in notes(config, &splits[0].columns) {
            let _ = writeln!(text, "| `{}` | `{}` | {} |", note.path, note.kind, cell_with_code(&note.description));
        }
    }
    text.push('\n');
    text
}
