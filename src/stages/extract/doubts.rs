//! What an answer shows by itself to be of no use: nothing where people talk, more than the text can hold, another language.
//! Such an answer is asked for once more; what is then left is for the grounding to judge.

use std::collections::BTreeMap;

use super::asks::{FindScenes, FoundScenes};
use crate::schema::Language;
use crate::text::is_han;

/// Why an answer is doubted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt {
    /// The reason of a reject.
    pub(super) reason: &'static str,
    pub(super) detail: String,
    /// What the model is told.
    pub(super) told: String,
}

/// Says why the scenes that were found in a stretch cannot be what it holds, if so.
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
            "no_scene",
            format!("{talk}, and no scene was found, asked twice"),
            "It had no dialogue, though several people talk with each other in the stretch.",
            "其中没有对话，而这段文字里有几个人在交谈。",
        );
    }
    let scenes = answer.scenes.len();
    let foreign = speeches().filter(|speech| is_foreign(speech, ask.language)).count();
    let summaries = answer.scenes.iter().filter(|scene| is_foreign(&scene.summary, ask.language)).count();
    if foreign * 2 > lines || summaries > 0 {
        return make(
            "other_language",
            format!("{foreign} of {lines} lines and {summaries} of {scenes} summaries are in another language"),
            "It was in another language. Copy what is said as it stands, and write everything else in English.",
            "其中用了别的语言。对话照录原文，其余各项都用中文写。",
        );
    }
    let most = most_lines(ask);
    let (said, held) = (speeches().map(letters).sum::<usize>(), letters(&ask.text));
    if lines > most || said > held + held / 4 + 40 || scenes > most_scenes(ask) {
        return make(
            "too_much",
            format!("{lines} lines in {scenes} scenes, {said} letters, of a stretch of {held} letters"),
            "It had more lines than the stretch can hold. Give every line once, and only what is said in the text.",
            "其中的对话比这段文字容得下的还多。每句话只写一次，只写原文里说过的。",
        );
    }
    None
}

/// Cuts an answer down to what a stretch can hold.
pub(super) fn cut(ask: &FindScenes, answer: &mut FoundScenes) {
    answer.scenes.truncate(most_scenes(ask));
    let mut left = most_lines(ask);
    for scene in &mut answer.scenes {
        scene.dialogue.truncate(left);
        left -= scene.dialogue.len();
    }
}

/// The most lines that a stretch can hold: a quotation may be parted, and some the rules do not see.
fn most_lines(ask: &FindScenes) -> usize {
    let short = if ask.language == Language::Zh { 4 } else { 16 };
    (ask.quotations.len() * 2 + 12).max(letters(&ask.text) / short)
}

fn most_scenes(ask: &FindScenes) -> usize {
    most_lines(ask) / (ask.min_utterances as usize).max(2) + 1
}

/// Says who talks in a stretch, when the rules are sure that people talk with each other.
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

/// Whether a text is in another language than a book's. A Chinese character weighs as much as four letters; names in the other
/// script do not count for much, and a few words are in no language.
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

/// Whether a few words are in another language than a book's: they have no letter of its script.
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
