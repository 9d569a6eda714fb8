//! English dialogue: the turns of a book with the evidence for the speaker of each.

mod addressees;
mod introductions;
mod kinship;
mod learned_names;
mod narrator;
mod result;
mod role_nouns;
mod speaker_features;
mod turns;

use std::collections::BTreeMap;

use super::dialogue_evidence::DialogueEvidence;
use super::names::{Mention, Names};
use super::tokens::Tokens;
use crate::attribution::Paragraph;
use crate::attribution::people::CharacterDraft;
use crate::attribution::quotations::span::Span;
use crate::attribution::speakers::Turn;

/// A passage of narration, as token indices (start, end).
type Passage = (usize, usize);

/// The turns of a book and the evidence they are built from.
pub(super) struct Dialogue<'a> {
    pub(super) chars: &'a [char],
    pub(super) paragraphs: &'a [Paragraph],
    pub(super) spans: &'a [Span],
    pub(super) book: &'a Tokens,
    pub(super) names: &'a Names,
    pub(super) cast: Vec<CharacterDraft>,
    pub(super) evidence: DialogueEvidence,
    /// Role phrases, each with the character that it means if no named one fits.
    roles: BTreeMap<String, usize>,
    /// Role phrases that the text links to a name, each with that character.
    linked_roles: BTreeMap<String, usize>,
    /// Pairs of names that the narration shows to be one person's.
    same_person_names: Vec<(usize, usize)>,
    /// Mentions of characters by a role that occurs with a speech verb.
    pub(super) role_mentions: Vec<Mention>,
    /// The surname of each character that has one.
    surnames: BTreeMap<usize, u32>,
    pub(super) turns: Vec<Turn>,
    /// By turn: the names called in it, as (name, character).
    vocatives: Vec<Vec<(usize, usize)>>,
    /// By quotation: an action of the speaker beside it.
    actions: BTreeMap<usize, String>,
}
