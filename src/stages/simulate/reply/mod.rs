//! The format of a reply: an optional action in parentheses, then a short utterance.
//!
//! Fixes what can be fixed without changing what is said, and names all faults, fixed or not. What follows from a fault
//! is decided elsewhere.

pub(crate) mod label_kinds;
mod markup;
pub(crate) mod reference_filter;
pub(crate) mod repetition;
pub(crate) mod speaker_labels;
mod words;
mod writing_system;

use self::markup::{
    actions, balanced, is_rule, is_wrapped, speech, split_action, unquoted, unwrapped, without_notes, without_tokens,
};
use self::repetition::{RepetitionIndex, is_long, normalized};
use self::speaker_labels::{OwnPart, SpeakerNames};
use self::writing_system::Script;
use crate::schema::{FormatFault, Language, Turn, TurnFault};
use crate::text::{is_truncated, may_refuse, refuses, reveals_model, sentences};

/// The faults that can remain after cleaning, in the order in which they are reported.
const REMAINING_FAULTS: [FormatFault; 10] = [
    FormatFault::Empty,
    FormatFault::Declines,
    FormatFault::MayDecline,
    FormatFault::RevealsAi,
    FormatFault::WrongLanguage,
    FormatFault::Wrapped,
    FormatFault::UnbalancedParentheses,
    FormatFault::TooManySentences,
    FormatFault::RepeatsHistory,
    FormatFault::CutEnding,
];

/// The faults that invalidate a whole conversation: the speaker is out of character, and every later turn has the
/// utterance in its history.
pub(super) const DISTURBING: [FormatFault; 3] =
    [FormatFault::Declines, FormatFault::RevealsAi, FormatFault::WrongLanguage];

/// Returns the format faults of a turn's kept reply that were not repaired.
pub(super) fn format_faults(turn: &Turn) -> impl Iterator<Item = FormatFault> {
    turn.faults.iter().filter_map(|fault| if let TurnFault::Format(fault) = fault { Some(*fault) } else { None })
}

/// Returns whether later turns must not become samples because of this fault. An utterance that repeats itself or may
/// decline in character can still be answered.
pub(super) fn spoils_later_turns(fault: FormatFault) -> bool {
    ![FormatFault::RepeatsHistory, FormatFault::MayDecline].contains(&fault)
}

/// The format rules for the replies of one speaker.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplyFormat<'a> {
    /// The language of the conversation.
    pub language: Language,
    /// Names of the speaker and of everyone else. The first of the speaker's names is the one used in the history.
    pub speakers: SpeakerNames<'a>,
    /// Maximum number of sentences.
    pub max_sentences: u32,
    /// Whether the fictional world contains AI, so that mentioning it is in character.
    pub world_has_ai: bool,
}

/// A cleaned reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// One line: `(action) speech`; either part may be missing.
    pub text: String,
    /// Faults in the order of the checks, repaired ones first.
    pub faults: Vec<TurnFault>,
}

impl ReplyFormat<'_> {
    /// Cleans a model's reply and lists its faults. `earlier` holds the conversation so far.
    pub(super) fn clean(&self, raw: &str, earlier: &RepetitionIndex) -> Reply {
        let (text, repaired) = self.repair(raw);
        let mut faults: Vec<TurnFault> = repaired.into_iter().map(TurnFault::Repaired).collect();
        faults.extend(self.faults(&text, earlier).into_iter().map(TurnFault::Format));
        Reply { text, faults }
    }

    /// Returns the faults of a cleaned text.
    pub(super) fn faults(&self, text: &str, earlier: &RepetitionIndex) -> Vec<FormatFault> {
        if is_empty(text) {
            return vec![FormatFault::Empty];
        }
        let name = self.speakers.own.first().copied().unwrap_or_default();
        let has = |fault: FormatFault| match fault {
            // An action such as `(sighs)` does not make a refusal in character.
            FormatFault::Declines => refuses(&speech(text)),
            FormatFault::MayDecline => !refuses(&speech(text)) && may_refuse(&speech(text)),
            FormatFault::RevealsAi => !self.world_has_ai && reveals_model(text),
            FormatFault::WrongLanguage => writing_system::is_foreign(text, self.language),
            FormatFault::Wrapped => is_wrapped(text),
            FormatFault::UnbalancedParentheses => !balanced(text),
            FormatFault::TooManySentences => sentence_ends(text).len() > self.max_sentences as usize,
            FormatFault::RepeatsHistory => earlier.has(name, text),
            FormatFault::CutEnding => is_truncated(text),
            _ => false,
        };
        REMAINING_FAULTS.into_iter().filter(|fault| has(*fault)).collect()
    }

    /// Returns whether nothing is left of a model's reply after cleaning.
    pub(super) fn leaves_nothing(&self, raw: &str) -> bool {
        is_empty(&self.repair(raw).0)
    }

    fn repair(&self, raw: &str) -> (String, Vec<FormatFault>) {
        let mut repaired = Vec::new();
        let mut note = |fault, found: bool| {
            if found && !repaired.contains(&fault) {
                repaired.push(fault);
            }
        };
        let mut raw = raw.replace('（', "(").replace('）', ")");
        if let Some(bare) = without_tokens(&raw).map(str::to_owned) {
            note(FormatFault::TemplateTokens, true);
            raw = bare;
        }
        if let Some(bare) = unwrapped(&raw) {
            note(FormatFault::Wrapped, true);
            raw = bare;
        }
        if let Some(bare) = without_notes(&raw) {
            note(FormatFault::OutOfCharacter, true);
            raw = bare;
        }
        let (above, below) = cut_at_rule(&raw);
        note(FormatFault::RuledOff, below);
        let OwnPart { lines, named, cut } = self.speakers.own(&above);
        note(FormatFault::OwnName, named);
        note(FormatFault::SpeaksForOthers, cut);
        let mut text = String::new();
        for line in &lines {
            append_line(&mut text, line);
        }
        let (marked, found) = actions(&text);
        note(FormatFault::ActionMarks, found);
        let (action, speech) = split_action(&marked);
        let mut speech = speech;
        while let Some(inner) = unquoted(speech) {
            note(FormatFault::Quoted, true);
            speech = inner.trim();
        }
        let text = [action, speech].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let (mut text, found) = without_repetitions(&text);
        note(FormatFault::RepeatsItself, found);
        let most = self.max_sentences as usize;
        let ends = sentence_ends(&text);
        if ends.len() > most && most > 0 {
            note(FormatFault::TooManySentences, true);
            text.truncate(ends[most - 1]);
        }
        (text, repaired)
    }
}

/// Returns the text above the first horizontal rule that has text above it, and whether there was a rule. If the text
/// above ends in a colon, it announces the reply, and the text below is used instead.
fn cut_at_rule(text: &str) -> (String, bool) {
    let (mut above, mut found) = (Vec::new(), false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !is_rule(line) {
            above.push(line);
            continue;
        }
        found = true;
        let Some(last) = above.iter().rfind(|line| !is_empty(line)) else { continue };
        let announces = last.trim_end_matches(['*', '_', ' ']).ends_with([':', '：']);
        if !announces || lines.clone().all(is_empty) {
            break;
        }
        above.clear();
    }
    (above.join("\n"), found)
}

/// Removes repeated long sentences from a text. Also returns whether there were any.
fn without_repetitions(text: &str) -> (String, bool) {
    let (mut kept, mut kept_sentences, mut start) = (String::new(), Vec::new(), 0);
    for end in sentence_ends(text) {
        let sentence = normalized(&speech(&text[start..end]));
        if is_long(&sentence) && kept_sentences.contains(&sentence) {
            // Keep an action in front of the removed sentence.
            let sentence_speech = speech(&text[start..end]);
            let action =
                sentence_speech.find(|c: char| !c.is_whitespace()).map_or("", |at| text[start..start + at].trim_end());
            kept.push_str(action);
        } else {
            kept.push_str(&text[start..end]);
            kept_sentences.push(sentence);
        }
        start = end;
    }
    kept.push_str(&text[start..]);
    let found = kept.len() < text.len();
    (kept, found)
}

/// Appends a line, separated by a space unless both adjacent characters belong to a script without spaces.
fn append_line(text: &mut String, line: &str) {
    let tight = |c: char| matches!(writing_system::of(c), Script::Han | Script::Wide);
    let (last, first) = (text.chars().last(), line.chars().next());
    if last.is_some_and(|last| !(tight(last) && first.is_some_and(tight))) {
        text.push(' ');
    }
    for (index, word) in line.split_whitespace().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}

fn is_empty(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// Returns the byte offsets of the sentence ends of a reply, ignoring text in parentheses.
fn sentence_ends(text: &str) -> Vec<usize> {
    let speech = speech(text);
    let mut end = 0;
    let ends = sentences(&speech).into_iter().map(|sentence| {
        end += speech[end..].find(sentence).expect("sentences are substrings of their text, in order") + sentence.len();
        end
    });
    ends.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format<'a>(language: Language, name: &'a str, others: &'a [&'a str]) -> ReplyFormat<'a> {
        // Leaking keeps the test tables simple.
        let own = Box::leak(Box::new([name]));
        ReplyFormat { language, speakers: SpeakerNames { own, others }, max_sentences: 2, world_has_ai: false }
    }

    fn fault_names(reply: &Reply) -> Vec<&'static str> {
        reply.faults.iter().map(|fault| fault.name()).collect()
    }

    fn check(format: ReplyFormat<'_>, raw: &str, text: &str, faults: &[&str]) {
        let reply = format.clean(raw, &RepetitionIndex::default());
        assert_eq!((reply.text.as_str(), fault_names(&reply)), (text, faults.to_vec()));
        // Cleaning is idempotent.
        assert_eq!(format.clean(&reply.text, &RepetitionIndex::default()).text, reply.text, "{raw}");
    }

    #[test]
    fn english_replies_are_repaired() {
        let format = format(Language::En, "Elizabeth Bennet", &["Mr. Darcy", "Jane"]);
        for (raw, text, faults) in [
            ("(smiles) Good day.", "(smiles) Good day.", &[][..]),
            ("Elizabeth Bennet: Good day.", "Good day.", &["own_name:mended"]),
            ("**Elizabeth:** (smiles) Good day.", "(smiles) Good day.", &["own_name:mended"]),
            ("(smiles) Elizabeth: Good day.", "(smiles) Good day.", &["own_name:mended"]),
            ("Good day.\nMr. Darcy: (bows) Madam.", "Good day.", &["speaks_for_others:mended"]),
            ("Good day.\n\n[Narrator]: It rained.", "Good day.", &["speaks_for_others:mended"]),
            ("*smiles* Good day.", "(smiles) Good day.", &["action_marks:mended"]),
            ("Good day. *She leaves.*", "Good day. (She leaves.)", &["action_marks:mended"]),
            ("I *do* mean it.", "I do mean it.", &[]),
            ("“Good day.”", "Good day.", &["quoted:mended"]),
            ("(smiles)  \"Good day.\"", "(smiles) Good day.", &["quoted:mended"]),
            ("“Yes,” he said. “No.”", "“Yes,” he said. “No.”", &[]),
            ("（smiles）\n Good\n day.", "(smiles) Good day.", &[]),
            ("One. Two (softly). Three.", "One. Two (softly).", &["too_many_sentences:mended"]),
            ("Remember: never again.", "Remember: never again.", &[]),
            ("I only thought—", "I only thought—", &[]),
            ("(nods)", "(nods)", &[]),
            ("Good day. Jane: Oh!", "Good day.", &["speaks_for_others:mended"]),
            ("Miss Bennet (curtseys): Good day.", "(curtseys) Good day.", &["own_name:mended"]),
            ("Good day.\n(Jane blushes)\nWell?", "Good day.", &["speaks_for_others:mended"]),
            ("**Good day, sir.**", "Good day, sir.", &[]),
            ("**Good day,** sir. *curtseys*", "Good day, sir. (curtseys)", &["action_marks:mended"]),
            ("[nods] Good day.", "(nods) Good day.", &["action_marks:mended"]),
            ("_nods_ Good day.", "(nods) Good day.", &["action_marks:mended"]),
            ("I _do_ mean it.", "I do mean it.", &[]),
            ("(nods [quietly) Good day.", "(nods quietly) Good day.", &[]),
            ("<|im_end|>Good day.", "Good day.", &["template_tokens:mended"]),
            ("Good day.<|im_end|>\nuser\nHm.", "Good day.", &["template_tokens:mended"]),
            ("```\nGood day.\n```", "Good day.", &["wrapped:mended"]),
            ("{\"reply\": \"Good day.\"}", "Good day.", &["wrapped:mended"]),
            ("“Good day.", "Good day.", &["quoted:mended"]),
            ("Good day.\n\n---\nShall I go on?", "Good day.", &["ruled_off:mended"]),
            ("---\nGood day.", "Good day.", &["ruled_off:mended"]),
            ("Here is my reply:\n\n---\nGood day.", "Good day.", &["ruled_off:mended"]),
            ("Remember this:\n---\n", "Remember this:", &["ruled_off:mended", "cut_ending"]),
            ("**Reply:**\n***\nGood day.\n***\nShall I go on?", "Good day.", &["ruled_off:mended"]),
            ("Good day. (OOC: shall I go on?)", "Good day.", &["out_of_character:mended"]),
            (
                "I will not walk a step further.\nI will not walk a step further!",
                "I will not walk a step further.",
                &["repeats_itself:mended"],
            ),
            ("Never. Never.", "Never. Never.", &[]),
        ] {
            check(format, raw, text, faults);
        }
    }

    #[test]
    fn chinese_replies_are_repaired() {
        let format = format(Language::Zh, "薛嵩", &["红线", "老妓女"]);
        for (raw, text, faults) in [
            ("（拱手）久仰。", "(拱手) 久仰。", &[][..]),
            ("薛嵩：（拱手）久仰。", "(拱手) 久仰。", &["own_name:mended"]),
            ("【拱手】久仰。", "(拱手) 久仰。", &["action_marks:mended"]),
            ("久仰。\n红线：哼。", "久仰。", &["speaks_for_others:mended"]),
            ("“久仰。”", "久仰。", &["quoted:mended"]),
            ("「久仰。」", "久仰。", &["quoted:mended"]),
            ("久仰。\n请坐。", "久仰。请坐。", &[]),
            ("一。二！三？", "一。二！", &["too_many_sentences:mended"]),
            ("我只是……", "我只是……", &[]),
            ("久仰。红线：哼。", "久仰。", &["speaks_for_others:mended"]),
            ("久仰。\n(红线皱眉)\n请坐。", "久仰。", &["speaks_for_others:mended"]),
            ("薛嵩(拱手)：久仰。", "(拱手) 久仰。", &["own_name:mended"]),
            ("**久仰大名。**", "久仰大名。", &[]),
            ("[点头]久仰。", "(点头) 久仰。", &["action_marks:mended"]),
            ("_点头_ 久仰。", "(点头) 久仰。", &["action_marks:mended"]),
            ("<|im_end|>久仰。", "久仰。", &["template_tokens:mended"]),
            ("```\n久仰。\n```", "久仰。", &["wrapped:mended"]),
            ("{\"回复\": \"久仰。\"}", "久仰。", &["wrapped:mended"]),
            ("「久仰。", "久仰。", &["quoted:mended"]),
            ("久仰。\n\n———\n要继续吗？", "久仰。", &["ruled_off:mended"]),
            ("以下是我的回复：\n---\n久仰。", "久仰。", &["ruled_off:mended"]),
            ("久仰。（OOC：要继续吗？）", "久仰。", &["out_of_character:mended"]),
            (
                "我一步也不会再往前走了。我一步也不会再往前走了！",
                "我一步也不会再往前走了。",
                &["repeats_itself:mended"],
            ),
            ("不。不。", "不。不。", &[]),
        ] {
            check(format, raw, text, faults);
        }
    }

    #[test]
    fn unrepairable_faults_are_named() {
        let english = format(Language::En, "Ann", &["Bob"]);
        let chinese = format(Language::Zh, "薛嵩", &["红线"]);
        for (format, raw, faults) in [
            (english, "Bob: Hello.", &["speaks_for_others:mended", "empty"][..]),
            (english, "…", &["empty"]),
            (english, "(smiles Good day.", &["unbalanced_parentheses"]),
            (english, "我不知道。", &["wrong_language"]),
            (english, "I was about to", &["cut_ending"]),
            (english, "Yes,", &["cut_ending"]),
            (english, "As an AI, I cannot say.", &["reveals_ai"]),
            (chinese, "I do not know.", &["wrong_language"]),
            (chinese, "我是一个语言模型。", &["reveals_ai"]),
            (chinese, "我正要", &["cut_ending"]),
            (english, "I'm sorry, but I can't assist with that request.", &["declines"]),
            (chinese, "抱歉，我无法协助完成这个请求。", &["declines"]),
            (english, "(sighs) I'm sorry, but I can't discuss this topic.", &["declines"]),
            (chinese, "（摇头）对不起，这个话题我不能讨论。", &["declines"]),
            (english, "(shrugs) I can't help you with that.", &["may_decline"]),
            (chinese, "（摇头）对不起，我无法帮助你。", &["may_decline"]),
            (english, "(bows) I cannot fulfil this vow, my lord.", &[]),
            (chinese, "（拱手）老奴自当满足您的请求。", &[]),
            (english, "{\"a\": \"b\", \"c\": \"d.\"}", &["wrapped", "cut_ending"]),
        ] {
            assert_eq!(fault_names(&format.clean(raw, &RepetitionIndex::default())), faults, "{raw}");
        }
        let mut earlier = RepetitionIndex::default();
        earlier.add("Ann", "Yes, I know that.");
        assert_eq!(fault_names(&english.clean("Yes, I know that.", &earlier)), ["repeats_history"]);
        earlier.add("薛嵩", "是的，我知道。");
        assert_eq!(fault_names(&chinese.clean("是的，我知道。", &earlier)), ["repeats_history"]);
        let world_has_ai = ReplyFormat { world_has_ai: true, ..english };
        assert!(world_has_ai.clean("As an AI, I cannot say.", &RepetitionIndex::default()).faults.is_empty());
    }

    #[test]
    fn sentences_are_counted_outside_parentheses() {
        for (text, expected) in [
            ("(nods. Sits.) Well. I see", &["(nods. Sits.) Well.", "(nods. Sits.) Well. I see"][..]),
            ("Well... I think so. Oh! what a day", &["Well... I think so.", "Well... I think so. Oh! what a day"]),
            ("“Go!” he said. (He leaves.)", &["“Go!” he said."]),
            (
                "（点头。）我……我不知道。你呢？！“好。”",
                &[
                    "（点头。）我……我不知道。",
                    "（点头。）我……我不知道。你呢？！",
                    "（点头。）我……我不知道。你呢？！“好。”",
                ],
            ),
            ("No. (Turns away", &["No."]),
            ("(nods)", &[]),
        ] {
            let found: Vec<_> = sentence_ends(text).into_iter().map(|end| &text[..end]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
