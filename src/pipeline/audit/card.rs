//! Whether the card, the report and the manifest name the splits that are there, and as many rows as they have. And what else stands
//! beside the tables as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::places::{Findings, Spot};
use crate::stages::export::{CardRows, card_rows, counted, report_tells};
use crate::text::secrets;

const REMEDY: &str = "readers go by the card: `dramaturg split` or `build` writes it anew";
const MEND: &str = "write the line otherwise: `dramaturg split` knows the forms of YAML that docs/splits.md names, and writes nothing over others";

/// The rows that are there, by config and split.
type Rows = BTreeMap<String, BTreeMap<String, usize>>;

/// What there is to be told of.
pub(super) struct There<'a> {
    /// The rows.
    pub(super) rows: &'a Rows,
    /// The columns, by config.
    pub(super) columns: &'a BTreeMap<String, BTreeSet<String>>,
    /// Configs whose rows could not be read, and of which nothing is said.
    pub(super) unread: &'a BTreeSet<String>,
}

/// Compares what tells of rows with the rows, by config and split, and looks for secrets in the files of text.
pub(super) fn check(
    dataset: &Path,
    run: Option<&Path>,
    manifest: Option<&Value>,
    there: &There<'_>,
    findings: &mut Findings,
) {
    let rows = there.rows;
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
            match card_rows(&text) {
                Ok(Some(told)) => compare(&told, there, findings),
                Ok(None) if rows.is_empty() => {}
                Ok(None) => findings.add(Spot::of("card", name), "the card has no front matter", REMEDY),
                Err(fault) => findings.add(Spot::of("card", name), &fault.to_string(), MEND),
            }
        }
    }
    if let Some(told) = manifest.and_then(|manifest| manifest["rows"].as_object()) {
        let of = |splits: &Value| {
            let splits = splits.as_object().into_iter().flatten();
            splits.filter_map(|(split, rows)| Some((split.clone(), usize::try_from(rows.as_u64()?).ok()?))).collect()
        };
        let told: Rows = told.iter().map(|(config, splits)| (config.clone(), of(splits))).collect();
        // A config that it does not name at all has files that it does not name either.
        let configs = told.iter().filter(|(config, _)| !there.unread.contains(*config));
        for (config, _) in configs.filter(|(config, told)| rows.get(*config).unwrap_or(&BTreeMap::new()) != *told) {
            let message = format!("it tells other rows of `{config}` than there are");
            findings.add(Spot::of("file", "../manifest.json"), &message, super::files::AGAIN);
        }
    }
    // A data set's own folder may hold one too.
    let inner = (dataset.join(REPORT), REPORT.to_owned());
    for (path, name) in std::iter::once(inner).chain(run.map(|run| (run.join(REPORT), format!("../{REPORT}")))) {
        let Ok(html) = fs::read_to_string(path) else { continue };
        for (config, splits) in rows {
            let splits = splits.iter().map(|(split, rows)| (split.as_str(), *rows));
            let message = match report_tells(&html, config, splits) {
                Ok(Some(true) | None) => continue,
                Ok(Some(false)) => format!("it tells other rows of `{config}` than there are"),
                Err(fault) => fault.to_string(),
            };
            findings.add(
                Spot::of("card", &name),
                &message,
                "`dramaturg build PIPELINE --replay` writes the report anew",
            );
        }
    }
}

const REPORT: &str = "report.html";

/// The splits that `datasets` knows by the names of files, where a card names none.
const KNOWN: [&str; 10] =
    ["train", "training", "validation", "valid", "dev", "val", "test", "testing", "eval", "evaluation"];

fn compare(told: &CardRows, there: &There<'_>, findings: &mut Findings) {
    let There { rows, columns, unread } = there;
    let mut fault = |message: &str| findings.add(Spot::of("card", "README.md"), message, REMEDY);
    for (config, named) in told.columns.iter().filter(|(config, _)| !unread.contains(*config)) {
        // `load_dataset` refuses a table whose columns are others.
        let Some(there) = columns.get(config) else { continue };
        for column in there.difference(named) {
            fault(&format!("`dataset_info` does not name the column `{column}` of `{config}`"));
        }
        for column in named.difference(there) {
            fault(&format!("`dataset_info` names the column `{column}` of `{config}`, which is not there"));
        }
    }
    let named: BTreeSet<&(String, String)> = told.splits.iter().chain(told.sizes.keys()).collect();
    for name @ (config, split) in named.into_iter().filter(|(config, _)| !unread.contains(config)) {
        match (rows.get(config).and_then(|splits| splits.get(split)), told.sizes.get(name).copied().flatten()) {
            (None, _) => fault(&format!("it names the split `{split}` of `{config}`, which is not there")),
            (Some(there), Some(count)) if *there != count => {
                fault(&format!("it says that `{split}` of `{config}` has {count} rows, and it has {there}"));
            }
            _ => {}
        }
    }
    for (config, splits) in *rows {
        // Without names of splits all files are read as `train`.
        if told.whole.contains(config) {
            if splits.keys().ne(["train"]) {
                fault(&format!("it names files of `{config}` without their split, so that all are read as one"));
            }
            continue;
        }
        if told.folders.contains(config) {
            for split in splits.keys().filter(|split| !KNOWN.contains(&split.as_str())) {
                fault(&format!(
                    "it names the folder of `{config}` alone, and readers know no split `{split}` by names of files"
                ));
            }
        }
        let is_unnamed = |split: &&String| {
            !told.folders.contains(config) && !told.splits.contains(&(config.clone(), (*split).clone()))
        };
        for split in splits.keys().filter(is_unnamed) {
            fault(&format!("it does not name the split `{split}` of `{config}`"));
        }
        let parts = |line: &str| line.split(", ").map(str::to_owned).collect::<BTreeSet<String>>();
        let there = counted(splits.iter().map(|(split, rows)| (split.as_str(), *rows)));
        if let Some(line) = told.counts.get(config).filter(|line| parts(line) != parts(&there)) {
            fault(&format!("it counts {line} of `{config}`, and there are {there}"));
        }
    }
}
