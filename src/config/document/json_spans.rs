//! Finds the source span of each value in a JSON text. Does not validate syntax: the text must have been parsed before.

use std::ops::Range;

use super::child;

/// The source span of a JSON value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonSpan {
    /// JSON Pointer.
    pub(crate) pointer: String,
    /// The key with its quotes; `None` for array items and the root.
    pub(crate) key: Option<Range<usize>>,
    pub(crate) value: Range<usize>,
}

/// Returns the spans of all values in a text that `serde_json` accepted.
pub(crate) fn spans(text: &str) -> Vec<JsonSpan> {
    let mut scan = Scan { text, at: 0, spans: Vec::new() };
    scan.value("", None);
    scan.spans
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    spans: Vec<JsonSpan>,
}

impl Scan<'_> {
    fn value(&mut self, pointer: &str, key: Option<Range<usize>>) {
        let begin = self.peek().0;
        let index = self.spans.len();
        self.spans.push(JsonSpan { pointer: pointer.to_owned(), key, value: begin..begin });
        match self.peek().1 {
            b'{' => self.items(b'}', |scan, _| {
                let key = scan.string();
                let name: String = serde_json::from_str(&scan.text[key.clone()]).unwrap_or_default();
                scan.skip(b':');
                scan.value(&child(pointer, &name), Some(key));
            }),
            b'[' => self.items(b']', |scan, index| scan.value(&child(pointer, &index.to_string()), None)),
            b'"' => drop(self.string()),
            _ => {
                let rest = &self.text[self.at..];
                let ends = |c: char| matches!(c, ',' | '}' | ']') || c.is_ascii_whitespace();
                self.at += rest.find(ends).unwrap_or(rest.len());
            }
        }
        self.spans[index].value.end = self.at;
    }

    fn items(&mut self, close: u8, mut item: impl FnMut(&mut Self, usize)) {
        self.at += 1;
        let mut index = 0;
        while self.peek().1 != close && self.at < self.text.len() {
            item(self, index);
            self.skip(b',');
            index += 1;
        }
        self.at = self.text.len().min(self.at + 1);
    }

    fn string(&mut self) -> Range<usize> {
        let begin = self.peek().0;
        let mut escaped = false;
        for (offset, byte) in self.text.bytes().enumerate().skip(begin + 1) {
            if byte == b'"' && !escaped {
                self.at = offset + 1;
                return begin..self.at;
            }
            escaped = byte == b'\\' && !escaped;
        }
        self.at = self.text.len();
        begin..self.at
    }

    fn skip(&mut self, mark: u8) {
        if self.peek().1 == mark {
            self.at += 1;
        }
    }

    /// Skips whitespace and returns the offset and byte there, or 0 at the end.
    fn peek(&mut self) -> (usize, u8) {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        (self.at, bytes.get(self.at).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::spans;

    #[test]
    fn every_value_has_its_span() {
        let text = r#" { "name" : "薛\"嵩", "profile": [ {"key": "a/b", "n": -1.5e3}, [], {} ] , "x":null}"#;
        let found: Vec<(String, &str, &str)> = spans(text)
            .into_iter()
            .map(|span| (span.pointer, span.key.map_or("", |key| &text[key]), &text[span.value]))
            .collect();
        let expected = [
            ("", "", text.trim()),
            ("/name", r#""name""#, r#""薛\"嵩""#),
            ("/profile", r#""profile""#, r#"[ {"key": "a/b", "n": -1.5e3}, [], {} ]"#),
            ("/profile/0", "", r#"{"key": "a/b", "n": -1.5e3}"#),
            ("/profile/0/key", r#""key""#, r#""a/b""#),
            ("/profile/0/n", r#""n""#, "-1.5e3"),
            ("/profile/1", "", "[]"),
            ("/profile/2", "", "{}"),
            ("/x", r#""x""#, "null"),
        ];
        assert_eq!(found.len(), expected.len());
        for ((pointer, key, value), expected) in found.iter().zip(expected) {
            assert_eq!((pointer.as_str(), *key, *value), expected);
        }
    }
}
