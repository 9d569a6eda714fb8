//! A data set whose rows stand in other splits: its rows gathered into groups again, and its card told of them.

use std::fmt::Write as _;

use polars::prelude::DataFrame;

use super::ExportError;
use super::features::ArrowBytes;
use super::groups::{GROUP_BYTES, GROUP_ROWS};

/// Gathers the rows of one split into the groups of its files.
#[derive(Debug, Default)]
pub struct Groups {
    rows: usize,
    bytes: ArrowBytes,
    group: Option<(DataFrame, usize)>,
}

/// One split of a config, as its card tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitRows {
    /// The split.
    pub name: String,
    /// How many rows it has.
    pub rows: usize,
    /// How many bytes they take as Arrow.
    pub bytes: usize,
}

impl Groups {
    /// Adds rows, and returns a group once it is full.
    pub fn add(&mut self, config: &'static str, frame: DataFrame) -> Result<Option<DataFrame>, ExportError> {
        let before = self.bytes.total();
        self.rows += frame.height();
        self.bytes.add(&frame);
        let bytes = self.bytes.total() - before;
        let (mut whole, mut held) = (frame, bytes);
        if let Some((mut group, so_far)) = self.group.take() {
            group.vstack_mut_owned(whole).map_err(|source| ExportError::Frame { config, source })?;
            (whole, held) = (group, held + so_far);
        }
        if whole.height() >= GROUP_ROWS || held >= GROUP_BYTES {
            return Ok(Some(whole));
        }
        self.group = Some((whole, held));
        Ok(None)
    }

    /// Returns the last group, if there is one, and what the card tells.
    #[must_use]
    pub fn end(self, name: &str) -> (Option<DataFrame>, SplitRows) {
        let told = SplitRows { name: name.to_owned(), rows: self.rows, bytes: self.bytes.total() };
        (self.group.map(|(rest, _)| rest), told)
    }
}

/// The heading of the section that tells how a data set was divided.
const SECTION: &str = "## Splits\n";

/// What begins the section that stands after it.
const AFTER: &str = "## How it was made\n";

/// What begins the table of samples of the splits that were.
const BALANCE: &str = "Samples of split `";

/// Returns a card that tells of other splits of a config: in the front matter, in the lines that show how to read it, and in a
/// section of its own. What somebody has written by hand stays.
#[must_use]
pub fn recard(card: &str, config: &str, splits: &[SplitRows], section: &str) -> String {
    let (front, body) = match card.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((front, body)) => (front.to_owned() + "\n", body),
        None => (String::new(), card),
    };
    let front = if front.contains("configs:\n") { front } else { front + "configs:\n" };
    let front = in_block(&front, "configs:", config, "data_files:", |lines| {
        for split in splits {
            let _ = writeln!(lines, "  - split: {0}\n    path: {config}/{0}-*.parquet", split.name);
        }
    });
    let front = if front.contains("dataset_info:\n") {
        in_block(&front, "dataset_info:", config, "splits:", |lines| {
            for SplitRows { name, rows, bytes } in splits {
                let _ = writeln!(lines, "  - name: {name}\n    num_bytes: {bytes}\n    num_examples: {rows}");
            }
        })
    } else {
        front
    };
    let body = without_balance(body);
    let body = reading(&body, config, splits);
    let body = counts(&body, config, splits);
    format!("---\n{front}---\n{}", with_section(&body, section))
}

/// Replaces the list under a key of a config's entry in a list of the front matter; the entry is made where it is missing.
fn in_block(front: &str, list: &str, config: &str, key: &str, lines: impl FnOnce(&mut String)) -> String {
    let mut made = String::new();
    lines(&mut made);
    let (mut out, mut in_list, mut in_entry, mut skips, mut done) = (String::new(), false, false, false, false);
    let mut lines = Some(made);
    let entry = format!("- config_name: {config}");
    for line in front.lines() {
        let ends_list = !line.starts_with(' ') && !line.starts_with('-');
        if in_list && !done && ends_list {
            let _ = write!(out, "{entry}\n  {key}\n{}", lines.take().unwrap_or_default());
            done = true;
        }
        if ends_list {
            in_list = line == list;
        }
        if line.starts_with("- ") || ends_list {
            (in_entry, skips) = (in_list && line.trim_matches('"') == entry, false);
        }
        // The list's items stand in its own column, what belongs to them further in.
        skips &= line.starts_with("  - ") || line.starts_with("   ");
        if !skips {
            out.push_str(line);
            out.push('\n');
        }
        if in_entry && line.trim_start() == key {
            out.push_str(&lines.take().unwrap_or_default());
            (skips, done) = (true, true);
        }
    }
    if let Some(made) = lines {
        let _ = write!(out, "{entry}\n  {key}\n{made}");
    }
    out
}

/// Leaves out the tables of splits that are no more; the new section has one of them all.
fn without_balance(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut blanks = None;
    for line in body.split_inclusive('\n') {
        if line.starts_with(BALANCE) {
            blanks = Some(0);
        }
        match &mut blanks {
            None => out.push_str(line),
            // The heading, a blank, the table, a blank.
            Some(count) => {
                *count += usize::from(line.trim().is_empty());
                if *count == 2 {
                    blanks = None;
                }
            }
        }
    }
    out
}

/// Names a split that is there in the lines that show how to read the config.
fn reading(body: &str, config: &str, splits: &[SplitRows]) -> String {
    let Some(first) = splits.first() else { return body.to_owned() };
    let (mut out, names) =
        (String::with_capacity(body.len()), |name: &str| splits.iter().any(|split| split.name == name));
    for line in body.split_inclusive('\n') {
        let old = line
            .split_once(&format!("\"{config}\", split=\""))
            .and_then(|(_, rest)| rest.split_once('"'))
            .or_else(|| line.split_once(&format!("{config}/")).and_then(|(_, rest)| rest.split_once("-*.parquet")));
        match old.map(|(old, _)| old).filter(|old| !names(old)) {
            Some(old) => out.push_str(
                &line
                    .replace(
                        &format!("\"{config}\", split=\"{old}\""),
                        &format!("\"{config}\", split=\"{}\"", first.name),
                    )
                    .replace(&format!("{config}/{old}-*"), &format!("{config}/{}-*", first.name)),
            ),
            None => out.push_str(line),
        }
    }
    out
}

/// Replaces the counts under the heading of the config's columns.
fn counts(body: &str, config: &str, splits: &[SplitRows]) -> String {
    let heading = format!("### `{config}`\n\n");
    let Some((before, rest)) = body.split_once(&heading) else { return body.to_owned() };
    let Some((old, after)) = rest.split_once('\n').filter(|(old, _)| old.ends_with(" rows")) else {
        return body.to_owned();
    };
    let _ = old;
    let counts: Vec<String> = splits.iter().map(|split| format!("`{}` {} rows", split.name, split.rows)).collect();
    format!("{before}{heading}{}\n{after}", counts.join(", "))
}

/// Puts the section where it was, else before how the data set was made, else at the end.
fn with_section(body: &str, section: &str) -> String {
    let section = format!("{SECTION}\n{}\n", section.trim_end());
    if let Some((before, rest)) = body.split_once(SECTION) {
        let after = rest.find("\n## ").map_or("", |at| &rest[at + 1..]);
        return format!("{before}{section}\n{after}");
    }
    match body.split_once(AFTER) {
        Some((before, after)) => format!("{before}{section}\n{AFTER}{after}"),
        None => format!("{}\n\n{section}", body.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{about, records, tables};
    use super::super::{Params, card};
    use super::*;

    fn splits(names: &[(&str, usize)]) -> Vec<SplitRows> {
        names.iter().map(|(name, rows)| SplitRows { name: (*name).to_owned(), rows: *rows, bytes: rows * 10 }).collect()
    }

    #[test]
    fn a_card_tells_of_the_splits_that_are_there() {
        let card = card(&Params::default(), &about(), &tables(&records()));
        let told = recard(&card, "samples", &splits(&[("train", 2), ("held", 1)]), "By hand.\n");
        let files = "- config_name: samples\n  default: true\n  data_files:\n  - split: train\n    path: samples/train-*.parquet\n  \
                     - split: held\n    path: samples/held-*.parquet\n- config_name: conversations\n";
        assert!(told.contains(files), "{told}");
        let info = "  splits:\n  - name: train\n    num_bytes: 20\n    num_examples: 2\n  - name: held\n    num_bytes: 10\n    \
                    num_examples: 1\n- config_name: conversations\n  features:\n";
        assert!(told.contains(info), "{told}");
        assert!(told.contains("### `samples`\n\n`train` 2 rows, `held` 1 rows\n\n|"));
        assert!(
            told.contains("\"samples\", split=\"train\"") && told.contains("read_parquet(\"samples/train-*.parquet\")")
        );
        assert!(!told.contains("samples/test-") && !told.contains("Samples of split"));
        assert!(told.contains("## Splits\n\nBy hand.\n\n## How it was made\n"));
        // Of all else nothing has changed, and another division leaves nothing of this one.
        assert_eq!(told.matches("conversations/test-").count(), card.matches("conversations/test-").count());
        let again = recard(&told, "samples", &splits(&[("test", 3)]), "Otherwise.");
        assert!(!again.contains("held") && !again.contains("By hand"), "{again}");
        assert_eq!(again.matches("## Splits").count(), 1);
        assert_eq!(recard(&again, "samples", &splits(&[("train", 2), ("held", 1)]), "By hand."), told);
    }

    #[test]
    fn a_card_by_hand_keeps_its_words() {
        let told = recard("# Mine\n\nHello.\n", "samples", &splits(&[("train", 2)]), "So.");
        assert_eq!(
            told,
            "---\nconfigs:\n- config_name: samples\n  data_files:\n  - split: train\n    path: samples/train-*.parquet\n---\n\
             # Mine\n\nHello.\n\n## Splits\n\nSo.\n"
        );
        let front = "---\nlicense: mit\nconfigs:\n- config_name: other\n  data_files: x\ntags:\n- a\n---\nText.\n";
        let told = recard(front, "samples", &splits(&[("a", 1)]), "So.");
        assert!(told.starts_with(
            "---\nlicense: mit\nconfigs:\n- config_name: other\n  data_files: x\n- config_name: samples\n  data_files:\n  \
             - split: a\n    path: samples/a-*.parquet\ntags:\n- a\n---\nText.\n"
        ), "{told}");
    }
}
