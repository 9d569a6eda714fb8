//! A parsed TOML or JSON text that knows the source span of each value, with `--set` assignments applied on top.

mod finding;
pub(crate) mod json_schema;
mod json_spans;
pub(crate) mod problems;
pub(crate) mod schema_check;

pub use finding::{Check, Finding};
pub use problems::{PipelineError, Problem};

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::problems::SourceSpan;

/// The source spans of a key and its value, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spans {
    source: usize,
    key: Option<Range<usize>>,
    value: Range<usize>,
}

/// A parsed document with the span of each part.
#[derive(Debug)]
pub(crate) struct Document {
    /// The document as JSON; parts that do not parse are missing.
    pub(crate) value: Value,
    /// Whether everything parsed. If not, a missing value may be the result of a syntax error.
    pub(crate) complete: bool,
    source: usize,
    spans: BTreeMap<String, Spans>,
}

impl Document {
    /// Parses TOML and reports every syntax error.
    pub(crate) fn toml(source: usize, text: &str, problems: &mut Vec<Problem>) -> Self {
        let (table, faults) = DeTable::parse_recoverable(text);
        let mut document = Self::empty(source);
        document.complete = faults.is_empty();
        problems.extend(faults.iter().map(|fault| syntax(source, text, fault)));
        document.value = document.table("", source, table.get_ref(), problems);
        document
    }

    /// Parses JSON and reports the first syntax error.
    pub(crate) fn json(source: usize, text: &str, problems: &mut Vec<Problem>) -> Self {
        let mut document = Self::empty(source);
        match serde_json::from_str(text) {
            Ok(value) => {
                document.value = value;
                for entry in json_spans::spans(text) {
                    let json_spans::JsonSpan { pointer, key, value } = entry;
                    document.spans.insert(pointer, Spans { source, key, value });
                }
            }
            Err(fault) => {
                document.complete = false;
                let line_begin: usize =
                    text.split_inclusive('\n').take(fault.line().saturating_sub(1)).map(str::len).sum();
                let at = whole_characters(text, line_begin + fault.column().saturating_sub(1));
                let message = fault.to_string();
                let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
                problems.push(Problem::new(SourceSpan { source, span: at }, format!("invalid JSON: {message}")));
            }
        }
        document
    }

    fn empty(source: usize) -> Self {
        Self { value: Value::Object(Map::new()), complete: true, source, spans: BTreeMap::new() }
    }

    /// Applies a `KEY=VALUE` assignment. The value replaces the existing one, even if both are tables.
    pub(crate) fn overlay(&mut self, source: usize, text: &str, problems: &mut Vec<Problem>) {
        let (table, faults) = DeTable::parse_recoverable(text);
        let keys = keys(text);
        if !faults.is_empty() || keys.is_empty() {
            problems.push(no_assignment(source, text, keys.is_empty()));
            return;
        }
        let mut table = table.get_ref();
        let (mut pointer, mut depth) = (String::new(), keys.len());
        for key in &keys {
            let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == key) else { break };
            pointer = child(&pointer, key);
            depth -= 1;
            if depth == 0 {
                let mut part = Self::empty(source);
                let inner = part.convert(&pointer, source, Some(name.span()), value, problems);
                self.put(&keys, inner);
                let inside = format!("{pointer}/");
                self.spans.retain(|entry, _| *entry != pointer && !entry.starts_with(&inside));
                self.spans.append(&mut part.spans);
                return;
            }
            let entry = Spans { source, key: Some(name.span()), value: name.span() };
            self.spans.entry(pointer.clone()).or_insert(entry);
            let DeValue::Table(inner) = value.get_ref() else { break };
            table = inner;
        }
        problems.push(no_assignment(source, text, false));
    }

    /// Sets a value at a path; anything on the way that is not a table is replaced by one.
    fn put(&mut self, keys: &[String], value: Value) {
        let mut slot = &mut self.value;
        for key in keys {
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            slot = slot.as_object_mut().expect("the loop made it a table").entry(key).or_insert(Value::Null);
        }
        *slot = value;
    }

    fn table(&mut self, pointer: &str, source: usize, table: &DeTable<'_>, problems: &mut Vec<Problem>) -> Value {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut object = Map::new();
        for (key, value) in entries {
            let name = key.get_ref().to_string();
            let value = self.convert(&child(pointer, &name), source, Some(key.span()), value, problems);
            object.insert(name, value);
        }
        Value::Object(object)
    }

    fn convert(
        &mut self,
        pointer: &str,
        source: usize,
        key: Option<Range<usize>>,
        value: &Spanned<DeValue<'_>>,
        problems: &mut Vec<Problem>,
    ) -> Value {
        self.spans.insert(pointer.to_owned(), Spans { source, key, value: value.span() });
        let at = || SourceSpan { source, span: value.span() };
        match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(truth) => Value::Bool(*truth),
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).map_or_else(
                |_| {
                    problems.push(Problem::new(at(), "this integer is out of range"));
                    Value::Null
                },
                Value::from,
            ),
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok().and_then(serde_json::Number::from_f64);
                number.map_or_else(
                    || {
                        problems.push(Problem::new(at(), "this number is not finite"));
                        Value::Null
                    },
                    Value::Number,
                )
            }
            DeValue::Datetime(_) => {
                problems.push(Problem::new(at(), "dates and times are not supported").expected("a string in quotes"));
                Value::Null
            }
            DeValue::Array(items) => Value::Array(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| {
                        self.convert(&child(pointer, &index.to_string()), source, None, item, problems)
                    })
                    .collect(),
            ),
            DeValue::Table(table) => self.table(pointer, source, table, problems),
        }
    }

    /// Returns the span of a key, else of its value, else of the nearest enclosing table that has a span.
    pub(crate) fn key(&self, pointer: &str) -> SourceSpan {
        self.find(pointer, |entry| entry.key.clone().unwrap_or_else(|| entry.value.clone()))
    }

    /// Returns the span of a value, else of the nearest enclosing table that has a span.
    pub(crate) fn at(&self, pointer: &str) -> SourceSpan {
        self.find(pointer, |entry| entry.value.clone())
    }

    fn find(&self, pointer: &str, span: impl Fn(&Spans) -> Range<usize>) -> SourceSpan {
        let mut pointer = pointer;
        loop {
            if let Some(entry) = self.spans.get(pointer).filter(|_| !pointer.is_empty()) {
                return SourceSpan { source: entry.source, span: span(entry) };
            }
            match pointer.rfind('/') {
                Some(parent) => pointer = &pointer[..parent],
                None => return SourceSpan::whole_source(self.source),
            }
        }
    }

    /// Returns whether a value was given.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        self.value.pointer(pointer).is_some()
    }

    /// Returns a string with its pointer, or the strings of a list with theirs; empty for anything else.
    pub(crate) fn strings(&self, pointer: &str) -> Vec<(String, &str)> {
        match self.value.pointer(pointer) {
            Some(Value::String(text)) => vec![(pointer.to_owned(), text)],
            Some(Value::Array(items)) => items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| Some((child(pointer, &index.to_string()), item.as_str()?)))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the keys of a table.
    pub(crate) fn keys(&self, pointer: &str) -> Vec<&str> {
        self.value
            .pointer(pointer)
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
            .collect()
    }
}

/// Returns the JSON pointer of a key or index within a value.
pub(crate) fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Formats a JSON pointer as a TOML key: `models.writer.price`, `books.paths[0]`.
pub(crate) fn dotted(pointer: &str) -> String {
    let mut dotted = String::new();
    for key in pointer.split('/').skip(1) {
        let key = key.replace("~1", "/").replace("~0", "~");
        if key.bytes().all(|byte| byte.is_ascii_digit()) && !dotted.is_empty() {
            dotted.extend(["[", &key, "]"]);
            continue;
        }
        if !dotted.is_empty() {
            dotted.push('.');
        }
        let bare = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if bare { dotted.push_str(&key) } else { dotted.extend(["\"", &key, "\""]) }
    }
    dotted
}

/// Returns the path of keys before the first `=` of an assignment; empty if there is none.
fn keys(text: &str) -> Vec<String> {
    let Some(equals) = equals(text) else { return Vec::new() };
    let key = format!("{}=0", &text[..equals]);
    let Ok(table) = DeTable::parse(&key) else { return Vec::new() };
    let mut keys = Vec::new();
    let mut table = table.get_ref();
    while let Some((name, value)) = table.iter().next() {
        keys.push(name.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    keys
}

/// Returns the byte offset of the first `=` outside quotes.
fn equals(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(offset, c)| {
        match (quote, c) {
            (None, '=') => return Some(offset),
            (None, '"' | '\'') => quote = Some(c),
            (Some(opening), _) if c == opening => quote = None,
            _ => {}
        }
        None
    })
}

fn syntax(source: usize, text: &str, fault: &toml::de::Error) -> Problem {
    let span = fault.span().unwrap_or(text.len()..text.len());
    let span = if span.is_empty() { whole_characters(text, span.start) } else { span };
    let (message, expected) = fault.message().split_once(", expected ").unwrap_or((fault.message(), ""));
    let problem = Problem::new(SourceSpan { source, span }, format!("invalid TOML: {message}"));
    if expected.is_empty() { problem } else { problem.expected(expected) }
}

fn no_assignment(source: usize, text: &str, no_key: bool) -> Problem {
    let Some(equals) = equals(text).filter(|_| !no_key) else {
        let at = SourceSpan { source, span: 0..text.len() };
        return Problem::new(at, "not an assignment").expected("KEY=VALUE, such as `simulate.tau=3`");
    };
    let value = text[equals + 1..].trim();
    let begin = text.len() - text[equals + 1..].trim_start().len();
    let at = SourceSpan { source, span: begin..begin + value.len() };
    let problem = Problem::new(at, "the value is not valid TOML");
    if value.is_empty() {
        problem.expected("a value after `=`")
    } else if value.starts_with(['[', '{', '"', '\'']) {
        problem.expected(
            "a TOML value; put the whole assignment in single quotes, so that the shell keeps the inner quotes",
        )
    } else {
        problem.expected(format!("quotes around a string: --set '{}=\"{value}\"'", text[..equals].trim()))
    }
}

/// Returns the byte range of the character at an offset, or of the last character if the offset is past the end.
fn whole_characters(text: &str, offset: usize) -> Range<usize> {
    let begin = text.floor_char_boundary(offset.min(text.len().saturating_sub(1)));
    begin..begin + text[begin..].chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Document, Vec<Problem>) {
        let mut problems = Vec::new();
        (Document::toml(0, text, &mut problems), problems)
    }

    #[test]
    fn spans_are_bytes_also_after_chinese() {
        let text = "name = \"红楼梦\" # 注\n[models.\"作者\"]\nprice = { input = 1 }\n[[x]]\ny = [1, 2]\n";
        let (document, problems) = read(text);
        assert!(problems.is_empty(), "{problems:?}");
        for (pointer, key, value) in [
            ("/name", "name", "\"红楼梦\""),
            ("/models/作者/price", "price", "{ input = 1 }"),
            ("/models/作者/price/input", "input", "1"),
            ("/models/作者", "\"作者\"", "[models.\"作者\"]"),
            ("/x/0/y/1", "2", "2"),
            ("/name/missing", "name", "\"红楼梦\""),
        ] {
            assert_eq!(&text[document.key(pointer).span], key, "key of {pointer}");
            assert_eq!(&text[document.at(pointer).span], value, "value of {pointer}");
        }
        assert_eq!(document.at("/missing"), SourceSpan::whole_source(0));
    }

    #[test]
    fn every_syntax_error_is_reported() {
        let (document, problems) = read("a = \nb = 1\nc = \"open\nd = 2\n");
        assert!(!document.complete);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!(document.value["b"], 1);
        assert_eq!(document.value["d"], 2);
    }

    #[test]
    fn values_that_json_lacks_are_reported() {
        let (_, problems) = read("a = inf\nb = 2024-01-01\nc = 99999999999999999999\n");
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn a_set_overrides_the_file_and_keeps_its_own_span() {
        let (mut document, mut problems) =
            read("[models.writer]\ntemperature = 0.5\nmodel = \"m\"\n[books]\npaths = [\"a\"]\n");
        for (source, text) in [
            "models.writer.temperature = 1",
            "books.paths=[\"书\", \"b\"]",
            "models.\"a=b\".model='x=y'",
            "cast={en='a'}",
        ]
        .into_iter()
        .enumerate()
        {
            document.overlay(source + 1, text, &mut problems);
        }
        assert!(problems.is_empty(), "{problems:?}");
        let expected = serde_json::json!({
            "models": {"writer": {"temperature": 1, "model": "m"}, "a=b": {"model": "x=y"}},
            "books": {"paths": ["书", "b"]},
            "cast": {"en": "a"},
        });
        assert_eq!(document.value, expected);
        assert_eq!(document.at("/models/writer/temperature"), SourceSpan { source: 1, span: 28..29 });
        assert_eq!(document.at("/books/paths/1"), SourceSpan { source: 2, span: 20..23 });
        assert_eq!(document.at("/books"), SourceSpan { source: 0, span: 46..53 });
        assert_eq!(document.key("/models/a=b"), SourceSpan { source: 3, span: 7..12 });
    }

    #[test]
    fn a_set_table_replaces_a_table() {
        let (mut document, mut problems) = read("cast = { en = \"a\", zh = \"b\" }");
        document.overlay(1, "cast={en='c'}", &mut problems);
        assert_eq!(document.value, serde_json::json!({"cast": {"en": "c"}}));
        document.overlay(2, "cast.en.deep=1", &mut problems);
        assert_eq!(document.value, serde_json::json!({"cast": {"en": {"deep": 1}}}));
    }

    #[test]
    fn an_invalid_set_says_what_is_missing() {
        for (text, span, expected) in [
            ("cast.judge=strong", "strong", "quotes around a string: --set 'cast.judge=\"strong\"'"),
            ("cast.judge=模型", "模型", "quotes around a string: --set 'cast.judge=\"模型\"'"),
            ("tau", "tau", "KEY=VALUE, such as `simulate.tau=3`"),
            ("tau=", "", "a value after `=`"),
            ("[simulate]", "[simulate]", "KEY=VALUE, such as `simulate.tau=3`"),
        ] {
            let (mut document, mut problems) = read("");
            document.overlay(1, text, &mut problems);
            assert_eq!(problems.len(), 1, "{text}");
            assert_eq!(&text[problems[0].span.clone()], span);
            assert_eq!(problems[0].expected.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_json_error_has_its_span() {
        let mut problems = Vec::new();
        let text = "{\n  \"name\": \"薛嵩\",,\n}";
        let document = Document::json(3, text, &mut problems);
        assert!(!document.complete);
        assert_eq!((problems[0].source, &text[problems[0].span.clone()]), (3, ","));
    }

    #[test]
    fn pointers_read_as_keys() {
        for (pointer, expected) in [
            ("/models/a~1b/price", "models.\"a/b\".price"),
            ("/books/paths/0", "books.paths[0]"),
            ("/cast/sources/12", "cast.sources[12]"),
            ("/models/作者", "models.\"作者\""),
        ] {
            assert_eq!(dotted(pointer), expected);
        }
    }
}
