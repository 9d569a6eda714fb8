//! Resemblance to known figures, by name alone.

use crate::llm::{Offline, OfflineAnswer};
use crate::stages::synthesize::{FigureComparison, FindKnownFigures, Origin};

impl OfflineAnswer for FindKnownFigures {
    /// A character with the name of a known figure is borrowed.
    fn answer_offline(&self, _: &mut Offline<'_>) -> FigureComparison {
        self.namesake().unwrap_or(FigureComparison { figures: Vec::new(), verdict: Origin::Original })
    }
}
