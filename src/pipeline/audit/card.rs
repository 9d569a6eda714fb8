//! Whether the card names the splits that are there, and as many rows as they have. And what else stands beside the tables as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::places::{Findings, Spot};
use crate::text::secrets;

const REMEDY: &str = "readers go by the card: `dramaturg split` or `build` writes it anew";

/// Compares the card with the rows, by config and split, and looks for secrets in the files of text.
pub(super) fn check(dataset: &Path, rows: &BTreeMap<String, BTreeMap<String, usize>>, findings: &mut Findings) {
    for name in ["README.md", "splits.json"] {
        let text = match fs::read(dataset.join(name)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) if name == "README.md" && !rows.is_empty() => {
                findings.add(Spot::of("card", name), "the data set has no card", REMEDY);
                continue;
            }
            Err(_) => continue,
        };
        for secret in secrets(&text) {
            let line = text[..secret.place.start].matches('\n').count() + 1;
            let message = format!("line {line} looks like {}: `{}`", secret.kind, secret.hint(&text));
            findings.add(Spot::of("secret", name), &message, "take it out of the pipeline file, and make the key void");
        }
        if name == "README.md" {
            compare(&text, rows, findings);
        }
    }
}

fn compare(card: &str, rows: &BTreeMap<String, BTreeMap<String, usize>>, findings: &mut Findings) {
    let Some((front, _)) = card.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) else {
        if !rows.is_empty() {
            findings.add(Spot::of("card", "README.md"), "the card has no front matter", REMEDY);
        }
        return;
    };
    let (mut list, mut config, mut split) = ("", "", String::new());
    let mut named: BTreeMap<(&str, String), Option<usize>> = BTreeMap::new();
    let mut configs: BTreeSet<&str> = BTreeSet::new();
    for line in front.lines() {
        if !line.starts_with([' ', '-']) {
            (list, config) = (line, "");
        } else if let Some(name) = line.strip_prefix("- config_name: ") {
            config = name.trim_matches('"');
            configs.insert(config);
        } else if let Some(name) = line.trim_start().strip_prefix("- split: ") {
            named.entry((config, name.trim_matches('"').to_owned())).or_default();
        } else if let Some(name) = line.strip_prefix("  - name: ") {
            name.trim_matches('"').clone_into(&mut split);
        } else if let Some(count) = line.strip_prefix("    num_examples: ").filter(|_| list == "dataset_info:") {
            named.insert((config, split.clone()), count.trim().parse().ok());
        }
    }
    let mut fault = |message: &str| findings.add(Spot::of("card", "README.md"), message, REMEDY);
    for ((config, split), count) in &named {
        match (rows.get(*config).and_then(|splits| splits.get(split)), count) {
            (None, _) => fault(&format!("it names the split `{split}` of `{config}`, which is not there")),
            (Some(there), Some(count)) if there != count => {
                fault(&format!("it says that `{split}` of `{config}` has {count} rows, and it has {there}"));
            }
            _ => {}
        }
    }
    for (config, splits) in rows {
        for split in splits.keys().filter(|split| !named.contains_key(&(config.as_str(), (*split).clone()))) {
            fault(&format!("it does not name the split `{split}` of `{config}`"));
        }
    }
}
