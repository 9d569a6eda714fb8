//! Facts about each person by profile key, from the narration and from what others say.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::names::Names;
use super::narration::Sentence;
use super::sentences::sentences;
use super::standalone_sentence::normalized_marks;
use crate::attribution::{Attribution, Gender};
use crate::schema::Language;
use crate::stages::extract::lexicon::{Patterns, ProfileKey, Script, quoted};

static WORDS: LazyLock<FactWords> = LazyLock::new(|| embedded_toml!("profile_facts.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactWords {
    en: EnglishWords,
    zh: ChineseWords,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishWords {
    /// Nouns for anyone of a sex, age or family relation.
    anybody: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChineseWords {
    /// Words after which a sentence is about someone else.
    other_subject: Vec<String>,
}

/// Collects facts about each person by profile key, keeping the first one or two sentences per key.
pub(super) fn narrated_facts(
    narration: &[Sentence],
    attribution: &Attribution,
    language: Language,
    names: &Names,
) -> Vec<Vec<(u32, ProfileKey, String)>> {
    let words = Patterns::of(language);
    let (least, most, reach) = if language == Language::Zh { (8, 100, 24) } else { (24, 260, 110) };
    let mut narrated_facts: Vec<Vec<(u32, ProfileKey, String)>> = vec![Vec::new(); attribution.people.len()];
    // How often the narration has named each person so far; only early mentions count as introductions.
    let mut times: Vec<u32> = vec![0; attribution.people.len()];
    for sentence in narration {
        let spans = names.spans(&sentence.text);
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        for (_, _, person) in &spans {
            if seen.insert(*person) {
                times[*person] += 1;
            }
        }
        let Some(person) = sentence.subject.filter(|_| !sentence.first_person) else { continue };
        let Some(at) = spans.iter().position(|(_, _, other)| *other == person) else { continue };
        let (start, end, _) = spans[at];
        let next =
            spans[at + 1..].iter().find(|(_, _, other)| *other != person).map_or(sentence.text.len(), |next| next.0);
        let facts = &mut narrated_facts[person];
        let has = |facts: &Vec<(u32, ProfileKey, String)>, key: ProfileKey| {
            facts.iter().filter(|(_, known, _)| *known == key).count()
        };
        if has(facts, ProfileKey::Age) == 0
            && let Some(age) = words.age(&sentence.text[start..next.min(own(&sentence.text, end, language))])
        {
            facts.push((sentence.end, ProfileKey::Age, age.to_owned()));
        }
        if !sentence.is_standalone || !(least..=most).contains(&sentence.text.chars().count()) {
            continue;
        }
        let rest = &sentence.text[end..];
        let after = rest.char_indices().nth(reach).map_or(rest, |(byte, _)| &rest[..byte]);
        let after = &after[..after.len().min(own(&sentence.text, end, language) - end)];
        let others = sentence.people.iter().filter(|other| **other != person).count();
        let before = &sentence.text[..start];
        let key =
            if times[person] <= 6 && words.introduces(before, after) && has(facts, ProfileKey::PublicBackground) == 0 {
                Some((ProfileKey::PublicBackground, 1))
            } else if words.states_relation(after) {
                Some((ProfileKey::Relationships, 2))
            } else if others == 0 && words.describes_appearance(after) {
                Some((ProfileKey::Appearance, 2))
            } else if others == 0 && words.describes_traits(after) {
                Some((ProfileKey::Persona, 2))
            } else if others == 0 && words.describes_hobbies(after) {
                Some((ProfileKey::Hobbies, 1))
            } else if others == 0 && words.describes_past(after) {
                Some((ProfileKey::PrivateBackground, 2))
            } else {
                None
            };
        if let Some((key, most)) = key
            && has(facts, key) < most
        {
            facts.push((sentence.end, key, sentence.text.clone()));
        }
    }
    narrated_facts
}

/// Returns where a sentence stops being about the person named up to `from`: what the person sees, or a second person's
/// description, is about someone else.
pub(super) fn own(text: &str, from: usize, language: Language) -> usize {
    match language {
        Language::Zh => WORDS
            .zh
            .other_subject
            .iter()
            .filter_map(|word| text[from..].find(word.as_str()))
            .min()
            .map_or(text.len(), |at| from + at),
        Language::En => text.len(),
    }
}

/// Whether an alias names a trade or office, and not just `the boy`.
pub(super) fn names_a_trade(alias: &str) -> bool {
    let word = alias.strip_prefix("the ").filter(|word| word.chars().all(|c| c.is_lowercase() || c == ' '));
    word.is_some_and(|word| {
        let last = word.rsplit(' ').next().unwrap_or(word);
        !WORDS.en.anybody.iter().any(|anybody| anybody == word || anybody == last)
    })
}

pub(super) const fn gender_word(gender: Gender, language: Language) -> Option<&'static str> {
    match (gender, language) {
        (Gender::Female, Language::En) => Some("female"),
        (Gender::Female, Language::Zh) => Some("女"),
        (Gender::Male, Language::En) => Some("male"),
        (Gender::Male, Language::Zh) => Some("男"),
        (Gender::Unknown, _) => None,
    }
}

/// Collects plain statements by characters about who or what another character is.
pub(super) fn statements_by_others(
    attribution: &Attribution,
    script: Script,
    names: &Names,
) -> Vec<Vec<(u32, String)>> {
    let language = script.language();
    let words = Patterns::of(language);
    let most = if language == Language::Zh { 50 } else { 140 };
    let mut statements_by_others: Vec<Vec<(u32, String)>> = vec![Vec::new(); attribution.people.len()];
    for quotation in &attribution.quotations {
        for (start, end, closed) in sentences(&quotation.text) {
            let sentence = &normalized_marks(&quotation.text[start..end]);
            if !closed || sentence.contains(['?', '？', '“', '‘']) || sentence.chars().count() > most {
                continue;
            }
            let Some((at, person)) = names.find(sentence).into_iter().next() else { continue };
            if quotation.speaker != Some(person)
                && Patterns::name_comes_first(language, at)
                && words.says_who(&sentence[at..])
            {
                let text = match language {
                    Language::En => format!("It is said: {}", quoted(sentence)),
                    Language::Zh => format!("{}：{}", script.write("有人说"), quoted(sentence)),
                };
                statements_by_others[person].push((quotation.end, text));
            }
        }
    }
    statements_by_others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_distinctive_nouns_are_names() {
        assert!(names_a_trade("the miller"));
        assert!(!names_a_trade("the boy") && !names_a_trade("the old man") && !names_a_trade("Anna"));
    }
}
