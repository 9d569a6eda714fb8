//! What all lanes of a run share.

use std::sync::Arc;

use super::Params;
use super::lanes::admission::Admission;
use crate::llm::Model;
use crate::schema::Dimension;
use crate::stages::select;

/// Models, settings and limits that all lanes of a run share.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The model that chooses the next speaker.
    pub director: &'a Model,
    /// The model that plays the scene characters.
    pub scene: &'a Model,
    /// The base model, which every source model is compared with.
    pub base: &'a Model,
    /// The judge: compares replies and rates conversations.
    pub judge: &'a Model,
    /// Extra judges. They see the same replies; their verdicts are recorded and affect nothing else.
    pub judges: &'a [Arc<Model>],
    /// The table `[simulate]`.
    pub params: &'a Params,
    /// The table `[select]`.
    pub select: &'a select::Params,
    /// The dimensions, at least one.
    pub dimensions: &'a [Dimension],
    /// The run's seed.
    pub seed: u64,
    /// Maximum number of conversations per lane in this run (`--limit`). They are the first ones of a full run.
    pub limit: Option<u32>,
    /// Limits the number of conversations in memory at once, over all lanes.
    pub admission: &'a Admission,
}

impl Context<'_> {
    /// Finds a dimension by its code.
    pub(super) fn dimension(&self, code: &str) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.code == code)
    }
}
