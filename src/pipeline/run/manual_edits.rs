//! Applies manual edits (`vetoes.toml`) to the rows of a run.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::document::problems::At;
use crate::config::{PipelineError, Problem, Veto, Vetoes};
use crate::pipeline::RunError;
use crate::pipeline::exclusions::Exclusions;
use crate::pipeline::records::Records;
use crate::schema::Conversation;
use crate::store::PoolIndex;

impl Records {
    /// Resolves the vetoes to rows and adds the removed rows to the rejects. An id without a row is an error, unless
    /// the run covers only part of the data set, where the row may be in the rest.
    pub(super) fn veto(&mut self, vetoes: &Vetoes, scenes: &PoolIndex, is_part: bool) -> Result<(), RunError> {
        let (conversations, samples) = self.kept();
        let (conversation_ids, sample_ids) = (conversations.ids(), samples.ids());
        let character_ids: BTreeSet<&str> = self.characters.iter().map(|one| one.id.as_str()).collect();
        let role_ids = self.roles.ids();
        let is_played = |id: &String| {
            let is_talk = conversation_ids.contains(id) || sample_ids.contains(id);
            is_talk || character_ids.contains(id.as_str()) || scenes.find(id).is_some()
        };
        // The rows of roles are only read if a veto may concern them.
        let asks_rows = |veto: &Veto| role_ids.contains(&veto.id) || !is_played(&veto.id);
        let rows = if vetoes.file.veto.iter().any(asks_rows) { self.roles.row_ids()? } else { BTreeMap::new() };
        let rejected: BTreeSet<&str> = self.rejects.iter().map(|reject| reject.id.as_str()).collect();
        // Rows that a filter rejected, and samples of rejected conversations, are gone already.
        let is_gone =
            |id: &str| rejected.contains(id) || id.rsplit_once('#').is_some_and(|(talk, _)| rejected.contains(talk));
        let heads = || scenes.heads().map(|head| head.id.as_str());
        let all = || {
            let ids = sample_ids.iter().chain(&conversation_ids).chain(&role_ids).chain(rows.keys());
            ids.map(String::as_str).chain(character_ids.iter().copied()).chain(heads())
        };
        let (mut exclusions, mut problems) = (Exclusions::default(), Vec::new());
        for (Veto { id, reason }, span) in vetoes.file.veto.iter().zip(&vetoes.vetoed) {
            let mut is_found = false;
            // A test character and a role may share an id.
            for (list, is_row) in [
                (&mut exclusions.scenes, scenes.find(id).is_some()),
                (&mut exclusions.conversations, conversation_ids.contains(id)),
                (&mut exclusions.samples, sample_ids.contains(id)),
                (&mut exclusions.characters, character_ids.contains(id.as_str())),
                (&mut exclusions.roles, role_ids.contains(id)),
                (&mut exclusions.rows, rows.contains_key(id)),
            ] {
                if is_row {
                    list.insert(id.clone(), reason.clone());
                    is_found = true;
                }
            }
            if !is_found && !is_part && !is_gone(id) {
                let problem = Problem::new(At { source: 0, span: span.clone() }, format!("no row has the id `{id}`"));
                let expected = "the id of a sample, a conversation, a scene, a character, a role or a row of role data";
                problems.push(problem.expected(expected).nearest(id, all()));
            }
        }
        for (edit, span) in vetoes.file.edit.iter().zip(&vetoes.edited) {
            let id = &edit.id;
            if sample_ids.contains(id) {
                exclusions.edits.insert(id.clone(), edit.clone());
            } else if !is_part && !is_gone(id) {
                let problem =
                    Problem::new(At { source: 0, span: span.clone() }, format!("no sample has the id `{id}`"));
                let samples = sample_ids.iter().map(String::as_str);
                problems.push(problem.expected("the id of a sample, whose reference is edited").nearest(id, samples));
            }
        }
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.span.start);
            let sources = vec![(vetoes.path.display().to_string(), vetoes.text.clone())];
            return Err(RunError::Vetoes(PipelineError::Invalid { sources, problems }));
        }
        let with = |list: &BTreeMap<String, String>, what: &str, id: &str| {
            list.get(id).map(|reason| format!("{reason} (the {what} `{id}`)"))
        };
        if !exclusions.scenes.is_empty() || !exclusions.characters.is_empty() {
            for conversation in conversations.records::<Conversation>() {
                let Conversation { id, scene_id, character_id, .. } = conversation?;
                let reason = with(&exclusions.scenes, "scene", &scene_id);
                if let Some(reason) = reason.or_else(|| with(&exclusions.characters, "character", &character_id)) {
                    exclusions.conversations.entry(id).or_insert(reason);
                }
            }
        }
        for id in sample_ids {
            let talk = id.rsplit_once('#').map_or("", |(talk, _)| talk);
            if let Some(reason) = with(&exclusions.conversations, "conversation", talk) {
                exclusions.samples.entry(id).or_insert(reason);
            }
        }
        for (id, role) in rows {
            if let Some(reason) = with(&exclusions.roles, "role", &role) {
                exclusions.rows.entry(id).or_insert(reason);
            }
        }
        self.rejects.extend(exclusions.rejects());
        self.exclusions = exclusions;
        Ok(())
    }
}
