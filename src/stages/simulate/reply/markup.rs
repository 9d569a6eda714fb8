//! Markup in a reply: wrappers, template tokens, notes, action marks and quotation marks.
//!
//! This module recognizes and removes them; `reply` decides which ones are faults.

use serde_json::Value;

use super::words::WORDS;
use crate::text::{is_closing_quote, is_han, is_mark};

/// Extracts a reply from code fences, a tag or JSON. None if it is not wrapped.
pub(crate) fn unwrapped(text: &str) -> Option<String> {
    let text = text.trim();
    if text.contains("```") {
        let lines = text.lines().filter_map(|line| match line.trim().strip_prefix("```") {
            // The text after an opening fence is the name of a language.
            Some(rest) => rest.strip_suffix("```"),
            None => Some(line),
        });
        let bare = lines.collect::<Vec<_>>().join("\n").replace("```", "");
        return Some(unwrapped(&bare).unwrap_or(bare));
    }
    if let Some(inner) = text.strip_prefix('`').and_then(|text| text.strip_suffix('`')) {
        return Some(inner.to_owned());
    }
    if let Some((tag, rest)) = text.strip_prefix('<').and_then(|text| text.split_once('>'))
        && !tag.is_empty()
        && let Some(inner) = rest.strip_suffix(&format!("</{tag}>"))
    {
        return Some(inner.to_owned());
    }
    let Ok(Value::Object(answer)) = serde_json::from_str(text) else { return None };
    let text_of = |key: &str| answer.get(key).and_then(Value::as_str);
    let only_text = || {
        let mut texts = answer.values().filter_map(Value::as_str);
        texts.next().filter(|_| texts.next().is_none())
    };
    let reply_text = WORDS.reply_keys.iter().find_map(|key| text_of(key)).or_else(only_text)?;
    let action = WORDS.action_keys.iter().find_map(|key| text_of(key)).filter(|action| !action.trim().is_empty());
    Some(action.map_or_else(
        || reply_text.to_owned(),
        |action| format!("({}) {reply_text}", action.trim_matches(['(', ')', '*'])),
    ))
}

/// Returns whether a text still looks like code or JSON.
pub(crate) fn is_wrapped(text: &str) -> bool {
    text.contains("```") || (text.starts_with('{') && text.ends_with('}'))
}

/// Removes leading chat template tokens and everything from the next token on. None if there are no tokens.
pub(crate) fn without_tokens(text: &str) -> Option<&str> {
    let (mut rest, mut found) = (text, false);
    loop {
        let token = WORDS.template_tokens.iter().filter_map(|token| Some((rest.find(token)?, token.as_str()))).min();
        let Some((at, token)) = token else { return found.then_some(rest) };
        found = true;
        if rest[..at].chars().any(char::is_alphanumeric) {
            return Some(&rest[..at]);
        }
        let after = &rest[at + token.len()..];
        rest = if token.starts_with('<') && !token.ends_with('>') {
            after.split_once('>').map_or("", |(_, after)| after)
        } else {
            after
        };
        rest = rest.trim_start();
        rest = ["assistant\n", "model\n"].iter().find_map(|role| rest.strip_prefix(role)).unwrap_or(rest);
    }
}

/// Removes bracketed notes to the reader. None if there are none. Full-width parentheses must already be ASCII.
pub(crate) fn without_notes(text: &str) -> Option<String> {
    let (mut bare, mut rest, mut found) = (String::new(), text, false);
    while let Some(open) = rest.find(['(', '[', '【']) {
        let close = match rest[open..].chars().next() {
            Some('(') => ')',
            Some('[') => ']',
            _ => '】',
        };
        let inside = rest[open..].trim_start_matches(['(', '[', '【']);
        if !is_note(inside) {
            let begin = rest.len() - inside.len();
            bare.push_str(&rest[..begin]);
            rest = inside;
            continue;
        }
        found = true;
        bare.push_str(rest[..open].trim_end_matches([' ', '\t']));
        // An unclosed note ends with its line, as the reply may follow on the next one.
        let end = inside.find(close).or_else(|| inside.find('\n')).unwrap_or(inside.len());
        rest = inside[end..].trim_start_matches(close);
    }
    bare.push_str(rest);
    found.then_some(bare)
}

/// Returns whether the text in brackets is a note to the reader. `out of character for him` and 出戏园子 are not.
fn is_note(inside: &str) -> bool {
    let inside = inside.trim_start().to_lowercase().replace('’', "'");
    let ends = |rest: &str| rest.trim_start().starts_with([':', '：', '-', '–', '—', '.', '。', ')', ']', '】']);
    inside.starts_with("ooc") || WORDS.notes.iter().any(|word| inside.strip_prefix(word.as_str()).is_some_and(ends))
}

/// Returns whether a line is a horizontal rule.
pub(crate) fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).collect();
    marks.len() > 2 && matches!(marks[0], '-' | '*' | '_' | '=' | '~' | '—') && marks.iter().all(|c| *c == marks[0])
}

/// Converts `*action*`, `_action_`, `[action]` and `【action】` at the start of a sentence to `(action)` and removes
/// emphasis marks elsewhere. Double asterisks are always emphasis. Also returns whether an action was converted.
pub(crate) fn actions(text: &str) -> (String, bool) {
    let text = text.replace("**", "").replace("__", "");
    let (mut result, mut rest, mut found) = (String::with_capacity(text.len()), text.as_str(), false);
    while let Some(open) = rest.find(['*', '_', '[', '【']) {
        let mark = rest[open..].chars().next().expect("`find` returned the position of a mark");
        let close = match mark {
            '[' => ']',
            '【' => '】',
            mark => mark,
        };
        result.push_str(&rest[..open]);
        let inside = &rest[open + mark.len_utf8()..];
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_han(c));
        let end = inside.find(close).filter(|end| {
            mark != '_' || !(*end == 0 || word(result.chars().last()) || word(inside[end + 1..].chars().next()))
        });
        let Some(end) = end else {
            if mark == '_' {
                result.push(mark);
            }
            rest = inside;
            continue;
        };
        let action = inside[..end].trim();
        let before = result.trim_end().chars().last();
        let is_emphasized = matches!(mark, '*' | '_') && is_emphasized_word(action, &inside[end + close.len_utf8()..]);
        if !is_emphasized
            && before.is_none_or(|c| is_mark(c) || is_closing_quote(c) || c == ')')
            && !action.starts_with('(')
            && !action.is_empty()
        {
            found = true;
            result.push('(');
            result.push_str(action);
            result.push(')');
        } else {
            result.push_str(action);
        }
        rest = &inside[end + close.len_utf8()..];
    }
    result.push_str(rest);
    (result, found)
}

/// Returns whether the marked text at the start of a sentence is an emphasized word, as in `*You* did this.` An action
/// begins in lower case or ends its sentence.
fn is_emphasized_word(inside: &str, after: &str) -> bool {
    if inside.chars().all(is_han) {
        let is_word = inside.starts_with(|c| WORDS.emphasized_characters.contains(c)) || inside.ends_with(['不', '没']);
        return is_word && inside.chars().count() < 3 && after.starts_with(is_han);
    }
    let sentence_continues =
        after.trim_start().starts_with(char::is_lowercase) || after.starts_with([',', ';', '\'', '’', '—']);
    inside.starts_with(char::is_uppercase) && !inside.ends_with(is_mark) && sentence_continues
}

/// Splits a text into a leading action in parentheses (may be empty) and the rest.
pub(crate) fn split_action(text: &str) -> (&str, &str) {
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

/// Removes a pair of quotation marks around the whole text, or a single unpaired one at either end. None if there is
/// neither.
pub(crate) fn unquoted(text: &str) -> Option<&str> {
    [('“', '”'), ('"', '"'), ('「', '」'), ('『', '』')].into_iter().find_map(|(open, close)| {
        let enclosed = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
        let enclosed = enclosed.filter(|inner| !inner.contains(open) && !inner.contains(close));
        let alone = || {
            let marks = text.chars().filter(|c| *c == open || *c == close).count();
            (marks == 1).then(|| text.strip_prefix(open).or_else(|| text.strip_suffix(close))).flatten()
        };
        enclosed.or_else(alone)
    })
}

/// Returns whether all parentheses are balanced.
pub(crate) fn balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    for c in text.chars() {
        depth += i32::from(matches!(c, '(' | '（')) - i32::from(matches!(c, ')' | '）'));
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// Replaces text in parentheses, and the parentheses, by spaces; byte offsets stay the same.
pub(crate) fn speech(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_are_removed() {
        for (text, expected) in [
            ("```\nGood day.\n```", Some("Good day.")),
            ("```json\n{\"reply\": \"Good day.\"}\n```", Some("Good day.")),
            ("{\"reply\": \"Good day.\"}", Some("Good day.")),
            ("{\"name\": \"Ann\", \"action\": \"nods\", \"speech\": \"Good day.\"}", Some("(nods) Good day.")),
            ("{\"words\": \"久仰。\"}", Some("久仰。")),
            ("{\"回复\": \"久仰。\"}", Some("久仰。")),
            ("<reply>久仰。</reply>", Some("久仰。")),
            ("`Good day.`", Some("Good day.")),
            ("{\"a\": \"b\", \"c\": \"d\"}", None),
            ("{broken", None),
            ("Good day.", None),
        ] {
            assert_eq!(unwrapped(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn template_tokens_and_notes_are_removed() {
        for (text, expected) in [
            ("<|im_end|>Good day.", Some("Good day.")),
            ("<|im_start|>assistant\nGood day.<|im_end|>\n<|im_start|>user\nHm.", Some("Good day.")),
            ("久仰。<|eot_id|>", Some("久仰。")),
            ("久仰。<｜end▁of▁sentence｜>", Some("久仰。")),
            ("Good day.</s>", Some("Good day.")),
            ("Is 2 < 3?", None),
        ] {
            assert_eq!(without_tokens(text), expected, "{text}");
        }
        for (text, expected) in [
            ("Good day. (OOC: shall we go on?)", Some("Good day.")),
            ("[Note: she is afraid] Good day. (nods)", Some(" Good day. (nods)")),
            ("久仰。(注：他在试探)", Some("久仰。")),
            ("(nods) Good [day].", None),
            ("(notes it down) Good day.", None),
            ("(Author’s note: shall we go on?) Good day.", Some(" Good day.")),
            ("Good day. (Out of character - shall we go on?)", Some("Good day.")),
            ("(out of character for him, he laughs) Good day.", None),
            ("久仰。(出戏：要继续吗？)", Some("久仰。")),
            ("久仰。【备注】", Some("久仰。")),
            ("(出戏园子，拱手)久仰。", None),
            ("(说明来意)久仰。", None),
            ("(OOC: shall we go on?\nGood day.", Some("\nGood day.")),
            ("(OOC：要继续吗？\n久仰。", Some("\n久仰。")),
        ] {
            assert_eq!(without_notes(text).as_deref(), expected, "{text}");
        }
    }
    #[test]
    fn an_emphasized_word_is_not_an_action() {
        for (text, expected, found) in [
            ("*You* did this.", "You did this.", false),
            ("I said no. *Never* again.", "I said no. Never again.", false),
            ("_Hamlet_ is a play.", "Hamlet is a play.", false),
            ("*You*, of all people.", "You, of all people.", false),
            ("*smiles* well, no.", "(smiles) well, no.", true),
            ("*Smiles* Good day.", "(Smiles) Good day.", true),
            ("*She leaves.* so be it.", "(She leaves.) so be it.", true),
            ("[Nods] well, no.", "(Nods) well, no.", true),
            ("*你*竟敢骗我。", "你竟敢骗我。", false),
            ("走吧。*从不*回头。", "走吧。从不回头。", false),
            ("*点头*久仰。", "(点头)久仰。", true),
            ("*你我相视* 久仰。", "(你我相视) 久仰。", true),
            ("【点头】久仰。", "(点头)久仰。", true),
        ] {
            assert_eq!(actions(text), (expected.to_owned(), found), "{text}");
        }
    }
}
