//! HTML elements whose text is not part of the book, and where one ends whose end tag is missing.
//!
//! The reader writes the text of such an element and removes it again if the element ends properly. An unclosed element
//! ends at the next block that it cannot contain, or with its parent block, and its text is kept: a page number in the
//! text is better than a page missing from it. Stores no text itself.

use super::elements::{BOUNDARIES, boundary};
use super::tags::Tag;

/// The kind of an ignored element, which determines what it may contain and so where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IgnoredKind {
    /// Code, which is never written. Ends at any block.
    Code,
    /// A ruby reading. Ends at the next one and with its `ruby`.
    Ruby,
    /// A drawing or a formula. Ends at any block, except inside `foreignObject` and similar elements.
    Foreign,
    /// An interactive or media element. May contain blocks.
    Widget,
    /// Phrasing content only.
    Phrase,
    /// A printed page number or a note reference, which is short.
    Aside,
}

/// The maximum number of unclosed ignored elements inside each other. More are broken markup, not deep nesting.
const MAX_OPEN: usize = 16;

/// Returns the kind of an ignored element, or `None` if its text is part of the book.
pub(super) fn ignored_kind(tag: &Tag) -> Option<IgnoredKind> {
    match tag.name.as_ref() {
        "script" | "style" => Some(IgnoredKind::Code),
        "rt" | "rp" | "rtc" => Some(IgnoredKind::Ruby),
        "svg" | "math" => Some(IgnoredKind::Foreign),
        "template" | "iframe" | "object" | "audio" | "video" | "canvas" | "select" | "textarea" | "button"
        | "noembed" | "noframes" => Some(IgnoredKind::Widget),
        "title" => Some(IgnoredKind::Phrase),
        _ => is_aside(tag).then_some(IgnoredKind::Aside),
    }
}

/// Whether a tag holds a printed page number or a note reference inside a sentence.
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

/// An open ignored element.
#[derive(Debug)]
struct OpenElement<S> {
    name: String,
    kind: IgnoredKind,
    /// The number of open elements of the same name, including itself.
    depth: usize,
    /// The number of open elements of each of [`BOUNDARIES`] inside it.
    blocks: [u32; BOUNDARIES.len()],
    /// The number of open elements inside a drawing or formula that may contain HTML.
    islands: usize,
    snapshot: S,
}

impl<S> OpenElement<S> {
    fn may_contain_blocks(&self) -> bool {
        match self.kind {
            IgnoredKind::Code | IgnoredKind::Ruby | IgnoredKind::Phrase => false,
            IgnoredKind::Foreign => self.islands > 0,
            IgnoredKind::Widget => true,
            IgnoredKind::Aside => boundary(&self.name).is_some() && self.name != "p",
        }
    }
}

/// An ignored element that ended.
#[derive(Debug)]
pub(super) struct Ended<S> {
    pub(super) kind: IgnoredKind,
    /// Whether it ended at its own end tag.
    pub(super) at_own_end_tag: bool,
    /// The reader's state when the element started.
    pub(super) snapshot: S,
}

/// The open ignored elements, outermost first. `S` is the state that the reader gets back when one ends.
#[derive(Debug)]
pub(super) struct OpenElements<S>(Vec<OpenElement<S>>);

impl<S> OpenElements<S> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether text is currently not written at all.
    pub(super) fn is_in_code(&self) -> bool {
        self.0.last().is_some_and(|element| element.kind == IgnoredKind::Code)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Opens an ignored element. One inside another of the same name is part of that one.
    pub(super) fn push(&mut self, kind: IgnoredKind, name: &str, snapshot: S) {
        if self.0.len() < MAX_OPEN && self.0.iter().all(|element| element.name != name) {
            let blocks = [0; BOUNDARIES.len()];
            self.0.push(OpenElement { name: name.to_owned(), kind, depth: 1, blocks, islands: 0, snapshot });
        }
    }

    /// Handles a start tag, and returns the element that it ends. Must be called before [`Self::push`].
    pub(super) fn start(&mut self, name: &str, open: bool) -> Option<Ended<S>> {
        if self.0.is_empty() {
            return None;
        }
        let mut ended = None;
        if matches!(name, "rt" | "rp" | "rb" | "rtc") {
            let closes = |element: &OpenElement<S>| {
                element.kind == IgnoredKind::Ruby && (element.name != "rtc" || matches!(name, "rb" | "rtc"))
            };
            ended = self.0.iter().position(closes).and_then(|at| self.ended(at, false));
        }
        if let Some(block) = boundary(name) {
            if let Some(at) = self.0.iter().position(|element| !element.may_contain_blocks()) {
                ended = self.cut_off(at);
            }
            for element in self.0.iter_mut().filter(|_| open) {
                element.blocks[block] += 1;
            }
        }
        if let Some(at) = self.0.iter().rposition(|element| open && element.name == name) {
            // Neither can contain another of its kind.
            if matches!(name, "button" | "select") {
                self.0.truncate(at);
            } else {
                self.0[at].depth += 1;
            }
        }
        if open && is_island(name) {
            for element in &mut self.0 {
                element.islands += 1;
            }
        }
        ended
    }

    /// Handles an end tag, and returns the element that it ends.
    pub(super) fn end(&mut self, name: &str) -> Option<Ended<S>> {
        if self.0.is_empty() {
            return None;
        }
        let mut ended = None;
        if name == "ruby" {
            let ruby = self.0.iter().position(|element| element.kind == IgnoredKind::Ruby);
            ended = ruby.and_then(|at| self.ended(at, false));
        }
        if let Some(at) = self.0.iter().rposition(|element| element.name == name) {
            self.0[at].depth -= 1;
            if self.0[at].depth == 0 {
                ended = self.ended(at, true);
            }
        }
        if let Some(block) = boundary(name) {
            let outer = self.0.iter().position(|element| element.blocks[block] == 0);
            if let Some(at) = outer.filter(|_| ended.is_none()) {
                ended = self.cut_off(at);
            }
            for element in &mut self.0 {
                element.blocks[block] = element.blocks[block].saturating_sub(1);
            }
        }
        if is_island(name) {
            for element in &mut self.0 {
                element.islands = element.islands.saturating_sub(1);
            }
        }
        ended
    }

    /// Ends an element and all open ones inside it.
    fn ended(&mut self, at: usize, at_own_end_tag: bool) -> Option<Ended<S>> {
        let element = self.0.drain(at..).next()?;
        Some(Ended { kind: element.kind, at_own_end_tag, snapshot: element.snapshot })
    }

    /// Ends an element at a boundary that it cannot cross. This is a proper end for a paragraph; any other element was
    /// left unclosed.
    fn cut_off(&mut self, at: usize) -> Option<Ended<S>> {
        if self.0[at].name == "p" {
            return self.ended(at, false);
        }
        self.0.truncate(at);
        None
    }
}

/// Whether an element inside a drawing or a formula may contain HTML.
fn is_island(name: &str) -> bool {
    matches!(name, "foreignobject" | "desc" | "title" | "annotation-xml" | "mtext")
}
