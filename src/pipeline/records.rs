//! The results of a run: characters and rejects in memory; conversations, samples and rows of roles on disk, so that
//! memory use does not grow with the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;

use super::error::RunError;
use super::exclusions::Exclusions;
use crate::schema::{Character, Conversation, Reject, RoleGeneral, RoleId, RoleProfile, RoleSpecific, Sample, Split};
use crate::stages::export::{self, ConversationView, HeldOut, QuoteLimits, ReportStatistics, Table, TableRow};
use crate::stages::instruct::{SelectedRows, SplitAssignments};
use crate::stages::simulate::PlayedConversation;
use crate::store::{NewDataset, PoolIndex, RunFolder, Spool, StoreError};

/// The results of a run.
#[derive(Debug)]
pub(crate) struct Records {
    /// The test characters, sorted by id.
    pub(crate) characters: Vec<Character>,
    /// The rejects, in any order.
    pub(crate) rejects: Vec<Reject>,
    /// The role data.
    pub(crate) roles: RoleRecords,
    /// Number of lanes that ended before a dimension reached τ counts, by dimension.
    pub(super) dimensions_below_target: BTreeMap<String, u64>,
    /// Number of lanes that reached τ counts of a dimension without a sample of it, by dimension.
    pub(super) dimensions_without_samples: BTreeMap<String, u64>,
    /// Manual edits: rows to remove and references to correct.
    pub(crate) exclusions: Exclusions,
    /// The conversations and samples.
    pub(super) played: Arc<PlayedRecords>,
}

impl Records {
    /// Creates empty records, with spools on disk for conversations and samples.
    pub(super) fn new(folder: &RunFolder) -> Result<Self, StoreError> {
        let kept = Some((folder.spool(Conversation::CONFIG)?, folder.spool(Sample::CONFIG)?));
        let spool = |config| folder.spool(config);
        let roles = [spool(RoleProfile::CONFIG)?, spool(RoleSpecific::CONFIG)?, spool(RoleGeneral::CONFIG)?];
        Ok(Self { roles: RoleRecords { kept: Some(roles), ..RoleRecords::default() }, ..Self::keeping(kept) })
    }

    /// Creates empty records that only count conversations and samples.
    pub(super) fn counting() -> Self {
        Self::keeping(None)
    }

    fn keeping(kept: Option<(Spool, Spool)>) -> Self {
        let (conversations, samples, rejects, turn_faults) = Default::default();
        let played = Arc::new(PlayedRecords { kept, conversations, samples, rejects, turn_faults });
        let (characters, rejects, roles, exclusions) = Default::default();
        Self {
            characters,
            rejects,
            roles,
            dimensions_below_target: BTreeMap::new(),
            dimensions_without_samples: BTreeMap::new(),
            exclusions,
            played,
        }
    }

    /// Moves the rejects of conversations to the other rejects.
    pub(super) fn take_rejects(&mut self) {
        self.rejects.append(&mut self.played.rejects.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Writes the tables of the data set and returns them, in the order of the data card, while `figures` counts their
    /// rows. `rejects` must be sorted. Texts are cut to the quote limits.
    pub(super) fn write(
        &self,
        quote_limits: &QuoteLimits,
        scenes: &PoolIndex,
        dataset: &mut NewDataset,
        figures: &mut ReportStatistics,
    ) -> Result<Vec<Table>, RunError> {
        let (conversations, samples) = self.kept();
        let samples = samples.records().map(|sample| Ok(self.exclusions.sample(sample?))).filter_map(Result::transpose);
        let conversations = conversations.records().map(|conversation| Ok(conversation?));
        let conversations = kept(conversations, |one: &Conversation| self.exclusions.keeps_conversation(&one.id));
        let all_scenes = (0..scenes.len()).filter(|&index| self.exclusions.keeps_scene(&scenes.head(index).id));
        let all_scenes = all_scenes.map(|index| Ok(scenes.scene(index)?));
        let characters = self.characters.iter().filter(|one| self.exclusions.keeps_character(&one.id)).cloned().map(Ok);
        let tables = [
            write(quote_limits, dataset, samples.inspect(inspect_ok(|sample| figures.sample(sample))))?,
            write(
                quote_limits,
                dataset,
                conversations.inspect(inspect_ok(|conversation| figures.conversation(conversation))),
            )?,
            write(quote_limits, dataset, all_scenes.inspect(inspect_ok(|scene| figures.scene(scene))))?,
            write(quote_limits, dataset, characters.inspect(inspect_ok(|one| figures.character(one))))?,
        ];
        let roles = self.write_roles(quote_limits, dataset)?;
        let rejected = write(quote_limits, dataset, self.rejects.iter().cloned().map(Ok))?;
        Ok(tables.into_iter().chain(roles).chain([rejected]).flatten().collect())
    }

    /// Returns the conversations shown in the report.
    pub(super) fn conversation_views(
        &self,
        quote_limits: &QuoteLimits,
        scenes: &PoolIndex,
        figures: &ReportStatistics,
    ) -> Result<Vec<ConversationView>, RunError> {
        let mut conversation_views = Vec::new();
        for id in figures.shown() {
            let Some(conversation) = self.kept().0.get::<Conversation>(&id)? else { continue };
            let scene = scenes.find(&conversation.scene_id).map(|index| scenes.scene(index)).transpose()?;
            let character = self.characters.iter().find(|character| character.id == conversation.character_id);
            conversation_views.push(ConversationView::new(
                &conversation,
                scene.as_ref(),
                character,
                quote_limits,
                figures,
            ));
        }
        Ok(conversation_views)
    }

    /// Returns the spools of conversations and samples. Panics on records that only count.
    pub(crate) fn kept(&self) -> &(Spool, Spool) {
        self.played.kept.as_ref().expect("only dry runs have no spools")
    }

    /// Writes the tables of roles, split by split.
    fn write_roles(
        &self,
        quote_limits: &QuoteLimits,
        dataset: &mut NewDataset,
    ) -> Result<[Option<Table>; 5], RunError> {
        let [profiles, specific, general] = self.roles.kept.as_ref().expect("only dry runs have no spools");
        let splits = &self.roles.splits;
        let of_specific = |split| {
            let rows = rows(specific, move |rows| of_split(splits.specific(rows), split, |row| row.split));
            kept(rows, |row: &RoleSpecific| self.exclusions.keeps_row(&row.id))
        };
        let of_general = |split| {
            let rows = rows(general, move |rows| of_split(splits.general(rows), split, |row| row.split));
            kept(rows, |row: &RoleGeneral| self.exclusions.keeps_row(&row.id))
        };
        let all_profiles = profiles.records().map(|profile| Ok(splits.profile(profile?)));
        Ok([
            write(
                quote_limits,
                dataset,
                kept(all_profiles, |one: &RoleProfile| self.exclusions.keeps_role(&one.role_id)),
            )?,
            write(quote_limits, dataset, of_specific(Split::Train))?,
            write(quote_limits, dataset, of_specific(Split::Test).map(|row| Ok(HeldOut(row?))))?,
            write(quote_limits, dataset, of_general(Split::Train))?,
            write(quote_limits, dataset, of_general(Split::Test).map(|row| Ok(HeldOut(row?))))?,
        ])
    }
}

/// Filters rows; errors are kept.
fn kept<T>(
    rows: impl Iterator<Item = Result<T, RunError>>,
    has: impl Fn(&T) -> bool,
) -> impl Iterator<Item = Result<T, RunError>> {
    rows.filter(move |row| row.as_ref().map_or(true, &has))
}

/// Returns an inspector that sees only rows without error.
fn inspect_ok<T>(mut inspect: impl FnMut(&T)) -> impl FnMut(&Result<T, RunError>) {
    move |row| {
        if let Ok(row) = row {
            inspect(row);
        }
    }
}

/// Reads the rows of a spool whose records are all rows of one role.
fn rows<T: DeserializeOwned>(
    spool: &Spool,
    choose: impl Fn(Vec<T>) -> Vec<T>,
) -> impl Iterator<Item = Result<T, RunError>> {
    spool.records::<Vec<T>>().flat_map(move |rows| match rows {
        Ok(rows) => choose(rows).into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error.into())],
    })
}

fn of_split<T>(mut rows: Vec<T>, split: Split, of: impl Fn(&T) -> Split) -> Vec<T> {
    rows.retain(|row| of(row) == split);
    rows
}

/// Role data so far, on disk except for what compares roles with each other.
#[derive(Debug, Default)]
pub(crate) struct RoleRecords {
    /// Spools of profiles, specific rows and general rows; `None` if they are only counted.
    kept: Option<[Spool; 3]>,
    /// The split of each row.
    pub(super) splits: SplitAssignments,
    profiles: u64,
    general: u64,
}

impl RoleRecords {
    /// Adds the data of one role.
    pub(super) fn add(&mut self, selected: &SelectedRows) -> Result<(), StoreError> {
        let SelectedRows { profile, specific, general, .. } = selected;
        self.profiles += 1;
        self.general += general.len() as u64;
        if let Some([profiles, all_specific, all_general]) = &self.kept {
            profiles.add(&profile.role_id, profile)?;
            // Rows are sorted by ids with this prefix.
            let id = format!("{}/", profile.role_id);
            all_specific.add(&id, specific)?;
            all_general.add(&id, general)?;
        }
        Ok(())
    }

    pub(crate) fn ids(&self) -> BTreeSet<RoleId> {
        self.kept.as_ref().map(|[profiles, ..]| profiles.ids()).unwrap_or_default()
    }

    /// Returns the role of each specific and general row, by row id.
    pub(crate) fn row_ids(&self) -> Result<BTreeMap<String, RoleId>, RunError> {
        let Some([_, specific, general]) = &self.kept else { return Ok(BTreeMap::new()) };
        let specific = rows(specific, |rows| self.splits.specific(rows))
            .map(|row| row.map(|RoleSpecific { id, role_id, .. }| (id, role_id)));
        let general = rows(general, |rows| self.splits.general(rows))
            .map(|row| row.map(|RoleGeneral { id, role_id, .. }| (id, role_id)));
        specific.chain(general).collect()
    }

    /// Returns the numbers of roles, specific rows and general rows.
    pub(super) fn counts(&self) -> [u64; 3] {
        [self.profiles, self.splits.specific_rows(), self.general]
    }
}

fn write<T: TableRow>(
    quote_limits: &QuoteLimits,
    dataset: &mut NewDataset,
    rows: impl Iterator<Item = Result<T, RunError>>,
) -> Result<Option<Table>, RunError> {
    let mut file = dataset.table(T::CONFIG, T::SPLIT);
    let table = export::table(quote_limits, rows, |group| Ok(file.write(group)?))?;
    dataset.end(file)?;
    Ok(table)
}

/// The conversations so far. Lanes add to it concurrently.
#[derive(Debug)]
pub(super) struct PlayedRecords {
    /// Spools of conversations and samples; `None` if they are only counted.
    kept: Option<(Spool, Spool)>,
    conversations: AtomicU64,
    samples: AtomicU64,
    rejects: Mutex<Vec<Reject>>,
    turn_faults: Mutex<BTreeMap<String, u64>>,
}

impl PlayedRecords {
    /// Adds a conversation with its samples and rejects.
    pub(super) fn add(&self, played: PlayedConversation) -> Result<(), StoreError> {
        let PlayedConversation { conversation, samples, rejects } = played;
        let mut turn_faults = self.turn_faults.lock().unwrap_or_else(PoisonError::into_inner);
        for fault in conversation.iter().flat_map(|conversation| &conversation.turns).flat_map(|turn| &turn.faults) {
            *turn_faults.entry(fault.to_string()).or_default() += 1;
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

    /// Returns the number of conversations.
    pub(super) fn conversations(&self) -> u64 {
        self.conversations.load(Ordering::Relaxed)
    }

    /// Returns the number of turns by fault, including repaired faults and speakers that the director did not name
    /// clearly.
    pub(super) fn turn_faults(&self) -> BTreeMap<String, u64> {
        self.turn_faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of samples.
    pub(super) fn samples(&self) -> u64 {
        self.samples.load(Ordering::Relaxed)
    }
}
