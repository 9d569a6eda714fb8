//! Whether a made-up character is too much like another one. Deterministic; asks nobody.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation as _;

use super::faults::clash;
use crate::schema::{Character, Reject};

/// The likeness of two profiles from which they are one character in two hands.
const MOST_LIKENESS: f64 = 0.5;

/// What a character is too much like.
#[derive(Debug, Clone, PartialEq)]
pub struct Resemblance {
    /// The other character's name.
    pub other: String,
    /// Whether the names could be taken for the same.
    pub same_name: bool,
    /// The likeness of the profiles, 0 to 1: Dice's coefficient over pairs of neighbouring words (Chinese: characters).
    pub likeness: f64,
}

impl Resemblance {
    /// Returns the reject of a character that is left out for it.
    #[must_use]
    pub fn reject(&self, character: &Character) -> Reject {
        let how = if self.same_name { "has the name of" } else { "is too much like" };
        let detail = format!("{} {how} {} (likeness of the profiles {:.2})", character.name, self.other, self.likeness);
        Reject::new("synthesize", character.id.clone(), "resembles", detail)
    }
}

/// Returns the first of the others that a character is too much like; itself (by id) is passed over only where it is the
/// same record.
#[must_use]
pub fn resembles(character: &Character, others: &[Character]) -> Option<Resemblance> {
    let own = pairs(character);
    others.iter().filter(|other| !std::ptr::eq(*other, character)).find_map(|other| {
        let names = std::iter::once(&other.name).chain(&other.aliases);
        let same_name = names.into_iter().any(|name| clash(&character.name, name));
        let likeness = dice(&own, &pairs(other));
        (same_name || likeness >= MOST_LIKENESS).then(|| Resemblance { other: other.name.clone(), same_name, likeness })
    })
}

/// Returns the pairs of neighbouring words in a character's profile.
fn pairs(character: &Character) -> BTreeSet<(String, String)> {
    let mut pairs = BTreeSet::new();
    for attribute in &character.profile {
        let words: Vec<String> = attribute.value.unicode_words().map(str::to_lowercase).collect();
        pairs.extend(words.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())));
    }
    pairs
}

#[expect(clippy::cast_precision_loss, reason = "a profile has far fewer than 2^52 words")]
fn dice<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> f64 {
    let all = one.len() + other.len();
    if all == 0 { 0.0 } else { 2.0 * one.intersection(other).count() as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Attribute, CharacterType, Language, Visibility};

    fn character(name: &str, aliases: &[&str], value: &str) -> Character {
        Character {
            id: crate::schema::slug(name),
            name: name.to_owned(),
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
            language: Language::En,
            kind: CharacterType::Synthesized,
            book: None,
            worldview: None,
            profile: vec![Attribute { key: "x".to_owned(), value: value.to_owned(), visibility: Visibility::Public }],
            lines: Vec::new(),
            model: None,
        }
    }

    #[test]
    fn names_and_profiles_are_compared() {
        let one = character("Hob Wragg", &[], "He keeps the east gate and never sleeps before dawn.");
        let own_words = character("Orrie Dace", &[], "She sells eels by the weir, loudly, and owes everyone.");
        let same_words = character("Ives Stope", &[], "He keeps the east gate and never sleeps before noon.");
        let same_alias = character("The Warden", &["Hob Wragg"], "Someone else.");
        assert_eq!(resembles(&one, std::slice::from_ref(&own_words)), None);
        assert_eq!(resembles(&one, &[]), None);
        let found = resembles(&one, &[own_words, same_words.clone()]).expect("the same words");
        assert_eq!((found.other.as_str(), found.same_name), ("Ives Stope", false));
        assert!(found.likeness > 0.8, "{}", found.likeness);
        let found = resembles(&one, &[same_alias]).expect("the same name");
        let reject = found.reject(&one);
        assert_eq!((reject.id.as_str(), reject.reason.as_str()), ("hob-wragg", "resembles"));
        assert!(reject.detail.contains("The Warden"), "{}", reject.detail);
        let known = [same_words];
        assert_eq!(resembles(&known[0], &known), None);
    }

    #[test]
    fn chinese_is_compared_by_pairs_of_characters() {
        let one = character("沐知微", &[], "她在西田耙盐多年，话少，爱看人的手。");
        let like = character("阙守拙", &[], "他在西田耙盐多年，话少，爱看人的脸。");
        let unlike = character("晏东篱", &[], "管着四十只鸟，逢人就笑。");
        assert!(resembles(&one, &[unlike]).is_none());
        assert!(resembles(&one, &[like]).is_some());
    }
}
