//! De-duplicates the questions of a group, and chooses the removed ones that are test data by the paper's rule (Appendix C).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::schema::{Reject, RejectReason, RoleId, RoleSpecific, Split, Stage};
use crate::stages::instruct::params::{Params, SplitRule};
use crate::text::duplicates::{Keep, duplicates};

/// The fields by which questions are ordered and reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) id: &'a str,
    pub(super) role_id: &'a RoleId,
    pub(super) question: &'a str,
    pub(super) answer: &'a str,
}

impl<'a> Key<'a> {
    pub(super) fn of(row: &'a RoleSpecific) -> Self {
        let answer = row.generated.first().map_or("", String::as_str);
        Self { id: &row.id, role_id: &row.role_id, question: &row.question, answer }
    }
}

/// The result for a question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    pub(super) is_kept: bool,
    pub(super) similarity: Option<f64>,
    /// The index of the most similar kept question.
    nearest: Option<usize>,
    /// Its split; `None` if it is dropped.
    pub(super) split: Option<Split>,
}

/// Decides which questions of a group are kept. All have the highest confidence; they are ordered by content, so that
/// it does not matter which call wrote them.
pub(super) fn deduplicate(params: &Params, keys: &[Key<'_>], threads: NonZeroUsize) -> Vec<Verdict> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|index| (keys[*index].question, keys[*index].answer, keys[*index].id));
    let questions: Vec<&str> = order.iter().map(|index| keys[*index].question).collect();
    let keep = params.threshold.map_or(Keep::Share(params.dedup_keep_ratio), Keep::Threshold);
    let found = duplicates(&questions, keep, threads);
    let mut verdicts = vec![Verdict { is_kept: false, similarity: None, nearest: None, split: None }; keys.len()];
    for (index, duplicate) in order.iter().zip(found.verdicts) {
        verdicts[*index] = Verdict {
            is_kept: duplicate.kept,
            similarity: duplicate.nearest.map(|_| duplicate.similarity),
            nearest: duplicate.nearest.map(|nearest| order[nearest]),
            split: duplicate.kept.then_some(Split::Train),
        };
    }
    if params.split == SplitRule::Paper {
        let removed: Vec<RemovedQuestion<'_>> = (0..keys.len())
            .filter(|index| !verdicts[*index].is_kept)
            .map(|index| RemovedQuestion {
                index,
                role_id: keys[index].role_id,
                text: (keys[index].question, keys[index].id),
                similarity: verdicts[index].similarity.unwrap_or_default(),
            })
            .collect();
        for index in least_similar(params, removed) {
            verdicts[index].split = Some(Split::Test);
        }
    }
    verdicts
}

/// Returns rejects for the dropped questions.
pub(super) fn duplicate_rejects<'a>(keys: &'a [Key<'_>], verdicts: &'a [Verdict]) -> impl Iterator<Item = Reject> + 'a {
    keys.iter().zip(verdicts).filter(|(_, verdict)| verdict.split.is_none()).map(|(key, verdict)| {
        let nearest = verdict.nearest.map_or("", |nearest| keys[nearest].id);
        let detail = match verdict.similarity {
            Some(similarity) => {
                format!("its question is similar to that of `{nearest}` ({similarity:.2}): {}", key.question)
            }
            // With a very small share even questions without a similar one are dropped.
            None => {
                format!(
                    "its question has no similar one, but the share `dedup_keep_ratio` is already reached: {}",
                    key.question
                )
            }
        };
        Reject::new(Stage::Instruct, key.id, RejectReason::Duplicate, detail)
    })
}

/// A question removed by de-duplication.
struct RemovedQuestion<'a> {
    /// Its index.
    index: usize,
    /// The id of its role.
    role_id: &'a RoleId,
    /// The question and its id, which break ties.
    text: (&'a str, &'a str),
    /// Its similarity to the kept questions.
    similarity: f64,
}

/// Returns the indexes of the removed questions that are test data by the paper's rule: per role at most `max_test`,
/// the least similar to the kept ones first.
fn least_similar(params: &Params, removed: Vec<RemovedQuestion<'_>>) -> Vec<usize> {
    let mut by_role: BTreeMap<&RoleId, Vec<RemovedQuestion<'_>>> = BTreeMap::new();
    for removed in removed {
        by_role.entry(removed.role_id).or_default().push(removed);
    }
    let most = usize::try_from(params.max_test).unwrap_or(usize::MAX);
    let mut test = Vec::new();
    for mut removed in by_role.into_values() {
        removed.sort_by(|a, b| a.similarity.total_cmp(&b.similarity).then_with(|| a.text.cmp(&b.text)));
        test.extend(removed.into_iter().take(most).map(|removed| removed.index));
    }
    test
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn appendix_c_the_50_least_similar_of_the_removed_are_test_data() {
        let (ann, bo) = (RoleId::from("ann"), RoleId::from("bo"));
        let removed = |count: usize| -> Vec<RemovedQuestion<'_>> {
            let removed = |index| RemovedQuestion {
                index,
                role_id: &ann,
                text: ("Ann?", ""),
                similarity: 1.0 - crate::text::float(index) / 1000.0,
            };
            (0..count).map(removed).collect()
        };
        let test: BTreeSet<usize> = least_similar(&Params::default(), removed(120)).into_iter().collect();
        assert_eq!(test, (70..120).collect(), "those least similar to the kept ones");
        assert_eq!(least_similar(&Params::default(), removed(51)).len(), 50);
        assert_eq!(least_similar(&Params::default(), removed(50)).len(), 50, "50 or fewer are all used");
        let two = removed(60)
            .into_iter()
            .chain(removed(60).into_iter().map(|removed| RemovedQuestion { role_id: &bo, ..removed }));
        assert_eq!(least_similar(&Params::default(), two.collect()).len(), 100, "the limit is per role");
    }
}
