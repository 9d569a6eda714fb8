//! Checks whether an answer is unusable: no dialogue where people talk, more than the text can hold, another language.
//! The model is asked once more; grounding judges the rest.

use std::collections::BTreeMap;

use super::asks::{FindScenes, FoundScenes};
use super::language_check::is_foreign;
use crate::schema::{Language, RejectReason};

/// The reason why an answer is unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerFault {
    /// The reason of the reject.
    pub(super) reason: RejectReason,
    pub(super) detail: String,
    /// The message sent to the model with the second request: what is wrong with its answer.
    pub(super) feedback: String,
}

/// Returns why an answer cannot be right for its passage, if so.
pub(super) fn find_fault(ask: &FindScenes, answer: &FoundScenes) -> Option<AnswerFault> {
    let make = |reason, detail: String, en: &str, zh: &str| {
        let feedback = if ask.language == Language::En { en } else { zh };
        Some(AnswerFault { reason, detail, feedback: feedback.to_owned() })
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
    let (answer_letters, text_letters) = (speeches().map(letters).sum::<usize>(), letters(&ask.text));
    if lines > most || answer_letters > text_letters + text_letters / 4 + 40 || scenes > most_scenes(ask) {
        return make(
            RejectReason::TooMuch,
            format!(
                "{lines} utterances in {scenes} scenes with {answer_letters} letters, from a passage of {text_letters} letters"
            ),
            "It had more lines than the stretch can hold. Give every line once, and only what is said in the text.",
            "其中的对话比这段文字容得下的还多。每句话只写一次，只写原文里说过的。",
        );
    }
    None
}

/// Cuts an answer down to what its passage can hold.
pub(super) fn cut(ask: &FindScenes, answer: &mut FoundScenes) {
    answer.scenes.truncate(most_scenes(ask));
    let mut remaining = most_lines(ask);
    for scene in &mut answer.scenes {
        scene.dialogue.truncate(remaining);
        remaining -= scene.dialogue.len();
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
    let frequent_speakers: Vec<&str> = lines.iter().filter(|(_, lines)| **lines > 1).map(|(name, _)| *name).collect();
    let total: u32 = lines.values().sum();
    (frequent_speakers.len() > 1 && total >= (ask.min_utterances * 2).max(8))
        .then(|| format!("{total} quotations by {}", frequent_speakers.join(", ")))
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}
