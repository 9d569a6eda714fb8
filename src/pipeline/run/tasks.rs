//! Tasks of a stage that run side by side, and how the first error that ends the run ends them.

use tokio::task::JoinSet;

use super::super::RunError;
use crate::llm::{AskError, Desk};

/// Tasks of a stage that may ask. After the first error that ends the run nothing new begins, and calls in flight are
/// finished and kept.
pub(super) struct Tasks<'a, T> {
    running: JoinSet<Result<T, RunError>>,
    desk: &'a Desk,
    worst: Option<RunError>,
}

impl<'a, T: Send + 'static> Tasks<'a, T> {
    pub(super) fn new(desk: &'a Desk) -> Self {
        Self { running: JoinSet::new(), desk, worst: None }
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

    /// Waits for the next result; none when all tasks have ended.
    pub(super) async fn next(&mut self) -> Option<T> {
        while let Some(joined) = self.running.join_next().await {
            match joined.expect("a stage does not panic") {
                Ok(result) => return Some(result),
                Err(error) => {
                    self.desk.stop();
                    // An interruption tells less than what caused it.
                    if matches!(self.worst, None | Some(RunError::Ask(AskError::Interrupted))) {
                        self.worst = Some(error);
                    }
                }
            }
        }
        None
    }

    /// Returns all results, in the order in which they came.
    pub(super) async fn all(&mut self) -> Vec<T> {
        let mut results = Vec::new();
        while let Some(result) = self.next().await {
            results.push(result);
        }
        results
    }

    /// Returns the error that ended the run: an interruption only when nothing worse happened.
    pub(super) fn ended(self) -> Result<(), RunError> {
        self.worst.map_or(Ok(()), Err)
    }
}
