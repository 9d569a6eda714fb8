//! Whose turn it is among lanes that share counts: which source plays next, and in which scene. It plays nothing.

use rand::RngExt as _;

use super::lane::Stage;
use super::scenes::{Scenes, drawn};
use super::setting::Setting;
use super::{Counts, Params};
use crate::llm::Model;
use crate::schema::{Character, Reject, Scene};
use crate::seed::seeded;

/// Returns the id of a lane, or of the character whose lanes share counts.
#[must_use]
pub fn lanes_name(character: &Character, sources: &[&Model]) -> String {
    match sources {
        [source] => format!("{}/{}", character.id, source.name()),
        _ => character.id.clone(),
    }
}

/// Whose turn it is among lanes that share counts, and in which scene.
pub(super) struct Turns<'a, S> {
    /// The lanes' name.
    pub(super) name: String,
    character: &'a Character,
    params: &'a Params,
    scenes: &'a S,
    lanes: Vec<Lane<'a>>,
    /// Whose turn it is.
    place: usize,
    /// The most conversations of a lane.
    most: u32,
    /// The most of them that are played now.
    limit: u32,
    /// Whether some were left out for that.
    was_cut: bool,
    /// Whether no lane has another conversation.
    is_empty: bool,
}

/// One lane among those that share counts.
struct Lane<'a> {
    id: String,
    source: &'a Model,
    order: std::vec::IntoIter<u32>,
    begun: u32,
}

/// A conversation that is to be played.
pub(super) struct Next<'a> {
    /// Its id.
    pub(super) id: String,
    /// Who plays the test character in it.
    pub(super) source: &'a Model,
    /// Where it plays.
    pub(super) scene: Scene,
    /// Whether a full run plays it and this one does not (`--limit`). It is planned all the same, so that both plan alike.
    pub(super) is_beyond: bool,
}

impl<'a, S: Scenes> Turns<'a, S> {
    /// Begins; each lane draws its own scenes.
    pub(super) fn new(stage: &Stage<'a>, character: &'a Character, sources: &[&'a Model], scenes: &'a S) -> Self {
        let lane = |source: &&'a Model| {
            let id = format!("{}/{}", character.id, source.name());
            let order = drawn(stage.seed, &id, character, scenes.heads(), stage.params).into_iter();
            Lane { id, source, order, begun: 0 }
        };
        let lanes: Vec<Lane<'_>> = sources.iter().map(lane).collect();
        // Were it the same one each time, the last of the cast would play least with every character.
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

    /// Returns the next conversations, fewer where no more are left.
    pub(super) fn next(&mut self, wanted: u32) -> Result<Vec<Next<'a>>, S::Error> {
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
                let (id, is_beyond) = (format!("{}/{}", lane.id, lane.begun), lane.begun >= self.limit);
                lane.begun += 1;
                return Ok(Some(Next { id, source: lane.source, scene, is_beyond }));
            }
        }
        Ok(None)
    }

    /// Says whether nothing more is played.
    pub(super) fn are_over(&self) -> bool {
        self.is_empty || self.was_cut || self.lanes.iter().all(|lane| lane.begun >= self.limit)
    }

    /// Returns the entry of lanes that ended before τ, after so many conversations.
    pub(super) fn short(&self, stage: &Stage<'_>, counts: &Counts, ended: u32) -> Option<Reject> {
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
            ("no_scene", detail)
        } else if at_most {
            ("conversations_exhausted", format!("after {ended} conversations, the most allowed: {short}"))
        } else {
            ("scenes_exhausted", format!("after {ended} conversations, one for each scene that fits: {short}"))
        };
        Some(Reject::new("simulate", self.name.clone(), reason, detail))
    }

    /// Returns the entries of lanes that share counts and never played.
    pub(super) fn idle(&self) -> impl Iterator<Item = Reject> {
        self.lanes.iter().filter(|lane| lane.begun == 0).map(|lane| {
            let (reason, detail) = match lane.order.len() {
                0 => ("no_scene", NO_SCENE.to_owned()),
                _ => (
                    "nothing_left",
                    "the lanes of a character share τ (`simulate.scope`), and others reached it before this one's turn; \
                     raise `simulate.tau`, or use `scope = \"lane\"`"
                        .to_owned(),
                ),
            };
            Reject::new("simulate", lane.id.clone(), reason, detail)
        })
    }
}

/// Why a lane has nothing to play.
const NO_SCENE: &str =
    "no scene of its language, from another book unless `simulate.own_book = true`, with somebody to talk to";
