//! A data set whose rows stand in other splits: its rows gathered into groups again, and its card told of them.

use std::collections::BTreeMap;
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
    let card = card.replace("\r\n", "\n");
    let (front, body) = match card.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((front, body)) => (front.to_owned() + "\n", body),
        None => (String::new(), card.as_str()),
    };
    let front = if front.lines().any(|line| line == "configs:") { front } else { front + "configs:\n" };
    let front = in_block(&front, "configs:", config, "data_files:", |lines| {
        for split in splits {
            let _ = writeln!(lines, "  - split: {0}\n    path: {config}/{0}-*.parquet", split.name);
        }
    });
    // Of one config alone it is a mapping, which has no entries.
    let mut info = front.lines().skip_while(|line| *line != "dataset_info:").skip(1);
    let front = if info.next().is_some_and(|line| line.starts_with("- ")) {
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
    format!("---\n{front}---\n{}", with_section(&body, config, section))
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
        let begins = line.starts_with("- ") || ends_list;
        if in_entry
            && begins
            && let Some(made) = lines.take()
        {
            let _ = write!(out, "  {key}\n{made}");
            done = true;
        }
        if in_list && !done && ends_list {
            let _ = write!(out, "{entry}\n  {key}\n{}", lines.take().unwrap_or_default());
            done = true;
        }
        if ends_list {
            in_list = line == list;
        }
        if begins {
            let name = line.strip_prefix("- config_name:").map(|name| name.trim().trim_matches(['"', '\'']));
            (in_entry, skips) = (in_list && name == Some(config), false);
        }
        // The list's items stand in its own column, what belongs to them further in.
        skips &= line.starts_with("  - ") || line.starts_with("   ");
        if in_entry
            && line.trim_start().starts_with(key)
            && let Some(made) = lines.take()
        {
            // Whatever form the old value has, on this line or on those that follow.
            let _ = write!(out, "  {key}\n{made}");
            (skips, done) = (true, true);
        } else if !skips {
            out.push_str(line);
            out.push('\n');
        }
    }
    if let Some(made) = lines {
        let entry = if in_entry { "" } else { &format!("{entry}\n") };
        let _ = write!(out, "{entry}  {key}\n{made}");
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

/// What begins the part of the section that tells of one config.
const PART: &str = "### Splits of `";

/// Puts a config's part into the section, among those of the others in order. The section stands where it was, else before how the
/// data set was made, else at the end.
fn with_section(body: &str, config: &str, part: &str) -> String {
    let (before, old, after) = if let Some(at) = line_at(body, SECTION) {
        let rest = &body[at + SECTION.len()..];
        let end = rest.find("\n## ").map_or(rest.len(), |end| end + 1);
        (&body[..at], &rest[..end], &rest[end..])
    } else {
        let (before, after) = body.split_at(line_at(body, AFTER).unwrap_or(body.len()));
        (before, "", after)
    };
    let mut parts: BTreeMap<&str, &str> = old.split(PART).skip(1).filter_map(|part| part.split_once("`\n")).collect();
    parts.insert(config, part);
    let mut section = SECTION.to_owned();
    for (config, part) in parts {
        let _ = write!(section, "\n{PART}{config}`\n\n{}\n", part.trim());
    }
    let (gap, end) = (if before.trim().is_empty() { "" } else { "\n\n" }, if after.is_empty() { "" } else { "\n" });
    format!("{}{gap}{section}{end}{after}", before.trim_end())
}

/// Returns where a line begins.
fn line_at(text: &str, line: &str) -> Option<usize> {
    if text.starts_with(line) { Some(0) } else { text.find(&format!("\n{line}")).map(|at| at + 1) }
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
        assert!(told.contains("## Splits\n\n### Splits of `samples`\n\nBy hand.\n\n## How it was made\n"));
        // Of all else nothing has changed, and another division leaves nothing of this one.
        assert_eq!(told.matches("conversations/test-").count(), card.matches("conversations/test-").count());
        let again = recard(&told, "samples", &splits(&[("test", 3)]), "Otherwise.");
        assert!(!again.contains("held") && !again.contains("By hand"), "{again}");
        assert_eq!(again.matches("\n## Splits\n").count(), 1);
        assert_eq!(recard(&again, "samples", &splits(&[("train", 2), ("held", 1)]), "By hand."), told);
    }

    #[test]
    fn a_card_by_hand_keeps_its_words() {
        let told = recard("# Mine\n\nHello.\n", "samples", &splits(&[("train", 2)]), "So.");
        assert_eq!(
            told,
            "---\nconfigs:\n- config_name: samples\n  data_files:\n  - split: train\n    path: samples/train-*.parquet\n---\n\
             # Mine\n\nHello.\n\n## Splits\n\n### Splits of `samples`\n\nSo.\n"
        );
        let front = "---\nlicense: mit\nconfigs:\n- config_name: other\n  data_files: x\ntags:\n- a\n---\nText.\n";
        let told = recard(front, "samples", &splits(&[("a", 1)]), "So.");
        assert!(told.starts_with(
            "---\nlicense: mit\nconfigs:\n- config_name: other\n  data_files: x\n- config_name: samples\n  data_files:\n  \
             - split: a\n    path: samples/a-*.parquet\ntags:\n- a\n---\nText.\n"
        ), "{told}");
    }

    #[test]
    fn each_config_has_its_part_and_headings_further_down_are_left_alone() {
        let card = "# Mine\n\n### Splits\n\nOf mine.\n\n## How it was made\n\nBy hand.\n";
        let one = recard(card, "samples", &splits(&[("a", 1)]), "Of samples.\n");
        let both = recard(&one, "conversations", &splits(&[("b", 1)]), "Of 对话.\n");
        assert!(
            both.ends_with(
                "# Mine\n\n### Splits\n\nOf mine.\n\n## Splits\n\n### Splits of `conversations`\n\nOf 对话.\n\n\
             ### Splits of `samples`\n\nOf samples.\n\n## How it was made\n\nBy hand.\n"
            ),
            "{both}"
        );
        assert_eq!(recard(&both, "samples", &splits(&[("a", 1)]), "Of samples.\n"), both);
    }

    #[test]
    fn the_front_matter_stays_sound_in_whatever_form_it_is() {
        let made = "  data_files:\n  - split: a\n    path: samples/a-*.parquet\n";
        let info = "dataset_info:\n  features:\n  - name: id\n  splits:\n  - name: train\n";
        for entry in [
            "- config_name: \"samples\"\n  data_files: \"samples/*.parquet\"\n",
            "- config_name: 'samples'\n  data_files:\n    - split: b\n      path: samples/b-*.parquet\n",
            "- config_name: samples\n",
        ] {
            let name = entry.split_once('\n').expect("it has lines").0;
            for card in [
                format!("---\nconfigs:\n{entry}- config_name: other\n  data_files: x\n{info}---\nText.\n"),
                format!("---\n{info}configs:\n{entry}---\nText.\n"),
            ] {
                let told = recard(&card, "samples", &splits(&[("a", 1)]), "So.");
                assert!(told.contains(&format!("configs:\n{name}\n{made}")), "{told}");
                assert!(
                    told.contains(info) && told.matches("config_name").count() == card.matches("config_name").count()
                );
                assert_eq!(recard(&card.replace('\n', "\r\n"), "samples", &splits(&[("a", 1)]), "So."), told);
            }
        }
    }
}
