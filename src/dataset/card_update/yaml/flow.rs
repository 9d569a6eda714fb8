//! Parses the values and keys of one line: plain and quoted texts, and flow collections.

use super::lines::is_nothing;
use super::value::{Item, Pair, ParseResult, Yaml, YamlFault};

/// Returns the key at the start of a line and the text after it, or `None` if there is no key.
pub(super) fn key(text: &str, line: usize) -> ParseResult<Option<(String, &str)>> {
    if text.starts_with(['"', '\'']) {
        let mut flow = Flow { text, line };
        let key = flow.quoted()?;
        let rest = flow.text.trim_start_matches(' ');
        return Ok(rest.strip_prefix(':').map(|rest| (key, rest.trim_start())));
    }
    if text.starts_with(['[', '{']) {
        return Ok(None);
    }
    let end = text.find(": ").or_else(|| text.trim_end().strip_suffix(':').map(str::len));
    let Some(end) = end.filter(|end| text.find(" #").is_none_or(|comment| *end < comment)) else { return Ok(None) };
    let key = text[..end].trim_end();
    if key.starts_with(['&', '*', '!', '?', '%', '@', '`', '<']) {
        return Err(YamlFault { line, message: "only plain and quoted keys are supported" });
    }
    Ok(Some((key.to_owned(), text[end + 1..].trim_start())))
}

/// Parses a value on one line.
pub(super) fn value(text: &str, line: usize) -> ParseResult<Yaml> {
    let mut flow = Flow { text, line };
    let value = flow.value(false)?;
    if is_nothing(flow.text) { Ok(value) } else { Err(YamlFault { line, message: "unexpected text after the value" }) }
}

/// The unparsed rest of a line.
struct Flow<'a> {
    text: &'a str,
    line: usize,
}

impl Flow<'_> {
    const fn fault<T>(&self, message: &'static str) -> ParseResult<T> {
        Err(YamlFault { line: self.line, message })
    }

    fn value(&mut self, within: bool) -> ParseResult<Yaml> {
        self.text = self.text.trim_start();
        match self.text.chars().next() {
            Some('"' | '\'') => self.quoted().map(Yaml::Scalar),
            Some('[') => self.list(),
            Some('{') => self.map(),
            Some('&' | '*' | '!' | '|' | '>' | '%' | '@' | '`') => {
                self.fault("only plain, quoted and flow values are supported")
            }
            _ => Ok(self.plain_scalar(within)),
        }
    }

    /// Parses a plain scalar. Within a flow collection it ends at a delimiter.
    fn plain_scalar(&mut self, within: bool) -> Yaml {
        let mut end = self.text.find(" #").unwrap_or(self.text.len());
        if within {
            let marks = |(at, c): (usize, char)| match c {
                ',' | ']' | '}' => Some(at),
                ':' if self.text[at + 1..].starts_with(' ') => Some(at),
                _ => None,
            };
            end = self.text.char_indices().find_map(marks).unwrap_or(end).min(end);
        }
        let text = self.text[..end].trim();
        let value = if matches!(text, "" | "~" | "null" | "Null" | "NULL") {
            Yaml::Null
        } else {
            Yaml::Scalar(text.to_owned())
        };
        self.text = &self.text[end..];
        value
    }

    fn quoted(&mut self) -> ParseResult<String> {
        let quote = self.text.chars().next().unwrap_or('"');
        let mut chars = self.text.char_indices().skip(1).peekable();
        let mut read = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' if quote == '"' => match chars.next().map(|(_, c)| c) {
                    Some('n') => read.push('\n'),
                    Some('t') => read.push('\t'),
                    Some(escape @ ('x' | 'u' | 'U')) => {
                        let digits = if escape == 'x' {
                            2
                        } else if escape == 'u' {
                            4
                        } else {
                            8
                        };
                        let number: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
                        let number = u32::from_str_radix(&number, 16).ok().and_then(char::from_u32);
                        match number {
                            Some(c) => read.push(c),
                            None => return self.fault("invalid escape sequence"),
                        }
                    }
                    Some(c) => read.push(c),
                    None => break,
                },
                '\'' if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                    chars.next();
                    read.push('\'');
                }
                c if c == quote => {
                    self.text = &self.text[at + 1..];
                    return Ok(read);
                }
                c => read.push(c),
            }
        }
        self.fault("a quoted text is not closed on its line")
    }

    fn list(&mut self) -> ParseResult<Yaml> {
        self.text = &self.text[1..];
        let mut items = Vec::new();
        loop {
            self.text = self.text.trim_start();
            if let Some(rest) = self.text.strip_prefix(']') {
                self.text = rest;
                return Ok(Yaml::List(items));
            }
            let value = self.value(true)?;
            items.push(Item { value, lines: self.line..self.line + 1, column: None });
            self.next(']')?;
        }
    }

    fn map(&mut self) -> ParseResult<Yaml> {
        self.text = &self.text[1..];
        let mut pairs = Vec::new();
        loop {
            self.text = self.text.trim_start();
            if let Some(rest) = self.text.strip_prefix('}') {
                self.text = rest;
                return Ok(Yaml::Map(pairs));
            }
            let Yaml::Scalar(key) = self.value(true)? else { return self.fault("expected a key") };
            let Some(rest) = self.text.trim_start().strip_prefix(':') else {
                return self.fault("expected `:` after the key");
            };
            self.text = rest;
            let value = self.value(true)?;
            pairs.push(Pair { key, value, lines: self.line..self.line + 1, column: None });
            self.next('}')?;
        }
    }

    /// Skips a comma. The closing delimiter is not consumed.
    fn next(&mut self, end: char) -> ParseResult<()> {
        self.text = self.text.trim_start();
        if let Some(rest) = self.text.strip_prefix(',') {
            self.text = rest;
            return Ok(());
        }
        if self.text.starts_with(end) { Ok(()) } else { self.fault("a list or mapping is not closed on its line") }
    }
}
