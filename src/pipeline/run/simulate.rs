//! The `simulate` stage of a run: all lanes in parallel.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Runner, Tasks, cores};
use crate::config::ModelEntry;
use crate::event::Event;
use crate::llm::Model;
use crate::pipeline::error::RunError;
use crate::pipeline::records::{PlayedRecords, Records};
use crate::schema::Stage;
use crate::schema::{Character, Scene, SceneHead};
use crate::stages::simulate;
use crate::store::PoolIndex;

/// Maximum number of concurrent conversations: a few hundred megabytes of memory, and enough for thousands of requests
/// in flight.
const MOST_CONVERSATIONS: usize = 4096;
/// Conversations in addition to those that keep the requests busy, for runs with low concurrency whose answers come
/// from the journal.
const SPARE: usize = 32;

/// Lanes that share one set of counts.
struct Lanes {
    character: Character,
    sources: Vec<Arc<Model>>,
    scenes: Arc<PoolIndex>,
}

impl Runner {
    /// Simulates all lanes in parallel.
    pub(super) async fn simulate(
        self: &Arc<Self>,
        records: &mut Records,
        scenes: &Arc<PoolIndex>,
    ) -> Result<(), RunError> {
        let params = &self.loaded.file.simulate;
        let mut sets = Vec::new();
        for character in &records.characters {
            let sources = self.models.sources.get(character.language).clone();
            // Each set of counts ends at τ per dimension.
            match params.balance_scope {
                simulate::BalanceScope::Lane => {
                    sets.extend(sources.into_iter().map(|source| (character, vec![source])));
                }
                simulate::BalanceScope::Character if sources.is_empty() => {}
                simulate::BalanceScope::Character => sets.push((character, sources)),
            }
        }
        let total = sets.len() as u64 * u64::from(params.tau) * self.loaded.dimensions.len() as u64;
        self.start(Stage::Simulate, Some(total));
        let done = Arc::new(AtomicU64::new(0));
        let admission = Arc::new(simulate::Admission::new(self.conversations_at_once()));
        let mut plays = Tasks::new(&self.session);
        for (character, sources) in sets {
            let (runner, done) = (Arc::clone(self), Arc::clone(&done));
            let lanes = Lanes { character: character.clone(), sources, scenes: Arc::clone(scenes) };
            let (played, admission) = (Arc::clone(&records.played), Arc::clone(&admission));
            plays.spawn(async move { runner.play(&lanes, &played, &admission, &done, total).await });
        }
        for end in plays.all().await {
            self.reject(records, end.rejects);
            for (dimensions, lanes) in [
                (end.dimensions_below_target, &mut records.dimensions_below_target),
                (end.dimensions_without_samples, &mut records.dimensions_without_samples),
            ] {
                for dimension in dimensions {
                    *lanes.entry(dimension).or_default() += 1;
                }
            }
        }
        plays.ended()?;
        let (samples, conversations) = (records.played.samples(), records.played.conversations());
        self.end(Stage::Simulate, format!("{samples} samples of {conversations} conversations"));
        Ok(())
    }

    /// Returns the number of concurrent conversations over all lanes: 1.5 times the maximum number of requests in
    /// flight, plus some spare, so that every model always has work, even while answers wait for the journal. With many
    /// more, all lanes would be in the middle of a batch when requests run out.
    pub(super) fn conversations_at_once(&self) -> u32 {
        let names: BTreeSet<&str> = self.models.players().map(|model| model.name()).collect();
        let of = |name: &str| match &self.loaded.file.models[name] {
            ModelEntry::OpenAi(served) => served.concurrency as usize,
            ModelEntry::Offline(_) => cores(),
        };
        let most = names
            .into_iter()
            .map(of)
            .sum::<usize>()
            .saturating_mul(3)
            .div_euclid(2)
            .saturating_add(SPARE)
            .min(MOST_CONVERSATIONS);
        u32::try_from(most).unwrap_or(u32::MAX)
    }

    /// Simulates lanes that share one set of counts.
    async fn play(
        &self,
        lanes: &Lanes,
        records: &PlayedRecords,
        admission: &simulate::Admission,
        done: &AtomicU64,
        total: u64,
    ) -> Result<simulate::LaneEnd, RunError> {
        let Lanes { character, sources, scenes } = lanes;
        let language = character.language;
        let behind = AtomicU64::new(0);
        let context = simulate::Context {
            director: self.models.director.get(language),
            scene: self.models.scene.get(language),
            base: self.models.base.get(language),
            judge: self.models.judge.get(language),
            judges: self.models.judges.get(language),
            params: &self.loaded.file.simulate,
            select: &self.loaded.file.select,
            dimensions: &self.loaded.dimensions,
            seed: self.loaded.file.seed,
            limit: self.options.limit,
            admission,
        };
        let keep = |played: simulate::PlayedConversation| {
            for reject in &played.rejects {
                self.reporter.report(Event::Rejected(reject.clone()));
            }
            Ok(records.add(played)?)
        };
        let sources: Vec<&Model> = sources.iter().map(|source| &**source).collect();
        let lane = simulate::shared_counts_id(character, &sources);
        let progress = |simulate::Progress { conversations, counted, required, has_ended }: simulate::Progress| {
            let reached = u64::from(counted);
            let step = reached.saturating_sub(behind.fetch_max(reached, Ordering::Relaxed));
            self.advance(Stage::Simulate, done.fetch_add(step, Ordering::Relaxed) + step, Some(total));
            self.reporter.report(Event::Lane {
                lane: lane.clone(),
                conversations,
                counted,
                wanted: required,
                has_ended,
            });
        };
        simulate::play_lanes(&context, character, &sources, &**scenes, &keep, &progress).await
    }
}

impl simulate::Scenes for PoolIndex {
    type Error = RunError;

    fn heads(&self) -> impl ExactSizeIterator<Item = &SceneHead> + Clone {
        Self::heads(self)
    }

    fn scene(&self, index: usize) -> Result<Scene, RunError> {
        Ok(Self::scene(self, index)?)
    }
}
