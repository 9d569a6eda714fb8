//! Verdict counts of lanes that share counts: which dimensions yielded no sample, and why.

use std::collections::BTreeMap;

use super::dwrs::Counts;
use super::{Played, Stage};
use crate::schema::{Candidate, Reject, RejectReason};

/// Per dimension: the number of verdicts, how many of them kept the base reply, and the number of samples.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<String, [u32; 3]>);

impl Tally {
    /// Adds a conversation. The order does not matter.
    pub(crate) fn add(&mut self, played: &Played) {
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

    /// Returns the codes of dimensions that reached τ without yielding a sample.
    pub(crate) fn barren(&self, stage: &Stage<'_>, counts: &Counts) -> Vec<String> {
        let met = counts.iter().filter(|(_, count)| *count >= stage.params.tau);
        met.filter(|(code, _)| self.of(code)[2] == 0).map(|(code, _)| code.to_owned()).collect()
    }

    /// Returns the reject for lanes that yielded no sample of the dimensions `barren`.
    pub(crate) fn reject(&self, lane: &str, barren: &[String]) -> Option<Reject> {
        let told = barren.iter().map(|code| {
            let [judged, base, _] = self.of(code);
            format!("{code} was judged {judged} times and the base reply was kept {base} times")
        });
        let detail = format!("no sample of these dimensions: {}", told.collect::<Vec<_>>().join("; "));
        (!barren.is_empty()).then(|| Reject::new(crate::schema::Stage::Simulate, lane, RejectReason::NoSample, detail))
    }
}
