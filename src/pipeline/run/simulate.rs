//! The road through `simulate`: every lane, side by side.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::records::{PlayedRecords, Records};
use super::super::{ModelEntry, RunError, Stage};
use super::{Road, Tasks, cores};
use crate::event::Event;
use crate::llm::Model;
use crate::schema::{Character, Reject, Scene, SceneHead};
use crate::stages::simulate;
use crate::store::PoolIndex;

/// So many conversations take some hundred megabytes of memory, and keep thousands of requests in flight.
const MOST_CONVERSATIONS: usize = 4096;

/// Lanes that share one set of counts.
struct Lanes {
    character: Character,
    sources: Vec<Arc<Model>>,
    scenes: Arc<PoolIndex>,
}

impl Road {
    /// Plays every lane, side by side.
    pub(super) async fn simulate(
        self: &Arc<Self>,
        records: &mut Records,
        scenes: &Arc<PoolIndex>,
    ) -> Result<(), RunError> {
        let params = &self.loaded.file.simulate;
        let sets = |character: &Character| match (params.scope, self.models.sources.get(character.language).len()) {
            (simulate::Scope::Character, sources) => sources.min(1),
            (simulate::Scope::Lane, sources) => sources,
        };
        // Each set of counts goes to τ for each dimension.
        let sets: usize = records.characters.iter().map(sets).sum();
        let total = sets as u64 * u64::from(params.tau) * self.loaded.dimensions.len() as u64;
        self.start(Stage::Simulate, Some(total));
        let done = Arc::new(AtomicU64::new(0));
        let places = Arc::new(simulate::Places::new(self.conversations_at_once()));
        let mut plays = Tasks::new(&self.desk);
        for character in &records.characters {
            let sources = self.models.sources.get(character.language).clone();
            let groups: Vec<Vec<_>> = match params.scope {
                simulate::Scope::Lane => sources.into_iter().map(|source| vec![source]).collect(),
                simulate::Scope::Character => vec![sources],
            };
            for group in groups {
                let (road, done) = (Arc::clone(self), Arc::clone(&done));
                let lanes = Lanes { character: character.clone(), sources: group, scenes: Arc::clone(scenes) };
                let (played, places) = (Arc::clone(&records.played), Arc::clone(&places));
                plays.spawn(async move { road.play(&lanes, &played, &places, &done, total).await });
            }
        }
        for short in plays.all().await {
            for (reject, dimensions) in short {
                self.reject(records, [reject]);
                for dimension in dimensions {
                    *records.short.entry(dimension).or_default() += 1;
                }
            }
        }
        plays.ended()?;
        let (samples, conversations) = (records.played.samples(), records.played.conversations());
        self.end(Stage::Simulate, format!("{samples} samples of {conversations} conversations"));
        Ok(())
    }

    /// Returns how many conversations play at once, over all lanes: four times as many as there can be requests in flight, so that
    /// there is always one for whichever model has nothing to do, also while answers wait for the journal.
    pub(super) fn conversations_at_once(&self) -> u32 {
        let names: BTreeSet<&str> = self.models.players().map(|model| model.name()).collect();
        let of = |name: &str| match &self.loaded.file.models[name] {
            ModelEntry::OpenAi(served) => served.concurrency as usize,
            ModelEntry::Offline(_) => cores(),
        };
        let most = names.into_iter().map(of).sum::<usize>().saturating_mul(4).min(MOST_CONVERSATIONS);
        u32::try_from(most).unwrap_or(u32::MAX)
    }

    /// Plays lanes that share one set of counts, one after the other, and returns the entries of those that fell short, each
    /// with the dimensions that have less than τ.
    async fn play(
        &self,
        Lanes { character, sources, scenes }: &Lanes,
        records: &PlayedRecords,
        places: &simulate::Places,
        done: &AtomicU64,
        total: u64,
    ) -> Result<Vec<(Reject, Vec<String>)>, RunError> {
        let language = character.language;
        let (mut counts, mut short) = (simulate::Counts::new(&self.loaded.dimensions), Vec::new());
        let behind = AtomicU64::new(0);
        for (place, source) in sources.iter().enumerate() {
            let mut params = self.loaded.file.simulate.clone();
            // Sources that share counts share τ too, else the first would leave nothing to the others.
            let share = u64::from(params.tau) * (place as u64 + 1);
            params.tau = u32::try_from(share.div_ceil(sources.len() as u64)).unwrap_or(params.tau);
            let stage = simulate::Stage {
                director: self.models.director.get(language),
                scene: self.models.scene.get(language),
                base: self.models.base.get(language),
                judge: self.models.judge.get(language),
                judges: self.models.judges.get(language),
                params: &params,
                select: &self.loaded.file.select,
                dimensions: &self.loaded.dimensions,
                seed: self.loaded.file.seed,
                limit: self.options.limit,
                places,
            };
            let keep = |played: simulate::Played| {
                for reject in &played.rejects {
                    self.reporter.report(Event::Rejected(reject.clone()));
                }
                Ok(records.add(played)?)
            };
            let progress = |progress: simulate::Progress| {
                let counted = u64::from(progress.counted);
                let step = counted.saturating_sub(behind.fetch_max(counted, Ordering::Relaxed));
                self.advance(Stage::Simulate, done.fetch_add(step, Ordering::Relaxed) + step, Some(total));
            };
            let end = simulate::play_lane(&stage, character, source, &**scenes, counts, &keep, &progress).await?;
            counts = end.counts;
            let below = counts.iter().filter(|(_, count)| *count < params.tau).map(|(code, _)| code.to_owned());
            short.extend(end.short.map(|reject| (reject, below.collect())));
        }
        Ok(short)
    }
}

impl simulate::Scenes for PoolIndex {
    type Error = RunError;

    fn heads(&self) -> impl ExactSizeIterator<Item = &SceneHead> + Clone {
        Self::heads(self)
    }

    fn scene(&self, place: usize) -> Result<Scene, RunError> {
        Ok(Self::scene(self, place)?)
    }
}
