//! Checks that the data set consists of exactly the files that the run wrote.

pub(super) mod card;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::findings::Remedy;
use super::findings::{Findings, Location};
use crate::config::Check;
use crate::dataset::error::DatasetError;
use crate::store::{Dataset, StoreError, hash_of};

/// Compares the files with the manifest, and checks that shards are complete.
pub(super) fn check(
    dataset: &Dataset,
    is_of_run: bool,
    manifest: Option<&Value>,
    findings: &mut Findings,
    notes: &mut Vec<String>,
) -> Result<(), DatasetError> {
    let there = dataset.files()?;
    shards(&there, findings);
    let named = manifest.and_then(|manifest| manifest["files"].as_object());
    let Some(named) = named else {
        notes.push(
            if is_of_run {
                "hashes were not checked"
            } else {
                "there is no run manifest beside the data set; hashes were not checked"
            }
            .to_owned(),
        );
        return Ok(());
    };
    for (file, hash) in named {
        if !there.contains(file) {
            findings.add(
                Location::of_file(Check::File, file),
                "the manifest lists the file, but it does not exist",
                Remedy::Rebuild,
            );
        } else if Some(hash_of(&dataset.path.join(file))?.as_str()) != hash.as_str() {
            let message = "the file has changed: its SHA-256 differs from the manifest";
            findings.add(Location::of_file(Check::Hash, file), message, Remedy::RebuildOrMove);
        }
    }
    for file in there.iter().filter(|file| !named.contains_key(*file)) {
        let message = "the manifest does not list the file";
        findings.add(Location::of_file(Check::File, file), message, Remedy::MoveFile);
    }
    Ok(())
}

/// Reports missing shards, based on the names of the others.
fn shards(files: &[String], findings: &mut Findings) {
    let mut sets: BTreeMap<(&str, usize), BTreeSet<usize>> = BTreeMap::new();
    for file in files {
        let parts = file.strip_suffix(".parquet").and_then(|name| {
            let (name, count) = name.rsplit_once("-of-")?;
            let (stem, number) = name.rsplit_once('-')?;
            Some((stem, number.parse().ok()?, count.parse().ok()?))
        });
        if let Some((stem, number, count)) = parts {
            sets.entry((stem, count)).or_default().insert(number);
        }
    }
    for ((stem, count), numbers) in sets {
        // The count is taken from a file name and may be any number.
        let Some(first) = (0..count).find(|number| !numbers.contains(number)) else { continue };
        let others = count - numbers.range(..count).count() - 1;
        let file = format!("{stem}-{first:05}-of-{count:05}.parquet");
        let mut message = "the other shards of the split imply this file, but it does not exist".to_owned();
        if others > 0 {
            let _ = write!(message, ", nor do {others} more");
        }
        findings.add(Location::of_file(Check::File, &file), &message, Remedy::Rebuild);
    }
}

/// Reports a file that cannot be read.
pub(super) fn unreadable(path: &Path, file: &str, error: &StoreError, findings: &mut Findings) {
    let message = format!("failed to read the file as Parquet: {}", crate::llm::chain(error));
    let columns = crate::store::broken_columns(path);
    if columns.is_empty() {
        findings.add(Location::of_file(Check::File, file), &message, Remedy::Rebuild);
    }
    for column in columns {
        findings.add(
            Location { column: Some(column), ..Location::of_file(Check::File, file) },
            &message,
            Remedy::Rebuild,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_are_one_finding_per_table() {
        let mut findings = Findings::of(true);
        let files = ["a/t-0-of-18446744073709551615", "b/t-00000-of-00002", "c/t-00000-of-00001"];
        shards(&files.map(|file| format!("{file}.parquet")), &mut findings);
        let (found, more) = findings.finish();
        let listed: Vec<_> =
            found.iter().map(|found| (found.file.as_deref().unwrap(), found.message.as_str())).collect();
        assert_eq!((listed.len(), more.len()), (2, 0), "{listed:?}");
        assert!(listed[0].0.starts_with("a/t-00001-of-") && listed[0].1.ends_with("nor do 18446744073709551613 more"));
        assert!(listed[1].0 == "b/t-00001-of-00002.parquet" && listed[1].1.ends_with("does not exist"));
    }
}
