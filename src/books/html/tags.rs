//! Parses one HTML tag: whether a `<` starts a tag, where it ends, its name and the attributes that callers ask for.
//!
//! Pages are broken and contain literal `<`. Under the rules of browsers, a tag lasts until the next `>` and would
//! swallow words. Here, a tag is `<` or `</`, a name, attributes and `>`, where
//!
//! - a name is a Latin letter and then letters, digits, `-`, `_`, `.` and `:`;
//! - the element is known to HTML, or the tag has an attribute with a value or closes itself, or the page has its end
//!   tag;
//! - an attribute has a value, or is one of those that never have one;
//! - a quoted value that contains `<` or `>` is allowed only in a well-formed tag, and contains no block tag.
//!
//! Everything else is text: `<Dear Peter, …>`, `a <b and`, `1 < 2`, `<3`, `</ `. An unclosed quotation mark is dropped.
//! A known element's tag that lacks its `>` ends after its attributes. The lookahead is bounded, so a page of nothing
//! but `<` takes time linear in its size.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memchr;

use super::elements::{is_boundary, is_known};
use super::entities::resolved;

/// The maximum length of an attribute value, in bytes. Longer values hold pictures, not words.
const MAX_VALUE_LENGTH: usize = 4096;
/// How far after the opening quote of a value with `<` or `>` the tag must end, in bytes.
const MAX_UNCERTAIN_LENGTH: usize = 1024;
/// How far after invalid attribute syntax a tag may still end, in bytes.
const MAX_INVALID_LENGTH: usize = 120;

/// A start tag: its name in lower case and the attributes in [`ATTRIBUTES`]. Other attributes are dropped while
/// parsing.
#[derive(Debug, Default)]
pub(in crate::books) struct Tag<'a> {
    pub(in crate::books) name: Cow<'a, str>,
    pub(in crate::books) closed: bool,
    attributes: Vec<(&'static str, Cow<'a, str>)>,
}

/// The attributes that the readers in this module use.
const ATTRIBUTES: &[&str] = &[
    "alt",
    "class",
    "content",
    "epub:type",
    "full-path",
    "href",
    "id",
    "idref",
    "linear",
    "media-type",
    "name",
    "properties",
    "property",
    "role",
    "src",
    "toc",
    "type",
    "uri",
];

/// Attributes that have no value.
const VALUELESS_ATTRIBUTES: &[&str] = &[
    "allowfullscreen",
    "async",
    "autofocus",
    "autoplay",
    "checked",
    "compact",
    "contenteditable",
    "controls",
    "declare",
    "default",
    "defer",
    "disabled",
    "download",
    "draggable",
    "formnovalidate",
    "hidden",
    "inert",
    "ismap",
    "itemscope",
    "loop",
    "multiple",
    "muted",
    "nohref",
    "nomodule",
    "noresize",
    "noshade",
    "novalidate",
    "nowrap",
    "open",
    "playsinline",
    "readonly",
    "required",
    "reversed",
    "selected",
];

impl Tag<'_> {
    pub(in crate::books) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_ref())
    }

    /// Returns the name without its namespace prefix.
    pub(in crate::books) fn local(&self) -> &str {
        local(&self.name)
    }
}

/// Returns a name without its namespace prefix.
pub(in crate::books) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// A parser for the tags of a page.
#[derive(Debug)]
pub(in crate::books) struct Tags<'a> {
    source: &'a str,
    /// The names of end tags of elements unknown to HTML; filled on first use.
    ends: Option<BTreeSet<String>>,
    /// The names of such elements that were opened.
    opened: BTreeSet<String>,
    /// Whether each kind of quotation mark no longer occurs in the rest of the page.
    unquoted: [bool; 2],
}

/// The end of a tag's attributes.
#[derive(Debug, Clone, Copy)]
enum Stop {
    /// After `>`, and whether it was `/>`.
    Closed(usize, bool),
    /// Before `<` or the end of the page.
    Open(usize),
    /// Before invalid attribute syntax.
    Words(usize),
    /// Before a quotation mark that does not enclose a value.
    Quote(usize),
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

/// Whether a byte separates attributes. Includes the backslash, since `<br \>` occurs.
const fn is_between(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'/' | b'\\')
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':')
}

/// Returns the length of the element name that the bytes start with, or 0.
fn name_length(bytes: &[u8]) -> usize {
    if bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        bytes.iter().position(|byte| !is_of_name(*byte)).unwrap_or(bytes.len())
    } else {
        0
    }
}

/// Returns a name in lower case.
fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

impl<'a> Tags<'a> {
    pub(in crate::books) const fn new(source: &'a str) -> Self {
        Self { source, ends: None, opened: BTreeSet::new(), unquoted: [false; 2] }
    }

    /// Parses the start tag whose `<` is at `open` into `tag`, and returns the position after it. `None` if it is text.
    pub(in crate::books) fn start(&mut self, open: usize, tag: &mut Tag<'a>) -> Option<usize> {
        let from = open + 1;
        let name_end = self.name(from)?;
        tag.name = lower(&self.source[from..name_end]);
        tag.closed = false;
        let (stop, has_value) = self.attributes(name_end, tag);
        let known = is_known(&tag.name);
        let end = match stop {
            Stop::Closed(_, closed) => {
                tag.closed = closed;
                known || has_value || tag.closed || self.is_ended(&tag.name)
            }
            Stop::Open(end) => known && (has_value || end == self.source.len()),
            Stop::Words(_) => known && has_value,
            Stop::Quote(_) => known || self.is_ended(&tag.name),
        }
        .then(|| self.tag_end(stop))?;
        if !known && !tag.closed && !self.opened.contains(&*tag.name) {
            self.opened.insert(tag.name.to_string());
        }
        Some(end)
    }

    /// Parses the end tag whose `<` is at `open`, and returns its name and the position after it. `None` if it is text.
    pub(in crate::books) fn end(&mut self, open: usize, tag: &mut Tag<'a>) -> Option<(Cow<'a, str>, usize)> {
        let from = open + 2;
        let name_end = self.name(from)?;
        let name = lower(&self.source[from..name_end]);
        if !is_known(&name) && !self.opened.contains(&*name) {
            return None;
        }
        let end = match self.attributes(name_end, tag).0 {
            Stop::Words(at) => at,
            stop => self.tag_end(stop),
        };
        Some((name, end))
    }

    /// Returns the end of the name at `from`, if the byte after it may follow a name.
    fn name(&self, from: usize) -> Option<usize> {
        let bytes = &self.source.as_bytes()[from..];
        let length = name_length(bytes);
        let after = bytes.get(length).copied();
        (length > 0 && after.is_none_or(|byte| is_between(byte) || matches!(byte, b'>' | b'<')))
            .then_some(from + length)
    }

    /// Returns the position after a tag.
    fn tag_end(&self, stop: Stop) -> usize {
        let next = |at: usize, far: usize| {
            let rest = self.source.as_bytes()[at..].iter().take(far);
            rest.enumerate().find(|(_, byte)| matches!(byte, b'<' | b'>')).filter(|(_, byte)| **byte == b'>')
        };
        match stop {
            Stop::Closed(end, _) | Stop::Open(end) => end,
            Stop::Words(at) => next(at, MAX_INVALID_LENGTH).map_or(at, |(length, _)| at + length + 1),
            Stop::Quote(at) => next(at, MAX_INVALID_LENGTH).map_or(at + 1, |(length, _)| at + length + 1),
        }
    }

    /// Parses attributes. Returns where they end and whether any of them has a value.
    fn attributes(&mut self, mut at: usize, tag: &mut Tag<'a>) -> (Stop, bool) {
        let source = self.source;
        let bytes = source.as_bytes();
        tag.attributes.clear();
        let mut has_value = false;
        // The first quotation mark whose value contains `<` or `>`, and the number of attributes before it.
        let mut uncertain: Option<(usize, usize)> = None;
        let skip = |mut at: usize, skipped: fn(u8) -> bool| {
            while bytes.get(at).is_some_and(|byte| skipped(*byte)) {
                at += 1;
            }
            at
        };
        let stop = loop {
            let before = at;
            at = skip(at, is_between);
            match bytes.get(at) {
                None | Some(b'<') => break Stop::Open(at),
                Some(b'>') => break Stop::Closed(at + 1, at > before && bytes[at - 1] == b'/'),
                _ => {}
            }
            if uncertain.is_some_and(|(quote, _)| at > quote + MAX_UNCERTAIN_LENGTH) {
                break Stop::Words(at);
            }
            let start = at;
            at = skip(at, |byte| is_of_name(byte) || byte == b'@');
            let name = &source[start..at];
            let equals = skip(at, is_blank);
            if name.is_empty() || bytes.get(equals) != Some(&b'=') {
                let ends = bytes.get(at).is_none_or(|byte| is_between(*byte) || matches!(byte, b'<' | b'>'));
                if ends && VALUELESS_ATTRIBUTES.iter().any(|bare| name.eq_ignore_ascii_case(bare)) {
                    continue;
                }
                break Stop::Words(start);
            }
            has_value = true;
            at = skip(equals + 1, is_blank);
            let value = if let Some(quote @ (b'"' | b'\'')) = bytes.get(at).copied() {
                let Some(value) = self.quoted(at, quote) else { break Stop::Quote(at) };
                if value.bytes().any(|byte| matches!(byte, b'<' | b'>')) {
                    uncertain = uncertain.or(Some((at, tag.attributes.len())));
                    if value.len() > MAX_UNCERTAIN_LENGTH || contains_block_tag(value) {
                        break Stop::Quote(at);
                    }
                }
                at += value.len() + 2;
                value
            } else {
                let start = at;
                at = skip(at, |byte| !is_blank(byte) && !matches!(byte, b'<' | b'>'));
                &source[start..at]
            };
            Self::keep(name, value, tag);
        };
        if let Some((quote, kept)) = uncertain.filter(|_| !matches!(stop, Stop::Closed(..))) {
            tag.attributes.truncate(kept);
            return (Stop::Quote(quote), has_value);
        }
        (stop, has_value)
    }

    /// Keeps an attribute listed in [`ATTRIBUTES`]. If it is repeated, the first one counts.
    fn keep(name: &str, value: &'a str, tag: &mut Tag<'a>) {
        let known = ATTRIBUTES.iter().find(|known| known.eq_ignore_ascii_case(name));
        if let Some(known) = known.filter(|known| value.len() <= MAX_VALUE_LENGTH && tag.get(known).is_none()) {
            tag.attributes.push((*known, resolved(value)));
        }
    }

    /// Returns the text between a quotation mark and the next of its kind. The total cost is linear, since bytes that
    /// were skipped contain no quotation mark of that kind.
    fn quoted(&mut self, at: usize, quote: u8) -> Option<&'a str> {
        let unquoted = &mut self.unquoted[usize::from(quote == b'"')];
        let rest = &self.source[at + 1..];
        let length = if *unquoted { None } else { memchr(quote, rest.as_bytes()) };
        *unquoted = length.is_none();
        length.map(|length| &rest[..length])
    }

    /// Whether a page has the end tag of an element unknown to HTML.
    fn is_ended(&mut self, name: &str) -> bool {
        let ends = self.ends.get_or_insert_with(|| {
            let tags = self.source.match_indices("</").map(|(at, _)| &self.source[at + 2..]);
            let names = tags.map(|rest| lower(&rest[..name_length(rest.as_bytes())]));
            names.filter(|name| !name.is_empty() && !is_known(name)).map(Cow::into_owned).collect()
        });
        ends.contains(name)
    }
}

/// Whether a value contains the tag of a block element, which no real value does.
fn contains_block_tag(value: &str) -> bool {
    value.match_indices('<').any(|(at, _)| {
        let rest = value[at + 1..].trim_start_matches('/');
        let (name, after) = rest.split_at(name_length(rest.as_bytes()));
        is_boundary(&lower(name)) && after.bytes().next().is_none_or(|byte| is_blank(byte) || byte == b'>')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_names_are_sorted() {
        assert!(VALUELESS_ATTRIBUTES.is_sorted() && ATTRIBUTES.is_sorted());
    }

    /// Parses the tag at the start of a text; returns its attributes and the text after it.
    fn read(source: &str) -> Option<(String, &str)> {
        let (mut tags, mut tag) = (Tags::new(source), Tag::default());
        let end = tags.start(0, &mut tag)?;
        let mut parsed = tag.name.to_string();
        for (name, value) in &tag.attributes {
            parsed.extend([" ", name, "=", value]);
        }
        Some((parsed + if tag.closed { "/" } else { "" }, &source[end..]))
    }

    #[test]
    fn a_tag_ends_after_its_attributes() {
        for (source, tag, rest) in [
            ("<P CLASS = 'x y' id=a>河", "p class=x y id=a", "河"),
            ("<img alt=\"a > b\" src='t.png'/>x", "img alt=a > b src=t.png/", "x"),
            ("<a title=\"<b>bold</b>\" href=x>y", "a href=x", "y"),
            ("<hr noshade width=\"50%\">x", "hr", "x"),
            ("<p class=\"a\"id=\"b\">x", "p class=a id=b", "x"),
            ("<p id=a id=b>x", "p id=a", "x"),
            ("<br/>x", "br/", "x"),
            ("<br \\>x", "br", "x"),
            // Unclosed quotation marks, and ones that close inside words.
            ("<p class=\"x>河灯", "p", "河灯"),
            ("<p class=\"x>The mill</p><p class=\"y\">stood", "p", "The mill</p><p class=\"y\">stood"),
            ("<p id=a class='x>Don't go</p>", "p id=a", "Don't go</p>"),
            ("<p class=\"x>“河灯” \"是\" 灯</p>", "p", "“河灯” \"是\" 灯</p>"),
            ("<p class=\"x>He said \"yes\" to it.</p>", "p", "He said \"yes\" to it.</p>"),
            ("<img alt=\"x/><br/>The mill", "img", "<br/>The mill"),
            ("<p class=\"The mill <i>stood", "p", "The mill <i>stood"),
            ("<p title=\"he said \"no\" to me\">x", "p", "x"),
            // Tags without an end.
            ("<p class=x <b>y", "p class=x", "<b>y"),
            ("<p class=x the mill stood <b>still", "p class=x", "the mill stood <b>still"),
            // Elements unknown to HTML.
            ("<dc:title>x</dc:title>", "dc:title", "x</dc:title>"),
            ("<calibre-x a=1>x", "calibre-x", "x"),
            ("<item id='a'/>x", "item id=a/", "x"),
            ("<gap/>x", "gap/", "x"),
            ("<a href=b/>x", "a href=b/", "x"),
            ("<a href='?a=1&amp;b=“河”'>x", "a href=?a=1&b=“河”", "x"),
        ] {
            assert_eq!(read(source), Some((tag.to_owned(), rest)), "{source}");
        }
    }

    #[test]
    fn prose_in_angle_brackets_is_not_a_tag() {
        for source in [
            "<Dear Peter, come home.> x",
            "<Dear Peter> x",
            "<Peter> x",
            "<b and c> x",
            "<a lot of it",
            "<i think so>",
            "<em<p>",
            "<3",
            "< 2",
            "<=>",
            "<亲爱的>",
            "<b，",
            "<and/or>",
            "<http://example.org/a>",
            "<anna@example.org>",
            "<Anna: no>",
            "<",
        ] {
            assert_eq!(read(source), None, "{source}");
        }
    }
}
