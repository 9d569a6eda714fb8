//! The stages, in order.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stage of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Split books into chunks.
    Chunk,
    /// Extract scenes from chunks.
    Extract,
    /// Load or make up test characters.
    Synthesize,
    /// Simulate conversations between test characters and scene characters.
    Simulate,
    /// Compare two replies and keep one. Runs at each test turn of `simulate`.
    Select,
    /// Collect role data: questions to roles, and general instructions. Needs no conversations.
    Instruct,
    /// Write the data set.
    Export,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 7] =
        [Self::Chunk, Self::Extract, Self::Synthesize, Self::Simulate, Self::Select, Self::Instruct, Self::Export];

    /// The stages at which a run can stop, in order.
    pub const OF_RUN: [Self; 6] =
        [Self::Chunk, Self::Extract, Self::Synthesize, Self::Simulate, Self::Instruct, Self::Export];

    /// Returns the stage's name: its folder, subcommand, table in the pipeline file and progress label.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chunk => "chunk",
            Self::Extract => "extract",
            Self::Synthesize => "synthesize",
            Self::Simulate => "simulate",
            Self::Select => "select",
            Self::Instruct => "instruct",
            Self::Export => "export",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Stage {
    type Err = UnknownStage;

    fn from_str(name: &str) -> Result<Self, UnknownStage> {
        Self::ALL.into_iter().find(|stage| stage.name() == name).ok_or_else(|| UnknownStage(name.to_owned()))
    }
}

/// A name that is not a stage.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown stage `{0}`")]
pub struct UnknownStage(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_written_as_their_names() {
        for stage in Stage::ALL {
            assert_eq!(serde_json::to_value(stage).unwrap(), stage.name());
            assert_eq!(stage.name().parse(), Ok(stage));
        }
        assert_eq!("edit".parse::<Stage>(), Err(UnknownStage("edit".to_owned())));
    }
}
