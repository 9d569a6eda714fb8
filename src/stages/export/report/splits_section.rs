//! The table of splits in the report. It is the only part of a report that later commands rewrite: each config has a
//! marked block in it.

use std::fmt::Write as _;

use super::sanitize::line;
use crate::stages::export::amounts::thousands;
use crate::stages::export::markers::{MarkerError, blocks, marked, replaced, splits_block as name};
use crate::stages::export::split_rows::SplitRows;
use crate::stages::export::tally::Table;

/// The maximum length of a name, in units of [`sanitize`](super::sanitize).
const NAME: usize = 60;
/// The maximum length of the text about a split, in units of [`sanitize`](super::sanitize).
const MAX_RULE_TEXT: usize = 1_000;

/// Returns the rows of the table for all configs after a run, as HTML.
pub(super) fn splits_table(tables: &[Table]) -> String {
    let mut html = String::new();
    for of_config in tables.chunk_by(|one, other| one.config == other.config) {
        let splits = of_config.iter().map(|table| (table.split, table.rows));
        html.push_str(&marked(&name(of_config[0].config), &rows(of_config[0].config, splits)));
    }
    html
}

/// Returns a report with the new splits of a config. `section` is the text about the split on the card. Returns `None`
/// if the report has no block for the config.
pub fn update_report(
    html: &str,
    config: &str,
    splits: &[SplitRows],
    section: &str,
) -> Result<Option<String>, MarkerError> {
    let mut text = rows(config, splits.iter().map(|split| (split.name.as_str(), split.rows)));
    // The table of strata is only on the card.
    let how = section.split("\n\n").next().unwrap_or_default();
    let _ = writeln!(
        text,
        "<tr><td colspan=\"3\" class=\"text soft small\">{}</td></tr>",
        prose(&line(how, MAX_RULE_TEXT))
    );
    replaced(html, &name(config), &text)
}

/// Returns whether a report lists exactly these splits of a config with these numbers of rows, or `None` if it has no
/// block for the config.
pub fn report_lists_splits<'a>(
    html: &str,
    config: &str,
    splits: impl Iterator<Item = (&'a str, usize)>,
) -> Result<Option<bool>, MarkerError> {
    let block_name = name(config);
    match blocks(html, &block_name).into_iter().find(|(name, _)| *name == block_name) {
        None => Ok(None),
        Some((_, within)) => {
            // A run may list its splits in another order.
            let sorted = |text: &str| {
                let mut rows: Vec<String> =
                    text.lines().filter(|line| line.starts_with(ROW)).map(str::to_owned).collect();
                rows.sort_unstable();
                rows
            };
            Ok(Some(sorted(within?) == sorted(&rows(config, splits))))
        }
    }
}

/// Returns whether a report has a table of splits with rows, even if its blocks are damaged.
pub(crate) fn report_has_splits(html: &str) -> bool {
    html.contains(ROW)
}

/// The start of a row of the table.
const ROW: &str = "<tr class=\"split\">";

fn rows<'a>(config: &str, splits: impl Iterator<Item = (&'a str, usize)>) -> String {
    let mut html = String::new();
    for (split, rows) in splits {
        let (config, split) = (escaped(&line(config, NAME)), escaped(&line(split, NAME)));
        let rows = thousands(rows as u64);
        let _ = writeln!(html, "{ROW}<td>{config}</td><td dir=\"auto\">{split}</td><td class=\"n\">{rows}</td></tr>");
    }
    html
}

/// Converts a line of Markdown to HTML: code spans only.
fn prose(line: &str) -> String {
    let mut html = String::new();
    for (at, part) in line.split('`').enumerate() {
        let (begin, end) = if at % 2 == 1 { ("<code>", "</code>") } else { ("", "") };
        let _ = write!(html, "{begin}{}{end}", escaped(part));
    }
    html
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splits(names: &[(&str, usize)]) -> Vec<SplitRows> {
        names.iter().map(|(name, rows)| SplitRows { name: (*name).to_owned(), rows: *rows, bytes: 0 }).collect()
    }

    #[test]
    fn the_row_counts_of_a_config_are_replaced_and_the_rest_is_kept() {
        let first = |config, split, count| marked(&name(config), &rows(config, [(split, count)].into_iter()));
        let html = format!("<table>\n{}{}</table>", first("samples", "test", 1200), first("scenes", "train", 3));
        let section = "Divided by <hand> with `seed` 0. 按人物。\n\n| a |\n";
        let updated = update_report(&html, "samples", &splits(&[("dev", 200), ("test", 1000)]), section)
            .unwrap()
            .expect("the block exists");
        assert!(
            updated.contains("Divided by &lt;hand&gt; with <code>seed</code> 0. 按人物。</td>")
                && !updated.contains("| a |")
        );
        assert!(updated.ends_with(&format!("{}</table>", first("scenes", "train", 3))));
        let lists = |config, splits: &[(&str, usize)]| {
            report_lists_splits(&updated, config, splits.iter().map(|(split, rows)| (*split, *rows))).unwrap()
        };
        assert_eq!(lists("samples", &[("dev", 200), ("test", 1000)]), Some(true));
        assert_eq!(lists("samples", &[("test", 1000), ("dev", 200)]), Some(true), "the order does not matter");
        assert_eq!(lists("samples", &[("dev", 200)]), Some(false));
        assert_eq!(lists("samples", &[("test", 1200)]), Some(false));
        assert_eq!((lists("scenes", &[("train", 3)]), lists("roles", &[])), (Some(true), None));
        let once =
            update_report(&updated, "samples", &splits(&[("test", 1200)]), section).unwrap().expect("the block exists");
        let again = update_report(&once, "samples", &splits(&[("dev", 200), ("test", 1000)]), section).unwrap();
        assert_eq!(again, Some(updated));
        assert_eq!(update_report(&html, "roles", &[], "").unwrap(), None);
        assert!(update_report(&html.replace("<!-- /", "<!-- "), "samples", &[], "").is_err());
    }
}
