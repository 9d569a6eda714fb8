//! One group chat, from the first turn to the last. It rates and filters nothing.

use futures::future::join;
use rand::RngExt as _;

use super::asks::Direction;
use super::floor::{Floor, TEST, floor};
use super::lane::Stage;
use super::reply::Reply;
use super::said::Said;
use super::setting::Setting;
use crate::llm::{AskError, Model};
use crate::schema::{Candidate, Conversation, Dimension, EndedBy, Line, Reject, Turn, TurnKind};
use crate::seed::seeded;
use crate::stages::select::select;

/// The director gave a name that only one of the choices could be meant by.
const MATCHED: &str = "director:matched";
/// The director named nobody who could speak, as often as it was asked, and a lot decided.
pub const BY_LOT: &str = "director:by_lot";

/// What stands before a fault of the reply that did not stay.
const LOST: &str = "lost:";

/// Plays a conversation. `plan` has the target of each stretch up to a test turn; a stretch beyond it is normal
/// conversation. Every draw is named by the conversation's id and the turn.
///
/// Puts a reject into `rejects` for each turn whose speaker was drawn by lot, also when the conversation fails later: nothing is
/// lost with it but the director's say.
pub(super) async fn play(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    source: &Model,
    id: String,
    wave: u32,
    plan: &[Option<String>],
    rejects: &mut Vec<Reject>,
) -> Result<Conversation, AskError> {
    let (mut turns, mut spoken, mut heard) = (Vec::new(), Vec::new(), Heard::default());
    let mut ended_by = EndedBy::MaxTurns;
    let mut stretches = plan.iter().map(|target| stage.dimension(target.as_deref()?));
    let mut target = stretches.next().flatten();
    for index in 0..stage.params.max_turns {
        let Some(Next { member, note, reject }) = next(stage, setting, &heard.history, &spoken, &id, index).await?
        else {
            ended_by = EndedBy::Director;
            break;
        };
        rejects.extend(reject);
        let mut turn = if member == TEST {
            let turn = test_turn(stage, setting, source, &heard, target, &id, index).await?;
            target = stretches.next().flatten();
            turn
        } else {
            scene_turn(stage, setting, member, &heard, target, &id, index).await?
        };
        turn.faults.extend(note.map(str::to_owned));
        spoken.push(member);
        heard.said.add(&turn.speaker, &turn.content);
        heard.history.push(line(&turn));
        turns.push(turn);
    }
    Ok(Conversation {
        id,
        language: setting.language(),
        test_character: setting.character.name.clone(),
        character_id: setting.character.id.clone(),
        source_model: source.name().to_owned(),
        base_model: stage.base.name().to_owned(),
        judge_model: stage.judge.name().to_owned(),
        scene_id: setting.scene.id.clone(),
        wave,
        ended_by,
        quality: None,
        quality_rationale: None,
        kept: false,
        turns,
    })
}

/// What everyone present has heard.
#[derive(Debug, Default)]
struct Heard {
    history: Vec<Line>,
    /// The same by its sentences.
    said: Said,
}

/// Returns a turn as everyone present hears it.
pub(super) fn line(turn: &Turn) -> Line {
    Line { speaker: turn.speaker.clone(), content: turn.content.clone(), is_test: turn.kind == TurnKind::Test }
}

/// Who speaks next, and how that came about where it was not plain.
struct Next {
    member: usize,
    note: Option<&'static str>,
    reject: Option<Reject>,
}

/// Returns who speaks next, or none at the end. Asks the director only where the rules leave a choice; where it names nobody
/// who could be meant, as often as it is asked, a lot decides.
async fn next(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    history: &[Line],
    spoken: &[usize],
    id: &str,
    index: u32,
) -> Result<Option<Next>, AskError> {
    let plain = |member| Ok(Some(Next { member, note: None, reject: None }));
    let (choices, may_end) = match floor(spoken, setting.len(), stage.params) {
        Floor::Given(member) => return plain(member),
        Floor::Open { choices, may_end } => (choices, may_end),
    };
    let ask = setting.direct(history, &choices, may_end, stage.params.max_turns - index);
    let draw = format!("{id}/{index}/director");
    let next = match stage.director.ask(&ask, &draw).await {
        Ok(Direction { next, .. }) => next,
        Err(error @ AskError::BadReply { .. }) => {
            let lot = seeded(stage.seed, &["simulate", "speaker", &draw]).random_range(0..choices.len());
            let detail = format!("{}; who speaks was drawn by lot", error.detail());
            let reject = Reject::new("simulate", draw, BY_LOT, detail);
            return Ok(Some(Next { member: choices[lot], note: Some(BY_LOT), reject: Some(reject) }));
        }
        Err(error) => return Err(error),
    };
    let chosen = ask.chosen(&next).expect("an answer that means nobody is none");
    if may_end && chosen == Direction::END {
        return Ok(None);
    }
    let member = choices.into_iter().find(|&member| setting.name(member) == chosen);
    let member = member.expect("the choices are members of the cast");
    let note = (chosen != next).then_some(MATCHED);
    Ok(Some(Next { member, note, reject: None }))
}

async fn scene_turn(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    member: usize,
    Heard { history, said }: &Heard,
    target: Option<&Dimension>,
    id: &str,
    index: u32,
) -> Result<Turn, AskError> {
    let ask = setting.scene_reply(member, history, target);
    let raw = stage.scene.ask(&ask, &format!("{id}/{index}/scene")).await?;
    let Reply { text, faults } = setting.with_format(member, |format| format.clean(&raw, said));
    Ok(Turn {
        index,
        speaker: setting.name(member).to_owned(),
        kind: TurnKind::Scene,
        content: text,
        target: target.map(|dimension| dimension.code.clone()),
        dimension: None,
        score: None,
        rationale: None,
        source_reply: None,
        base_reply: None,
        kept_reply: None,
        faults,
        score_source_first: None,
        score_base_first: None,
        verdicts: Vec::new(),
    })
}

/// Source and base answer the same prompt side by side; the judge says which stays (FURINA 3.4).
async fn test_turn(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    source: &Model,
    Heard { history, said }: &Heard,
    target: Option<&Dimension>,
    id: &str,
    index: u32,
) -> Result<Turn, AskError> {
    let ask = setting.test_reply(history, target);
    let (source_draw, base_draw) = (format!("{id}/{index}/source"), format!("{id}/{index}/base"));
    // Both run to their end, so that an answer that is paid for is kept even if the other one fails.
    let replies = join(source.ask(&ask, &source_draw), stage.base.ask(&ask, &base_draw)).await;
    let (source_reply, base_reply) = both(replies)?;
    let clean = |raw: &str| setting.with_format(TEST, |format| format.clean(raw, said));
    let (source_reply, base_reply) = (clean(&source_reply), clean(&base_reply));
    let target = target.map(|dimension| dimension.code.as_str());
    let pair = setting.pair(history, (&source_reply.text, &base_reply.text), target);
    let selection = select(stage.judge, stage.select, stage.dimensions, pair, &format!("{id}/{index}/judge")).await?;
    let (stays, lost) = match selection.kept {
        Candidate::Source => (&source_reply, &base_reply),
        Candidate::Base => (&base_reply, &source_reply),
    };
    let lost = lost.faults.iter().map(|fault| format!("{LOST}{fault}"));
    Ok(Turn {
        index,
        speaker: setting.character.name.clone(),
        kind: TurnKind::Test,
        content: stays.text.clone(),
        target: target.map(str::to_owned),
        dimension: Some(selection.dimension),
        score: Some(selection.score),
        rationale: Some(selection.rationale),
        kept_reply: Some(selection.kept),
        faults: stays.faults.iter().cloned().chain(lost).collect(),
        source_reply: Some(source_reply.text),
        base_reply: Some(base_reply.text),
        score_source_first: selection.score_source_first,
        score_base_first: selection.score_base_first,
        verdicts: Vec::new(),
    })
}

/// Returns both answers, or of two errors the one that ends the run.
fn both<T>(replies: (Result<T, AskError>, Result<T, AskError>)) -> Result<(T, T), AskError> {
    match replies {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(one), Err(other)) if other.ends_the_run() && !one.ends_the_run() => Err(other),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}
