//! HTML and XHTML become plain text: one line for each paragraph, a blank line between, headings noted.
//!
//! A stream of tokens, no tree: time and memory grow with the page and not with how deep it nests. Scripts, styles and
//! other things that nobody reads are dropped; nothing is fetched or run.

use std::collections::BTreeSet;
use std::convert::Infallible;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

/// How a page's markup is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// As browsers read it: `<script>` and its like hold raw text.
    Html,
    /// As XML: `<title/>` is closed.
    Xhtml,
}

/// A heading, in bytes of the page's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) start: usize,
    /// 1 for `h1`.
    pub(super) depth: u8,
    pub(super) title: String,
}

/// What a page says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Its words; ends without a line break.
    pub(super) text: String,
    pub(super) headings: Vec<Heading>,
    /// Where elements with the ids that were asked for begin, in bytes of the text.
    pub(super) places: Vec<(String, usize)>,
    /// Stretches whose element says that they are no story: start, end, reason.
    pub(super) matter: Vec<(usize, usize, &'static str)>,
    pub(super) title: String,
    pub(super) author: Option<String>,
}

/// Attributes that are longer hold pictures, not words.
const LONGEST_VALUE: usize = 4096;
/// A heading that is longer is a paragraph that somebody wanted to be large.
const LONGEST_HEADING: usize = 600;

/// Reads a page. `wanted` are the ids whose places are asked for.
pub(super) fn page(source: &str, syntax: Syntax, wanted: &BTreeSet<String>) -> Page {
    let mut builder = Builder::new(wanted);
    tokens(source, syntax, |token| builder.take(&token));
    builder.finish()
}

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

/// Hands on the tokens of some markup, broken or not, in one pass.
pub(super) fn tokens(source: &str, syntax: Syntax, mut take: impl FnMut(Token<'_>)) {
    let mut lexer = CallbackEmitter::new(Lexer { tag: Tag::default(), attribute: None, take: &mut take });
    lexer.naively_switch_states(syntax == Syntax::Html);
    // It yields nothing: all goes through the lexer.
    Tokenizer::new_with_emitter(source, lexer).finish();
}

/// Gathers what the tokenizer tells piece by piece into whole tags.
struct Lexer<F> {
    tag: Tag,
    attribute: Option<&'static str>,
    take: F,
}

impl<F: FnMut(Token<'_>)> Callback<Infallible, ()> for Lexer<F> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Infallible> {
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
            }
            CallbackEvent::EndTag { name } => (self.take)(Token::End(&String::from_utf8_lossy(name))),
            CallbackEvent::String { value } => (self.take)(Token::Text(&String::from_utf8_lossy(value))),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
        None
    }
}

/// What stands between the words written so far and the next, the strongest so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Blank,
    Line,
    Paragraph,
    /// A paragraph with a rule before it.
    Rule,
}

/// An element that is open: left out of the text, or noted as matter.
#[derive(Debug)]
struct Open {
    name: String,
    /// How many elements of its name are open within, itself included.
    depth: usize,
    /// Where its text begins and what it is; nothing when it is left out.
    matter: Option<(usize, &'static str)>,
}

struct Builder<'a> {
    wanted: &'a BTreeSet<String>,
    page: Page,
    gap: Gap,
    /// Depth and start of the heading that is open.
    heading: Option<(u8, usize)>,
    skipped: Option<Open>,
    matter: Vec<Open>,
    /// Ids that were met since the last word.
    ids: Vec<String>,
    preformatted: usize,
    in_title: bool,
}

/// Elements that nobody reads.
const SKIPPED: &[&str] = &[
    "script", "style", "template", "iframe", "svg", "math", "object", "audio", "video", "canvas", "select", "textarea",
    "button", "noembed", "noframes", "rt", "rp", "head",
];
/// Elements that begin and end a paragraph.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "details",
    "div",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "thead",
    "ul",
    "caption",
];
/// Elements that begin and end a line.
const LINES: &[&str] = &["br", "dd", "dt", "li", "option", "tr"];
/// Elements that hold nothing, and so have no end tag.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

/// What `epub:type`, `role` and Project Gutenberg's class names say is no story.
const MATTER: &[(&str, &str)] = &[
    ("toc", "contents"),
    ("doc-toc", "contents"),
    ("landmarks", "contents"),
    ("page-list", "contents"),
    ("loi", "illustrations"),
    ("lot", "illustrations"),
    ("copyright-page", "licence"),
    ("imprint", "licence"),
    ("colophon", "licence"),
    ("doc-colophon", "licence"),
    ("pg-boilerplate", "licence"),
    ("pgheader", "licence"),
    ("pgfooter", "licence"),
    ("titlepage", "front_matter"),
    ("halftitlepage", "front_matter"),
    ("cover", "front_matter"),
    ("doc-cover", "front_matter"),
    ("dedication", "front_matter"),
    ("doc-dedication", "front_matter"),
    ("transnote", "transcriber_note"),
    ("transcriber-note", "transcriber_note"),
    ("endnotes", "back_matter"),
    ("doc-endnotes", "back_matter"),
    ("footnotes", "back_matter"),
    ("rearnotes", "back_matter"),
    ("index", "back_matter"),
    ("doc-index", "back_matter"),
    ("bibliography", "back_matter"),
    ("doc-bibliography", "back_matter"),
];

/// Says what a list of types or classes makes of an element.
pub(super) fn reason(types: &str) -> Option<&'static str> {
    types.split_whitespace().find_map(|word| MATTER.iter().find(|(key, _)| *key == word).map(|(_, reason)| *reason))
}

/// What an element's attributes say is no story. A class name may mean anything, but for those that only transcribers use.
fn matter_of(tag: &Tag) -> Option<&'static str> {
    let typed = ["epub:type", "role"].into_iter().find_map(|name| tag.get(name).and_then(reason));
    let classed = || {
        let class = tag.get("class")?;
        class
            .split_whitespace()
            .find(|class| {
                matches!(*class, "pg-boilerplate" | "pgheader" | "pgfooter" | "transnote" | "transcriber-note")
            })
            .and_then(reason)
    };
    typed.or_else(classed).or_else(|| (tag.name == "nav").then_some("contents"))
}

/// A printed page's number or a reference to a note: it stands within a sentence without being of it.
fn is_aside(tag: &Tag) -> bool {
    let class = tag.get("class").unwrap_or_default();
    let numbers = ["pagenum", "pageno", "page-number", "pagebreak", "x-ebookmaker-pageno", "fnanchor", "noteref"];
    let types = [tag.get("epub:type"), tag.get("role")];
    class.split_whitespace().any(|class| numbers.contains(&class))
        || types.into_iter().flatten().any(|types| {
            types
                .split_whitespace()
                .any(|word| matches!(word, "pagebreak" | "doc-pagebreak" | "noteref" | "doc-noteref"))
        })
}

impl<'a> Builder<'a> {
    fn new(wanted: &'a BTreeSet<String>) -> Self {
        Self {
            wanted,
            page: Page::default(),
            gap: Gap::None,
            heading: None,
            skipped: None,
            matter: Vec::new(),
            ids: Vec::new(),
            preformatted: 0,
            in_title: false,
        }
    }

    fn take(&mut self, token: &Token<'_>) {
        match token {
            Token::Start(tag) => self.start(tag),
            Token::End(name) => self.end(name),
            Token::Text(text) if self.in_title => self.page.title.push_str(text),
            Token::Text(_) if self.skipped.is_some() => {}
            Token::Text(text) => self.words(text),
        }
    }

    fn start(&mut self, tag: &Tag) {
        let name = tag.name.as_str();
        if name == "meta" && tag.get("name").is_some_and(|name| matches!(name, "author" | "dc.creator" | "DC.Creator"))
        {
            self.page.author = tag.get("content").map(one_line).filter(|author| !author.is_empty());
        }
        if name == "body" {
            self.in_title = false;
            self.skipped = None;
        }
        let open = !tag.closed && !VOID.contains(&name);
        if name == "title" && self.page.title.is_empty() && self.page.text.is_empty() {
            self.in_title = open;
            return;
        }
        if let Some(skipped) = &mut self.skipped {
            skipped.depth += usize::from(open && skipped.name == name);
            return;
        }
        if SKIPPED.contains(&name) || is_aside(tag) {
            self.note_id(tag);
            if open {
                self.skipped = Some(Open { name: name.to_owned(), depth: 1, matter: None });
            }
            return;
        }
        for matter in self.matter.iter_mut().filter(|matter| open && matter.name == name) {
            matter.depth += 1;
        }
        self.gap_around(name);
        self.note_id(tag);
        // Nested matter is part of what it stands in.
        if let Some(reason) = matter_of(tag).filter(|_| open && self.matter.is_empty()) {
            self.gap = self.gap.max(Gap::Paragraph);
            let matter = Some((self.page.text.len(), reason));
            self.matter.push(Open { name: name.to_owned(), depth: 1, matter });
        }
        if let Some(depth) = heading_depth(name).filter(|_| open) {
            self.close_heading();
            // A rule above a heading parts no scenes.
            self.gap = self.gap.min(Gap::Paragraph);
            self.heading = Some((depth, self.page.text.len()));
        }
        match name {
            "pre" if open => self.preformatted += 1,
            // An initial letter that is a picture is still a letter.
            "img" => {
                if let Some(letter) = tag.get("alt").filter(|alt| is_initial(alt)) {
                    self.words(letter);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if name == "title" {
            self.in_title = false;
        }
        if let Some(skipped) = &mut self.skipped {
            if skipped.name == name {
                skipped.depth -= 1;
                if skipped.depth == 0 {
                    self.skipped = None;
                }
            }
            return;
        }
        if heading_depth(name).is_some() {
            self.close_heading();
        }
        self.gap_around(name);
        if name == "pre" {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
        for matter in self.matter.iter_mut().filter(|matter| matter.name == name) {
            matter.depth -= 1;
        }
        while let Some(closed) = self.matter.pop_if(|matter| matter.depth == 0) {
            self.close_matter(&closed);
        }
    }

    fn close_matter(&mut self, matter: &Open) {
        let end = self.page.text.len();
        if let Some((start, reason)) = matter.matter.filter(|(start, _)| *start < end) {
            self.page.matter.push((start, end, reason));
        }
        self.gap = self.gap.max(Gap::Paragraph);
    }

    fn gap_around(&mut self, name: &str) {
        if name == "hr" {
            self.gap = Gap::Rule;
        } else if BLOCKS.contains(&name) {
            self.gap = self.gap.max(Gap::Paragraph);
        } else if name == "br" && self.gap == Gap::Line {
            // Two breaks part paragraphs where somebody wrote them so.
            self.gap = Gap::Paragraph;
        } else if LINES.contains(&name) {
            self.gap = self.gap.max(Gap::Line);
        } else if matches!(name, "td" | "th") {
            self.gap = self.gap.max(Gap::Blank);
        }
    }

    fn note_id(&mut self, tag: &Tag) {
        for id in [tag.get("id"), tag.get("name")].into_iter().flatten() {
            if self.wanted.contains(id) && !self.ids.iter().any(|known| known == id) {
                self.ids.push(id.to_owned());
            }
        }
    }

    fn words(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' if self.preformatted > 0 => self.gap_around("br"),
                ' ' | '\n' | '\t' | '\r' | '\u{c}' | '\u{a0}' => self.gap = self.gap.max(Gap::Blank),
                // Soft hyphens, marks of byte order and other controls are no words.
                '\u{ad}' | '\u{feff}' | '\u{200b}' => {}
                c if c.is_control() => {}
                c => {
                    self.fill_gap();
                    self.page.text.push(c);
                }
            }
        }
    }

    fn fill_gap(&mut self) {
        let text = &mut self.page.text;
        if self.gap != Gap::None || !self.ids.is_empty() {
            // Nothing stands before the first word.
            if !text.is_empty() {
                text.push_str(match self.gap {
                    Gap::None => "",
                    Gap::Blank => " ",
                    Gap::Line => "\n",
                    Gap::Paragraph => "\n\n",
                    Gap::Rule => "\n\n* * *\n\n",
                });
            }
            self.gap = Gap::None;
            self.page.places.extend(self.ids.drain(..).map(|id| (id, text.len())));
        }
    }

    fn close_heading(&mut self) {
        let Some((depth, from)) = self.heading.take() else { return };
        let words = &self.page.text[from..];
        let start = from + (words.len() - words.trim_start().len());
        let title = one_line(words);
        if !title.is_empty() && title.len() <= LONGEST_HEADING {
            self.page.headings.push(Heading { start, depth, title });
        }
    }

    fn finish(mut self) -> Page {
        self.close_heading();
        while let Some(matter) = self.matter.pop() {
            self.close_matter(&matter);
        }
        let end = self.page.text.len();
        self.page.places.extend(self.ids.drain(..).map(|id| (id, end)));
        for (start, ..) in &mut self.page.matter {
            let words = &self.page.text[*start..];
            *start += words.len() - words.trim_start().len();
        }
        self.page.title = one_line(&self.page.title);
        self.page
    }
}

fn heading_depth(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

/// Whether a picture's text is an initial letter, perhaps with a quotation mark before it.
fn is_initial(alt: &str) -> bool {
    let letters = alt.trim().trim_start_matches(['“', '‘', '"', '\'']);
    letters.chars().count() == 1 && letters.chars().all(char::is_alphabetic)
}

/// Puts a text into one line with single blanks.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(source: &str) -> Page {
        page(source, Syntax::Html, &BTreeSet::new())
    }

    #[test]
    fn paragraphs_are_lines_with_blank_lines_between() {
        for (source, expected) in [
            (
                "<p>The mill\nstood\n  still.</p><p>It &amp; the <i>weir</i>&nbsp;slept.",
                "The mill stood still.\n\nIt & the weir slept.",
            ),
            ("<p>河上无风，</p>\n<p>　　水车不动。</p>", "河上无风，\n\n　　水车不动。"),
            ("one<br>two<br><br>three", "one\ntwo\n\nthree"),
            ("<ul><li>a<li>b</ul>c", "a\nb\n\nc"),
            ("<p>before</p><hr/><p>after</p><hr><h2>III</h2>", "before\n\n* * *\n\nafter\n\nIII"),
            ("<pre>a\n  b</pre>", "a\nb"),
            ("<p>the mill<span class='pagenum'>[12]</span>-pond", "the mill-pond"),
            ("<p><img alt='T' src='t.png'>he mill, <img alt='A picture of it'>still", "The mill, still"),
            ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", "漢字"),
            ("&ldquo;Tom!&rdquo; &#8212; no an&shy;swer", "“Tom!” — no answer"),
        ] {
            assert_eq!(read(source).text, expected, "{source}");
        }
    }

    #[test]
    fn what_nobody_reads_is_dropped() {
        let source = "<html><head><title>Low\n Tide</title><style>p{}</style><meta name=author content='A. B.'></head>\
                      <body><script>if (a < b) { document.write('<p>no</p>') }</script><p>Yes.</p>\
                      <svg><text>no</text></svg><!-- no --><noscript>shown</noscript></body>";
        let page = read(source);
        assert_eq!((page.text.as_str(), page.title.as_str()), ("Yes.\n\nshown", "Low Tide"));
        assert_eq!(page.author.as_deref(), Some("A. B."));
        let xhtml =
            "<?xml version='1.0'?><html><head><title/><script src='a.js'/></head><body><p>Yes.</p></body></html>";
        assert_eq!(super::page(xhtml, Syntax::Xhtml, &BTreeSet::new()).text, "Yes.");
    }

    #[test]
    fn headings_and_places_are_found_in_the_text() {
        let wanted = BTreeSet::from(["two".to_owned(), "end".to_owned()]);
        let source = "<h1>Rain</h1><h2>CHAPTER I.<br>Mud</h2><p>Wet.</p><a id=two></a><h2><span>II</span></h2><p>Dry.<a name=end></a>";
        let page = page(source, Syntax::Html, &wanted);
        let headings: Vec<(&str, u8, &str)> = page
            .headings
            .iter()
            .map(|heading| (&page.text[heading.start..][..2], heading.depth, heading.title.as_str()))
            .collect();
        assert_eq!(headings, [("Ra", 1, "Rain"), ("CH", 2, "CHAPTER I. Mud"), ("II", 2, "II")]);
        assert_eq!(
            page.places.iter().map(|(id, at)| (id.as_str(), &page.text[*at..])).collect::<Vec<_>>(),
            [("two", "II\n\nDry."), ("end", "")]
        );
    }

    #[test]
    fn typed_elements_are_matter() {
        let page = read(
            "<section id=pg-header class='pg-boilerplate'><div><p>Licence.</p></div></section><p>Story.</p><nav><ol><li>One</ol></nav><p>More.",
        );
        let matter: Vec<(&str, &str)> =
            page.matter.iter().map(|(start, end, reason)| (&page.text[*start..*end], *reason)).collect();
        assert_eq!(matter, [("Licence.", "licence"), ("One", "contents")]);
    }

    #[test]
    fn depth_and_length_cost_no_more_than_their_size() {
        let deep = format!("{}deep{}", "<div><b>".repeat(200_000), "</b></div>".repeat(200_000));
        assert_eq!(read(&deep).text, "deep");
        let many = format!("<p {}>many", (0..200_000).map(|n| format!("a{n}=1")).collect::<Vec<_>>().join(" "));
        assert_eq!(read(&many).text, "many");
        assert_eq!(read(&"<nav>".repeat(100_000)).text, "");
        assert_eq!(read(&format!("{}x", "<h1>".repeat(100_000))).headings.len(), 1);
    }

    proptest! {
        #[test]
        fn any_markup_is_read(source in "(<[!/]?[a-z1-6]{0,7}( id=.| class=\"toc\"|/)?>?|&[a-z#0-9]{0,6};?|\\PC{0,4}|[ \n]|-->|\"){0,60}", html in any::<bool>()) {
            let syntax = if html { Syntax::Html } else { Syntax::Xhtml };
            let page = page(&source, syntax, &BTreeSet::new());
            prop_assert!(!page.text.contains("\n\n\n"));
            for heading in &page.headings {
                prop_assert!(page.text[heading.start..].starts_with(|c: char| !c.is_whitespace()));
            }
            for (start, end, _) in &page.matter {
                prop_assert!(start <= end && page.text.get(*start..*end).is_some());
            }
        }
    }
}
