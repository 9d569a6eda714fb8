//! The Fountain format for screenplays. Its text is read as plain text; only its scene headings are special.

/// Whether a file extension is that of Fountain.
pub(super) fn is_fountain(extension: &str) -> bool {
    extension == "fountain"
}

/// Whether a line is a scene heading of a screenplay, as Fountain defines it.
#[must_use]
pub fn is_scene_heading(line: &str) -> bool {
    let upper: String = line.trim().chars().take(9).collect::<String>().to_uppercase();
    let forced = line.starts_with('.') && line[1..].starts_with(|c: char| c.is_alphanumeric());
    forced
        || ["INT.", "EXT.", "EST.", "INT ", "EXT ", "INT/EXT", "I/E.", "I/E "]
            .iter()
            .any(|sign| upper.starts_with(sign))
}

#[cfg(test)]
mod tests {
    use super::is_scene_heading;

    #[test]
    fn scene_headings_differ_from_prose() {
        for (line, expected) in [
            ("INT. SHED - NIGHT", true),
            ("Ext. A quay", true),
            (".FLASHBACK", true),
            ("...and then", false),
            ("INTO THE SHED", false),
            ("内景", false),
        ] {
            assert_eq!(is_scene_heading(line), expected, "{line}");
        }
    }
}
