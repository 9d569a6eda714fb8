//! JSON as models write it: in fences, amid prose, with the usual damage.
//!
//! Only damage with one possible meaning is mended; anything else is an error that the model is told.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::CharIndices;

use serde_json::Value;

/// At most so many `{` of a reply's prose are tried as the beginning of the answer.
const MOST_STARTS: usize = 16;

/// Reads the JSON value of a reply: the whole text, else what a fence holds, else the first `{…}` that is JSON; each as it
/// stands, then mended.
pub(super) fn json_of(text: &str) -> Result<Value, String> {
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
        .flat_map(|candidate| [Cow::Borrowed(candidate), Cow::Owned(mended(candidate))])
        .filter_map(|candidate| serde_json::from_str(&candidate).ok())
        .find(|value: &Value| value.is_object() || value.is_array())
        .ok_or_else(|| format!("the reply is not JSON: {error}"))
}

/// Puts null where a key of an object is absent whose value may be null: to leave out what there is not says the same.
pub(super) fn fill_nulls(schema: &Value, value: &mut Value) {
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
    let kind = &schema["type"];
    let is_among = |list: &Value, null: Value| list.as_array().is_some_and(|list| list.contains(&null));
    kind == "null"
        || is_among(kind, Value::from("null"))
        || is_among(&schema["enum"], Value::Null)
        || variants(schema).any(takes_null)
}

/// Returns the forms that a value may have.
fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten()
}

/// Returns what stands in each fence, without the language after the opening mark; the last may be left open.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|inside| {
        inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+')).trim()
    })
}

/// Returns each outermost `{…}` whose braces balance, strings left out of the count.
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

/// Returns the length of the balanced `{…}` that a text begins with.
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

/// Returns a text with the usual damage of JSON mended: commas before a closing bracket, strings in single or curly quotes,
/// raw line ends and unknown escapes in strings, halves of surrogate pairs, full-width commas and colons, Python's words.
fn mended(text: &str) -> String {
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

/// Copies a string up to its closing mark. A mark other than `"` closes only where a string can end, since it also stands for an apostrophe.
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

/// Returns JSON with each escape of half a surrogate pair replaced by that of U+FFFD, since no Rust string can hold it.
pub(super) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
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
            // What is escaped may be longer than a byte; the next search begins behind it.
            _ => escape + 1 + json[escape + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if copied == 0 { Cow::Borrowed(json) } else { Cow::Owned(fixed + &json[copied..]) }
}

/// Returns the code unit of the `\uXXXX` that a text begins with.
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
    fn json_is_found_and_mended() {
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
    fn a_key_that_is_left_out_is_null_where_it_may_be() {
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
    fn what_is_no_json_stays_an_error() {
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
        fn json_amid_prose_is_read_as_it_stands(key in "\\PC{0,8}", word in "\\PC{0,12}", n in any::<i64>()) {
            let value = json!({"key": key, "list": [word, n]});
            prop_assert_eq!(json_of(&format!("Here: {value}")), Ok(value.clone()));
            let text = value.to_string();
            prop_assert_eq!(serde_json::from_str::<Value>(&mended(&text)).expect("mending spoils nothing"), value);
        }
    }
}
