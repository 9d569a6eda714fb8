//! Standalone sentences of a role that fit other occasions, searchable by similarity to a text.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Role;
use crate::schema::{DialogueTurn, Language};
use crate::text::bm25::Index;
use crate::text::{asks, has_name, is_han, is_title, length, sentences, spoken};

/// The maximum number of sentences for a reply.
const MAX_LINES: usize = 8;

static WORDS: LazyLock<WordFile> = LazyLock::new(|| embedded_toml!("example_lines.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordFile {
    en: EnglishWords,
    zh: ChineseWords,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishWords {
    /// First words that refer back, separated by whitespace.
    refers_back: String,
    /// Words that show that a sentence makes a statement, separated by whitespace.
    statement: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChineseWords {
    /// Beginnings that refer back.
    refers_back: Vec<String>,
}

/// Whether a list of words separated by whitespace has a word.
fn has_word(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// The standalone sentences of a role, indexed for search.
pub(in crate::stages::instruct) struct ExampleLines {
    all: Vec<String>,
    index: Index,
}

impl ExampleLines {
    /// Collects them from the role's turns, or from the lines of its file if it has no turns. If no sentence stands
    /// alone, all that are not questions are used.
    pub(in crate::stages::instruct) fn new(role: &Role) -> Self {
        let own: Vec<&str> =
            role.dialogue.iter().filter(|turn| turn.role == role.name).map(|turn| spoken(&turn.content)).collect();
        let own = if own.is_empty() { role.lines.iter().map(String::as_str).collect() } else { own };
        let others: BTreeSet<&str> = role
            .dialogue
            .iter()
            .map(|turn| turn.role.as_str())
            .filter(|name| *name != role.name && *name != DialogueTurn::NARRATOR)
            .collect();
        let statements: Vec<&str> =
            own.iter().flat_map(|line| sentences(line)).filter(|sentence| !asks(sentence)).collect();
        let distinct = |fits: &dyn Fn(&str) -> bool| {
            let mut used = BTreeSet::new();
            let fit = statements.iter().filter(|sentence| fits(sentence) && used.insert(**sentence));
            fit.map(|sentence| (*sentence).to_owned()).collect::<Vec<String>>()
        };
        let mut all = distinct(&|sentence| is_standalone(sentence, &others, role.language));
        if all.is_empty() {
            all = distinct(&|sentence| length(sentence, role.language) > 1);
        }
        Self { index: Index::new(&all), all }
    }

    /// Returns sentences, the most similar to a text first; if fewer share a word with it, others evenly spread over
    /// all are added.
    pub(in crate::stages::instruct) fn nearest(&self, text: &str) -> Vec<String> {
        let mut indices: Vec<usize> =
            self.index.nearest(text, MAX_LINES / 2).into_iter().map(|(index, _)| index).collect();
        let step = self.all.len().div_ceil(MAX_LINES).max(1);
        // The offset depends on the text; otherwise a role would add the same sentences everywhere.
        let start = text.chars().map(|c| c as usize).sum::<usize>() % step;
        for index in (start..self.all.len()).step_by(step).chain(0..self.all.len()) {
            if indices.len() >= MAX_LINES {
                break;
            }
            if !indices.contains(&index) {
                indices.push(index);
            }
        }
        indices.into_iter().map(|index| self.all[index].clone()).collect()
    }
}

/// Whether a sentence fits another occasion: complete, of medium length, without references back and without names.
fn is_standalone(sentence: &str, others: &BTreeSet<&str>, language: Language) -> bool {
    let bounds = if language == Language::Zh { 6..=26 } else { 4..=16 };
    let quotes = |c: char| matches!(c, '“' | '”' | '"' | '‘' | '「' | '」' | '『' | '』' | ':' | '：');
    bounds.contains(&length(sentence, language))
        && sentence.ends_with(['.', '!', '。', '！'])
        && !sentence.contains(quotes)
        && match language {
            Language::En => {
                let words: Vec<&str> = sentence.split_whitespace().collect();
                let normalized = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
                let is_name = |word: &&str| {
                    word.starts_with(char::is_uppercase)
                        && !matches!(normalized(word).split(['\'', '’']).next(), Some("i"))
                };
                sentence.starts_with(char::is_uppercase)
                    && !has_word(&WORDS.en.refers_back, &normalized(words[0]))
                    && words.iter().any(|word| has_word(&WORDS.en.statement, &normalized(word).replace('’', "'")))
                    && !words[1..].iter().any(is_name)
            }
            Language::Zh => {
                let mentions = |name: &&&str| {
                    let given_name: String = name.chars().skip(1).collect();
                    has_name(sentence, name)
                        || (given_name.chars().filter(|c| is_han(*c)).count() > 1 && sentence.contains(&given_name))
                };
                let is_address = sentence.split(['，', '！', '、']).next().is_some_and(is_title);
                !WORDS.zh.refers_back.iter().any(|word| sentence.starts_with(word.as_str()))
                    && !is_address
                    && !others.iter().any(|name| mentions(&name))
            }
        }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{act, role};
    use super::*;

    #[test]
    fn only_standalone_sentences_are_example_lines() {
        let acts = [act(&[
            "Bo: Is the lamp lit?",
            "Ann: (turns) The lamp is lit and the oil is low. On the shelf by the door. He said so. Ask the miller, Bo.",
            "Bo: Did you sell the boat?",
            "Ann: A boat is never sold, only lent. Did you think otherwise? But no.",
        ])];
        let sayings = ExampleLines::new(&role("Ann", Language::En, &acts));
        assert_eq!(sayings.all, ["The lamp is lit and the oil is low.", "A boat is never sold, only lent."]);
        assert_eq!(sayings.nearest("How is a boat built?")[0], "A boat is never sold, only lent.");
        assert_eq!(sayings.nearest("Zebra").len(), 2, "something to say there always is");
        let acts = [act(&["老周: 船还来么？", "阿满: 水不骗人，船总要来的。那便等着。老周，你先回去。你急什么？"])];
        let sayings = ExampleLines::new(&role("阿满", Language::Zh, &acts));
        assert_eq!(sayings.all, ["水不骗人，船总要来的。"]);
        let acts = [act(&[
            "老周: 船還來麼？",
            "阿滿: 水不騙人，船總要來的。這就是命，誰躲得了。還有三里水路。卻沒有人來接。不過水總會退。倒是個好天氣。",
        ])];
        assert_eq!(ExampleLines::new(&role("阿滿", Language::Zh, &acts)).all, ["水不騙人，船總要來的。"]);
        let acts = [act(&["Bo: Well?", "Ann: So it is."])];
        assert_eq!(ExampleLines::new(&role("Ann", Language::En, &acts)).all, ["So it is."]);
    }
}
