//! What a run makes on its way to the data set: characters and rejects in memory, conversations, their samples and the rows of
//! roles on the disk, so that a run takes no more memory the longer it goes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;

use super::RunError;
use super::vetoes::Barred;
use crate::schema::{Character, Conversation, Reject, RoleGeneral, RoleProfile, RoleSpecific, Sample, Split};
use crate::stages::export::{self, Figures, HeldOut, Reading, Rights, Row, Table};
use crate::stages::instruct::{Gleaned, Sides};
use crate::stages::simulate::Played;
use crate::store::{NewDataset, PoolIndex, RunFolder, Spool, StoreError};

/// What a run has made.
#[derive(Debug)]
pub(super) struct Records {
    /// The test characters, sorted by id.
    pub(super) characters: Vec<Character>,
    /// What was left out, in any order.
    pub(super) rejects: Vec<Reject>,
    /// What was made about roles.
    pub(super) roles: RoleRecords,
    /// How many lanes ended before a dimension had its τ counts, by dimension.
    pub(super) short: BTreeMap<String, u64>,
    /// How many lanes had τ counts of a dimension and no sample of it, by dimension.
    pub(super) barren: BTreeMap<String, u64>,
    /// What people take out of the tables, and put right in them.
    pub(super) barred: Barred,
    /// The conversations and their samples.
    pub(super) played: Arc<PlayedRecords>,
}

impl Records {
    /// Begins with nothing, and a place on the disk for what is played.
    pub(super) fn new(folder: &RunFolder) -> Result<Self, StoreError> {
        let kept = Some((folder.spool(Conversation::CONFIG)?, folder.spool(Sample::CONFIG)?));
        let spool = |config| folder.spool(config);
        let roles = [spool(RoleProfile::CONFIG)?, spool(RoleSpecific::CONFIG)?, spool(RoleGeneral::CONFIG)?];
        Ok(Self { roles: RoleRecords { kept: Some(roles), ..RoleRecords::default() }, ..Self::keeping(kept) })
    }

    /// Begins with nothing, and only counts what is played.
    pub(super) fn counting() -> Self {
        Self::keeping(None)
    }

    fn keeping(kept: Option<(Spool, Spool)>) -> Self {
        let (conversations, samples, rejects, turn_faults) = Default::default();
        let played = Arc::new(PlayedRecords { kept, conversations, samples, rejects, turn_faults });
        let (characters, rejects, roles, barred) = Default::default();
        Self { characters, rejects, roles, short: BTreeMap::new(), barren: BTreeMap::new(), barred, played }
    }

    /// Takes over what was left out of the conversations.
    pub(super) fn take_rejects(&mut self) {
        self.rejects.append(&mut self.played.rejects.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Writes the tables of the data set and returns them, in the order of the card, while `figures` counts their rows.
    /// `rejects` are sorted by now. What may not leave of the books' own text is left out.
    pub(super) fn write(
        &self,
        rights: &Rights,
        scenes: &PoolIndex,
        dataset: &mut NewDataset,
        figures: &mut Figures,
    ) -> Result<Vec<Table>, RunError> {
        let (conversations, samples) = self.kept();
        let samples = samples.records().map(|sample| Ok(self.barred.sample(sample?))).filter_map(Result::transpose);
        let conversations = conversations.records().map(|conversation| Ok(conversation?));
        let conversations = kept(conversations, |one: &Conversation| self.barred.has_conversation(&one.id));
        let all_scenes = (0..scenes.len()).filter(|&place| self.barred.has_scene(&scenes.head(place).id));
        let all_scenes = all_scenes.map(|place| Ok(scenes.scene(place)?));
        let characters = self.characters.iter().filter(|one| self.barred.has_character(&one.id)).cloned().map(Ok);
        let tables = [
            write(rights, dataset, samples.inspect(seen(|sample| figures.sample(sample))))?,
            write(rights, dataset, conversations.inspect(seen(|conversation| figures.conversation(conversation))))?,
            write(rights, dataset, all_scenes.inspect(seen(|scene| figures.scene(scene))))?,
            write(rights, dataset, characters.inspect(seen(|one| figures.character(one))))?,
        ];
        let roles = self.write_roles(rights, dataset)?;
        let rejected = write(rights, dataset, self.rejects.iter().cloned().map(Ok))?;
        Ok(tables.into_iter().chain(roles).chain([rejected]).flatten().collect())
    }

    /// Returns the conversations that the report shows.
    pub(super) fn readings(
        &self,
        rights: &Rights,
        scenes: &PoolIndex,
        figures: &Figures,
    ) -> Result<Vec<Reading>, RunError> {
        let mut readings = Vec::new();
        for id in figures.shown() {
            let Some(conversation) = self.kept().0.get::<Conversation>(&id)? else { continue };
            let scene = scenes.find(&conversation.scene_id).map(|place| scenes.scene(place)).transpose()?;
            let character = self.characters.iter().find(|character| character.id == conversation.character_id);
            readings.push(Reading::new(&conversation, scene.as_ref(), character, rights, figures));
        }
        Ok(readings)
    }

    /// Returns the conversations and samples of a run that writes.
    pub(super) fn kept(&self) -> &(Spool, Spool) {
        self.played.kept.as_ref().expect("a run that writes keeps what is played")
    }

    /// Writes the tables of roles, those of a split one after the other.
    fn write_roles(&self, rights: &Rights, dataset: &mut NewDataset) -> Result<[Option<Table>; 5], RunError> {
        let [profiles, specific, general] = self.roles.kept.as_ref().expect("a run that writes keeps its roles");
        let sides = &self.roles.sides;
        let of_specific = |split| {
            let rows = rows(specific, move |rows| of_split(sides.specific(rows), split, |row| row.split));
            kept(rows, |row: &RoleSpecific| self.barred.has_row(&row.id))
        };
        let of_general = |split| {
            let rows = rows(general, move |rows| of_split(sides.general(rows), split, |row| row.split));
            kept(rows, |row: &RoleGeneral| self.barred.has_row(&row.id))
        };
        let all_profiles = profiles.records().map(|profile| Ok(sides.profile(profile?)));
        Ok([
            write(rights, dataset, kept(all_profiles, |one: &RoleProfile| self.barred.has_role(&one.role_id)))?,
            write(rights, dataset, of_specific(Split::Train))?,
            write(rights, dataset, of_specific(Split::Test).map(|row| Ok(HeldOut(row?))))?,
            write(rights, dataset, of_general(Split::Train))?,
            write(rights, dataset, of_general(Split::Test).map(|row| Ok(HeldOut(row?))))?,
        ])
    }
}

/// Leaves out rows; what could not be read is none that is left out.
fn kept<T>(
    rows: impl Iterator<Item = Result<T, RunError>>,
    has: impl Fn(&T) -> bool,
) -> impl Iterator<Item = Result<T, RunError>> {
    rows.filter(move |row| row.as_ref().map_or(true, &has))
}

/// Looks at the rows that could be read.
fn seen<T>(mut see: impl FnMut(&T)) -> impl FnMut(&Result<T, RunError>) {
    move |row| {
        if let Ok(row) = row {
            see(row);
        }
    }
}

/// Reads the rows of a spool whose records are the rows of a role.
fn rows<T: DeserializeOwned>(
    spool: &Spool,
    sided: impl Fn(Vec<T>) -> Vec<T>,
) -> impl Iterator<Item = Result<T, RunError>> {
    spool.records::<Vec<T>>().flat_map(move |rows| match rows {
        Ok(rows) => sided(rows).into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error.into())],
    })
}

fn of_split<T>(mut rows: Vec<T>, split: Split, of: impl Fn(&T) -> Split) -> Vec<T> {
    rows.retain(|row| of(row) == split);
    rows
}

/// What was made about roles so far: on the disk, but for what sets them beside each other.
#[derive(Debug, Default)]
pub(super) struct RoleRecords {
    /// Profiles, and the specific and the general rows of each role; none where they are only counted.
    kept: Option<[Spool; 3]>,
    /// Which side each row is on.
    pub(super) sides: Sides,
    profiles: u64,
    general: u64,
}

impl RoleRecords {
    /// Adds what came of a role.
    pub(super) fn add(&mut self, gleaned: &Gleaned) -> Result<(), StoreError> {
        let Gleaned { profile, specific, general, .. } = gleaned;
        self.profiles += 1;
        self.general += general.len() as u64;
        if let Some([profiles, all_specific, all_general]) = &self.kept {
            profiles.add(&profile.role_id, profile)?;
            // Rows are sorted by ids that begin so.
            let id = format!("{}/", profile.role_id);
            all_specific.add(&id, specific)?;
            all_general.add(&id, general)?;
        }
        Ok(())
    }

    /// Returns the ids of all roles.
    pub(super) fn ids(&self) -> BTreeSet<String> {
        self.kept.as_ref().map(|[profiles, ..]| profiles.ids()).unwrap_or_default()
    }

    /// Returns the roles of all specific and general rows, by the rows' ids.
    pub(super) fn row_ids(&self) -> Result<BTreeMap<String, String>, RunError> {
        let Some([_, specific, general]) = &self.kept else { return Ok(BTreeMap::new()) };
        let specific = rows(specific, |rows| self.sides.specific(rows))
            .map(|row| row.map(|RoleSpecific { id, role_id, .. }| (id, role_id)));
        let general = rows(general, |rows| self.sides.general(rows))
            .map(|row| row.map(|RoleGeneral { id, role_id, .. }| (id, role_id)));
        specific.chain(general).collect()
    }

    /// Returns how many rows there are of roles, specific and general ones.
    pub(super) fn counts(&self) -> [u64; 3] {
        [self.profiles, self.sides.specific_rows(), self.general]
    }
}

fn write<T: Row>(
    rights: &Rights,
    dataset: &mut NewDataset,
    rows: impl Iterator<Item = Result<T, RunError>>,
) -> Result<Option<Table>, RunError> {
    let mut file = dataset.table(T::CONFIG, T::SPLIT);
    let table = export::table(rights, rows, |group| Ok(file.write(group)?))?;
    dataset.end(file)?;
    Ok(table)
}

/// What lanes have played so far. Many may add to it at once.
#[derive(Debug)]
pub(super) struct PlayedRecords {
    /// Conversations and samples; none where they are only counted.
    kept: Option<(Spool, Spool)>,
    conversations: AtomicU64,
    samples: AtomicU64,
    rejects: Mutex<Vec<Reject>>,
    turn_faults: Mutex<BTreeMap<String, u64>>,
}

impl PlayedRecords {
    /// Adds what came of a conversation.
    pub(super) fn add(&self, played: Played) -> Result<(), StoreError> {
        let Played { conversation, samples, rejects } = played;
        let mut turn_faults = self.turn_faults.lock().unwrap_or_else(PoisonError::into_inner);
        for fault in conversation.iter().flat_map(|conversation| &conversation.turns).flat_map(|turn| &turn.faults) {
            *turn_faults.entry(fault.clone()).or_default() += 1;
        }
        drop(turn_faults);
        if let Some((conversations, all_samples)) = &self.kept {
            for sample in &samples {
                all_samples.add(&sample.id, sample)?;
            }
            if let Some(conversation) = &conversation {
                conversations.add(&conversation.id, conversation)?;
            }
        }
        self.conversations.fetch_add(u64::from(conversation.is_some()), Ordering::Relaxed);
        self.samples.fetch_add(samples.len() as u64, Ordering::Relaxed);
        self.rejects.lock().unwrap_or_else(PoisonError::into_inner).extend(rejects);
        Ok(())
    }

    /// Returns how many conversations there are.
    pub(super) fn conversations(&self) -> u64 {
        self.conversations.load(Ordering::Relaxed)
    }

    /// Returns how many turns had a fault of form, mended or not, and how many a speaker whom the director did not plainly name.
    pub(super) fn turn_faults(&self) -> BTreeMap<String, u64> {
        self.turn_faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how many samples there are.
    pub(super) fn samples(&self) -> u64 {
        self.samples.load(Ordering::Relaxed)
    }
}
