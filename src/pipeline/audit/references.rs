//! Whether what rows name is there: scenes, characters, conversations and their turns, roles.

use std::collections::{HashMap, HashSet};

use super::Group;
use super::places::{Findings, Spot};
use crate::cells::Cells;

/// A turn as far as a sample must agree with it: its dimension and its score.
type Judged = (Option<String>, Option<i64>);

/// What was read that others name, and what names it.
#[derive(Debug, Default)]
pub(super) struct References {
    ids: HashMap<&'static str, HashSet<String>>,
    whole: HashSet<String>,
    /// By conversation: its judged turns.
    turns: HashMap<String, Vec<Judged>>,
    open: Vec<Open>,
    missing: HashSet<&'static str>,
}

/// A name that is to be found.
#[derive(Debug)]
struct Open {
    spot: Spot,
    /// The config that has it.
    of: &'static str,
    id: String,
    turn: Option<(usize, Judged)>,
}

/// By config: its columns that name rows of others, and which.
const NAMED: [(&str, &[(&str, &str)]); 4] = [
    ("conversations", &[("scene_id", "scenes")]),
    ("samples", &[("scene_id", "scenes"), ("character_id", "characters"), ("conversation_id", "conversations")]),
    ("role_specific", &[("role_id", "roles")]),
    ("role_general", &[("role_id", "roles")]),
];

impl References {
    /// Takes the ids of a group, and looks for what its rows name; configs that are named have been read by then.
    pub(super) fn add(&mut self, group: &Group<'_>) {
        let own = [("scenes", "id"), ("characters", "id"), ("conversations", "id"), ("roles", "role_id")];
        if let Some((config, column)) = own.into_iter().find(|(config, _)| *config == group.config) {
            let ids = (0..group.height).filter_map(|row| group.text(column, row)).map(str::to_owned);
            self.ids.entry(config).or_default().extend(ids);
        }
        if group.config == "conversations" {
            self.add_turns(group);
        }
        let Some((_, named)) = NAMED.iter().find(|(config, _)| *config == group.config) else { return };
        for (column, of) in *named {
            if !self.ids.contains_key(of) {
                self.missing.insert(of);
                continue;
            }
            let Some(ids) = group.texts(column) else { continue };
            for row in 0..group.height {
                let Some(id) = ids.text(row) else {
                    self.open.push(Open {
                        spot: group.spot("reference", row, column),
                        of,
                        id: String::new(),
                        turn: None,
                    });
                    continue;
                };
                if !self.ids[of].contains(id) {
                    self.open.push(Open {
                        spot: group.spot("reference", row, column),
                        of,
                        id: id.to_owned(),
                        turn: None,
                    });
                } else if *of == "conversations" {
                    self.check_turn(group, row, id);
                }
            }
        }
    }

    fn add_turns(&mut self, group: &Group<'_>) {
        let Some(turns) = group.cells("turns") else { return };
        let (Some(dimensions), Some(scores)) = (turns.field("dimension"), turns.field("score")) else { return };
        if !matches!((dimensions, scores), (Cells::Text(_), Cells::Small(_) | Cells::Number(_) | Cells::Large(_))) {
            return;
        }
        for row in 0..group.height {
            let judged = turns.list(row).map(|turn| (dimensions.text(turn).map(str::to_owned), scores.number(turn)));
            self.turns.insert(group.text("id", row).unwrap_or_default().to_owned(), judged.collect());
        }
    }

    fn check_turn(&mut self, group: &Group<'_>, row: usize, conversation: &str) {
        let is_there = |column| group.cells(column).is_some_and(|cells| !matches!(cells, Cells::Other));
        let Some(turns) =
            self.turns.get(conversation).filter(|_| ["dimension", "score", "turn"].into_iter().all(is_there))
        else {
            return;
        };
        let number = |column| group.cells(column).and_then(|cells| cells.number(row));
        let own: Judged = (group.text("dimension", row).map(str::to_owned), number("score"));
        let turn = number("turn").and_then(|turn| usize::try_from(turn).ok()).unwrap_or(usize::MAX);
        if turns.get(turn) != Some(&own) {
            let spot = group.spot("reference", row, "turn");
            self.open.push(Open { spot, of: "conversations", id: conversation.to_owned(), turn: Some((turn, own)) });
        }
    }

    /// Notes that all of a config could be read.
    pub(super) fn whole(&mut self, config: &str) {
        self.whole.insert(config.to_owned());
    }

    /// Tells what was not found. Where a config cannot be read whole, nothing is said of what others name in it.
    pub(super) fn check(self, findings: &mut Findings, notes: &mut Vec<String>) {
        let remedy =
            "take the row out, or put back what it names: `dramaturg build PIPELINE --replay` makes both again";
        for open in self.open.into_iter().filter(|open| self.whole.contains(open.of)) {
            let Open { spot, of, id, turn } = open;
            let message = match turn {
                None if id.is_empty() => format!("the row names none of `{of}`"),
                None => format!("`{of}` has no row with the id `{id}`"),
                Some((turn, (dimension, score))) => {
                    let turn = if turn == usize::MAX { "none".to_owned() } else { turn.to_string() };
                    format!(
                        "turn {turn} of the conversation `{id}` is not judged `{}` with score {}",
                        dimension.as_deref().unwrap_or("-"),
                        score.map_or_else(|| "-".to_owned(), |score| score.to_string())
                    )
                }
            };
            findings.add(spot, &message, remedy);
        }
        let mut missing: Vec<&str> = self.missing.into_iter().collect();
        missing.sort_unstable();
        for config in missing {
            notes.push(format!("there is no `{config}`; what names its rows was not checked"));
        }
    }
}
