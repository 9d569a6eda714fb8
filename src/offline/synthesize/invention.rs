//! The offline answers of `synthesize`: worlds, characters, scenes and dialogues combined from tables.
//!
//! An answer depends only on its ask and a random generator. Rows chosen by an earlier step (such as the place) are
//! recognized by their texts in the ask; if those are not from the tables, new rows are drawn.

use rand::RngExt as _;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_chacha::ChaCha8Rng;

use super::tables::{
    Hobby, Occupation, Place, Rule, Slots, Tables, Temperament, Tension, capitalised, fill, indefinite,
};
use crate::schema::{Attribute, Language};
use crate::stages::synthesize::faults::clash;
use crate::stages::synthesize::{
    MakeCharacters, MakeDialogue, MakeScene, MakeWorld, Meeting, Said, Seed, Sheet, Sheets, Talk, World,
};

/// Maximum number of lines of one character.
const MOST_LINES: usize = 36;
/// Maximum number of lines of one character from the general table.
const MOST_GENERAL: usize = 8;
/// Probability that a line of the dialogue has an action.
const ACTIONS: f64 = 0.25;

pub(crate) fn world(ask: &MakeWorld, rng: &mut ChaCha8Rng) -> World {
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

pub(crate) fn characters(ask: &MakeCharacters, rng: &mut ChaCha8Rng) -> Sheets {
    let setting = Setting::of(&ask.world, ask.language, rng);
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
        let part = Part {
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

pub(crate) fn scene(ask: &MakeScene, rng: &mut ChaCha8Rng) -> Meeting {
    let setting = Setting::of(&ask.world, ask.language, rng);
    let names: Vec<&str> = ask.characters.iter().map(|sheet| sheet.name.as_str()).collect();
    let parts = setting.parts(&ask.characters, rng);
    let mut slots = parts.first().map_or_else(Slots::new, |part| setting.slots(part));
    slots.insert("cast", list(&names, ask.language));
    Meeting {
        situation: fill(draw::<String>(&setting.tables.situations, rng), &slots),
        wants: ask.characters.iter().map(|sheet| sheet.want.clone()).collect(),
    }
}

pub(crate) fn dialogue(ask: &MakeDialogue, rng: &mut ChaCha8Rng) -> Talk {
    let setting = Setting::of(&ask.world, ask.language, rng);
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
            frames.retain(|frame| !everywhere || is_of_place(frame));
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
                dialogue.push(Said { speaker: sheet.name.clone(), action: action.clone(), speech: speech.clone() });
            }
        }
    }
    Talk { dialogue }
}

/// The table rows of a world.
struct Setting {
    language: Language,
    tables: &'static Tables,
    index: usize,
    place: &'static Place,
    rule: &'static Rule,
    tension: &'static Tension,
}

/// The table rows of a character.
struct Part {
    woman: bool,
    friend: String,
    occupation: &'static Occupation,
    temperament: &'static Temperament,
    hobby: &'static Hobby,
}

impl Setting {
    fn of(world: &World, language: Language, rng: &mut ChaCha8Rng) -> Self {
        let tables = Tables::of(language);
        let place = find(&tables.places, rng, |place| place.name == world.name);
        let index = tables.places.iter().position(|other| other.name == place.name).unwrap_or_default();
        let rule = find(&tables.rules, rng, |rule| rule.text == world.rule);
        let tension = find(&tables.tensions, rng, |tension| tension.text == world.tension);
        Self { language, tables, index, place, rule, tension }
    }

    /// Recognizes the table rows of each sheet.
    fn parts(&self, sheets: &[Sheet], rng: &mut ChaCha8Rng) -> Vec<Part> {
        let trades: Vec<&'static Occupation> = self.place.occupations.iter().chain(&self.tables.trades).collect();
        let part = |(index, sheet): (usize, &Sheet)| Part {
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
    fn is_everywhere(&self, occupation: &Occupation) -> bool {
        self.tables.trades.iter().any(|trade| trade.title == occupation.title)
    }

    fn slots(&self, part: &Part) -> Slots {
        let Part { occupation, hobby, .. } = part;
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

/// Returns up to `count` full names, each with whether it is a woman's. They clash neither with one another nor with
/// `avoid`. Names of the place come first, then those of the following places.
fn names(setting: &Setting, count: usize, avoid: &[String], rng: &mut ChaCha8Rng) -> Vec<(String, bool)> {
    let places = setting.tables.places.len();
    let mut names: Vec<(String, bool)> = Vec::new();
    for place in (setting.index..places).chain(0..setting.index) {
        let mut given = setting.tables.given(place);
        let mut families = setting.tables.families(place);
        given.shuffle(rng);
        families.shuffle(rng);
        for (index, (first, woman)) in given.into_iter().enumerate() {
            if names.len() == count {
                return names;
            }
            let mut whole = (0..families.len()).map(|shift| {
                let family = families[(index + shift) % families.len()];
                if setting.language == Language::En { format!("{first} {family}") } else { format!("{family}{first}") }
            });
            let free = whole.find(|name| {
                !names.iter().any(|(other, _)| clash(name, other)) && !avoid.iter().any(|taken| clash(name, taken))
            });
            names.extend(free.map(|name| (name, woman)));
        }
    }
    names
}

/// Returns whether a line has no slots or a slot whose value is unique to a world.
fn is_of_place(frame: &str) -> bool {
    let own = ["place", "folk", "master", "hazard", "meal", "custom", "stake", "friend", "goods", "trade"];
    !frame.contains('{') || own.iter().any(|slot| frame.contains(&format!("{{{slot}}}")))
}

/// Returns the first row that fits, otherwise a random one.
fn find<'t, T>(rows: &'t [T], rng: &mut ChaCha8Rng, fits: impl FnMut(&&T) -> bool) -> &'t T {
    // Always draw, so that later draws do not depend on whether a row fits.
    let any = draw(rows, rng);
    rows.iter().find(fits).unwrap_or(any)
}

fn draw<'t, T>(rows: &'t [T], rng: &mut ChaCha8Rng) -> &'t T {
    rows.choose(rng).expect("the embedded tables have no empty lists")
}

fn shuffled<'t, T>(rows: &'t [T], rng: &mut ChaCha8Rng) -> Vec<&'t T> {
    let mut rows: Vec<&T> = rows.iter().collect();
    rows.shuffle(rng);
    rows
}

/// Joins sentences, with spaces in English.
fn joined(sentences: &[String], language: Language) -> String {
    sentences.join(if language == Language::En { " " } else { "" })
}

/// Fills the slots of a text that does not begin a sentence, such as an action in parentheses.
fn uncapitalised(frame: &str, slots: &Slots) -> String {
    let filled = fill(frame, slots);
    let mut chars = filled.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
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
