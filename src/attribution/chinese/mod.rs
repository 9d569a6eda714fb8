//! Chinese attribution: the characters of a book and the speaker of each quotation.
//!
//! Works on text folded to simplified characters, one to one, so that offsets and printed names still refer to the
//! original.

mod clauses;
mod dialogue;
mod names;
mod noun_phrases;
mod referents;
mod role_nouns;
mod speech_tags;
#[cfg(test)]
mod tests;

use self::dialogue::Dialogue;
use self::names::Names;
use super::Paragraph;
use super::known_characters::KnownCharacters;
use super::people::{CharacterDraft, SpeakerAssignment};
use super::speakers::decide_speakers;
use crate::attribution::quotations::span::Span;
use crate::attribution::words::chinese::CHINESE;

/// Finds the characters of a Chinese book and the speaker of each quotation.
pub(super) fn attribute(
    chars: &[char],
    paragraphs: &[Paragraph],
    spans: &[Span],
    known_characters: &KnownCharacters,
) -> (Vec<CharacterDraft>, Vec<SpeakerAssignment>) {
    let text: Vec<char> = chars.iter().map(|&c| CHINESE.fold(c)).collect();
    let mut names = Names::read(&text, chars, spans, known_characters);
    let cast = names.characters(known_characters);
    let dialogue = Dialogue::read(&text, chars, paragraphs, spans, &names, cast, known_characters);
    let decisions = decide_speakers(&dialogue.turns, &dialogue.genders());
    dialogue.finish(decisions)
}
