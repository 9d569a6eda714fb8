//! Size limits of character files, and why no text can be extracted from one.

/// Maximum size of a character file in bytes (64 MiB); pictures are the large ones.
pub const MOST_BYTES: usize = 64 << 20;

/// Maximum size of a card's text in bytes (16 MiB).
pub(super) const MOST_TEXT: usize = 16 << 20;

/// The reasons why no text can be extracted from a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContainerError {
    /// The file exceeds [`MOST_BYTES`].
    #[error("the file has {bytes} bytes; the limit for a character file is {MOST_BYTES} bytes")]
    TooLarge {
        /// Size of the file in bytes.
        bytes: u64,
    },
    /// The PNG has no text chunk with a card.
    #[error("the PNG contains no character card")]
    NoCard,
    /// The PNG ends too early.
    #[error("the PNG is truncated: it ends within the chunk at byte {offset}, before any character card")]
    Truncated {
        /// Byte offset of the last chunk.
        offset: usize,
    },
    /// The checksum of a chunk is wrong.
    #[error("the PNG is damaged: wrong checksum in the chunk `{kind}` at byte {offset}")]
    Checksum {
        /// The chunk type.
        kind: String,
        /// Byte offset of the chunk.
        offset: usize,
    },
    /// The text cannot be decompressed, or exceeds the size limit.
    #[error("failed to decompress the chunk `{keyword}` of the PNG")]
    Packed {
        /// The chunk's keyword.
        keyword: &'static str,
    },
    /// The text is not valid base64.
    #[error("the chunk `{keyword}` of the PNG is not valid base64")]
    Base64 {
        /// The chunk's keyword.
        keyword: &'static str,
    },
    /// The archive is damaged, encrypted or has no card.
    #[error("failed to read `card.json` from the archive: {0}")]
    Archive(String),
    /// The text is not UTF-8.
    #[error("the text is not valid UTF-8")]
    Encoding,
}

impl ContainerError {
    /// Describes what was expected instead, as a noun phrase.
    #[must_use]
    pub const fn expected(&self) -> &'static str {
        match self {
            Self::NoCard => {
                "a PNG with a text chunk `ccv3` or `chara`; image editors and chat programs remove it, so use the file as \
                 downloaded, or exclude the picture from the pattern"
            }
            Self::Truncated { .. } | Self::Checksum { .. } | Self::Packed { .. } | Self::Base64 { .. } => {
                "an undamaged file; download or export the card again"
            }
            Self::TooLarge { .. } => "a card without assets; export it as JSON or PNG",
            Self::Archive(_) => "a `.charx` archive with `card.json` at its root, not encrypted",
            Self::Encoding => "TOML or JSON in UTF-8, a PNG with a card, or a `.charx` archive",
        }
    }
}
