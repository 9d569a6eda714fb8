//! A conversation as the report shows it: every turn, at test turns with both replies and what the judges say.

use serde::Serialize;

use super::figures::Figures;
use super::shown::{Room, Shown, line};
use crate::schema::{Attribute, Candidate, Character, Conversation, Scene, Turn, TurnKind, Visibility};
use crate::stages::export::Rights;

/// So many code points of a conversation are shown.
const ROOM: usize = 60_000;
/// So many code points of a name are shown.
const NAME: usize = 80;
/// So many code points of a reason are shown.
const REASON: usize = 200;

/// A conversation to read.
#[derive(Debug, Serialize)]
pub struct Reading {
    language: &'static str,
    id: String,
    character: String,
    source: String,
    base: String,
    judge: String,
    scene: String,
    book: String,
    situation: Shown,
    profile: Vec<Trait>,
    cast: Vec<String>,
    dimensions: Vec<String>,
    quality: Option<&'static str>,
    quality_rationale: Shown,
    is_kept: bool,
    ended_by: &'static str,
    turns: Vec<ReadTurn>,
    /// How many turns there was no room for.
    more: usize,
}

/// What is known of the test character.
#[derive(Debug, Serialize)]
struct Trait {
    key: String,
    value: Shown,
    is_private: bool,
}

#[derive(Debug, Serialize)]
struct ReadTurn {
    index: u32,
    speaker: String,
    is_test: bool,
    content: Shown,
    target: Option<String>,
    faults: Vec<String>,
    /// What was judged; none in turns of scene characters.
    judged: Option<Judged>,
    edited: Option<ReadEdit>,
}

/// What people made of the reference of a turn that is a sample.
#[derive(Debug, Serialize)]
struct ReadEdit {
    reason: String,
    reference: Shown,
}

#[derive(Debug, Serialize)]
struct Judged {
    dimension: String,
    score: u8,
    /// Each candidate's reply, the source's first.
    candidates: [ReadCandidate; 2],
    rationale: Shown,
    verdicts: Vec<ReadVerdict>,
}

#[derive(Debug, Serialize)]
struct ReadCandidate {
    part: &'static str,
    model: String,
    reply: Shown,
    is_kept: bool,
}

#[derive(Debug, Serialize)]
struct ReadVerdict {
    judge: String,
    dimension: String,
    score: u8,
    rationale: Shown,
}

impl Reading {
    /// Makes a conversation ready to be shown, with what is known of its scene and test character, and no more of the books'
    /// own words than may leave.
    #[must_use]
    pub fn new(
        conversation: &Conversation,
        scene: Option<&Scene>,
        character: Option<&Character>,
        rights: &Rights,
        figures: &Figures,
    ) -> Self {
        let mut room = Room::new(ROOM, rights);
        let profile: &[Attribute] = character.map_or(&[], |character| &character.profile);
        let profile = profile.iter().map(|attribute| Trait {
            key: name(&attribute.key),
            value: room.show(&attribute.value),
            is_private: attribute.visibility == Visibility::Private,
        });
        let profile = profile.collect();
        let situation = scene.map(|scene| room.show(&scene.situation)).unwrap_or_default();
        let mut dimensions: Vec<String> =
            conversation.turns.iter().filter_map(|turn| turn.dimension.as_deref()).map(name).collect();
        dimensions.sort();
        dimensions.dedup();
        let mut turns = Vec::new();
        for turn in &conversation.turns {
            if room.is_spent() {
                break;
            }
            turns.push(ReadTurn::new(conversation, turn, figures, &mut room));
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
            profile,
            cast: scene
                .map(|scene| scene.characters.iter().map(|member| name(&member.name)).collect())
                .unwrap_or_default(),
            dimensions,
            quality: conversation.quality.map(crate::schema::Quality::name),
            quality_rationale: room.show(conversation.quality_rationale.as_deref().unwrap_or_default()),
            is_kept: conversation.kept,
            ended_by: conversation.ended_by.name(),
            more: conversation.turns.len() - turns.len(),
            turns,
        }
    }
}

impl ReadTurn {
    fn new(conversation: &Conversation, turn: &Turn, figures: &Figures, room: &mut Room<'_>) -> Self {
        let judged = turn.dimension.as_deref().zip(turn.score).map(|(dimension, score)| {
            let mut candidate = |part, model: &str, reply: &Option<String>, of| ReadCandidate {
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
            let verdicts = turn.verdicts.iter().map(|verdict| ReadVerdict {
                judge: name(&verdict.judge),
                dimension: name(&verdict.dimension),
                score: verdict.score,
                rationale: room.show(&verdict.rationale),
            });
            Judged { dimension: name(dimension), score, candidates, rationale, verdicts: verdicts.collect() }
        });
        let edited = figures.edits.get(&format!("{}#{}", conversation.id, turn.index));
        Self {
            edited: edited.map(|edited| ReadEdit {
                reason: line(&edited.reason, REASON),
                reference: room.show(&edited.reference),
            }),
            index: turn.index,
            speaker: name(&turn.speaker),
            is_test: turn.kind == TurnKind::Test,
            // What stays at a test turn is one of the candidates.
            content: if judged.is_some() { Shown::default() } else { room.show(&turn.content) },
            target: turn.target.as_deref().map(name),
            faults: turn.faults.iter().map(|fault| name(fault)).collect(),
            judged,
        }
    }
}

fn name(text: &str) -> String {
    line(text, NAME)
}
