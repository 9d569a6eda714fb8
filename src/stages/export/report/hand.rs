//! What people changed in a data set by hand, as the report lists it.

use serde::Serialize;

use super::Report;
use super::shown::line;
use crate::schema::Reject;

/// So many vetoes are listed, and so many edits.
const LISTED: usize = 50;
/// So much of an id is shown.
const ID: usize = 80;
/// So much of a text is shown.
const TEXT: usize = 200;

/// What was taken out and put right.
#[derive(Debug, Serialize)]
pub(super) struct ByHand {
    vetoed: usize,
    vetoes: Vec<Changed>,
    vetoes_more: usize,
    edited: usize,
    edits: Vec<Changed>,
    edits_more: usize,
}

#[derive(Debug, Serialize)]
struct Changed {
    id: String,
    reason: String,
    /// What stands there now; empty where nothing does.
    text: String,
}

impl ByHand {
    pub(super) fn new(report: &Report<'_>) -> Self {
        let vetoed: Vec<&Reject> = report.rejects.iter().filter(|reject| reject.stage == "export").collect();
        let edits = &report.figures.edits;
        let changed = |id: &str, reason: &str, text: &str| Changed {
            id: line(id, ID),
            reason: line(reason, TEXT),
            text: line(&report.rights.shortened(text), TEXT),
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
