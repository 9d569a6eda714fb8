//! Expands the `{{…}}` macros of character cards: `{{char}}`, `{{user}}` and those that do not depend on a chat.

use crate::schema::Language;

/// Returns a text with its macros expanded.
///
/// `{{char}}`, `<CHAR>` and `<BOT>` become the name. `{{user}}` and `<USER>` become `the visitor` or `对方`, capitalized
/// at the start of an English sentence. `{{random:…}}` and `{{pick:…}}` become their first choice, so that the result
/// is deterministic. Comments and macros that depend on a chat are removed.
pub(super) fn resolved(text: &str, name: &str, language: Language) -> String {
    let mut resolved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '<']) {
        resolved.push_str(&rest[..at]);
        rest = &rest[at..];
        let (macro_, length) = macro_at(rest);
        match macro_ {
            None => {
                resolved.push_str(&rest[..1]);
                rest = &rest[1..];
                continue;
            }
            Some(Macro::Char) => resolved.push_str(name),
            Some(Macro::User) => {
                let noun = noun(language, starts_sentence(&resolved));
                resolved.push_str(noun);
            }
            Some(Macro::Text(text)) => resolved.push_str(&text),
        }
        rest = &rest[length..];
    }
    resolved.push_str(rest);
    resolved
}

enum Macro {
    Char,
    User,
    Text(String),
}

/// Returns the macro at the start of a text and its length in bytes.
fn macro_at(text: &str) -> (Option<Macro>, usize) {
    for (word, is_user) in [("<user>", true), ("<char>", false), ("<bot>", false)] {
        if text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)) {
            return (Some(if is_user { Macro::User } else { Macro::Char }), word.len());
        }
    }
    let Some(end) = text.strip_prefix("{{").and_then(|inner| inner.find("}}")) else { return (None, 0) };
    let inner = text[2..end + 2].trim();
    let (name, arguments) = inner.split_once(':').unwrap_or((inner, ""));
    let macro_ = match name.trim().to_ascii_lowercase().as_str() {
        "char" => Macro::Char,
        "user" => Macro::User,
        "random" | "pick" => {
            let arguments = arguments.trim_start_matches(':');
            let marks: &[char] = if arguments.contains("::") { &[':'] } else { &[','] };
            Macro::Text(arguments.split(marks).next().unwrap_or_default().trim().to_owned())
        }
        "reverse" => Macro::Text(arguments.chars().rev().collect()),
        _ => Macro::Text(String::new()),
    };
    (Some(macro_), end + 4)
}

/// Returns whether the text after `before` begins a sentence.
fn starts_sentence(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '*', '"', '“', '‘', '(']);
    before.is_empty() || before.ends_with(['.', '!', '?', '…', '\n', ':', '”'])
}

const fn noun(language: Language, starts_sentence: bool) -> &'static str {
    match (language, starts_sentence) {
        (Language::En, true) => "The visitor",
        (Language::En, false) => "the visitor",
        (Language::Zh, _) => "对方",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_replaced_or_removed() {
        for (text, expected) in [
            ("{{char}} and {{User}}’s dog. {{user}} left.", "Mara and the visitor’s dog. The visitor left."),
            ("<BOT> waits for <USER>; <b>bold</b> stays", "Mara waits for the visitor; <b>bold</b> stays"),
            ("{{random:red,blue}} {{pick::a::b}} {{reverse:abc}}{{// no word}}{{time}}", "red a cba"),
            ("{{ char }} {{", "Mara {{"),
            ("{char} {{", "{char} {{"),
            ("{{}}}}", "}}"),
        ] {
            assert_eq!(resolved(text, "Mara", Language::En), expected, "{text}");
        }
        assert_eq!(resolved("{{char}}看着{{user}}。", "阿满", Language::Zh), "阿满看着对方。");
    }
}
