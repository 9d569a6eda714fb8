//! Dialogues combined from tables.

use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use super::random::draw;
use super::rows::WorldRows;
use super::slots::{fill, uncapitalised};
use crate::llm::{Offline, OfflineAnswer};
use crate::stages::synthesize::{Dialogue, DialogueLine, MakeDialogue};

/// Maximum number of lines of one character.
const MOST_LINES: usize = 36;
/// Maximum number of lines of one character from the general table.
const MOST_GENERAL: usize = 8;
/// Probability that a line of the dialogue has an action.
const ACTIONS: f64 = 0.25;

impl OfflineAnswer for MakeDialogue {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Dialogue {
        dialogue(self, &mut offline.rng)
    }
}

fn dialogue(ask: &MakeDialogue, rng: &mut ChaCha8Rng) -> Dialogue {
    let setting = WorldRows::of(&ask.world, ask.language, rng);
    let tables = setting.tables;
    let parts = setting.parts(&ask.characters, rng);
    let count = parts.len();
    let voices: Vec<Vec<(String, Option<String>)>> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            let slots = setting.slots(part);
            // Lines about the world are distributed, so that no two characters say the same.
            let share = |lines: &'static [String]| lines.iter().skip(index).step_by(count);
            let mut frames: Vec<&String> = share(&setting.place.facts).chain(share(&setting.rule.lines)).collect();
            let mut general: Vec<&String> = share(&tables.general).collect();
            general.shuffle(rng);
            frames.extend(general.into_iter().take(MOST_GENERAL));
            frames.extend(part.temperament.frames.iter().chain(&part.hobby.lines).chain(&part.occupation.facts));
            // Lines of a trade that exists everywhere would be the same in each place unless a slot depends on the
            // place.
            let everywhere = setting.is_everywhere(part.occupation);
            frames.retain(|frame| !everywhere || is_unique_to_place(frame));
            frames.shuffle(rng);
            let opening = share(&setting.tension.sides);
            let frames = opening.chain(frames).take(MOST_LINES);
            let line = |frame: &String| {
                let action = rng.random_bool(ACTIONS).then(|| draw(&part.temperament.actions, rng));
                (fill(frame, &slots), action.map(|action| uncapitalised(action, &slots)))
            };
            frames.map(line).collect()
        })
        .collect();
    let longest = voices.iter().map(Vec::len).max().unwrap_or_default();
    let mut dialogue = Vec::new();
    for turn in 0..longest {
        for (sheet, voice) in ask.characters.iter().zip(&voices) {
            if let Some((speech, action)) = voice.get(turn) {
                dialogue.push(DialogueLine {
                    speaker: sheet.name.clone(),
                    action: action.clone(),
                    speech: speech.clone(),
                });
            }
        }
    }
    Dialogue { dialogue }
}

/// Returns whether a line has no slots or a slot whose value is unique to a world.
fn is_unique_to_place(frame: &str) -> bool {
    let own = ["place", "folk", "master", "hazard", "meal", "custom", "stake", "friend", "goods", "trade"];
    !frame.contains('{') || own.iter().any(|slot| frame.contains(&format!("{{{slot}}}")))
}
