//! Splits paths of book files.

/// Splits the last component of a path into stem and lower-case extension.
pub(super) fn stem_and_extension(path: &str) -> (&str, String) {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension.to_ascii_lowercase()),
        _ => (name, String::new()),
    }
}
