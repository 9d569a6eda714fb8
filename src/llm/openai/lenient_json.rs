//! Parses JSON as written by models: in code fences, within prose, and with common syntax errors.
//!
//! Only errors with a single possible meaning are repaired; anything else is reported to the model.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::CharIndices;

use serde_json::Value;

/// Maximum number of `{` in a reply that are tried as the start of the answer.
const MOST_STARTS: usize = 16;

/// Parses the JSON value of a reply: the whole text, otherwise the content of a code fence, otherwise the first `{…}`
/// that is JSON; each first as it is, then repaired.
pub(crate) fn json_of(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("the reply is empty".to_owned());
    }
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    std::iter::once(text)
        .chain(fenced(text))
        .chain(braced(text))
        .flat_map(|candidate| [Cow::Borrowed(candidate), Cow::Owned(repaired(candidate))])
        .filter_map(|candidate| serde_json::from_str(&candidate).ok())
        .find(|value: &Value| value.is_object() || value.is_array())
        .ok_or_else(|| format!("the reply is not JSON: {error}"))
}

/// Inserts null for missing keys whose value may be null; leaving out an optional value means the same.
pub(crate) fn fill_nulls(schema: &Value, value: &mut Value) {
    let mut forms = variants(schema).filter(|form| !takes_null(form));
    if let (Some(only), None) = (forms.next(), forms.next()) {
        fill_nulls(only, value);
    }
    match value {
        Value::Object(object) => {
            for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
                match object.get_mut(key) {
                    Some(value) => fill_nulls(schema, value),
                    None if takes_null(schema) => drop(object.insert(key.clone(), Value::Null)),
                    None => {}
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill_nulls(&schema["items"], item)),
        _ => {}
    }
}

fn takes_null(schema: &Value) -> bool {
    let schema_type = &schema["type"];
    let is_among = |list: &Value, null: Value| list.as_array().is_some_and(|list| list.contains(&null));
    schema_type == "null"
        || is_among(schema_type, Value::from("null"))
        || is_among(&schema["enum"], Value::Null)
        || variants(schema).any(takes_null)
}

/// Returns the alternatives that a schema allows.
fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten()
}

/// Returns the content of every code fence, without the language tag; the last one may be unclosed.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|inside| {
        inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+')).trim()
    })
}

/// Returns every outermost balanced `{…}`, ignoring braces in strings.
fn braced(text: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    let mut starts = 0;
    std::iter::from_fn(move || {
        while starts < MOST_STARTS {
            let start = from + text[from..].find('{')?;
            starts += 1;
            if let Some(length) = balanced(&text[start..]) {
                from = start + length;
                return Some(&text[start..from]);
            }
            from = start + 1;
        }
        None
    })
}

/// Returns the length of the balanced `{…}` at the start of a text.
fn balanced(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Repairs common syntax errors: trailing commas, single or curly quotes, raw line breaks and unknown escapes in
/// strings, lone surrogates, full-width commas and colons, Python literals.
fn repaired(text: &str) -> String {
    let text = without_lone_surrogates(text);
    let mut json = String::with_capacity(text.len() + 16);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let rest = text[at + c.len_utf8()..].trim_start();
        match c {
            '"' => string(&text, &mut chars, '"', &mut json),
            '\'' => string(&text, &mut chars, '\'', &mut json),
            '“' => string(&text, &mut chars, '”', &mut json),
            ',' | '，' if rest.starts_with(['}', ']']) => {}
            '，' => json.push(','),
            '：' => json.push(':'),
            c if c.is_ascii_alphabetic() => {
                let length = text[at..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len() - at);
                let word = &text[at..at + length];
                for _ in 1..length {
                    chars.next();
                }
                json.push_str(match word {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    word => word,
                });
            }
            c => json.push(c),
        }
    }
    json
}

/// Copies a string up to its closing quote. A quote other than `"` closes the string only where a string can end,
/// because it may also be an apostrophe.
fn string(text: &str, chars: &mut Peekable<CharIndices<'_>>, close: char, json: &mut String) {
    json.push('"');
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == close => {
                let rest = text[at + c.len_utf8()..].trim_start();
                if close == '"' || rest.is_empty() || rest.starts_with([',', ':', '}', ']', '，', '：']) {
                    break;
                }
                json.push(c);
            }
            '"' => json.push_str("\\\""),
            '\\' => match chars.peek() {
                Some((_, next @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u'))) => {
                    json.extend(['\\', *next]);
                    chars.next();
                }
                Some((_, '\'')) => {}
                _ => json.push_str("\\\\"),
            },
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            c if c.is_ascii_control() => {}
            c => json.push(c),
        }
    }
    json.push('"');
}

/// Replaces escapes of lone surrogates by that of U+FFFD, because Rust strings cannot contain them.
pub(crate) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut fixed = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = json[at..].find('\\') {
        let escape = at + found;
        let unit = unit(&json[escape..]);
        at = match unit {
            Some(0xd800..=0xdbff) if matches!(json.get(escape + 6..).and_then(self::unit), Some(0xdc00..=0xdfff)) => {
                escape + 12
            }
            Some(0xd800..=0xdfff) => {
                fixed.push_str(&json[copied..escape]);
                fixed.push_str("\\ufffd");
                copied = escape + 6;
                copied
            }
            // The escaped character may be longer than a byte; the next search starts after it.
            _ => escape + 1 + json[escape + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if copied == 0 { Cow::Borrowed(json) } else { Cow::Owned(fixed + &json[copied..]) }
}

/// Parses the code unit of a `\uXXXX` at the start of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_and_repaired() {
        for (text, expected) in [
            (r#"{"a": 1}"#, json!({"a": 1})),
            ("\u{feff} {\"a\": 1}\n", json!({"a": 1})),
            ("Sure!\n```json\n{\"a\": [1, 2]}\n```\nAnything else?", json!({"a": [1, 2]})),
            ("```\n{\"a\": 1}", json!({"a": 1})),
            ("```{\"a\": \"```\"}```", json!({"a": "```"})),
            (r#"I use {braces} often: {"a": {"b": "}"}} - see?"#, json!({"a": {"b": "}"}})),
            (r#"好的，结果如下：{"评分": 3}。"#, json!({"评分": 3})),
            (r#"{"a": [1, 2,], "b": 3,}"#, json!({"a": [1, 2], "b": 3})),
            (r#"{"a": "1,}"}"#, json!({"a": "1,}"})),
            (r#"{'a': 'it's "so"', 'b': ['x']}"#, json!({"a": "it's \"so\"", "b": ["x"]})),
            (r"{'a': 'it\'s'}", json!({"a": "it's"})),
            ("{“评分”：3，“理由”：“他说：“好”。”，}", json!({"评分": 3, "理由": "他说：“好”。"})),
            ("{\"a\": \"one\ntwo\tthree\"}", json!({"a": "one\ntwo\tthree"})),
            (r#"{"a": "\alpha", "b": "C:\\n"}"#, json!({"a": "\\alpha", "b": "C:\\n"})),
            (r#"{"a": True, "b": None, "c": "None"}"#, json!({"a": true, "b": null, "c": "None"})),
            (r#"{"a": "x\ud800y\ud83d\ude00"}"#, json!({"a": "x\u{fffd}y😀"})),
        ] {
            assert_eq!(json_of(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn missing_nullable_keys_become_null() {
        let line = json!({"type": "object", "properties": {
            "speaker": {"type": "string"},
            "动作": {"type": ["string", "null"]},
            "mood": {"enum": ["calm", null]},
            "place": {"anyOf": [{"type": "object", "properties": {"room": {"type": ["string", "null"]}}}, {"type": "null"}]},
        }});
        let schema = json!({"type": "object", "properties": {"lines": {"type": "array", "items": line}}});
        for (given, filled) in [
            (json!({}), json!({})),
            (json!({"lines": []}), json!({"lines": []})),
            (json!({"lines": [{}]}), json!({"lines": [{"动作": null, "mood": null, "place": null}]})),
            (
                json!({"lines": [{"speaker": "三娘", "动作": "撑伞", "mood": "calm", "place": {}}, 3]}),
                json!({"lines": [{"speaker": "三娘", "动作": "撑伞", "mood": "calm", "place": {"room": null}}, 3]}),
            ),
            (json!(["lines"]), json!(["lines"])),
        ] {
            let mut value = given.clone();
            fill_nulls(&schema, &mut value);
            assert_eq!(value, filled, "{given}");
        }
    }

    #[test]
    fn invalid_json_is_an_error() {
        for text in ["", "  ", "I would rather not.", "{\"a\": ", "```json\n{\"a\": [1,\n```", "{a} {b}", "'word'"] {
            json_of(text).expect_err(text);
        }
    }

    #[test]
    fn whole_pairs_and_escaped_backslashes_stay() {
        for json in [r#""\ud83d\ude00""#, r#""\\ud800""#, r#""\n\"""#, "\"\\\u{85}\u{660e}\"", "\\"] {
            assert_eq!(without_lone_surrogates(json), json);
        }
        assert_eq!(without_lone_surrogates(r"\ud800\ud800\udc00\udc00"), r"\ufffd\ud800\udc00\ufffd");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"[{}\[\]"'“”,:\\ud8a0c`\n 中]{0,40}"#) {
            let _ = json_of(&text);
        }

        #[test]
        fn json_within_prose_is_parsed_unchanged(key in "\\PC{0,8}", word in "\\PC{0,12}", n in any::<i64>()) {
            let value = json!({"key": key, "list": [word, n]});
            prop_assert_eq!(json_of(&format!("Here: {value}")), Ok(value.clone()));
            let text = value.to_string();
            prop_assert_eq!(serde_json::from_str::<Value>(&repaired(&text)).expect("repairing keeps valid JSON valid"), value);
        }
    }
}
