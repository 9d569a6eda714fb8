//! Elements that nobody reads: which they are, and where one ends whose end tag is missing.
//!
//! The reader writes what such an element holds and takes it back when the element ends as it should. One that is left
//! open ends at the next block that it cannot hold, or with the block that it stands in, and what it held stays: better a
//! page's number in the text than a page out of it. Keeps no text itself.

use super::markup::Tag;

/// What an element that nobody reads may hold, and so where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Code, which is not even written: ends at any block.
    Code,
    /// A reading beside its characters: ends at the next one and with its `ruby`.
    Ruby,
    /// A drawing or a formula: ends at any block, but within `foreignObject` and its like.
    Foreign,
    /// Something to press or to play: may hold blocks.
    Widget,
    /// Words alone.
    Phrase,
    /// A printed page's number or a reference to a note, which is short.
    Aside,
}

/// Elements within which another one is left open beyond this depth are broken markup, not deep.
const MOST_OPEN: usize = 16;

/// Elements at whose border no element within a sentence goes on.
const BOUNDARIES: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
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
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

fn boundary(name: &str) -> Option<usize> {
    BOUNDARIES.binary_search(&name).ok()
}

/// Whether an element begins and ends a paragraph, a line of a list or a cell of a table.
pub(super) fn is_boundary(name: &str) -> bool {
    boundary(name).is_some()
}

/// Whether a tag of this name ends a title that is left open.
pub(super) fn ends_title(name: &str) -> bool {
    boundary(name).is_some()
        || matches!(name, "title" | "meta" | "link" | "base" | "style" | "script" | "head" | "html")
}

/// Says whether nobody reads an element, and of which kind it is.
pub(super) fn kind(tag: &Tag) -> Option<Kind> {
    match tag.name.as_ref() {
        "script" | "style" => Some(Kind::Code),
        "rt" | "rp" | "rtc" => Some(Kind::Ruby),
        "svg" | "math" => Some(Kind::Foreign),
        "template" | "iframe" | "object" | "audio" | "video" | "canvas" | "select" | "textarea" | "button"
        | "noembed" | "noframes" => Some(Kind::Widget),
        "title" => Some(Kind::Phrase),
        _ => is_aside(tag).then_some(Kind::Aside),
    }
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

/// An element that is open.
#[derive(Debug)]
struct Skip<S> {
    name: String,
    kind: Kind,
    /// How many elements of its name are open within, itself included.
    depth: usize,
    /// How many elements of each of [`BOUNDARIES`] are open within.
    blocks: [u32; BOUNDARIES.len()],
    /// How many elements are open within a drawing or a formula that hold a page's markup.
    islands: usize,
    before: S,
}

impl<S> Skip<S> {
    fn holds_blocks(&self) -> bool {
        match self.kind {
            Kind::Code | Kind::Ruby | Kind::Phrase => false,
            Kind::Foreign => self.islands > 0,
            Kind::Widget => true,
            Kind::Aside => boundary(&self.name).is_some() && self.name != "p",
        }
    }
}

/// An element that ended as it should.
#[derive(Debug)]
pub(super) struct Ended<S> {
    pub(super) kind: Kind,
    /// Whether the tag was its own.
    pub(super) own: bool,
    /// What was when it began.
    pub(super) before: S,
}

/// The elements that nobody reads and that are open, the outermost first. `S` is what the reader wants back when one
/// ends.
#[derive(Debug)]
pub(super) struct Skips<S>(Vec<Skip<S>>);

impl<S> Skips<S> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether not even the words are written.
    pub(super) fn hold_code(&self) -> bool {
        self.0.last().is_some_and(|skip| skip.kind == Kind::Code)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Opens an element that nobody reads; one within another of its name is part of that.
    pub(super) fn push(&mut self, kind: Kind, name: &str, before: S) {
        if self.0.len() < MOST_OPEN && self.0.iter().all(|skip| skip.name != name) {
            let blocks = [0; BOUNDARIES.len()];
            self.0.push(Skip { name: name.to_owned(), kind, depth: 1, blocks, islands: 0, before });
        }
    }

    /// Takes note of a start tag, and returns what it ends; before [`Self::push`].
    pub(super) fn start(&mut self, name: &str, open: bool) -> Option<Ended<S>> {
        if self.0.is_empty() {
            return None;
        }
        let mut ended = None;
        if matches!(name, "rt" | "rp" | "rb" | "rtc") {
            let closes =
                |skip: &Skip<S>| skip.kind == Kind::Ruby && (skip.name != "rtc" || matches!(name, "rb" | "rtc"));
            ended = self.0.iter().position(closes).and_then(|at| self.ended(at, false));
        }
        if let Some(block) = boundary(name) {
            if let Some(at) = self.0.iter().position(|skip| !skip.holds_blocks()) {
                ended = self.cut_off(at);
            }
            for skip in self.0.iter_mut().filter(|_| open) {
                skip.blocks[block] += 1;
            }
        }
        if let Some(at) = self.0.iter().rposition(|skip| open && skip.name == name) {
            // Neither holds another of its kind.
            if matches!(name, "button" | "select") {
                self.0.truncate(at);
            } else {
                self.0[at].depth += 1;
            }
        }
        if open && is_island(name) {
            for skip in &mut self.0 {
                skip.islands += 1;
            }
        }
        ended
    }

    /// Takes note of an end tag, and returns what it ends.
    pub(super) fn end(&mut self, name: &str) -> Option<Ended<S>> {
        if self.0.is_empty() {
            return None;
        }
        let mut ended = None;
        if name == "ruby" {
            let ruby = self.0.iter().position(|skip| skip.kind == Kind::Ruby);
            ended = ruby.and_then(|at| self.ended(at, false));
        }
        if let Some(at) = self.0.iter().rposition(|skip| skip.name == name) {
            self.0[at].depth -= 1;
            if self.0[at].depth == 0 {
                ended = self.ended(at, true);
            }
        }
        if let Some(block) = boundary(name) {
            let outer = self.0.iter().position(|skip| skip.blocks[block] == 0);
            if let Some(at) = outer.filter(|_| ended.is_none()) {
                ended = self.cut_off(at);
            }
            for skip in &mut self.0 {
                skip.blocks[block] = skip.blocks[block].saturating_sub(1);
            }
        }
        if is_island(name) {
            for skip in &mut self.0 {
                skip.islands = skip.islands.saturating_sub(1);
            }
        }
        ended
    }

    /// Ends an element and what is open within.
    fn ended(&mut self, at: usize, own: bool) -> Option<Ended<S>> {
        let skip = self.0.drain(at..).next()?;
        Some(Ended { kind: skip.kind, own, before: skip.before })
    }

    /// Ends an element at a border that it cannot cross: that of a paragraph is its end, any other was left open.
    fn cut_off(&mut self, at: usize) -> Option<Ended<S>> {
        if self.0[at].name == "p" {
            return self.ended(at, false);
        }
        self.0.truncate(at);
        None
    }
}

/// Whether an element within a drawing or a formula holds a page's markup.
fn is_island(name: &str) -> bool {
    matches!(name, "foreignobject" | "desc" | "title" | "annotation-xml" | "mtext")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_in_order() {
        assert!(BOUNDARIES.is_sorted());
    }
}
