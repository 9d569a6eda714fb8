//! The form of a reply: an optional action in parentheses, then a short utterance. Mends what can be mended without
//! changing what is said, and names what cannot. Pure; it asks nothing and decides nothing.

use std::collections::HashSet;

use super::script::{self, Script};
use crate::schema::Language;
use crate::text::{is_closer, is_cut, is_mark, is_name, label, reveals_model, sentences};

/// Nothing was said or done.
pub(super) const EMPTY: &str = "empty";
/// The speaker's own name stood in front.
pub(super) const OWN_NAME: &str = "own_name";
/// It went on to speak for someone else; it ends before that.
pub(super) const SPEAKS_FOR_OTHERS: &str = "speaks_for_others";
/// An action stood in other marks than parentheses.
pub(super) const ACTION_MARKS: &str = "action_marks";
/// The whole speech stood in quotation marks.
pub(super) const QUOTED: &str = "quoted";
/// More sentences than allowed; it ends after the last one allowed.
pub(super) const TOO_MANY_SENTENCES: &str = "too_many_sentences";
/// A parenthesis is not closed, or not opened.
pub(super) const UNBALANCED_PARENTHESES: &str = "unbalanced_parentheses";
/// It is in another language than the conversation.
pub(super) const WRONG_LANGUAGE: &str = "wrong_language";
/// A sentence of it has been said before.
pub(super) const REPEATS_HISTORY: &str = "repeats_history";
/// It speaks as a language model.
pub(super) const REVEALS_AI: &str = "reveals_ai";
/// It has no final mark, as if it were cut off.
pub(super) const CUT_ENDING: &str = "cut_ending";

/// What follows the name of a fault that was mended.
const MENDED: &str = ":mended";

/// The least weight of a sentence that may not be said twice: six words or eight Chinese characters.
const LONG: usize = 16;

/// Who speaks besides the cast when a model writes a whole script.
const NARRATORS: [&str; 6] = ["narrator", "user", "assistant", "旁白", "用户", "助手"];

/// What a reply is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format<'a> {
    /// The language of the conversation.
    pub language: Language,
    /// Who speaks.
    pub name: &'a str,
    /// The names of everyone else present.
    pub others: &'a [&'a str],
    /// The most sentences.
    pub max_sentences: u32,
    /// Whether the world has artificial minds of its own, so that speaking of them is in the part.
    pub artificial: bool,
}

/// A reply in form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// One line: `(action) speech`, either may be absent.
    pub text: String,
    /// The faults by name, in the order in which they are looked for; mended ones end in `:mended`.
    pub faults: Vec<String>,
}

impl Format<'_> {
    /// Puts a model's reply in form.
    pub(super) fn clean(&self, raw: &str, said: &Said) -> Reply {
        let (text, mended) = self.mend(raw);
        let mut faults: Vec<String> = mended.into_iter().map(|fault| format!("{fault}{MENDED}")).collect();
        faults.extend(self.faults(&text, said).into_iter().map(str::to_owned));
        Reply { text, faults }
    }

    /// Returns the faults of a text that no mending takes away.
    pub(super) fn faults(&self, text: &str, said: &Said) -> Vec<&'static str> {
        if is_empty(text) {
            return vec![EMPTY];
        }
        [
            (UNBALANCED_PARENTHESES, !balanced(text)),
            (WRONG_LANGUAGE, script::is_foreign(text, self.language)),
            (TOO_MANY_SENTENCES, sentence_ends(text).len() > self.max_sentences as usize),
            (REPEATS_HISTORY, said.has_any_of(text)),
            (REVEALS_AI, !self.artificial && reveals_model(text)),
            (CUT_ENDING, is_cut(text)),
        ]
        .into_iter()
        .filter_map(|(fault, found)| found.then_some(fault))
        .collect()
    }

    /// Says whether nothing is left of a model's reply when it is put in form.
    pub(super) fn leaves_nothing(&self, raw: &str) -> bool {
        is_empty(&self.mend(raw).0)
    }

    fn mend(&self, raw: &str) -> (String, Vec<&'static str>) {
        let mut mended = Vec::new();
        let mut mend = |fault, found: bool| {
            if found && !mended.contains(&fault) {
                mended.push(fault);
            }
        };
        let raw = raw.replace('（', "(").replace('）', ")");
        let mut text = String::new();
        for line in raw.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (line, own) = self.without_own_name(line);
            mend(OWN_NAME, own);
            if self.is_of_another(line) {
                mend(SPEAKS_FOR_OTHERS, true);
                break;
            }
            join(&mut text, line);
        }
        let (marked, found) = actions(&text);
        mend(ACTION_MARKS, found);
        let (action, speech) = split_action(&marked);
        let (mut speech, own) = self.without_own_name(speech);
        mend(OWN_NAME, own);
        while let Some(inner) = unquoted(speech) {
            mend(QUOTED, true);
            speech = inner.trim();
        }
        let mut text = [action, speech].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let most = self.max_sentences as usize;
        let ends = sentence_ends(&text);
        if ends.len() > most && most > 0 {
            mend(TOO_MANY_SENTENCES, true);
            text.truncate(ends[most - 1]);
        }
        (text, mended)
    }

    /// Cuts the speaker's own name and a colon off the front of a line.
    fn without_own_name<'t>(&self, line: &'t str) -> (&'t str, bool) {
        match label(line) {
            Some((label, rest)) if is_name(label, self.name) => (rest, true),
            _ => (line, false),
        }
    }

    /// Says whether a line begins with someone else's name and a colon.
    fn is_of_another(&self, line: &str) -> bool {
        label(line).is_some_and(|(label, _)| {
            let narrator = NARRATORS.contains(&label.to_lowercase().as_str());
            narrator || self.others.iter().any(|other| is_name(label, other))
        })
    }
}

/// Adds a line, with a space between unless both neighbours are of a script that has none.
fn join(text: &mut String, line: &str) {
    let tight = |c: char| matches!(script::of(c), Script::Han | Script::Wide);
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

/// Turns `*action*` and `【action】` at the start of a sentence into `(action)` and drops emphasis marks elsewhere.
fn actions(text: &str) -> (String, bool) {
    let (mut result, mut rest, mut found) = (String::with_capacity(text.len()), text, false);
    while let Some(open) = rest.find(['*', '【']) {
        let close = if rest[open..].starts_with('*') { '*' } else { '】' };
        let inside = rest[open..].trim_start_matches(['*', '【']);
        let begin = rest.len() - inside.len();
        result.push_str(&rest[..open]);
        let Some(length) = inside.find(close) else {
            result.push_str(inside);
            return (result, found);
        };
        let action = inside[..length].trim();
        let before = result.trim_end().chars().last();
        if before.is_none_or(|c| is_mark(c) || is_closer(c) || c == ')') && !action.starts_with('(') {
            found = true;
            result.push('(');
            result.push_str(action);
            result.push(')');
        } else {
            result.push_str(action);
        }
        rest = rest[begin + length..].trim_start_matches(close);
    }
    result.push_str(rest);
    (result, found)
}

/// Splits a leading action in parentheses from the speech.
fn split_action(text: &str) -> (&str, &str) {
    let mut depth = 0_u32;
    for (byte, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (&text[..=byte], text[byte + 1..].trim());
                }
            }
            _ if depth == 0 => break,
            _ => {}
        }
    }
    ("", text.trim())
}

/// Returns what stands in quotation marks that surround the whole.
fn unquoted(text: &str) -> Option<&str> {
    [('“', '”'), ('"', '"'), ('「', '」'), ('『', '』')].into_iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        (!inner.contains(open) && !inner.contains(close)).then_some(inner)
    })
}

fn balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    for c in text.chars() {
        depth += i32::from(matches!(c, '(' | '（')) - i32::from(matches!(c, ')' | '）'));
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

fn is_empty(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric)
}

/// The sentences of some length that have been said in a conversation, marks and case aside.
#[derive(Debug, Default)]
pub(super) struct Said(HashSet<String>);

impl Said {
    /// Adds what a line says.
    pub(super) fn add(&mut self, content: &str) {
        self.0.extend(long_sentences(content));
    }

    /// Says whether a sentence of a text has been said.
    fn has_any_of(&self, text: &str) -> bool {
        !self.0.is_empty() && long_sentences(text).iter().any(|sentence| self.0.contains(sentence))
    }
}

fn long_sentences(text: &str) -> Vec<String> {
    let speech = speech(text);
    sentences(&speech).into_iter().map(plain).filter(|sentence| script::weight(sentence) >= LONG).collect()
}

/// Returns where the sentences of a reply end, in bytes; what stands in parentheses begins and ends none.
fn sentence_ends(text: &str) -> Vec<usize> {
    let speech = speech(text);
    let mut end = 0;
    let ends = sentences(&speech).into_iter().map(|sentence| {
        end += speech[end..].find(sentence).expect("sentences are parts of their text, in order") + sentence.len();
        end
    });
    ends.collect()
}

/// Returns a text with blanks in place of what stands in parentheses, byte for byte.
pub(super) fn speech(text: &str) -> String {
    let mut depth = 0_u32;
    let mut speech = String::with_capacity(text.len());
    for c in text.chars() {
        depth += u32::from(matches!(c, '(' | '（'));
        if depth > 0 {
            speech.extend(std::iter::repeat_n(' ', c.len_utf8()));
            depth -= u32::from(matches!(c, ')' | '）'));
        } else {
            speech.push(c);
        }
    }
    speech
}

/// Returns the letters and digits of a sentence in lower case, with single spaces between words.
fn plain(sentence: &str) -> String {
    let mut plain = String::new();
    for c in sentence.chars() {
        match c {
            _ if c.is_alphanumeric() => plain.extend(c.to_lowercase()),
            _ if matches!(c, '\'' | '’') || plain.ends_with(' ') || plain.is_empty() => {}
            _ => plain.push(' '),
        }
    }
    plain.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format<'a>(language: Language, name: &'a str, others: &'a [&'a str]) -> Format<'a> {
        Format { language, name, others, max_sentences: 2, artificial: false }
    }

    fn check(format: Format<'_>, raw: &str, text: &str, faults: &[&str]) {
        let reply = format.clean(raw, &Said::default());
        assert_eq!(format.leaves_nothing(raw), reply.faults.iter().any(|fault| fault == EMPTY), "{raw}");
        assert_eq!(
            (reply.text.as_str(), reply.faults.iter().map(String::as_str).collect::<Vec<_>>()),
            (text, faults.to_vec())
        );
        // Putting a reply in form twice changes nothing more.
        assert_eq!(format.clean(&reply.text, &Said::default()).text, reply.text, "{raw}");
    }

    #[test]
    fn english_replies_are_mended() {
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
        ] {
            check(format, raw, text, faults);
        }
    }

    #[test]
    fn chinese_replies_are_mended() {
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
        ] {
            check(format, raw, text, faults);
        }
    }

    #[test]
    fn what_cannot_be_mended_is_named() {
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
        ] {
            assert_eq!(format.clean(raw, &Said::default()).faults, faults, "{raw}");
        }
        let artificial = Format { artificial: true, ..english };
        assert!(artificial.clean("As an AI, I cannot say.", &Said::default()).faults.is_empty());
    }

    #[test]
    fn sentences_stand_outside_of_parentheses() {
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

    #[test]
    fn a_long_sentence_is_not_said_twice() {
        let mut said = Said::default();
        said.add("(sits) The bridge was gone before the rain came. Yes.");
        said.add("(坐下) 雨还没来，桥就已经断了。好。");
        for (language, raw, repeats) in [
            (Language::En, "(stands) The bridge was gone, before the rain came!", true),
            (Language::En, "The bridge was gone before the rain.", false),
            (Language::En, "Yes.", false),
            (Language::Zh, "雨还没来，桥就已经断了！", true),
            (Language::Zh, "好。", false),
        ] {
            let faults = format(language, "Ann", &["Bob"]).clean(raw, &said).faults;
            assert_eq!(faults == [REPEATS_HISTORY], repeats, "{raw}: {faults:?}");
        }
    }
}
