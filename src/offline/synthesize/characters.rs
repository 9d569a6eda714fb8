//! Characters combined from tables.

use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use super::random::shuffled;
use super::rows::{CharacterRows, WorldRows};
use super::slots::{capitalised, fill, uncapitalised};
use crate::llm::{Offline, OfflineAnswer};
use crate::schema::{Attribute, Language};
use crate::stages::synthesize::names::clash;
use crate::stages::synthesize::{MakeCharacters, Sheet, Sheets};

impl OfflineAnswer for MakeCharacters {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Sheets {
        characters(self, &mut offline.rng)
    }
}

fn characters(ask: &MakeCharacters, rng: &mut ChaCha8Rng) -> Sheets {
    let setting = WorldRows::of(&ask.world, ask.language, rng);
    let tables = setting.tables;
    let people = names(&setting, ask.count, &ask.avoid, rng);
    let mut temperaments = shuffled(&tables.temperaments, rng);
    temperaments.sort_by_key(|row| ask.voices.iter().position(|voice| *voice == row.label).unwrap_or(usize::MAX));
    let mut occupations = shuffled(&setting.place.occupations, rng);
    occupations.extend(shuffled(&tables.trades, rng));
    let hobbies = shuffled(&tables.hobbies, rng);
    let [looks, formative, memories] =
        [&tables.looks, &tables.formative, &tables.memories].map(|table| shuffled(table, rng));
    let [relations, secrets] = [&tables.relations, &tables.secrets].map(|table| shuffled(table, rng));
    // Uses a clone of the generator, so that the other draws stay the same.
    let further = shuffled(&tables.further, &mut rng.clone());
    let [fears, wants] = [&tables.fears, &tables.wants].map(|table| shuffled(table, rng));
    let sheet = |(index, (name, woman)): (usize, &(String, bool))| {
        let cycle = |table: &[&'static String]| table[index % table.len()].as_str();
        let temperament = temperaments[index % temperaments.len()];
        let occupation = occupations[index % occupations.len()];
        let hobby = hobbies[index % hobbies.len()];
        let own = further[index % further.len()];
        let part = CharacterRows {
            woman: *woman,
            friend: people[(index + 1) % people.len()].0.clone(),
            occupation,
            temperament,
            hobby,
        };
        let slots = setting.slots(&part);
        let say = |frame: &str| fill(frame, &slots);
        let stop = if ask.language == Language::En { "." } else { "。" };
        let background = format!("{}{stop}", say(&occupation.history));
        let public_want = say(&setting.tension.wants[index % setting.tension.wants.len()]);
        let quiet_want = uncapitalised(cycle(&wants), &slots);
        let want = match ask.language {
            Language::En => format!("{public_want}; and, more quietly, {quiet_want}"),
            Language::Zh => format!("{public_want}；私下里{quiet_want}"),
        };
        // The first character has the world's own secret; the others have general ones.
        let secret = index.checked_sub(1).map_or(setting.rule.secret.as_str(), |_| cycle(&secrets));
        Sheet {
            name: name.clone(),
            gender: if *woman { &tables.female } else { &tables.male }.clone(),
            age: tables.ages.replace("{n}", &rng.random_range(38..=70).to_string()),
            appearance: say(cycle(&looks)),
            occupation: match ask.language {
                Language::En => format!("{} in {}.", capitalised(&occupation.title), setting.place.name),
                Language::Zh => format!("{}的{}。", setting.place.name, occupation.title),
            },
            persona: joined(&[format!("{}{stop}", temperament.label), say(&temperament.persona)], ask.language),
            public_background: background,
            relationships: say(cycle(&relations)),
            hobbies: say(&hobby.detail),
            speech_pattern: say(&temperament.speech),
            private_background: say(secret),
            formative_experience: say(cycle(&formative)),
            memory: say(cycle(&memories)),
            fear: say(cycle(&fears)),
            want,
            further: vec![Attribute { value: say(&own.value), ..own.clone() }],
        }
    };
    Sheets { characters: people.iter().enumerate().map(sheet).collect() }
}

/// Returns up to `count` full names, each with whether it is a woman's. They clash neither with one another nor with
/// `avoid`. Names of the place come first, then those of the following places.
fn names(setting: &WorldRows, count: usize, avoid: &[String], rng: &mut ChaCha8Rng) -> Vec<(String, bool)> {
    let places = setting.tables.places.len();
    let mut names: Vec<(String, bool)> = Vec::new();
    for place in (setting.index..places).chain(0..setting.index) {
        let mut given_names = setting.tables.given_names(place);
        let mut family_names = setting.tables.family_names(place);
        given_names.shuffle(rng);
        family_names.shuffle(rng);
        for (index, (first, woman)) in given_names.into_iter().enumerate() {
            if names.len() == count {
                return names;
            }
            let mut full_names = (0..family_names.len()).map(|shift| {
                let family = family_names[(index + shift) % family_names.len()];
                if setting.language == Language::En { format!("{first} {family}") } else { format!("{family}{first}") }
            });
            let free = full_names.find(|name| {
                !names.iter().any(|(other, _)| clash(name, other)) && !avoid.iter().any(|avoided| clash(name, avoided))
            });
            names.extend(free.map(|name| (name, woman)));
        }
    }
    names
}

/// Joins sentences, with spaces in English.
fn joined(sentences: &[String], language: Language) -> String {
    sentences.join(if language == Language::En { " " } else { "" })
}
