//! Schedules the conversations of lanes that share counts: which source model plays next, and in which scene.

use rand::RngExt as _;

use super::Stage;
use super::dwrs::Counts;
use super::scenes::{Scenes, drawn};
use crate::llm::Model;
use crate::schema::{Character, ConversationId, Reject, RejectReason, Scene};
use crate::seed::seeded;
use crate::stages::simulate::Params;
use crate::stages::simulate::conversation::prompt_context::Setting;

/// Returns the lane id (`character/source`), or the character id if several lanes share counts.
#[must_use]
pub fn lanes_name(character: &Character, sources: &[&Model]) -> String {
    match sources {
        [source] => format!("{}/{}", character.id, source.name()),
        _ => character.id.to_string(),
    }
}

/// The schedule of lanes that share counts.
pub(crate) struct Turns<'a, S> {
    /// The id of the lanes, see [`lanes_name`].
    pub(crate) name: String,
    character: &'a Character,
    params: &'a Params,
    scenes: &'a S,
    lanes: Vec<Lane<'a>>,
    /// Index of the lane that plays next.
    place: usize,
    /// Maximum number of conversations of a lane.
    most: u32,
    /// Maximum number of them in this run.
    limit: u32,
    /// Whether conversations were skipped because of `limit`.
    was_cut: bool,
    /// Whether no lane has conversations left.
    is_empty: bool,
}

/// One lane among those that share counts.
struct Lane<'a> {
    id: String,
    source: &'a Model,
    order: std::vec::IntoIter<u32>,
    begun: u32,
}

/// A scheduled conversation.
pub(crate) struct Next<'a> {
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

impl<'a, S: Scenes> Turns<'a, S> {
    /// Creates the schedule. Each lane has its own order of scenes.
    pub(crate) fn new(stage: &Stage<'a>, character: &'a Character, sources: &[&'a Model], scenes: &'a S) -> Self {
        let lane = |source: &&'a Model| {
            let id = format!("{}/{}", character.id, source.name());
            let order = drawn(stage.seed, &id, character, scenes.heads(), stage.params).into_iter();
            Lane { id, source, order, begun: 0 }
        };
        let lanes: Vec<Lane<'_>> = sources.iter().map(lane).collect();
        // With a fixed first lane, the last source model would play least for every character.
        let place = seeded(stage.seed, &["simulate", "first", &character.id]).random_range(0..lanes.len().max(1));
        let most = stage.params.max_conversations;
        let limit = stage.limit.map_or(most, |limit| limit.min(most));
        let name = lanes_name(character, sources);
        Self {
            name,
            character,
            params: stage.params,
            scenes,
            lanes,
            place,
            most,
            limit,
            was_cut: false,
            is_empty: false,
        }
    }

    /// Returns the next `wanted` conversations, or fewer if no more are left.
    pub(crate) fn next(&mut self, wanted: u32) -> Result<Vec<Next<'a>>, S::Error> {
        let mut chosen = Vec::new();
        while chosen.len() < wanted as usize {
            let Some(next) = self.one()? else {
                self.is_empty = true;
                break;
            };
            self.was_cut |= next.is_beyond;
            chosen.push(next);
        }
        Ok(chosen)
    }

    fn one(&mut self) -> Result<Option<Next<'a>>, S::Error> {
        for _ in 0..self.lanes.len() {
            let count = self.lanes.len();
            let lane = &mut self.lanes[self.place];
            self.place = (self.place + 1) % count;
            if lane.begun == self.most {
                continue;
            }
            for place in lane.order.by_ref() {
                let scene = self.scenes.scene(place as usize)?;
                if Setting::new(&scene, self.character, self.params).is_none() {
                    continue;
                }
                let id = ConversationId::new(&self.character.id, lane.source.name(), lane.begun);
                let is_beyond = lane.begun >= self.limit;
                lane.begun += 1;
                return Ok(Some(Next { id, source: lane.source, scene, is_beyond }));
            }
        }
        Ok(None)
    }

    /// Returns whether no further conversation will be played.
    pub(crate) fn are_over(&self) -> bool {
        self.is_empty || self.was_cut || self.lanes.iter().all(|lane| lane.begun >= self.limit)
    }

    /// Returns the reject for lanes that ended below τ, after `ended` conversations.
    pub(crate) fn short(&self, stage: &Stage<'_>, counts: &Counts, ended: u32) -> Option<Reject> {
        let tau = stage.params.tau;
        let below = counts.iter().filter(|(_, count)| *count < tau);
        let short: Vec<String> = below.map(|(code, count)| format!("{code} has {count} of {tau}")).collect();
        if short.is_empty() {
            return None;
        }
        let short = short.join(", ");
        let at_most = self.was_cut || self.lanes.iter().all(|lane| lane.begun >= self.limit);
        let (reason, detail) = if ended == 0 && !at_most {
            let detail = format!("{NO_SCENE}: {short}");
            (RejectReason::NoScene, detail)
        } else if at_most {
            (
                RejectReason::ConversationsExhausted,
                format!("conversation limit reached after {ended} conversations: {short}"),
            )
        } else {
            (RejectReason::ScenesExhausted, format!("no suitable scenes left after {ended} conversations: {short}"))
        };
        Some(Reject::new(crate::schema::Stage::Simulate, self.name.clone(), reason, detail))
    }

    /// Returns the rejects for lanes that share counts and never played.
    pub(crate) fn idle(&self) -> impl Iterator<Item = Reject> {
        self.lanes.iter().filter(|lane| lane.begun == 0).map(|lane| {
            let (reason, detail) = match lane.order.len() {
                0 => (RejectReason::NoScene, NO_SCENE.to_owned()),
                _ => (
                    RejectReason::NothingLeft,
                    "the lanes of a character share τ (`simulate.scope`), and the other lanes reached it first; raise \
                     `simulate.tau` or set `scope = \"lane\"`"
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
