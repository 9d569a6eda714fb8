//! Splits rows by instruction and by role (Appendix G), leak-free or by the paper's rule (Appendix C).

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng as _;

use super::overlap::overlap;
use super::planner::{CandidateQuestion, SplitPlanner};
use crate::schema::{Language, Overlap, Reject, RoleGeneral, RoleId, RoleProfile, RoleSpecific, RoleTally, Split};
use crate::seed::seeded;
use crate::stages::instruct::params::SplitRule;
use crate::text::duplicates::families;

/// How far below `near` the threshold of families is: the measured similarity weighs words by the final rows only.
const MARGIN: f64 = 0.05;

/// The splits of all rows, and the results of comparing roles.
#[derive(Debug, Default)]
pub struct SplitAssignments {
    is_leak_free: bool,
    /// The ids of the held-out roles.
    held_out: BTreeSet<RoleId>,
    /// By row id. Rows that are missing here are dropped.
    specific: BTreeMap<String, RowSplits>,
    /// The held-out instructions.
    test: BTreeSet<(Language, String)>,
    /// By held-out role: its instructions in the test split by role.
    role_test_instructions: BTreeMap<RoleId, BTreeSet<String>>,
    rejects: Vec<Reject>,
    tallies: BTreeMap<Language, RoleTally>,
}

#[derive(Debug, Clone, Copy)]
struct RowSplits {
    similarity: Option<f64>,
    split: Split,
    role_split: Option<Split>,
}

impl SplitAssignments {
    /// Sets the split of a role.
    #[must_use]
    pub fn profile(&self, mut profile: RoleProfile) -> RoleProfile {
        profile.role_split = if self.held_out.contains(&profile.role_id) { Split::Test } else { Split::Train };
        profile
    }

    /// Sets the splits of role-specific rows, and drops duplicates of another role's questions.
    #[must_use]
    pub fn specific(&self, rows: Vec<RoleSpecific>) -> Vec<RoleSpecific> {
        let with_splits = |mut row: RoleSpecific| {
            let RowSplits { similarity, split, role_split } = *self.specific.get(&row.id)?;
            (row.similarity, row.split, row.role_split) = (similarity, split, role_split);
            Some(row)
        };
        rows.into_iter().filter_map(with_splits).collect()
    }

    /// Sets the splits of general rows.
    #[must_use]
    pub fn general(&self, mut rows: Vec<RoleGeneral>) -> Vec<RoleGeneral> {
        for row in &mut rows {
            let in_test = self.test.contains(&(row.language, row.instruction.clone()));
            row.split = if in_test { Split::Test } else { Split::Train };
            row.role_split = if self.held_out.contains(&row.role_id) {
                let test_instructions = self.role_test_instructions.get(&row.role_id);
                test_instructions
                    .is_some_and(|instructions| instructions.contains(&row.instruction))
                    .then_some(Split::Test)
            } else {
                (!(in_test && self.is_leak_free)).then_some(Split::Train)
            };
        }
        rows
    }

    /// Returns the number of role-specific rows.
    #[must_use]
    pub fn specific_rows(&self) -> u64 {
        self.specific.len() as u64
    }

    /// Returns rejects of rows that are duplicates across roles.
    #[must_use]
    pub fn rejects(&self) -> &[Reject] {
        &self.rejects
    }

    /// Returns counts for each language that has roles.
    #[must_use]
    pub const fn tallies(&self) -> &BTreeMap<Language, RoleTally> {
        &self.tallies
    }
}

impl SplitPlanner {
    /// Assigns the splits of all rows, and measures their overlap.
    #[must_use]
    pub fn assign_splits(mut self) -> SplitAssignments {
        let mut assignments =
            SplitAssignments { is_leak_free: self.params.split == SplitRule::LeakFree, ..SplitAssignments::default() };
        if self.params.across_roles {
            assignments.rejects = self.deduplicate_across_roles();
        }
        self.asked.sort_by(|a, b| (&a.role_id, &a.question, &a.id).cmp(&(&b.role_id, &b.question, &b.id)));
        for language in Language::ALL {
            let held_out = self.held_out(language);
            let (general, general_by_role) = self.general(language, &held_out, &mut assignments);
            let (specific, specific_by_role) = self.specific(language, &held_out, &mut assignments);
            if let Some(tally) = self.tallies.get_mut(&language) {
                tally.held_out = held_out.len() as u64;
                (tally.general, tally.specific) = (general, specific);
                tally.by_role = general_by_role.and(specific_by_role);
            }
            assignments.held_out.extend(held_out);
        }
        assignments.tallies = self.tallies;
        assignments
    }

    /// Returns the ids of the held-out roles of a language: the first ones in a seeded order of ids, so that adding a
    /// role moves others only near the boundary. At least one if there are two or more.
    fn held_out(&self, language: Language) -> BTreeSet<RoleId> {
        let roles = self.roles.iter().filter(|(_, of)| **of == language);
        let mut order: Vec<(u64, &RoleId)> = roles.map(|(id, _)| (self.rank("role", language, id), id)).collect();
        order.sort();
        let every = self.params.test_every_role as usize;
        let count = (order.len() + every / 2) / every.max(1);
        let count = count.max(usize::from(order.len() > 1));
        order.into_iter().take(count).map(|(_, id)| id.clone()).collect()
    }

    /// Splits general rows; an instruction is in the same split for all roles. Returns the overlaps of the splits by
    /// instruction and by role.
    fn general(
        &self,
        language: Language,
        held_out: &BTreeSet<RoleId>,
        assignments: &mut SplitAssignments,
    ) -> (Overlap, Overlap) {
        let mut own: Vec<usize> =
            (0..self.instructions.len()).filter(|number| self.instructions[*number].0 == language).collect();
        own.sort_by_key(|number| &self.instructions[*number].1);
        let id = |number: usize| self.instructions[number].1.as_str();
        let words = |number: usize| self.instructions[number].2.as_str();
        let families = self.families(language, &own.iter().map(|number| words(*number)).collect::<Vec<_>>());
        let keys: Vec<(&str, &str)> = own.iter().map(|number| ("", id(*number))).collect();
        let draw_test = self.draw_test(language, "instruction", &keys, &families);
        let test: BTreeSet<usize> =
            own.iter().zip(draw_test).filter(|(_, test)| *test).map(|(number, _)| *number).collect();
        assignments.test.extend(test.iter().map(|number| (language, id(*number).to_owned())));
        let (mut test_texts, mut train_texts, mut role_test, mut role_train) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (role, numbers) in self.carried_out.iter().filter(|(role, _)| self.roles.get(*role) == Some(&language)) {
            let mut numbers: Vec<usize> = numbers.iter().map(|number| *number as usize).collect();
            let (of_test, of_train): (Vec<usize>, Vec<usize>) =
                numbers.iter().partition(|number| test.contains(number));
            test_texts.extend(of_test.iter().map(|number| words(*number)));
            train_texts.extend(of_train.iter().map(|number| words(*number)));
            if held_out.contains(role) {
                if assignments.is_leak_free {
                    numbers = of_test;
                }
                // A held-out role has a seeded sample of its rows.
                let row = |number: &usize| format!("{role}/general/{}", id(*number));
                numbers.sort_by_key(|number| (self.rank("held out", language, &row(number)), id(*number)));
                numbers.truncate(usize::try_from(self.params.held_out_general).unwrap_or(usize::MAX));
                role_test.extend(numbers.iter().map(|number| words(*number)));
                let ids = numbers.iter().map(|number| id(*number).to_owned()).collect();
                assignments.role_test_instructions.insert(role.clone(), ids);
            } else {
                let numbers = if assignments.is_leak_free { &of_train } else { &numbers };
                role_train.extend(numbers.iter().map(|number| words(*number)));
            }
        }
        let near = *self.params.leak_similarity.get(language);
        (overlap(&test_texts, &train_texts, near), overlap(&role_test, &role_train, near))
    }

    /// Splits role-specific rows: a share of each role's questions, by whole families; with the paper's rule they are
    /// already split. Returns the overlaps of the splits by question and by role.
    fn specific(
        &self,
        language: Language,
        held_out: &BTreeSet<RoleId>,
        assignments: &mut SplitAssignments,
    ) -> (Overlap, Overlap) {
        let rows: Vec<&CandidateQuestion> = self.asked.iter().filter(|one| one.language == language).collect();
        let questions: Vec<&str> = rows.iter().map(|row| row.question.as_str()).collect();
        let families = self.families(language, &questions);
        let mut splits: Vec<Split> = rows.iter().map(|row| row.split).collect();
        if assignments.is_leak_free {
            let keys: Vec<(&str, &str)> =
                rows.iter().map(|row| (row.role_id.as_str(), row.question.as_str())).collect();
            let draw_test = self.draw_test(language, "question", &keys, &families);
            splits = draw_test.into_iter().map(|test| if test { Split::Test } else { Split::Train }).collect();
        }
        let is_held = |row: &CandidateQuestion| held_out.contains(&row.role_id);
        let held: BTreeSet<usize> =
            rows.iter().zip(&families).filter(|(row, _)| is_held(row)).map(|(_, family)| *family).collect();
        let [mut test, mut train, mut by_role_test, mut by_role_train] = [const { Vec::new() }; 4];
        for (((row, family), split), question) in rows.iter().zip(&families).zip(splits).zip(questions) {
            let role_split = match (is_held(row), held.contains(family)) {
                (true, _) => Some(Split::Test),
                (false, true) if assignments.is_leak_free => None,
                (false, _) => Some(Split::Train),
            };
            if split == Split::Test { &mut test } else { &mut train }.push(question);
            match role_split {
                Some(Split::Test) => by_role_test.push(question),
                Some(Split::Train) => by_role_train.push(question),
                None => {}
            }
            assignments.specific.insert(row.id.clone(), RowSplits { similarity: row.similarity, split, role_split });
        }
        let near = *self.params.leak_similarity.get(language);
        (overlap(&test, &train, near), overlap(&by_role_test, &by_role_train, near))
    }

    /// Returns the family of each text: the connected components of similar texts.
    fn families(&self, language: Language, texts: &[&str]) -> Vec<usize> {
        families(texts, *self.params.leak_similarity.get(language) - MARGIN, self.threads)
    }

    /// Returns for each row, given as (group, key), whether it is held out: a share of each group, in seeded order, by
    /// whole families. Groups with fewer than two families hold out none of their own.
    fn draw_test(&self, language: Language, label: &str, rows: &[(&str, &str)], families: &[usize]) -> Vec<bool> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, (group, _)) in rows.iter().enumerate() {
            groups.entry(group).or_default().push(index);
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, family) in families.iter().enumerate() {
            members.entry(*family).or_default().push(index);
        }
        let mut splits: Vec<Option<bool>> = vec![None; rows.len()];
        for (group, mut indices) in groups {
            let every = self.params.test_every_instruction as usize;
            let own: BTreeSet<usize> = indices.iter().map(|index| families[*index]).collect();
            let target = if own.len() < 2 { 0 } else { ((indices.len() + every / 2) / every.max(1)).max(1) };
            indices.sort_by_key(|index| (self.rank(label, language, &format!("{group}/{}", rows[*index].1)), *index));
            for index in &indices {
                let held = indices.iter().filter(|index| splits[**index] == Some(true)).count();
                let family = &members[&families[*index]];
                // A family much larger than the remaining share is used for training.
                let fits = held < target && held + family.len() <= target + every;
                if splits[*index].is_none() {
                    for member in family {
                        splits[*member] = Some(fits);
                    }
                }
            }
        }
        splits.into_iter().map(|side| side.unwrap_or(false)).collect()
    }

    fn rank(&self, label: &str, language: Language, id: &str) -> u64 {
        seeded(self.seed, &["instruct", "split", label, language.code(), id]).next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{all_rows, role_output, row};
    use super::*;
    use crate::schema::Confidence;
    use crate::stages::instruct::params::Params;

    const THINGS: [&str; 20] = [
        "lamp",
        "ferry",
        "ledger",
        "bell",
        "umbrella",
        "causeway",
        "barrel",
        "hymn",
        "anchor",
        "orchard",
        "kettle",
        "magistrate",
        "winter",
        "fiddle",
        "quarry",
        "lantern",
        "widow",
        "harvest",
        "thimble",
        "gallows",
    ];

    fn asked(role: &str, count: usize, near: bool) -> crate::stages::instruct::role_pipeline::RoleOutput {
        let verbs = ["bury", "sell", "fear", "paint", "borrow", "mend", "praise", "hide", "weigh", "forget"];
        let rows = (0..count).map(|n| {
            let (thing, verb) = (THINGS[n % 20], verbs[(n / 2 + n) % 10]);
            let again = if near && n % 2 == 1 { THINGS[n - 1] } else { thing };
            let verb = if near && n % 2 == 1 { verbs[((n - 1) / 2 + n - 1) % 10] } else { verb };
            let tail = if near && n % 2 == 1 { " now" } else { "" };
            row(role, n, &format!("{role}, did you ever {verb} a {again}{tail}?"), Confidence::High)
        });
        role_output(role, rows.collect(), &THINGS)
    }

    fn permissive() -> Params {
        Params { dedup_keep_ratio: 1.0, ..Params::default() }
    }

    #[test]
    fn appendix_g_the_split_by_instruction_is_4_to_1() {
        let selected = all_rows(&permissive(), vec![asked("ann", 20, false), asked("bo", 20, false)]);
        let test =
            |role: &str| selected.specific.iter().filter(|row| row.role_id == role && row.split == Split::Test).count();
        assert_eq!((selected.specific.len(), test("ann"), test("bo")), (40, 4, 4));
        let held: BTreeSet<&str> =
            selected.general.iter().filter(|row| row.split == Split::Test).map(|row| row.question.as_str()).collect();
        assert_eq!(held.len(), 4);
        assert!(selected.general.iter().all(|row| held.contains(row.question.as_str()) == (row.split == Split::Test)));
    }

    #[test]
    fn appendix_g_the_split_by_role_is_8_to_1() {
        let roles: Vec<String> = (0..18).map(|n| format!("role{n}")).collect();
        let made = || roles.iter().map(|role| asked(role, 4, false)).collect::<Vec<_>>();
        let selected = all_rows(&permissive(), made());
        let held: BTreeSet<&str> = selected
            .roles
            .iter()
            .filter(|role| role.role_split == Split::Test)
            .map(|role| role.role_id.as_str())
            .collect();
        assert_eq!(held.len(), 2);
        assert_eq!(selected.tallies[&Language::En].held_out, 2);
        assert!(
            selected
                .specific
                .iter()
                .all(|row| (row.role_split == Some(Split::Test)) == held.contains(row.role_id.as_str()))
        );
        // Leak-free: the instructions in a held-out role's test split are not used for training.
        let of = |side| -> BTreeSet<&str> {
            selected
                .general
                .iter()
                .filter(|row| row.role_split == Some(side))
                .map(|row| row.question.as_str())
                .collect()
        };
        assert!(of(Split::Train).is_disjoint(&of(Split::Test)));
        let paper = Params { split: SplitRule::Paper, held_out_general: 7, ..permissive() };
        let selected = all_rows(&paper, made());
        let role_test = selected.general.iter().filter(|row| row.role_split == Some(Split::Test)).count();
        assert_eq!(role_test, 14, "seven rows of each held-out role");
        let by_role = selected.tallies[&Language::En].by_role;
        assert!(by_role.alike >= 14 && (by_role.highest - 1.0).abs() < 1e-9, "the overlap is reported: {by_role:?}");
    }

    #[test]
    fn a_leak_free_split_divides_no_group_of_similar_questions() {
        let params = Params { leak_similarity: crate::schema::ByLanguage { en: 0.6, zh: 0.5 }, ..permissive() };
        let selected = all_rows(&params, vec![asked("ann", 20, true)]);
        let tally = selected.tallies[&Language::En];
        assert_eq!((tally.specific.alike, tally.general.alike, tally.by_role.alike), (0, 0, 0));
        assert!(tally.specific.test > 0 && tally.specific.highest < params.leak_similarity.en, "{tally:?}");
        let side = |n: usize| {
            let id = format!("ann/description/0/{n}");
            selected.specific.iter().find(|row| row.id == id).map(|row| row.split)
        };
        assert!((0..10).all(|pair| side(2 * pair) == side(2 * pair + 1)), "near-duplicates are in the same split");
        assert!(selected.specific.iter().any(|row| row.split == Split::Test));
    }

    #[test]
    fn the_papers_split_reports_its_overlap() {
        let params = Params { split: SplitRule::Paper, dedup_keep_ratio: 0.5, ..Params::default() };
        let selected = all_rows(&params, vec![asked("ann", 20, true)]);
        let test = selected.specific.iter().filter(|row| row.split == Split::Test).count() as u64;
        assert_eq!(test, selected.tallies[&Language::En].removed, "the removed questions are the test data");
        assert!(selected.tallies[&Language::En].specific.alike > 0, "they are similar to training data");
        assert!(selected.rejects.is_empty());
    }
}
