//! From what was made about every role to the rows: the highest confidence, clean answers, no question twice (Appendix C; D, 5).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::cleaning::fault;
use super::splits::{self, Sides};
use super::{Made, Params, SplitRule};
use crate::schema::{Confidence, Language, Reject, RoleGeneral, RoleProfile, RoleSpecific, RoleTally, Split};
use crate::text::duplicates::{Keep, duplicates};
use crate::text::{has_name, is_han, is_name};

/// The rows of the stage.
#[derive(Debug, Clone, Default)]
pub struct Harvest {
    /// Rows of `roles`.
    pub roles: Vec<RoleProfile>,
    /// Rows of `role_specific`.
    pub specific: Vec<RoleSpecific>,
    /// Rows of `role_general`.
    pub general: Vec<RoleGeneral>,
    /// What was left out.
    pub rejects: Vec<Reject>,
    /// Counts by language, of languages that have roles.
    pub tallies: BTreeMap<Language, RoleTally>,
}

/// Makes the rows. Depends on what is given alone, not on its order nor on the number of threads.
#[must_use]
pub fn harvest(params: &Params, seed: u64, mut made: Vec<Made>, threads: NonZeroUsize) -> Harvest {
    made.sort_by(|a, b| a.profile.role_id.cmp(&b.profile.role_id));
    let mut harvest = Harvest::default();
    // What is compared: the questions of a role, or of all roles of a language.
    let mut groups: BTreeMap<(Language, String), Vec<RoleSpecific>> = BTreeMap::new();
    for made in made {
        let language = made.profile.language;
        let tally = harvest.tallies.entry(language).or_default();
        tally.roles += 1;
        tally.candidates += made.candidates.len() as u64;
        let names: Vec<&str> = made.names.iter().map(String::as_str).collect();
        let group = if params.across_roles { String::new() } else { made.profile.role_id.clone() };
        for row in made.candidates {
            match filtered(&row, &names) {
                Some((reason, detail)) => {
                    tally.filtered += 1;
                    harvest.rejects.push(Reject::new("instruct", row.id, reason, detail));
                }
                None => groups.entry((language, group.clone())).or_default().push(row),
            }
        }
        harvest.rejects.extend(made.rejects);
        harvest.general.extend(made.general);
        harvest.roles.push(made.profile);
    }
    let mut removed = Vec::new();
    for ((language, _), rows) in groups {
        let tally = harvest.tallies.entry(language).or_default();
        let (kept, duplicates) = de_duplicated(params, rows, threads);
        tally.removed += duplicates.len() as u64;
        harvest.specific.extend(kept);
        removed.extend(duplicates);
    }
    let rejected = match params.split {
        SplitRule::LeakFree => removed,
        SplitRule::Paper => {
            let (test, rest) = splits::least_alike(params, removed);
            harvest.specific.extend(test.into_iter().map(|(mut row, _)| {
                row.split = Split::Test;
                row
            }));
            rest
        }
    };
    for (row, nearest) in rejected {
        let similarity = row.similarity.unwrap_or_default();
        let detail = format!("its question is alike to that of `{nearest}` ({similarity:.2}): {}", row.question);
        harvest.rejects.push(Reject::new("instruct", row.id, "duplicate", detail));
    }
    Sides::new(params, seed, threads).divide(&mut harvest);
    harvest
}

/// Says why a triplet is no row, with what is wrong.
fn filtered(row: &RoleSpecific, names: &[&str]) -> Option<(&'static str, String)> {
    if row.confidence != Confidence::High {
        return Some(("low_confidence", format!("{} ({})", row.question, row.rationale)));
    }
    if !is_addressed(&row.question, names, row.language) {
        return Some(("not_addressed", row.question.clone()));
    }
    let answer = row.generated.first().map_or("", String::as_str);
    fault(answer, names).map(|fault| (fault.name(), answer.to_owned()))
}

/// Whether a question is put to somebody: it calls one of the names, or a part of one, or says "you".
fn is_addressed(question: &str, names: &[&str], language: Language) -> bool {
    if names.iter().any(|name| name.chars().count() > 1 && has_name(question, name)) {
        return true;
    }
    match language {
        Language::Zh => {
            // 温仲筹 may be called 仲筹.
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

/// Rows with whatever each was too much like.
pub(super) type Removed = Vec<(RoleSpecific, String)>;

/// Returns the rows of a group that are kept, and those that are removed with the ids of the nearest kept ones. Rows are
/// taken by confidence, then by content, so that it does not matter which call made them.
fn de_duplicated(params: &Params, mut rows: Vec<RoleSpecific>, threads: NonZeroUsize) -> (Vec<RoleSpecific>, Removed) {
    rows.sort_by(|a, b| {
        b.confidence
            .cmp(&a.confidence)
            .then_with(|| (&a.question, &a.generated, &a.id).cmp(&(&b.question, &b.generated, &b.id)))
    });
    let questions: Vec<&str> = rows.iter().map(|row| row.question.as_str()).collect();
    let keep = params.threshold.map_or(Keep::Share(params.keep), Keep::Threshold);
    let found = duplicates(&questions, keep, threads);
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let (mut kept, mut removed) = (Vec::new(), Vec::new());
    for (mut row, verdict) in rows.into_iter().zip(found.verdicts) {
        row.similarity = verdict.nearest.map(|_| verdict.similarity);
        if verdict.kept {
            kept.push(row);
        } else {
            let nearest = verdict.nearest.map_or_else(String::new, |nearest| ids[nearest].clone());
            removed.push((row, nearest));
        }
    }
    (kept, removed)
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

    pub(crate) fn harvested(params: &Params, made: Vec<Made>) -> Harvest {
        harvest(params, 7, made, NonZeroUsize::MIN)
    }

    fn reasons(harvest: &Harvest) -> Vec<&str> {
        harvest.rejects.iter().map(|reject| reject.reason.as_str()).collect()
    }

    #[test]
    fn only_the_highest_confidence_stays() {
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
    fn a_third_of_the_questions_is_kept_by_default() {
        assert!((Params::default().keep - 0.34).abs() < 1e-9, "what is left of 66 % removed");
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
        assert!(harvest.rejects.iter().all(|reject| reject.reason == "duplicate" && reject.detail.contains("ann/")));
        let mut other = rows;
        other.reverse();
        let again = harvested(&third, vec![made("ann", other, &[])]);
        assert_eq!(harvest.specific, again.specific, "whatever the order");
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
