//! A parser for the subset of YAML that cards use: block lists and block mappings of plain, quoted and flow values,
//! with comments. Each entry has its line range, so that a part can be rewritten and the rest stays unchanged. Any
//! other YAML is an error.
//!
//! Not `saphyr-parser` (0.3.3 was tried): it rejects quoted texts and bracketed lists that continue in column 0, which
//! `PyYAML` and so `datasets` accept, and its events give neither the column of a dash nor block or flow style.

mod block;
mod flow;
mod lines;
mod opening;
mod value;

pub(crate) use self::value::{Pair, Yaml, YamlFault};

use self::block::Block;
use self::flow::{key, value};
use self::lines::{is_dash, is_nothing};
use self::opening::Opening;
use self::value::ParseResult;

/// Parses a front matter into its top-level keys. Only the values of `known_keys` are parsed; the others are null.
pub(crate) fn read(lines: &[&str], known_keys: &[&str]) -> ParseResult<Vec<Pair>> {
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
            Some(asked) => value(asked, at)?.text().filter(|key| !known_keys.contains(key)).map(str::to_owned),
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
    for pair in pairs.iter_mut().filter(|pair| known_keys.contains(&pair.key.as_str())) {
        let mut block = Block::new(lines, pair.lines.clone());
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

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    fn configs(text: &str) -> ParseResult<Yaml> {
        let lines: Vec<&str> = text.lines().collect();
        let pairs = read(&lines, &["configs"])?;
        Ok(pairs.into_iter().find(|pair| pair.key == "configs").map_or(Yaml::Null, |pair| pair.value))
    }

    /// Formats a value on one line.
    fn one_line(value: &Yaml) -> String {
        match value {
            Yaml::Null => "~".to_owned(),
            Yaml::Scalar(text) => text.clone(),
            Yaml::List(items) => {
                format!("[{}]", items.iter().map(|item| one_line(&item.value)).collect::<Vec<_>>().join(","))
            }
            Yaml::Map(pairs) => {
                let pairs = pairs.iter().map(|pair| format!("{}:{}", pair.key, one_line(&pair.value)));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
            }
        }
    }

    #[test]
    fn every_yaml_style_of_a_list_gives_the_same_value() {
        let expected =
            "[{config_name:samples,data_files:[{split:test,path:samples/test-*.parquet}]},{config_name:对话}]";
        for text in [
            "configs:\n- config_name: samples\n  data_files:\n  - split: test\n    path: samples/test-*.parquet\n- config_name: 对话\n",
            "a: b\nconfigs:   # mine\n  - config_name: 'samples'\n    # here\n\n    data_files:\n      - split: \"test\"  # held out\n        \
             path: samples/test-*.parquet\n  -\n    config_name: \"\\u5bf9话\"\nb: [\n  1]\n",
            "'configs' :\n-   config_name: samples\n    data_files: [{split: test, path: 'samples/test-*.parquet'}]\n- {config_name: 对话}\n",
            "configs: [{config_name: samples, data_files: [{\"split\": test, path: samples/test-*.parquet}]}, {config_name: 对话}] # all\n",
        ] {
            assert_eq!(one_line(&configs(text).unwrap()), expected, "{text}");
        }
        assert_eq!(one_line(&configs("configs:\n- a: |\n    b: c\n    - d\n  e: it's\n").unwrap()), "[{a:,e:it's}]");
        assert_eq!(one_line(&configs("configs:\nother: x\n").unwrap()), "~");
        assert_eq!(one_line(&configs("configs:\n- a:\n  b: ~\n").unwrap()), "[{a:~,b:~}]");
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
                assert_eq!(one_line(&value), "[{a:b}]", "{text}");
            }
        }
    }

    #[test]
    fn every_entry_has_its_line_range() {
        let text = "x: 1\nconfigs:\n- config_name: a\n  # of a\n  data_files:\n  - split: b\n\n- config_name: c\n";
        let value = configs(text).unwrap();
        let lines: Vec<Range<usize>> = value.items().iter().map(|item| item.lines.clone()).collect();
        let pair = value.items()[0].value.pair("data_files").expect("the first entry has this key");
        assert_eq!((pair.lines.start, pair.column), (4, Some(2)));
        assert_eq!(pair.lines.end, 6, "the blank line belongs to no entry");
        assert_eq!(lines, [2..6, 7..8]);
    }

    #[test]
    fn unsupported_yaml_is_an_error_with_its_line() {
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
