//! The stages of a run, in order.

/// A stage at which a run can stop. `select` is not one of them, since it runs at each test turn of `simulate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Split books into chunks.
    Chunk,
    /// Extract scenes from chunks.
    Extract,
    /// Load or make up test characters.
    Synthesize,
    /// Simulate conversations between test characters and scene characters.
    Simulate,
    /// Collect role data: questions to roles, and general instructions. Needs no conversations.
    Instruct,
    /// Write the data set.
    Export,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 6] =
        [Self::Chunk, Self::Extract, Self::Synthesize, Self::Simulate, Self::Instruct, Self::Export];

    /// Returns the stage's name: its folder, subcommand, table in the pipeline file and progress label.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Chunk => "chunk",
            Self::Extract => "extract",
            Self::Synthesize => "synthesize",
            Self::Simulate => "simulate",
            Self::Instruct => "instruct",
            Self::Export => "export",
        }
    }
}
