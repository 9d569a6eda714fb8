//! Schedules the conversations of lanes that share counts: which source model plays next, and in which scene.

use rand::RngExt as _;

use super::dwrs::Counts;
use super::scenes::{Scenes, scene_order};
use crate::llm::Model;
use crate::schema::{Character, ConversationId, Reject, RejectReason, Scene};
use crate::seed::seeded;
use crate::stages::simulate::Params;
use crate::stages::simulate::context::Context;
use crate::stages::simulate::conversation::prompt_context::PromptContext;

/// Returns the lane id (`character/source`), or the character id if several lanes share counts.
#[must_use]
pub fn shared_counts_id(character: &Character, sources: &[&Model]) -> String {
    match sources {
        [source] => format!("{}/{}", character.id, source.name()),
        _ => character.id.to_string(),
    }
}

/// The schedule of lanes that share counts.
pub(crate) struct LaneSchedule<'a, S> {
    /// The id of the lanes, see [`shared_counts_id`].
    pub(crate) name: String,
    character: &'a Character,
    params: &'a Params,
    scenes: &'a S,
    lanes: Vec<Lane<'a>>,
    /// Index of the lane that plays next.
    index: usize,
    /// Maximum number of conversations of a lane.
    max_conversations: u32,
    /// Maximum number of them in this run.
    limit: u32,
    /// Whether conversations were skipped because of `limit`.
    was_limited: bool,
    /// Whether no lane has conversations left.
    is_exhausted: bool,
}

/// One lane among those that share counts.
struct Lane<'a> {
    id: String,
    source: &'a Model,
    order: std::vec::IntoIter<u32>,
    started: u32,
}

/// A scheduled conversation.
pub(crate) struct ScheduledConversation<'a> {
    /// The conversation id.
    pub(crate) id: ConversationId,
    /// The source model, which plays the test character.
    pub(crate) source: &'a Model,
    /// The scene.
    pub(crate) scene: Scene,
    /// Whether it is beyond `--limit` and played only by a full run. It is planned nevertheless, so that both runs make
    /// the same plans.
    pub(crate) is_beyond: bool,
}

impl<'a, S: Scenes> LaneSchedule<'a, S> {
    /// Creates the schedule. Each lane has its own order of scenes.
    pub(crate) fn new(context: &Context<'a>, character: &'a Character, sources: &[&'a Model], scenes: &'a S) -> Self {
        let lane = |source: &&'a Model| {
            let id = format!("{}/{}", character.id, source.name());
            let order = scene_order(context.seed, &id, character, scenes.heads(), context.params).into_iter();
            Lane { id, source, order, started: 0 }
        };
        let lanes: Vec<Lane<'_>> = sources.iter().map(lane).collect();
        // With a fixed first lane, the last source model would play least for every character.
        let index = seeded(context.seed, &["simulate", "first", &character.id]).random_range(0..lanes.len().max(1));
        let max_conversations = context.params.max_conversations;
        let limit = context.limit.map_or(max_conversations, |limit| limit.min(max_conversations));
        let name = shared_counts_id(character, sources);
        Self {
            name,
            character,
            params: context.params,
            scenes,
            lanes,
            index,
            max_conversations,
            limit,
            was_limited: false,
            is_exhausted: false,
        }
    }

    /// Returns the next `requested` conversations, or fewer if no more are left.
    pub(crate) fn next(&mut self, requested: u32) -> Result<Vec<ScheduledConversation<'a>>, S::Error> {
        let mut chosen = Vec::new();
        while chosen.len() < requested as usize {
            let Some(next) = self.next_conversation()? else {
                self.is_exhausted = true;
                break;
            };
            self.was_limited |= next.is_beyond;
            chosen.push(next);
        }
        Ok(chosen)
    }

    fn next_conversation(&mut self) -> Result<Option<ScheduledConversation<'a>>, S::Error> {
        for _ in 0..self.lanes.len() {
            let count = self.lanes.len();
            let lane = &mut self.lanes[self.index];
            self.index = (self.index + 1) % count;
            if lane.started == self.max_conversations {
                continue;
            }
            for index in lane.order.by_ref() {
                let scene = self.scenes.scene(index as usize)?;
                if PromptContext::new(&scene, self.character, self.params).is_none() {
                    continue;
                }
                let id = ConversationId::new(&self.character.id, lane.source.name(), lane.started);
                let is_beyond = lane.started >= self.limit;
                lane.started += 1;
                return Ok(Some(ScheduledConversation { id, source: lane.source, scene, is_beyond }));
            }
        }
        Ok(None)
    }

    /// Returns whether no further conversation will be played.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_exhausted || self.was_limited || self.lanes.iter().all(|lane| lane.started >= self.limit)
    }

    /// Returns the reject for lanes that ended below τ, after `ended` conversations.
    pub(crate) fn below_tau(&self, context: &Context<'_>, counts: &Counts, ended: u32) -> Option<Reject> {
        let tau = context.params.tau;
        let below = counts.iter().filter(|(_, count)| *count < tau);
        let below_tau: Vec<String> = below.map(|(code, count)| format!("{code} has {count} of {tau}")).collect();
        if below_tau.is_empty() {
            return None;
        }
        let below_tau = below_tau.join(", ");
        let at_most = self.was_limited || self.lanes.iter().all(|lane| lane.started >= self.limit);
        let (reason, detail) = if ended == 0 && !at_most {
            let detail = format!("{NO_SCENE}: {below_tau}");
            (RejectReason::NoScene, detail)
        } else if at_most {
            (
                RejectReason::ConversationsExhausted,
                format!("conversation limit reached after {ended} conversations: {below_tau}"),
            )
        } else {
            (RejectReason::ScenesExhausted, format!("no suitable scenes left after {ended} conversations: {below_tau}"))
        };
        Some(Reject::new(crate::schema::Stage::Simulate, self.name.clone(), reason, detail))
    }

    /// Returns the rejects for lanes that share counts and never played.
    pub(crate) fn never_played(&self) -> impl Iterator<Item = Reject> {
        self.lanes.iter().filter(|lane| lane.started == 0).map(|lane| {
            let (reason, detail) = match lane.order.len() {
                0 => (RejectReason::NoScene, NO_SCENE.to_owned()),
                _ => (
                    RejectReason::NothingLeft,
                    "the lanes of a character share τ (`simulate.balance_scope`), and the other lanes reached it first; raise \
                     `simulate.tau` or set `balance_scope = \"lane\"`"
                        .to_owned(),
                ),
            };
            Reject::new(crate::schema::Stage::Simulate, lane.id.clone(), reason, detail)
        })
    }
}

/// Detail of a lane without suitable scenes.
const NO_SCENE: &str = "no suitable scene: it must be in the character's language, have another character, and be from \
                        another book unless `simulate.own_book = true`";
