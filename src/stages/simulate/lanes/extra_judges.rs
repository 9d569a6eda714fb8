//! Extra judges: each compares the two replies of every test turn, with the same history as the judge.
//!
//! Their verdicts are recorded next to the judge's and change neither the kept reply, the counts nor the samples.

use futures::future::join_all;

use crate::llm::{AskError, Model};
use crate::schema::{Conversation, ConversationId, Draw, Line, Reject, SampleId, Turn, TurnCall, Verdict};
use crate::stages::select::select;
use crate::stages::simulate::context::Context;
use crate::stages::simulate::conversation::line;
use crate::stages::simulate::conversation::prompt_context::PromptContext;

/// Returns whether a call is a verdict of one of these extra judges.
#[must_use]
pub fn is_extra_verdict(judges: &[String], draw: &Draw) -> bool {
    // The draw distinguishes them from calls of the judge, which may be the same model.
    matches!(draw, Draw::Turn { call: TurnCall::Judge { extra_judge: Some(judge), .. }, .. } if judges.contains(judge))
}

/// Asks the extra judges about all test turns of a conversation concurrently and adds their verdicts to the turns.
///
/// Turns with two equal replies are skipped. Returns a reject for each failed verdict; an error that ends the run is
/// returned as an error.
pub(crate) async fn verdicts(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    conversation: &mut Conversation,
) -> Result<Vec<Reject>, AskError> {
    let history: Vec<Line> = conversation.turns.iter().map(line).collect();
    let turns = conversation.turns.iter().enumerate().filter(|(_, turn)| turn.source_reply != turn.base_reply);
    let asked = turns.flat_map(|(at, turn)| {
        let (history, id) = (&history[..at], &conversation.id);
        context.judges.iter().map(move |judge| async move {
            (at, judge, verdict(context, prompt_context, judge, history, id, turn).await)
        })
    });
    // All calls run to completion, so that a paid answer is journaled even if another call fails.
    let selections = join_all(asked).await;
    let mut rejects = Vec::new();
    for (at, judge, verdict) in selections {
        let turn = &mut conversation.turns[at];
        match verdict {
            Ok(verdict) => turn.verdicts.push(verdict),
            Err(error) if error.ends_the_run() => return Err(error),
            Err(error) => {
                let id = SampleId::new(&conversation.id, turn.index);
                let detail = format!("extra judge `{}` failed: {}", judge.name(), error.detail());
                rejects.push(Reject::new(crate::schema::Stage::Select, id, error.reason(), detail));
            }
        }
    }
    Ok(rejects)
}

async fn verdict(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    judge: &Model,
    history: &[Line],
    id: &ConversationId,
    turn: &Turn,
) -> Result<Verdict, AskError> {
    let replies = (turn.source_reply.as_deref().unwrap_or_default(), turn.base_reply.as_deref().unwrap_or_default());
    let pair = prompt_context.pair(history, replies, turn.target.as_deref());
    // A draw of its own, because the model may be the same as the judge's and the order in which it sees the replies
    // must not depend on the judge's.
    let extra_judge = || Some(judge.name().to_owned());
    let draw = |order| Draw::turn(id, turn.index, TurnCall::Judge { extra_judge: extra_judge(), order });
    let selection = select(judge, context.select, context.dimensions, pair, draw).await?;
    Ok(Verdict {
        judge: judge.name().to_owned(),
        dimension: selection.dimension,
        score: selection.score,
        rationale: selection.rationale,
        score_source_first: selection.score_source_first,
        score_base_first: selection.score_base_first,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::schema::Language;
    use crate::stages::simulate::Params;
    use crate::stages::simulate::fixtures::{MemoryScenes, TestModels, character, pool};
    use crate::stages::simulate::lanes::{PlayedConversation, play_lanes};

    async fn played(models: &TestModels, judges: &[Arc<Model>], language: Language) -> Vec<PlayedConversation> {
        let params = Params { tau: 2, batch_size: 2, min_turns: 6, max_turns: 10, test_every: 3, ..Params::default() };
        let context = Context { judges, ..models.context(&params) };
        let kept = Mutex::new(Vec::new());
        let keep = |played| {
            kept.lock().unwrap().push(played);
            Ok::<(), AskError>(())
        };
        let scenes = pool(language, 30);
        let memory_scenes = MemoryScenes::new(&scenes);
        play_lanes(&context, &character(language), &[&models.source], &memory_scenes, &keep, &|_| {})
            .await
            .expect("the lane finishes");
        let mut played: Vec<PlayedConversation> = kept.into_inner().unwrap();
        played.sort_by_key(|played| played.conversation.as_ref().map(|talk| talk.id.clone()));
        played
    }

    #[tokio::test]
    async fn extra_judges_add_verdicts_and_change_nothing_else() {
        for language in Language::ALL {
            let models = TestModels::new(Arc::default(), false);
            let alone = played(&models, &[], language).await;
            let extra_judges = played(&models, &models.extra_judges, language).await;
            let mut verdicts = 0;
            assert_eq!(alone.len(), extra_judges.len());
            for (one, other) in alone.iter().zip(&extra_judges) {
                let mut other = other.clone();
                for turn in other.conversation.iter_mut().flat_map(|talk| &mut talk.turns) {
                    let is_judged = turn.score.is_some() && turn.source_reply != turn.base_reply;
                    let judges: Vec<&str> = turn.verdicts.iter().map(|verdict| verdict.judge.as_str()).collect();
                    assert_eq!(judges, if is_judged { vec!["second", "third"] } else { vec![] });
                    assert!(turn.verdicts.iter().all(|verdict| (1..=5).contains(&verdict.score)));
                    verdicts += judges.len();
                    turn.verdicts.clear();
                }
                for sample in &mut other.samples {
                    assert_eq!(sample.verdicts.len(), 2, "a sample has the verdicts of its turn");
                    sample.verdicts.clear();
                }
                assert_eq!(*one, other);
            }
            assert!(verdicts > 10, "{verdicts}");
        }
    }
}
