//! The `instruct` stage of a run: selects roles, asks about each, and collects the rows of all roles.

mod selection;
mod sources;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::selection::SelectedRole;
use self::sources::Cast;
use super::{Runner, Tasks, cores};
use crate::event::Event;
use crate::pipeline::error::RunError;
use crate::pipeline::records::Records;
use crate::schema::{Book, Distinctness, Reject, RejectReason, RoleId, Stage};
use crate::stages::instruct::{self, Role};
use crate::store::PoolIndex;

impl Runner {
    /// Creates role data: selects roles source by source, then reads each source again and processes its roles. Only
    /// roles in progress are in memory.
    pub(super) async fn instruct(
        self: &Arc<Self>,
        books: &[Book],
        scenes: &Arc<PoolIndex>,
        records: &mut Records,
    ) -> Result<(), RunError> {
        let params = &self.loaded.file.instruct;
        if self.models.instructor.is_none() || self.models.role_player.is_none() {
            if self.options.until == Stage::Instruct {
                let note = "`[instruct]` names no roles or scripts, so there is nothing to do";
                self.reporter.report(Event::Note(note.to_owned()));
            }
            return Ok(());
        }
        self.start(Stage::Instruct, None);
        let threads = NonZeroUsize::new(cores()).unwrap_or(NonZeroUsize::MIN);
        let seed = self.loaded.file.seed;
        let runner = Arc::clone(self);
        let (general, rejects) = self
            .blocking(move || {
                instruct::select_instructions(&runner.loaded.file.instruct, &runner.loaded.instructions, seed, threads)
            })
            .await;
        self.reject(records, rejects);
        let cast = Arc::new(Cast { general, ..self.cast(books, scenes, &records.characters) });
        let selected = self.select_roles(&cast, records).await?;
        let planner = instruct::SplitPlanner::new(params.clone(), seed, threads);
        let planner = self.process_roles(&cast, selected, planner, records).await?;
        records.roles.splits = self.blocking(move || planner.assign_splits()).await;
        self.reject(records, records.roles.splits.rejects().to_vec());
        let [roles, specific, general] = records.roles.counts();
        self.end(Stage::Instruct, format!("{specific} specific and {general} general rows of {roles} roles"));
        Ok(())
    }

    /// Processes the selected roles, source by source, and stores their results.
    async fn process_roles(
        self: &Arc<Self>,
        cast: &Arc<Cast>,
        selected: Vec<SelectedRole>,
        mut planner: instruct::SplitPlanner,
        records: &mut Records,
    ) -> Result<instruct::SplitPlanner, RunError> {
        let total = selected.iter().map(|role| role.calls).sum();
        let done = Arc::new(AtomicU64::new(0));
        let mut by_source: BTreeMap<usize, BTreeMap<RoleId, Option<Distinctness>>> = BTreeMap::new();
        for role in selected {
            by_source.entry(role.source).or_default().insert(role.id, role.grade);
        }
        let mut tasks = Tasks::new(&self.session);
        let started: Result<(), RunError> = async {
            for (source, mut grades) in by_source {
                if tasks.failed() {
                    break;
                }
                for role in self.roles(cast, source).await?.0 {
                    let Some(grade) = grades.remove(&role.id) else { continue };
                    while tasks.len() >= self.roles_at_once()
                        && let Some(outcome) = tasks.next().await
                    {
                        self.keep(&mut planner, records, outcome)?;
                    }
                    if tasks.failed() {
                        break;
                    }
                    let (runner, cast, done) = (Arc::clone(self), Arc::clone(cast), Arc::clone(&done));
                    tasks.spawn(async move { runner.work(role, grade, &cast.general, (&done, total)).await });
                }
                for id in grades.into_keys().filter(|_| !tasks.failed()) {
                    let detail = "its book or script has changed since the role was selected".to_owned();
                    self.reject(records, [Reject::new(Stage::Instruct, id, RejectReason::Unreadable, detail)]);
                }
            }
            Ok(())
        }
        .await;
        // Calls in flight are paid for, so they are saved in the journal even after an error.
        let mut fault = started.inspect_err(|_| self.session.stop()).err();
        while let Some(outcome) = tasks.next().await {
            if let Err(error) = self.keep(&mut planner, records, outcome) {
                fault.get_or_insert(error);
            }
        }
        fault.map_or_else(|| tasks.ended(), Err)?;
        Ok(planner)
    }

    /// Makes all calls about a role and selects its rows. `done` and `total` are the numbers of calls of all roles, the
    /// total being a minimum.
    async fn work(
        self: &Arc<Self>,
        role: Role,
        grade: Option<Distinctness>,
        general: &[instruct::GeneralInstruction],
        (done, total): (&AtomicU64, u64),
    ) -> Result<Result<instruct::SelectedRows, Reject>, RunError> {
        let (params, seed) = (self.loaded.file.instruct.clone(), self.loaded.file.seed);
        let part = "role data is only made with an instructor and a player";
        let work = instruct::RoleContext {
            instructor: Arc::clone(self.models.instructor.as_ref().expect(part).get(role.language)),
            role_player: Arc::clone(self.models.role_player.as_ref().expect(part).get(role.language)),
            params: params.clone(),
            seed,
        };
        let step = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            self.advance(Stage::Instruct, done.min(total), Some(total));
        };
        Ok(match instruct::process_role(&work, &role, grade, general, &step).await? {
            Ok(made) => Ok(self.blocking(move || instruct::select_rows(&params, made, NonZeroUsize::MIN)).await),
            Err(reject) => Err(reject),
        })
    }

    /// Stores the results of a role: rows on disk, and what compares roles with each other.
    fn keep(
        &self,
        planner: &mut instruct::SplitPlanner,
        records: &mut Records,
        outcome: Result<instruct::SelectedRows, Reject>,
    ) -> Result<(), RunError> {
        match outcome {
            Ok(mut selected_rows) => {
                self.reject(records, std::mem::take(&mut selected_rows.rejects));
                planner.add(&selected_rows);
                records.roles.add(&selected_rows).inspect_err(|_| self.session.stop())?;
            }
            Err(reject) => self.reject(records, [reject]),
        }
        Ok(())
    }
}
