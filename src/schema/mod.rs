//! Records shared between modules: plain data with serde and schemars, without I/O.
//!
//! The JSON Schemas under `schemas/` are generated from these types. The doc comment of a field is its description in
//! the schema and in the dataset card.

/// Reads and writes an enum as its `name()`, one of those of `all()`.
macro_rules! by_name {
    ($name:ident, $unknown:ident) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $unknown;

            fn from_str(word: &str) -> Result<Self, $unknown> {
                Self::all().find(|one| one.name() == word).ok_or_else(|| $unknown(word.to_owned()))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

mod book;
mod character;
mod conversation;
mod dimension;
mod draw;
mod format_fault;
mod ids;
mod language;
mod message;
mod reject;
mod role;
mod sample;
mod scene;
mod slug;
mod stage;

pub use book::{Boilerplate, BoilerplateKind, Book, Chapter, Chunk, Format, Level, MarkedHeading};
pub use character::{Attribute, Character, CharacterFile, CharacterType, Visibility, public, worldview_key};
pub use conversation::{Candidate, Conversation, EndedBy, Line, Quality, Turn, TurnKind, Verdict};
pub use dimension::Dimension;
pub use draw::{Draw, ReplyOrder, RoleCall, TurnCall, WorldCall, WorldStep};
pub use format_fault::{FormatFault, TurnFault, UnknownTurnFault};
pub use ids::{CharacterId, ConversationId, RoleId, SampleId, SceneId};
pub use language::{ByLanguage, Language};
pub use message::{Message, Role};
pub use reject::{Reject, RejectReason, UnknownReason};
pub use role::{
    Confidence, DialogueTurn, Distinctness, Instruction, Overlap, PromptStyle, RoleGeneral, RoleProfile, RoleSpecific,
    RoleTally, Split, TripletKind,
};
pub use sample::{CastMember, Sample};
pub use scene::{Grounded, Motivation, Scene, SceneCharacter, SceneHead, Utterance};
pub use slug::slug;
pub use stage::{Stage, UnknownStage};
