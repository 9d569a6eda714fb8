//! Checks that samples are spread over the dimensions: overall, per language, and per character type of a language.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Group;
use super::findings::Remedy;
use super::findings::{Findings, Location};
use crate::config::Check;

/// Minimum number of samples for a small share to be significant.
const ENOUGH: usize = 200;
/// Minimum expected number of samples per dimension for a dimension without samples to be significant.
const EVEN: usize = 4;

/// Number of samples by dimension.
type ByDimension = BTreeMap<String, usize>;

/// The counts.
#[derive(Debug, Default)]
pub(super) struct Balance {
    /// By language and character type; includes types of characters without samples.
    counts: BTreeMap<String, BTreeMap<String, ByDimension>>,
    /// The dimensions that turns of conversations had or targeted.
    targeted: BTreeSet<String>,
    /// Whether samples have no character type.
    is_untyped: bool,
}

/// Placeholder for a missing type.
const UNTYPED: &str = "-";

impl Balance {
    /// Counts the rows of a group.
    pub(super) fn add(&mut self, group: &Group<'_>) {
        match group.config {
            "characters" if group.texts("language").is_some() && group.texts("type").is_some() => {
                for row in 0..group.height {
                    self.of(group, row, "type");
                }
            }
            "conversations" => {
                let Some(turns) = group.cells("turns") else { return };
                for cells in ["dimension", "target"].into_iter().filter_map(|field| turns.field(field)) {
                    for turn in (0..group.height).flat_map(|row| turns.list(row)) {
                        if let Some(code) = cells.text(turn).filter(|code| !self.targeted.contains(*code)) {
                            self.targeted.insert(code.to_owned());
                        }
                    }
                }
            }
            "samples" if group.texts("language").is_some() && group.texts("dimension").is_some() => {
                self.is_untyped |= group.texts("character_type").is_none();
                for row in 0..group.height {
                    let dimension = group.text("dimension", row).unwrap_or("-").to_owned();
                    *self.of(group, row, "character_type").entry(dimension).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// Returns the counts that a row belongs to.
    fn of(&mut self, group: &Group<'_>, row: usize, character_type: &str) -> &mut ByDimension {
        let of = |column| group.text(column, row).unwrap_or(UNTYPED).to_owned();
        self.counts.entry(of("language")).or_default().entry(of(character_type)).or_default()
    }

    /// Reports dimensions without samples or with far less than an even share, and returns the counts. The dimensions
    /// are those of the manifest or, without one, those of turns and samples.
    pub(super) fn check(
        mut self,
        manifest: Option<&Value>,
        findings: &mut Findings,
        notes: &mut Vec<String>,
    ) -> BTreeMap<String, BTreeMap<String, ByDimension>> {
        if self.is_untyped {
            for by_type in self.counts.values_mut() {
                let mut total = ByDimension::new();
                for (dimension, count) in std::mem::take(by_type).into_values().flatten() {
                    *total.entry(dimension).or_default() += count;
                }
                by_type.insert(UNTYPED.to_owned(), total);
            }
            notes.push("samples have no `character_type`; their balance was checked only by language".to_owned());
        }
        let mut all = ByDimension::new();
        for (dimension, count) in self.counts.values().flat_map(BTreeMap::values).flatten() {
            *all.entry(dimension.clone()).or_default() += count;
        }
        if all.is_empty() {
            return BTreeMap::new();
        }
        let codes = manifest.and_then(|manifest| manifest["dimension_codes"].as_array());
        let codes: Option<BTreeSet<String>> =
            codes.map(|codes| codes.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        if let Some(codes) = &codes {
            for (dimension, count) in all.iter().filter(|(dimension, _)| !codes.contains(*dimension)) {
                let message = format!("{count} samples have the dimension `{dimension}`, which is not in the manifest");
                findings.add(Location::of_dataset(Check::Balance), &message, Remedy::ReplaceDimension);
            }
        }
        let codes = codes.unwrap_or_else(|| all.keys().cloned().chain(std::mem::take(&mut self.targeted)).collect());
        for of_type in self.counts.values_mut().flat_map(BTreeMap::values_mut) {
            for code in &codes {
                of_type.entry(code.clone()).or_default();
            }
        }
        let mut reported: BTreeSet<&str> = BTreeSet::new();
        for code in codes.iter().filter(|code| !all.contains_key(*code)) {
            findings.add(
                Location::of_dataset(Check::Balance),
                &format!("no sample has the dimension `{code}`"),
                Remedy::AdjustBalance,
            );
            reported.insert(code);
        }
        for (language, by_type) in &self.counts {
            let mut sums = ByDimension::new();
            for (code, count) in by_type.values().flatten() {
                *sums.entry(code.clone()).or_default() += count;
            }
            let mut of_language = reported.clone();
            of_language.extend(uneven(&sums, &reported, &format!("samples in `{language}`"), findings, notes));
            for (character_type, counts) in by_type {
                if counts.values().all(|count| *count == 0) {
                    let message = if self.is_untyped {
                        format!("no sample is in `{language}`, although there are characters")
                    } else {
                        format!(
                            "no sample is of the `{character_type}` characters in `{language}`, although there are some"
                        )
                    };
                    if sums.values().sum::<usize>() >= ENOUGH {
                        findings.add(Location::of_dataset(Check::Balance), &message, Remedy::AdjustBalance);
                    } else {
                        notes.push(message);
                    }
                } else if by_type.len() > 1 {
                    let whose = format!("samples of `{character_type}` characters in `{language}`");
                    uneven(counts, &of_language, &whose, findings, notes);
                }
            }
        }
        self.counts
    }
}

/// Reports the dimensions with too few samples, except those already reported, and returns them.
fn uneven<'a>(
    counts: &'a ByDimension,
    reported: &BTreeSet<&str>,
    whose: &str,
    findings: &mut Findings,
    notes: &mut Vec<String>,
) -> Vec<&'a str> {
    let all: usize = counts.values().sum();
    let mut uneven = Vec::new();
    for (code, count) in counts.iter().filter(|(code, _)| !reported.contains(code.as_str())) {
        // Less than a quarter of an even share.
        if all == 0 || count * counts.len() * 4 >= all {
            continue;
        }
        let count_text = if *count == 0 { "none has".to_owned() } else { format!("{count} have") };
        let message = format!("of {all} {whose} {count_text} the dimension `{code}`");
        if all >= ENOUGH || (*count == 0 && all >= EVEN * counts.len()) {
            findings.add(Location::of_dataset(Check::Balance), &message, Remedy::AdjustBalance);
        } else {
            notes.push(message);
        }
        uneven.push(code.as_str());
    }
    uneven
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Counted<'a> = (&'a str, &'a str, &'a [(&'a str, usize)]);

    /// Returns findings and notes for counts by language, type and dimension.
    fn reported(counts: &[Counted<'_>], codes: Option<&[&str]>) -> (Vec<String>, Vec<String>) {
        let mut balance = Balance { targeted: BTreeSet::from(["PA".to_owned()]), ..Balance::default() };
        for (language, character_type, dimensions) in counts {
            let of_type = balance.counts.entry((*language).to_owned()).or_default().entry((*character_type).to_owned());
            let dimensions = dimensions.iter().map(|(code, count)| ((*code).to_owned(), *count));
            of_type.or_default().extend(dimensions);
        }
        let manifest = codes.map(|codes| json!({"dimension_codes": codes}));
        let (mut findings, mut notes) = (Findings::of(true), Vec::new());
        balance.check(manifest.as_ref(), &mut findings, &mut notes);
        (findings.finish().0.into_iter().map(|finding| finding.message).collect(), notes)
    }

    #[test]
    fn a_dimension_without_samples_is_found_in_small_data_sets() {
        let few = [("zh", "established", &[("CR", 2), ("FR", 1)][..])];
        let missing = "no sample has the dimension `PA`".to_owned();
        assert_eq!(reported(&few, Some(&["CR", "FR", "PA"])), (vec![missing.clone()], vec![]));
        assert_eq!(reported(&few, None), (vec![missing], vec![]), "a turn targeted it");
        assert_eq!(reported(&few, Some(&["CR", "FR"])), (vec![], vec![]));
        assert_eq!(reported(&[], Some(&["CR"])), (vec![], vec![]), "without samples there is nothing to balance");
        let (found, _) = reported(&few, Some(&["CR"]));
        assert_eq!(found, ["1 samples have the dimension `FR`, which is not in the manifest"]);
    }

    #[test]
    fn samples_without_a_character_type_are_grouped_by_language() {
        use polars::prelude::df;

        let mut balance = Balance::default();
        let languages = ["en", "zh", "en", "zh"];
        let types = ["established", "established", "synthesized", "synthesized"];
        let characters = df!("language" => languages, "type" => types).unwrap();
        balance.add(&Group::new("characters", "characters.parquet", "train", 0, &characters).unwrap());
        let of_row =
            |row: usize| (if row < 400 { "en" } else { "zh" }, if row.is_multiple_of(2) { "CR" } else { "PA" });
        let (languages, dimensions): (Vec<&str>, Vec<&str>) = (0..800).map(of_row).unzip();
        let samples = df!("language" => languages, "dimension" => dimensions).unwrap();
        balance.add(&Group::new("samples", "samples.parquet", "test", 0, &samples).unwrap());
        let (mut findings, mut notes) = (Findings::of(true), Vec::new());
        let counts = balance.check(None, &mut findings, &mut notes);
        assert_eq!(findings.finish().0, vec![]);
        assert_eq!(notes, ["samples have no `character_type`; their balance was checked only by language"]);
        let even = ByDimension::from([("CR".to_owned(), 200), ("PA".to_owned(), 200)]);
        let untyped = BTreeMap::from([(UNTYPED.to_owned(), even)]);
        assert_eq!(counts, BTreeMap::from([("en".to_owned(), untyped.clone()), ("zh".to_owned(), untyped)]));
    }

    #[test]
    fn each_language_and_character_type_is_checked_separately() {
        let even: &[(&str, usize)] = &[("CR", 100), ("PA", 100)];
        let (found, notes) =
            reported(&[("en", "established", even), ("zh", "established", &[("CR", 210), ("PA", 9)])], None);
        assert_eq!((found, notes), (vec!["of 219 samples in `zh` 9 have the dimension `PA`".to_owned()], vec![]));
        let lopsided: &[(&str, usize)] = &[("CR", 205), ("PA", 5)];
        let (found, notes) = reported(&[("en", "established", even), ("en", "synthesized", lopsided)], None);
        let whose = "samples of `synthesized` characters in `en`";
        assert_eq!((found, notes), (vec![format!("of 210 {whose} 5 have the dimension `PA`")], vec![]));
        let (found, notes) = reported(&[("en", "established", even), ("en", "synthesized", &[("CR", 7)])], None);
        assert_eq!((found.len(), notes), (0, vec![format!("of 7 {whose} none has the dimension `PA`")]));
        let (found, _) = reported(&[("en", "established", even), ("en", "synthesized", &[("CR", 8)])], None);
        assert_eq!(found, [format!("of 8 {whose} none has the dimension `PA`")]);
        let (found, notes) = reported(&[("en", "established", even), ("en", "synthesized", &[])], None);
        let none = "no sample is of the `synthesized` characters in `en`, although there are some".to_owned();
        assert_eq!((found, notes), (vec![none], vec![]));
    }
}
