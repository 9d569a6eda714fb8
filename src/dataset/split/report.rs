//! The section of the card that describes a split.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Relation, Report, Size, UNUSED};

impl Report {
    /// Returns the section: how the rows were split, and the number of rows by stratum and split.
    #[must_use]
    pub fn section(&self, config: &str) -> String {
        let mut text = format!(
            "The rows of `{config}` were assigned to splits by `dramaturg split` with seed {}",
            self.params.seed
        );
        if let Some(by) = &self.params.by {
            let _ = write!(text, "; rows with the same `{by}` were kept together");
        }
        text.push_str(". ");
        for part in &self.params.splits {
            let _ = match part.size {
                Size::Share(share) if share > 0.0 => {
                    write!(text, "The target size of `{}` is {:.1} % of the rows. ", part.name, share * 100.0)
                }
                Size::Rows(count) if count > 0 => write!(text, "The target size of `{}` is {count} rows. ", part.name),
                _ => Ok(()),
            };
        }
        for held in &self.params.hold_out {
            let _ = write!(text, "Rows with `{}` = `{}` are only in `{}`. ", held.column, held.value, held.split);
        }
        if !self.params.group_by.is_empty() {
            let names: Vec<String> =
                self.params.group_by.iter().map(|relation| format!("`{}`", relation.name())).collect();
            let near = &self.params.similarity;
            let _ = write!(text, "Rows that are related by {} are in the same split", names.join(", "));
            if self.params.group_by.contains(&Relation::Similarity) {
                let _ = write!(
                    text,
                    " (`similarity`: BM25 similarity of at least {} in English and {} in Chinese)",
                    near.en, near.zh
                );
            }
            text.push_str(". ");
        }
        if let Some(count) = self.rows.get(UNUSED) {
            let _ = write!(
                text,
                "{count} rows were moved to `{UNUSED}`, because they are related to a row of a held-out split. "
            );
        }
        text.push_str("`splits.json` has the details and lists every row that was moved.\n");
        if !self.strata.is_empty() {
            text.push_str(&self.table());
        }
        text
    }

    fn table(&self) -> String {
        let splits: BTreeSet<&String> = self.rows.keys().collect();
        let mut text = format!("\n| {} |", self.params.stratify.join("/"));
        for split in &splits {
            let _ = write!(text, " {split} |");
        }
        let _ = writeln!(text, "\n|---|{}", "---:|".repeat(splits.len()));
        for (stratum, counts) in &self.strata {
            let _ = write!(text, "| {} |", stratum.replace('|', "\\|"));
            for split in &splits {
                let _ = write!(text, " {} |", counts.get(*split).unwrap_or(&0));
            }
            text.push('\n');
        }
        text.push_str("| all |");
        for split in &splits {
            let _ = write!(text, " {} |", self.rows[*split]);
        }
        text.push('\n');
        text
    }
}
