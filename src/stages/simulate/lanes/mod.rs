//! Plays a lane (test character × source model) in batches of conversations until every dimension count reaches τ; also
//! several lanes that share counts.

pub(crate) mod admission;
mod dwrs;
mod extra_judges;
pub(crate) mod filter;
mod lane_schedule;
mod result;
mod sample;
pub(crate) mod scenes;
#[cfg(test)]
mod tests;
mod verdict_counts;

pub use admission::Admission;
pub use dwrs::Counts;
pub use extra_judges::is_extra_verdict;
pub use lane_schedule::shared_counts_id;
pub use result::{LaneEnd, PlayedConversation, Progress};
pub use scenes::{Scenes, SelectedBooks, plays_own_book, scene_order};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use self::extra_judges::verdicts;
use self::filter::rate;
use self::lane_schedule::{LaneSchedule, ScheduledConversation};
use self::sample::samples;
use self::verdict_counts::VerdictCounts;
use super::context::Context;
use super::conversation::play;
use super::conversation::prompt_context::PromptContext;
use super::{BalanceOn, Params};
use crate::llm::{AskError, Model};
use crate::schema::{Character, ConversationId, Reject};
use crate::seed::seeded;

/// Factor on the mean number of counts per conversation so far, used as the estimate for the next batch.
///
/// Below 1 because a batch that is one count short costs an additional batch of a single conversation, while one
/// conversation too many still yields samples.
const CAUTION: f64 = 0.8;

/// Plays the lanes of one character and these source models, which share counts, in batches until every dimension count
/// reaches τ or the conversations or scenes are used up.
///
/// Several sources take turns, conversation by conversation, each with its own order of scenes; which one starts
/// depends on the character and the seed.
///
/// The conversations of a batch run concurrently. Their targets are planned beforehand on a copy of the counts, and the
/// counts are updated afterwards, so timing cannot change the result. Each conversation is passed to `keep` when it
/// finishes, in any order, and is not retained here. A failed conversation is dropped with a reject; its unused targets
/// are discarded with the copy.
///
/// # Errors
///
/// Only errors that end the run, and only after every conversation of the batch has finished, so that answers in flight
/// are journaled.
pub async fn play_lanes<S: Scenes>(
    context: &Context<'_>,
    character: &Character,
    sources: &[&Model],
    scenes: &S,
    keep: &(dyn Fn(PlayedConversation) -> Result<(), S::Error> + Sync),
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<LaneEnd, S::Error> {
    let Params { tau, target_probability, max_turns, .. } = *context.params;
    let mut schedule = LaneSchedule::new(context, character, sources, scenes);
    let mut counts = Counts::new(context.dimensions);
    let mut verdict_counts = VerdictCounts::default();
    let mut finished = 0;
    progress(report(context.params, &counts, finished));
    // If something other than targets is counted, targets are balanced separately among the dimensions below τ.
    // Otherwise a dimension that is targeted but never counted would take every further target.
    let mut target_counts = Counts::new(context.dimensions);
    for batch in 0.. {
        if counts.all_reached(tau) || schedule.is_finished() {
            break;
        }
        let required = conversations_needed(context.params, &counts, finished);
        let mut permits = context.admission.take(required, counts.missing(tau)).await;
        // A scene is in memory for the duration of its batch.
        let chosen = schedule.next(required)?;
        let mut ahead = match context.params.balance_on {
            BalanceOn::Targeted => counts.clone(),
            BalanceOn::Judged | BalanceOn::Accepted => target_counts.of_unmet(&counts, tau),
        };
        let rngs = chosen.iter().map(|next| seeded(context.seed, &["simulate", "targets", &next.id])).collect();
        let plans = ahead.plan(max_turns.div_ceil(2), target_probability, rngs);
        let prepared: Vec<(PromptContext<'_>, &ScheduledConversation<'_>, _)> = chosen
            .iter()
            .zip(plans)
            .filter(|(next, _)| !next.is_beyond)
            .filter_map(|(next, plan)| Some((PromptContext::new(&next.scene, character, context.params)?, next, plan)))
            .collect();
        let mut running: FuturesUnordered<_> = prepared
            .iter()
            .enumerate()
            .map(|(index, (prompt_context, next, plan))| {
                let permit = permits.split_one();
                async move {
                    let played = play_one(context, prompt_context, next.source, next.id.clone(), batch, plan).await;
                    drop(permit);
                    (index, played)
                }
            })
            .collect();
        drop(permits);
        let (mut new_counts, mut new_target_counts) = (counts.clone(), target_counts.clone());
        // Of several errors, return that of the first conversation in order, so that the result does not depend on
        // timing.
        let mut first_error: Option<(usize, S::Error)> = None;
        while let Some((index, played)) = running.next().await {
            let result = played.map_err(S::Error::from).and_then(|played| {
                played.count(context.params.balance_on, &mut new_counts);
                played.count(BalanceOn::Targeted, &mut new_target_counts);
                verdict_counts.add(&played);
                keep(played)
            });
            if let Err(error) = result
                && first_error.as_ref().is_none_or(|(first, _)| index < *first)
            {
                first_error = Some((index, error));
            }
            finished += 1;
            progress(report(context.params, &counts, finished));
        }
        if let Some((_, error)) = first_error {
            return Err(error);
        }
        (counts, target_counts) = (new_counts, new_target_counts);
        progress(report(context.params, &counts, finished));
    }
    progress(Progress { has_ended: true, ..report(context.params, &counts, finished) });
    let dimensions_below_target =
        counts.iter().filter(|(_, count)| *count < tau).map(|(code, _)| code.to_owned()).collect();
    let mut rejects = Vec::new();
    rejects.extend(schedule.below_tau(context, &counts, finished));
    let dimensions_without_samples = verdict_counts.dimensions_without_samples(context, &counts);
    rejects.extend(verdict_counts.reject(&schedule.name, &dimensions_without_samples));
    if finished > 0 {
        rejects.extend(schedule.never_played());
    }
    Ok(LaneEnd { counts, dimensions_below_target, dimensions_without_samples, rejects })
}

/// Plays, rates and samples one conversation. An error that does not end the run drops the conversation with a reject.
async fn play_one(
    context: &Context<'_>,
    prompt_context: &PromptContext<'_>,
    source: &Model,
    id: ConversationId,
    batch: u32,
    plan: &[Option<String>],
) -> Result<PlayedConversation, AskError> {
    let mut rejects = Vec::new();
    let mut conversation = match play(context, prompt_context, source, id.clone(), batch, plan, &mut rejects).await {
        Ok(conversation) => conversation,
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => {
            rejects.push(Reject::new(crate::schema::Stage::Simulate, id, error.reason(), error.detail()));
            return Ok(PlayedConversation { conversation: None, samples: Vec::new(), rejects });
        }
    };
    rejects.extend(rate(context, prompt_context, &mut conversation).await?);
    rejects.extend(verdicts(context, prompt_context, &mut conversation).await?);
    let (samples, faulty) = samples(context, prompt_context, &conversation)?;
    rejects.extend(faulty);
    Ok(PlayedConversation { conversation: Some(conversation), samples, rejects })
}

/// Returns the size of the next batch: at most `batch_size`, and no more than the missing counts require. Depends only on the
/// counts and on the number of finished conversations.
///
/// The yield of one conversation is estimated from the lane's finished conversations. For the first batch it is the
/// minimum number of targeted test turns to expect from `max_turns`, `test_every` and `target_probability`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is never negative, and float-to-int casts saturate"
)]
fn conversations_needed(params: &Params, counts: &Counts, finished: u32) -> u32 {
    let expected_yield = match finished {
        0 => (f64::from(params.max_turns / params.test_every.max(1)) * params.target_probability).max(1.0),
        _ => f64::from(counts.total()) / f64::from(finished) * CAUTION,
    };
    // If nothing has been counted yet, this is infinite; the clamp below limits it.
    let required = f64::from(counts.missing(params.tau)) / expected_yield;
    (required.ceil() as u32).clamp(1, params.batch_size.max(1))
}

fn report(params: &Params, counts: &Counts, conversations: u32) -> Progress {
    let required = params.tau * u32::try_from(counts.iter().count()).expect("the number of dimensions fits in u32");
    Progress { conversations, counted: required - counts.missing(params.tau), required, has_ended: false }
}
