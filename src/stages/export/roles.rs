//! The tables of roles: `roles`, `role_specific`, `role_general`, and what the card tells of them.

use std::fmt::Write as _;

use polars::prelude::{Column, PolarsResult};

use super::columns::{ColumnError, Lists, number, share, text};
use super::tables::{sorted, table};
use super::{ExportError, Table};
use crate::schema::{
    DialogueTurn, Distinctness, Form, Language, RoleGeneral, RoleProfile, RoleSpecific, Split, TripletKind,
};

/// Rows about roles, in any order.
#[derive(Debug, Clone, Default)]
pub struct RoleRows {
    /// Rows of `roles`.
    pub profiles: Vec<RoleProfile>,
    /// Rows of `role_specific`.
    pub specific: Vec<RoleSpecific>,
    /// Rows of `role_general`.
    pub general: Vec<RoleGeneral>,
    /// What the card tells, a language a row.
    pub tallies: Vec<RoleTally>,
}

/// What became of the roles and questions of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleTally {
    /// The language.
    pub language: Language,
    /// Roles.
    pub roles: u64,
    /// Roles that are held out.
    pub held_out: u64,
    /// Triplets that were made.
    pub candidates: u64,
    /// Triplets that the filter and the cleaning left out.
    pub filtered: u64,
    /// Triplets that de-duplication removed.
    pub removed: u64,
    /// Role-specific test rows that are alike to a training row.
    pub shared_specific: u64,
    /// General test rows that are alike to a training row.
    pub shared_general: u64,
    /// Rows of held-out roles that are alike to a row of a role for training.
    pub shared_by_role: u64,
}

/// Builds the tables, sorted by id. A table without rows is absent.
pub(super) fn tables(rows: &RoleRows) -> Result<Vec<Table>, ExportError> {
    let mut tables = vec![table("roles", "train", &sorted(&rows.profiles, |row| &row.role_id), roles)?];
    for split in [Split::Train, Split::Test] {
        let mut own = sorted(&rows.specific, |row| &row.id);
        own.retain(|row| row.split == split);
        tables.push(table("role_specific", split.name(), &own, specific)?);
    }
    for split in [Split::Train, Split::Test] {
        let mut own = sorted(&rows.general, |row| &row.id);
        own.retain(|row| row.split == split);
        tables.push(table("role_general", split.name(), &own, general)?);
    }
    Ok(tables.into_iter().flatten().collect())
}

fn roles(rows: &[&RoleProfile]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("role", rows, |row| row.role.as_str()),
        text("language", rows, |row| row.language.code()),
        text("source", rows, |row| row.source.as_str()),
        text("description", rows, |row| row.description.as_str()),
        Lists::new(rows.iter().map(|row| row.catchphrases.as_slice())).strings("catchphrases")?,
        number("rounds", rows, |row| row.rounds)?,
        number("turns", rows, |row| row.turns)?,
        text("role_id", rows, |row| row.role_id.as_str()),
        text("portrait", rows, |row| row.portrait.as_str()),
        text("distinctness", rows, |row| row.distinctness.map(Distinctness::name)),
        text("role_split", rows, |row| row.role_split.name()),
        dialogues(rows.iter().map(|row| row.dialogue.as_slice()))?,
        text("model", rows, |row| row.model.as_str()),
    ])
}

fn dialogues<'a>(lists: impl Iterator<Item = &'a [DialogueTurn]>) -> Result<Column, ColumnError> {
    let lists = Lists::new(lists);
    let fields = [
        number("act", &lists.items, |turn| turn.act)?,
        number("round", &lists.items, |turn| turn.round)?,
        text("role", &lists.items, |turn| turn.role.as_str()),
        text("content", &lists.items, |turn| turn.content.as_str()),
    ];
    let made: PolarsResult<Column> = lists.structs("dialogue", &fields);
    Ok(made?)
}

fn specific(rows: &[&RoleSpecific]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("id", rows, |row| row.id.as_str()),
        text("role", rows, |row| row.role.as_str()),
        text("language", rows, |row| row.language.code()),
        text("kind", rows, |row| TripletKind::name(row.kind)),
        text("question", rows, |row| row.question.as_str()),
        Lists::new(rows.iter().map(|row| row.generated.as_slice())).strings("generated")?,
        text("confidence", rows, |row| row.confidence.name()),
        text("rationale", rows, |row| row.rationale.as_str()),
        text("segment", rows, |row| row.segment.as_str()),
        share("similarity", rows, |row| row.similarity),
        text("model", rows, |row| row.model.as_str()),
        text("role_id", rows, |row| row.role_id.as_str()),
        text("role_split", rows, |row| row.role_split.map(Split::name)),
    ])
}

fn general(rows: &[&RoleGeneral]) -> Result<Vec<Column>, ColumnError> {
    Ok(vec![
        text("id", rows, |row| row.id.as_str()),
        text("role", rows, |row| row.role.as_str()),
        text("language", rows, |row| row.language.code()),
        text("question", rows, |row| row.question.as_str()),
        text("answer", rows, |row| row.answer.as_str()),
        Lists::new(rows.iter().map(|row| row.generated.as_slice())).strings("generated")?,
        text("baseline", rows, |row| row.baseline.as_deref()),
        text("form", rows, |row| Form::name(row.form)),
        text("model", rows, |row| row.model.as_str()),
        text("role_id", rows, |row| row.role_id.as_str()),
        text("instruction", rows, |row| row.instruction.as_str()),
        text("role_split", rows, |row| row.role_split.map(Split::name)),
    ])
}

/// Tells of the roles on the card.
pub(super) fn section(tallies: &[RoleTally]) -> String {
    if tallies.is_empty() {
        return String::new();
    }
    let mut text = "`roles`, `role_specific` and `role_general` are training data for role-play in the manner of RoleBench. A \
        model made questions to each role out of stretches of its dialogue and out of its description, with answers and a \
        verdict on each; those of high confidence with a clean answer were de-duplicated by BM25. General instructions were \
        carried out in the part: `generated` passed the cleaning, `baseline` is one further reply, `answer` is plain. `train` \
        and `test` are divided by question; `role_split` divides by role.\n\n\
        | language | roles | held out | triplets | filtered | removed as duplicates | test rows alike to a training row: \
        specific, general, by role |\n|---|---:|---:|---:|---:|---:|---|\n"
        .to_owned();
    for tally in tallies {
        let RoleTally { language, roles, held_out, candidates, filtered, removed, .. } = tally;
        let shared = [tally.shared_specific, tally.shared_general, tally.shared_by_role];
        let shared = shared.map(|count| count.to_string()).join(", ");
        let _ =
            writeln!(text, "| {language} | {roles} | {held_out} | {candidates} | {filtered} | {removed} | {shared} |");
    }
    text.push('\n');
    text
}
