//! The table rows that a world and its characters are made of.

use rand_chacha::ChaCha8Rng;

use super::random::find;
use super::slots::{Slots, indefinite};
use crate::schema::Language;
use crate::stages::synthesize::tables::{Hobby, Occupation, Place, Rule, Tables, Temperament, Tension};
use crate::stages::synthesize::{Sheet, World};

/// The table rows of a world.
pub(super) struct WorldRows {
    pub(super) language: Language,
    pub(super) tables: &'static Tables,
    pub(super) index: usize,
    pub(super) place: &'static Place,
    pub(super) rule: &'static Rule,
    pub(super) tension: &'static Tension,
}

/// The table rows of a character.
pub(super) struct CharacterRows {
    pub(super) woman: bool,
    pub(super) friend: String,
    pub(super) occupation: &'static Occupation,
    pub(super) temperament: &'static Temperament,
    pub(super) hobby: &'static Hobby,
}

impl WorldRows {
    pub(super) fn of(world: &World, language: Language, rng: &mut ChaCha8Rng) -> Self {
        let tables = Tables::of(language);
        let place = find(&tables.places, rng, |place| place.name == world.name);
        let index = tables.places.iter().position(|other| other.name == place.name).unwrap_or_default();
        let rule = find(&tables.rules, rng, |rule| rule.text == world.rule);
        let tension = find(&tables.tensions, rng, |tension| tension.text == world.tension);
        Self { language, tables, index, place, rule, tension }
    }

    /// Recognizes the table rows of each sheet.
    pub(super) fn parts(&self, sheets: &[Sheet], rng: &mut ChaCha8Rng) -> Vec<CharacterRows> {
        let trades: Vec<&'static Occupation> = self.place.occupations.iter().chain(&self.tables.trades).collect();
        let part = |(index, sheet): (usize, &Sheet)| CharacterRows {
            woman: sheet.gender == self.tables.female,
            friend: sheets[(index + 1) % sheets.len()].name.clone(),
            occupation: find::<&'static Occupation>(&trades, rng, |occupation| {
                sheet.occupation.to_lowercase().contains(&occupation.title)
            }),
            temperament: find(&self.tables.temperaments, rng, |row| sheet.persona.starts_with(&row.label)),
            hobby: find(&self.tables.hobbies, rng, |hobby| sheet.hobbies == hobby.detail),
        };
        sheets.iter().enumerate().map(part).collect()
    }

    /// Returns whether an occupation exists in every place.
    pub(super) fn is_everywhere(&self, occupation: &Occupation) -> bool {
        self.tables.trades.iter().any(|trade| trade.title == occupation.title)
    }

    pub(super) fn slots(&self, part: &CharacterRows) -> Slots {
        let CharacterRows { occupation, hobby, .. } = part;
        let english = self.language == Language::En;
        let trade = match (self.is_everywhere(occupation), english) {
            (false, _) => occupation.title.clone(),
            (true, true) => format!("{} of {}", occupation.title, self.place.name),
            (true, false) => format!("{}的{}", self.place.name, occupation.title),
        };
        // Friends are called by the first name in English and by the full name in Chinese.
        let friend = if english { part.friend.split(' ').next().unwrap_or_default() } else { &part.friend };
        let [she, her, them] = match (english, part.woman) {
            (true, true) => ["she", "her", "her"],
            (true, false) => ["he", "his", "him"],
            (false, _) => [""; 3],
        };
        Slots::from([
            ("place", self.place.name.clone()),
            ("folk", self.place.folk.clone()),
            ("master", self.place.master.clone()),
            ("hazard", self.place.hazard.clone()),
            ("meal", self.place.meal.clone()),
            ("goods", occupation.goods.replace("{place}", &self.place.name)),
            ("tool", occupation.tool.clone()),
            ("tool_a", indefinite(&occupation.tool)),
            ("work", occupation.work.clone()),
            ("trade", trade),
            ("custom", self.rule.custom.clone()),
            ("stake", self.tension.stake.clone()),
            ("friend", friend.to_owned()),
            ("hobby", hobby.doing.clone()),
            ("she", she.to_owned()),
            ("her", her.to_owned()),
            ("them", them.to_owned()),
            ("ta", if part.woman { "她" } else { "他" }.to_owned()),
        ])
    }
}
