//! Tokenizes HTML and XML into tags and text, however broken it is. An unclosed construct never swallows the text after
//! it.
//!
//! Tags are parsed by [`tags`](super::tags). Of the other constructs that start with `<`, an unclosed comment or CDATA
//! section loses only its opening mark; a declaration or processing instruction is recognised by its first word and its
//! end; everything else is text. Text is passed on unchanged, in one pass.

use std::borrow::Cow;

use memchr::memchr;

use super::entities;
use super::tags::{Tag, Tags};

/// The syntax of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::books) enum Syntax {
    /// As in browsers: `<title>` and some other elements contain raw text.
    Html,
    /// As XML: only scripts and styles do.
    Xhtml,
}

/// The maximum length of a declaration or processing instruction, in bytes. Longer ones are text.
const MAX_DECLARATION_LENGTH: usize = 4096;

/// A token of markup.
#[derive(Debug)]
pub(in crate::books) enum Token<'t, 'a> {
    Start(&'t Tag<'a>),
    End(&'t str),
    Text(&'t str),
}

/// Puts a text on one line with single spaces, without invisible characters.
pub(in crate::books) fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|c| !c.is_control());
    line
}

/// Passes the tokens of some markup, broken or not, to `take` in one pass.
pub(in crate::books) fn tokens<'a>(source: &'a str, syntax: Syntax, mut take: impl FnMut(Token<'_, 'a>)) {
    let mut markup = Markup { source, syntax, tags: Tags::new(source), absent: Vec::new() };
    let mut tag = Tag::default();
    // Text that was not passed on yet starts at `from`.
    let (mut from, mut at) = (0, 0);
    while let Some(length) = memchr(b'<', &source.as_bytes()[at..]) {
        let open = at + length;
        let Some((construct, end)) = markup.at(open, &mut tag) else {
            at = open + 1;
            continue;
        };
        words(&source[from..open], &mut take);
        (from, at) = (end, end);
        match construct {
            Construct::Start => {
                take(Token::Start(&tag));
                if let Some((content, end)) = markup.raw(&tag, end) {
                    match content {
                        Content::Raw(text) => take(Token::Text(text)),
                        Content::Decoded(text) => words(text, &mut take),
                    }
                    (from, at) = (end, end);
                }
            }
            Construct::End(name) => take(Token::End(&name)),
            Construct::Section(text) => take(Token::Text(text)),
            Construct::Ignored => {}
        }
    }
    words(&source[from..], &mut take);
}

/// The kind of construct at a `<` that is not text.
enum Construct<'a> {
    Start,
    End(Cow<'a, str>),
    /// Text that contains no markup.
    Section(&'a str),
    Ignored,
}

/// The raw content of an element.
enum Content<'a> {
    Raw(&'a str),
    /// With character references.
    Decoded(&'a str),
}

/// Distinguishes markup from text.
struct Markup<'a> {
    source: &'a str,
    syntax: Syntax,
    tags: Tags<'a>,
    /// Delimiters that do not occur in the rest of the source.
    absent: Vec<&'static str>,
}

impl<'a> Markup<'a> {
    /// Returns the construct at a `<` and its end, or `None` if it is text.
    fn at(&mut self, open: usize, tag: &mut Tag<'a>) -> Option<(Construct<'a>, usize)> {
        let rest = &self.source[open..];
        match rest.as_bytes().get(1)? {
            b'/' if rest.as_bytes().get(2) == Some(&b'>') => Some((Construct::Ignored, open + 3)),
            b'/' => self.tags.end(open, tag).map(|(name, end)| (Construct::End(name), end)),
            b'!' if rest.starts_with("<!--") => Some(self.comment(open + 4)),
            b'!' if rest.starts_with("<![CDATA[") => Some(self.section(open + 9)),
            b'!' => declaration(rest).map(|length| (Construct::Ignored, open + length)),
            b'?' => instruction(rest).map(|length| (Construct::Ignored, open + length)),
            _ => self.tags.start(open, tag).map(|end| (Construct::Start, end)),
        }
    }

    /// Calls `find` on the rest of the source, and remembers if nothing was found so that the search is not repeated.
    fn find<T>(&mut self, delimiter: &'static str, from: usize, find: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        if self.absent.contains(&delimiter) {
            return None;
        }
        let found = find(&self.source[from..]);
        if found.is_none() {
            self.absent.push(delimiter);
        }
        found
    }

    /// Reads the comment whose content starts at `from`. The opening mark of an unclosed one becomes a space.
    fn comment(&mut self, from: usize) -> (Construct<'a>, usize) {
        let rest = &self.source[from..];
        for end in [">", "->"] {
            if rest.starts_with(end) {
                return (Construct::Ignored, from + end.len());
            }
        }
        let end = self.find("-->", from, |rest| {
            rest.match_indices("--").find_map(|(at, _)| {
                let after = &rest.as_bytes()[at + 2..];
                // Of three or more dashes, the last two count.
                let more = after.iter().take_while(|byte| **byte == b'-').count();
                let end = at + 2 + more;
                match &after[more..] {
                    [b'>', ..] => Some(end + 1),
                    [b'!', b'>', ..] => Some(end + 2),
                    _ => None,
                }
            })
        });
        end.map_or((Construct::Section(" "), from), |length| (Construct::Ignored, from + length))
    }

    /// Reads the CDATA section whose content starts at `from`. An unclosed one is read as markup.
    fn section(&mut self, from: usize) -> (Construct<'a>, usize) {
        let end = self.find("]]>", from, |rest| rest.find("]]>"));
        end.map_or((Construct::Ignored, from), |length| {
            (Construct::Section(&self.source[from..from + length]), from + length + 3)
        })
    }

    /// Returns the content of a raw text element, and its end. If there is no end tag, the content is read as markup;
    /// under the rules of browsers it would last until the end of the page.
    fn raw(&mut self, tag: &Tag, from: usize) -> Option<(Content<'a>, usize)> {
        let name = match tag.name.as_ref() {
            "script" => "script",
            "style" => "style",
            _ if self.syntax == Syntax::Xhtml => return None,
            "iframe" => "iframe",
            "noembed" => "noembed",
            "noframes" => "noframes",
            "xmp" => "xmp",
            "textarea" => "textarea",
            "title" => "title",
            _ => return None,
        };
        // Browsers ignore the slash in `<script/>`, but the author meant the element to be closed.
        if tag.closed {
            return None;
        }
        let length = self.find(name, from, |rest| end_tag(rest, name))?;
        let text = &self.source[from..from + length];
        let content = if matches!(name, "textarea" | "title") { Content::Decoded(text) } else { Content::Raw(text) };
        Some((content, from + length))
    }
}

/// Returns the position of the first end tag of an element.
fn end_tag(source: &str, name: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    source.match_indices("</").map(|(at, _)| at).find(|at| {
        let after = &bytes[at + 2..];
        after.len() > name.len()
            && after[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            && matches!(after[name.len()], b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
    })
}

/// Returns the part of a text that a declaration may cover.
fn reach(rest: &str) -> &str {
    &rest[..rest.floor_char_boundary(MAX_DECLARATION_LENGTH)]
}

/// Returns the length of the declaration at the start of a text.
fn declaration(rest: &str) -> Option<usize> {
    const WORDS: &[&str] = &["doctype", "entity", "element", "attlist", "notation", "[if", "[endif", "[else"];
    let reach = reach(rest);
    let begins = |word: &&str| {
        let begin = reach.as_bytes().get(2..2 + word.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
    };
    let word = WORDS.iter().find(|word| begins(word))?;
    let end = reach.find(['>', '[']).filter(|_| !word.starts_with('[')).or_else(|| reach.find('>'))?;
    if reach.as_bytes()[end] == b'[' {
        // The document type has an internal subset.
        let close = end + reach[end..].find(']')?;
        let blank = reach[close + 1..].len() - reach[close + 1..].trim_start().len();
        return reach[close + 1 + blank..].starts_with('>').then_some(close + blank + 2);
    }
    (!reach[1..end].contains('<')).then_some(end + 1)
}

/// Returns the length of the processing instruction at the start of a text.
fn instruction(rest: &str) -> Option<usize> {
    let reach = reach(rest);
    let end = reach.find('>')?;
    let named = reach.as_bytes()[2].is_ascii_alphabetic();
    let ended = reach[..end].ends_with('?') || reach[2..end].starts_with("xml");
    (named && ended && !reach[1..end].contains('<')).then_some(end + 1)
}

/// Passes text to `take`, with character references replaced.
fn words<'a>(text: &str, take: &mut impl FnMut(Token<'_, 'a>)) {
    entities::pieces(text, |piece| take(Token::Text(piece)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(source: &str, syntax: Syntax) -> String {
        let mut output = String::new();
        tokens(source, syntax, |token| match token {
            Token::Start(tag) => output.extend(["<", &tag.name, ">"]),
            Token::End(name) => output.extend(["</", name, ">"]),
            Token::Text(text) => output.push_str(text),
        });
        output
    }

    #[test]
    fn an_unclosed_element_does_not_hide_the_rest() {
        use Syntax::{Html, Xhtml};
        for (source, syntax, expected) in [
            ("<script>a<b></SCRIPT ><p>c", Html, "<script>a<b></script><p>c"),
            ("<script>a<p>b", Html, "<script>a<p>b"),
            ("<script>a</script><script>b<p>c", Html, "<script>a</script><script>b<p>c"),
            ("<script src=a /><p>b", Html, "<script><p>b"),
            ("<script>a</scripts><p>b", Html, "<script>a</scripts><p>b"),
            ("<script><!--<script></script>--><p>b", Html, "<script><!--<script></script>--><p>b"),
            ("a\r\n\r\n\r\n\r\n<title>b</title><title>c<p>d", Html, "a\r\n\r\n\r\n\r\n<title>b</title><title>c<p>d"),
            ("a<!-- b --><p>c<!-- d<p>e<!-- f", Html, "a<p>c  d<p>e  f"),
            ("a<!--><p>b<!-- c --!>d<!--- e --->f", Html, "a<p>bdf"),
            ("<noscript><p>a</noscript>", Html, "<noscript><p>a</noscript>"),
            ("<text><![CDATA[第一章 <a> & b]]></text>c", Xhtml, "<text>第一章 <a> & b</text>c"),
            ("<p><![CDATA[a<p>b", Xhtml, "<p>a<p>b"),
            ("<p><![CDATA[a<p>b]]>c<![CDATA[d", Html, "<p>a<p>bcd"),
            ("<title>河<i>灯</i></title>", Xhtml, "<title>河<i>灯</i></title>"),
            ("<title>河<i>&amp;</title>", Html, "<title>河<i>&</title>"),
        ] {
            assert_eq!(output(source, syntax), expected, "{source}");
        }
    }

    #[test]
    fn angle_brackets_in_prose_are_text() {
        for (source, expected) in [
            ("<p>She wrote <Dear Peter, come home> twice</p>", "<p>She wrote <Dear Peter, come home> twice</p>"),
            ("<p>她写：<亲爱的彼得，回来吧>。</p>", "<p>她写：<亲爱的彼得，回来吧>。</p>"),
            ("a <b and 1 < 2 <3</p>", "a <b and 1 < 2 <3</p>"),
            ("a<! b<p>c<? d<p>e</ f<p>g</>h", "a<! b<p>c<? d<p>e</ f<p>gh"),
            ("河<! 灯<p>照<? 水<p>桥</ 边<p>门", "河<! 灯<p>照<? 水<p>桥</ 边<p>门"),
            ("<rant>a</rant> b</sarcasm>", "<rant>a</rant> b</sarcasm>"),
            ("<!DOCTYPE html><?xml version='1.0'?><![if !IE]>a<![endif]><?php b ?>", "a"),
            ("<!DOCTYPE html [ <!ENTITY nbsp '&#160;'> ]>a", "a"),
            ("</p<div>a</b and c", "</p><div>a</b>and c"),
        ] {
            assert_eq!(output(source, Syntax::Html), expected, "{source}");
        }
    }

    #[test]
    fn many_unclosed_elements_take_linear_time() {
        let open = "<script><style><textarea><!-- </b>".repeat(60_000);
        assert_eq!(output(&open, Syntax::Html).matches("<script>").count(), 60_000);
        let open = "<![CDATA[</script".repeat(60_000);
        assert!(output(&open, Syntax::Xhtml).len() < open.len());
        for shape in [
            "<a b=\"",
            "<a b='\" c=\"' ",
            "<a b=\"<a c='\" d='",
            "<a b=\"<\" ",
            "<a b=\"<a b='\" b='<a b=\"' ",
            "<p class=x the mill ",
            "<a ",
            "<Dear Peter, ",
            "</a ",
            "</x",
            "<x",
            "<!doctype [",
            "<![if ",
            "<?xml ",
            "<!--",
            "<!-- -",
            "<![CDATA[",
            "&amp",
            "&a",
            "<",
        ] {
            let many = shape.repeat(200_000 / shape.len());
            for syntax in [Syntax::Html, Syntax::Xhtml] {
                assert!(output(&many, syntax).len() <= 2 * many.len(), "{shape}");
            }
            assert!(output(&(many + "\"'-->]]><p>河灯</p>"), Syntax::Html).contains("河灯"), "{shape}");
        }
    }
}
