//! Ids as distinct types, so that the id of a scene cannot be passed where the id of a conversation is expected.
//!
//! Ids are never parsed: what they are made of is also in fields of the record.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::slug;

/// Declares an id: a string that is compared, ordered, hashed and serialized as its text.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Returns the text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<&String> for $name {
            fn from(text: &String) -> Self {
                Self(text.clone())
            }
        }

        impl From<&$name> for String {
            fn from(id: &$name) -> Self {
                id.0.clone()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                String::schema_name()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                String::json_schema(generator)
            }
        }
    };
}

id! {
    /// Id of a scene: `<book slug>@<start>`, start in code points of the decoded text; custom scenes have an id chosen by
    /// the user.
    SceneId
}

id! {
    /// Id of a character: the slug of its name, or `<slug of the name>@<book slug>` if it was picked from a book.
    CharacterId
}

id! {
    /// Id of a conversation: `<character id>/<source model>/<n>`.
    ConversationId
}

id! {
    /// Id of a sample: `<conversation id>#<turn>`.
    SampleId
}

id! {
    /// Id of a role: the id of its character, or of the same form. A prefix of the ids of the role's rows.
    RoleId
}

impl SceneId {
    /// Returns the id of the scene that starts at a code point of a book.
    #[must_use]
    pub fn at(book: &str, start: u32) -> Self {
        Self(format!("{book}@{start}"))
    }
}

impl CharacterId {
    /// Returns the id of a character that is known by its name.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        Self(slug(name))
    }

    /// Returns the id of a character that was picked from the scenes of a book.
    #[must_use]
    pub fn picked(name: &str, book: &str) -> Self {
        Self(format!("{}@{book}", slug(name)))
    }
}

impl ConversationId {
    /// Returns the id of the `n`-th conversation of a character with a source model.
    #[must_use]
    pub fn new(character: &CharacterId, source: &str, n: u32) -> Self {
        Self(format!("{character}/{source}/{n}"))
    }
}

impl SampleId {
    /// Returns the id of the sample of a turn.
    #[must_use]
    pub fn new(conversation: &ConversationId, turn: u32) -> Self {
        Self(format!("{conversation}#{turn}"))
    }

    /// Whether a sample with this id belongs to a conversation.
    #[must_use]
    pub fn is_of(&self, conversation: &str) -> bool {
        let turn = self.0.strip_prefix(conversation).and_then(|rest| rest.strip_prefix('#'));
        turn.is_some_and(|turn| !turn.contains('#'))
    }
}

impl From<&CharacterId> for RoleId {
    fn from(character: &CharacterId) -> Self {
        Self(character.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_of_their_parts() {
        let conversation = ConversationId::new(&CharacterId::from("薛嵩@lian-wen-ji"), "vivid", 3);
        assert_eq!(conversation, "薛嵩@lian-wen-ji/vivid/3");
        assert_eq!(SampleId::new(&conversation, 4), "薛嵩@lian-wen-ji/vivid/3#4");
        assert_eq!(SceneId::at("rain", 1204), "rain@1204");
        assert_eq!(CharacterId::of_name("Lin Chong"), "lin-chong");
        assert_eq!(CharacterId::picked("薛嵩", "lian-wen-ji"), "薛嵩@lian-wen-ji");
        let sample = SampleId::new(&conversation, 14);
        assert!(sample.is_of(&conversation) && !sample.is_of("薛嵩@lian-wen-ji/vivid"));
    }

    #[test]
    fn ids_are_strings_in_files() {
        let id: SceneId = serde_json::from_str("\"rain@7\"").expect("an id is a string");
        assert_eq!(serde_json::to_string(&id).expect("an id is a string"), "\"rain@7\"");
        assert_eq!(schemars::schema_for!(SceneId).get("type"), schemars::schema_for!(String).get("type"));
    }
}
