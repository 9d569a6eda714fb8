//! Hashes of texts, so that a data set can be compared without keeping its texts in memory.

use std::hash::{DefaultHasher, Hasher as _};

/// Returns the hash of what `write` writes. It is the same in every run: the hasher has fixed keys.
pub(in crate::dataset::validate) fn hash(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}
