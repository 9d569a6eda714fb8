//! Samples: the turns of a kept conversation where the source did better than the base. Asks nothing.

use super::TestReply;
use super::conversation::line;
use super::floor::TEST;
use super::lane::Stage;
use super::reply::Said;
use super::setting::Setting;
use crate::llm::{Ask, AskError};
use crate::schema::{Conversation, Line, Reject, Sample, Turn};

/// Returns the samples of a kept conversation, and a reject for each turn that only its form keeps out.
///
/// The prompt of a sample is the test character's own, with S(d) of the dimension that the judge found in place of the
/// target's: what a model under test is sent is what it is judged on.
pub(super) fn samples(
    stage: &Stage<'_>,
    setting: &Setting<'_>,
    conversation: &Conversation,
) -> Result<(Vec<Sample>, Vec<Reject>), AskError> {
    let (mut samples, mut rejects, mut history, mut said) = (Vec::new(), Vec::new(), Vec::new(), Said::default());
    for turn in &conversation.turns {
        if conversation.kept && turn.score.is_some_and(|score| score <= stage.select.sample) {
            let id = format!("{}#{}", conversation.id, turn.index);
            let reference = turn.source_reply.as_deref().unwrap_or_default();
            let faults = setting.with_format(TEST, |format| format.faults(reference, &said));
            if let Some(fault) = faults.first() {
                rejects.push(Reject::new("simulate", id, &format!("format:{fault}"), reference));
            } else {
                samples.push(sample(stage, setting, conversation, turn, &history, id)?);
            }
        }
        said.add(&turn.content);
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
