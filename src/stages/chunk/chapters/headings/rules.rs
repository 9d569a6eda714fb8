//! The table of heading rules.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::numerals;
use crate::schema::Level;

/// How much confirmation a match needs from the rest of the book.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::stages::chunk) enum Strength {
    /// Needs none.
    #[default]
    Strong,
    /// Needs consecutive numbers of the same rule, and applies only if there is no strong chapter heading.
    Sequence,
    /// Applies if its number is the next one after a strong heading.
    Next,
    /// A line that only looks like a title; applies if nothing else opens chapters.
    Title,
}

/// The surroundings that a line must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::stages::chunk) enum Room {
    /// Any.
    #[default]
    Any,
    /// A blank line or another heading before it.
    Before,
    /// Blank lines on both sides.
    Alone,
}

/// A heading rule of `rules.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[serde(deserialize_with = "compile")]
    pub(super) pattern: Regex,
    pub(super) level: Level,
    #[serde(default)]
    pub(super) strength: Strength,
    #[serde(default)]
    pub(super) room: Room,
    /// Whether what it opens is part of the story.
    #[serde(default = "yes")]
    pub(super) story: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Table {
    rule: Vec<Rule>,
}

/// The rules, in order of precedence.
pub(super) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    toml::from_str::<Table>(include_str!("rules.toml")).expect("the heading rules are embedded and tested").rule
});

fn compile<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Regex, D::Error> {
    let pattern = String::deserialize(deserializer)?;
    Regex::new(&expanded(&pattern)).map_err(serde::de::Error::custom)
}

/// Returns a pattern with its placeholders expanded.
fn expanded(pattern: &str) -> String {
    let words = numerals::pattern();
    pattern
        .replace("(?i:W)", &format!("(?i:{words})"))
        .replace("<n>N)", &format!("<n>[0-9]{{1,3}}|(?i:[ivxlc]{{1,8}})|(?i:{words}))"))
        .replace("<n>K)", &format!("<n>[0-9]{{1,4}}|(?i:[ivxlc]{{1,8}})|(?i:{words}))"))
        .replace("<t>T)", r"<t>|\s*[.:—–]+|\s*[(\[][^()\[\]]{1,60}[)\]]|\s*(?:/|of)\s*[0-9]{1,3}\b.*|\s*(?:[.:—–]|--|-)+\s*\S.*|,\s*(?i:chapter|scene)\s.*|\s+(?i:and\s+last)\.?|\s+[A-Z‘“\p{Han}].*|\p{Han}.*)")
        .replace("<n>H|", r"<n>[零〇○一二三四五六七八九十百千两兩廿卅元万萬壹贰貳叁參肆伍陆陸柒捌玖拾佰仟0-9０-９]{1,9}|")
        .replace("<n>H)", r"<n>[零〇○一二三四五六七八九十百千两兩廿卅元万萬壹贰貳叁參肆伍陆陸柒捌玖拾佰仟0-9０-９]{1,9})")
        .replace("<t>S)", r"<t>|[\s　:：、.．·—-]+[^。]{1,40})")
        .replace(r"(?:P\s*)", r"(?:(?:正文卷?|章节目录|章節目錄|VIP章节|VIP卷)\s*)")
        .replace("<t>C)", r"<t>|[\s　:：、.．·—-]+[^。]*|[^\s，。！？；…“”「」的中][^，。！？；…“”「」]*)")
}
