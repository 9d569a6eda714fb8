//! The tables from which the offline engine builds worlds and characters, and the filling of their slots.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::schema::{Attribute, Language};

/// The tables of one language. The slots are documented in `tables.en.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tables {
    women: String,
    men: String,
    families: String,
    pub(crate) ages: String,
    pub(crate) female: String,
    pub(crate) male: String,
    pub(crate) world: [String; 2],
    pub(crate) themes: Vec<Theme>,
    pub(crate) looks: Vec<String>,
    pub(crate) formative: Vec<String>,
    pub(crate) memories: Vec<String>,
    pub(crate) relations: Vec<String>,
    pub(crate) secrets: Vec<String>,
    pub(crate) fears: Vec<String>,
    pub(crate) wants: Vec<String>,
    pub(crate) further: Vec<Attribute>,
    pub(crate) situations: Vec<String>,
    pub(crate) general: Vec<String>,
    pub(crate) places: Vec<Place>,
    pub(crate) trades: Vec<Occupation>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) tensions: Vec<Tension>,
    pub(crate) hobbies: Vec<Hobby>,
    pub(crate) temperaments: Vec<Temperament>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Theme {
    pub(crate) name: String,
    pub(crate) merit: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) setting: String,
    pub(crate) society: String,
    pub(crate) master: String,
    pub(crate) folk: String,
    pub(crate) hazard: String,
    pub(crate) meal: String,
    pub(crate) facts: Vec<String>,
    pub(crate) occupations: Vec<Occupation>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Occupation {
    pub(crate) title: String,
    pub(crate) work: String,
    pub(crate) tool: String,
    pub(crate) goods: String,
    pub(crate) history: String,
    pub(crate) facts: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) custom: String,
    pub(crate) text: String,
    pub(crate) secret: String,
    pub(crate) lines: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tension {
    pub(crate) stake: String,
    pub(crate) text: String,
    pub(crate) sides: Vec<String>,
    pub(crate) wants: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hobby {
    pub(crate) doing: String,
    pub(crate) detail: String,
    pub(crate) lines: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Temperament {
    pub(crate) label: String,
    pub(crate) persona: String,
    pub(crate) speech: String,
    pub(crate) actions: Vec<String>,
    pub(crate) frames: Vec<String>,
}

static EN: LazyLock<Tables> = LazyLock::new(|| parse(source(Language::En)));
static ZH: LazyLock<Tables> = LazyLock::new(|| parse(source(Language::Zh)));

const fn source(language: Language) -> &'static str {
    match language {
        Language::En => include_str!("tables.en.toml"),
        Language::Zh => include_str!("tables.zh.toml"),
    }
}

fn parse<T: DeserializeOwned>(source: &str) -> T {
    toml::from_str(source).expect("the tables are embedded and tested")
}

/// Returns all texts of a language's tables, as a sample of usual profile texts.
pub(crate) fn texts(language: Language) -> Vec<String> {
    fn gather(value: toml::Value, texts: &mut Vec<String>) {
        match value {
            toml::Value::String(text) => texts.push(text),
            toml::Value::Array(values) => values.into_iter().for_each(|value| gather(value, texts)),
            toml::Value::Table(table) => table.into_iter().for_each(|(_, value)| gather(value, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    gather(parse(source(language)), &mut texts);
    texts
}

impl Tables {
    /// Returns the tables of a language.
    pub(crate) fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &EN,
            Language::Zh => &ZH,
        }
    }

    /// Returns the given names of a place, women's first, each with whether it is a woman's. Each place has its own
    /// part of the list, so that characters of different worlds have different names.
    pub(crate) fn given(&self, place: usize) -> Vec<(&str, bool)> {
        let women = part(&self.women, place, self.places.len()).into_iter().map(|name| (name, true));
        women.chain(part(&self.men, place, self.places.len()).into_iter().map(|name| (name, false))).collect()
    }

    /// Returns the family names of a place.
    pub(crate) fn families(&self, place: usize) -> Vec<&str> {
        part(&self.families, place, self.places.len())
    }
}

/// Returns one of `count` equal parts of a list of words.
fn part(words: &str, index: usize, count: usize) -> Vec<&str> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let size = words.len() / count;
    words.into_iter().skip(index * size).take(size).collect()
}

/// The values of slots.
pub(crate) type Slots = BTreeMap<&'static str, String>;

/// Fills the slots of a text. The value of a capitalized slot (`{Master}`) and the beginnings of sentences are
/// capitalized.
///
/// A slot without a value is left as is; a test checks that there is none.
pub(crate) fn fill(frame: &str, slots: &Slots) -> String {
    let mut text = String::with_capacity(frame.len() * 2);
    let mut rest = frame;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((key, after)) = after.split_once('}') else {
            text.push('{');
            rest = after;
            continue;
        };
        let small = key.to_lowercase();
        match slots.get(small.as_str()) {
            Some(value) if small == key => text.push_str(value),
            Some(value) => text.push_str(&capitalised(value)),
            None => text.extend(["{", key, "}"]),
        }
        rest = after;
    }
    text.push_str(rest);
    sentences(&text)
}

/// Returns a text with its first letter in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Capitalizes the first letter of each sentence.
fn sentences(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut ended, mut begins) = (false, true);
    for c in text.chars() {
        if begins && c.is_alphabetic() {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
        begins = (begins && !c.is_alphanumeric()) || (ended && c.is_whitespace());
        ended = matches!(c, '.' | '?' | '!');
    }
    out
}

/// Returns an English noun with its indefinite article.
pub(crate) fn indefinite(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']) || noun.starts_with("hour");
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_filled_and_sentences_begin_in_capitals() {
        let slots = Slots::from([("master", "the Warden".to_owned()), ("work", "raking salt".to_owned())]);
        for (frame, expected) in [
            ("{master} waits. {work} too?", "The Warden waits. Raking salt too?"),
            ("ask {master}, {nobody} else", "Ask the Warden, {nobody} else"),
            ("So {Master} it is { now", "So The Warden it is { now"),
            ("{work}！{master}", "Raking salt！the Warden"),
        ] {
            assert_eq!(fill(frame, &slots), expected);
        }
    }

    #[test]
    fn nouns_have_their_article() {
        for (noun, expected) in [("ice staff", "an ice staff"), ("rake", "a rake"), ("hour glass", "an hour glass")] {
            assert_eq!(indefinite(noun), expected);
        }
    }

    #[test]
    fn tables_are_large_enough() {
        for language in Language::ALL {
            let tables = Tables::of(language);
            let sizes = [
                tables.themes.len(),
                tables.places.len(),
                tables.rules.len(),
                tables.tensions.len(),
                tables.looks.len(),
                tables.hobbies.len(),
            ];
            assert!(sizes.iter().all(|size| *size >= 12), "{language}: {sizes:?}");
            assert!(tables.temperaments.len() >= 8);
            assert!(tables.temperaments.iter().all(|temperament| temperament.frames.len() >= 10));
            for place in 0..tables.places.len() {
                assert_eq!((tables.given(place).len(), tables.families(place).len()), (6, 6), "{language} {place}");
            }
        }
    }

    #[test]
    fn frames_have_a_slot_that_no_other_world_fills_alike() {
        for language in Language::ALL {
            let tables = Tables::of(language);
            let frames = tables.temperaments.iter().flat_map(|temperament| &temperament.frames);
            let frames = frames.chain(tables.hobbies.iter().flat_map(|hobby| &hobby.lines));
            let frames = frames.chain(tables.rules.iter().flat_map(|rule| &rule.lines));
            let frames = frames.chain(tables.tensions.iter().flat_map(|tension| &tension.sides));
            let frames = frames.chain(tables.trades.iter().flat_map(|trade| &trade.facts)).chain(&tables.general);
            for frame in frames {
                assert!(frame.contains('{'), "{frame}");
            }
        }
    }
}
