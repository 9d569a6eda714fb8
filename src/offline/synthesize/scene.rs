//! Scenes combined from tables.

use rand_chacha::ChaCha8Rng;

use super::random::draw;
use super::rows::WorldRows;
use super::slots::{Slots, fill};
use crate::llm::{Offline, OfflineAnswer};
use crate::schema::Language;
use crate::stages::synthesize::{MakeScene, Meeting};

impl OfflineAnswer for MakeScene {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Meeting {
        scene(self, &mut offline.rng)
    }
}

fn scene(ask: &MakeScene, rng: &mut ChaCha8Rng) -> Meeting {
    let setting = WorldRows::of(&ask.world, ask.language, rng);
    let names: Vec<&str> = ask.characters.iter().map(|sheet| sheet.name.as_str()).collect();
    let parts = setting.parts(&ask.characters, rng);
    let mut slots = parts.first().map_or_else(Slots::new, |part| setting.slots(part));
    slots.insert("cast", list(&names, ask.language));
    Meeting {
        situation: fill(draw::<String>(&setting.tables.situations, rng), &slots),
        wants: ask.characters.iter().map(|sheet| sheet.want.clone()).collect(),
    }
}

/// Returns names as an enumeration.
fn list(names: &[&str], language: Language) -> String {
    match (names, language) {
        (_, Language::Zh) => names.join("、"),
        ([one], _) => (*one).to_owned(),
        ([first @ .., last], _) => format!("{} and {last}", first.join(", ")),
        ([], _) => String::new(),
    }
}
