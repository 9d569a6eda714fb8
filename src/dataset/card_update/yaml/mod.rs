//! A parser for the subset of YAML that cards use: block lists and block mappings of plain, quoted and flow values,
//! with comments. Each entry has its line range, so that a part can be rewritten and the rest stays unchanged. Any
//! other YAML is an error.
//!
//! Not `saphyr-parser` (0.3.3 was tried): it rejects quoted texts and bracketed lists that continue in column 0, which
//! PyYAML and so `datasets` accept, and its events give neither the column of a dash nor block or flow style.

mod opening;

use std::ops::Range;

use opening::Opening;

/// A syntax error, or YAML that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlFault {
    /// The line, from 0.
    pub(crate) line: usize,
    /// The problem.
    pub(crate) message: &'static str,
}

type Read<T> = Result<T, YamlFault>;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Yaml {
    /// Null.
    Null,
    /// A scalar of any type, as text.
    Scalar(String),
    /// A list.
    List(Vec<Item>),
    /// A mapping.
    Map(Vec<Pair>),
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) value: Yaml,
    /// The lines of the entry.
    pub(crate) lines: Range<usize>,
    /// The column of its dash; `None` in flow style.
    pub(crate) column: Option<usize>,
}

/// An entry of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: Yaml,
    /// The lines of the entry.
    pub(crate) lines: Range<usize>,
    /// The column of its key; `None` in flow style.
    pub(crate) column: Option<usize>,
}

impl Yaml {
    /// Returns the value of a key in a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.pair(key).map(|pair| &pair.value)
    }

    /// Returns the entry of a key in a mapping.
    pub(crate) fn pair(&self, key: &str) -> Option<&Pair> {
        self.pairs().iter().find(|pair| pair.key == key)
    }

    /// Returns the entries of a mapping, or none if it is not a mapping.
    pub(crate) fn pairs(&self) -> &[Pair] {
        if let Self::Map(pairs) = self { pairs } else { &[] }
    }

    /// Returns the entries of a list, or none if it is not a list.
    pub(crate) fn items(&self) -> &[Item] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Returns the text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Scalar(text) = self { Some(text) } else { None }
    }
}

/// Parses a front matter into its top-level keys. Only the values of `wanted` keys are parsed; the others are null.
pub(crate) fn read(lines: &[&str], wanted: &[&str]) -> Read<Vec<Pair>> {
    let mut pairs: Vec<Pair> = Vec::new();
    let (mut opening, mut opened) = (Opening::default(), 0);
    for (at, line) in lines.iter().enumerate() {
        let is_within = opening.is_open();
        opening.take(line);
        if !is_within {
            if is_nothing(line) {
                continue;
            }
            opened = at;
        }
        // A list may start in the column of its key, and so may the value of a key after a question mark.
        if is_within || line.starts_with([' ', '\t']) || is_dash(line) || *line == ":" || line.starts_with(": ") {
            let Some(pair) = pairs.last_mut() else {
                return Err(YamlFault { line: at, message: "expected a key" });
            };
            pair.lines.end = at + 1;
            continue;
        }
        let key = match line.strip_prefix("? ") {
            Some(asked) => value(asked, at)?.text().filter(|key| !wanted.contains(key)).map(str::to_owned),
            None => key(line, at)?.map(|(key, _)| key),
        };
        let key = key.ok_or(YamlFault { line: at, message: "expected a key" })?;
        if pairs.iter().any(|other| other.key == key) {
            return Err(YamlFault { line: at, message: "duplicate key" });
        }
        pairs.push(Pair { key, value: Yaml::Null, lines: at..at + 1, column: Some(0) });
    }
    if opening.is_open() {
        return Err(YamlFault { line: opened, message: "a quoted text or a list in brackets is not closed" });
    }
    for pair in pairs.iter_mut().filter(|pair| wanted.contains(&pair.key.as_str())) {
        let mut block = Block { lines, at: pair.lines.start, last: 0, end: pair.lines.end, rest: None };
        let own = block.map(0)?;
        if block.peek()?.is_some() {
            return Err(block.fault("unexpected text after the value"));
        }
        if let Yaml::Map(mut own) = own
            && let Some(own) = own.pop()
        {
            pair.value = own.value;
        }
    }
    Ok(pairs)
}

/// A parser position within the lines of a value.
struct Block<'a> {
    lines: &'a [&'a str],
    at: usize,
    /// The end of the last line that was parsed. Comments and blank lines after it belong to the next entry.
    last: usize,
    end: usize,
    /// The text after a dash on the current line, and its column.
    rest: Option<(usize, &'a str)>,
}

impl<'a> Block<'a> {
    /// Returns the next line that is not blank or a comment: its number, its column and its text.
    fn peek(&mut self) -> Read<Option<(usize, usize, &'a str)>> {
        if let Some((column, text)) = self.rest {
            return Ok(Some((self.at, column, text)));
        }
        while self.at < self.end && is_nothing(self.lines[self.at]) {
            self.at += 1;
        }
        if self.at == self.end {
            return Ok(None);
        }
        let line = self.lines[self.at];
        let text = line.trim_start_matches(' ');
        if text.starts_with('\t') {
            return Err(self.fault("tabs are not allowed as indentation"));
        }
        Ok(Some((self.at, line.len() - text.len(), text)))
    }

    fn take(&mut self) {
        self.rest = None;
        self.at += 1;
        self.last = self.at;
    }

    const fn fault(&self, message: &'static str) -> YamlFault {
        YamlFault { line: self.at, message }
    }

    /// Parses a value that is indented by at least `least` columns.
    fn block(&mut self, least: usize) -> Read<Yaml> {
        match self.peek()? {
            Some((_, column, text)) if column >= least => {
                if is_dash(text) {
                    return self.list(column);
                }
                if key(text, self.at)?.is_some() {
                    return self.map(column);
                }
                let value = value(text, self.at)?;
                self.take();
                Ok(value)
            }
            _ => Ok(Yaml::Null),
        }
    }

    fn list(&mut self, column: usize) -> Read<Yaml> {
        let mut items = Vec::new();
        while let Some((at, own, text)) = self.peek()? {
            if own < column || (own == column && !is_dash(text)) {
                break;
            }
            if own > column {
                return Err(self.fault("the line is indented further than its list"));
            }
            let rest = text[1..].trim_start_matches(' ');
            if is_nothing(rest) {
                self.take();
            } else {
                self.rest = Some((column + text.len() - rest.len(), rest));
            }
            let value = self.block(column + 1)?;
            items.push(Item { value, lines: at..self.last, column: Some(column) });
        }
        Ok(Yaml::List(items))
    }

    fn map(&mut self, column: usize) -> Read<Yaml> {
        let mut pairs: Vec<Pair> = Vec::new();
        while let Some((at, own, text)) = self.peek()? {
            if own < column || (own == column && is_dash(text)) {
                break;
            }
            if own > column {
                return Err(self.fault("the line is indented further than its mapping"));
            }
            let (key, rest) = key(text, at)?.ok_or_else(|| self.fault("expected a key"))?;
            if pairs.iter().any(|other| other.key == key) {
                return Err(self.fault("duplicate key"));
            }
            self.take();
            let value = if rest.starts_with(['|', '>']) {
                while self.at < self.end
                    && (is_blank(self.lines[self.at]) || self.lines[self.at].starts_with(&" ".repeat(column + 1)))
                {
                    self.at += 1;
                    if !is_blank(self.lines[self.at - 1]) {
                        self.last = self.at;
                    }
                }
                Yaml::Scalar(String::new())
            } else if is_nothing(rest) {
                match self.peek()? {
                    Some((_, own, text)) if own == column && is_dash(text) => self.list(column)?,
                    _ => self.block(column + 1)?,
                }
            } else {
                value(rest, at)?
            };
            pairs.push(Pair { key, value, lines: at..self.last, column: Some(column) });
        }
        Ok(Yaml::Map(pairs))
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Returns whether a line, or the rest of one, is empty or a comment.
fn is_nothing(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

fn is_dash(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Returns the key at the start of a line and the text after it, or `None` if there is no key.
fn key(text: &str, line: usize) -> Read<Option<(String, &str)>> {
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
fn value(text: &str, line: usize) -> Read<Yaml> {
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
    const fn fault<T>(&self, message: &'static str) -> Read<T> {
        Err(YamlFault { line: self.line, message })
    }

    fn value(&mut self, within: bool) -> Read<Yaml> {
        self.text = self.text.trim_start();
        match self.text.chars().next() {
            Some('"' | '\'') => self.quoted().map(Yaml::Scalar),
            Some('[') => self.list(),
            Some('{') => self.map(),
            Some('&' | '*' | '!' | '|' | '>' | '%' | '@' | '`') => {
                self.fault("only plain, quoted and flow values are supported")
            }
            _ => Ok(self.plain(within)),
        }
    }

    /// Parses a plain scalar. Within a flow collection it ends at a delimiter.
    fn plain(&mut self, within: bool) -> Yaml {
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

    fn quoted(&mut self) -> Read<String> {
        let quote = self.text.chars().next().unwrap_or('"');
        let mut chars = self.text.char_indices().skip(1).peekable();
        let mut read = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' if quote == '"' => match chars.next().map(|(_, c)| c) {
                    Some('n') => read.push('\n'),
                    Some('t') => read.push('\t'),
                    Some(kind @ ('x' | 'u' | 'U')) => {
                        let digits = if kind == 'x' {
                            2
                        } else if kind == 'u' {
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

    fn list(&mut self) -> Read<Yaml> {
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

    fn map(&mut self) -> Read<Yaml> {
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
    fn next(&mut self, end: char) -> Read<()> {
        self.text = self.text.trim_start();
        if let Some(rest) = self.text.strip_prefix(',') {
            self.text = rest;
            return Ok(());
        }
        if self.text.starts_with(end) { Ok(()) } else { self.fault("a list or mapping is not closed on its line") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configs(text: &str) -> Read<Yaml> {
        let lines: Vec<&str> = text.lines().collect();
        let pairs = read(&lines, &["configs"])?;
        Ok(pairs.into_iter().find(|pair| pair.key == "configs").map_or(Yaml::Null, |pair| pair.value))
    }

    /// Formats a value on one line.
    fn told(value: &Yaml) -> String {
        match value {
            Yaml::Null => "~".to_owned(),
            Yaml::Scalar(text) => text.clone(),
            Yaml::List(items) => {
                format!("[{}]", items.iter().map(|item| told(&item.value)).collect::<Vec<_>>().join(","))
            }
            Yaml::Map(pairs) => {
                let pairs = pairs.iter().map(|pair| format!("{}:{}", pair.key, told(&pair.value)));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
            }
        }
    }

    #[test]
    fn the_same_list_is_read_in_whatever_form() {
        let expected =
            "[{config_name:samples,data_files:[{split:test,path:samples/test-*.parquet}]},{config_name:对话}]";
        for text in [
            "configs:\n- config_name: samples\n  data_files:\n  - split: test\n    path: samples/test-*.parquet\n- config_name: 对话\n",
            "a: b\nconfigs:   # mine\n  - config_name: 'samples'\n    # here\n\n    data_files:\n      - split: \"test\"  # held out\n        \
             path: samples/test-*.parquet\n  -\n    config_name: \"\\u5bf9话\"\nb: [\n  1]\n",
            "'configs' :\n-   config_name: samples\n    data_files: [{split: test, path: 'samples/test-*.parquet'}]\n- {config_name: 对话}\n",
            "configs: [{config_name: samples, data_files: [{\"split\": test, path: samples/test-*.parquet}]}, {config_name: 对话}] # all\n",
        ] {
            assert_eq!(told(&configs(text).unwrap()), expected, "{text}");
        }
        assert_eq!(told(&configs("configs:\n- a: |\n    b: c\n    - d\n  e: it's\n").unwrap()), "[{a:,e:it's}]");
        assert_eq!(told(&configs("configs:\nother: x\n").unwrap()), "~");
        assert_eq!(told(&configs("configs:\n- a:\n  b: ~\n").unwrap()), "[{a:~,b:~}]");
    }

    #[test]
    fn values_of_other_keys_may_have_any_form() {
        for text in [
            "tags: [\na,\n对话]\n",
            "tags: {a: it's, b: 'x\ny'\n}\n",
            "tags: [it's, a, # \"no text\n\nb]\n",
            "description: \"a\\\"\n\nb: c\n# d\"\n",
            "description: '他说：''好''，\n- 走了'\n",
            "description: !!str \"a\nb\"\n",
            "description: 5\" wide\nb: it's\n",
            "description: a\n  \"b\nother: x\n",
            "description:\n  a\n  'b\n",
            "description: |\n  \"a\n\n  [b\n",
            "tags:\n- \"a\nb\"\n- [c,\nd]\n",
            "tags:\n- a: >\n    \"说\n  b: \"c\nd\"\n",
            "tags: &all\n  a: \"b\nc\"\n",
            "? 甲\n: \"b\nc\"\n",
            "? \"a\"\n:\n- b\n",
        ] {
            for after in ["", "license: mit\n"] {
                let text = format!("x: 1\n{text}{after}configs:\n- a: b\n");
                let value = configs(&text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
                assert_eq!(told(&value), "[{a:b}]", "{text}");
            }
        }
    }

    #[test]
    fn every_entry_knows_its_lines() {
        let text = "x: 1\nconfigs:\n- config_name: a\n  # of a\n  data_files:\n  - split: b\n\n- config_name: c\n";
        let value = configs(text).unwrap();
        let lines: Vec<Range<usize>> = value.items().iter().map(|item| item.lines.clone()).collect();
        let pair = value.items()[0].value.pair("data_files").expect("the first entry has this key");
        assert_eq!((pair.lines.start, pair.column), (4, Some(2)));
        assert_eq!(pair.lines.end, 6, "the blank line belongs to no entry");
        assert_eq!(lines, [2..6, 7..8]);
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_line() {
        for (text, line) in [
            ("configs: &all\n- a: b\n", 0),
            ("configs:\n- *other\n", 1),
            ("configs:\n- a: b\n\t- c\n", 2),
            ("configs:\n- a: b\n    c: d\n", 2),
            ("configs:\n- a: 'b\n    c'\n", 1),
            ("configs: [a,\n  b]\n", 0),
            ("configs:\n- a: b\n  a: c\n", 2),
            ("configs:\n- <<: x\n", 1),
            ("configs:\n- a\nconfigs:\n- b\n", 2),
            ("- a\n", 0),
            ("no key\n", 0),
            ("configs:\n- a: [b] c\n", 1),
            ("configs: all\n- x: y\n", 1),
            ("configs: ~\n- x: y\n", 1),
            ("x: y\n? configs\n: - a: b\n", 1),
            ("x: \"说\nconfigs:\n- a: b\n", 0),
            ("x: y\ntags:\n- [a,\n\nconfigs:\n- a: b\n", 2),
        ] {
            let fault = configs(text).expect_err(text);
            assert_eq!(fault.line, line, "{text}: {}", fault.message);
        }
    }
}
