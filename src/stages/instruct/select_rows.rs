//! Selects the rows of all roles: highest confidence, clean answers, no duplicate questions (Appendix C; D, 5).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::cleaning::fault;
use super::params::{Params, SplitRule};
use super::role_pipeline::Made;
use super::splits::{self, Gone};
use crate::schema::{
    Confidence, Language, Reject, RejectReason, RoleGeneral, RoleProfile, RoleSpecific, RoleTally, Split, Stage,
};
use crate::text::duplicates::{Keep, duplicates};
use crate::text::{has_name, is_han, is_name};

/// The selected rows of one role. Their splits are known once all roles are.
#[derive(Debug, Clone)]
pub struct Gleaned {
    /// The row of `roles`.
    pub profile: RoleProfile,
    /// Rows of `role_specific`, sorted by id.
    pub specific: Vec<RoleSpecific>,
    /// Rows of `role_general`, sorted by id.
    pub general: Vec<RoleGeneral>,
    /// What was dropped.
    pub rejects: Vec<Reject>,
    candidates: u64,
    filtered: u64,
    removed: u64,
}

/// Filters, cleans and de-duplicates the rows of a role. The result depends on neither their order nor the number of
/// threads.
#[must_use]
pub fn glean(params: &Params, made: Made, threads: NonZeroUsize) -> Gleaned {
    let Made { profile, names, candidates, mut general, mut rejects } = made;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (count, mut specific) = (candidates.len() as u64, Vec::new());
    for row in candidates {
        match filtered(&row, &names) {
            Some((reason, detail)) => rejects.push(Reject::new(Stage::Instruct, row.id, reason, detail)),
            None => specific.push(row),
        }
    }
    let filtered = count - specific.len() as u64;
    let mut removed = 0;
    if !params.across_roles {
        let keys: Vec<Key<'_>> = specific.iter().map(Key::of).collect();
        let fates = sift(params, &keys, threads);
        removed = fates.iter().filter(|fate| !fate.is_kept).count() as u64;
        rejects.extend(duplicate_rejects(&keys, &fates));
        let sided = |(mut row, fate): (RoleSpecific, Fate)| {
            row.similarity = fate.similarity;
            row.split = fate.split?;
            Some(row)
        };
        specific = specific.into_iter().zip(fates).filter_map(sided).collect();
    }
    specific.sort_by(|a, b| a.id.cmp(&b.id));
    general.sort_by(|a, b| a.id.cmp(&b.id));
    Gleaned { profile, specific, general, rejects, candidates: count, filtered, removed }
}

/// What is kept in memory of all roles to compare them: the questions, and which instructions each role answered. The
/// rows themselves are kept by the caller.
#[derive(Debug)]
pub struct Harvest {
    pub(super) params: Params,
    pub(super) seed: u64,
    pub(super) threads: NonZeroUsize,
    /// Languages by role id.
    pub(super) roles: BTreeMap<String, Language>,
    pub(super) asked: Vec<Asked>,
    /// Instructions: language, id, text.
    pub(super) instructions: Vec<(Language, String, String)>,
    numbers: BTreeMap<(Language, String), u32>,
    /// By role id: indexes into `instructions`.
    pub(super) carried_out: BTreeMap<String, Vec<u32>>,
    pub(super) tallies: BTreeMap<Language, RoleTally>,
}

/// A question that may become a row.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) id: String,
    pub(super) role_id: String,
    pub(super) language: Language,
    pub(super) question: String,
    /// Empty if it is not needed as a tie-breaker.
    answer: String,
    pub(super) similarity: Option<f64>,
    pub(super) split: Split,
}

impl Harvest {
    /// Creates an empty harvest.
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
    pub fn add(&mut self, gleaned: &Gleaned) {
        let RoleProfile { role_id, language, .. } = &gleaned.profile;
        let tally = self.tallies.entry(*language).or_default();
        tally.roles += 1;
        tally.candidates += gleaned.candidates;
        tally.filtered += gleaned.filtered;
        tally.removed += gleaned.removed;
        self.roles.insert(role_id.clone(), *language);
        let across = self.params.across_roles;
        self.asked.extend(gleaned.specific.iter().map(|row| Asked {
            id: row.id.clone(),
            role_id: row.role_id.clone(),
            language: row.language,
            question: row.question.clone(),
            answer: if across { row.generated.concat() } else { String::new() },
            similarity: row.similarity,
            split: row.split,
        }));
        for row in &gleaned.general {
            let next = u32::try_from(self.instructions.len()).expect("there are fewer than 2^32 instructions");
            let number = *self.numbers.entry((row.language, row.instruction.clone())).or_insert_with(|| {
                self.instructions.push((row.language, row.instruction.clone(), row.question.clone()));
                next
            });
            self.carried_out.entry(row.role_id.clone()).or_default().push(number);
        }
    }

    /// Removes duplicate questions among all roles of a language, and returns their rejects.
    pub(super) fn sift_across(&mut self) -> Vec<Reject> {
        let mut rejects = Vec::new();
        let mut asked = std::mem::take(&mut self.asked);
        for language in Language::ALL {
            let (own, others): (Vec<Asked>, Vec<Asked>) = asked.into_iter().partition(|one| one.language == language);
            asked = others;
            let keys: Vec<Key<'_>> = own
                .iter()
                .map(|one| Key { id: &one.id, role_id: &one.role_id, question: &one.question, answer: &one.answer })
                .collect();
            let fates = sift(&self.params, &keys, self.threads);
            rejects.extend(duplicate_rejects(&keys, &fates));
            if let Some(tally) = self.tallies.get_mut(&language) {
                tally.removed += fates.iter().filter(|fate| !fate.is_kept).count() as u64;
            }
            self.asked.extend(own.into_iter().zip(fates).filter_map(|(mut one, fate)| {
                one.similarity = fate.similarity;
                one.split = fate.split?;
                Some(one)
            }));
        }
        rejects
    }
}

/// Returns why a triplet is dropped, if so, with details.
fn filtered(row: &RoleSpecific, names: &[&str]) -> Option<(RejectReason, String)> {
    if row.confidence != Confidence::High {
        return Some((RejectReason::LowConfidence, format!("{} ({})", row.question, row.rationale)));
    }
    if !is_addressed(&row.question, names, row.language) {
        return Some((RejectReason::NotAddressed, row.question.clone()));
    }
    let answer = row.generated.first().map_or("", String::as_str);
    fault(answer, names).map(|fault| (fault.reason(), answer.to_owned()))
}

/// Whether a question addresses the role: by one of the names, a part of one, or "you".
fn is_addressed(question: &str, names: &[&str], language: Language) -> bool {
    if names.iter().any(|name| name.chars().count() > 1 && has_name(question, name)) {
        return true;
    }
    match language {
        Language::Zh => {
            // 温仲筹 may be addressed as 仲筹.
            let given = |name: &str| name.chars().all(is_han).then(|| name.chars().skip(1).collect::<String>());
            let given = names.iter().filter_map(|name| given(name)).filter(|name| name.chars().count() == 2);
            question.contains(['你', '您', '妳']) || given.into_iter().any(|name| question.contains(&name))
        }
        Language::En => question.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| {
            let word = word.to_lowercase();
            word.starts_with("you") && ["you", "your", "yours", "yourself"].contains(&word.as_str())
                || names.iter().any(|name| word.len() > 2 && is_name(&word, name))
        }),
    }
}

/// The fields by which questions are ordered and reported.
#[derive(Debug, Clone, Copy)]
struct Key<'a> {
    id: &'a str,
    role_id: &'a str,
    question: &'a str,
    answer: &'a str,
}

impl<'a> Key<'a> {
    fn of(row: &'a RoleSpecific) -> Self {
        let answer = row.generated.first().map_or("", String::as_str);
        Self { id: &row.id, role_id: &row.role_id, question: &row.question, answer }
    }
}

/// The result for a question.
#[derive(Debug, Clone, Copy)]
struct Fate {
    is_kept: bool,
    similarity: Option<f64>,
    /// The index of the most similar kept question.
    nearest: Option<usize>,
    /// Its split; `None` if it is dropped.
    split: Option<Split>,
}

/// Decides which questions of a group are kept. All have the highest confidence; they are ordered by content, so that
/// it does not matter which call wrote them.
fn sift(params: &Params, keys: &[Key<'_>], threads: NonZeroUsize) -> Vec<Fate> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|place| (keys[*place].question, keys[*place].answer, keys[*place].id));
    let questions: Vec<&str> = order.iter().map(|place| keys[*place].question).collect();
    let keep = params.threshold.map_or(Keep::Share(params.keep), Keep::Threshold);
    let found = duplicates(&questions, keep, threads);
    let mut fates = vec![Fate { is_kept: false, similarity: None, nearest: None, split: None }; keys.len()];
    for (place, verdict) in order.iter().zip(found.verdicts) {
        fates[*place] = Fate {
            is_kept: verdict.kept,
            similarity: verdict.nearest.map(|_| verdict.similarity),
            nearest: verdict.nearest.map(|nearest| order[nearest]),
            split: verdict.kept.then_some(Split::Train),
        };
    }
    if params.split == SplitRule::Paper {
        let gone: Vec<Gone<'_>> = (0..keys.len())
            .filter(|place| !fates[*place].is_kept)
            .map(|place| Gone {
                place,
                role_id: keys[place].role_id,
                text: (keys[place].question, keys[place].id),
                similarity: fates[place].similarity.unwrap_or_default(),
            })
            .collect();
        for place in splits::least_alike(params, gone) {
            fates[place].split = Some(Split::Test);
        }
    }
    fates
}

fn duplicate_rejects<'a>(keys: &'a [Key<'_>], fates: &'a [Fate]) -> impl Iterator<Item = Reject> + 'a {
    keys.iter().zip(fates).filter(|(_, fate)| fate.split.is_none()).map(|(key, fate)| {
        let nearest = fate.nearest.map_or("", |nearest| keys[nearest].id);
        let detail = match fate.similarity {
            Some(similarity) => {
                format!("its question is similar to that of `{nearest}` ({similarity:.2}): {}", key.question)
            }
            // With a very small share even questions without a similar one are dropped.
            None => {
                format!("its question has no similar one, but the share `keep` is already reached: {}", key.question)
            }
        };
        Reject::new(Stage::Instruct, key.id, RejectReason::Duplicate, detail)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::schema::{Form, TripletKind};

    pub(crate) fn row(role: &str, n: usize, question: &str, confidence: Confidence) -> RoleSpecific {
        RoleSpecific {
            id: format!("{role}/description/0/{n}"),
            role: role.to_owned(),
            language: Language::En,
            kind: TripletKind::ScriptAgnostic,
            question: question.to_owned(),
            generated: vec!["So it is.".to_owned()],
            confidence,
            rationale: "It is known.".to_owned(),
            segment: "description".to_owned(),
            similarity: None,
            model: "m".to_owned(),
            role_id: role.to_owned(),
            role_split: None,
            split: Split::Train,
        }
    }

    pub(crate) fn made(role: &str, candidates: Vec<RoleSpecific>, instructions: &[&str]) -> Made {
        let general = instructions.iter().map(|instruction| RoleGeneral {
            id: format!("{role}/general/{instruction}"),
            role: role.to_owned(),
            language: Language::En,
            question: (*instruction).to_owned(),
            answer: "Plain.".to_owned(),
            generated: vec!["Aye.".to_owned()],
            baseline: None,
            form: Form::FewShotDialogue,
            model: "m".to_owned(),
            role_id: role.to_owned(),
            instruction: (*instruction).to_owned(),
            role_split: None,
            split: Split::Train,
        });
        let profile = RoleProfile {
            role: role.to_owned(),
            language: Language::En,
            source: "a-book".to_owned(),
            description: "You are.".to_owned(),
            catchphrases: Vec::new(),
            rounds: 0,
            turns: 0,
            role_id: role.to_owned(),
            portrait: "The character is.".to_owned(),
            distinctness: None,
            role_split: Split::Train,
            dialogue: Vec::new(),
            model: "m".to_owned(),
        };
        Made { profile, names: vec![role.to_owned()], candidates, general: general.collect(), rejects: Vec::new() }
    }

    /// The rows of all roles with their splits.
    pub(crate) struct Harvested {
        pub(crate) roles: Vec<RoleProfile>,
        pub(crate) specific: Vec<RoleSpecific>,
        pub(crate) general: Vec<RoleGeneral>,
        pub(crate) rejects: Vec<Reject>,
        pub(crate) tallies: BTreeMap<Language, RoleTally>,
    }

    pub(crate) fn harvested(params: &Params, made: Vec<Made>) -> Harvested {
        let mut harvest = Harvest::new(params.clone(), 7, NonZeroUsize::MIN);
        let all: Vec<Gleaned> = made.into_iter().map(|made| glean(params, made, NonZeroUsize::MIN)).collect();
        for gleaned in &all {
            harvest.add(gleaned);
        }
        let sides = harvest.divide();
        let mut rows = Harvested {
            roles: Vec::new(),
            specific: Vec::new(),
            general: Vec::new(),
            rejects: sides.rejects().to_vec(),
            tallies: sides.tallies().clone(),
        };
        for gleaned in all {
            rows.roles.push(sides.profile(gleaned.profile));
            rows.specific.extend(sides.specific(gleaned.specific));
            rows.general.extend(sides.general(gleaned.general));
            rows.rejects.extend(gleaned.rejects);
        }
        rows.specific.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(rows.specific.len() as u64, sides.specific_rows());
        rows
    }

    fn reasons(harvest: &Harvested) -> Vec<&str> {
        harvest.rejects.iter().map(|reject| reject.reason.name()).collect()
    }

    #[test]
    fn appendix_c_only_the_highest_confidence_stays() {
        let rows = vec![
            row("ann", 0, "Ann, where is the lamp?", Confidence::High),
            row("ann", 1, "Ann, who rang the bell at noon?", Confidence::Low),
        ];
        let harvest = harvested(&Params { keep: 1.0, ..Params::default() }, vec![made("ann", rows, &[])]);
        assert_eq!(harvest.specific.len(), 1);
        assert_eq!(reasons(&harvest), ["low_confidence"]);
        let tally = harvest.tallies[&Language::En];
        assert_eq!((tally.candidates, tally.filtered, tally.removed), (2, 1, 0));
    }

    #[test]
    fn a_question_is_put_to_the_role() {
        for (question, language, expected) in [
            ("Keziah Marl, what is the price?", Language::En, true),
            ("What would you do, ferrywoman?", Language::En, true),
            ("Marl, is it late?", Language::En, true),
            ("What does the youngest charge?", Language::En, false),
            ("温仲筹，账对了没有？", Language::Zh, true),
            ("你怕什么？", Language::Zh, true),
            ("账房先生怕什么？", Language::Zh, false),
        ] {
            assert_eq!(is_addressed(question, &["Keziah Marl", "温仲筹"], language), expected, "{question}");
        }
    }

    #[test]
    fn an_unclean_answer_is_no_row() {
        let mut bad = row("ann", 0, "Ann, where is the lamp?", Confidence::High);
        bad.generated = vec!["As an AI language model I have no lamp.".to_owned()];
        assert_eq!(reasons(&harvested(&Params::default(), vec![made("ann", vec![bad], &[])])), ["reveals_model"]);
    }

    #[test]
    fn appendix_c_a_third_of_the_questions_is_kept_by_default() {
        assert!((Params::default().keep - 0.34).abs() < 1e-9, "the rest after removing 66 %");
        let things = ["lamp", "ferry", "ledger", "bell", "umbrella", "causeway", "barrel", "hymn", "anchor"];
        let rows: Vec<RoleSpecific> = things
            .iter()
            .flat_map(|thing| {
                [
                    format!("Ann, what became of the {thing} in the end?"),
                    format!("Ann, what became of the old {thing} in the end?"),
                    format!("Ann, in the end, what became of the {thing}?"),
                ]
            })
            .enumerate()
            .map(|(n, question)| row("ann", n, &question, Confidence::High))
            .collect();
        let third = Params { keep: 0.33, ..Params::default() };
        let harvest = harvested(&third, vec![made("ann", rows.clone(), &[])]);
        assert_eq!((harvest.specific.len(), reasons(&harvest).len()), (9, 18));
        assert!(
            harvest
                .rejects
                .iter()
                .all(|reject| reject.reason == RejectReason::Duplicate && reject.detail.contains("ann/"))
        );
        let mut other = rows;
        other.reverse();
        let again = harvested(&third, vec![made("ann", other, &[])]);
        assert_eq!(harvest.specific, again.specific, "the order does not matter");
        let threshold = Params { threshold: Some(0.95), ..Params::default() };
        assert!(harvested(&threshold, vec![made("ann", again.specific, &[])]).rejects.is_empty());
    }

    #[test]
    fn questions_to_other_roles_count_when_asked_for() {
        let asked = |role: &str| {
            made(role, vec![row(role, 0, "What do you keep in the cellar at night?", Confidence::High)], &[])
        };
        let params = Params { threshold: Some(0.9), ..Params::default() };
        assert_eq!(harvested(&params, vec![asked("ann"), asked("bo")]).specific.len(), 2);
        let params = Params { across_roles: true, ..params };
        assert_eq!(harvested(&params, vec![asked("ann"), asked("bo")]).specific.len(), 1);
    }
}
