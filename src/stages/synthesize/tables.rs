//! Tables of themes, places, customs, temperaments and phrases.
//!
//! The stage draws starting points for worlds from them; the offline engine builds its worlds and characters from them.

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
    family_names: String,
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
    pub(crate) fn given_names(&self, index: usize) -> Vec<(&str, bool)> {
        let women = part(&self.women, index, self.places.len()).into_iter().map(|name| (name, true));
        women.chain(part(&self.men, index, self.places.len()).into_iter().map(|name| (name, false))).collect()
    }

    /// Returns the family names of a place.
    pub(crate) fn family_names(&self, index: usize) -> Vec<&str> {
        part(&self.family_names, index, self.places.len())
    }
}

/// Returns one of `count` equal parts of a list of words.
fn part(words: &str, index: usize, count: usize) -> Vec<&str> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let size = words.len() / count;
    words.into_iter().skip(index * size).take(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            for index in 0..tables.places.len() {
                assert_eq!(
                    (tables.given_names(index).len(), tables.family_names(index).len()),
                    (6, 6),
                    "{language} {index}"
                );
            }
        }
    }

    #[test]
    fn every_frame_has_a_slot_specific_to_its_world() {
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
