//! Detects text that was decoded with the wrong encoding or cut inside a character.

use memchr::memmem;

/// A kind of damage found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mojibake {
    /// What was found.
    pub kind: &'static str,
    /// The number of occurrences.
    pub count: usize,
    /// The byte offset of the first occurrence.
    pub first: usize,
}

/// UTF-8 bytes of punctuation and accented letters decoded as Windows-1252.
const WINDOWS_1252_MISREADINGS: [&str; 6] = ["â€™", "â€œ", "â€\u{9d}", "â€“", "â€”", "Ã©"];

/// Returns the kinds of damage in a text.
#[must_use]
pub fn find_mojibake(text: &str) -> Vec<Mojibake> {
    let mut found = Vec::new();
    let mut add = |kind, markers: &[&str]| {
        let offsets: Vec<usize> =
            markers.iter().flat_map(|marker| memmem::find_iter(text.as_bytes(), marker)).collect();
        if let Some(first) = offsets.iter().min() {
            found.push(Mojibake { kind, count: offsets.len(), first: *first });
        }
    };
    add("the replacement character (U+FFFD)", &["\u{fffd}"]);
    add("a null character", &["\0"]);
    // Two replacement characters in UTF-8, decoded as GBK.
    add("text that was decoded with two wrong encodings (锟斤拷)", &["锟斤拷"]);
    if memchr::memchr(0xc3, text.as_bytes()).is_some() {
        add("UTF-8 that was decoded as Windows-1252", &WINDOWS_1252_MISREADINGS);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::find_mojibake;

    #[test]
    fn mojibake_is_found() {
        for (text, count, first) in [
            ("abc\u{fffd}\u{fffd}d", 2, 3),
            ("他说\u{fffd}", 1, 6),
            ("a\0b", 1, 1),
            ("锟斤拷锟斤拷", 2, 0),
            ("Itâ€™s late, he said.", 1, 2),
        ] {
            let found = find_mojibake(text);
            assert_eq!(found.iter().map(|one| (one.count, one.first)).collect::<Vec<_>>(), [(count, first)], "{text}");
        }
        for text in ["It’s late — “so”.", "Château, café, naïve, Ångström", "他说：“雨大。”", "ﬁn，。！", "𠮷野家", ""]
        {
            assert_eq!(find_mojibake(text), [], "{text}");
        }
    }
}
