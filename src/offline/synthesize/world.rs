//! Worlds combined from tables.

use rand_chacha::ChaCha8Rng;

use super::random::{draw, find};
use super::slots::{Slots, fill};
use crate::llm::{Offline, OfflineAnswer};
use crate::stages::synthesize::tables::Tables;
use crate::stages::synthesize::{MakeWorld, Seed, World};

impl OfflineAnswer for MakeWorld {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> World {
        world(self, &mut offline.rng)
    }
}

fn world(ask: &MakeWorld, rng: &mut ChaCha8Rng) -> World {
    let tables = Tables::of(ask.language);
    let sparks = &ask.sparks;
    let place = find(&tables.places, rng, |place| place.kind == sparks.place);
    let rule = find(&tables.rules, rng, |rule| rule.custom == sparks.custom);
    let tension = find(&tables.tensions, rng, |tension| tension.stake == sparks.stake);
    let mut themes: Vec<_> = tables.themes.iter().filter(|theme| sparks.themes.contains(&theme.name)).collect();
    while themes.len() < 3 {
        themes.push(draw(&tables.themes, rng));
    }
    let chosen = *draw(&themes, rng);
    let slots = Slots::from([
        ("name", place.name.clone()),
        ("kind", place.kind.clone()),
        ("setting", place.setting.clone()),
        ("society", place.society.clone()),
    ]);
    let [setting, society] = &tables.world;
    World {
        seeds: themes.iter().map(|theme| Seed { theme: theme.name.clone(), merit: theme.merit.clone() }).collect(),
        reason: chosen.merit.clone(),
        theme: chosen.name.clone(),
        name: place.name.clone(),
        place: fill(setting, &slots),
        society: fill(society, &slots),
        rule: rule.text.clone(),
        tension: tension.text.clone(),
    }
}
