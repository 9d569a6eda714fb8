//! Selects the rows of all roles: highest confidence, clean answers, no duplicate questions (Appendix C; D, 5).

use std::num::NonZeroUsize;

use super::cleaning::fault;
use super::deduplication::{Key, Verdict, deduplicate, duplicate_rejects};
use crate::schema::{Confidence, Language, Reject, RejectReason, RoleGeneral, RoleProfile, RoleSpecific, Stage};
use crate::stages::instruct::params::Params;
use crate::stages::instruct::role_pipeline::RoleOutput;
use crate::text::{has_name, is_han, is_name};

/// The selected rows of one role. Their splits are known once all roles are.
#[derive(Debug, Clone)]
pub struct SelectedRows {
    /// The row of `roles`.
    pub profile: RoleProfile,
    /// Rows of `role_specific`, sorted by id.
    pub specific: Vec<RoleSpecific>,
    /// Rows of `role_general`, sorted by id.
    pub general: Vec<RoleGeneral>,
    /// What was dropped.
    pub rejects: Vec<Reject>,
    pub(super) candidates: u64,
    pub(super) filtered: u64,
    pub(super) removed: u64,
}

/// Filters, cleans and de-duplicates the rows of a role. The result depends on neither their order nor the number of
/// threads.
#[must_use]
pub fn select_rows(params: &Params, output: RoleOutput, threads: NonZeroUsize) -> SelectedRows {
    let RoleOutput { profile, names, candidates, mut general, mut rejects } = output;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (count, mut specific) = (candidates.len() as u64, Vec::new());
    for row in candidates {
        match drop_reason(&row, &names) {
            Some((reason, detail)) => rejects.push(Reject::new(Stage::Instruct, row.id, reason, detail)),
            None => specific.push(row),
        }
    }
    let filtered = count - specific.len() as u64;
    let mut removed = 0;
    if !params.across_roles {
        let keys: Vec<Key<'_>> = specific.iter().map(Key::of).collect();
        let verdicts = deduplicate(params, &keys, threads);
        removed = verdicts.iter().filter(|verdict| !verdict.is_kept).count() as u64;
        rejects.extend(duplicate_rejects(&keys, &verdicts));
        let with_split = |(mut row, verdict): (RoleSpecific, Verdict)| {
            row.similarity = verdict.similarity;
            row.split = verdict.split?;
            Some(row)
        };
        specific = specific.into_iter().zip(verdicts).filter_map(with_split).collect();
    }
    specific.sort_by(|a, b| a.id.cmp(&b.id));
    general.sort_by(|a, b| a.id.cmp(&b.id));
    SelectedRows { profile, specific, general, rejects, candidates: count, filtered, removed }
}

/// Returns why a triplet is dropped, if so, with details.
fn drop_reason(row: &RoleSpecific, names: &[&str]) -> Option<(RejectReason, String)> {
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
            let given_name = |name: &str| name.chars().all(is_han).then(|| name.chars().skip(1).collect::<String>());
            let mut given_names =
                names.iter().filter_map(|name| given_name(name)).filter(|name| name.chars().count() == 2);
            question.contains(['你', '您', '妳']) || given_names.any(|name| question.contains(&name))
        }
        Language::En => question.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| {
            let word = word.to_lowercase();
            word.starts_with("you") && ["you", "your", "yours", "yourself"].contains(&word.as_str())
                || names.iter().any(|name| word.len() > 2 && is_name(&word, name))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{AllRows, all_rows, role_output, row};
    use super::*;

    fn reasons(all: &AllRows) -> Vec<&str> {
        all.rejects.iter().map(|reject| reject.reason.name()).collect()
    }

    #[test]
    fn appendix_c_only_the_highest_confidence_stays() {
        let rows = vec![
            row("ann", 0, "Ann, where is the lamp?", Confidence::High),
            row("ann", 1, "Ann, who rang the bell at noon?", Confidence::Low),
        ];
        let all = all_rows(&Params { dedup_keep_ratio: 1.0, ..Params::default() }, vec![role_output("ann", rows, &[])]);
        assert_eq!(all.specific.len(), 1);
        assert_eq!(reasons(&all), ["low_confidence"]);
        let tally = all.tallies[&Language::En];
        assert_eq!((tally.candidates, tally.filtered, tally.removed), (2, 1, 0));
    }

    #[test]
    fn a_question_must_address_the_role() {
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
    fn an_unclean_answer_is_rejected() {
        let mut bad = row("ann", 0, "Ann, where is the lamp?", Confidence::High);
        bad.generated = vec!["As an AI language model I have no lamp.".to_owned()];
        assert_eq!(reasons(&all_rows(&Params::default(), vec![role_output("ann", vec![bad], &[])])), ["reveals_model"]);
    }

    #[test]
    fn appendix_c_a_third_of_the_questions_is_kept_by_default() {
        assert!((Params::default().dedup_keep_ratio - 0.34).abs() < 1e-9, "the rest after removing 66 %");
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
        let third = Params { dedup_keep_ratio: 0.33, ..Params::default() };
        let all = all_rows(&third, vec![role_output("ann", rows.clone(), &[])]);
        assert_eq!((all.specific.len(), reasons(&all).len()), (9, 18));
        assert!(
            all.rejects.iter().all(|reject| reject.reason == RejectReason::Duplicate && reject.detail.contains("ann/"))
        );
        let mut other = rows;
        other.reverse();
        let again = all_rows(&third, vec![role_output("ann", other, &[])]);
        assert_eq!(all.specific, again.specific, "the order does not matter");
        let threshold = Params { threshold: Some(0.95), ..Params::default() };
        assert!(all_rows(&threshold, vec![role_output("ann", again.specific, &[])]).rejects.is_empty());
    }

    #[test]
    fn questions_to_other_roles_count_when_asked_for() {
        let asked = |role: &str| {
            role_output(role, vec![row(role, 0, "What do you keep in the cellar at night?", Confidence::High)], &[])
        };
        let params = Params { threshold: Some(0.9), ..Params::default() };
        assert_eq!(all_rows(&params, vec![asked("ann"), asked("bo")]).specific.len(), 2);
        let params = Params { across_roles: true, ..params };
        assert_eq!(all_rows(&params, vec![asked("ann"), asked("bo")]).specific.len(), 1);
    }
}
