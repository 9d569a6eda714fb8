//! Characters: profiles of keys and values, each public or private.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Language;

/// Who may see an attribute of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Everyone present.
    Public,
    /// Only the character itself and the judge (FURINA 3.1).
    Private,
}

/// One key and value of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// What it is about, such as `persona` or `性格`; any key.
    pub key: String,
    /// One to a few sentences.
    pub value: String,
    /// Who may see it.
    pub visibility: Visibility,
}

/// Returns the public attributes of a profile, in order.
#[must_use]
pub fn public(profile: &[Attribute]) -> Vec<Attribute> {
    profile.iter().filter(|attribute| attribute.visibility == Visibility::Public).cloned().collect()
}

/// The key of a profile under which a character's world stands, in English and Chinese.
const WORLDVIEW: [&str; 2] = ["worldview", "世界观"];

/// Returns the key of a profile under which a character's world stands.
#[must_use]
pub const fn worldview_key(language: Language) -> &'static str {
    match language {
        Language::En => WORLDVIEW[0],
        Language::Zh => WORLDVIEW[1],
    }
}

/// Where a test character comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CharacterType {
    /// A character of a book or of the user's own.
    Established,
    /// Made up by `synthesize`.
    Synthesized,
}

impl CharacterType {
    /// Returns the type as files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Established => "established",
            Self::Synthesized => "synthesized",
        }
    }
}

/// A test character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Character {
    /// Its id, unique within a run: the slug of its name; for one that is picked out of the scene pool
    /// `<slug of its name>@<book slug>`, so that no other book changes it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Other names that it goes by.
    pub aliases: Vec<String>,
    /// The language that it speaks.
    pub language: Language,
    /// Established or synthesized.
    #[serde(rename = "type")]
    pub kind: CharacterType,
    /// The slug of the book that it comes from; null for synthesized ones.
    pub book: Option<String>,
    /// The world that it was made for; null for established ones whose file tells none. Its profile has it too.
    pub worldview: Option<String>,
    /// What is known of it.
    pub profile: Vec<Attribute>,
    /// Lines that it has said, as examples of its way of speaking.
    pub lines: Vec<String>,
    /// The model that made it; null for established ones.
    pub model: Option<String>,
}

impl Character {
    /// Returns the id of somebody who is picked out of the scenes of a book.
    #[must_use]
    pub fn picked_id(name: &str, book: &str) -> String {
        format!("{}@{book}", super::slug(name))
    }

    /// Returns the character with the world that it was made for in its profile, private and once: where the profile tells
    /// it already, under its key or in its words, that stands with whoever may see it there.
    #[must_use]
    pub fn knowing_its_world(mut self) -> Self {
        let world = self.worldview.as_deref().map(str::trim).filter(|world| !world.is_empty());
        let is_world = |attribute: &Attribute| {
            // `World view` and `world_view` are the same key.
            let key = super::slug(&attribute.key).replace('-', "");
            WORLDVIEW.contains(&key.as_str()) || Some(attribute.value.trim()) == world
        };
        if let Some(world) = world
            && !self.profile.iter().any(is_world)
        {
            let (key, value) = (worldview_key(self.language).to_owned(), world.to_owned());
            self.profile.push(Attribute { key, value, visibility: Visibility::Private });
        }
        self
    }

    /// Says whether it was picked out of the scenes of its book.
    #[must_use]
    pub fn is_picked(&self) -> bool {
        self.book.as_ref().is_some_and(|book| self.id == Self::picked_id(&self.name, book))
    }
}

/// A character file (TOML or JSON), as people write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CharacterFile {
    /// Its name; its slug becomes the character's id.
    pub name: String,
    /// Other names that it goes by.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The language that it speaks.
    pub language: Language,
    /// Established or synthesized; established when silent.
    #[serde(rename = "type", default = "established")]
    pub kind: CharacterType,
    /// The slug of the book that it comes from, so that it can be kept out of its own scenes.
    #[serde(default)]
    pub book: Option<String>,
    /// The world that it was made for. It becomes a private attribute of the profile, unless that has a key `worldview`
    /// (`世界观`) of its own.
    #[serde(default)]
    pub worldview: Option<String>,
    /// Lines that it has said, as examples of its way of speaking.
    #[serde(default)]
    pub lines: Vec<String>,
    /// What is known of it, at least one attribute.
    #[schemars(length(min = 1))]
    pub profile: Vec<Attribute>,
}

const fn established() -> CharacterType {
    CharacterType::Established
}

impl From<CharacterFile> for Character {
    fn from(file: CharacterFile) -> Self {
        Self {
            id: super::slug(&file.name),
            name: file.name,
            aliases: file.aliases,
            language: file.language,
            kind: file.kind,
            // People write the file's stem as well as the slug.
            book: file.book.map(|book| super::slug(&book)),
            worldview: file.worldview,
            profile: file.profile,
            lines: file.lines,
            model: None,
        }
        .knowing_its_world()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_of_a_character_stands_in_its_profile_once() {
        for (language, key, world) in
            [(Language::En, "worldview", "Salt is money here."), (Language::Zh, "世界观", "此地以盐为钱。")]
        {
            let told = |profile: &[(&str, &str, Visibility)]| {
                let attribute = |&(key, value, visibility): &(&str, &str, Visibility)| Attribute {
                    key: key.to_owned(),
                    value: value.to_owned(),
                    visibility,
                };
                let file = CharacterFile {
                    name: "Ann".to_owned(),
                    aliases: Vec::new(),
                    language,
                    kind: CharacterType::Established,
                    book: None,
                    worldview: Some(format!("{world}\n")),
                    lines: Vec::new(),
                    profile: profile.iter().map(attribute).collect(),
                };
                let once = Character::from(file);
                assert_eq!(once.clone().knowing_its_world(), once);
                let all: Vec<_> = once.profile.into_iter().map(|one| (one.key, one.value, one.visibility)).collect();
                all.into_iter().skip_while(|(key, ..)| key == "age").collect::<Vec<_>>()
            };
            let (private, public) = (Visibility::Private, Visibility::Public);
            assert_eq!(told(&[("age", "9", public)]), [(key.to_owned(), world.to_owned(), private)]);
            for own in ["Worldview", "World view", "world_view", "世界观", "世界 观"] {
                assert_eq!(told(&[(own, "Another.", public)]), [(own.to_owned(), "Another.".to_owned(), public)]);
            }
            assert_eq!(told(&[("home", world, public)]), [("home".to_owned(), world.to_owned(), public)]);
        }
    }
}
