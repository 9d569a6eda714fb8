//! Reasons why a file, or part of one, cannot be read as a book. Each message names the file and says what to do.

/// The reason why a file cannot be read as a book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file holds no text.
    #[error("failed to read `{path}` as a book: the file is empty; remove it from the books")]
    Empty {
        /// The path as given.
        path: String,
    },
    /// The file's format holds text, but this program cannot read it.
    #[error(
        "failed to read `{path}` as a book: it is {format}; convert it first (supported: plain text, Markdown, HTML, \
         EPUB, Fountain, JSON Lines)"
    )]
    Format {
        /// The path as given.
        path: String,
        /// The format, with its article.
        format: &'static str,
    },
    /// The file is not text in any encoding.
    #[error(
        "failed to read `{path}` as a book: byte {offset} is NUL, so it is not a text file; remove it from the books"
    )]
    Binary {
        /// The path as given.
        path: String,
        /// The position of the first NUL, in bytes.
        offset: usize,
    },
    /// The file exceeds the size limit.
    #[error(
        "failed to read `{path}` as a book: it has at least {megabytes} MB, and the limit is {bound} MB; split it into \
         volumes"
    )]
    TooLarge {
        /// The path as given.
        path: String,
        /// The file's size, or how much of it was read, in megabytes (10⁶ bytes).
        megabytes: u64,
        /// The limit, in megabytes (10⁶ bytes).
        bound: u64,
    },
    /// The file is UTF-8 except for a few bytes.
    #[error(
        "failed to read `{path}` as a book: it is UTF-8 except for {} line {line} (byte {offset}); fix {}, or set \
         `chunk.encoding = \"utf-8\"` to read {} as \u{fffd}",
        if *.count == 1 { "one invalid sequence, on".to_owned() } else { format!("{count} invalid sequences, the first on") },
        if *.count == 1 { "it" } else { "them" },
        if *.count == 1 { "it" } else { "each" }
    )]
    Damaged {
        /// The path as given.
        path: String,
        /// The number of invalid sequences.
        count: usize,
        /// The line of the first invalid sequence, from 1.
        line: usize,
        /// The byte offset of the first invalid sequence, from 0.
        offset: usize,
    },
    /// The file ends in the middle of a character.
    #[error(
        "failed to read `{path}` as a book: the {encoding} text ends in the middle of a character, so the file is \
         truncated; download it again, or set `chunk.encoding` to read it as it is"
    )]
    Cut {
        /// The path as given.
        path: String,
        /// The detected encoding.
        encoding: &'static str,
    },
    /// The configured encoding does not exist.
    #[error(
        "failed to read `{path}` as a book: unknown encoding `{label}`; use a WHATWG label such as utf-8, gb18030 or big5"
    )]
    Label {
        /// The path as given.
        path: String,
        /// The configured label.
        label: String,
    },
    /// The bytes do not decode in the detected encoding.
    #[error(
        "failed to read `{path}` as a book: it looks like {encoding} but does not decode; set `chunk.encoding` to its \
         encoding"
    )]
    Undecodable {
        /// The path as given.
        path: String,
        /// The encoding that was tried.
        encoding: &'static str,
    },
    /// The file is an EPUB, or starts like one, but cannot be unpacked.
    #[error("failed to read `{path}` as a book: it is a broken EPUB ({cause}); download or export it again")]
    Epub {
        /// The path as given.
        path: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The file is an EPUB whose text is encrypted.
    #[error("failed to read `{path}` as a book: its text is encrypted (DRM); use a copy without DRM")]
    Protected {
        /// The path as given.
        path: String,
    },
    /// A line of a `.jsonl` file, or an object of a `.json` file that starts on that line, is not a book.
    #[error(
        "failed to read {}line {line} of `{path}` as a book: {cause}; a book is an object such as \
         {{\"title\": \"…\", \"author\": \"…\", \"content\": \"…\"}}, on its own line or in an array",
        .entry.map(|entry| format!("entry {entry} on ")).unwrap_or_default()
    )]
    Line {
        /// The path as given.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The index of the object in the file, from 1, if objects do not have lines of their own.
        entry: Option<usize>,
        /// What is wrong with it.
        cause: String,
    },
    /// A run of invalid objects, after the first ones were reported one by one.
    #[error(
        "failed to read {} of `{path}` as books: {count} more {} in a row, the first because {cause}; a \
         book is an object such as {{\"title\": \"…\", \"author\": \"…\", \"content\": \"…\"}}, on its own line or in an array",
        entry_range(*.first, *.last, *.entries),
        if *.count == 1 { "invalid object" } else { "invalid objects" }
    )]
    Lines {
        /// The path as given.
        path: String,
        /// The number of invalid objects.
        count: usize,
        /// The line of the first one, from 1.
        first: usize,
        /// The line of the last one.
        last: usize,
        /// The indexes of the first and the last object in the file, from 1, if objects do not have lines of their own.
        entries: Option<(usize, usize)>,
        /// What is wrong with the first one.
        cause: String,
    },
    /// The file cannot be read from disk.
    #[error("failed to read `{path}` as a book: {cause}")]
    Unreadable {
        /// The path as given.
        path: String,
        /// The system's error message.
        cause: String,
    },
}

/// Formats a range of lines, preceded by the range of objects if given.
fn entry_range(first: usize, last: usize, entries: Option<(usize, usize)>) -> String {
    let of = |one: &str, many: &str, first: usize, last: usize| {
        if first == last { format!("{one} {first}") } else { format!("{many} {first} to {last}") }
    };
    let lines = of("line", "lines", first, last);
    match entries {
        Some((from, to)) => format!("{} on {lines}", of("entry", "entries", from, to)),
        None => lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_one_is_singular() {
        let damaged = |count| ReadError::Damaged { path: "a.txt".to_owned(), count, line: 3, offset: 9 }.to_string();
        assert!(
            damaged(1).contains("except for one invalid sequence, on line 3 (byte 9); fix it, or"),
            "{}",
            damaged(1)
        );
        assert!(damaged(2).contains("except for 2 invalid sequences, the first on line 3 (byte 9); fix them, or"));
        let lines = |first, last, count, entries| {
            let (path, cause) = ("a.json".to_owned(), "it has no `content`".to_owned());
            ReadError::Lines { path, count, first, last, entries, cause }.to_string()
        };
        assert!(
            lines(1, 1, 1, Some((21, 21)))
                .starts_with("failed to read entry 21 on line 1 of `a.json` as books: 1 more invalid object in a row")
        );
        assert!(lines(1, 1, 9, Some((21, 29))).starts_with("failed to read entries 21 to 29 on line 1 of"));
        assert!(
            lines(4, 9, 6, None)
                .starts_with("failed to read lines 4 to 9 of `a.json` as books: 6 more invalid objects in a row")
        );
    }
}
