//! Applies manual edits (`vetoes.toml`) to the rows of a run.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use crate::config::document::problems::SourceSpan;
use crate::config::{PipelineError, Problem, Veto, Vetoes};
use crate::pipeline::RunError;
use crate::pipeline::exclusions::Exclusions;
use crate::pipeline::records::Records;
use crate::schema::{Conversation, ConversationId, RoleId, Sample, SampleId};
use crate::store::PoolIndex;

impl Records {
    /// Resolves the vetoes to rows and adds the removed rows to the rejects. An id without a row is an error, unless
    /// the run covers only part of the data set, where the row may be in the rest.
    pub(super) fn veto(&mut self, vetoes: &Vetoes, scenes: &PoolIndex, is_part: bool) -> Result<(), RunError> {
        let (conversations, all_samples) = self.kept();
        let (conversation_ids, sample_ids): (BTreeSet<ConversationId>, BTreeSet<SampleId>) =
            (conversations.ids(), all_samples.ids());
        let character_ids: BTreeSet<&str> = self.characters.iter().map(|one| one.id.as_str()).collect();
        let role_ids = self.roles.ids();
        let is_played = |id: &str| {
            let is_talk = conversation_ids.contains(id) || sample_ids.contains(id);
            is_talk || character_ids.contains(id) || scenes.find(id).is_some()
        };
        // The rows of roles are only read if a veto may concern them.
        let asks_rows = |veto: &Veto| role_ids.contains(veto.id.as_str()) || !is_played(&veto.id);
        let rows = if vetoes.file.veto.iter().any(asks_rows) { self.roles.row_ids()? } else { BTreeMap::new() };
        let rejected: BTreeSet<&str> = self.rejects.iter().map(|reject| reject.id.as_str()).collect();
        // Rows that a filter rejected, and samples of rejected conversations, are gone already.
        let is_gone = |id: &str| {
            let sample = SampleId::from(id);
            rejected.contains(id) || rejected.iter().any(|rejected| sample.is_of(rejected))
        };
        let heads = || scenes.heads().map(|head| head.id.as_str());
        let samples = || sample_ids.iter().map(SampleId::as_str);
        let all = || {
            let played = samples().chain(conversation_ids.iter().map(ConversationId::as_str));
            let of_roles = role_ids.iter().map(RoleId::as_str).chain(rows.keys().map(String::as_str));
            played.chain(of_roles).chain(character_ids.iter().copied()).chain(heads())
        };
        let (mut exclusions, mut problems) = (Exclusions::default(), Vec::new());
        for (veto, span) in vetoes.file.veto.iter().zip(&vetoes.vetoed) {
            let id = veto.id.as_str();
            // A test character and a role may share an id.
            let is_found = [
                exclude(&mut exclusions.scenes, veto, scenes.find(id).is_some()),
                exclude(&mut exclusions.conversations, veto, conversation_ids.contains(id)),
                exclude(&mut exclusions.samples, veto, sample_ids.contains(id)),
                exclude(&mut exclusions.characters, veto, character_ids.contains(id)),
                exclude(&mut exclusions.roles, veto, role_ids.contains(id)),
                exclude(&mut exclusions.rows, veto, rows.contains_key(id)),
            ]
            .contains(&true);
            if !is_found && !is_part && !is_gone(id) {
                let problem =
                    Problem::new(SourceSpan { source: 0, span: span.clone() }, format!("no row has the id `{id}`"));
                let expected = "the id of a sample, a conversation, a scene, a character, a role or a row of role data";
                problems.push(problem.expected(expected).nearest(id, all()));
            }
        }
        for (edit, span) in vetoes.file.edit.iter().zip(&vetoes.edited) {
            let id = edit.id.as_str();
            if sample_ids.contains(id) {
                exclusions.edits.insert(SampleId::from(id), edit.clone());
            } else if !is_part && !is_gone(id) {
                let problem =
                    Problem::new(SourceSpan { source: 0, span: span.clone() }, format!("no sample has the id `{id}`"));
                problems.push(problem.expected("the id of a sample, whose reference is edited").nearest(id, samples()));
            }
        }
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.span.start);
            let sources = vec![(vetoes.path.display().to_string(), vetoes.text.clone())];
            return Err(RunError::Vetoes(PipelineError::Invalid { sources, problems }));
        }
        if !exclusions.scenes.is_empty() || !exclusions.characters.is_empty() {
            for conversation in conversations.records::<Conversation>() {
                let Conversation { id, scene_id, character_id, .. } = conversation?;
                let reason = inherited(&exclusions.scenes, "scene", &scene_id);
                if let Some(reason) = reason.or_else(|| inherited(&exclusions.characters, "character", &character_id)) {
                    exclusions.conversations.entry(id).or_insert(reason);
                }
            }
        }
        if !exclusions.conversations.is_empty() {
            for sample in all_samples.records::<Sample>() {
                let Sample { id, conversation_id, .. } = sample?;
                if let Some(reason) = inherited(&exclusions.conversations, "conversation", &conversation_id) {
                    exclusions.samples.entry(id).or_insert(reason);
                }
            }
        }
        for (id, role) in rows {
            if let Some(reason) = inherited(&exclusions.roles, "role", &role) {
                exclusions.rows.entry(id).or_insert(reason);
            }
        }
        self.rejects.extend(exclusions.rejects());
        self.exclusions = exclusions;
        Ok(())
    }
}

/// Adds a veto to a list if its id is that of a row, and returns whether it is.
fn exclude<Id: Ord + for<'a> From<&'a str>>(list: &mut BTreeMap<Id, String>, veto: &Veto, is_row: bool) -> bool {
    if is_row {
        list.insert(Id::from(&veto.id), veto.reason.clone());
    }
    is_row
}

/// Returns the reason for a row that goes with an excluded one.
fn inherited<Id: Ord + Borrow<str>>(list: &BTreeMap<Id, String>, item: &str, id: &str) -> Option<String> {
    list.get(id).map(|reason| format!("{reason} (the {item} `{id}`)"))
}
