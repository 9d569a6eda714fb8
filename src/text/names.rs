//! Compares names without case, punctuation and forms of address.

use super::is_han;
use super::words::{WORDS, is_title};
use crate::schema::slug;

/// A normalised name, for comparison with others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComparableName(String);

impl ComparableName {
    /// Normalises a name: removes forms of address before an English name and after a Chinese one, unless nothing is
    /// left.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let full_slug = slug(name);
        let words = full_slug.split('-').skip_while(|word| !word.chars().any(is_han) && is_title(word));
        let mut name = words.collect::<Vec<_>>().join("-");
        if name.is_empty() {
            name.clone_from(&full_slug);
        }
        if name.chars().all(is_han)
            && let Some(untitled) = without_title(&name)
        {
            name.truncate(untitled.len());
        }
        Self(name)
    }

    /// Whether it contains no letters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == "-"
    }

    /// Whether two names may refer to the same character: they are equal, or one is a whole word of the other. For
    /// Chinese names: one of at least two characters is part of the other.
    #[must_use]
    pub fn clashes(&self, other: &Self) -> bool {
        self == other || self.is_within(other) || other.is_within(self)
    }

    fn is_within(&self, long: &Self) -> bool {
        let (short, long) = (&self.0, &long.0);
        if self.is_empty() {
            false
        } else if short.chars().all(is_han) {
            short.chars().count() >= 2 && long.contains(short.as_str())
        } else {
            !short.contains('-') && long.split('-').any(|word| word == short)
        }
    }
}

/// Returns a Chinese name of at least two characters without a following form of address of at least two characters.
/// Shorter endings are as often part of the name.
fn without_title(name: &str) -> Option<&str> {
    let is_long = |text: &str| text.chars().nth(1).is_some();
    let rests = WORDS.zh.titles.iter().filter(|title| is_long(title)).filter_map(|title| name.strip_suffix(title));
    rests.filter(|rest| is_long(rest)).min_by_key(|rest| rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_address_are_not_part_of_a_name() {
        for (one, other) in [
            ("Mrs. Marl", "marl"),
            ("Captain Dr. Hob Wragg", "Hob Wragg"),
            ("Captain", "captain"),
            ("温仲筹先生", "温仲筹"),
            ("阿满姑娘", "阿满"),
        ] {
            assert_eq!(ComparableName::new(one), ComparableName::new(other), "{one} / {other}");
        }
        for (one, other) in [("Lady", "Lord"), ("温先生", "温"), ("李二娘", "李二"), ("Hob", "Hobs")] {
            assert_ne!(ComparableName::new(one), ComparableName::new(other), "{one} / {other}");
        }
        assert!(ComparableName::new("…").is_empty());
    }

    #[test]
    fn names_clash_by_words_or_characters() {
        for (one, other, expected) in [
            ("Dilly", "Dilly Voss", true),
            ("dilly voss", "Dilly Voss", true),
            ("Mrs. Voss", "Dilly Voss", true),
            ("Mrs. Voss", "Captain Voss", true),
            ("Keziah Marl", "Keziah Brand", false),
            ("Ann", "Joanna Ley", false),
            ("…", "…!", true),
            ("…", "Ann", false),
            ("宝玉", "贾宝玉", true),
            ("宝玉哥哥", "贾宝玉", true),
            ("玉", "贾宝玉", false),
            ("温仲筹", "温如玉", false),
        ] {
            let (one, other) = (ComparableName::new(one), ComparableName::new(other));
            assert_eq!(one.clashes(&other), expected, "{one:?} / {other:?}");
            assert_eq!(other.clashes(&one), expected, "{other:?} / {one:?}");
        }
    }
}
