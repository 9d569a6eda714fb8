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
    /// The world that it was made for; null for established ones.
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
    /// The world that it was made for.
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
    }
}
