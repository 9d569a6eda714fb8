//! Rule-based comparison of characters: similar names and similar profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::names::clash;
use super::tables::texts;
use crate::schema::{Attribute, Character, Language, Reject, RejectReason, Stage};
use crate::text::bm25::{B, K1, Terms, idf};
use crate::text::float;

/// Minimum similarity at which two profiles count as the same character.
///
/// Measured on invented characters, 24 per language and six seeds, some compared with 68 characters of six novels: the
/// similarity of different characters is at most 0.48; a copy with two thirds of its keys has at least 0.69, and one
/// with half of each value about 0.5. Paraphrases are not detected here; a model is asked about them
/// (`synthesize/known`).
pub(super) const MIN_PROFILE_SIMILARITY: f64 = 0.5;

/// The resemblance of a character to another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Resemblance {
    /// The other character's name.
    pub other: String,
    /// The slug of the other character's book, if it is from a book.
    pub book: Option<String>,
    /// The kind of resemblance.
    pub kind: ResemblanceKind,
}

/// How two characters resemble each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResemblanceKind {
    /// Their names could be mistaken for each other.
    Name,
    /// They share a part of their names. Scenes with such characters cannot be played.
    PartOfName {
        /// Number of scenes with a character who shares a part of the name.
        scenes: u64,
        /// Number of all scenes of the language.
        total: u64,
    },
    /// Their profiles are similar: the BM25 score of the other profile for this one as the query, divided by the score
    /// of this profile itself. 0 is unrelated, 1 is identical.
    Profile(f64),
}

impl Resemblance {
    /// Returns the reject of a character that is dropped because of this resemblance.
    #[must_use]
    pub fn reject(&self, character: &Character) -> Reject {
        Reject::new(Stage::Synthesize, character.id.clone(), RejectReason::Resembles, self.description(character))
    }

    /// Describes the resemblance.
    #[must_use]
    pub fn description(&self, character: &Character) -> String {
        let (name, book) = (&character.name, self.book.as_ref());
        let other = book.map_or_else(|| self.other.clone(), |book| format!("{} in `{book}`", self.other));
        match self.kind {
            ResemblanceKind::Name => format!("{name} has the same name as {other}"),
            ResemblanceKind::PartOfName { scenes, total } => format!(
                "{name} could be mistaken for {other}: {scenes} of {total} scenes in its language have a character with a similar name"
            ),
            ResemblanceKind::Profile(similarity) => {
                format!("{name} is too similar to {other} (profile similarity {similarity:.2})")
            }
        }
    }
}

/// Returns the resemblance to the first of `others` that the character resembles too much. The character itself is
/// skipped if it is the same reference.
#[must_use]
pub fn resembles(character: &Character, others: &[Character]) -> Option<Resemblance> {
    let own = ProfilePairs::of(character);
    others.iter().filter(|other| !std::ptr::eq(*other, character)).find_map(|other| {
        let mut names = std::iter::once(&other.name).chain(&other.aliases);
        let kind = if names.any(|name| clash(&character.name, name)) {
            ResemblanceKind::Name
        } else {
            let other = ProfilePairs::of(other);
            let similarity = own.similarity(other.length, |pair| other.terms.get(pair).copied().unwrap_or_default());
            (similarity >= MIN_PROFILE_SIMILARITY).then_some(ResemblanceKind::Profile(similarity))?
        };
        Some(Resemblance { other: other.name.clone(), book: other.book.clone(), kind })
    })
}

/// Calls `each` for every pair of adjacent words (in Chinese: characters) of a text. Pairs are used because single
/// English words discriminate too little: common words are half of every profile.
pub(super) fn pairs(tokenizer: &mut Terms, text: &str, language: Language, mut each: impl FnMut(&str)) {
    let mut pair = String::new();
    tokenizer.each(text, |term| match language {
        Language::En => {
            let is_first = pair.is_empty();
            pair.push_str(if is_first { "" } else { " " });
            let second = pair.len();
            pair.push_str(term);
            if !is_first {
                each(&pair);
            }
            pair.drain(..second);
        }
        Language::Zh => each(term),
    });
}

/// A profile as a multiset of pairs.
#[derive(Debug)]
pub(super) struct ProfilePairs {
    terms: BTreeMap<String, usize>,
    length: usize,
    language: Language,
    /// The score of the profile for itself.
    self_score: f64,
}

impl ProfilePairs {
    pub(super) fn of(character: &Character) -> Self {
        let mut profile = Self { terms: BTreeMap::new(), length: 0, language: character.language, self_score: 0.0 };
        let mut tokenizer = Terms::default();
        // Exclude the worldview, which all characters of a world share.
        let world = character.worldview.as_deref().map(str::trim);
        let is_own = |attribute: &&Attribute| Some(attribute.value.trim()) != world;
        for attribute in character.profile.iter().filter(is_own) {
            pairs(&mut tokenizer, &attribute.value, character.language, |pair| {
                *profile.terms.entry(pair.to_owned()).or_default() += 1;
                profile.length += 1;
            });
        }
        profile.self_score = profile.score(profile.length, |pair| profile.terms[pair]);
        profile
    }

    /// Returns the distinct pairs.
    pub(super) fn pairs(&self) -> impl Iterator<Item = &String> {
        self.terms.keys()
    }

    /// Returns the score of another profile relative to that of this one. `length` is the number of pairs of the other
    /// profile, and `count_in_other` returns how often it contains a pair.
    pub(super) fn similarity(&self, length: usize, count_in_other: impl Fn(&str) -> usize) -> f64 {
        if self.self_score > 0.0 { self.score(length, count_in_other) / self.self_score } else { 0.0 }
    }

    /// Returns the BM25 score of another profile with this one as the query.
    ///
    /// Document frequencies come from the embedded tables. If they came from the profiles of the run, adding a
    /// character would change the similarity of two others.
    fn score(&self, length: usize, count_in_other: impl Fn(&str) -> usize) -> f64 {
        let rarity = Rarity::of(self.language);
        let average = float(self.length + length) / 2.0;
        let length = K1 * (1.0 - B + B * float(length) / average.max(1.0));
        let part = |(term, count): (&String, &usize)| {
            let other_count = float(count_in_other(term));
            float(*count) * rarity.weight(term) * other_count * (K1 + 1.0) / (other_count + length)
        };
        self.terms.iter().map(part).sum()
    }
}

/// Document frequencies of pairs in the embedded tables of a language.
struct Rarity {
    texts: usize,
    with_term: BTreeMap<String, usize>,
}

impl Rarity {
    fn of(language: Language) -> &'static Self {
        static EN: LazyLock<Rarity> = LazyLock::new(|| Rarity::new(Language::En));
        static ZH: LazyLock<Rarity> = LazyLock::new(|| Rarity::new(Language::Zh));
        match language {
            Language::En => &EN,
            Language::Zh => &ZH,
        }
    }

    fn new(language: Language) -> Self {
        let texts = texts(language);
        let (mut with_term, mut tokenizer) = (BTreeMap::new(), Terms::default());
        for text in &texts {
            let mut terms = BTreeSet::new();
            pairs(&mut tokenizer, text, language, |pair| {
                terms.insert(pair.to_owned());
            });
            for term in terms {
                *with_term.entry(term).or_default() += 1;
            }
        }
        Self { texts: texts.len(), with_term }
    }

    fn weight(&self, term: &str) -> f64 {
        idf(self.texts, self.with_term.get(term).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{CharacterType, Visibility};

    fn character(name: &str, aliases: &[&str], value: &str) -> Character {
        Character {
            id: crate::schema::slug(name).into(),
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
        let found = resembles(&one, &[own_words, same_words.clone()]).expect("the profiles are similar");
        assert_eq!(found.other, "Ives Stope");
        assert!(matches!(found.kind, ResemblanceKind::Profile(similarity) if similarity > 0.8), "{found:?}");
        let found = resembles(&one, &[same_alias]).expect("the names are equal");
        assert_eq!(found.kind, ResemblanceKind::Name);
        let reject = found.reject(&one);
        assert_eq!((reject.id.as_str(), reject.reason.name()), ("hob-wragg", "resembles"));
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
