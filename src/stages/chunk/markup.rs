//! Markup becomes a stream of tags and words, whatever is broken in it. Knows no element's meaning but where its content
//! is no markup; never lets something that is left open swallow what follows.

use std::borrow::Cow;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, State, Tokenizer};

/// How a page's markup is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// As browsers read it: `<title>` and its like hold raw text.
    Html,
    /// As XML: `<![CDATA[` holds words.
    Xhtml,
}

/// Attributes that are longer hold pictures, not words.
const LONGEST_VALUE: usize = 4096;

/// What a stream of markup consists of.
#[derive(Debug)]
pub(super) enum Token<'a> {
    Start(&'a Tag),
    End(&'a str),
    Text(&'a str),
}

/// A start tag: its name and the attributes that somebody asks for, all else dropped at once.
#[derive(Debug, Default)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) closed: bool,
    attributes: Vec<(&'static str, String)>,
}

/// Attributes that matter to any reader of this folder.
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

impl Tag {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the name without a namespace's prefix.
    pub(super) fn local(&self) -> &str {
        local(&self.name)
    }
}

/// Returns a name without a namespace's prefix.
pub(super) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Puts a text into one line with single blanks, without what no line shows.
pub(super) fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|c| !c.is_control());
    line
}

/// Hands on the tokens of some markup, broken or not, in one pass.
pub(super) fn tokens(source: &str, syntax: Syntax, mut take: impl FnMut(Token<'_>)) {
    let source = without_open_comment(source);
    let source = if syntax == Syntax::Xhtml { with_escaped_sections(source) } else { source };
    let raw = Raw { source: &source, syntax, ends: Vec::new() };
    let lexer = CallbackEmitter::new(Lexer { tag: Tag::default(), attribute: None, raw, take: &mut take });
    let mut tokenizer = Tokenizer::new_with_emitter(&*source, lexer);
    // It yields nothing but the states in which it is to go on: all else goes through the lexer.
    while let Some(Ok(state)) = tokenizer.next() {
        tokenizer.set_state(state);
    }
}

/// Takes away the marks of a comment that nothing ends, which would hold the rest of the page.
fn without_open_comment(source: &str) -> Cow<'_, str> {
    let ended = source.rfind("-->").max(source.rfind("--!>")).unwrap_or(0);
    match source[ended..].find("<!--") {
        Some(at) => {
            let (whole, rest) = source.split_at(ended + at);
            Cow::Owned(whole.to_owned() + &rest.replace("<!--", " "))
        }
        None => Cow::Borrowed(source),
    }
}

/// Writes the words of CDATA sections as words elsewhere, since the tokenizer takes them for comments.
fn with_escaped_sections(source: Cow<'_, str>) -> Cow<'_, str> {
    let open = "<![CDATA[";
    if !source.contains(open) {
        return source;
    }
    let mut written = String::with_capacity(source.len() + source.len() / 16);
    let mut parts = source.split(open);
    written.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (words, rest) = part.split_once("]]>").unwrap_or(("", part));
        written.push_str(&words.replace('&', "&amp;").replace('<', "&lt;"));
        written.push_str(rest);
    }
    Cow::Owned(written)
}

/// Knows where an element's content is no markup.
struct Raw<'a> {
    source: &'a str,
    syntax: Syntax,
    /// Where the last end tag of an element stands that was asked for.
    ends: Vec<(&'static str, Option<usize>)>,
}

impl Raw<'_> {
    /// Returns the state in which the content behind a start tag is read. One that no end tag follows is read as markup:
    /// by the rules it would last until the end of the page.
    fn state(&mut self, tag: &Tag, at: usize) -> Option<State> {
        let (name, state) = match tag.name.as_str() {
            "script" => ("script", State::RawText),
            "style" => ("style", State::RawText),
            _ if self.syntax == Syntax::Xhtml => return None,
            "iframe" => ("iframe", State::RawText),
            "noembed" => ("noembed", State::RawText),
            "noframes" => ("noframes", State::RawText),
            "xmp" => ("xmp", State::RawText),
            "textarea" => ("textarea", State::RcData),
            "title" => ("title", State::RcData),
            _ => return None,
        };
        // Browsers read on behind `<script/>`; whoever wrote it meant it to be closed.
        if tag.closed {
            return None;
        }
        let known = self.ends.iter().find(|(known, _)| *known == name).map(|(_, end)| *end);
        let end = known.unwrap_or_else(|| {
            let end = last_end(self.source, name);
            self.ends.push((name, end));
            end
        });
        end.filter(|end| *end >= at).map(|_| state)
    }
}

/// Finds the last end tag of an element.
fn last_end(source: &str, name: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    source.rmatch_indices("</").map(|(at, _)| at).find(|at| {
        let after = &bytes[at + 2..];
        after.len() > name.len()
            && after[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            && matches!(after[name.len()], b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
    })
}

/// Gathers what the tokenizer tells piece by piece into whole tags.
struct Lexer<'a, F> {
    tag: Tag,
    attribute: Option<&'static str>,
    raw: Raw<'a>,
    take: F,
}

impl<F: FnMut(Token<'_>)> Callback<State, usize> for Lexer<'_, F> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, span: Span<usize>) -> Option<State> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag.name.clear();
                self.tag.name.push_str(&String::from_utf8_lossy(&name[..name.len().min(LONGEST_VALUE)]));
                self.tag.attributes.clear();
                self.attribute = None;
            }
            CallbackEvent::AttributeName { name } => {
                let known = ATTRIBUTES.iter().find(|known| known.as_bytes() == name).copied();
                // The first of a name counts.
                self.attribute = known.filter(|known| self.tag.get(known).is_none());
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some(name) = self.attribute.take().filter(|_| value.len() <= LONGEST_VALUE) {
                    self.tag.attributes.push((name, String::from_utf8_lossy(value).into_owned()));
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                self.tag.closed = self_closing;
                (self.take)(Token::Start(&self.tag));
                return self.raw.state(&self.tag, span.end);
            }
            CallbackEvent::EndTag { name } => (self.take)(Token::End(&String::from_utf8_lossy(name))),
            CallbackEvent::String { value } => (self.take)(Token::Text(&String::from_utf8_lossy(value))),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(source: &str, syntax: Syntax) -> String {
        let mut told = String::new();
        tokens(source, syntax, |token| match token {
            Token::Start(tag) => told.extend(["<", &tag.name, ">"]),
            Token::End(name) => told.extend(["</", name, ">"]),
            Token::Text(text) => told.push_str(text),
        });
        told
    }

    #[test]
    fn nothing_left_open_holds_the_rest() {
        use Syntax::{Html, Xhtml};
        for (source, syntax, expected) in [
            ("<script>a<b></SCRIPT ><p>c", Html, "<script>a<b></script><p>c"),
            ("<script>a<p>b", Html, "<script>a<p>b"),
            ("<script>a</script><script>b<p>c", Html, "<script>a</script><script>b<p>c"),
            ("<script src=a /><p>b", Html, "<script><p>b"),
            ("<script>a</scripts><p>b", Html, "<script>a</scripts><p>b"),
            ("<script><!--<script></script>--><p>b", Html, "<script><!--<script></script>--><p>b"),
            ("a\r\n\r\n\r\n\r\n<title>b</title><title>c<p>d", Html, "a\n\n\n\n<title>b</title><title>c<p>d"),
            ("a<!-- b --><p>c<!-- d<p>e<!-- f", Html, "a<p>c  d<p>e  f"),
            ("a<!--><p>b", Html, "a<p>b"),
            ("<noscript><p>a</noscript>", Html, "<noscript><p>a</noscript>"),
            ("<text><![CDATA[第一章 <a> & b]]></text>c", Xhtml, "<text>第一章 <a> & b</text>c"),
            ("<p><![CDATA[a<p>b", Xhtml, "<p>a<p>b"),
            ("<title>河<i>灯</i></title>", Xhtml, "<title>河<i>灯</i></title>"),
        ] {
            assert_eq!(told(source, syntax), expected, "{source}");
        }
    }

    #[test]
    fn many_open_elements_cost_no_more_than_their_size() {
        let open = "<script><style><textarea><!-- </b>".repeat(60_000);
        assert_eq!(told(&open, Syntax::Html).matches("<script>").count(), 60_000);
        let open = "<![CDATA[</script".repeat(60_000);
        assert!(told(&open, Syntax::Xhtml).len() < open.len());
    }
}
