//! Messages of a chat-completion API.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Role of a message in a chat-completion request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// System instructions.
    System,
    /// Input to the model.
    User,
    /// A previous reply of the model.
    Assistant,
}

impl Role {
    /// Returns the value used by the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message of a chat-completion request, as opposed to an utterance of a character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Role of the author.
    pub role: Role,
    /// Text of the message.
    pub content: String,
}

impl Message {
    /// Returns a system message.
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// Returns a user message.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Returns an assistant message.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}
