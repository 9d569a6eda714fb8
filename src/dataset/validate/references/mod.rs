//! Checks that the scenes, characters, conversations, turns and roles that rows refer to exist, and that repeated
//! columns agree with the row referred to.

mod profiles;
mod stable_hash;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use self::profiles::Profile;
use self::stable_hash::hash;
use super::Group;
use super::findings::Remedy;
use super::findings::{Findings, Location, MOST};
use crate::cells::Cells;
use crate::config::Check;

/// The hash of a text for comparison; `None` if there is no such column.
type TextHash = Option<u64>;

/// The parts of a turn that a sample must agree with.
#[derive(Debug, PartialEq, Eq)]
struct Turn {
    /// Its dimension and its score.
    judged: (Option<String>, Option<i64>),
    /// Hashes of the columns in [`OF_TURN`].
    texts: [TextHash; OF_TURN.len()],
    /// Hash of the utterances before it.
    before: TextHash,
}

/// Rows that others refer to, and the references to them. Texts are kept as hashes, since 100,000 samples of 8 KB would
/// take too much memory.
#[derive(Debug, Default)]
pub(super) struct References {
    /// By config and id: hashes of the columns that other rows repeat, in the order of [`REPEATED`].
    rows: HashMap<&'static str, HashMap<String, Vec<TextHash>>>,
    complete: HashSet<String>,
    /// The turns by conversation.
    turns: HashMap<String, Vec<Turn>>,
    /// The profiles by character. Samples may omit parts of them.
    profiles: HashMap<String, Profile>,
    pending: Pending,
    missing: HashSet<&'static str>,
}

/// Findings that are reported only if the referenced config could be read completely; the number kept is limited.
#[derive(Debug, Default)]
struct Pending {
    /// By file, column and referenced config.
    by_column: BTreeMap<(String, String, &'static str), LimitedFindings>,
}

/// The first findings of a kind, and the number of further ones.
#[derive(Debug, Default)]
struct LimitedFindings {
    first: Vec<(Location, String)>,
    more: usize,
}

impl Pending {
    fn add(&mut self, group: &Group<'_>, row: usize, column: &str, of: &'static str, message: impl FnOnce() -> String) {
        let LimitedFindings { first, more } =
            self.by_column.entry((group.file.to_owned(), column.to_owned(), of)).or_default();
        if first.len() < MOST {
            first.push((group.location(Check::Reference, row, column), message()));
        } else {
            *more += 1;
        }
    }
}

/// By config: the columns that refer to rows of other configs, and which.
const NAMED: [(&str, &[(&str, &str)]); 4] = [
    ("conversations", &[("scene_id", "scenes")]),
    ("samples", &[("scene_id", "scenes"), ("character_id", "characters"), ("conversation_id", "conversations")]),
    ("role_specific", &[("role_id", "roles")]),
    ("role_general", &[("role_id", "roles")]),
];

/// Columns, each with its name in the rows that repeat it.
type Columns = &'static [(&'static str, &'static str)];

/// By referenced config: its id column, and the columns that referring rows repeat, each with its name there.
const REPEATED: [(&str, &str, Columns); 4] = [
    (
        "scenes",
        "id",
        &[("book", "book"), ("language", "language"), ("worldview", "worldview"), ("situation", "situation")],
    ),
    ("characters", "id", &[("name", "test_character"), ("type", "character_type")]),
    (
        "conversations",
        "id",
        &[
            ("scene_id", "scene_id"),
            ("language", "language"),
            ("test_character", "test_character"),
            ("source_model", "source_model"),
            ("base_model", "base_model"),
        ],
    ),
    ("roles", "role_id", &[]),
];

/// The columns of a sample that repeat its turn, each with the turn's field.
const OF_TURN: [(&str, &str); 3] =
    [("reference", "source_reply"), ("baseline", "base_reply"), ("rationale", "rationale")];

impl References {
    /// Adds the ids of a group and checks its references; referenced configs have been read before.
    pub(super) fn add(&mut self, group: &Group<'_>) {
        if let Some((config, id, columns)) = REPEATED.into_iter().find(|(config, ..)| *config == group.config) {
            let rows = self.rows.entry(config).or_default();
            for row in 0..group.height {
                let Some(id) = group.text(id, row) else { continue };
                let hashes = columns.iter().map(|(column, _)| text_hash(group, column, row)).collect();
                rows.insert(id.to_owned(), hashes);
            }
        }
        match group.config {
            "conversations" => self.add_turns(group),
            "characters" => self.add_profiles(group),
            _ => {}
        }
        let Some((_, named)) = NAMED.iter().find(|(config, _)| *config == group.config) else { return };
        for (column, of) in *named {
            if !self.rows.contains_key(of) {
                self.missing.insert(of);
                continue;
            }
            let Some(ids) = group.texts(column) else { continue };
            for row in 0..group.height {
                let message = match ids.text(row) {
                    None => format!("the row refers to no row of `{of}`"),
                    Some(id) if !self.rows[of].contains_key(id) => format!("`{of}` has no row with the id `{id}`"),
                    Some(id) => {
                        self.compare(group, row, of, id);
                        continue;
                    }
                };
                self.pending.add(group, row, column, of, || message);
            }
        }
    }

    /// Compares a row with one that it refers to.
    fn compare(&mut self, group: &Group<'_>, row: usize, of: &'static str, id: &str) {
        let columns = REPEATED.iter().find(|(config, ..)| *config == of).map_or(&[][..], |(.., columns)| columns);
        for ((_, column), there) in columns.iter().zip(&self.rows[of][id]) {
            if differ(*there, text_hash(group, column, row)) {
                let message = || format!("`{column}` differs from the row `{id}` of `{of}`");
                self.pending.add(group, row, column, of, message);
            }
        }
        match (of, group.config) {
            ("conversations", "samples") => self.compare_turn(group, row, id),
            ("characters", "samples") => self.compare_profile(group, row, id),
            _ => {}
        }
    }

    fn add_profiles(&mut self, group: &Group<'_>) {
        let Some(cells) = group.cells("profile") else { return };
        for row in 0..group.height {
            if let Some((id, profile)) = group.text("id", row).zip(Profile::of(cells, row)) {
                self.profiles.insert(id.to_owned(), profile);
            }
        }
    }

    fn compare_profile(&mut self, group: &Group<'_>, row: usize, id: &str) {
        let sample = group.cells("profile").and_then(|cells| Profile::of(cells, row));
        if self.profiles.get(id).zip(sample).is_some_and(|(profile, sample)| !profile.contains(&sample)) {
            let message = || format!("`profile` has content that is missing in the row `{id}` of `characters`");
            self.pending.add(group, row, "profile", "characters", message);
        }
    }

    fn add_turns(&mut self, group: &Group<'_>) {
        let Some(turns) = group.cells("turns") else { return };
        let (Some(dimensions), Some(scores)) = (turns.field("dimension"), turns.field("score")) else { return };
        if !matches!((dimensions, scores), (Cells::Text(_), Cells::Int8(_) | Cells::Int32(_) | Cells::Int64(_))) {
            return;
        }
        for row in 0..group.height {
            let mut utterances = UtteranceHash::new(turns);
            let turn = |turn: usize| {
                let judged = (dimensions.text(turn).map(str::to_owned), scores.number(turn));
                let texts = OF_TURN.map(|(_, field)| text(turns.field(field)?, turn));
                let before = utterances.so_far();
                utterances.add(turn);
                Turn { judged, texts, before }
            };
            let turns = turns.list(row).map(turn).collect();
            self.turns.insert(group.text("id", row).unwrap_or_default().to_owned(), turns);
        }
    }

    fn compare_turn(&mut self, group: &Group<'_>, row: usize, conversation: &str) {
        let is_there = |column| group.cells(column).is_some_and(|cells| !matches!(cells, Cells::Other));
        let Some(turns) =
            self.turns.get(conversation).filter(|_| ["dimension", "score", "turn"].into_iter().all(is_there))
        else {
            return;
        };
        let number = |column| group.cells(column).and_then(|cells| cells.number(row));
        let judged = (group.text("dimension", row).map(str::to_owned), number("score"));
        let number = number("turn").and_then(|turn| usize::try_from(turn).ok());
        let shown_number = number.map_or_else(|| "none".to_owned(), |turn| turn.to_string());
        let mut report = |column: &str, message: String| {
            self.pending.add(group, row, column, "conversations", || message);
        };
        let Some(turn) = number.and_then(|number| turns.get(number)) else {
            return report("turn", format!("the conversation `{conversation}` has no turn {shown_number}"));
        };
        if turn.judged != judged {
            let (dimension, score) = judged;
            let score = score.map_or_else(|| "-".to_owned(), |score| score.to_string());
            let dimension = dimension.as_deref().unwrap_or("-");
            let judged = format!("is not judged `{dimension}` with score {score}");
            return report("turn", format!("turn {shown_number} of the conversation `{conversation}` {judged}"));
        }
        for ((column, field), there) in OF_TURN.into_iter().zip(turn.texts) {
            // A reference may have been edited by hand; `conversations` keeps the model's reply.
            let is_edited = column == "reference" && group.text("edit_reason", row).is_some();
            if !is_edited && differ(there, text_hash(group, column, row)) {
                report(
                    column,
                    format!(
                        "the text differs from the `{field}` of turn {shown_number} of the conversation `{conversation}`"
                    ),
                );
            }
        }
        let history = group.cells("history").and_then(|history| {
            let mut utterances = UtteranceHash::new(history);
            history.list(row).for_each(|line| utterances.add(line));
            utterances.so_far()
        });
        if differ(turn.before, history) {
            report(
                "history",
                format!(
                    "the history differs from the turns before turn {shown_number} of the conversation `{conversation}`"
                ),
            );
        }
    }

    /// Records that a config could be read completely.
    pub(super) fn mark_complete(&mut self, config: &str) {
        self.complete.insert(config.to_owned());
    }

    /// Reports the missing rows. If the referenced config could not be read completely, its references are not
    /// reported.
    pub(super) fn check(self, findings: &mut Findings, notes: &mut Vec<String>) {
        for ((_, _, of), LimitedFindings { first, more }) in self.pending.by_column {
            if !self.complete.contains(of) {
                continue;
            }
            if let Some((location, _)) = first.first() {
                let location = location.clone();
                for (location, message) in first {
                    findings.add(location, &message, Remedy::RestoreReferenced);
                }
                findings.count(&location, more);
            }
        }
        let mut missing: Vec<&str> = self.missing.into_iter().collect();
        missing.sort_unstable();
        for config in missing {
            notes.push(format!("there is no `{config}`; references to its rows were not checked"));
        }
    }
}

/// Running hash of the utterances of a conversation.
struct UtteranceHash<'a> {
    fields: Option<(&'a Cells, &'a Cells)>,
    hasher: DefaultHasher,
}

impl<'a> UtteranceHash<'a> {
    fn new(lines: &'a Cells) -> Self {
        let fields = lines.field("speaker").zip(lines.field("content"));
        let fields = fields.filter(|fields| matches!(fields, (Cells::Text(_), Cells::Text(_))));
        Self { fields, hasher: DefaultHasher::new() }
    }

    fn add(&mut self, line: usize) {
        if let Some((speakers, contents)) = self.fields {
            (speakers.text(line), contents.text(line)).hash(&mut self.hasher);
        }
    }

    fn so_far(&self) -> TextHash {
        self.fields.map(|_| self.hasher.finish())
    }
}

/// Returns whether both hashes exist and differ.
fn differ(one: TextHash, other: TextHash) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

fn text(cells: &Cells, index: usize) -> TextHash {
    // A reply that a model did not give is an empty text in a sample.
    matches!(cells, Cells::Text(_)).then(|| hash(|hasher| cells.text(index).unwrap_or_default().hash(hasher)))
}

/// Returns the hash of a row's column, including all texts of a list.
fn text_hash(group: &Group<'_>, column: &str, row: usize) -> TextHash {
    match group.cells(column)? {
        texts @ Cells::Text(_) => text(texts, row),
        lists @ Cells::List { .. } => Some(hash(|hasher| {
            lists.each_text(row, &mut String::new(), &mut |path, text| (path, text).hash(hasher));
        })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::*;

    #[test]
    fn findings_beyond_the_limit_are_only_counted() {
        let ids: Vec<String> = (0..55).map(|row| format!("渡口/{row}")).collect();
        let scenes = df!("id" => &["ferry"]).unwrap();
        let samples = df!("id" => &ids, "scene_id" => vec!["other"; ids.len()]).unwrap();
        let mut references = References::default();
        references.add(&Group::new("scenes", "scenes.parquet", "train", 0, &scenes).unwrap());
        for (number, file) in ["a.parquet", "a.parquet", "b.parquet"].into_iter().enumerate() {
            references.add(&Group::new("samples", file, "test", number * ids.len(), &samples).unwrap());
        }
        assert_eq!(
            references.pending.by_column.values().map(|by_column| by_column.first.len()).sum::<usize>(),
            2 * MOST
        );
        references.mark_complete("scenes");
        let mut findings = Findings::of(true);
        references.check(&mut findings, &mut Vec::new());
        let (listed, more) = findings.finish();
        assert_eq!((listed.len(), more), (2 * MOST, BTreeMap::from([(Check::Reference, 3 * ids.len() - 2 * MOST)])));
        assert_eq!((listed[1].row, listed[1].id.as_deref()), (Some(1), Some("渡口/1")));
    }
}
