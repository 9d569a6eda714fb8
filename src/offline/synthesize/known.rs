//! Resemblance to known figures, by name alone.

use crate::llm::{Offline, OfflineAnswer};
use crate::stages::synthesize::{FindLikeness, Likenesses, Origin};

impl OfflineAnswer for FindLikeness {
    /// A character with the name of a known figure is borrowed.
    fn answer_offline(&self, _: &mut Offline<'_>) -> Likenesses {
        self.namesake().unwrap_or(Likenesses { figures: Vec::new(), verdict: Origin::Original })
    }
}
