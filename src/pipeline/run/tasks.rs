//! Concurrent tasks of a stage, and error handling between them.

use tokio::task::JoinSet;

use crate::llm::{AskError, Session};
use crate::pipeline::error::RunError;

/// Concurrent tasks of a stage. After the first error that ends the run no new calls are started, and calls in flight
/// are finished and saved.
pub(super) struct Tasks<'a, T> {
    running: JoinSet<Result<T, RunError>>,
    session: &'a Session,
    worst: Option<RunError>,
}

impl<'a, T: Send + 'static> Tasks<'a, T> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self { running: JoinSet::new(), session, worst: None }
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = Result<T, RunError>> + Send + 'static) {
        self.running.spawn(task);
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    pub(super) const fn failed(&self) -> bool {
        self.worst.is_some()
    }

    /// Waits for the next result; `None` when all tasks have ended.
    pub(super) async fn next(&mut self) -> Option<T> {
        while let Some(joined) = self.running.join_next().await {
            match joined.expect("stages do not panic") {
                Ok(result) => return Some(result),
                Err(error) => {
                    self.session.stop();
                    // The cause of an interruption is more informative than the interruption.
                    if matches!(self.worst, None | Some(RunError::Ask(AskError::Interrupted))) {
                        self.worst = Some(error);
                    }
                }
            }
        }
        None
    }

    /// Returns all results, in order of completion.
    pub(super) async fn all(&mut self) -> Vec<T> {
        let mut results = Vec::new();
        while let Some(result) = self.next().await {
            results.push(result);
        }
        results
    }

    /// Returns the error that ended the run; an interruption only if there is no other error.
    pub(super) fn ended(self) -> Result<(), RunError> {
        self.worst.map_or(Ok(()), Err)
    }
}
