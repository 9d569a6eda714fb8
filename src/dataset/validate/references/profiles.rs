//! Checks that a sample's profile is a part of the character's profile. A sample omits sentences that quote the
//! dialogue of its scene; whether the omissions are justified is not checked.

use std::hash::Hash as _;

use super::stable_hash::hash;
use crate::cells::Cells;
use crate::text::sentences_with_gaps;

/// An attribute of a profile.
#[derive(Debug, PartialEq, Eq)]
struct Trait {
    /// Hash of all fields but the value: key, visibility and any others.
    rest: u64,
    value: String,
}

/// A profile, reduced to what is compared.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::dataset::validate) struct Profile(Vec<Trait>);

impl Profile {
    /// Reads the profile of a row; `None` if the column is not a list.
    pub(in crate::dataset::validate) fn of(cells: &Cells, row: usize) -> Option<Self> {
        let Cells::List { items, .. } = cells else { return None };
        let attribute = |index| {
            let mut value = "";
            let rest = hash(|hasher| {
                items.each_text(index, &mut String::new(), &mut |path, text| match path {
                    ".value" => value = text,
                    _ => (path, text).hash(hasher),
                });
            });
            Trait { rest, value: value.to_owned() }
        };
        Some(Self(cells.list(row).map(attribute).collect()))
    }

    /// Returns whether `part` is this profile, complete or with sentences and attributes omitted.
    pub(in crate::dataset::validate) fn contains(&self, part: &Self) -> bool {
        let mut all = self.0.iter();
        let mut is_next = |part: &Trait| all.any(|own| own.rest == part.rest && is_remainder(&own.value, &part.value));
        part.0.iter().all(&mut is_next)
    }
}

/// Returns whether a text is what is left of a value after removing none, or some but not all, of its sentences.
fn is_remainder(value: &str, remainder: &str) -> bool {
    if value == remainder {
        return true;
    }
    // The possible rests of the text, after each choice of sentences.
    let mut rests = vec![remainder];
    for (_, sentence) in sentences_with_gaps(value) {
        for index in 0..rests.len() {
            rests.extend(rests[index].trim_start().strip_prefix(sentence.trim()).map(str::trim));
        }
        rests.sort_unstable_by_key(|rest| rest.len());
        rests.dedup();
    }
    !remainder.trim().is_empty() && rests[0].is_empty()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Profile, Trait, is_remainder};

    #[test]
    fn a_shortened_value_keeps_complete_sentences_in_order() {
        for (value, remainder, expected) in [
            ("Curt. Never waits! Proud of her boat.", "Curt. Proud of her boat.", true),
            ("Curt. Never waits! Proud of her boat.", "Never waits!", true),
            ("Curt. Never waits! Proud of her boat.", "Curt. Never waits! Proud of her boat.", true),
            ("Curt. Never waits! Proud of her boat.", "Proud of her boat. Curt.", false),
            ("Curt. Never waits! Proud of her boat.", "Curt. Proud of his boat.", false),
            ("Curt. Never waits! Proud of her boat.", "Curt. Curt.", false),
            ("Curt. Never waits! Proud of her boat.", "Curt. Never", false),
            ("Curt. Never waits! Proud of her boat.", "", false),
            ("Aye. Aye, sir. Aye.", "Aye. Aye.", true),
            ("话少。从不等人！爱船。", "话少。爱船。", true),
            ("话少。从不等人！爱船。", "从不等人！", true),
            ("话少。从不等人！爱船。", "爱船。话少。", false),
            ("话少。从不等人！爱船。", "话少。恨船。", false),
            ("话少。从不等人！爱船。", "话少。爱船", false),
            ("", "", true),
        ] {
            assert_eq!(is_remainder(value, remainder), expected, "{value} {remainder}");
        }
    }

    #[test]
    fn attributes_may_be_removed_but_not_added() {
        let profile = |traits: &[(u64, &str)]| {
            Profile(traits.iter().map(|(rest, value)| Trait { rest: *rest, value: (*value).to_owned() }).collect())
        };
        let values = HashMap::from([("en", ["Curt. Proud.", "Proud."]), ("zh", ["话少。爱船。", "爱船。"])]);
        for [full, remainder] in values.into_values() {
            let character = profile(&[(1, full), (2, full), (3, full)]);
            for (part, expected) in [
                (&[(1, full), (2, full), (3, full)][..], true),
                (&[(1, remainder), (3, full)], true),
                (&[], true),
                (&[(3, full), (1, remainder)], false),
                (&[(1, full), (1, full)], false),
                (&[(1, full), (4, full)], false),
                (&[(1, full), (2, full), (3, full), (3, full)], false),
                (&[(1, "x")], false),
            ] {
                assert_eq!(character.contains(&profile(part)), expected, "{part:?}");
            }
        }
    }
}
