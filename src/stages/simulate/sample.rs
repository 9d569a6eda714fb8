//! Samples: the turns of a kept conversation where the source did better than the base. Asks nothing.

use super::TestReply;
use super::conversation::line;
use super::floor::TEST;
use super::lane::Stage;
use super::reply::{REPEATS_HISTORY, is_unmended};
use super::said::Said;
use super::setting::Setting;
use crate::llm::{Ask, AskError};
use crate::schema::{Conversation, Line, Reject, Sample, Turn};

/// Returns the samples of a kept conversation, and a reject for each line of it whose form is at fault, and for each turn that is
/// no sample for a fault: its own (`format:`), the base's reply's (`baseline:`), or one of a line before it (`history:`), which
/// whoever is tested would be asked to go on from.
///
/// To do better than a reply that nobody could use proves nothing. A base that repeats itself can be used, and plays badly.
///
/// The prompt of a sample is the test character's own, with S(d) of the dimension that the judge found in place of the
/// target's: what a model under test is sent is what it is judged on.
pub(super) fn samples(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    conversation: &Conversation,
) -> Result<(Vec<Sample>, Vec<Reject>), AskError> {
    let (mut samples, mut rejects, mut history, mut said) = (Vec::new(), Vec::new(), Vec::new(), Said::default());
    if !conversation.kept {
        return Ok((samples, rejects));
    }
    let mut spoilt: Option<(&Turn, &str)> = None;
    for turn in &conversation.turns {
        let id = || format!("{}#{}", conversation.id, turn.index);
        let faults: Vec<&str> = turn.faults.iter().map(String::as_str).filter(|fault| is_unmended(fault)).collect();
        rejects.extend(
            faults.iter().map(|fault| Reject::new("simulate", id(), &format!("format:{fault}"), &turn.content)),
        );
        if turn.score.is_some_and(|score| score <= stage.select.sample) && faults.is_empty() {
            let baseline = turn.base_reply.as_deref().unwrap_or_default();
            let of_base = setting.with_format(TEST, |format| format.faults(baseline, &said));
            let of_base = of_base.into_iter().find(|fault| *fault != REPEATS_HISTORY);
            if let Some((before, fault)) = spoilt {
                let detail = format!("turn {}, {}: `{}`", before.index, before.speaker, before.content);
                rejects.push(Reject::new("simulate", id(), &format!("history:{fault}"), detail));
            } else if let Some(fault) = of_base {
                rejects.push(Reject::new("simulate", id(), &format!("baseline:{fault}"), baseline));
            } else {
                samples.push(sample(stage, setting, conversation, turn, &history, id())?);
            }
        }
        spoilt = spoilt.or_else(|| faults.first().map(|fault| (turn, *fault)));
        said.add(&turn.speaker, &turn.content);
        history.push(line(turn));
    }
    Ok((samples, rejects))
}

fn sample(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    conversation: &Conversation,
    turn: &Turn,
    history: &[Line],
    id: String,
) -> Result<Sample, AskError> {
    let dimension = turn.dimension.as_deref().and_then(|code| stage.dimension(code));
    let dimension = dimension.expect("the judge chooses from the table");
    let ask = setting.test_reply(history, Some(dimension));
    let messages = ask
        .messages(&stage.judge.desk().prompts)
        .map_err(|source| AskError::Prompt { ask: TestReply::NAME, source })?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Ok(Sample {
        id,
        language: ask.language,
        dimension: dimension.code.clone(),
        target: turn.target.clone(),
        test_character: ask.name,
        character_id: setting.character.id.clone(),
        character_type: setting.character.kind,
        profile: ask.profile,
        book: setting.scene.book.clone(),
        scene_id: setting.scene.id.clone(),
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
        edited: None,
    })
}
