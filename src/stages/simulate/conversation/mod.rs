//! Plays one conversation from the first turn to the last. Rating and filtering happen elsewhere.

mod cast;
pub(crate) mod prompt_context;
pub(crate) mod speaker;
pub(crate) mod transcript;
pub(crate) mod turn_taking;

use futures::future::join;
use rand::RngExt as _;

use self::prompt_context::PromptContext;
use self::turn_taking::{TEST, TurnOptions, turn_options};
use super::asks::Direction;
use super::context::Context;
use super::reply::Reply;
use super::reply::repetition::RepetitionIndex;
use crate::llm::{AskError, Model};
use crate::schema::{
    Candidate, Conversation, ConversationId, Dimension, Draw, EndedBy, Line, Reject, RejectReason, Turn, TurnCall,
    TurnFault, TurnKind,
};
use crate::seed::seeded;
use crate::stages::select::select;

/// Plays a conversation.
///
/// `plan` holds one target for each run of turns up to and including a test turn; turns after the last entry are normal
/// conversation. Draws consist of the conversation id and the turn index.
///
/// Adds a reject to `rejects` for each turn whose speaker was drawn at random, even if the conversation fails later.
pub(super) async fn play(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    source: &Model,
    id: ConversationId,
    batch: u32,
    plan: &[Option<String>],
    rejects: &mut Vec<Reject>,
) -> Result<Conversation, AskError> {
    let (mut turns, mut spoken, mut so_far) = (Vec::new(), Vec::new(), ConversationSoFar::default());
    let mut ended_by = EndedBy::MaxTurns;
    let mut targets = plan.iter().map(|target| context.dimension(target.as_deref()?));
    let mut target = targets.next().flatten();
    for index in 0..context.params.max_turns {
        let Some(NextSpeaker { member, fault, reject }) =
            next_speaker(context, prompt_context, &so_far.history, &spoken, &id, index).await?
        else {
            ended_by = EndedBy::Director;
            break;
        };
        rejects.extend(reject);
        let mut turn = if member == TEST {
            let turn = test_turn(context, prompt_context, source, &so_far, target, &id, index).await?;
            target = targets.next().flatten();
            turn
        } else {
            scene_turn(context, prompt_context, member, &so_far, target, &id, index).await?
        };
        turn.faults.extend(fault);
        spoken.push(member);
        so_far.repetitions.add(&turn.speaker, &turn.content);
        so_far.history.push(line(&turn));
        turns.push(turn);
    }
    Ok(Conversation {
        id,
        language: prompt_context.language(),
        test_character: prompt_context.character.name.clone(),
        character_id: prompt_context.character.id.clone(),
        source_model: source.name().to_owned(),
        base_model: context.base.name().to_owned(),
        judge_model: context.judge.name().to_owned(),
        scene_id: prompt_context.scene.id.clone(),
        batch,
        ended_by,
        quality: None,
        quality_rationale: None,
        kept: false,
        turns,
    })
}

/// The conversation so far, as every participant knows it.
#[derive(Debug, Default)]
struct ConversationSoFar {
    history: Vec<Line>,
    /// Index of `history` for repetition checks.
    repetitions: RepetitionIndex,
}

/// Converts a turn to a history line.
pub(super) fn line(turn: &Turn) -> Line {
    Line { speaker: turn.speaker.clone(), content: turn.content.clone(), is_test: turn.kind == TurnKind::Test }
}

/// The next speaker, with a fault and a reject if the director's answer was not used verbatim.
struct NextSpeaker {
    member: usize,
    fault: Option<TurnFault>,
    reject: Option<Reject>,
}

/// Returns the next speaker, or none at the end of the conversation. Asks the director only if the turn-taking rules
/// leave a choice. If no attempt of the director names a valid choice, the speaker is drawn at random.
async fn next_speaker(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    history: &[Line],
    spoken: &[usize],
    id: &ConversationId,
    index: u32,
) -> Result<Option<NextSpeaker>, AskError> {
    let without_fault = |member| Ok(Some(NextSpeaker { member, fault: None, reject: None }));
    let (choices, may_end) = match turn_options(spoken, prompt_context.len(), context.params) {
        TurnOptions::Forced(member) => return without_fault(member),
        TurnOptions::Choice { choices, may_end } => (choices, may_end),
    };
    let ask = prompt_context.direct(history, &choices, may_end, context.params.max_turns - index);
    let draw = Draw::turn(id, index, TurnCall::Director);
    let next = match context.director.ask(&ask, &draw).await {
        Ok(Direction { next, .. }) => next,
        Err(error @ AskError::BadReply { .. }) => {
            let random =
                seeded(context.seed, &["simulate", "speaker", &draw.to_string()]).random_range(0..choices.len());
            let detail = format!("{}; the speaker was drawn at random", error.detail());
            let reject =
                Reject::new(crate::schema::Stage::Simulate, draw.to_string(), RejectReason::SpeakerDrawn, detail);
            let fault = Some(TurnFault::SpeakerDrawn);
            return Ok(Some(NextSpeaker { member: choices[random], fault, reject: Some(reject) }));
        }
        Err(error) => return Err(error),
    };
    let chosen = ask.chosen(&next).expect("answers that match no choice are rejected as bad replies");
    if may_end && chosen == Direction::END {
        return Ok(None);
    }
    let member = choices.into_iter().find(|&member| prompt_context.name(member) == chosen);
    let member = member.expect("choices are members of the cast");
    let fault = (chosen != next).then_some(TurnFault::SpeakerMatched);
    Ok(Some(NextSpeaker { member, fault, reject: None }))
}

async fn scene_turn(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    member: usize,
    ConversationSoFar { history, repetitions }: &ConversationSoFar,
    target: Option<&Dimension>,
    id: &ConversationId,
    index: u32,
) -> Result<Turn, AskError> {
    let ask = prompt_context.scene_reply(member, history, target);
    let raw = context.scene.ask(&ask, &Draw::turn(id, index, TurnCall::Scene)).await?;
    let Reply { text, faults } = prompt_context.with_format(member, |format| format.clean(&raw, repetitions));
    Ok(Turn {
        index,
        speaker: prompt_context.name(member).to_owned(),
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

/// Plays a turn of the test character: source and base model answer the same prompt concurrently, and the judge decides
/// which reply is kept (FURINA 3.4).
async fn test_turn(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    source: &Model,
    ConversationSoFar { history, repetitions }: &ConversationSoFar,
    target: Option<&Dimension>,
    id: &ConversationId,
    index: u32,
) -> Result<Turn, AskError> {
    let ask = prompt_context.test_reply(history, target);
    let draw = |call| Draw::turn(id, index, call);
    let (source_draw, base_draw) = (draw(TurnCall::Source), draw(TurnCall::Base));
    // Both calls run to completion, so that a paid answer is journaled even if the other call fails.
    let replies = join(source.ask(&ask, &source_draw), context.base.ask(&ask, &base_draw)).await;
    let (source_reply, base_reply) = both(replies)?;
    let clean = |raw: &str| prompt_context.with_format(TEST, |format| format.clean(raw, repetitions));
    let (source_reply, base_reply) = (clean(&source_reply), clean(&base_reply));
    let target = target.map(|dimension| dimension.code.as_str());
    let pair = prompt_context.pair(history, (&source_reply.text, &base_reply.text), target);
    let judge_draw = |order| draw(TurnCall::Judge { extra_judge: None, order });
    let selection = select(context.judge, context.select, context.dimensions, pair, judge_draw).await?;
    let (kept_reply, other_reply) = match selection.kept {
        Candidate::Source => (&source_reply, &base_reply),
        Candidate::Base => (&base_reply, &source_reply),
    };
    let other_faults = other_reply.faults.iter().map(|fault| fault.of_other_reply());
    Ok(Turn {
        index,
        speaker: prompt_context.character.name.clone(),
        kind: TurnKind::Test,
        content: kept_reply.text.clone(),
        target: target.map(str::to_owned),
        dimension: Some(selection.dimension),
        score: Some(selection.score),
        rationale: Some(selection.rationale),
        kept_reply: Some(selection.kept),
        faults: kept_reply.faults.iter().copied().chain(other_faults).collect(),
        source_reply: Some(source_reply.text),
        base_reply: Some(base_reply.text),
        score_source_first: selection.score_source_first,
        score_base_first: selection.score_base_first,
        verdicts: Vec::new(),
    })
}

/// Returns both answers. Of two errors, one that ends the run takes precedence.
fn both<T>(replies: (Result<T, AskError>, Result<T, AskError>)) -> Result<(T, T), AskError> {
    match replies {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(one), Err(other)) if other.ends_the_run() && !one.ends_the_run() => Err(other),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FormatFault, Language};
    use crate::stages::simulate::Params;
    use crate::stages::simulate::fixtures::{TestModels, character, scene};
    use crate::stages::simulate::lanes::filter::rate;

    /// Plays one conversation in which the recorded answer of one turn of this kind is replaced.
    async fn played(language: Language, draw: &str, answer: &str) -> (Conversation, Option<Reject>) {
        let models = TestModels::new(std::sync::Arc::default(), false);
        let params = Params { min_turns: 6, max_turns: 8, test_every: 2, ..Params::default() };
        let (context, scene, tess) =
            (models.context(&params), scene(language, "book@0", &["Ann", "Bob"]), character(language));
        let prompt_context = PromptContext::new(&scene, &tess, &params).expect("a scene character remains");
        let mut rejects = Vec::new();
        let id = || ConversationId::from("tess/source/0");
        let before = play(&context, &prompt_context, &models.source, id(), 0, &[], &mut rejects).await.expect("plays");
        let kind = if draw == "scene" { TurnKind::Scene } else { TurnKind::Test };
        let turn =
            before.turns.iter().find(|turn| turn.kind == kind).expect("the conversation has turns of each kind").index;
        models.journal.change(&format!("{}/{turn}/{draw}", id()), |record| record.reply.text = answer.to_owned());
        let mut after =
            play(&context, &prompt_context, &models.source, id(), 0, &[], &mut rejects).await.expect("plays");
        let reject = rate(&context, &prompt_context, &mut after).await.expect("rates");
        (after, reject)
    }

    #[tokio::test]
    async fn faults_of_both_replies_are_counted() {
        for (language, answer) in
            [(Language::En, "Sit down.\nNarrator: It rained."), (Language::Zh, "请坐。\n旁白：下雨了。")]
        {
            for (draw, candidate) in [("source", Candidate::Source), ("base", Candidate::Base)] {
                let (conversation, _) = played(language, draw, answer).await;
                let turn = conversation
                    .turns
                    .iter()
                    .find(|turn| turn.kind == TurnKind::Test)
                    .expect("the conversation has a test turn");
                let repaired = TurnFault::Repaired(FormatFault::SpeaksForOthers);
                let expected = if turn.kept_reply == Some(candidate) { repaired } else { repaired.of_other_reply() };
                assert!(turn.faults.contains(&expected), "{draw}: {:?}", turn.faults);
                let faults = conversation.turns.iter().flat_map(|turn| &turn.faults);
                assert_eq!(faults.filter(|fault| [repaired, repaired.of_other_reply()].contains(fault)).count(), 1);
            }
        }
    }

    #[tokio::test]
    async fn a_disruptive_fault_drops_the_conversation_with_its_reason() {
        for (language, answer, fault) in [
            (Language::En, "I'm sorry, but I can't assist with that request.", "declines"),
            (Language::En, "我不知道你在说什么。", "wrong_language"),
            (Language::En, "As an AI language model, I have no boat.", "reveals_ai"),
            (Language::Zh, "我无法协助完成这个请求。", "declines"),
            (Language::Zh, "I have no idea what you mean.", "wrong_language"),
            (Language::Zh, "作为一个人工智能，我没有船。", "reveals_ai"),
        ] {
            let (conversation, reject) = played(language, "scene", answer).await;
            let reject = reject.expect("the conversation is dropped");
            assert_eq!(
                (reject.id.as_str(), reject.reason.name()),
                ("tess/source/0", format!("format:{fault}").as_str()),
                "{answer}"
            );
            assert!(reject.detail.ends_with(&format!("`{answer}`")) && !conversation.kept, "{}", reject.detail);
            assert_eq!(conversation.quality, None, "a dropped conversation is not rated");
        }
    }
}
