//! Why a file, or a part of one, is no book. Every text names the file and says what to do.

/// Why a file cannot be read as a book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    /// It holds no text.
    #[error("read `{path}` as a book: it is empty; take it out of the books")]
    Empty {
        /// The path as given.
        path: String,
    },
    /// It is of a format that holds text but that nobody here reads.
    #[error(
        "read `{path}` as a book: it is {format}; convert it first (plain text, Markdown, HTML, EPUB, Fountain and \
         JSON Lines are read)"
    )]
    Format {
        /// The path as given.
        path: String,
        /// The format, with its article.
        format: &'static str,
    },
    /// It is no text in any encoding.
    #[error("read `{path}` as a book: byte {offset} is NUL, so it is no text file; take it out of the books")]
    Binary {
        /// The path as given.
        path: String,
        /// Where the first NUL stands, in bytes.
        offset: usize,
    },
    /// It is larger than any book.
    #[error(
        "read `{path}` as a book: it holds {megabytes} MB or more, and a book may have {bound} MB; split it into volumes"
    )]
    TooLarge {
        /// The path as given.
        path: String,
        /// Its size, or how much of it was read, in 10⁶ bytes.
        megabytes: u64,
        /// The bound, in 10⁶ bytes.
        bound: u64,
    },
    /// It would be UTF-8 but for a few bytes.
    #[error(
        "read `{path}` as a book: it is UTF-8 but for {} line {line} (byte {offset}); mend {}, or set \
         `chunk.encoding = \"utf-8\"` to read {} as \u{fffd}",
        if *.count == 1 { "one bad place, on".to_owned() } else { format!("{count} bad places, the first on") },
        if *.count == 1 { "it" } else { "them" },
        if *.count == 1 { "it" } else { "each" }
    )]
    Damaged {
        /// The path as given.
        path: String,
        /// How many places are not UTF-8.
        count: usize,
        /// The line of the first, from 1.
        line: usize,
        /// The byte of the first, from 0.
        offset: usize,
    },
    /// It ends within a character.
    #[error(
        "read `{path}` as a book: it is {encoding} and ends within a character, so that its end is missing; get it anew, \
         or set `chunk.encoding` to read what is there"
    )]
    Cut {
        /// The path as given.
        path: String,
        /// The encoding that it is in.
        encoding: &'static str,
    },
    /// The encoding that somebody names does not exist.
    #[error(
        "read `{path}` as a book: no encoding is called `{label}`; use a WHATWG label such as utf-8, gb18030, big5"
    )]
    Label {
        /// The path as given.
        path: String,
        /// The label.
        label: String,
    },
    /// It does not decode in the encoding that it seems to be in.
    #[error(
        "read `{path}` as a book: it looks like {encoding} but does not decode; set `chunk.encoding` to what it is"
    )]
    Undecodable {
        /// The path as given.
        path: String,
        /// The encoding that was tried.
        encoding: &'static str,
    },
    /// It is an EPUB, or begins like one, but cannot be unpacked.
    #[error("read `{path}` as a book: it is a broken EPUB, {cause}; get or export it anew")]
    Epub {
        /// The path as given.
        path: String,
        /// What is wrong with it.
        cause: String,
    },
    /// It is an EPUB whose text is encrypted.
    #[error("read `{path}` as a book: its text is encrypted (DRM), so that nobody but its shop's reader can read it")]
    Protected {
        /// The path as given.
        path: String,
    },
    /// A line of a `.jsonl` file, or the object in a `.json` file that begins there, is no book.
    #[error(
        "read {}line {line} of `{path}` as a book: {cause}; a book is an object such as \
         {{\"title\": \"…\", \"author\": \"…\", \"content\": \"…\"}}, on a line of its own or in an array",
        .entry.map(|entry| format!("entry {entry} on ")).unwrap_or_default()
    )]
    Line {
        /// The path as given.
        path: String,
        /// The line, from 1.
        line: usize,
        /// Which object of the file it is, from 1, where a line does not tell.
        entry: Option<usize>,
        /// What is wrong with it.
        cause: String,
    },
    /// Many such in a row, the first of which were told one by one.
    #[error(
        "read {} of `{path}` as books: {count} more in a row {}, the first since {cause}; a book is an object such as \
         {{\"title\": \"…\", \"author\": \"…\", \"content\": \"…\"}}, on a line of its own or in an array",
        stretch(*.first, *.last, *.entries),
        if *.count == 1 { "is none" } else { "are none" }
    )]
    Lines {
        /// The path as given.
        path: String,
        /// How many are no books.
        count: usize,
        /// The line of the first of them, from 1.
        first: usize,
        /// The line of the last.
        last: usize,
        /// Which objects of the file the first and the last are, from 1, where lines do not tell.
        entries: Option<(usize, usize)>,
        /// What is wrong with the first.
        cause: String,
    },
    /// It cannot be read from the disk.
    #[error("read `{path}` as a book: {cause}")]
    Unreadable {
        /// The path as given.
        path: String,
        /// What the system says.
        cause: String,
    },
    /// Chapters are chosen that it does not have.
    #[error(
        "take chapters {choice} of `{path}`: {}; `dramaturg chunk BOOK --chapters` lists them",
        if *.count == 0 { "no chapters were found in it".to_owned() } else { format!("it has {count}") }
    )]
    Choice {
        /// The path as given.
        path: String,
        /// The choice.
        choice: String,
        /// How many chapters the book has.
        count: u32,
    },
}

/// Names lines, and the objects on them where those are counted.
fn stretch(first: usize, last: usize, entries: Option<(usize, usize)>) -> String {
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
    fn one_is_no_plural() {
        let damaged = |count| ChunkError::Damaged { path: "a.txt".to_owned(), count, line: 3, offset: 9 }.to_string();
        assert!(damaged(1).contains("but for one bad place, on line 3 (byte 9); mend it, or"), "{}", damaged(1));
        assert!(damaged(2).contains("but for 2 bad places, the first on line 3 (byte 9); mend them, or"));
        let lines = |first, last, count, entries| {
            let (path, cause) = ("a.json".to_owned(), "it has no `content`".to_owned());
            ChunkError::Lines { path, count, first, last, entries, cause }.to_string()
        };
        assert!(
            lines(1, 1, 1, Some((21, 21)))
                .starts_with("read entry 21 on line 1 of `a.json` as books: 1 more in a row is none")
        );
        assert!(lines(1, 1, 9, Some((21, 29))).starts_with("read entries 21 to 29 on line 1 of"));
        assert!(lines(4, 9, 6, None).starts_with("read lines 4 to 9 of `a.json` as books: 6 more in a row are none"));
    }
}
