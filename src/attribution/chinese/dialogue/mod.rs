//! Chinese dialogue: the turns of a book with the evidence for the speaker of each.

mod result;
mod speaker_features;
mod turns;

use super::names::Names;
use super::referents::Referents;
use crate::attribution::Paragraph;
use crate::attribution::quotations::span::Span;
use crate::attribution::speakers::Turn;

/// The turns of a book and the evidence they are built from.
pub(super) struct Dialogue<'a> {
    pub(super) text: &'a [char],
    pub(super) chars: &'a [char],
    paragraphs: &'a [Paragraph],
    spans: &'a [Span],
    pub(super) names: &'a Names,
    referents: Referents<'a>,
    /// Whether the book distinguishes 她 from 他.
    pub(super) modern: bool,
    pub(super) turns: Vec<Turn>,
    /// Indices of the turns introduced by a third-person pronoun: `他说`.
    pub(super) third_person: Vec<usize>,
    /// By turn: the characters addressed in its speech.
    addressed: Vec<Vec<usize>>,
}
