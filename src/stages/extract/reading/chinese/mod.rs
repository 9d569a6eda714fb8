//! Chinese: whose each quotation is.
//!
//! Works on text folded to the characters of the tables, character for character, so that offsets and printed names stay the book's.

mod names;
mod tags;
mod turns;

use self::names::Names;
use self::turns::Scene;
use super::Paragraph;
use super::given::Given;
use super::people::{Draft, Found};
use super::quotations::Span;
use super::speakers::decide;
use super::tables::CHINESE;

/// Finds the people of a Chinese book and the speaker of each quotation.
pub(super) fn attribute(
    chars: &[char],
    paragraphs: &[Paragraph],
    spans: &[Span],
    given: &Given,
) -> (Vec<Draft>, Vec<Found>) {
    let text: Vec<char> = chars.iter().map(|&c| CHINESE.fold(c)).collect();
    let mut names = Names::read(&text, chars, spans, given);
    let cast = names.settle(given);
    let scene = Scene::read(&text, chars, paragraphs, spans, &names, cast, given);
    let verdicts = decide(&scene.turns, &scene.genders());
    scene.finish(verdicts)
}
