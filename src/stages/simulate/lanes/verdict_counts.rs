//! Verdict counts of lanes that share counts: which dimensions yielded no sample, and why.

use std::collections::BTreeMap;

use super::dwrs::Counts;
use super::result::PlayedConversation;
use crate::schema::{Candidate, Reject, RejectReason};
use crate::stages::simulate::context::Context;

/// Per dimension: the number of verdicts, how many of them kept the base reply, and the number of samples.
#[derive(Debug, Default)]
pub(crate) struct VerdictCounts(BTreeMap<String, [u32; 3]>);

impl VerdictCounts {
    /// Adds a conversation. The order does not matter.
    pub(crate) fn add(&mut self, played: &PlayedConversation) {
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
    pub(crate) fn dimensions_without_samples(&self, context: &Context<'_>, counts: &Counts) -> Vec<String> {
        let reached = counts.iter().filter(|(_, count)| *count >= context.params.tau);
        reached.filter(|(code, _)| self.of(code)[2] == 0).map(|(code, _)| code.to_owned()).collect()
    }

    /// Returns the reject for lanes that yielded no sample of the dimensions `dimensions_without_samples`.
    pub(crate) fn reject(&self, lane: &str, dimensions_without_samples: &[String]) -> Option<Reject> {
        let descriptions = dimensions_without_samples.iter().map(|code| {
            let [judged, base, _] = self.of(code);
            format!("{code} was judged {judged} times and the base reply was kept {base} times")
        });
        let detail = format!("no sample of these dimensions: {}", descriptions.collect::<Vec<_>>().join("; "));
        (!dimensions_without_samples.is_empty())
            .then(|| Reject::new(crate::schema::Stage::Simulate, lane, RejectReason::NoSample, detail))
    }
}
