//! What became of the judge's verdicts of lanes that share counts: which dimensions brought no sample, and why.

use std::collections::BTreeMap;

use super::Counts;
use super::lane::{Played, Stage};
use crate::schema::{Candidate, Reject};

/// What became of the judge's verdicts, by dimension: how many there were, in how many of them the base's reply stayed, and how
/// many samples came of it.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<String, [u32; 3]>);

impl Tally {
    /// Counts a conversation. In which order they are counted makes no difference.
    pub(super) fn add(&mut self, played: &Played) {
        for turn in played.conversation.iter().flat_map(|conversation| &conversation.turns) {
            if let Some(code) = &turn.dimension {
                let [judged, base, _] = self.0.entry(code.clone()).or_default();
                *judged += 1;
                *base += u32::from(turn.kept_reply == Some(Candidate::Base));
            }
        }
        for sample in &played.samples {
            self.0.entry(sample.dimension.clone()).or_default()[2] += 1;
        }
    }

    fn of(&self, code: &str) -> [u32; 3] {
        self.0.get(code).copied().unwrap_or_default()
    }

    /// Returns the dimensions that have τ counts and no sample.
    pub(super) fn barren(&self, stage: &Stage<'_>, counts: &Counts) -> Vec<String> {
        let met = counts.iter().filter(|(_, count)| *count >= stage.params.tau);
        met.filter(|(code, _)| self.of(code)[2] == 0).map(|(code, _)| code.to_owned()).collect()
    }

    /// Returns the entry of lanes that brought no sample of some dimensions.
    pub(super) fn reject(&self, lane: &str, barren: &[String]) -> Option<Reject> {
        let told = barren.iter().map(|code| {
            let [judged, base, _] = self.of(code);
            format!("{code} judged {judged} times, of which the base's reply stayed {base} times")
        });
        let detail = format!("no sample of a dimension: {}", told.collect::<Vec<_>>().join("; "));
        (!barren.is_empty()).then(|| Reject::new("simulate", lane, "no_sample", detail))
    }
}
