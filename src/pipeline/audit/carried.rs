//! Whether conversations stand where their samples do: a chat holds the turns that its samples test.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Group;
use super::places::{Findings, Spot};
use crate::stages::split::UNUSED;

/// Conversations and the splits of their samples.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// By id: its split, and where it stands.
    conversations: BTreeMap<String, (String, Spot)>,
    /// By id: the best guarded split of its samples.
    samples: HashMap<String, String>,
    /// The splits of all samples, what was set aside left out.
    splits: BTreeSet<String>,
}

impl Carried {
    /// Takes the rows of a group.
    pub(super) fn add(&mut self, group: &Group<'_>) {
        for row in 0..group.height {
            match group.config {
                "conversations" => {
                    let Some(id) = group.text("id", row) else { continue };
                    let spot = group.spot("leak", row, "id");
                    self.conversations.insert(id.to_owned(), (group.split.to_owned(), spot));
                }
                "samples" => {
                    if group.split != UNUSED && !self.splits.contains(group.split) {
                        self.splits.insert(group.split.to_owned());
                    }
                    let Some(id) = group.text("conversation_id", row) else { continue };
                    match self.samples.get_mut(id) {
                        Some(best) if guard(group.split) < guard(best) => group.split.clone_into(best),
                        Some(_) => {}
                        None => drop(self.samples.insert(id.to_owned(), group.split.to_owned())),
                    }
                }
                _ => {}
            }
        }
    }

    /// Tells conversations that are less guarded than their samples, or that they were not divided at all.
    pub(super) fn check(self, findings: &mut Findings, notes: &mut Vec<String>) {
        if self.splits.len() < 2 {
            return;
        }
        let own: BTreeSet<&str> = self.conversations.values().map(|(split, _)| split.as_str()).collect();
        for (id, (split, spot)) in &self.conversations {
            let Some(best) = self.samples.get(id).filter(|best| guard(best) < guard(split)) else { continue };
            let message = format!("samples of it stand in `{best}`, and it stands in `{split}`");
            let remedy =
                "`dramaturg split` places conversations with their samples; train on none of which a turn is tested";
            findings.add(spot.clone(), &message, remedy);
        }
        if let (Some(whole), 1) = (own.first(), own.len()) {
            notes.push(format!(
                "`conversations` was not divided: `{whole}` has the chats of every split of `samples`, also those whose turns are tested"
            ));
        }
    }
}

/// Returns how well a split is guarded, the best first.
fn guard(split: &str) -> usize {
    match split {
        "test" => 0,
        "dev" | "validation" => 1,
        "train" => 4,
        UNUSED => 3,
        _ => 2,
    }
}
