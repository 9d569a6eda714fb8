//! A conversation for the report: every turn, and for test turns both replies and the judges' verdicts.

use std::collections::BTreeSet;

use serde::Serialize;

use super::figures::ReportStatistics;
use super::sanitize::{DisplayBudget, DisplayText, line};
use crate::schema::{Attribute, Candidate, Character, Conversation, SampleId, Scene, Turn, TurnKind, Visibility};
use crate::stages::export::quote_limits::QuoteLimits;

/// The maximum length of a conversation, in units of [`sanitize`](super::sanitize).
const ROOM: usize = 60_000;
/// The maximum part of it for the profile of the test character, and for the names of the cast.
const PROFILE: usize = ROOM / 4;
/// The maximum length of a name.
const NAME: usize = 80;
/// The maximum length of a reason.
const REASON: usize = 200;
/// The maximum number of dimensions of a conversation, and of faults of a turn.
const NAMED: usize = 30;
/// The size of a turn's markup.
const TURN: usize = 350;
/// The maximum length of the extra verdicts on a turn.
const VERDICTS: usize = 8_000;
/// The size of the markup of a profile entry or an extra verdict.
const ENTRY: usize = 120;

/// A conversation in the report.
#[derive(Debug, Serialize)]
pub struct ConversationView {
    language: &'static str,
    id: String,
    character: String,
    source: String,
    base: String,
    judge: String,
    scene: String,
    book: String,
    situation: DisplayText,
    profile: Vec<ProfileEntry>,
    /// The number of profile entries that did not fit.
    profile_more: usize,
    cast: Vec<String>,
    /// The number of cast members that did not fit.
    cast_more: usize,
    dimensions: Vec<String>,
    quality: Option<&'static str>,
    quality_rationale: DisplayText,
    is_kept: bool,
    ended_by: &'static str,
    turns: Vec<TurnView>,
    /// The number of turns that did not fit.
    more: usize,
}

/// A profile entry of the test character.
#[derive(Debug, Serialize)]
struct ProfileEntry {
    key: String,
    value: DisplayText,
    is_private: bool,
}

#[derive(Debug, Serialize)]
struct TurnView {
    index: u32,
    speaker: String,
    is_test: bool,
    content: DisplayText,
    target: Option<String>,
    faults: Vec<String>,
    /// The verdict; `None` in turns of scene characters.
    judged: Option<JudgedTurn>,
    edited: Option<EditView>,
}

/// A manual edit of the reference of a turn that is a sample.
#[derive(Debug, Serialize)]
struct EditView {
    reason: String,
    reference: DisplayText,
}

#[derive(Debug, Serialize)]
struct JudgedTurn {
    dimension: String,
    score: u8,
    /// The replies of the source and the base model, in this order.
    candidates: [CandidateView; 2],
    rationale: DisplayText,
    verdicts: Vec<VerdictView>,
    /// The number of verdicts that did not fit.
    verdicts_more: usize,
}

#[derive(Debug, Serialize)]
struct CandidateView {
    part: &'static str,
    model: String,
    reply: DisplayText,
    is_kept: bool,
}

#[derive(Debug, Serialize)]
struct VerdictView {
    judge: String,
    dimension: String,
    score: u8,
    rationale: DisplayText,
}

impl ConversationView {
    /// Prepares a conversation with its scene and test character. Quotations from the books are limited by `quote_limits`.
    #[must_use]
    pub fn new(
        conversation: &Conversation,
        scene: Option<&Scene>,
        character: Option<&Character>,
        quote_limits: &QuoteLimits,
        figures: &ReportStatistics,
    ) -> Self {
        let mut room = DisplayBudget::new(ROOM, quote_limits);
        let attributes: &[Attribute] = character.map_or(&[], |character| &character.profile);
        let profile: Vec<ProfileEntry> = room.part(PROFILE, |room| {
            let mut profile = Vec::new();
            for attribute in attributes {
                if room.is_spent() {
                    break;
                }
                room.spend(ENTRY);
                let (key, value) = (room.line(&attribute.key, NAME), room.show(&attribute.value));
                profile.push(ProfileEntry { key, value, is_private: attribute.visibility == Visibility::Private });
            }
            profile
        });
        let members = scene.map_or(&[][..], |scene| &scene.characters);
        let cast: Vec<String> = room.part(PROFILE, |room| {
            let mut cast = Vec::new();
            for member in members {
                if room.is_spent() {
                    break;
                }
                room.spend(10);
                cast.push(room.line(&member.name, NAME));
            }
            cast
        });
        let situation = scene.map(|scene| room.show(&scene.situation)).unwrap_or_default();
        let dimensions: BTreeSet<&str> =
            conversation.turns.iter().filter_map(|turn| turn.dimension.as_deref()).collect();
        let mut turns = Vec::new();
        for turn in &conversation.turns {
            if room.is_spent() {
                break;
            }
            turns.push(TurnView::new(conversation, turn, figures, &mut room));
        }
        Self {
            language: conversation.language.code(),
            id: name(&conversation.id),
            character: name(&conversation.test_character),
            source: name(&conversation.source_model),
            base: name(&conversation.base_model),
            judge: name(&conversation.judge_model),
            scene: name(&conversation.scene_id),
            book: scene.map(|scene| name(&scene.book)).unwrap_or_default(),
            situation,
            profile_more: attributes.len() - profile.len(),
            profile,
            cast_more: members.len() - cast.len(),
            cast,
            dimensions: named(dimensions.into_iter()),
            quality: conversation.quality.map(crate::schema::Quality::name),
            // The reason for the rating is shown even if the conversation does not fit.
            quality_rationale: DisplayBudget::new(ROOM, quote_limits)
                .show(conversation.quality_rationale.as_deref().unwrap_or_default()),
            is_kept: conversation.kept,
            ended_by: conversation.ended_by.name(),
            more: conversation.turns.len() - turns.len(),
            turns,
        }
    }
}

impl TurnView {
    fn new(conversation: &Conversation, turn: &Turn, figures: &ReportStatistics, room: &mut DisplayBudget<'_>) -> Self {
        room.spend(TURN);
        let judged = turn.dimension.as_deref().zip(turn.score).map(|(dimension, score)| {
            let mut candidate = |part, model: &str, reply: &Option<String>, of| CandidateView {
                part,
                model: name(model),
                reply: room.show(reply.as_deref().unwrap_or_default()),
                is_kept: turn.kept_reply == Some(of),
            };
            let candidates = [
                candidate("source", &conversation.source_model, &turn.source_reply, Candidate::Source),
                candidate("base", &conversation.base_model, &turn.base_reply, Candidate::Base),
            ];
            let rationale = room.show(turn.rationale.as_deref().unwrap_or_default());
            let verdicts: Vec<VerdictView> = room.part(VERDICTS, |room| {
                let mut verdicts = Vec::new();
                for verdict in &turn.verdicts {
                    if room.is_spent() {
                        break;
                    }
                    room.spend(ENTRY);
                    let (judge, dimension) = (room.line(&verdict.judge, NAME), room.line(&verdict.dimension, NAME));
                    let rationale = room.show(&verdict.rationale);
                    verdicts.push(VerdictView { judge, dimension, score: verdict.score, rationale });
                }
                verdicts
            });
            let verdicts_more = turn.verdicts.len() - verdicts.len();
            JudgedTurn { dimension: room.line(dimension, NAME), score, candidates, rationale, verdicts, verdicts_more }
        });
        let edited = figures.edits.get(&SampleId::new(&conversation.id, turn.index));
        Self {
            edited: edited.map(|edited| EditView {
                reason: room.line(&edited.reason, REASON),
                reference: room.show(&edited.reference),
            }),
            index: turn.index,
            speaker: room.line(&turn.speaker, NAME),
            is_test: turn.kind == TurnKind::Test,
            // The content of a judged turn is one of the replies.
            content: if judged.is_some() { DisplayText::default() } else { room.show(&turn.content) },
            target: turn.target.as_deref().map(|target| room.line(target, NAME)),
            faults: named(turn.faults.iter().map(|fault| fault.name()))
                .into_iter()
                .map(|fault| room.line(&fault, NAME))
                .collect(),
            judged,
        }
    }
}

/// Returns the first names, followed by `…` if there are more.
fn named<'a>(mut names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut first: Vec<String> = names.by_ref().take(NAMED).map(name).collect();
    if names.next().is_some() {
        first.push("…".to_owned());
    }
    first
}

fn name(text: &str) -> String {
    line(text, NAME)
}
