//! Rows and roles for the tests of this folder.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::planner::SplitPlanner;
use super::select_rows::{SelectedRows, select_rows};
use crate::schema::{
    Confidence, Language, PromptStyle, Reject, RoleGeneral, RoleProfile, RoleSpecific, RoleTally, Split, TripletKind,
};
use crate::stages::instruct::params::Params;
use crate::stages::instruct::role_pipeline::RoleOutput;

pub(super) fn row(role: &str, n: usize, question: &str, confidence: Confidence) -> RoleSpecific {
    RoleSpecific {
        id: format!("{role}/description/0/{n}"),
        role: role.to_owned(),
        language: Language::En,
        kind: TripletKind::ScriptAgnostic,
        question: question.to_owned(),
        generated: vec!["So it is.".to_owned()],
        confidence,
        rationale: "It is known.".to_owned(),
        segment: "description".to_owned(),
        similarity: None,
        model: "m".to_owned(),
        role_id: role.into(),
        role_split: None,
        split: Split::Train,
    }
}

pub(super) fn role_output(role: &str, candidates: Vec<RoleSpecific>, instructions: &[&str]) -> RoleOutput {
    let general = instructions.iter().map(|instruction| RoleGeneral {
        id: format!("{role}/general/{instruction}"),
        role: role.to_owned(),
        language: Language::En,
        question: (*instruction).to_owned(),
        answer: "Plain.".to_owned(),
        generated: vec!["Aye.".to_owned()],
        baseline: None,
        form: PromptStyle::FewShotDialogue,
        model: "m".to_owned(),
        role_id: role.into(),
        instruction: (*instruction).to_owned(),
        role_split: None,
        split: Split::Train,
    });
    let profile = RoleProfile {
        role: role.to_owned(),
        language: Language::En,
        source: "a-book".to_owned(),
        description: "You are.".to_owned(),
        catchphrases: Vec::new(),
        rounds: 0,
        turns: 0,
        role_id: role.into(),
        portrait: "The character is.".to_owned(),
        distinctness: None,
        role_split: Split::Train,
        dialogue: Vec::new(),
        model: "m".to_owned(),
    };
    RoleOutput { profile, names: vec![role.to_owned()], candidates, general: general.collect(), rejects: Vec::new() }
}

/// The rows of all roles with their splits.
pub(super) struct AllRows {
    pub(super) roles: Vec<RoleProfile>,
    pub(super) specific: Vec<RoleSpecific>,
    pub(super) general: Vec<RoleGeneral>,
    pub(super) rejects: Vec<Reject>,
    pub(super) tallies: BTreeMap<Language, RoleTally>,
}

pub(super) fn all_rows(params: &Params, made: Vec<RoleOutput>) -> AllRows {
    let mut planner = SplitPlanner::new(params.clone(), 7, NonZeroUsize::MIN);
    let all: Vec<SelectedRows> = made.into_iter().map(|made| select_rows(params, made, NonZeroUsize::MIN)).collect();
    for selected in &all {
        planner.add(selected);
    }
    let splits = planner.assign_splits();
    let mut rows = AllRows {
        roles: Vec::new(),
        specific: Vec::new(),
        general: Vec::new(),
        rejects: splits.rejects().to_vec(),
        tallies: splits.tallies().clone(),
    };
    for selected in all {
        rows.roles.push(splits.profile(selected.profile));
        rows.specific.extend(splits.specific(selected.specific));
        rows.general.extend(splits.general(selected.general));
        rows.rejects.extend(selected.rejects);
    }
    rows.specific.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(rows.specific.len() as u64, splits.specific_rows());
    rows
}
