//! JSON Lines: each line an object with `title`, `author` and `content` is a book of its own. Reads one line at a time.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

use serde::Deserialize;

use super::books::{self, MAX_BYTES, Parts};
use super::{ChunkError, language};
use crate::schema::{Book, Format, slug};

/// What a line says; other keys are passed over.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    title: String,
    #[serde(default)]
    author: Option<String>,
    #[serde(alias = "text")]
    content: String,
}

/// Says whether a file that begins so is JSON Lines: by its name, or since an object with a book's keys opens it.
pub(super) fn is_lines(head: &[u8], extension: &str) -> bool {
    let head = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    let object = head.trim_start().starts_with('{');
    object
        && (matches!(extension, "jsonl" | "ndjson") || head.contains("\"content\":") || head.contains("\"content\" :"))
}

/// Where the reading of the lines stands.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: usize,
    /// How many books have had a slug.
    slugs: BTreeMap<String, usize>,
}

impl Lines {
    /// Reads the next line that is not blank. A line that is no book is an error, and the next call reads on behind it.
    pub(super) fn next(&mut self, path: &str, source: &mut impl BufRead) -> Option<Result<Book, ChunkError>> {
        loop {
            self.line += 1;
            let wrong = |line: usize, cause: String| ChunkError::Line { path: path.to_owned(), line, cause };
            let mut bytes = Vec::new();
            match (&mut *source).take(MAX_BYTES + 1).read_until(b'\n', &mut bytes) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    // Whatever follows cannot be read either.
                    return Some(Err(ChunkError::Unreadable { path: path.to_owned(), cause: error.to_string() }));
                }
            }
            if bytes.len() as u64 > MAX_BYTES {
                let skipped = source.skip_until(b'\n');
                let cause = format!("it has more than the {} MB that a book may have", MAX_BYTES / 1_000_000);
                return Some(Err(skipped.map_or_else(
                    |error| ChunkError::Unreadable { path: path.to_owned(), cause: error.to_string() },
                    |_| wrong(self.line, cause),
                )));
            }
            let line = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let hash = blake3::hash(line.trim_ascii()).to_hex().to_string();
            return Some(match serde_json::from_slice::<Line>(line) {
                Err(error) => {
                    let error = error.to_string();
                    // The place would be one within the line, which reads like one within the file.
                    let cause = error.split(" at line ").next().unwrap_or(&error);
                    Err(wrong(self.line, format!("it is no such object: {cause}")))
                }
                Ok(line) if line.content.trim().is_empty() => {
                    Err(wrong(self.line, "its `content` is empty".to_owned()))
                }
                Ok(line) => Ok(self.book(path, line, hash)),
            });
        }
    }

    fn book(&mut self, path: &str, line: Line, hash: String) -> Book {
        let (stem, _) = books::stem_and_extension(path);
        let fallback = format!("{stem}-{}", self.line);
        let title = match line.title.trim() {
            "" => language::title(&line.content, &fallback, super::headings::is_heading),
            title => title.to_owned(),
        };
        let mut id = slug(&title);
        if id == "-" {
            id = slug(&fallback);
        }
        // A second edition of a book is another book.
        let mut unique = id.clone();
        loop {
            let count = self.slugs.entry(unique.clone()).or_insert(0);
            *count += 1;
            if *count == 1 {
                break;
            }
            unique = format!("{id}-{count}");
        }
        let parts = Parts {
            title: Some(title),
            author: line.author.filter(|author| !author.trim().is_empty()),
            ..Parts::new(Format::Jsonl, line.content, "UTF-8", hash)
        };
        Book { slug: unique, ..parts.book(path) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::books as read;

    #[test]
    fn each_line_is_a_book() {
        let text = "\u{feff}{\"title\": \"Low Tide\", \"author\": \"A. B.\", \"content\": \"Chapter 1\\n\\nMud.\"}\n\n\
                    {\"title\": \"河灯\", \"author\": null, \"content\": \"河上无风。\", \"id\": 7}\r\n\
                    {\"title\": \"Low tide!\", \"content\": \"Again.\"}\n{\"title\": \"no words\"}\nnonsense\n\
                    {\"title\": \"?\", \"text\": \"It rained and rained.\"}";
        let found: Vec<_> = read("some/novels.jsonl", Cursor::new(text), None)
            .map(|book| book.map(|book| (book.slug, book.title, book.author, book.text, book.language.code())))
            .collect();
        let of = |slug: &str, title: &str, author: Option<&str>, text: &str, language| {
            Ok((slug.to_owned(), title.to_owned(), author.map(str::to_owned), text.to_owned(), language))
        };
        assert_eq!(found[0], of("low-tide", "Low Tide", Some("A. B."), "Chapter 1\n\nMud.", "en"));
        assert_eq!(found[1], of("河灯", "河灯", None, "河上无风。", "zh"));
        assert_eq!(found[2], of("low-tide-2", "Low tide!", None, "Again.", "en"));
        for (at, line) in [(3, 5), (4, 6)] {
            let error = found[at].as_ref().expect_err("no book").to_string();
            assert!(error.contains(&format!("line {line} of `some/novels.jsonl`")), "{error}");
        }
        assert_eq!(found[5], of("novels-7", "?", None, "It rained and rained.", "en"));
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn slugs_stay_apart_whatever_the_titles() {
        let line = |title: &str| format!("{{\"title\": \"{title}\", \"content\": \"x\"}}\n");
        let text: String = ["a", "a-2", "a", "a", "a-2"].map(line).concat();
        let slugs: Vec<String> =
            read("n.jsonl", Cursor::new(text), None).map(|book| book.expect("a book").slug).collect();
        let unique: std::collections::BTreeSet<&String> = slugs.iter().collect();
        assert_eq!(unique.len(), 5, "{slugs:?}");
    }
}
