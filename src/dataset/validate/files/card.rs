//! Checks that data card, report and manifest list the splits and row counts of the data set, and that these text files
//! contain no secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::config::Check;
use crate::dataset::card_update::{CardRows, read_card_rows};
use crate::dataset::validate::findings::Remedy;
use crate::dataset::validate::findings::{Findings, Location};
use crate::stages::export::report_lists_splits;
use crate::stages::export::row_counts;
use crate::text::secrets;

/// The rows, by config and split.
type Rows = BTreeMap<String, BTreeMap<String, usize>>;

/// The contents of the data set.
pub(in crate::dataset::validate) struct ActualContents<'a> {
    pub(in crate::dataset::validate) rows: &'a Rows,
    /// The columns, by config.
    pub(in crate::dataset::validate) columns: &'a BTreeMap<String, BTreeSet<String>>,
    /// Configs that could not be read completely and are not compared.
    pub(in crate::dataset::validate) unread: &'a BTreeSet<String>,
}

/// Compares the listed rows with the actual ones, by config and split, and checks the text files for secrets.
pub(in crate::dataset::validate) fn check(
    dataset: &Path,
    run: Option<&Path>,
    manifest: Option<&Value>,
    actual: &ActualContents<'_>,
    findings: &mut Findings,
) {
    let rows = actual.rows;
    for name in ["README.md", "splits.json"] {
        let text = match fs::read(dataset.join(name)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) if name == "README.md" && !rows.is_empty() => {
                findings.add(
                    Location::of_file(Check::Card, name),
                    "the data set has no data card",
                    Remedy::CorrectCard,
                );
                continue;
            }
            Err(_) => continue,
        };
        for secret in secrets(&text) {
            let line = text[..secret.range.start].matches('\n').count() + 1;
            let message = format!("line {line} looks like {}: `{}`", secret.kind, secret.hint(&text));
            findings.add(Location::of_file(Check::Secret, name), &message, Remedy::RemoveSecretFromPipeline);
        }
        if name == "README.md" {
            match read_card_rows(&text) {
                Ok(Some(listed)) => compare(&listed, actual, findings),
                Ok(None) if rows.is_empty() => {}
                Ok(None) => findings.add(
                    Location::of_file(Check::Card, name),
                    "the data card has no front matter",
                    Remedy::CorrectCard,
                ),
                Err(fault) => {
                    findings.add(Location::of_file(Check::Card, name), &fault.to_string(), Remedy::RewriteCardLine);
                }
            }
        }
    }
    if let Some(listed) = manifest.and_then(|manifest| manifest["rows"].as_object()) {
        let of = |splits: &Value| {
            let splits = splits.as_object().into_iter().flatten();
            splits.filter_map(|(split, rows)| Some((split.clone(), usize::try_from(rows.as_u64()?).ok()?))).collect()
        };
        let listed: Rows = listed.iter().map(|(config, splits)| (config.clone(), of(splits))).collect();
        // A config that is missing in the manifest has files missing there too, which are reported elsewhere.
        let configs = listed.iter().filter(|(config, _)| !actual.unread.contains(*config));
        for (config, _) in configs.filter(|(config, listed)| rows.get(*config).unwrap_or(&BTreeMap::new()) != *listed) {
            let message = format!("the row counts of `{config}` are wrong");
            findings.add(Location::of_file(Check::File, "../manifest.json"), &message, Remedy::Rebuild);
        }
    }
    // The data set's own folder may contain a report too.
    let inner = (dataset.join(REPORT), REPORT.to_owned());
    for (path, name) in std::iter::once(inner).chain(run.map(|run| (run.join(REPORT), format!("../{REPORT}")))) {
        let Ok(html) = fs::read_to_string(path) else { continue };
        for (config, splits) in rows {
            let splits = splits.iter().map(|(split, rows)| (split.as_str(), *rows));
            let message = match report_lists_splits(&html, config, splits) {
                Ok(Some(true) | None) => continue,
                Ok(Some(false)) => format!("the row counts of `{config}` are wrong"),
                Err(fault) => fault.to_string(),
            };
            findings.add(Location::of_file(Check::Card, &name), &message, Remedy::RebuildReport);
        }
    }
}

const REPORT: &str = "report.html";

/// The split names that `datasets` infers from file names if a data card lists none.
const KNOWN: [&str; 10] =
    ["train", "training", "validation", "valid", "dev", "val", "test", "testing", "eval", "evaluation"];

fn compare(listed: &CardRows, actual: &ActualContents<'_>, findings: &mut Findings) {
    let ActualContents { rows, columns, unread } = actual;
    let mut fault =
        |message: &str| findings.add(Location::of_file(Check::Card, "README.md"), message, Remedy::CorrectCard);
    for (config, named) in listed.columns.iter().filter(|(config, _)| !unread.contains(*config)) {
        // `load_dataset` fails if the columns of a table differ.
        let Some(actual) = columns.get(config) else { continue };
        for column in actual.difference(named) {
            fault(&format!("`dataset_info` does not list the column `{column}` of `{config}`"));
        }
        for column in named.difference(actual) {
            fault(&format!("`dataset_info` lists the column `{column}` of `{config}`, which does not exist"));
        }
    }
    let named: BTreeSet<&(String, String)> = listed.splits.iter().chain(listed.sizes.keys()).collect();
    for name @ (config, split) in named.into_iter().filter(|(config, _)| !unread.contains(config)) {
        match (rows.get(config).and_then(|splits| splits.get(split)), listed.sizes.get(name).copied().flatten()) {
            (None, _) => fault(&format!("it lists the split `{split}` of `{config}`, which does not exist")),
            (Some(actual), Some(count)) if *actual != count => {
                fault(&format!("it lists {count} rows for `{split}` of `{config}`, but there are {actual}"));
            }
            _ => {}
        }
    }
    for (config, splits) in *rows {
        // Without split names, readers load all files as `train`.
        if listed.unsplit.contains(config) {
            if splits.keys().ne(["train"]) {
                fault(&format!("it lists files of `{config}` without splits, so that all are loaded as one split"));
            }
            continue;
        }
        if listed.folders.contains(config) {
            for split in splits.keys().filter(|split| !KNOWN.contains(&split.as_str())) {
                fault(&format!(
                    "it lists only the folder of `{config}`, and readers cannot infer the split `{split}` from file names"
                ));
            }
        }
        let is_unnamed = |split: &&String| {
            !listed.folders.contains(config) && !listed.splits.contains(&(config.clone(), (*split).clone()))
        };
        for split in splits.keys().filter(is_unnamed) {
            fault(&format!("it does not list the split `{split}` of `{config}`"));
        }
        let parts = |line: &str| line.split(", ").map(str::to_owned).collect::<BTreeSet<String>>();
        let actual = row_counts(splits.iter().map(|(split, rows)| (split.as_str(), *rows)));
        if let Some(line) = listed.counts.get(config).filter(|line| parts(line) != parts(&actual)) {
            fault(&format!("it counts {line} for `{config}`, but there are {actual}"));
        }
    }
}
