//! Which roles get role data: the characters of files and of the run, and the best of each book.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::{Runner, Tasks};
use super::sources::Cast;
use crate::pipeline::error::RunError;
use crate::pipeline::records::Records;
use crate::schema::{Distinctness, Language, Reject, RejectReason, RoleId, Stage};
use crate::stages::instruct::{self, Role};

/// Minimum number of roles or sources processed in parallel.
const LEAST_AT_ONCE: usize = 8;
/// Maximum number processed in parallel, since each holds its dialogue in memory.
const MOST_AT_ONCE: usize = 64;

/// A selected role.
#[derive(Debug, Clone)]
pub(super) struct SelectedRole {
    /// Index of its source.
    pub(super) source: usize,
    pub(super) id: RoleId,
    pub(super) language: Language,
    /// The slug of its book or script.
    pub(super) book: String,
    pub(super) own_turns: u32,
    /// `None` for characters of files and of the run, which are not graded.
    pub(super) grade: Option<Distinctness>,
    pub(super) calls: u64,
}

impl Runner {
    /// Returns how many sources or roles are processed in parallel.
    pub(super) fn roles_at_once(&self) -> usize {
        (self.conversations_at_once() as usize / 8).clamp(LEAST_AT_ONCE, MOST_AT_ONCE)
    }

    /// Selects roles: all characters of files and of the run, and the best of each book. With
    /// `--limit`, only the first per language; sources are then read sequentially, and only as many as needed.
    pub(super) async fn select_roles(
        self: &Arc<Self>,
        cast: &Arc<Cast>,
        records: &mut Records,
    ) -> Result<Vec<SelectedRole>, RunError> {
        let limit = self.options.limit.map_or(usize::MAX, |limit| limit as usize);
        let at_once = if limit == usize::MAX { self.roles_at_once() } else { 1 };
        let mut tasks = Tasks::new(&self.session);
        let mut found: Vec<SelectedRole> = Vec::new();
        let mut next = 0;
        loop {
            while next < cast.sources.len() && tasks.len() < at_once && !tasks.failed() {
                let best = self.best(&found).0;
                let is_full =
                    |language: Language| best.iter().filter(|role| role.language == language).count() >= limit;
                let languages: Vec<Language> =
                    Language::ALL.into_iter().filter(|language| !is_full(*language)).collect();
                let (runner, cast) = (Arc::clone(self), Arc::clone(cast));
                if !languages.is_empty() {
                    let source = next;
                    tasks.spawn(async move { runner.picked(&cast, source, &languages).await });
                }
                next += 1;
            }
            let Some((selected, rejects)) = tasks.next().await else { break };
            self.reject(records, rejects);
            found.extend(selected);
            found.sort_by_key(|role| role.source);
        }
        tasks.ended()?;
        let (mut best, rejects) = self.best(&found);
        self.reject(records, rejects);
        let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
        best.retain(|role| {
            let count = counts.entry(role.language).or_default();
            *count += 1;
            *count <= limit
        });
        Ok(best)
    }

    /// Selects among the roles found so far, in the order of their sources, and rejects the others. A role found in two
    /// sources, such as a script that is also a book of the run, belongs to the first.
    fn best(&self, found: &[SelectedRole]) -> (Vec<SelectedRole>, Vec<Reject>) {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let (ungraded, chosen): (Vec<&SelectedRole>, Vec<&SelectedRole>) =
            found.iter().filter(|role| known.insert(&role.id)).partition(|role| role.grade.is_none());
        let mut by_book: BTreeMap<&str, Vec<&SelectedRole>> = BTreeMap::new();
        for role in chosen {
            by_book.entry(&role.book).or_default().push(role);
        }
        let most = usize::try_from(self.loaded.file.instruct.roles_per_book).unwrap_or(usize::MAX);
        let mut best: Vec<SelectedRole> = ungraded.into_iter().cloned().collect();
        let mut rejects = Vec::new();
        let mut books: Vec<Vec<&SelectedRole>> = by_book.into_values().collect();
        books.sort_by_key(|roles| roles[0].source);
        for mut roles in books {
            roles.sort_by_key(|role| (Reverse(role.grade), Reverse(role.own_turns), &role.id));
            for role in roles.split_off(most.min(roles.len())) {
                let detail = format!(
                    "its speech style is `{}` distinct and it has {} turns; {most} roles of its book rank higher",
                    role.grade.map_or("", Distinctness::name),
                    role.own_turns
                );
                rejects.push(Reject::new(Stage::Instruct, &role.id, RejectReason::NotAmongBest, detail));
            }
            best.extend(roles.into_iter().cloned());
        }
        (best, rejects)
    }

    /// Grades the candidates of a source in some languages; characters of files and of the run are not graded.
    async fn picked(
        self: &Arc<Self>,
        cast: &Arc<Cast>,
        source: usize,
        languages: &[Language],
    ) -> Result<(Vec<SelectedRole>, Vec<Reject>), RunError> {
        let params = &self.loaded.file.instruct;
        let instructor = self.models.instructor.as_ref().expect("role data is only made with an instructor");
        let (roles, mut rejects) = self.roles(cast, source).await?;
        let graded = roles.into_iter().filter(|role| languages.contains(&role.language)).map(|role| async move {
            let grade = if role.is_chosen {
                Some(instruct::grade_speech(instructor.get(role.language), &role).await?)
            } else {
                None
            };
            let calls = instruct::min_calls(params, &role, &cast.general, self.loaded.file.seed);
            let Role { id, language, source: book, own_turns, .. } = role;
            Ok::<_, RunError>((SelectedRole { source, id, language, book, own_turns, grade: None, calls }, grade))
        });
        let mut selected = Vec::new();
        for graded in futures::future::join_all(graded).await {
            let (role, grade) = graded?;
            match grade {
                None => selected.push(role),
                Some(Ok(grade)) if grade < params.min_distinctness => {
                    let (grade, least) = (grade.name(), params.min_distinctness.name());
                    let detail = format!("its speech style is `{grade}` distinct, but `{least}` is required");
                    rejects.push(Reject::new(Stage::Instruct, role.id, RejectReason::Indistinct, detail));
                }
                Some(Ok(grade)) => selected.push(SelectedRole { grade: Some(grade), ..role }),
                Some(Err(reject)) => rejects.push(reject),
            }
        }
        Ok((selected, rejects))
    }
}
