//! English attribution: the characters of a book and the speaker of each quotation.
//!
//! The submodules collect evidence for each turn from names, pronouns, vocatives and actions; `speakers` decides. The
//! dialogue of a book is read twice: the first pass shows which names belong together and who narrates, the second uses
//! that.

mod dialogue;
mod dialogue_evidence;
mod names;
mod noun_phrases;
mod sentence_position;
mod speech_tags;
mod subjects;
#[cfg(test)]
mod tests;
mod tokens;

use self::dialogue::Dialogue;
use self::dialogue_evidence::DialogueEvidence;
use self::names::Names;
use self::tokens::Tokens;
use super::Paragraph;
use super::known_characters::KnownCharacters;
use super::people::{CharacterDraft, SpeakerAssignment};
use super::speakers::decide_speakers;
use crate::attribution::quotations::span::Span;

/// Finds the characters of an English book and the speaker of each quotation.
pub(super) fn attribute(
    chars: &[char],
    paragraphs: &[Paragraph],
    spans: &[Span],
    known_characters: &KnownCharacters,
) -> (Vec<CharacterDraft>, Vec<SpeakerAssignment>) {
    let book = Tokens::read(chars, paragraphs, spans);
    let mut names = Names::read(&book, chars, known_characters);
    let cast = names.characters(&book, &[], known_characters);
    let dialogue =
        Dialogue::read(chars, paragraphs, spans, &book, &names, cast, DialogueEvidence::default(), known_characters);
    let decisions = decide_speakers(&dialogue.turns, &dialogue.genders());
    let (links, evidence) = dialogue.collect_evidence(&decisions);
    drop(dialogue);
    // Second pass, with the names that the dialogue has linked and the narrator's name.
    let cast = names.characters(&book, &links, known_characters);
    let mut dialogue = Dialogue::read(chars, paragraphs, spans, &book, &names, cast, evidence, known_characters);
    let mut decisions = decide_speakers(&dialogue.turns, &dialogue.genders());
    dialogue.introduce(&mut decisions);
    let finished = dialogue.finish();
    // Free the tokens first: those of a long book take as much memory as everything else.
    drop((names, book));
    finished.attribute(decisions)
}
