//! Extracts the things that a text mentions, as phrases that a reply can refer to.

use super::words::{WORDS, latin_words};
use super::{is_han, sentences};
use crate::schema::Language;

/// A thing that was mentioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// The noun phrase alone, such as `old bell` or `账册`.
    pub noun: String,
    /// The phrase as another speaker can use it: `the old bell`, even if the speaker said `my old bell`, since the
    /// addressee is not known. In Chinese, the noun.
    pub phrase: String,
}

/// Returns the things that a text mentions, in order, without repeats.
///
/// English: a determiner and up to three words, before a word that cannot belong to the phrase. Chinese: known nouns,
/// and nouns after a measure word. Precision is preferred to recall.
#[must_use]
pub fn topics(text: &str, language: Language) -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::new();
    for sentence in sentences(text) {
        let found = match language {
            Language::En => english(sentence),
            Language::Zh => chinese(sentence),
        };
        for topic in found {
            if !topics.iter().any(|known| known.noun == topic.noun) {
                topics.push(topic);
            }
        }
    }
    topics
}

fn english(sentence: &str) -> Vec<Topic> {
    let mut topics = Vec::new();
    // A clause ends at any punctuation mark, and no phrase crosses one.
    for clause in sentence.split(|c: char| !(c.is_alphanumeric() || c.is_whitespace() || matches!(c, '-' | '\'' | '’')))
    {
        let words: Vec<String> = latin_words(clause).collect();
        let printed: Vec<&str> = clause.split_whitespace().collect();
        // Capitalised words inside a sentence are names, whose case must be kept; phrases with them are skipped.
        let capital = |at: usize| printed.len() == words.len() && printed[at].starts_with(char::is_uppercase);
        for (at, determiner) in words.iter().enumerate() {
            if !WORDS.en.determiners.contains(determiner) {
                continue;
            }
            let length = words[at + 1..].iter().take_while(|word| !WORDS.en.followers.contains(word)).count();
            // The word after a plural is its verb: `the causeways drown`.
            let plural =
                words[at + 1..=at + length].iter().position(|word| word.ends_with('s') && !word.ends_with("ss"));
            let length = plural.map_or(length, |plural| plural + 1);
            if !(1..=3).contains(&length) {
                continue;
            }
            let phrase = &words[at + 1..=at + length];
            let head = phrase.last().expect("the length is between 1 and 3");
            if phrase.iter().any(|word| !fits(word)) || !is_thing(head) || (at + 1..=at + length).any(capital) {
                continue;
            }
            let noun = phrase.join(" ");
            let opener = match determiner.as_str() {
                "his" | "her" | "our" | "their" => determiner,
                "these" | "those" => "those",
                _ => "the",
            };
            topics.push(Topic { phrase: format!("{opener} {noun}"), noun });
        }
    }
    topics
}

fn fits(word: &str) -> bool {
    !word.contains('\'')
        && word.chars().all(|c| c.is_alphabetic() || c == '-')
        && !WORDS.en.determiners.contains(word)
        && !WORDS.en.not_things.contains(word)
        && !["ly", "ed"].iter().any(|ending| word.ends_with(ending))
        && (!WORDS.en.stop.contains(word))
}

fn is_thing(word: &str) -> bool {
    word.chars().count() > 2 && !WORDS.en.not_topics.contains(word) && !word.ends_with("ing") && !word.ends_with("est")
}

fn chinese(sentence: &str) -> Vec<Topic> {
    let chars: Vec<char> = sentence.chars().collect();
    let mut topics = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let found = (2..=4)
            .rev()
            .filter(|length| at + length <= chars.len())
            .map(|length| chars[at..at + length].iter().collect::<String>())
            .find(|word| WORDS.zh.nouns.contains(word))
            .or_else(|| counted(&chars, at));
        if let Some(noun) = found {
            at += noun.chars().count();
            if !WORDS.zh.not_topics.contains(&noun) {
                topics.push(Topic { phrase: noun.clone(), noun });
            }
        } else {
            at += 1;
        }
    }
    topics
}

/// Returns the two characters after a measure word if they are content characters followed by punctuation or the end.
fn counted(chars: &[char], at: usize) -> Option<String> {
    let is = |list: &super::words::List, c: char| list.contains(&c.to_string());
    let counting = at >= 2
        && is(&WORDS.zh.measures, chars[at - 1])
        && (matches!(chars[at - 2], '这' | '那' | '几' | '半') || "一两二三四五六七八九十".contains(chars[at - 2]));
    if !counting {
        return None;
    }
    let word = chars.get(at..at + 2)?;
    let closed = chars.get(at + 2).is_none_or(|c| !is_han(*c));
    let heavy = word.iter().all(|c| is_han(*c) && !is(&WORDS.zh.stop, *c));
    (closed && heavy && !"话事人天年月日回次样疤伤眼眉脸手脚血泪".contains(word[1])).then(|| word.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str, language: Language) -> Vec<String> {
        topics(text, language).into_iter().map(|topic| topic.phrase).collect()
    }

    #[test]
    fn english_topics_are_found() {
        for (text, expected) in [
            ("The old bell is down in the tower book at four hundred.", vec!["the old bell", "the tower book"]),
            ("I left my umbrella, and a deed-box under it.", vec!["the umbrella", "the deed-box"]),
            ("The wall broke just there.", vec![]),
            ("My grandfather wrote it.", vec![]),
            ("I’ve kept my curtains drawn.", vec!["the curtains"]),
            ("I left the door open.", vec!["the door"]),
            ("The causeways drown twice a day.", vec!["the causeways"]),
            ("I’ve moved the posts three times.", vec!["the posts"]),
            ("It was the fourth of October, and the doctor came.", vec![]),
            ("That’s the way of the thing.", vec![]),
            ("Have you come to find the Bailiff?", vec![]),
        ] {
            assert_eq!(phrases(text, Language::En), expected, "{text}");
        }
    }

    #[test]
    fn chinese_topics_are_found() {
        for (text, expected) in
            [("账簿在你东家柜里！", vec!["账簿"]), ("拿一面旧幡，挂起来。", vec!["旧幡"]), ("这一句实在的话。", vec![])]
        {
            assert_eq!(phrases(text, Language::Zh), expected, "{text}");
        }
    }
}
