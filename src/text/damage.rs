//! What shows that a text was read in a wrong encoding, or cut between the bytes of a character.

use memchr::memmem;

/// A sign of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// What stands there.
    pub kind: &'static str,
    /// How often.
    pub count: usize,
    /// Where the first stands, in bytes.
    pub first: usize,
}

/// What the bytes of UTF-8 become where they are read as Windows-1252: marks and letters with accents.
const MISREAD: [&str; 6] = ["â€™", "â€œ", "â€\u{9d}", "â€“", "â€”", "Ã©"];

/// Returns the signs of damage in a text.
#[must_use]
pub fn damage(text: &str) -> Vec<Damage> {
    let mut found = Vec::new();
    let mut add = |kind, signs: &[&str]| {
        let places: Vec<usize> = signs.iter().flat_map(|sign| memmem::find_iter(text.as_bytes(), sign)).collect();
        if let Some(first) = places.iter().min() {
            found.push(Damage { kind, count: places.len(), first: *first });
        }
    };
    add("the mark of a lost character (U+FFFD)", &["\u{fffd}"]);
    add("a null character", &["\0"]);
    // What two lost characters become where they are read as GBK.
    add("a text that was read in two wrong encodings (锟斤拷)", &["锟斤拷"]);
    if memchr::memchr(0xc3, text.as_bytes()).is_some() {
        add("UTF-8 that was read as Windows-1252", &MISREAD);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::damage;

    #[test]
    fn what_was_misread_shows() {
        for (text, count, first) in [
            ("abc\u{fffd}\u{fffd}d", 2, 3),
            ("他说\u{fffd}", 1, 6),
            ("a\0b", 1, 1),
            ("锟斤拷锟斤拷", 2, 0),
            ("Itâ€™s late, he said.", 1, 2),
        ] {
            let found = damage(text);
            assert_eq!(found.iter().map(|one| (one.count, one.first)).collect::<Vec<_>>(), [(count, first)], "{text}");
        }
        for text in ["It’s late — “so”.", "Château, café, naïve, Ångström", "他说：“雨大。”", "ﬁn，。！", "𠮷野家", ""]
        {
            assert_eq!(damage(text), [], "{text}");
        }
    }
}
