//! The stages in the order of the road.

/// A stage that a run can go up to. `select` is no stop of its own: it works at each test turn of `simulate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Books become chunks.
    Chunk,
    /// Chunks become scenes.
    Extract,
    /// Test characters are taken from files and made up.
    Synthesize,
    /// Test characters meet scenes.
    Simulate,
    /// Roles are asked about themselves, and carry out instructions. Needs no conversation.
    Instruct,
    /// Everything becomes the data set.
    Export,
}

impl Stage {
    /// All, in order.
    pub const ALL: [Self; 6] =
        [Self::Chunk, Self::Extract, Self::Synthesize, Self::Simulate, Self::Instruct, Self::Export];

    /// Returns the word that names its folder, its subcommand, its table in the pipeline file and its progress.
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
