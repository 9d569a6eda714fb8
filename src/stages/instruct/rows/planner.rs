//! Compares the roles: collects what is needed of each, removes duplicate questions across roles, and assigns splits.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::deduplication::{Key, deduplicate, duplicate_rejects};
use super::select_rows::SelectedRows;
use crate::schema::{Language, Reject, RoleId, RoleProfile, RoleTally, Split};
use crate::stages::instruct::params::Params;

/// What is kept in memory of all roles to compare them: the questions, and which instructions each role answered. The
/// rows themselves are kept by the caller.
#[derive(Debug)]
pub struct SplitPlanner {
    pub(super) params: Params,
    pub(super) seed: u64,
    pub(super) threads: NonZeroUsize,
    /// Languages by role id.
    pub(super) roles: BTreeMap<RoleId, Language>,
    pub(super) asked: Vec<CandidateQuestion>,
    /// Instructions: language, id, text.
    pub(super) instructions: Vec<(Language, String, String)>,
    numbers: BTreeMap<(Language, String), u32>,
    /// By role id: indexes into `instructions`.
    pub(super) carried_out: BTreeMap<RoleId, Vec<u32>>,
    pub(super) tallies: BTreeMap<Language, RoleTally>,
}

/// A question that may become a row.
#[derive(Debug)]
pub(super) struct CandidateQuestion {
    pub(super) id: String,
    pub(super) role_id: RoleId,
    pub(super) language: Language,
    pub(super) question: String,
    /// Empty if it is not needed as a tie-breaker.
    pub(super) answer: String,
    pub(super) similarity: Option<f64>,
    pub(super) split: Split,
}

impl SplitPlanner {
    /// Creates an empty planner.
    #[must_use]
    pub const fn new(params: Params, seed: u64, threads: NonZeroUsize) -> Self {
        Self {
            params,
            seed,
            threads,
            roles: BTreeMap::new(),
            asked: Vec::new(),
            instructions: Vec::new(),
            numbers: BTreeMap::new(),
            carried_out: BTreeMap::new(),
            tallies: BTreeMap::new(),
        }
    }

    /// Adds a role. The order of roles does not matter.
    pub fn add(&mut self, selected: &SelectedRows) {
        let RoleProfile { role_id, language, .. } = &selected.profile;
        let tally = self.tallies.entry(*language).or_default();
        tally.roles += 1;
        tally.candidates += selected.candidates;
        tally.filtered += selected.filtered;
        tally.removed += selected.removed;
        self.roles.insert(role_id.clone(), *language);
        let across = self.params.across_roles;
        self.asked.extend(selected.specific.iter().map(|row| CandidateQuestion {
            id: row.id.clone(),
            role_id: row.role_id.clone(),
            language: row.language,
            question: row.question.clone(),
            answer: if across { row.generated.concat() } else { String::new() },
            similarity: row.similarity,
            split: row.split,
        }));
        for row in &selected.general {
            let next = u32::try_from(self.instructions.len()).expect("there are fewer than 2^32 instructions");
            let number = *self.numbers.entry((row.language, row.instruction.clone())).or_insert_with(|| {
                self.instructions.push((row.language, row.instruction.clone(), row.question.clone()));
                next
            });
            self.carried_out.entry(row.role_id.clone()).or_default().push(number);
        }
    }

    /// Removes duplicate questions among all roles of a language, and returns their rejects.
    pub(super) fn deduplicate_across_roles(&mut self) -> Vec<Reject> {
        let mut rejects = Vec::new();
        let mut asked = std::mem::take(&mut self.asked);
        for language in Language::ALL {
            let (own, others): (Vec<CandidateQuestion>, Vec<CandidateQuestion>) =
                asked.into_iter().partition(|one| one.language == language);
            asked = others;
            let keys: Vec<Key<'_>> = own
                .iter()
                .map(|one| Key { id: &one.id, role_id: &one.role_id, question: &one.question, answer: &one.answer })
                .collect();
            let verdicts = deduplicate(&self.params, &keys, self.threads);
            rejects.extend(duplicate_rejects(&keys, &verdicts));
            if let Some(tally) = self.tallies.get_mut(&language) {
                tally.removed += verdicts.iter().filter(|verdict| !verdict.is_kept).count() as u64;
            }
            self.asked.extend(own.into_iter().zip(verdicts).filter_map(|(mut one, verdict)| {
                one.similarity = verdict.similarity;
                one.split = verdict.split?;
                Some(one)
            }));
        }
        rejects
    }
}
