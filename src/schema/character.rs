//! Characters and their profiles of public and private attributes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CharacterId;
use super::language::Language;

/// Who may see an attribute of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Everyone present.
    Public,
    /// Only the character itself and the judge (FURINA 3.1).
    Private,
}

impl Visibility {
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
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

/// Profile key of a character's worldview, in English and Chinese.
const WORLDVIEW: [&str; 2] = ["worldview", "世界观"];

/// Returns the profile key of a character's worldview.
#[must_use]
pub const fn worldview_key(language: Language) -> &'static str {
    match language {
        Language::En => WORLDVIEW[0],
        Language::Zh => WORLDVIEW[1],
    }
}

/// Origin of a test character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CharacterType {
    /// A character from a book or from a character file.
    Established,
    /// A character invented by `synthesize`.
    Synthesized,
}

impl CharacterType {
    /// Returns the value used in files.
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
    /// Unique id within a run: the slug of the name, or `<slug of the name>@<book slug>` for a character picked from
    /// the scene pool, which is thus independent of other books.
    pub id: CharacterId,
    /// Name of the character.
    pub name: String,
    /// Other names of the character.
    pub aliases: Vec<String>,
    /// Language of the character.
    pub language: Language,
    /// Established or synthesized.
    #[serde(rename = "type")]
    pub kind: CharacterType,
    /// Slug of its book; null for synthesized characters.
    pub book: Option<String>,
    /// The world it was created for; null if an established character's file has none. Also part of the profile.
    pub worldview: Option<String>,
    /// What is known of the character.
    pub profile: Vec<Attribute>,
    /// Example utterances that show its way of speaking.
    pub lines: Vec<String>,
    /// Model that created it; null for established characters.
    pub model: Option<String>,
}

impl Character {
    /// Returns the id of a character picked from the scenes of a book.
    #[must_use]
    pub fn picked_id(name: &str, book: &str) -> CharacterId {
        CharacterId::picked(name, book)
    }

    /// Adds the character's worldview to its profile as a private attribute, unless the profile already has it under
    /// its key or with the same text.
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

    /// Whether it was picked from the scenes of its book.
    #[must_use]
    pub fn is_picked(&self) -> bool {
        self.book.as_ref().is_some_and(|book| self.id == Self::picked_id(&self.name, book))
    }
}

/// A character file (TOML or JSON) written by a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CharacterFile {
    /// Name of the character; its slug becomes the id.
    pub name: String,
    /// Other names of the character.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Language of the character.
    pub language: Language,
    /// Established or synthesized; established if unset.
    #[serde(rename = "type", default = "established")]
    pub kind: CharacterType,
    /// Slug of its book, so that it is not used in its own scenes.
    #[serde(default)]
    pub book: Option<String>,
    /// The world it was created for. It becomes a private attribute of the profile, unless that has a key `worldview`
    /// (`世界观`).
    #[serde(default)]
    pub worldview: Option<String>,
    /// Example utterances that show its way of speaking.
    #[serde(default)]
    pub lines: Vec<String>,
    /// What is known of the character; at least one attribute.
    #[schemars(length(min = 1))]
    pub profile: Vec<Attribute>,
}

const fn established() -> CharacterType {
    CharacterType::Established
}

impl From<CharacterFile> for Character {
    fn from(file: CharacterFile) -> Self {
        Self {
            id: CharacterId::of_name(&file.name),
            name: file.name,
            aliases: file.aliases,
            language: file.language,
            kind: file.kind,
            // The user may give the file stem as well as the slug.
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
    fn the_profile_contains_the_worldview_once() {
        for (language, key, world) in
            [(Language::En, "worldview", "Salt is money here."), (Language::Zh, "世界观", "此地以盐为钱。")]
        {
            let with_world = |profile: &[(&str, &str, Visibility)]| {
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
            assert_eq!(with_world(&[("age", "9", public)]), [(key.to_owned(), world.to_owned(), private)]);
            for own in ["Worldview", "World view", "world_view", "世界观", "世界 观"] {
                assert_eq!(with_world(&[(own, "Another.", public)]), [(own.to_owned(), "Another.".to_owned(), public)]);
            }
            assert_eq!(with_world(&[("home", world, public)]), [("home".to_owned(), world.to_owned(), public)]);
        }
    }
}
