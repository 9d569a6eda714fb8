//! Updates a card after its data set was split: rewrites its front matter and its marked blocks, and keeps everything
//! else. If the card cannot be parsed, it is not changed.

pub(crate) mod front_matter;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use polars::prelude::DataFrame;
use thiserror::Error;

use self::front_matter::{CONFIGS, FILES, FOLDER, INFO, NAME, features_of, front, read, with_updated_front_matter};
use self::yaml::Yaml;
use crate::stages::export::markers::{
    BALANCE, READING, SPLITS, block_range, blocks, counts_block, marked, replaced, splits_block,
};
use crate::stages::export::{MarkerError, SplitRows, row_counts};

/// A part of a card that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct CardError {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub message: String,
}

impl From<MarkerError> for CardError {
    fn from(fault: MarkerError) -> Self {
        let (MarkerError::Half { line, .. } | MarkerError::Twice { line, .. }) = fault;
        let message = match fault {
            MarkerError::Half { name, .. } => {
                format!("the comment `{name}` has no matching comment; add it, or remove this one")
            }
            MarkerError::Twice { name, .. } => {
                format!("the comment `{name}` appears twice; remove one of the two blocks")
            }
        };
        Self { line, message }
    }
}

/// What a card states about the rows of its data set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardRows {
    /// The configs and splits that readers will find.
    pub splits: BTreeSet<(String, String)>,
    /// The number of rows by config and split, if the card states it.
    pub sizes: BTreeMap<(String, String), Option<usize>>,
    /// The configs that list files without splits; readers combine all files into one split.
    pub unsplit: BTreeSet<String>,
    /// The configs that only name a folder; readers derive the splits from the file names.
    pub folders: BTreeSet<String>,
    /// The line with the row counts in the body of the card, by config.
    pub counts: BTreeMap<String, String>,
    /// The columns in `dataset_info`, by config.
    pub columns: BTreeMap<String, BTreeSet<String>>,
}

/// The heading before which the section on splits is inserted.
const AFTER: &str = "## How it was made\n";

/// A config after a split, and the rest of the data set.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSplits<'a> {
    /// The config.
    pub config: &'a str,
    /// Its splits, in order.
    pub splits: &'a [SplitRows],
    /// The text about the split, in Markdown.
    pub section: &'a str,
    /// A frame with the columns of the config; `None` if it has no rows.
    pub columns: Option<&'a DataFrame>,
    /// The files of the other configs by split, relative to the data set.
    pub others: &'a BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// Returns a card that describes the new splits of a config in its front matter, in the example code and in a section
/// of its own.
///
/// Other configs and columns that are missing from the front matter are added, because readers would not find them. All
/// lines get the line break of the first line.
pub fn update_card(card: &str, config_splits: &ConfigSplits<'_>) -> Result<String, CardError> {
    let ConfigSplits { config, splits, section, .. } = *config_splits;
    // A byte order mark is removed, because it would hide the front matter from readers.
    let has_returns = card.find('\n').is_some_and(|end| card[..end].ends_with('\r'));
    let mut text = normalized(card);
    for (_, within) in blocks(&text, "") {
        within?;
    }
    let counts = row_counts(splits.iter().map(|split| (split.name.as_str(), split.rows)));
    let put = |text: &mut String, name: &str, by: &str| -> Result<(), CardError> {
        if let Some(new) = replaced(text, name, by)? {
            *text = new;
        }
        Ok(())
    };
    put(&mut text, &counts_block(config), &format!("\n{counts}\n\n"))?;
    if config == "samples" {
        put(&mut text, BALANCE, "")?;
    }
    if let Some(range) = block_range(&text, READING)? {
        let examples = loading_examples(&text[range], config, splits);
        put(&mut text, READING, &examples)?;
    }
    text = with_part(&text, config, section)?;
    let text = with_updated_front_matter(&text, config_splits)?;
    Ok(if has_returns { text.replace('\n', "\r\n") } else { text })
}

/// Reads what a card states about its rows. Returns `None` if it has no front matter.
pub fn read_card_rows(card: &str) -> Result<Option<CardRows>, CardError> {
    let text = normalized(card);
    let Some(front) = front(&text)? else { return Ok(None) };
    let unseen = |line: usize, message: &str| Err(CardError { line, message: message.to_owned() });
    if card.starts_with('\u{feff}') {
        return unseen(
            1,
            "the card starts with a byte order mark, which hides the front matter from readers; remove it",
        );
    }
    let lines: Vec<&str> = text.lines().collect();
    let Range { start, end } = front;
    if lines[start - 1].trim_start() != "---" {
        return unseen(
            start,
            "the `---` line ends with whitespace, which hides the front matter from readers; remove it",
        );
    }
    if lines[end] != "---" {
        return unseen(
            end + 1,
            "the `---` line ends with whitespace, which hides the front matter from older readers; remove it",
        );
    }
    let pairs = read(&lines[start..end]).map_err(|fault| CardError { line: fault.line + start, ..fault })?;
    let of = |key: &str| pairs.iter().find(|pair| pair.key == key).map_or(&Yaml::Null, |pair| &pair.value);
    let mut rows = CardRows { columns: features_of(&pairs), ..CardRows::default() };
    for item in of(CONFIGS).items() {
        let Some(config) = item.value.get(NAME).and_then(Yaml::text) else { continue };
        let files = item.value.get(FILES).unwrap_or(&Yaml::Null);
        let folder = item.value.get(FOLDER).and_then(Yaml::text).filter(|_| *files == Yaml::Null);
        if let Some(folder) = folder {
            // A different folder contains no split of this config.
            if folder.trim_start_matches("./").trim_end_matches('/') == config {
                rows.folders.insert(config.to_owned());
            }
            continue;
        }
        let splits: Vec<&str> =
            files.items().iter().filter_map(|file| file.value.get("split").and_then(Yaml::text)).collect();
        if splits.is_empty() || splits.len() < files.items().len() {
            rows.unsplit.insert(config.to_owned());
        }
        rows.splits.extend(splits.into_iter().map(|split| (config.to_owned(), split.to_owned())));
    }
    let info = of(INFO);
    let one = std::iter::once(info).filter(|info| !info.pairs().is_empty());
    for info in info.items().iter().map(|item| &item.value).chain(one) {
        let Some(config) = info.get(NAME).and_then(Yaml::text) else { continue };
        for split in info.get("splits").unwrap_or(&Yaml::Null).items() {
            let name = split.value.get("name").and_then(Yaml::text);
            let count = split.value.get("num_examples").and_then(Yaml::text).and_then(|count| count.parse().ok());
            if let Some(name) = name {
                rows.sizes.insert((config.to_owned(), name.to_owned()), count);
            }
        }
    }
    if !pairs.iter().any(|pair| pair.key == CONFIGS) {
        rows.splits = rows.sizes.keys().cloned().collect();
    }
    for (name, within) in blocks(&text, "") {
        let within = within?.trim().to_owned();
        if let Some(config) = name.strip_prefix("counts:") {
            rows.counts.insert(config.to_owned(), within);
        }
    }
    Ok(Some(rows))
}

/// Returns a card without a byte order mark and with `\n` as line break. Some tools leave several carriage returns
/// before one line feed.
fn normalized(card: &str) -> String {
    let mut text = String::with_capacity(card.len());
    for line in card.trim_start_matches('\u{feff}').split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => text.extend([line.trim_end_matches('\r'), "\n"]),
            None => text.push_str(line),
        }
    }
    text
}

/// Replaces splits that no longer exist in the example code.
fn loading_examples(text: &str, config: &str, splits: &[SplitRows]) -> String {
    let Some(first) = splits.first() else { return text.to_owned() };
    let (mut out, names) =
        (String::with_capacity(text.len()), |name: &str| splits.iter().any(|split| split.name == name));
    for line in text.split_inclusive('\n') {
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

/// Inserts the part of a config into the section on splits, in alphabetical order. A missing section is added before
/// the section on how the data set was made, or at the end.
fn with_part(text: &str, config: &str, part: &str) -> Result<String, CardError> {
    let name = splits_block(config);
    let part = format!("\n### Splits of `{config}`\n\n{}\n\n", part.trim());
    if let Some(new) = replaced(text, &name, &part)? {
        return Ok(new);
    }
    let part = marked(&name, &part);
    let Some(section) = block_range(text, SPLITS)? else {
        let section = marked(SPLITS, &format!("\n## Splits\n\n{part}"));
        let after = if text.starts_with(AFTER) { Some(0) } else { text.find(&format!("\n{AFTER}")).map(|at| at + 1) };
        let (before, after) = text.split_at(after.unwrap_or(text.len()));
        let gap = if before.is_empty() || before.ends_with("\n\n") {
            ""
        } else if before.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        let end = if after.is_empty() { "" } else { "\n" };
        return Ok(format!("{before}{gap}{section}{end}{after}"));
    };
    let within = &text[section.clone()];
    if within.trim().is_empty() {
        return Ok(format!("{}\n## Splits\n\n{part}{}", &text[..section.start], &text[section.end..]));
    }
    let next = blocks(within, &format!("{SPLITS}:")).into_iter().map(|(other, _)| other).find(|other| **other > *name);
    let at = next.and_then(|next| within.find(&format!("<!-- dramaturg:{next} -->"))).unwrap_or(within.len());
    let at = section.start + at;
    Ok(format!("{}{part}{}", &text[..at], &text[at..]))
}

#[cfg(test)]
mod tests {
    use polars::prelude::{Column, DataType};

    use super::*;
    use crate::stages::export::fixture::{built, metadata, records, tables};
    use crate::stages::export::{Params, card};

    fn splits(names: &[(&str, usize)]) -> Vec<SplitRows> {
        names.iter().map(|(name, rows)| SplitRows { name: (*name).to_owned(), rows: *rows, bytes: rows * 10 }).collect()
    }

    fn update_card(card: &str, config: &str, splits: &[SplitRows], section: &str) -> String {
        tried(card, config, splits, section).expect("the card is valid")
    }

    fn tried(card: &str, config: &str, splits: &[SplitRows], section: &str) -> Result<String, CardError> {
        let others = BTreeMap::new();
        super::update_card(card, &ConfigSplits { config, splits, section, columns: None, others: &others })
    }

    #[test]
    fn the_card_names_every_config_and_column() {
        let built = built(&records()).unwrap();
        let samples = built.iter().find(|built| built.table.config == "samples").expect("there are samples");
        let mut wider = samples.frame.clone();
        wider.with_column(Column::new("canary".into(), vec!["c"; wider.height()])).unwrap();
        let of = |split: &str, files: &[&str]| {
            (split.to_owned(), files.iter().map(ToString::to_string).collect::<Vec<String>>())
        };
        let others = BTreeMap::from([
            ("scenes".to_owned(), BTreeMap::from([of("train", &["scenes/train-0.parquet", "scenes/train-1.parquet"])])),
            (
                "对话".to_owned(),
                BTreeMap::from([
                    of("no", &["对话/no-1.parquet"]),
                    of("test", &["对话/test.parquet", "对话/test-2.parquet"]),
                ]),
            ),
            ("extra".to_owned(), BTreeMap::from([of("train", &["extra/train.parquet"])])),
        ]);
        let splits = splits(&[("a", 1)]);
        let config_splits =
            ConfigSplits { config: "samples", splits: &splits, section: "So.", columns: Some(&wider), others: &others };
        for card in ["", "\u{feff}", "# Mine\n", "---\nlicense: mit\n---\n", "\u{feff}---\nconfigs:\n---\n"] {
            let updated = super::update_card(card, &config_splits).unwrap();
            assert_eq!(updated.matches("---\n").count(), 2, "exactly one front matter: {updated}");
            assert!(!updated.contains('\u{feff}'), "{updated}");
            let rows = read_card_rows(&updated).unwrap().expect("the card has a front matter");
            let names: Vec<String> = rows.splits.iter().map(|(config, split)| format!("{config} {split}")).collect();
            assert_eq!(names, ["extra train", "samples a", "scenes train", "对话 no", "对话 test"]);
            // A pattern would not match these file names.
            let files = "  - split: test\n    path:\n    - \"对话/test.parquet\"\n    - \"对话/test-2.parquet\"\n";
            assert!(updated.contains(files) && updated.contains("path: extra/train.parquet\n"), "{updated}");
            assert!(updated.contains("path: scenes/train-*.parquet\n"), "{updated}");
            assert!(
                updated.contains("path: \"对话/no-*.parquet\"\n") && updated.contains("- split: \"no\"\n"),
                "{updated}"
            );
        }
        let card = card(&Params::default(), &metadata(), &tables(&records()));
        let updated = super::update_card(&card, &config_splits).unwrap();
        assert!(
            !card.contains("- name: canary") && updated.contains("  - name: canary\n    dtype: string\n"),
            "{updated}"
        );
        let of = |text: &str| read_card_rows(text).unwrap().expect("the card has a front matter").columns;
        assert_eq!(of(&updated)["samples"].len(), wider.width());
        assert_eq!(of(&updated)["scenes"], of(&card)["scenes"]);
        let same = ConfigSplits { columns: Some(&samples.frame), ..config_splits };
        assert_eq!(of(&super::update_card(&card, &same).unwrap()), of(&card));
    }

    #[test]
    fn the_card_lists_the_existing_splits() {
        let card = card(&Params::default(), &metadata(), &tables(&records()));
        let updated = update_card(&card, "samples", &splits(&[("train", 2), ("held", 1)]), "By hand.\n");
        let files = "- config_name: samples\n  default: true\n  data_files:\n  - split: train\n    path: samples/train-*.parquet\n  \
                     - split: held\n    path: samples/held-*.parquet\n- config_name: conversations\n";
        assert!(updated.contains(files), "{updated}");
        let info = "  splits:\n  - name: train\n    num_bytes: 20\n    num_examples: 2\n  - name: held\n    num_bytes: 10\n    \
                    num_examples: 1\n- config_name: conversations\n  features:\n";
        assert!(updated.contains(info), "{updated}");
        assert!(updated.contains("\n`train` 2 rows, `held` 1 rows\n\n"), "{updated}");
        assert!(
            updated.contains("\"samples\", split=\"train\"")
                && updated.contains("read_parquet(\"samples/train-*.parquet\")")
        );
        assert!(!updated.contains("samples/test-") && !updated.contains("Samples of split"));
        assert!(
            updated.contains("\n## Splits\n\n") && updated.contains("\n### Splits of `samples`\n\nBy hand.\n\n"),
            "{updated}"
        );
        // The rest is unchanged, and another split removes all traces of this one.
        assert_eq!(updated.matches("conversations/test-").count(), card.matches("conversations/test-").count());
        let again = update_card(&updated, "samples", &splits(&[("test", 3)]), "Otherwise.");
        assert!(!again.contains("held") && !again.contains("By hand"), "{again}");
        assert_eq!(again.matches("\n## Splits\n").count(), 1);
        assert_eq!(update_card(&again, "samples", &splits(&[("train", 2), ("held", 1)]), "By hand."), updated);
        let rows = read_card_rows(&updated).unwrap().expect("the card has a front matter");
        assert_eq!(rows.sizes[&("samples".to_owned(), "held".to_owned())], Some(1));
        assert_eq!(rows.counts["samples"], "`train` 2 rows, `held` 1 rows");
        assert!(!rows.splits.contains(&("samples".to_owned(), "test".to_owned())) && rows.unsplit.is_empty());
    }

    #[test]
    fn a_handwritten_card_keeps_its_text() {
        let updated = update_card("# Mine\n\nHello.\n", "samples", &splits(&[("train", 2)]), "So.");
        let section = "<!-- dramaturg:splits -->\n\n## Splits\n\n<!-- dramaturg:splits:samples -->\n\n### Splits of `samples`\n\nSo.\n\n\
                       <!-- /dramaturg:splits:samples -->\n<!-- /dramaturg:splits -->\n";
        assert_eq!(
            updated,
            format!(
                "---\nconfigs:\n- config_name: samples\n  data_files:\n  - split: train\n    path: samples/train-*.parquet\n---\n\
                 # Mine\n\nHello.\n\n{section}"
            )
        );
        let front =
            "---\nlicense: mit\nconfigs:\n- config_name: other\n  data_files: x\n# of mine\ntags:\n- a\n---\nText.";
        let updated = update_card(front, "samples", &splits(&[("a", 1)]), "So.");
        let expected = "---\nlicense: mit\nconfigs:\n- config_name: other\n  data_files: x\n- config_name: samples\n  data_files:\n  \
                        - split: a\n    path: samples/a-*.parquet\n# of mine\ntags:\n- a\n---\nText.\n\n";
        assert_eq!(updated, format!("{expected}{section}"));
    }

    #[test]
    fn text_around_the_generated_blocks_is_kept() {
        let card = card(&Params::default(), &metadata(), &tables(&records()));
        let before = "## Splits\n\n我自己的话。\n\n## Mine\n\nSamples of split `test` are few.\n\n";
        let own = card.replace("## How it was made\n", &format!("{before}## How it was done\n"));
        let own =
            own.replace("<!-- /dramaturg:balance -->", "So much for balance.\n<!-- /dramaturg:balance -->\nAnd more.");
        let own = own.replace("# fixture\n", "# Renamed\n\nIntroduced.\n");
        let one = update_card(&own, "samples", &splits(&[("a", 1)]), "Of samples.\n");
        let both = update_card(&one, "conversations", &splits(&[("b", 1)]), "Of 对话.\n");
        assert!(
            both.contains(before) && both.contains("## How it was done\n") && both.contains("\nAnd more."),
            "{both}"
        );
        assert!(both.contains("# Renamed\n\nIntroduced.\n") && !both.contains("So much for balance"), "{both}");
        let parts = ["### Splits of `conversations`\n\nOf 对话.", "### Splits of `samples`\n\nOf samples."];
        let positions: Vec<usize> = parts.iter().filter_map(|part| both.find(part)).collect();
        assert!(positions.len() == 2 && positions.is_sorted(), "sorted by config: {both}");
        // Text between the parts is kept too.
        let noted = both.replace("\n## Splits\n\n<!--", "\n## Splits\n\nNoted.\n\n<!--");
        assert_ne!(noted, both);
        assert_eq!(update_card(&noted, "samples", &splits(&[("a", 1)]), "Of samples.\n"), noted);
        // Without the comments the whole body belongs to the user, and a new section is added.
        let bare: Vec<&str> = both.lines().filter(|line| !line.contains("dramaturg:")).collect();
        let bare = bare.join("\n") + "\n";
        let updated = update_card(&bare, "samples", &splits(&[("c", 1)]), "Anew.");
        assert!(
            updated.contains("Of samples.")
                && updated.ends_with("Anew.\n\n<!-- /dramaturg:splits:samples -->\n<!-- /dramaturg:splits -->\n")
        );
    }

    #[test]
    fn the_front_matter_stays_valid_in_every_yaml_style() {
        let info = "dataset_info:\n  features:\n  - name: id\n  splits:\n  - name: train\n";
        for (entry, made) in [
            (
                "- config_name: \"samples\"\n  data_files: \"samples/*.parquet\" # all\n",
                "- config_name: \"samples\"\n  data_files:\n  - split: a\n    path: samples/a-*.parquet\n",
            ),
            (
                "- config_name: 'samples'\n  data_files:\n    - split: b\n\n      path: samples/b-*.parquet\n",
                "- config_name: 'samples'\n  data_files:\n  - split: a\n    path: samples/a-*.parquet\n",
            ),
            (
                "- config_name: samples\n",
                "- config_name: samples\n  data_files:\n  - split: a\n    path: samples/a-*.parquet\n",
            ),
            (
                "    # 我的\n    - data_files: [b]\n      # the main one\n      config_name: samples\n      default: true\n",
                "    # 我的\n    - data_files:\n      - split: a\n        path: samples/a-*.parquet\n      # the main one\n      config_name: samples\n      default: true\n",
            ),
        ] {
            let dash =
                " ".repeat(entry.lines().find_map(|line| line.find("- ").filter(|_| !line.contains('#'))).unwrap_or(0));
            for card in [
                format!("---\nconfigs:\n{entry}{dash}- config_name: other\n{dash}  data_files: x\n{info}---\nText.\n"),
                format!("---\n{info}configs: # here\n{entry}---\nText.\n"),
            ] {
                let updated = update_card(&card, "samples", &splits(&[("a", 1)]), "So.");
                assert!(updated.contains(made), "{updated}");
                assert!(
                    updated.contains(info)
                        && updated.matches("config_name").count() == card.matches("config_name").count()
                );
                for (from, to) in [("\n", "\r\n"), ("---\n", "--- \n")] {
                    let other = update_card(&card.replace(from, to), "samples", &splits(&[("a", 1)]), "So.");
                    let expected = if to == "\r\n" { updated.replace(from, to) } else { updated.clone() };
                    assert_eq!(other, expected);
                }
                let marked = update_card(&format!("\u{feff}{card}"), "samples", &splits(&[("a", 1)]), "So.");
                assert_eq!(marked, updated, "a byte order mark is removed");
                assert_eq!(update_card(&updated, "samples", &splits(&[("a", 1)]), "So."), updated);
            }
        }
        for (entry, made) in [
            ("configs: ~\n", "---\nconfigs:\n- config_name: samples\n"),
            ("configs: # 我的\n", "---\nconfigs: # 我的\n- config_name: samples\n"),
            ("configs:\n  null\nx: 1\n", "---\nconfigs:\n- config_name: samples\n"),
            ("configs:\n  []\nx: 1\n", "---\nconfigs:\n- config_name: samples\n"),
            ("x: 1\ndataset_info: Null # later\n", "---\nx: 1\ndataset_info:\n- config_name: samples\n  splits:\n"),
            (
                "configs:\n- config_name: samples\n  data_dir: samples\n",
                "---\nconfigs:\n- config_name: samples\n  data_files:\n  - split: a\n    path: samples/a-*.parquet\n---\n",
            ),
            (
                "configs:\n- data_dir: samples\n  data_files:\n  - b\n  config_name: samples\nx: 1\n",
                "---\nconfigs:\n- data_files:\n  - split: a\n    path: samples/a-*.parquet\n  config_name: samples\nx: 1\n",
            ),
            (
                "configs:\n- data_files:\n    b: [c]\n  config_name: samples\n  # 位置\n  data_dir: samples\nx: 1\n",
                "---\nconfigs:\n- data_files:\n  - split: a\n    path: samples/a-*.parquet\n  config_name: samples\n  # 位置\nx: 1\n",
            ),
        ] {
            let updated = update_card(&format!("---\n{entry}---\nText.\n"), "samples", &splits(&[("a", 1)]), "So.");
            assert!(updated.starts_with(made), "{updated}");
            assert!(!updated.contains("data_dir") && updated.contains("- split: a\n"), "{updated}");
            assert_eq!(update_card(&updated, "samples", &splits(&[("a", 1)]), "So."), updated);
            let rows = read_card_rows(&updated).unwrap().expect("the card has a front matter");
            assert_eq!(rows.splits.into_iter().collect::<Vec<_>>(), [("samples".to_owned(), "a".to_owned())]);
        }
        let one = "---\ndataset_info:\n  config_name: samples\n  splits:\n    - name: b\n---\n";
        let updated = update_card(one, "samples", &splits(&[("a", 1)]), "So.");
        assert!(
            updated.contains("  splits:\n  - name: a\n    num_bytes: 10\n    num_examples: 1\nconfigs:\n"),
            "{updated}"
        );
    }

    #[test]
    fn leading_whitespace_and_line_endings_do_not_matter() {
        let front = "---\nlicense: mit\npretty_name: 渡口\ntags: [\n对话,\nferry]\n---\n";
        let card = format!("{front}# 渡口\n\nText.\n");
        let expected = update_card(&card, "samples", &splits(&[("a", 1)]), "So.");
        assert!(expected.starts_with(front.trim_end_matches("---\n")), "{expected}");
        for before in ["\n", " \n\t\n\n", "\u{feff}\n", "  "] {
            let updated = update_card(&format!("{before}{card}"), "samples", &splits(&[("a", 1)]), "So.");
            assert_eq!(updated, expected, "exactly one front matter");
        }
        for end in ["\r\n", "\r\r\n", "\r\r\r\n"] {
            let updated = update_card(&card.replace('\n', end), "samples", &splits(&[("a", 1)]), "So.");
            assert_eq!(updated, expected.replace('\n', "\r\n"), "{end:?}");
        }
        let mixed = card.replacen("mit\n", "mit\r\n", 1).replacen("口\n\n", "口\r\r\n\r\n", 1);
        assert_eq!(update_card(&mixed, "samples", &splits(&[("a", 1)]), "So."), expected);
        for (card, line) in [
            ("\n\n---\nx: 1\nconfigs: all\n---\n", 5),
            ("\n---\nconfigs:\n- config_name: samples\n- config_name: other\nx: [\n---\n", 6),
            ("\n\n---\nx: 1\n", 3),
            // An error in the second list is also reported with its own line.
            ("---\nconfigs:\n- config_name: samples\ndataset_info: {config_name: samples}\n---\n", 4),
        ] {
            let fault = tried(card, "samples", &splits(&[("a", 1), ("b", 1)]), "So.").expect_err(card);
            assert_eq!(fault.line, line, "{card}: {fault}");
        }
        assert!(
            read_card_rows(&format!("\n\n{expected}")).unwrap().expect("leading blank lines are allowed").splits.len()
                == 1
        );
        let blank = expected.replacen("\n---\n", "\n--- \n", 1);
        let fault = read_card_rows(&blank).expect_err("the closing line has trailing whitespace");
        assert!(fault.line == 12 && fault.message.contains("older readers"), "{fault:?}");
        assert_eq!(update_card(&blank, "samples", &splits(&[("a", 1)]), "So."), expected);
    }

    #[test]
    fn a_config_may_name_a_folder_instead_of_files() {
        let of = |entry: &str| {
            let card = format!("---\nconfigs:\n- config_name: 对话\n{entry}---\n");
            read_card_rows(&card).unwrap().expect("the card has a front matter")
        };
        let known = CardRows { folders: BTreeSet::from(["对话".to_owned()]), ..CardRows::default() };
        for folder in ["对话", "./对话/", "\"对话/\""] {
            assert_eq!(of(&format!("  data_dir: {folder}\n")), known);
        }
        assert_eq!(of("  data_dir: other\n"), CardRows::default(), "another folder has no split of this config");
        assert_eq!(of("").unsplit.len(), 1);
        let named = of("  data_dir: 对话\n  data_files:\n  - split: a\n    path: a-*\n");
        assert!(named.folders.is_empty() && named.splits.len() == 1, "{named:?}");
    }

    #[test]
    fn columns_of_unnamed_types_are_left_out_of_the_card() {
        let numbers = Column::new("n".into(), [1_i64]).cast(&DataType::Int128).unwrap();
        let frame = DataFrame::new(1, vec![numbers]).unwrap();
        let (splits, others) = (splits(&[("a", 1)]), BTreeMap::new());
        let config_splits =
            ConfigSplits { config: "samples", splits: &splits, section: "So.", columns: Some(&frame), others: &others };
        for info in [
            "- config_name: 甲\n  features:\n  - name: id\n    dtype: string\n- config_name: samples\n  features:\n  - name: id\n    dtype: string\n",
            "- features:\n  - name: id\n    dtype: string\n  # 我的\n  config_name: samples\n",
            "  features:\n  - name: id\n    dtype: string\n  config_name: samples\n",
        ] {
            let updated = super::update_card(&format!("---\ndataset_info:\n{info}---\n"), &config_splits).unwrap();
            let rows = read_card_rows(&updated).unwrap().expect("the card has a front matter");
            assert!(!rows.columns.contains_key("samples"), "{updated}");
            assert_eq!(rows.columns.len(), info.matches("甲").count());
            assert_eq!(rows.sizes.len(), 1, "the entry itself is kept: {updated}");
            assert_eq!(updated.matches("我的").count(), info.matches("我的").count());
        }
    }

    #[test]
    fn an_unparsable_card_is_an_error_and_is_not_overwritten() {
        for (card, line) in [
            ("---\nconfigs:\n- config_name: samples\nText.\n", 1),
            ("---\nconfigs: [{config_name: samples}]\n---\n", 2),
            ("---\nconfigs:\n- {config_name: samples}\n---\n", 2),
            ("---\nconfigs: all\n---\n", 2),
            ("---\nconfigs:\n- config_name: samples\n- config_name: samples\n---\n", 4),
            ("---\nx: 1\nconfigs: &anchor\n- config_name: samples\n---\n", 3),
            ("---\r\nx: 1\r\nconfigs:\r\n\t- config_name: samples\r\n---\r\n", 4),
            ("---\nx: 1\n---\n\n<!-- dramaturg:splits -->\n", 5),
            ("# 甲\n<!-- dramaturg:reading -->\n<!-- /dramaturg:reading -->\n<!-- dramaturg:reading -->\n", 4),
        ] {
            let fault = tried(card, "samples", &splits(&[("a", 1)]), "So.").expect_err(card);
            assert_eq!(fault.line, line, "{card}: {fault}");
        }
        let updated = update_card("", "samples", &splits(&[("no", 1), ("7", 2)]), "So.");
        assert!(
            updated.contains("- split: \"no\"\n    path: samples/no-*") && updated.contains("- split: \"7\"\n"),
            "{updated}"
        );
        let rows = read_card_rows(
            "---\nconfigs: [{config_name: samples, data_files: [{split: a, path: x}]}, {config_name: b, data_files: y}]\n---\n",
        );
        let rows = rows.unwrap().expect("the card has a front matter");
        assert_eq!(rows.splits.into_iter().collect::<Vec<_>>(), [("samples".to_owned(), "a".to_owned())]);
        assert_eq!(rows.unsplit.into_iter().collect::<Vec<_>>(), ["b"]);
        assert_eq!(read_card_rows("# No front\n---\n").unwrap(), None);
        for card in ["\u{feff}---\na: b\n---\n", "--- \na: b\n---\n", "---\t\r\na: b\r\n---\r\n"] {
            assert_eq!(read_card_rows(card).expect_err("the front matter is hidden").line, 1, "{card}");
        }
    }
}
