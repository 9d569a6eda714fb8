//! Question kinds: what a question asks for, whether an utterance answers it, and short generic answers.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::schema::{ByLanguage, Language};
use crate::text::{asks, content_words, sentences};

static KINDS: LazyLock<ByLanguage<Vec<QuestionKind>>> = LazyLock::new(|| embedded_toml!("question_kinds.toml"));

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AskedFor {
    Number,
    Why,
    Who,
    Where,
    When,
    Feeling,
    How,
    Opinion,
    Recall,
    /// What the listener says to it: `And you?`
    Turn,
    /// Yes or no.
    Yes,
    What,
    /// Anything else.
    Open,
}

/// A kind of question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionKind {
    /// What it asks for.
    name: AskedFor,
    /// Whether its words count anywhere in the question. English words of other kinds count only at the start of a clause.
    #[serde(default)]
    anywhere: bool,
    /// Words that identify the question, separated by `|`; empty for the fallback kind.
    question_words: String,
    /// Words that identify an answer, separated by `|`.
    answer_words: String,
    /// Short generic answers.
    pub(super) say: Vec<String>,
    /// Short generic answers to be followed by one of the speaker's own utterances.
    #[serde(default)]
    pub(super) lead: Vec<String>,
}

/// Returns the kind of the question with which a text ends. None if its last sentence is not a question.
pub(super) fn asked(text: &str, language: Language) -> Option<&'static QuestionKind> {
    let question = sentences(text).into_iter().next_back().filter(|sentence| asks(sentence))?;
    let kinds = KINDS.get(language);
    let spaced = spaced(question);
    let heads: Vec<String> = question.split([',', ';', ':', '—']).map(head).collect();
    let fits = |kind: &&QuestionKind| {
        let mut words = kind.question_words.split('|').filter(|word| !word.is_empty());
        match language {
            Language::Zh => words.any(|word| question.contains(word)),
            Language::En => words.any(|word| spaced.contains(&format!(" {word} "))),
        }
    };
    // Words of these kinds take precedence over the form of the question.
    let first = kinds.iter().filter(|kind| kind.anywhere).find(fits);
    let asks_so = |head: &String, kind: &&QuestionKind| {
        kind.question_words.split('|').any(|word| !word.is_empty() && head.starts_with(&format!(" {word} ")))
    };
    // The first clause decides: `What does it cost, where you live?` does not ask for a place.
    let of_head = || heads.iter().find_map(|head| kinds.iter().find(|kind| asks_so(head, kind)));
    let plain = || if language == Language::En { of_head() } else { kinds.iter().find(fits) };
    first.or_else(plain).or_else(|| kinds.last())
}

/// Returns all generic answers of a language.
pub(super) fn says(language: Language) -> impl Iterator<Item = &'static String> {
    KINDS.get(language).iter().flat_map(|kind| kind.say.iter().chain(&kind.lead))
}

impl QuestionKind {
    /// Returns whether a text answers a question of this kind: it makes a statement that contains words of an answer or
    /// shares content words with the question.
    pub(super) fn is_answered(&self, question: &str, text: &str, language: Language) -> bool {
        let stated: Vec<&str> = sentences(text).into_iter().filter(|sentence| !asks(sentence)).take(2).collect();
        if stated.is_empty() {
            return false;
        }
        let question_content = content_words(question);
        let takes_up =
            |sentence: &&str| content_words(sentence).iter().filter(|word| question_content.contains(word)).count();
        let shared_words: usize = stated.iter().map(takes_up).sum();
        let has_answer_word = |sentence: &&str| {
            let spaced = spaced(sentence);
            let mut words = self.answer_words.split('|').filter(|word| !word.is_empty());
            match language {
                Language::Zh => words.any(|word| sentence.contains(word)),
                Language::En => words.any(|word| spaced.contains(&format!(" {word} "))),
            }
        };
        // Common words are weak evidence alone: yes and no must come first, and other kinds need shared content words.
        match self.name {
            AskedFor::Yes => {
                stated[0].split(['，', '。', ',', '.', ';']).next().is_some_and(|head| has_answer_word(&head))
                    || shared_words > 1
            }
            AskedFor::Why | AskedFor::Number | AskedFor::Feeling | AskedFor::Recall => {
                stated.iter().any(has_answer_word)
            }
            AskedFor::When => stated.iter().any(has_answer_word) && (shared_words > 0 || language == Language::En),
            _ => shared_words > 0 && (self.answer_words.is_empty() || stated.iter().any(has_answer_word)),
        }
    }
}

/// Returns the words of a text in lower case, separated and surrounded by single spaces.
fn spaced(text: &str) -> String {
    let mut spaced = String::from(" ");
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))).filter(|word| !word.is_empty())
    {
        spaced.push_str(&word.to_lowercase().replace('’', "'"));
        spaced.push(' ');
    }
    spaced
}

/// Returns a clause without leading words such as `and` or `well`, in the format of [`spaced`].
fn head(clause: &str) -> String {
    let words = spaced(clause);
    let rest = words.split(' ').filter(|word| !word.is_empty());
    let rest: Vec<&str> = rest
        .skip_while(|word| {
            matches!(*word, "and" | "but" | "or" | "so" | "well" | "then" | "now" | "to" | "from" | "of")
        })
        .collect();
    format!(" {} ", rest.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_kinds_are_recognized() {
        for (language, question, kind) in [
            (Language::En, "And how long have you known, Wick?", AskedFor::Number),
            (Language::En, "Wick, where did you put it?", AskedFor::Where),
            (Language::En, "Have you a clear voice?", AskedFor::Yes),
            (Language::En, "How much is a bed, where you live?", AskedFor::Number),
            (Language::En, "Ann, what is a bed called, when you pay for it?", AskedFor::What),
            (Language::En, "He asked me. Why now, and not a week ago?", AskedFor::Why),
            (Language::En, "Are you never afraid, Ann?", AskedFor::Feeling),
            (Language::En, "Some say yes and some say no; Ann, what say you?", AskedFor::Opinion),
            (Language::En, "Do you remember what was said when we began?", AskedFor::Recall),
            (Language::En, "Sixty-one what?", AskedFor::Open),
            (Language::En, "Ann, what would such a thing cost, where you live?", AskedFor::Number),
            (Language::Zh, "还有几里？", AskedFor::Number),
            (Language::Zh, "水里有什么？", AskedFor::What),
            (Language::Zh, "你凭什么认定是这样？", AskedFor::Why),
            (Language::Zh, "你就没有怕的时候么？", AskedFor::Feeling),
            (Language::Zh, "船上有邬家的人没有？", AskedFor::Yes),
            (Language::Zh, "换作是你，你会怎么办？", AskedFor::Opinion),
        ] {
            assert_eq!(asked(question, language).expect("the text ends with a question").name, kind, "{question}");
        }
        assert!(asked("Who knows? It rains.", Language::En).is_none());
    }

    #[test]
    fn answers_to_a_question_are_recognized() {
        for (language, question, answer, expected) in [
            (Language::En, "How many steps are there?", "Ninety-one, or two hundred with the cellar.", true),
            (Language::En, "How many steps are there?", "I was frightened once.", false),
            (Language::En, "Have you the key?", "No, Ben has it.", true),
            (Language::En, "Have you the key?", "Sheep keep badly on a wet road.", false),
            (Language::En, "Have you the key?", "Have you?", false),
            (Language::En, "Where is the lamp?", "The lamp is on the nail.", true),
            (Language::Zh, "还有几里？", "七里。", true),
            (Language::Zh, "你凭什么认定是这样？", "因为帘子还在水里。", true),
            (Language::Zh, "灯在哪里？", "我等得起。", false),
        ] {
            let kind = asked(question, language).expect("the text ends with a question");
            assert_eq!(kind.is_answered(question, answer, language), expected, "{question} {answer}");
        }
    }

    #[test]
    fn every_question_kind_has_phrases() {
        for language in Language::ALL {
            for kind in KINDS.get(language) {
                assert!(
                    kind.say.len() > 1
                        && kind
                            .say
                            .iter()
                            .chain(&kind.lead)
                            .all(|say| sentences(say).len() == 1 && !asks(say) || kind.name == AskedFor::Number)
                );
            }
            assert_eq!(KINDS.get(language).last().expect("the table is not empty").name, AskedFor::Open);
        }
    }
}
