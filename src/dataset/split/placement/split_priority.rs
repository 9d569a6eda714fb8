//! The priority of splits: rows of a lower split that are related to a higher one count as leaks.

use crate::dataset::split::{Params, UNUSED};

/// The order of splits, highest priority first.
#[derive(Debug, Clone, Default)]
pub struct SplitPriority {
    /// The requested splits in order, and the split of all other rows; `None` if the order follows from the names.
    requested: Option<(Vec<String>, String)>,
}

impl SplitPriority {
    /// Creates the order from the parameters of a split, or from the names of splits if the parameters are unknown.
    #[must_use]
    pub fn new(params: Option<&Params>) -> Self {
        let names = |params: &Params| params.splits.iter().map(|part| part.name.clone()).collect();
        Self { requested: params.map(|params| (names(params), params.remainder.clone())) }
    }

    /// Returns the position of a split in the order. `unused` comes before the remainder, because no model is trained
    /// on it.
    #[must_use]
    pub fn rank(&self, split: &str) -> usize {
        let Some((requested, rest)) = &self.requested else {
            return match split {
                "test" => 0,
                "dev" | "validation" => 1,
                UNUSED => 3,
                "train" => 4,
                _ => 2,
            };
        };
        let further = usize::from(split == UNUSED) + 2 * usize::from(split == rest);
        requested.iter().position(|name| name == split).unwrap_or(requested.len() + further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::split::{Part, Size};
    use crate::schema::ByLanguage;

    #[test]
    fn splits_are_ordered_by_priority_then_by_name() {
        let sorted = |guard: &SplitPriority, mut names: Vec<&'static str>| {
            names.sort_by_key(|name| guard.rank(name));
            names
        };
        let by_name = SplitPriority::new(None);
        assert_eq!(
            sorted(&by_name, vec!["train", UNUSED, "池", "validation", "test"]),
            ["test", "validation", "池", UNUSED, "train"]
        );
        let requested = |splits: &[&str], rest: &str| {
            let part = |name: &&str| Part { name: (*name).to_owned(), size: Size::Rows(1) };
            SplitPriority::new(Some(&Params {
                splits: splits.iter().map(part).collect(),
                remainder: rest.to_owned(),
                by: None,
                hold_out: Vec::new(),
                stratify: Vec::new(),
                group_by: Vec::new(),
                similarity: ByLanguage { en: 0.6, zh: 0.5 },
                seed: 7,
            }))
        };
        for (splits, rest, expected) in [
            (&["test"][..], "dev", ["test", UNUSED, "dev"]),
            (&["train"], "池", ["train", UNUSED, "池"]),
            (&["a"], "validation", ["a", UNUSED, "validation"]),
            (&["b"], "a", ["b", UNUSED, "a"]),
            (&["a", "validation"], "train", ["a", "validation", "train"]),
        ] {
            let mut names = expected.to_vec();
            names.reverse();
            assert_eq!(sorted(&requested(splits, rest), names), expected);
        }
    }
}
