//! Reads a page of HTML or XHTML as plain text: one line per paragraph, blank lines between.
//!
//! Works on a token stream without a tree: time and memory are linear in the size of the page, whatever its nesting
//! depth. Scripts, styles and other ignored elements are dropped. Nothing is fetched or run.

use std::collections::BTreeSet;

use super::boilerplate_elements::kind_of_element;
use super::elements::{LINES, VOID, ends_title, heading_depth, is_boundary};
use super::ignored_elements::{self, Ended, IgnoredKind, OpenElements};
use super::markup::{Syntax, Token, one_line, tokens};
use super::runs::run_length;
use super::tags::Tag;
use crate::books::raw_book::{MAX_HEADINGS, RawHeading};
use crate::schema::BoilerplateKind;

/// The content of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::books) struct Page {
    /// The text, without a final line break.
    pub(in crate::books) text: String,
    pub(in crate::books) headings: Vec<RawHeading>,
    /// The starts of the elements with the requested ids, in bytes of the text.
    pub(in crate::books) anchors: Vec<(String, usize)>,
    /// Ranges whose element marks them as boilerplate: start, end, kind.
    pub(in crate::books) boilerplate: Vec<(usize, usize, BoilerplateKind)>,
    pub(in crate::books) title: String,
    pub(in crate::books) author: Option<String>,
    /// Whether the page has text in ignored elements.
    pub(in crate::books) has_ignored_text: bool,
}

/// The maximum length of a heading, in bytes. A longer one is a paragraph in large type.
const MAX_HEADING_LENGTH: usize = 600;
/// The maximum length of a page title, in bytes. What is longer is the page itself after an unclosed title.
const MAX_TITLE_LENGTH: usize = 2000;
/// The maximum length of a page number or note mark, in bytes. A longer one, or one of several paragraphs, is neither.
const MAX_ASIDE_LENGTH: usize = 120;
/// The text of a horizontal rule, with the line breaks around it.
const RULE: &str = "\n\n* * *\n\n";

/// Reads a page. `requested_ids` are the ids whose positions are returned.
pub(in crate::books) fn page(source: &str, syntax: Syntax, requested_ids: &BTreeSet<String>) -> Page {
    let mut builder = Builder::new(requested_ids);
    tokens(source, syntax, |token| builder.take(&token));
    builder.finish()
}

/// The separator between the text written so far and the next word. The strongest one so far is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Blank,
    Line,
    Paragraph,
    /// A paragraph with a rule before it.
    Rule,
}

/// An open element that marks its content as boilerplate.
#[derive(Debug, Clone)]
struct OpenBoilerplate {
    name: String,
    /// The number of open elements of its name, including itself.
    depth: usize,
    /// The start of its text, and its kind.
    start: usize,
    kind: BoilerplateKind,
}

/// The builder's state before an ignored element.
#[derive(Debug)]
struct Snapshot {
    text: usize,
    headings: usize,
    anchors: usize,
    /// The number of finished boilerplate ranges, and the open one.
    boilerplate: usize,
    open: Option<OpenBoilerplate>,
    gap: Gap,
    heading: Option<(u8, usize)>,
    preformatted: usize,
}

struct Builder<'a> {
    requested_ids: &'a BTreeSet<String>,
    page: Page,
    gap: Gap,
    /// The depth and start of the open heading.
    heading: Option<(u8, usize)>,
    open_elements: OpenElements<Snapshot>,
    boilerplate: Option<OpenBoilerplate>,
    /// The ids found, without repeats, with the length of the text at that time.
    anchors: Vec<(&'a str, usize)>,
    found_ids: BTreeSet<&'a str>,
    preformatted: usize,
    in_title: bool,
}

impl<'a> Builder<'a> {
    fn new(requested_ids: &'a BTreeSet<String>) -> Self {
        Self {
            requested_ids,
            page: Page::default(),
            gap: Gap::None,
            heading: None,
            open_elements: OpenElements::new(),
            boilerplate: None,
            anchors: Vec::new(),
            found_ids: BTreeSet::new(),
            preformatted: 0,
            in_title: false,
        }
    }

    fn take(&mut self, token: &Token<'_, '_>) {
        match token {
            Token::Start(tag) => self.start(tag),
            Token::End(name) => self.end(name),
            Token::Text(text) if self.in_title => {
                let remaining = MAX_TITLE_LENGTH.saturating_sub(self.page.title.len());
                self.page.title.push_str(&text[..text.floor_char_boundary(remaining)]);
            }
            Token::Text(_) if self.open_elements.is_in_code() => {}
            Token::Text(text) => self.words(text),
        }
    }

    fn start(&mut self, tag: &Tag) {
        let name = tag.name.as_ref();
        if name == "meta" && tag.get("name").is_some_and(|name| matches!(name, "author" | "dc.creator" | "DC.Creator"))
        {
            self.page.author = tag.get("content").map(one_line).filter(|author| !author.is_empty());
        }
        self.in_title = self.in_title && !ends_title(name);
        let open = !tag.closed && !VOID.contains(&name);
        if let Some(ended) = self.open_elements.start(name, open) {
            self.remove_ignored(ended);
        }
        if self.open_elements.is_in_code() {
            return;
        }
        if name == "title" && self.page.title.is_empty() && self.page.text.is_empty() && self.open_elements.is_empty() {
            self.in_title = open;
            return;
        }
        self.record_anchor(tag);
        if let Some(kind) = ignored_elements::ignored_kind(tag) {
            if open {
                self.open_elements.push(kind, name, self.snapshot());
                self.gap_around(name);
            }
            return;
        }
        if let Some(boilerplate) = self.boilerplate.as_mut().filter(|boilerplate| open && boilerplate.name == name) {
            boilerplate.depth += 1;
        }
        self.gap_around(name);
        // Boilerplate inside other boilerplate is part of it.
        if let Some(kind) = kind_of_element(tag).filter(|_| open && self.boilerplate.is_none()) {
            self.gap = self.gap.max(Gap::Paragraph);
            self.boilerplate =
                Some(OpenBoilerplate { name: name.to_owned(), depth: 1, start: self.page.text.len(), kind });
        }
        if let Some(depth) = heading_depth(name).filter(|_| open) {
            self.close_heading();
            // A rule above a heading is not a scene break.
            self.gap = self.gap.min(Gap::Paragraph);
            self.heading = Some((depth, self.page.text.len()));
        }
        match name {
            "pre" if open => self.preformatted += 1,
            // An initial letter set as a picture is part of the text.
            "img" => {
                if let Some(letter) = tag.get("alt").filter(|alt| is_initial(alt)) {
                    self.words(letter);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        self.in_title = self.in_title && !ends_title(name);
        if let Some(ended) = self.open_elements.end(name) {
            let at_own_end_tag = ended.at_own_end_tag;
            if self.remove_ignored(ended) && at_own_end_tag {
                return;
            }
        }
        if self.open_elements.is_in_code() {
            return;
        }
        if heading_depth(name).is_some() {
            self.close_heading();
        }
        self.gap_around(name);
        if name == "pre" {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
        if let Some(boilerplate) = self.boilerplate.as_mut().filter(|boilerplate| boilerplate.name == name) {
            boilerplate.depth -= 1;
            if boilerplate.depth == 0 {
                self.close_boilerplate();
            }
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            text: self.page.text.len(),
            headings: self.page.headings.len(),
            anchors: self.anchors.len(),
            boilerplate: self.page.boilerplate.len(),
            open: self.boilerplate.clone(),
            gap: self.gap,
            heading: self.heading,
            preformatted: self.preformatted,
        }
    }

    /// Removes the text of an ignored element, unless it is too long for its kind. Returns whether it was removed.
    fn remove_ignored(&mut self, ended: Ended<Snapshot>) -> bool {
        let snapshot = ended.snapshot;
        let written = self.page.text[snapshot.text..].trim_start();
        if ended.kind == IgnoredKind::Aside && (written.len() > MAX_ASIDE_LENGTH || written.contains("\n\n")) {
            return false;
        }
        self.page.has_ignored_text |= ended.kind != IgnoredKind::Aside && !written.is_empty();
        self.page.text.truncate(snapshot.text);
        self.page.headings.truncate(snapshot.headings);
        self.page.boilerplate.truncate(snapshot.boilerplate);
        for (_, offset) in &mut self.anchors[snapshot.anchors..] {
            *offset = snapshot.text;
        }
        (self.gap, self.heading, self.boilerplate) = (snapshot.gap, snapshot.heading, snapshot.open);
        self.preformatted = snapshot.preformatted;
        true
    }

    fn close_boilerplate(&mut self) {
        let end = self.page.text.len();
        if let Some(boilerplate) = self.boilerplate.take().filter(|boilerplate| boilerplate.start < end) {
            self.page.boilerplate.push((boilerplate.start, end, boilerplate.kind));
        }
        self.gap = self.gap.max(Gap::Paragraph);
    }

    fn gap_around(&mut self, name: &str) {
        if name == "hr" {
            self.gap = Gap::Rule;
        } else if name == "br" && self.gap == Gap::Line {
            // Two line breaks separate paragraphs.
            self.gap = Gap::Paragraph;
        } else if LINES.contains(&name) {
            self.gap = self.gap.max(Gap::Line);
        } else if matches!(name, "td" | "th") {
            self.gap = self.gap.max(Gap::Blank);
        } else if is_boundary(name) {
            self.gap = self.gap.max(Gap::Paragraph);
        }
    }

    fn record_anchor(&mut self, tag: &Tag) {
        for id in [tag.get("id"), tag.get("name")].into_iter().flatten() {
            // If several elements share an id, the first one has it.
            if let Some(id) = self.requested_ids.get(id).filter(|id| self.found_ids.insert(id.as_str())) {
                self.anchors.push((id, self.page.text.len()));
            }
        }
    }

    fn words(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let length = run_length(&text[at..]);
            if length > 0 {
                self.fill_gap();
                self.page.text.push_str(&text[at..at + length]);
                at += length;
            }
            let Some(c) = text[at..].chars().next() else { break };
            at += c.len_utf8();
            match c {
                '\n' if self.preformatted > 0 => self.gap_around("br"),
                '\r' if self.preformatted > 0 && bytes.get(at) != Some(&b'\n') => self.gap_around("br"),
                ' ' | '\n' | '\t' | '\r' | '\u{c}' | '\u{a0}' => self.gap = self.gap.max(Gap::Blank),
                // Soft hyphens, byte order marks and other control characters are dropped.
                _ => {}
            }
        }
    }

    fn fill_gap(&mut self) {
        let text = &mut self.page.text;
        // There is no separator before the first word.
        if self.gap != Gap::None && !text.is_empty() {
            text.push_str(match self.gap {
                Gap::None => "",
                Gap::Blank => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
                Gap::Rule => RULE,
            });
        }
        self.gap = Gap::None;
    }

    fn close_heading(&mut self) {
        let Some((depth, from)) = self.heading.take() else { return };
        let words = &self.page.text[from..];
        let start = from + (words.len() - words.trim_start().len());
        let title = one_line(words);
        // One more than the maximum is kept, to show that there are too many.
        if !title.is_empty() && title.len() <= MAX_HEADING_LENGTH && self.page.headings.len() <= MAX_HEADINGS {
            self.page.headings.push(RawHeading { start, depth, title });
        }
    }

    fn finish(mut self) -> Page {
        self.close_heading();
        self.close_boilerplate();
        let text = self.page.text.as_str();
        // The position of an element is that of the next word.
        let word = |at: usize| {
            let rest = &text[at..];
            let rest = rest.strip_prefix(RULE).unwrap_or(rest).trim_start();
            text.len() - rest.len()
        };
        self.page.anchors = self.anchors.iter().map(|(id, at)| ((*id).to_owned(), word(*at))).collect();
        for (start, ..) in &mut self.page.boilerplate {
            let words = &text[*start..];
            *start += words.len() - words.trim_start().len();
        }
        self.page.title = one_line(&self.page.title);
        self.page
    }
}

/// Whether a picture's alternative text is an initial letter, perhaps with a quotation mark before it.
fn is_initial(alt: &str) -> bool {
    let letters = alt.trim().trim_start_matches(['“', '‘', '"', '\'']);
    letters.chars().count() == 1 && letters.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(source: &str) -> Page {
        page(source, Syntax::Html, &BTreeSet::new())
    }

    #[test]
    fn paragraphs_are_separated_by_blank_lines() {
        for (source, expected) in [
            (
                "<p>The mill\nstood\n  still.</p><p>It &amp; the <i>weir</i>&nbsp;slept.",
                "The mill stood still.\n\nIt & the weir slept.",
            ),
            ("<p>河上无风，</p>\n<p>　　水车不动。</p>", "河上无风，\n\n　　水车不动。"),
            ("one<br>two<br><br>three", "one\ntwo\n\nthree"),
            ("<ul><li>a<li>b</ul>c", "a\nb\n\nc"),
            ("<p>before</p><hr/><p>after</p><hr><h2>III</h2>", "before\n\n* * *\n\nafter\n\nIII"),
            ("<pre>a\n  b\rc\r\nd</pre>e\rf", "a\nb\nc\nd\n\ne f"),
            ("the\u{200b} mill\u{7f}-pond\u{85} \u{a0} \u{feff}still，河\u{ad}上…", "the mill-pond still，河上…"),
            ("<p>the mill<span class='pagenum'>[12]</span>-pond", "the mill-pond"),
            ("<p><img alt='T' src='t.png'>he mill, <img alt='A picture of it'>still", "The mill, still"),
            ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", "漢字"),
            ("&ldquo;Tom!&rdquo; &#8212; no an&shy;swer", "“Tom!” — no answer"),
        ] {
            assert_eq!(read(source).text, expected, "{source}");
        }
    }

    #[test]
    fn scripts_styles_and_comments_are_dropped() {
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
    fn unclosed_ruby_annotations_do_not_hide_text() {
        for (source, expected) in [
            // The end tag of a ruby reading may be left out.
            ("<p><ruby>漢<rt>かん<rt>kan</ruby>字<p>水車", "漢字\n\n水車"),
            ("<p><ruby>漢<rp>(<rt>かん<rp>)</ruby>字<p>水車", "漢字\n\n水車"),
            ("<p><ruby>漢<rtc><rt>かん<rt>kan<rb>水<rt>みず</ruby>字<p>水車", "漢水字\n\n水車"),
            ("<p>漢<rt>かん<p>字", "漢かん\n\n字"),
            ("<head><title>河灯</title><p>河上无风，<p>水车不动。", "河上无风，\n\n水车不动。"),
            ("<head><style>p{}</style><meta name=x>The mill<p>stood.", "The mill\n\nstood."),
            ("<title>Mud<p>The mill<p>stood.", "The mill\n\nstood."),
            (
                "<p>The <span class=pagenum>[12] mill<p>stood <span class=pagenum>[13]</span>still.",
                "The [12] mill\n\nstood still.",
            ),
            ("<p>a<p class=pagenum>[12]<p>b", "a\n\nb"),
            (
                "<div><p>a<div class=pagenum>[12]<p>The mill stood still, and the river went by.<p>Nobody in the mill slept, and nobody woke till morning; it rained, and rained, and rained.</div>",
                "a\n\n[12]\n\nThe mill stood still, and the river went by.\n\nNobody in the mill slept, and nobody woke till morning; it rained, and rained, and rained.",
            ),
            ("<p>The <button>mill</p><p>stood</p><button>no</button>still", "The mill\n\nstood\n\nstill"),
            ("<div><select><option>a</div><p>河灯</p>", "a\n\n河灯"),
            ("<p><svg><text>a</text><p>The mill<svg><desc>no</desc></svg>", "a\n\nThe mill"),
            ("<script>if (a) {<p>The mill</p>", "The mill"),
            ("<p>The <script>mill</p>stood", "The\n\nstood"),
            ("<!-- The mill<p>stood", "The mill\n\nstood"),
            // An element that ends properly keeps its content.
            ("<p>a<button><div>b</div></button><svg><foreignObject><p>c</p></foreignObject></svg>d", "ad"),
            ("<object><p>a</p><object><p>b</object>c</object><video><svg></video>d", "d"),
            ("<template><section><h2>a</h2><p>b</section></template><div class=pagenum><p>12</p></div>c", "c"),
        ] {
            assert_eq!(read(source).text, expected, "{source}");
        }
        let ids = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        let page = page("<h2>One</h2>\n<svg><h2 id=a>no</h2><p>no</p><a id=b></svg><hr><p>Two", Syntax::Xhtml, &ids);
        assert_eq!(page.text, "One\n\nno\n\nno\n\n* * *\n\nTwo");
        let page = super::page(
            "<h2>One</h2><object><h3 id=a>no</h3><nav>no</nav><a id=b></object><hr><p>Two",
            Syntax::Xhtml,
            &ids,
        );
        assert_eq!((page.text.as_str(), page.headings.len(), page.boilerplate.len()), ("One\n\n* * *\n\nTwo", 1, 0));
        assert!(page.anchors.iter().all(|(_, at)| &page.text[*at..] == "Two"), "{:?}", page.anchors);
    }

    #[test]
    fn headings_and_anchors_have_offsets_in_the_text() {
        let ids = BTreeSet::from(["two".to_owned(), "end".to_owned()]);
        let source = "<h1>Rain</h1><h2>CHAPTER I.<br>Mud</h2><p>Wet.</p><a id=two></a><h2><span>II</span></h2><p>Dry.<a name=end></a>";
        let page = page(source, Syntax::Html, &ids);
        let headings: Vec<(&str, u8, &str)> = page
            .headings
            .iter()
            .map(|heading| (&page.text[heading.start..][..2], heading.depth, heading.title.as_str()))
            .collect();
        assert_eq!(headings, [("Ra", 1, "Rain"), ("CH", 2, "CHAPTER I. Mud"), ("II", 2, "II")]);
        assert_eq!(
            page.anchors.iter().map(|(id, at)| (id.as_str(), &page.text[*at..])).collect::<Vec<_>>(),
            [("two", "II\n\nDry."), ("end", "")]
        );
    }

    #[test]
    fn elements_with_a_boilerplate_type_are_marked() {
        let page = read(
            "<section id=pg-header class='pg-boilerplate'><div><p>Licence.</p></div></section><p>Story.</p><nav><ol><li>One</ol></nav><p>More.",
        );
        let boilerplate: Vec<(&str, &str)> = page
            .boilerplate
            .iter()
            .map(|(start, end, kind)| (&page.text[*start..*end], kind.reason().name()))
            .collect();
        assert_eq!(boilerplate, [("Licence.", "licence"), ("One", "contents")]);
    }

    #[test]
    fn deep_and_long_pages_take_linear_time() {
        let deep = format!("{}deep{}", "<div><b>".repeat(200_000), "</b></div>".repeat(200_000));
        assert_eq!(read(&deep).text, "deep");
        let many = format!("<p {}>many", (0..200_000).map(|n| format!("a{n}=1")).collect::<Vec<_>>().join(" "));
        assert_eq!(read(&many).text, "many");
        assert_eq!(read(&"<nav>".repeat(100_000)).text, "");
        assert_eq!(read(&format!("{}x", "<h1>".repeat(100_000))).headings.len(), 1);
    }

    /// Start tags of ignored elements.
    const IGNORED_TAGS: &[&str] = &[
        "<script>",
        "<style>",
        "<template>",
        "<iframe>",
        "<svg>",
        "<math>",
        "<object>",
        "<audio>",
        "<video>",
        "<canvas>",
        "<select>",
        "<textarea>",
        "<button>",
        "<noembed>",
        "<noframes>",
        "<rt>",
        "<rp>",
        "<rtc>",
        "<head>",
        "<title>",
        "<span class=pagenum>",
        "<div class=pagenum>",
        "<p class=pagenum>",
        "<a epub:type=noteref>",
        "<!--",
        "<!",
        "<?",
        "</",
        "<![CDATA[",
        "<!DOCTYPE [",
        "<p class=\"",
        "<p class=\"x>",
        "<img alt='x",
        "<a href=",
        "<b ",
        "<Dear Peter, ",
        "<亲爱的",
    ];

    proptest! {
        #[test]
        fn an_unclosed_element_loses_at_most_one_block(
            count in 1_usize..9,
            at in any::<prop::sample::Index>(),
            opened in prop::sample::select(IGNORED_TAGS),
            (html, closed, boxed, han, more) in any::<(bool, bool, bool, bool, bool)>(),
        ) {
            let words = |n: usize| if han { format!("河灯{n}照水") } else { format!("the {n}th lamp") };
            let end = if closed { "</p>\n" } else { "" };
            let paragraphs = (0..count).map(|n| format!("<p>{}{end}", words(n))).collect::<Vec<_>>().concat();
            let other = if more { "<p>x<button>no</button><svg></svg><span class=pagenum>1</span></p>" } else { "" };
            let mut source = if boxed { format!("<body><div>{paragraphs}</div>{other}</body>") } else { paragraphs + other };
            let tag_offsets: Vec<usize> = source.match_indices('<').map(|(at, _)| at).chain([source.len()]).collect();
            source.insert_str(tag_offsets[at.index(tag_offsets.len())], opened);
            let page = page(&source, if html { Syntax::Html } else { Syntax::Xhtml }, &BTreeSet::new());
            let lost = (0..count).filter(|n| !page.text.contains(&words(*n))).count();
            prop_assert!(lost <= 1, "{lost} lost of {source}: {}", page.text);
        }

        #[test]
        fn any_markup_gives_valid_offsets(source in "(<[!/]?[a-z1-6]{0,7}( id=.| class=\"toc\"|/)?>?|&[a-z#0-9]{0,6};?|\\PC{0,4}|[ \n]|-->|\"){0,60}", html in any::<bool>()) {
            let syntax = if html { Syntax::Html } else { Syntax::Xhtml };
            let page = page(&source, syntax, &BTreeSet::new());
            prop_assert!(!page.text.contains("\n\n\n"));
            for heading in &page.headings {
                prop_assert!(page.text[heading.start..].starts_with(|c: char| !c.is_whitespace()));
            }
            for (start, end, _) in &page.boilerplate {
                prop_assert!(start <= end && page.text.get(*start..*end).is_some());
            }
        }
    }
}
