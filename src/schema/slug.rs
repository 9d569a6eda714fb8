//! Names in the form used in ids, file names and draws.

/// Returns a name as lower-case letters and digits of any script, with one `-` for each run of other characters.
///
/// Chinese characters are kept, so that ids stay readable. A name without letters or digits becomes `-`.
#[must_use]
pub fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_alphanumeric() {
            slug.extend(c.to_lowercase());
        } else if !matches!(c, '\'' | '’') && !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "-".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn slugs_keep_scripts_and_drop_marks() {
        for (name, expected) in [
            ("Mrs. O’Dowd", "mrs-odowd"),
            ("pride_and_prejudice.pg1342-0", "pride-and-prejudice-pg1342-0"),
            ("薛嵩", "薛嵩"),
            ("  Two  words ", "two-words"),
            ("...", "-"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }
}
