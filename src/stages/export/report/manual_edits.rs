//! The list of manual changes to a data set in the report.

use serde::Serialize;

use super::Report;
use super::sanitize::line;
use crate::schema::{Reject, Stage};

/// The maximum number of removals, and of edits, that are listed.
const LISTED: usize = 50;
/// The maximum length of an id.
const ID: usize = 80;
/// The maximum length of a text.
const TEXT: usize = 200;

/// The rows that were removed and the references that were edited.
#[derive(Debug, Serialize)]
pub(super) struct ManualEdits {
    vetoed: usize,
    vetoes: Vec<ManualEdit>,
    vetoes_more: usize,
    edited: usize,
    edits: Vec<ManualEdit>,
    edits_more: usize,
}

#[derive(Debug, Serialize)]
struct ManualEdit {
    id: String,
    reason: String,
    /// The new text; empty for a removal.
    text: String,
}

impl ManualEdits {
    pub(super) fn new(report: &Report<'_>) -> Self {
        let vetoed: Vec<&Reject> = report.rejects.iter().filter(|reject| reject.stage == Stage::Export).collect();
        let edits = &report.figures.edits;
        let changed = |id: &str, reason: &str, text: &str| ManualEdit {
            id: line(id, ID),
            reason: line(reason, TEXT),
            text: line(&report.quote_limits.shortened(text), TEXT),
        };
        let of_vetoes = vetoed.iter().take(LISTED).map(|reject| changed(&reject.id, &reject.detail, ""));
        let of_edits = edits.iter().take(LISTED).map(|(id, edit)| changed(id, &edit.reason, &edit.reference));
        Self {
            vetoes: of_vetoes.collect(),
            vetoes_more: vetoed.len().saturating_sub(LISTED),
            vetoed: vetoed.len(),
            edits: of_edits.collect(),
            edits_more: edits.len().saturating_sub(LISTED),
            edited: edits.len(),
        }
    }
}
