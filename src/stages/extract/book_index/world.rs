//! What a book shows of its world: sentences of its opening on place, time and society, and what it mentions most
//! often. The same for every scene of a book; contains no plot.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::names::Names;
use super::narration::Sentence;
use crate::schema::Language;
use crate::stages::extract::lexicon::{Patterns, Script, english as english_pattern, list};
use crate::text::{is_han, is_sentence_opener, is_title};

/// The number of sentences at the start of a story that are considered.
const OPENING: usize = 240;

/// Returns at most three sentences that describe the world, in book order. `story` begins with the first sentence of
/// the story.
pub(crate) fn opening(story: &[Sentence], language: Language) -> Vec<String> {
    let words = Patterns::of(language);
    let most = if language == Language::Zh { 120 } else { 340 };
    let mut scored: Vec<(usize, usize)> = Vec::new();
    for (at, sentence) in story.iter().take(OPENING).enumerate() {
        let setting = words.setting(&sentence.text);
        let length = sentence.text.chars().count();
        // The first sentence of a story sets the scene, regardless of narrator and length.
        let first = at == 0 && setting > 0 && length <= 2 * most;
        let world = sentence.is_standalone
            && !sentence.first_person
            && !words.is_remark(&sentence.text)
            && length <= most
            && setting >= 2
            && words.sets_world(&sentence.text)
            && (sentence.people.is_empty() || at < 12);
        if first || world {
            let early = usize::from(at < 40) + 2 * usize::from(at < 12);
            scored.push((setting * 2 + early + 9 * usize::from(first) - usize::from(!sentence.people.is_empty()), at));
        }
    }
    scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    let mut chosen: Vec<usize> = scored.into_iter().take(3).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| story[at].text.clone()).collect()
}

static WORDS: LazyLock<WorldFile> = LazyLock::new(|| embedded_toml!("world.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldFile {
    en: EnglishWorld,
    zh: ChineseWorld,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishWorld {
    /// Ranks and trades: singular and plural.
    ranks: Vec<(String, String)>,
    /// Things that characterize a way of life: the counted word and the displayed one.
    things: Vec<(String, String)>,
    /// Capitalized words that are not places, separated by whitespace.
    no_place: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChineseWorld {
    /// Ranks and trades: variants of one word.
    ranks: Vec<Vec<String>>,
    /// Things that characterize a way of life: variants of one word.
    things: Vec<Vec<String>>,
    /// Last characters of place names.
    place_endings: String,
    /// Characters that no place name contains.
    not_in_places: String,
}

static PLACE_EN: LazyLock<Regex> = LazyLock::new(|| {
    english_pattern(
        r"\b(?:[Ii]n|[Aa]t|[Nn]ear|reached|[Ff]rom|[Tt]o) (?:the )?((?:St\. )?\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?)",
    )
});

static PLACE_ZH: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(
        r"(?:[到往至进進回出在离離]|来到|來到|住在)((?:[\x{{4e00}}-\x{{9fff}}]){{1,3}}[{}])",
        WORDS.zh.place_endings
    );
    Regex::new(&pattern).expect("the pattern is built in and tested")
});

/// Returns a sentence on what a book mentions most often, or `None` if nothing recurs.
pub(crate) fn counted(text: &str, script: Script, names: &Names) -> Option<String> {
    if script == Script::Latin { english(text, names) } else { chinese(text, script, names) }
}

fn english(text: &str, names: &Names) -> Option<String> {
    let known: HashMap<&str, (bool, &str)> = [(true, &WORDS.en.ranks), (false, &WORDS.en.things)]
        .into_iter()
        .flat_map(|(is_rank, words)| words.iter().map(move |(one, many)| (is_rank, one.as_str(), many.as_str())))
        .flat_map(|(is_rank, one, many)| [(one, (is_rank, many)), (many, (is_rank, many))])
        .collect();
    let no_place: HashSet<&str> = WORDS.en.no_place.split_whitespace().collect();
    let mut counts: BTreeMap<(bool, &str), u32> = BTreeMap::new();
    let mut total = 0_u32;
    for word in text.split(|c: char| !(c.is_alphabetic() || c == '-')) {
        total += u32::from(!word.is_empty());
        // A capitalized title refers to a person.
        if word.starts_with(char::is_lowercase)
            && let Some(entry) = known.get(word)
        {
            *counts.entry(*entry).or_default() += 1;
        }
    }
    let least = (total / 8000).max(3);
    let top = |rank: bool| {
        let mut found: Vec<(u32, &str)> = counts
            .iter()
            .filter(|((is_rank, _), count)| *is_rank == rank && **count >= least)
            .map(|((_, word), count)| (*count, *word))
            .collect();
        found.sort_by_key(|(count, word)| (std::cmp::Reverse(*count), *word));
        found.into_iter().take(4).map(|(_, word)| word.to_owned()).collect::<Vec<_>>()
    };
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    for found in PLACE_EN.captures_iter(text).filter_map(|found| found.get(1)) {
        let (start, mut place) = (found.start(), found.as_str());
        // A partial word is not a name.
        if text[found.end()..].starts_with(char::is_alphanumeric) {
            let Some((shorter, _)) = place.rsplit_once(' ').filter(|(shorter, _)| !shorter.ends_with('.')) else {
                continue;
            };
            place = shorter;
        }
        let first = place.split(' ').next().unwrap_or(place);
        // `In Quern Anna` names a place and a person; `in the Golden Anna` is an inn sign.
        if first.len() < place.len() && !names.find(&place[first.len() + 1..]).is_empty() {
            if text[..start].ends_with("the ") {
                continue;
            }
            place = first;
        }
        if known.contains_key(first.to_lowercase().as_str()) && first.len() == place.len() {
            continue;
        }
        if names.find(place).is_empty() && !no_place.contains(first) && !is_title(place) && !is_sentence_opener(place) {
            *places.entry(place).or_default() += 1;
        }
    }
    let places = most(places, (total / 12_000).max(3));
    let (ranks, things) = (top(true), top(false));
    let mut parts: Vec<String> = Vec::new();
    if !ranks.is_empty() {
        parts.push(format!("of {}", list(&ranks, Language::En)));
    }
    if !things.is_empty() {
        parts.push(format!("of {}", list(&things, Language::En)));
    }
    let world = format!("It is a world {}", parts.join(", "));
    match (parts.is_empty(), places.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("{world}.")),
        (true, false) => Some(format!("Places named most are {}.", list(&places, Language::En))),
        (false, false) => Some(format!("{world}; places named most are {}.", list(&places, Language::En))),
    }
}

fn chinese(text: &str, script: Script, names: &Names) -> Option<String> {
    let total = u32::try_from(text.len() / 3).unwrap_or(u32::MAX);
    let least = (total / 10_000).max(3);
    let mut forms: Vec<(&str, (bool, usize))> = Vec::new();
    for (rank, table) in [(true, &WORDS.zh.ranks), (false, &WORDS.zh.things)] {
        for (at, words) in table.iter().enumerate() {
            forms.extend(words.iter().map(|word| (word.as_str(), (rank, at))));
        }
    }
    let pattern = forms.iter().map(|(form, _)| *form).collect::<Vec<_>>().join("|");
    let pattern = Regex::new(&pattern).expect("the words contain no regex syntax");
    let owners: BTreeMap<&str, (bool, usize)> = forms.into_iter().collect();
    let mut counts: BTreeMap<(bool, usize), (u32, &str)> = BTreeMap::new();
    for found in pattern.find_iter(text) {
        if let Some(owner) = owners.get(found.as_str()) {
            let entry = counts.entry(*owner).or_insert((0, found.as_str()));
            entry.0 += 1;
        }
    }
    let top = |rank: bool| {
        let mut found: Vec<(u32, usize, &str)> = counts
            .iter()
            .filter(|((is_rank, _), (count, _))| *is_rank == rank && *count >= least)
            .map(|((_, at), (count, word))| (*count, *at, *word))
            .collect();
        found.sort_by_key(|(count, at, _)| (std::cmp::Reverse(*count), *at));
        found.into_iter().take(5).map(|(_, _, word)| word.to_owned()).collect::<Vec<_>>()
    };
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    for found in PLACE_ZH.captures_iter(text).filter_map(|found| found.get(1)) {
        let place = found.as_str();
        let clean = place.chars().all(|c| is_han(c) && !WORDS.zh.not_in_places.contains(c));
        if clean && names.find(place).is_empty() {
            *places.entry(place).or_default() += 1;
        }
    }
    let places = most(places, (total / 50_000).max(3));
    let (ranks, things) = (top(true), top(false));
    let mut parts: Vec<String> = Vec::new();
    if !places.is_empty() {
        parts.push(format!("{}{}{}", script.write("故事多在"), places.join("、"), script.write("一带")));
    }
    if !ranks.is_empty() {
        parts.push(format!("{}{}", script.write("来往的人里有"), ranks.join("、")));
    }
    if !things.is_empty() {
        parts.push(format!("{}{}", script.write("常说起的是"), things.join("、")));
    }
    (!parts.is_empty()).then(|| format!("{}。", parts.join("，")))
}

/// Returns the places mentioned most often, at most four.
fn most(places: BTreeMap<&str, u32>, least: u32) -> Vec<String> {
    let mut places: Vec<(u32, &str)> =
        places.into_iter().filter(|(_, count)| *count >= least).map(|(place, count)| (count, place)).collect();
    places.sort_by_key(|(count, place)| (std::cmp::Reverse(*count), *place));
    places.into_iter().take(4).map(|(_, place)| place.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::extract::fixtures::{EN, EN_PEOPLE, ZH, ZH_PEOPLE, attribution};

    fn names(people: &[(&str, &[&str], crate::attribution::Gender)], text: &str) -> Names {
        Names::new(&attribution(text, people, &[]).people)
    }

    #[test]
    fn the_worldview_lists_what_the_book_names_often() {
        let text = "Anna lived in Quern. The miller came from Quern with a ledger. In Quern Anna asked the miller for a ledger. \
                    At Anna the miller laughed, and shut the ledger. In March, in March, in March it rained. ";
        assert_eq!(
            counted(text, Script::Latin, &names(EN_PEOPLE, EN)).as_deref(),
            Some("It is a world of millers, of ledgers; places named most are Quern.")
        );
        let text = "陆平到清水县，知县请他喝茶。陆平在清水县见了知县，喝了茶。周老七回清水县去，知县又叫人送茶。";
        assert_eq!(
            counted(text, Script::Simplified, &names(ZH_PEOPLE, ZH)).as_deref(),
            Some("故事多在清水县一带，来往的人里有知县，常说起的是茶。")
        );
        let text = "Anna lived in Orléans. Boris came from Orléans McRae. Near Orléans Anna stopped. \
                    At McRae’s, at McRae’s, at McRae’s, at McRae’s it rained.";
        assert_eq!(
            counted(text, Script::Latin, &names(EN_PEOPLE, EN)).as_deref(),
            Some("Places named most are Orléans.")
        );
        assert_eq!(counted("A cat.", Script::Latin, &names(EN_PEOPLE, EN)), None);
    }
}
