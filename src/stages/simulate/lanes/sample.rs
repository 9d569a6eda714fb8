//! Builds samples from the turns of a kept conversation in which the source reply is better than the base reply.

use crate::llm::{Ask, AskError};
use crate::schema::{Conversation, FormatFault, Line, Reject, RejectReason, Sample, SampleId, Turn};
use crate::stages::simulate::asks::TestReply;
use crate::stages::simulate::context::Context;
use crate::stages::simulate::conversation::line;
use crate::stages::simulate::conversation::prompt_context::PromptContext;
use crate::stages::simulate::conversation::turn_taking::TEST;
use crate::stages::simulate::reply::repetition::RepetitionIndex;
use crate::stages::simulate::reply::{format_faults, spoils_later_turns};

/// Returns the samples and rejects of a conversation; both are empty unless it is kept.
///
/// Each turn with a format fault gets a reject (`format:`), and so does each turn that would be a sample but for a
/// fault of the base reply (`baseline:`) or of an earlier turn (`history:`), from which a candidate would have to
/// continue. Turns that repeat the conversation, or decline as a character may, do not affect later turns.
///
/// Being better than an unusable base reply proves nothing, so such turns are dropped. A base reply that only repeats
/// the conversation is usable, though bad.
///
/// The prompt of a sample is the test character's, with S(d) of the dimension chosen by the judge instead of the
/// target's, so that a candidate is instructed on the dimension that it is judged on.
pub(crate) fn samples(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    conversation: &Conversation,
) -> Result<(Vec<Sample>, Vec<Reject>), AskError> {
    let (mut samples, mut rejects, mut history, mut repetitions) =
        (Vec::new(), Vec::new(), Vec::new(), RepetitionIndex::default());
    if !conversation.kept {
        return Ok((samples, rejects));
    }
    let mut first_spoiling: Option<(&Turn, FormatFault)> = None;
    for turn in &conversation.turns {
        let id = || SampleId::new(&conversation.id, turn.index);
        let faults: Vec<FormatFault> = format_faults(turn).collect();
        rejects.extend(faults.iter().map(|&fault| {
            Reject::new(crate::schema::Stage::Simulate, id(), RejectReason::Format(fault), &turn.content)
        }));
        if turn.score.is_some_and(|score| score <= context.select.sample_threshold) && faults.is_empty() {
            let baseline = turn.base_reply.as_deref().unwrap_or_default();
            let baseline_fault = prompt_context.with_format(TEST, |format| format.faults(baseline, &repetitions));
            let baseline_fault = baseline_fault.into_iter().find(|fault| *fault != FormatFault::RepeatsHistory);
            if let Some((before, fault)) = first_spoiling {
                let detail = format!("turn {}, {}: `{}`", before.index, before.speaker, before.content);
                rejects.push(Reject::new(crate::schema::Stage::Simulate, id(), RejectReason::History(fault), detail));
            } else if let Some(fault) = baseline_fault {
                rejects.push(Reject::new(
                    crate::schema::Stage::Simulate,
                    id(),
                    RejectReason::Baseline(fault),
                    baseline,
                ));
            } else {
                samples.push(sample(context, prompt_context, conversation, turn, &history, id())?);
            }
        }
        first_spoiling = first_spoiling
            .or_else(|| faults.iter().find(|fault| spoils_later_turns(**fault)).map(|fault| (turn, *fault)));
        repetitions.add(&turn.speaker, &turn.content);
        history.push(line(turn));
    }
    Ok((samples, rejects))
}

fn sample(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    conversation: &Conversation,
    turn: &Turn,
    history: &[Line],
    id: SampleId,
) -> Result<Sample, AskError> {
    let dimension = turn.dimension.as_deref().and_then(|code| context.dimension(code));
    let dimension = dimension.expect("the judge's schema allows only codes of the table");
    let ask = prompt_context.test_reply(history, Some(dimension));
    let messages = ask
        .messages(&context.judge.session().prompts)
        .map_err(|source| AskError::Prompt { ask: TestReply::NAME, source })?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Ok(Sample {
        id,
        language: ask.language,
        dimension: dimension.code.clone(),
        target: turn.target.clone(),
        test_character: ask.name,
        character_id: prompt_context.character.id.clone(),
        character_type: prompt_context.character.kind,
        profile: ask.profile,
        book: prompt_context.scene.book.clone(),
        scene_id: prompt_context.scene.id.clone(),
        worldview: ask.worldview,
        situation: ask.situation,
        scene_characters: ask.others,
        history: ask.history,
        messages,
        strategy: ask.strategy.unwrap_or_default(),
        criteria: dimension.definition.get(ask.language).clone(),
        reference: text(&turn.source_reply),
        baseline: text(&turn.base_reply),
        score: turn.score.unwrap_or_default(),
        rationale: text(&turn.rationale),
        source_model: conversation.source_model.clone(),
        base_model: conversation.base_model.clone(),
        judge_model: conversation.judge_model.clone(),
        conversation_id: conversation.id.clone(),
        turn: turn.index,
        verdicts: turn.verdicts.clone(),
        edit_reason: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Candidate, EndedBy, Language, Quality, TurnFault, TurnKind};
    use crate::stages::simulate::Params;
    use crate::stages::simulate::fixtures::{TestModels, character, scene};

    fn turn(content: &str, baseline: Option<&str>, faults: &[&str]) -> Turn {
        let kind = if baseline.is_some() { TurnKind::Test } else { TurnKind::Scene };
        Turn {
            index: 0,
            speaker: if baseline.is_some() { "Tess" } else { "Ann" }.to_owned(),
            kind,
            content: content.to_owned(),
            target: None,
            dimension: baseline.map(|_| "CR".to_owned()),
            score: baseline.map(|_| 1),
            rationale: None,
            source_reply: baseline.map(|_| content.to_owned()),
            base_reply: baseline.map(str::to_owned),
            kept_reply: baseline.map(|_| Candidate::Source),
            faults: faults.iter().map(|fault| fault.parse().expect("the fault exists")).collect(),
            score_source_first: None,
            score_base_first: None,
            verdicts: Vec::new(),
        }
    }

    #[test]
    fn a_fault_is_named_and_excludes_later_turns() {
        for (language, turns) in [
            (
                Language::En,
                [
                    turn("Good day.", None, &["speaks_for_others:mended", "director:by_lot"]),
                    turn("Sit down, all of you.", Some("Sit."), &["lost:cut_ending"]),
                    turn("I will stand.", Some("I can't help with that."), &["lost:may_decline"]),
                    turn("As you like.", Some("As"), &["lost:cut_ending"]),
                    turn("It is late, and I have far to go.", Some("Sit."), &[]),
                    turn("(turns away", None, &["unbalanced_parentheses", "cut_ending"]),
                    turn("Go, then.", Some("Go."), &[]),
                    turn("Wait for", Some("Wait."), &["cut_ending"]),
                ],
            ),
            (
                Language::Zh,
                [
                    turn("你好。", None, &["speaks_for_others:mended", "director:by_lot"]),
                    turn("你们都请坐吧。", Some("坐。"), &["lost:cut_ending"]),
                    turn("我站着。", Some("我无法回答这个问题。"), &["lost:may_decline"]),
                    turn("随你。", Some("随你的"), &["lost:cut_ending"]),
                    turn("天晚了，我还有很远的路。", Some("坐。"), &[]),
                    turn("(转身", None, &["unbalanced_parentheses", "cut_ending"]),
                    turn("那走吧。", Some("走。"), &[]),
                    turn("等着他们", Some("等。"), &["cut_ending"]),
                ],
            ),
        ] {
            let (models, params) = (TestModels::new(std::sync::Arc::default(), false), Params::default());
            let (scene, tess) = (scene(language, "book@0", &["Ann"]), character(language));
            let prompt_context = PromptContext::new(&scene, &tess, &params).expect("a scene character remains");
            let mut conversation = Conversation {
                id: "tess/source/0".into(),
                language,
                test_character: "Tess".to_owned(),
                character_id: "tess".into(),
                source_model: "source".to_owned(),
                base_model: "base".to_owned(),
                judge_model: "judge".to_owned(),
                scene_id: scene.id.clone(),
                batch: 0,
                ended_by: EndedBy::MaxTurns,
                quality: Some(Quality::High),
                quality_rationale: None,
                kept: true,
                turns: (0..).zip(turns).map(|(index, turn)| Turn { index, ..turn }).collect(),
            };
            let context = models.context(&params);
            let (made, rejects) = samples(&context, &prompt_context, &conversation).expect("renders");
            assert_eq!(made.iter().map(|sample| sample.turn).collect::<Vec<_>>(), [1, 4], "{language}");
            let reported: Vec<(&str, &str)> =
                rejects.iter().map(|reject| (reject.id.as_str(), reject.reason.name())).collect();
            assert_eq!(
                reported,
                [
                    ("tess/source/0#2", "baseline:may_decline"),
                    ("tess/source/0#3", "baseline:cut_ending"),
                    ("tess/source/0#5", "format:unbalanced_parentheses"),
                    ("tess/source/0#5", "format:cut_ending"),
                    ("tess/source/0#6", "history:unbalanced_parentheses"),
                    ("tess/source/0#7", "format:cut_ending"),
                ],
                "{language}"
            );
            assert!(rejects[4].detail.starts_with("turn 5, Ann: "), "{}", rejects[4].detail);
            // A reply that repeats the conversation, or may decline in character, is not a sample, but later turns can
            // be.
            for fault in [FormatFault::RepeatsHistory, FormatFault::MayDecline] {
                let mut turns = conversation.turns[..5].to_vec();
                turns[1].faults.push(TurnFault::Format(fault));
                let again = Conversation { turns, ..conversation.clone() };
                let (made, rejects) = samples(&context, &prompt_context, &again).expect("renders");
                assert_eq!(made.iter().map(|sample| sample.turn).collect::<Vec<_>>(), [4], "{fault}");
                assert_eq!(rejects[0].reason, RejectReason::Format(fault));
            }
            // A base reply that repeats the conversation is usable.
            let again = format!("(...) {}", conversation.turns[1].content);
            let mut repetitions = RepetitionIndex::default();
            repetitions.add("Tess", &conversation.turns[1].content);
            assert_eq!(
                prompt_context.with_format(TEST, |format| format.faults(&again, &repetitions)),
                [FormatFault::RepeatsHistory]
            );
            conversation.turns[4].base_reply = Some(again);
            conversation.turns.truncate(5);
            assert_eq!(samples(&context, &prompt_context, &conversation).expect("renders").0.len(), 2);
            conversation.kept = false;
            assert_eq!(samples(&context, &prompt_context, &conversation).expect("renders"), (Vec::new(), Vec::new()));
        }
    }
}
