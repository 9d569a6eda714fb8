//! English: whose each quotation is.
//!
//! Gathers what names, pronouns, vocatives and deeds say of each turn; the weighing is done in `speakers`.

mod names;
mod tags;
mod tokens;
mod turns;

use self::names::Names;
use self::tokens::Tokens;
use self::turns::Scene;
use super::Paragraph;
use super::given::Given;
use super::people::{Draft, Found};
use super::quotations::Span;
use super::speakers::decide;

/// Finds the people of an English book and the speaker of each quotation.
pub(super) fn attribute(
    chars: &[char],
    paragraphs: &[Paragraph],
    spans: &[Span],
    given: &Given,
) -> (Vec<Draft>, Vec<Found>) {
    let book = Tokens::read(chars, paragraphs, spans);
    let mut names = Names::read(&book, chars, given);
    let cast = names.settle(&book, &[], given);
    let scene = Scene::read(chars, paragraphs, spans, &book, &names, cast, given);
    let verdicts = decide(&scene.turns, &scene.genders());
    let links = scene.links(&verdicts);
    if links.is_empty() {
        return scene.finish(verdicts);
    }
    drop(scene);
    // The talk has shown names to be one person's: read it again with them joined.
    let cast = names.settle(&book, &links, given);
    let scene = Scene::read(chars, paragraphs, spans, &book, &names, cast, given);
    let verdicts = decide(&scene.turns, &scene.genders());
    scene.finish(verdicts)
}
