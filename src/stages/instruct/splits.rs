//! Who is on which side: by instruction and by role (Appendix G), leak-free or by the paper's rule (Appendix C).

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use rand::Rng as _;

use super::harvest::Removed;
use super::{Harvest, Params, SplitRule};
use crate::schema::{Language, RoleSpecific, Split};
use crate::seed::seeded;
use crate::text::duplicates::families;

/// Divides rows into sides.
#[derive(Debug)]
pub(super) struct Sides<'a> {
    params: &'a Params,
    seed: u64,
    threads: NonZeroUsize,
}

/// Returns the removed rows that are test data by the paper's rule, and the others: of each role all, or the least alike to
/// what was kept where there are more than a bound.
pub(super) fn least_alike(params: &Params, removed: Removed) -> (Removed, Removed) {
    let mut by_role: BTreeMap<String, Removed> = BTreeMap::new();
    for row in removed {
        by_role.entry(row.0.role_id.clone()).or_default().push(row);
    }
    let most = usize::try_from(params.max_test).unwrap_or(usize::MAX);
    let (mut test, mut rest) = (Vec::new(), Vec::new());
    for mut rows in by_role.into_values() {
        let similarity = |row: &RoleSpecific| row.similarity.unwrap_or_default();
        rows.sort_by(|(a, _), (b, _)| {
            similarity(a).total_cmp(&similarity(b)).then_with(|| (&a.question, &a.id).cmp(&(&b.question, &b.id)))
        });
        rest.extend(rows.split_off(most.min(rows.len())));
        test.extend(rows);
    }
    (test, rest)
}

impl<'a> Sides<'a> {
    pub(super) const fn new(params: &'a Params, seed: u64, threads: NonZeroUsize) -> Self {
        Self { params, seed, threads }
    }

    /// Gives every row its sides, and counts what is alike across them.
    pub(super) fn divide(&self, harvest: &mut Harvest) {
        for language in Language::ALL {
            let held_out = self.held_out(harvest, language);
            self.general(harvest, language, &held_out);
            self.specific(harvest, language, &held_out);
            if let Some(tally) = harvest.tallies.get_mut(&language) {
                tally.held_out = held_out.len() as u64;
            }
        }
        harvest.roles.sort_by(|a, b| a.role_id.cmp(&b.role_id));
        harvest.specific.sort_by(|a, b| a.id.cmp(&b.id));
        harvest.general.sort_by(|a, b| a.id.cmp(&b.id));
    }

    /// Returns the ids of the roles of a language that are held out: those that come first in an order that the seed gives each
    /// of them, so that a further role moves no other but at the bound. One at least, where there are two.
    fn held_out(&self, harvest: &mut Harvest, language: Language) -> BTreeSet<String> {
        let roles = harvest.roles.iter().filter(|role| role.language == language);
        let mut order: Vec<(u64, String)> =
            roles.map(|role| (self.rank("role", language, &role.role_id), role.role_id.clone())).collect();
        order.sort();
        let every = self.params.test_every_role as usize;
        let count = (order.len() + every / 2) / every.max(1);
        let count = count.max(usize::from(order.len() > 1));
        let held_out: BTreeSet<String> = order.into_iter().take(count).map(|(_, id)| id).collect();
        for role in harvest.roles.iter_mut().filter(|role| role.language == language) {
            role.role_split = if held_out.contains(&role.role_id) { Split::Test } else { Split::Train };
        }
        held_out
    }

    /// Divides general rows: an instruction is on one side for all roles.
    fn general(&self, harvest: &mut Harvest, language: Language, held_out: &BTreeSet<String>) {
        let own = harvest.general.iter().filter(|row| row.language == language);
        let texts: BTreeMap<&str, &str> = own.map(|row| (row.instruction.as_str(), row.question.as_str())).collect();
        let ids: Vec<String> = texts.keys().map(|id| (*id).to_owned()).collect();
        let families = self.families(language, &texts.values().copied().collect::<Vec<_>>());
        let test: BTreeSet<&String> = {
            let rows: Vec<(&str, &str)> = ids.iter().map(|id| ("", id.as_str())).collect();
            let sides = self.drawn(language, "instruction", &rows, &families);
            ids.iter().zip(sides).filter(|(_, test)| *test).map(|(id, _)| id).collect()
        };
        let is_leak_free = self.params.split == SplitRule::LeakFree;
        let mut left: BTreeMap<String, u32> = BTreeMap::new();
        let mut rows: Vec<_> = harvest.general.iter_mut().filter(|row| row.language == language).collect();
        // Who is held out shows a sample, which the seed draws.
        rows.sort_by_key(|row| (self.rank("held out", language, &row.id), row.id.clone()));
        for row in rows {
            let in_test = test.contains(&row.instruction);
            row.split = if in_test { Split::Test } else { Split::Train };
            row.role_split = match (held_out.contains(&row.role_id), in_test) {
                (true, in_test) if in_test || !is_leak_free => {
                    let left = left.entry(row.role_id.clone()).or_insert(self.params.held_out_general);
                    (*left > 0).then(|| {
                        *left -= 1;
                        Split::Test
                    })
                }
                (false, in_test) if !(in_test && is_leak_free) => Some(Split::Train),
                _ => None,
            };
        }
        let family: BTreeMap<&String, usize> = ids.iter().zip(families).collect();
        let rows: Vec<_> = harvest.general.iter().filter(|row| row.language == language).collect();
        let of = |split: Option<Split>, by_role: bool| {
            let is = |row: &&&crate::schema::RoleGeneral| {
                if by_role { row.role_split == split } else { Some(row.split) == split }
            };
            rows.iter().filter(is).map(|row| family[&row.instruction]).collect::<Vec<usize>>()
        };
        let shared = |by_role| {
            let train: BTreeSet<usize> = of(Some(Split::Train), by_role).into_iter().collect();
            of(Some(Split::Test), by_role).into_iter().filter(|family| train.contains(family)).count() as u64
        };
        let (general, by_role) = (shared(false), shared(true));
        if let Some(tally) = harvest.tallies.get_mut(&language) {
            tally.shared_general += general;
            tally.shared_by_role += by_role;
        }
    }

    /// Divides role-specific rows: of each role one in so many, whole families at once; by the paper's rule they are divided
    /// already.
    fn specific(&self, harvest: &mut Harvest, language: Language, held_out: &BTreeSet<String>) {
        let mut rows: Vec<&mut RoleSpecific> =
            harvest.specific.iter_mut().filter(|row| row.language == language).collect();
        rows.sort_by(|a, b| (&a.role_id, &a.question, &a.id).cmp(&(&b.role_id, &b.question, &b.id)));
        let questions: Vec<&str> = rows.iter().map(|row| row.question.as_str()).collect();
        let families = self.families(language, &questions);
        let is_leak_free = self.params.split == SplitRule::LeakFree;
        if is_leak_free {
            let keys: Vec<(&str, &str)> =
                rows.iter().map(|row| (row.role_id.as_str(), row.question.as_str())).collect();
            let sides = self.drawn(language, "question", &keys, &families);
            for (row, test) in rows.iter_mut().zip(sides) {
                row.split = if test { Split::Test } else { Split::Train };
            }
        }
        let held: BTreeSet<usize> = rows
            .iter()
            .zip(&families)
            .filter(|(row, _)| held_out.contains(&row.role_id))
            .map(|(_, family)| *family)
            .collect();
        for (row, family) in rows.iter_mut().zip(&families) {
            row.role_split = match (held_out.contains(&row.role_id), held.contains(family)) {
                (true, _) => Some(Split::Test),
                (false, true) if is_leak_free => None,
                (false, _) => Some(Split::Train),
            };
        }
        let on = |side: Split| -> BTreeSet<usize> {
            rows.iter().zip(&families).filter(|(row, _)| row.split == side).map(|(_, family)| *family).collect()
        };
        let train = on(Split::Train);
        let shared = rows
            .iter()
            .zip(&families)
            .filter(|(row, family)| row.split == Split::Test && train.contains(family))
            .count();
        let trained: BTreeSet<usize> = rows
            .iter()
            .zip(&families)
            .filter(|(row, _)| row.role_split == Some(Split::Train))
            .map(|(_, family)| *family)
            .collect();
        let by_role = rows
            .iter()
            .zip(&families)
            .filter(|(row, family)| row.role_split == Some(Split::Test) && trained.contains(family))
            .count();
        if let Some(tally) = harvest.tallies.get_mut(&language) {
            tally.shared_specific += shared as u64;
            tally.shared_by_role += by_role as u64;
        }
    }

    /// Returns the family of each text: texts that are alike, over any number of steps, are of one.
    fn families(&self, language: Language, texts: &[&str]) -> Vec<usize> {
        families(texts, *self.params.near.get(language), self.threads)
    }

    /// Says of each row, given as (group, key), whether it is held out: of each group one in so many, in an order that the seed
    /// gives, a whole family at a time. Groups of fewer than two families hold out nothing of their own.
    fn drawn(&self, language: Language, what: &str, rows: &[(&str, &str)], families: &[usize]) -> Vec<bool> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, (group, _)) in rows.iter().enumerate() {
            groups.entry(group).or_default().push(place);
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, family) in families.iter().enumerate() {
            members.entry(*family).or_default().push(place);
        }
        let mut sides: Vec<Option<bool>> = vec![None; rows.len()];
        for (group, mut places) in groups {
            let every = self.params.test_every_instruction as usize;
            let own: BTreeSet<usize> = places.iter().map(|place| families[*place]).collect();
            let target = if own.len() < 2 { 0 } else { ((places.len() + every / 2) / every.max(1)).max(1) };
            places.sort_by_key(|place| (self.rank(what, language, &format!("{group}/{}", rows[*place].1)), *place));
            for place in &places {
                let held = places.iter().filter(|place| sides[**place] == Some(true)).count();
                let family = &members[&families[*place]];
                // A family that would take far more than its part is for training.
                let fits = held < target && held + family.len() <= target + every;
                if sides[*place].is_none() {
                    for member in family {
                        sides[*member] = Some(fits);
                    }
                }
            }
        }
        sides.into_iter().map(|side| side.unwrap_or(false)).collect()
    }

    fn rank(&self, what: &str, language: Language, id: &str) -> u64 {
        seeded(self.seed, &["instruct", "split", what, language.code(), id]).next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::super::harvest::tests::{harvested, made, row};
    use super::*;
    use crate::schema::Confidence;

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

    fn asked(role: &str, count: usize, near: bool) -> super::super::Made {
        let verbs = ["bury", "sell", "fear", "paint", "borrow", "mend", "praise", "hide", "weigh", "forget"];
        let rows = (0..count).map(|n| {
            let (thing, verb) = (THINGS[n % 20], verbs[(n / 2 + n) % 10]);
            let again = if near && n % 2 == 1 { THINGS[n - 1] } else { thing };
            let verb = if near && n % 2 == 1 { verbs[((n - 1) / 2 + n - 1) % 10] } else { verb };
            let tail = if near && n % 2 == 1 { " now" } else { "" };
            row(role, n, &format!("{role}, did you ever {verb} a {again}{tail}?"), Confidence::High)
        });
        made(role, rows.collect(), &THINGS)
    }

    fn open() -> Params {
        Params { keep: 1.0, ..Params::default() }
    }

    #[test]
    fn appendix_g_the_split_by_instruction_is_4_to_1() {
        let harvest = harvested(&open(), vec![asked("ann", 20, false), asked("bo", 20, false)]);
        let test =
            |role: &str| harvest.specific.iter().filter(|row| row.role_id == role && row.split == Split::Test).count();
        assert_eq!((harvest.specific.len(), test("ann"), test("bo")), (40, 4, 4));
        let held: BTreeSet<&str> =
            harvest.general.iter().filter(|row| row.split == Split::Test).map(|row| row.question.as_str()).collect();
        assert_eq!(held.len(), 4);
        assert!(harvest.general.iter().all(|row| held.contains(row.question.as_str()) == (row.split == Split::Test)));
    }

    #[test]
    fn appendix_g_the_split_by_role_is_8_to_1() {
        let roles: Vec<String> = (0..18).map(|n| format!("role{n}")).collect();
        let made = || roles.iter().map(|role| asked(role, 4, false)).collect::<Vec<_>>();
        let harvest = harvested(&open(), made());
        let held: BTreeSet<&str> = harvest
            .roles
            .iter()
            .filter(|role| role.role_split == Split::Test)
            .map(|role| role.role_id.as_str())
            .collect();
        assert_eq!(held.len(), 2);
        assert_eq!(harvest.tallies[&Language::En].held_out, 2);
        assert!(
            harvest
                .specific
                .iter()
                .all(|row| (row.role_split == Some(Split::Test)) == held.contains(row.role_id.as_str()))
        );
        // Leak-free: what is held out with a role is an instruction that no role for training has.
        let of = |side| -> BTreeSet<&str> {
            harvest.general.iter().filter(|row| row.role_split == Some(side)).map(|row| row.question.as_str()).collect()
        };
        assert!(of(Split::Train).is_disjoint(&of(Split::Test)));
        let paper = Params { split: SplitRule::Paper, held_out_general: 7, ..open() };
        let harvest = harvested(&paper, made());
        let shown = harvest.general.iter().filter(|row| row.role_split == Some(Split::Test)).count();
        assert_eq!(shown, 14, "so many of each role that is held out");
        assert_eq!(harvest.tallies[&Language::En].shared_by_role, 14, "and the overlap is told");
    }

    #[test]
    fn a_leak_free_split_parts_no_family() {
        let params = Params { near: crate::schema::ByLanguage { en: 0.6, zh: 0.5 }, ..open() };
        let harvest = harvested(&params, vec![asked("ann", 20, true)]);
        let tally = harvest.tallies[&Language::En];
        assert_eq!((tally.shared_specific, tally.shared_general, tally.shared_by_role), (0, 0, 0));
        let side = |n: usize| {
            let id = format!("ann/description/0/{n}");
            harvest.specific.iter().find(|row| row.id == id).map(|row| row.split)
        };
        assert!((0..10).all(|pair| side(2 * pair) == side(2 * pair + 1)), "near-duplicates stand together");
        assert!(harvest.specific.iter().any(|row| row.split == Split::Test));
    }

    #[test]
    fn appendix_c_the_50_least_similar_of_the_removed_are_test_data() {
        let removed = |count: usize| -> Vec<(RoleSpecific, String)> {
            (0..count)
                .map(|n| {
                    let mut row = row("ann", n, &format!("Ann, number {n}?"), Confidence::High);
                    row.similarity = Some(1.0 - crate::text::float(n) / 1000.0);
                    (row, String::new())
                })
                .collect()
        };
        let (test, rest) = least_alike(&Params::default(), removed(120));
        assert_eq!((test.len(), rest.len()), (50, 70));
        let bound = test.iter().map(|(row, _)| row.similarity.unwrap()).fold(0.0, f64::max);
        assert!(rest.iter().all(|(row, _)| row.similarity.unwrap() > bound));
        let (test, rest) = least_alike(&Params::default(), removed(50));
        assert_eq!((test.len(), rest.len()), (50, 0), "no more than 50: all of them");
    }

    #[test]
    fn the_papers_split_tells_its_overlap() {
        let params = Params { split: SplitRule::Paper, keep: 0.5, ..Params::default() };
        let harvest = harvested(&params, vec![asked("ann", 20, true)]);
        let test = harvest.specific.iter().filter(|row| row.split == Split::Test).count() as u64;
        assert_eq!(test, harvest.tallies[&Language::En].removed, "removed ones are the test data");
        assert!(harvest.tallies[&Language::En].shared_specific > 0, "and they are alike to training data");
        assert!(harvest.rejects.is_empty());
    }
}
