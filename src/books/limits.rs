//! Size limits of book files.

/// The maximum size of a book's text, in bytes after unpacking. The longest novels have 20 MB.
pub const MAX_BYTES: u64 = 256_000_000;
/// The maximum size of a packed EPUB, in bytes. Larger than for text, since pictures are not read.
pub(super) const MAX_ARCHIVE: u64 = 4_000_000_000;
