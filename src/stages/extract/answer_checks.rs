//! Checks whether an answer is unusable: no dialogue where people talk, more than the text can hold, another language.
//! The model is asked once more; grounding judges the rest.

use std::collections::BTreeMap;

use super::asks::{FindScenes, FoundScenes};
use crate::schema::{Language, RejectReason};
use crate::text::is_han;

/// The reason why an answer is unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt {
    /// The reason of the reject.
    pub(super) reason: RejectReason,
    pub(super) detail: String,
    /// What the model is told when it is asked again.
    pub(super) told: String,
}

/// Returns why an answer cannot be right for its passage, if so.
pub(super) fn doubt(ask: &FindScenes, answer: &FoundScenes) -> Option<Doubt> {
    let make = |reason, detail: String, en: &str, zh: &str| {
        let told = if ask.language == Language::En { en } else { zh };
        Some(Doubt { reason, detail, told: told.to_owned() })
    };
    let speeches = || answer.scenes.iter().flat_map(|scene| &scene.dialogue).filter_map(|line| line.speech.as_deref());
    let lines = speeches().count();
    if lines == 0 {
        let talk = talk(ask)?;
        return make(
            RejectReason::NoScene,
            format!("{talk}, but two answers had no scene"),
            "It had no dialogue, though several people talk with each other in the stretch.",
            "其中没有对话，而这段文字里有几个人在交谈。",
        );
    }
    let scenes = answer.scenes.len();
    let foreign = speeches().filter(|speech| is_foreign(speech, ask.language)).count();
    let summaries = answer.scenes.iter().filter(|scene| is_foreign(&scene.summary, ask.language)).count();
    if foreign * 2 > lines || summaries > 0 {
        return make(
            RejectReason::OtherLanguage,
            format!("{foreign} of {lines} utterances and {summaries} of {scenes} summaries are in another language"),
            "It was in another language. Copy what is said as it stands, and write everything else in English.",
            "其中用了别的语言。对话照录原文，其余各项都用中文写。",
        );
    }
    let most = most_lines(ask);
    let (said, held) = (speeches().map(letters).sum::<usize>(), letters(&ask.text));
    if lines > most || said > held + held / 4 + 40 || scenes > most_scenes(ask) {
        return make(
            RejectReason::TooMuch,
            format!("{lines} utterances in {scenes} scenes with {said} letters, from a passage of {held} letters"),
            "It had more lines than the stretch can hold. Give every line once, and only what is said in the text.",
            "其中的对话比这段文字容得下的还多。每句话只写一次，只写原文里说过的。",
        );
    }
    None
}

/// Cuts an answer down to what its passage can hold.
pub(super) fn cut(ask: &FindScenes, answer: &mut FoundScenes) {
    answer.scenes.truncate(most_scenes(ask));
    let mut left = most_lines(ask);
    for scene in &mut answer.scenes {
        scene.dialogue.truncate(left);
        left -= scene.dialogue.len();
    }
}

/// Returns the maximum number of utterances in a passage: a quotation may be split, and the rules miss some.
fn most_lines(ask: &FindScenes) -> usize {
    let short = if ask.language == Language::Zh { 4 } else { 16 };
    (ask.quotations.len() * 2 + 12).max(letters(&ask.text) / short)
}

fn most_scenes(ask: &FindScenes) -> usize {
    most_lines(ask) / (ask.min_utterances as usize).max(2) + 1
}

/// Returns who talks in a passage, if the rules are sure that there is a conversation.
fn talk(ask: &FindScenes) -> Option<String> {
    let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
    for speaker in ask.quotations.iter().filter_map(|quotation| quotation.speaker.as_deref()) {
        *lines.entry(speaker).or_default() += 1;
    }
    let often: Vec<&str> = lines.iter().filter(|(_, lines)| **lines > 1).map(|(name, _)| *name).collect();
    let all: u32 = lines.values().sum();
    (often.len() > 1 && all >= (ask.min_utterances * 2).max(8))
        .then(|| format!("{all} quotations by {}", often.join(", ")))
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Whether a text is in another language than the book. One Chinese character counts as four letters; a few words, such
/// as names in the other script, are not enough.
pub(super) fn is_foreign(text: &str, language: Language) -> bool {
    let (mut latin, mut han, mut kana) = (0_usize, 0_usize, 0_usize);
    for c in text.chars() {
        latin += usize::from(c.is_alphabetic() && !is_han(c));
        han += usize::from(is_han(c));
        kana += usize::from(matches!(c, '\u{3041}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}'));
    }
    match language {
        Language::Zh => (latin >= 12 && latin > han * 4) || (kana >= 4 && kana * 4 > han),
        Language::En if han + kana >= 3 && (han + kana) * 4 > latin => true,
        Language::En => latin >= 60 && !is_english(text),
    }
}

/// Whether a short phrase is in another language than the book: it has no letter of its script.
pub(super) fn is_foreign_phrase(text: &str, language: Language) -> bool {
    let han = text.chars().filter(|c| is_han(*c)).count();
    let latin = text.chars().filter(|c| c.is_alphabetic() && !is_han(*c)).count();
    let is_other = match language {
        Language::En => han > 0 && latin == 0,
        Language::Zh => latin > 3 && han == 0,
    };
    is_other || is_foreign(text, language)
}

fn is_english(text: &str) -> bool {
    whatlang::detect(text)
        .is_none_or(|found| found.lang() == whatlang::Lang::Eng || !found.is_reliable() || found.confidence() < 0.95)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_language_is_told_by_its_letters() {
        for (text, language, expected) in [
            ("Anna asks Boris who took the stones away.", Language::En, false),
            ("陆平向周老七打听磨盘的去处。", Language::Zh, false),
            ("陆平向 Anna Catherine Montgomery 打听磨盘的去处。", Language::Zh, false),
            ("Lu Ping asks Zhou where the stones have gone.", Language::Zh, true),
            ("陆平向周老七打听磨盘的去处。", Language::En, true),
            ("He wrote 磨 on the door, and nobody could read it.", Language::En, false),
            ("OK", Language::Zh, false),
            (
                "Anna demande à Boris qui a emporté les pierres du moulin, et il lui répond qu’elle devrait voir le maire.",
                Language::En,
                true,
            ),
        ] {
            assert_eq!(is_foreign(text, language), expected, "{text}");
        }
        for (text, language, expected) in [
            ("nods", Language::Zh, true),
            ("点头", Language::Zh, false),
            ("点头", Language::En, true),
            ("nods", Language::En, false),
            ("拿起 iPad", Language::Zh, false),
            ("…", Language::En, false),
        ] {
            assert_eq!(is_foreign_phrase(text, language), expected, "{text}");
        }
    }
}
