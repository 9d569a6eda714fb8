//! What a division came to, told on the card.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Report, Size, UNUSED};

impl Report {
    /// Returns the section of the card: how the rows were divided, and how many of each stratum stand where.
    #[must_use]
    pub fn section(&self, config: &str) -> String {
        let mut text = format!("`dramaturg split` divided the rows of `{config}` with seed {}", self.params.seed);
        if let Some(by) = &self.params.by {
            let _ = write!(text, ", whole values of `{by}` at a time");
        }
        text.push_str(". ");
        for part in &self.params.splits {
            let _ = match part.size {
                Size::Share(share) if share > 0.0 => {
                    write!(text, "`{}` was to have {:.1} % of them. ", part.name, share * 100.0)
                }
                Size::Rows(count) if count > 0 => write!(text, "`{}` was to have {count} of them. ", part.name),
                _ => Ok(()),
            };
        }
        for held in &self.params.hold_out {
            let _ = write!(text, "Rows with `{}` = `{}` are in `{}` alone. ", held.column, held.value, held.split);
        }
        if !self.params.apart.is_empty() {
            let names: Vec<String> =
                self.params.apart.iter().map(|relation| format!("`{}`", relation.name())).collect();
            let near = &self.params.near;
            let _ = write!(text, "What shares {} stands in one split", names.join(", "));
            if self.params.apart.contains(&super::Relation::Near) {
                let _ = write!(text, " (`near`: BM25 likeness of {} in English, {} in Chinese)", near.en, near.zh);
            }
            text.push_str(". ");
        }
        if let Some(count) = self.rows.get(UNUSED) {
            let _ = write!(
                text,
                "{count} rows are set aside in `{UNUSED}`, since they share such a thing with a row of a split that is held out. "
            );
        }
        text.push_str("`splits.json` has the details and names each row that had to move.\n");
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
