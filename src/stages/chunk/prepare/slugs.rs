//! Assigns slugs to the books of one file.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::slug;

/// The maximum length of a slug made from a title, in bytes, since slugs become file names.
const LONGEST_SLUG: usize = 120;

/// The slugs of the books read so far.
#[derive(Debug, Default)]
pub(super) struct Slugs {
    slugs: BTreeSet<String>,
    /// The number of books per slug, before suffixes are added.
    counts: BTreeMap<String, usize>,
}

impl Slugs {
    /// Returns a slug that no other book of the file has. A second edition is a separate book.
    pub(super) fn unique(&mut self, title: &str, fallback: &str) -> String {
        let mut id = slug(title);
        if id == "-" {
            id = slug(fallback);
        }
        id.truncate(id.floor_char_boundary(LONGEST_SLUG));
        let count = self.counts.entry(id.clone()).or_insert(0);
        loop {
            *count += 1;
            let unique = if *count == 1 { id.clone() } else { format!("{id}-{count}") };
            if self.slugs.insert(unique.clone()) {
                return unique;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use crate::books::ReadError;
    use crate::stages::chunk::books as read;

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
            let Err(ReadError::Line { path, line: reported, .. }) = &found[at] else { panic!("{:?}", found[at]) };
            assert_eq!((path.as_str(), *reported), ("some/novels.jsonl", line));
        }
        assert_eq!(found[5], of("novels-7", "?", None, "It rained and rained.", "en"));
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn slugs_are_unique_for_any_titles() {
        let line = |title: &str| format!("{{\"title\": \"{title}\", \"content\": \"x\"}}\n");
        let text: String = ["a", "a-2", "a", "a", "a-2"].map(line).concat();
        let slugs: Vec<String> =
            read("n.jsonl", Cursor::new(text), None).map(|book| book.expect("a book").slug).collect();
        let unique: std::collections::BTreeSet<&String> = slugs.iter().collect();
        assert_eq!(unique.len(), 5, "{slugs:?}");
    }

    #[test]
    fn many_equal_titles_get_distinct_slugs() {
        let titles =
            (2..20_000).map(|n| format!("{{\"title\": \"a-{n}\", \"content\": \"x\"}}\n")).collect::<Vec<_>>().concat();
        let text = titles + &"{\"title\": \"a\", \"content\": \"x\"}\n".repeat(20_000);
        let slugs: std::collections::BTreeSet<String> =
            read("a.jsonl", Cursor::new(text), None).map(|book| book.expect("a book").slug).collect();
        assert_eq!(slugs.len(), 39_998);
        let long = format!("{{\"title\": \"{}\", \"content\": \"x\"}}\n", "河灯".repeat(1000));
        let book = read("a.jsonl", Cursor::new(long), None).next().expect("one").expect("a book");
        assert_eq!(book.slug, "河灯".repeat(20));
    }
}
