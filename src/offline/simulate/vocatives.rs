//! Vocatives: names by which someone is addressed. Those of absent people are removed from sentences.

use std::collections::BTreeSet;

use super::conversation::{ConversationView, mentions};
use super::phrases::capitals;
use super::word_lists::words_of;
use crate::schema::Language;
use crate::text::{content_words, is_han, is_sentence_opener, is_title, sentences};

/// Splits a line into sentences and removes vocatives of absent people. Also returns whether one was removed at the
/// start or end of a sentence.
pub(super) fn without_vocatives(
    line: &str,
    names: &BTreeSet<String>,
    conversation: &ConversationView<'_>,
) -> (Vec<String>, bool) {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lost_vocative = false;
    let parts = sentences(&line)
        .into_iter()
        .filter_map(|sentence| {
            let head = call_at_head(sentence, names, conversation);
            let tail = if head == 0 { call_at_tail(sentence, conversation) } else { None };
            lost_vocative |= head > 0 || tail.is_some();
            let rest = &sentence[head..];
            let rest = match tail {
                Some((start, mark)) => format!("{}{mark}", &rest[..start]),
                None => rest.trim_start().to_owned(),
            };
            let rest = without_call_within(&rest, conversation);
            rest.chars()
                .any(char::is_alphanumeric)
                .then(|| if conversation.language == Language::En { capitals(&rest) } else { rest })
        })
        .collect();
    (parts, lost_vocative)
}

/// Removes vocatives of absent people from the middle of an English sentence: a title and a name between two commas.
fn without_call_within(sentence: &str, conversation: &ConversationView<'_>) -> String {
    let parts: Vec<&str> = sentence.split(", ").collect();
    let names = |part: &str| {
        let words: Vec<&str> = part.split_whitespace().collect();
        (2..=3).contains(&words.len())
            && is_title(words[0])
            && words.iter().all(|word| word.starts_with(char::is_uppercase))
            && part.ends_with(char::is_alphanumeric)
    };
    let kept = parts.iter().enumerate().filter(|(at, part)| {
        // Adjacent names are a list.
        let listed = (at.checked_sub(1).is_some_and(|before| names(parts[before])))
            || parts.get(at + 1).is_some_and(|after| names(after) || after.starts_with("and "));
        let within = *at > 0 && at + 1 < parts.len();
        !within || !names(part) || listed || conversation.others.iter().any(|other| mentions(part, other))
    });
    kept.map(|(_, part)| *part).collect::<Vec<_>>().join(", ")
}

/// Returns the length in bytes of a vocative of an absent person at the start of a sentence, or 0.
fn call_at_head(sentence: &str, names: &BTreeSet<String>, conversation: &ConversationView<'_>) -> usize {
    let Some((head, _)) = sentence.split_once([',', '!', '，', '！']) else { return 0 };
    let mark = sentence[head.len()..].chars().next().map_or(0, char::len_utf8);
    let rest = sentence[head.len() + mark..].trim_start();
    let present = || conversation.others.iter().any(|other| mentions(head, other));
    if is_call(head, rest, names) && !present() { head.len() + mark } else { 0 }
}

fn is_call(head: &str, rest: &str, names: &BTreeSet<String>) -> bool {
    let count = head.chars().count();
    if head.chars().any(is_han) {
        let words = words_of(Language::Zh);
        let to_you = words.second_person.iter().any(|pronoun| rest.starts_with(pronoun.as_str()));
        let heavy = !content_words(head).is_empty() && !head.contains(&words.no_vocative[..]);
        return count <= 5 && (is_title(head) || (to_you && heavy && (2..=3).contains(&count)));
    }
    let words: Vec<&str> = head.split_whitespace().collect();
    // `And Nether Row, by that scale`: a phrase that begins with a conjunction is not a vocative.
    let capital = words.iter().all(|word| word.starts_with(char::is_uppercase))
        && !words.first().is_some_and(|word| words.len() > 1 && is_sentence_opener(word) && !is_title(word));
    // Every sentence begins with a capital, so a vocative needs a title or a known name.
    let known = words.iter().any(|word| is_title(word) || names.contains(&bare(word)));
    (1..=3).contains(&words.len()) && capital && known
}

/// Returns the byte offset of a vocative of an absent person at the end of an English sentence, and the final
/// punctuation.
fn call_at_tail<'a>(sentence: &'a str, conversation: &ConversationView<'_>) -> Option<(usize, &'a str)> {
    let start = sentence.rfind(", ")?;
    let call = &sentence[start + 2..];
    let name = call.trim_end_matches(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = name.split_whitespace().collect();
    let named = (1..=3).contains(&words.len())
        && words.iter().all(|word| word.starts_with(char::is_uppercase) && *word != "I" && !word.starts_with("I’"));
    let present = conversation.others.iter().any(|other| mentions(name, other));
    // `A, B, C.` is a list, not a vocative.
    let list = sentence[..start].rsplit(", ").next().is_some_and(|before| before.split_whitespace().count() < 2);
    (named && !present && !list).then(|| (start, &call[name.len()..]))
}

/// Returns the capitalized words inside sentences, which in English are names.
pub(super) fn names<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for sentence in texts.flat_map(sentences) {
        for pair in sentence.split_whitespace().collect::<Vec<_>>().windows(2) {
            let word = bare(pair[1]);
            let inside = !pair[0].ends_with(['“', '‘', ':', '—']) && !pair[1].starts_with(['“', '‘', '"']);
            if inside && word.starts_with(char::is_uppercase) && word != "I" && !is_sentence_opener(&word) {
                names.insert(word);
            }
        }
    }
    names
}

/// Returns a word without punctuation and possessive ending.
pub(super) fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.split(['’', '\'']).next().unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(line: &str, language: Language, others: &[&'static str]) -> String {
        let conversation = ConversationView::new(language, "X", others.iter().copied(), "", &[]);
        let names = names(["Here are Dilly and Aunt Kez."].into_iter());
        without_vocatives(line, &names, &conversation).0.join("|")
    }

    #[test]
    fn vocatives_of_absent_people_are_removed() {
        for (line, others, expected) in [
            ("Dilly! The short oar, and the twine.", &["Wick"][..], "The short oar, and the twine."),
            ("Aunt Kez, is he a lord?", &["Wick"], "Is he a lord?"),
            ("Well, is he a lord, Dilly?", &["Wick"], "Well, is he a lord?"),
            ("Sweep, Wick.", &["Ludo Wick"], "Sweep, Wick."),
            ("I am sorry to ask, Mrs. Marl, but it rains.", &["Wick"], "I am sorry to ask, but it rains."),
            (
                "I am sorry to ask, Mr. Wick, but it rains.",
                &["Ludo Wick"],
                "I am sorry to ask, Mr. Wick, but it rains.",
            ),
            ("I saw him, Mrs. Marl, and Mr. Apps.", &["Wick"], "I saw him, Mrs. Marl, and Mr. Apps."),
            ("I take the tin, the copper, Wick.", &["Ludo Wick"], "I take the tin, the copper, Wick."),
        ] {
            assert_eq!(cut(line, Language::En, others), expected, "{line}");
        }
        for (line, others, expected) in [
            ("慕川，你今年二十，不必急着做好人。", &["祁勉"][..], "你今年二十，不必急着做好人。"),
            ("乔先生，秤是买主出钱造的。", &["祁勉"], "秤是买主出钱造的。"),
            ("此言差矣，管饭就是月钱。", &["祁勉"], "此言差矣，管饭就是月钱。"),
            ("慕川，你来。", &["聂慕川"], "慕川，你来。"),
        ] {
            assert_eq!(cut(line, Language::Zh, others), expected, "{line}");
        }
    }
}
