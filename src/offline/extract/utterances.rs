//! Builds utterances from the attributed quotations of a passage: joins interrupted speech, adds actions, drops terms in quotation marks.

use super::actions::{action_phrase, is_thought, phrase};
use super::passage::{Line, Passage};
use crate::schema::Language;
use crate::stages::extract::FindScenes;
use crate::stages::extract::asks::QuotationHint;
use crate::stages::extract::book_index::standalone_sentence::normalized_marks;
use crate::stages::extract::lexicon::Patterns;
use crate::text::is_sentence_opener;

/// Returns the utterances of a passage, in order.
pub(super) fn lines<'a>(text: &Passage<'a>) -> Vec<Line<'a>> {
    let ask = text.ask;
    let mut lines: Vec<Line<'_>> = Vec::new();
    for quotation in &ask.quotations {
        let Some(speaker) = quotation.speaker.as_deref() else { continue };
        if !quotation.text.chars().any(char::is_alphanumeric)
            || Patterns::is_group(ask.language, speaker)
            || is_label(text, quotation)
        {
            continue;
        }
        let paragraph = ask.paragraphs.partition_point(|paragraph| paragraph.end <= quotation.start);
        // Headings may contain quotation marks too.
        if ask.paragraphs.get(paragraph).is_some_and(|paragraph| paragraph.border) {
            continue;
        }
        let before = text.text_between(quotation.start.saturating_sub(40).max(ask.start), quotation.start);
        let thought = is_thought(ask.language, before, text.text_between(quotation.end, quotation.end + 60));
        let most = if ask.language == Language::Zh { 24 } else { 80 };
        let action = || phrase(ask, strip_subject(ask, speaker, quotation.action.as_deref()?)?, speaker, most);
        let words = normalized_marks(&quotation.text);
        match lines.last_mut() {
            Some(line) if line.paragraph == paragraph && line.speaker == speaker && line.thought == thought => {
                join_speech(&mut line.speech, text.text_between(line.end, quotation.start), &words, ask.language);
                line.end = quotation.end;
                line.action = line.action.take().or_else(action);
            }
            _ => lines.push(Line {
                speaker,
                speech: words,
                thought,
                action: action(),
                start: quotation.start,
                end: quotation.end,
                paragraph,
            }),
        }
    }
    for line in &mut lines {
        // A comma at the end belonged to the speech tag.
        close(&mut line.speech, ask.language);
        pair(&mut line.speech);
    }
    lines
}

/// Removes the subject from an action; returns `None` if another person is the subject.
fn strip_subject<'t>(ask: &FindScenes, speaker: &str, action: &'t str) -> Option<&'t str> {
    let action = action.trim_start_matches(|c: char| c.is_whitespace() || "()（）[]，,。．.;；:：—-".contains(c));
    let action = ["But ", "And ", "Then ", "So ", "The ", "the "]
        .iter()
        .find_map(|word| action.strip_prefix(word))
        .unwrap_or(action);
    let mut named: Option<(usize, &str)> = None;
    for person in &ask.cast {
        for name in person.aliases.iter().chain([&person.name]) {
            let name = name.strip_prefix("the ").unwrap_or(name);
            if action.starts_with(name) && named.is_none_or(|(length, _)| name.len() > length) {
                named = Some((name.len(), &person.name));
            }
        }
    }
    match named {
        Some((length, name)) if name == speaker && !action[length..].starts_with(['’', '\'']) => {
            Some(action[length..].trim_start())
        }
        Some(_) => None,
        None => Some(
            ["He ", "he ", "She ", "she ", "他", "她"]
                .iter()
                .find_map(|pronoun| action.strip_prefix(pronoun))
                .unwrap_or(action),
        ),
    }
}

/// Adds the speaker's action told just before an utterance, or just after it in the same paragraph.
pub(super) fn add_actions(text: &Passage<'_>, lines: &mut [Line<'_>]) {
    for at in 0..lines.len() {
        let from = if at == 0 { lines[at].start.saturating_sub(400).max(text.ask.start) } else { lines[at - 1].end };
        if lines[at].action.is_none() {
            let before = text.narration(from, lines[at].start);
            lines[at].action =
                before.iter().rev().take(2).find_map(|hint| action_phrase(text.ask, hint, lines[at].speaker));
        }
        if lines[at].action.is_none() {
            let until = text.ask.paragraphs.get(lines[at].paragraph).map_or(lines[at].end, |paragraph| paragraph.end);
            let until = lines.get(at + 1).map_or(until, |next| next.start.min(until));
            let after = text.narration(lines[at].end, until);
            lines[at].action = after.iter().take(1).find_map(|hint| action_phrase(text.ask, hint, lines[at].speaker));
        }
    }
}

/// Joins two parts of a speech, as two sentences if the tag between them ends one.
fn join_speech(speech: &mut String, between: &str, next: &str, language: Language) {
    let tag = between.trim().trim_matches(['“', '”', '"', '「', '」', '『', '』', '‘', '’']).trim_end();
    let first = next.split_whitespace().next().unwrap_or_default();
    let word = first.trim_end_matches(|c: char| !c.is_alphanumeric());
    // A word that is usually lower case begins a new sentence if it is capitalized here.
    let begins =
        word.starts_with(char::is_uppercase) && is_sentence_opener(word) && !word.starts_with("I’") && word != "I";
    if tag.ends_with(['.', '。', '．', '!', '！']) || begins {
        close(speech, language);
    }
    if language == Language::En {
        speech.push(' ');
    }
    speech.push_str(next);
}

/// Replaces a comma at the end with a full stop, also inside a closing quotation.
fn close(speech: &mut String, language: Language) {
    let kept = speech.trim_end_matches(['’', '”', '」', '』']).len();
    if let Some(mark) = speech[..kept].chars().next_back().filter(|mark| matches!(mark, ',' | '，')) {
        speech.replace_range(kept - mark.len_utf8()..kept, if language == Language::En { "." } else { "。" });
    }
}

/// Removes unpaired quotation marks.
fn pair(speech: &mut String) {
    for (open, shut) in [('“', '”'), ('「', '」'), ('『', '』')] {
        if speech.matches(open).count() != speech.matches(shut).count() {
            speech.retain(|c| c != open && c != shut);
        }
    }
}

/// Whether the quotation marks surround a term: a few words without the final punctuation of speech.
fn is_label(passage: &Passage<'_>, quotation: &QuotationHint) -> bool {
    let (ask, text) = (passage.ask, quotation.text.trim());
    // A heading may be in capitals and quotation marks.
    let loud = text.chars().filter(|c| c.is_uppercase()).count() > 8 && !text.contains(char::is_lowercase);
    if loud && text.ends_with(char::is_alphanumeric) {
        return true;
    }
    let marked = quotation.start > ask.start
        && passage.text_between(quotation.start - 1, quotation.start).starts_with(['“', '"', '‘', '「', '『']);
    let short = match ask.language {
        Language::En => text.split_whitespace().count() <= 3,
        Language::Zh => text.chars().count() <= 8,
    };
    marked && short && text.ends_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_speech_is_joined_with_its_punctuation() {
        for (between, next, language, expected) in [
            (",” said she, “", "and so will you.", Language::En, "I will, and so will you."),
            (",” said she. “", "You will too.", Language::En, "I will. You will too."),
            ("，”她说，“", "你也去。", Language::Zh, "我去，你也去。"),
            ("，”她说。“", "你也去。", Language::Zh, "我去。你也去。"),
            (",” said she, and rose, “", "It will do.", Language::En, "I will. It will do."),
            (",” said she, “", "I think.", Language::En, "I will, I think."),
        ] {
            let first = if language == Language::En { "I will," } else { "我去，" };
            let mut speech = first.to_owned();
            join_speech(&mut speech, between.trim_start_matches([',', '，']), next, language);
            assert_eq!(speech, expected);
        }
        let mut speech = "It says ‘upon view,’".to_owned();
        join_speech(&mut speech, "” he said. “", "A blind man.", Language::En);
        assert_eq!(speech, "It says ‘upon view.’ A blind man.");
    }
}
