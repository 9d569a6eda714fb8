//! Turns the output of the format readers into books: classifies marked passages and fills in missing metadata.

mod epub;
mod marks;
mod metadata;
mod nonlinear_pages;
mod script_layout;
mod slugs;

use std::io::{BufRead, Cursor, Seek};

use self::slugs::Slugs;
use super::chapters::headings::is_heading;
use crate::books::{MAX_HEADINGS, RawBook, RawBooks, ReadError, raw_books};
use crate::schema::{Boilerplate, Book, Format, slug};
use crate::text::{main_language, other_language};

/// Iterator over the books of a file. An error in one book does not end the iteration.
#[derive(Debug)]
pub struct Books<R> {
    raw: RawBooks<R>,
    slugs: Slugs,
}

/// Returns an iterator over the books of a file, read lazily: one book, or one per line of a `.jsonl` file.
///
/// `encoding` is a WHATWG label that overrides detection. It is ignored for EPUB and JSON, which define their own
/// encoding.
pub fn books<R: BufRead + Seek>(path: &str, source: R, encoding: Option<&str>) -> Books<R> {
    Books { raw: raw_books(path, source, encoding), slugs: Slugs::default() }
}

/// Reads the first book from a file's bytes.
pub fn read(path: &str, bytes: &[u8], encoding: Option<&str>) -> Result<Book, ReadError> {
    let first = books(path, Cursor::new(bytes), encoding).next();
    first.unwrap_or_else(|| Err(ReadError::Empty { path: path.to_owned() }))
}

impl<R: BufRead + Seek> Iterator for Books<R> {
    type Item = Result<Book, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = match self.raw.next()? {
            Ok(raw) => raw,
            Err(error) => return Some(Err(error)),
        };
        let name = raw.name.clone();
        let mut book = prepare(raw);
        if book.format == Format::Jsonl {
            book.slug = self.slugs.unique(&book.title, &name);
        }
        Some(Ok(book))
    }
}

/// Builds the book, and fills in what can be found from the text.
fn prepare(mut raw: RawBook) -> Book {
    let mut marked_headings = match raw.format {
        Format::Epub => epub::headings(&mut raw),
        _ => marks::marked_headings(&raw.text, std::mem::take(&mut raw.headings)),
    };
    let mut boilerplate = marks::boilerplate(&raw.text, raw.boilerplate);
    if !has_story(&raw.text, &boilerplate) {
        // A format that marks the whole book as boilerplate must be wrong.
        boilerplate.retain(|passage| passage.start == passage.end);
    }
    if marked_headings.len() > MAX_HEADINGS {
        marked_headings = Vec::new();
    }
    let has_markup = !matches!(raw.format, Format::Text | Format::Jsonl);
    Book {
        slug: slug(&raw.name),
        title: raw.title.unwrap_or_else(|| metadata::title(&raw.text, &raw.name, is_heading)),
        author: raw.author.or_else(|| metadata::author(&raw.text)),
        format: raw.format,
        language: main_language(&raw.text),
        other_language: other_language(&raw.text),
        encoding: raw.encoding.to_owned(),
        path: raw.path,
        script: raw.script || (!has_markup && script_layout::is_script(&raw.text)),
        text: raw.text,
        hash: raw.hash,
        marked_headings,
        boilerplate,
    }
}

/// Whether any visible character lies outside the boilerplate, which is in order.
fn has_story(text: &str, boilerplate: &[Boilerplate]) -> bool {
    let mut boilerplate = boilerplate.iter().peekable();
    (0_u32..).zip(text.chars()).filter(|(_, c)| !c.is_whitespace()).any(|(at, _)| {
        while boilerplate.next_if(|passage| passage.end <= at).is_some() {}
        boilerplate.peek().is_none_or(|passage| at < passage.start)
    })
}

#[cfg(test)]
mod tests {
    use std::io::SeekFrom;

    use proptest::prelude::*;

    use super::*;
    use crate::books::MAX_BYTES;
    use crate::schema::{Format, Language};
    use crate::stages::chunk::{Params, chapters, chunk};

    #[test]
    fn slug_title_language_author_and_format_are_detected() {
        let text = "陆三更\n作者：无名\n\n河边有一座旧水车，三十年没有转过。\n";
        let book = read("some/Lu_San.GENG.txt", text.as_bytes(), None).expect("reads");
        assert_eq!((book.slug.as_str(), book.title.as_str(), book.language), ("lu-san-geng", "陆三更", Language::Zh));
        assert_eq!((book.author.as_deref(), book.format, book.script), (Some("无名"), Format::Text, false));
        let play = read("a.fountain", b"Title: Rain\n\nINT. SHED\n", None).expect("reads");
        assert_eq!((play.title.as_str(), play.script), ("Rain", true));
    }

    #[test]
    fn formats_are_found_from_bytes() {
        let page = "<!DOCTYPE html><html><head><title>Rain</title></head><body><h1>Rain</h1><h2>Chapter 1</h2><p>Mud.</p><h2>Chapter 2</h2><p>Sun.</p></body></html>";
        for (path, bytes, format, title, text) in [
            ("a.txt", page.as_bytes(), Format::Html, "Rain", "Rain\n\nChapter 1\n\nMud.\n\nChapter 2\n\nSun."),
            ("a.html", b"<p>Mud. &amp; Sun.", Format::Html, "a", "Mud. & Sun."),
            ("a.txt", b"<Anna comes in.> No page.", Format::Text, "a", "<Anna comes in.> No page."),
            ("a.md", b"# Rain\n\n## Mud\n", Format::Markdown, "Rain", "# Rain\n\n## Mud\n"),
            ("a.txt", b"{\"title\": \"Rain\", \"content\": \"Mud.\"}\n", Format::Jsonl, "Rain", "Mud."),
        ] {
            let book = read(path, bytes, None).expect(path);
            assert_eq!((book.format, book.title.as_str(), book.text.as_str()), (format, title, text));
        }
        let utf_16: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let book = read("a.bin", &utf_16, None).expect("reads");
        assert_eq!((book.format, book.encoding.as_str()), (Format::Html, "UTF-16LE"));
        let lines: Vec<Option<u32>> = chapters(&book).iter().map(|chapter| chapter.line).collect();
        assert_eq!(lines, [Some(3), Some(7)]);
    }

    #[test]
    fn files_that_are_not_text_are_rejected_with_advice() {
        let path = || "some/x.txt".to_owned();
        let format = |format| ReadError::Format { path: path(), format };
        for (bytes, expected) in [
            (&b""[..], ReadError::Empty { path: path() }),
            (b" \r\n \n", ReadError::Empty { path: path() }),
            (b"\xef\xbb\xbf", ReadError::Empty { path: path() }),
            (b"<html><script>1</script></html>", ReadError::Empty { path: path() }),
            (b"%PDF-1.7", format("a PDF")),
            (b"<?xml version=\"1.0\"?><FictionBook/>", format("an XML document other than XHTML")),
            (b"abc\0\x01\x02def\0\0\0", ReadError::Binary { path: path(), offset: 3 }),
            (b"\x89PNG\r\n\x1a\n", format("a picture")),
        ] {
            assert_eq!(read("some/x.txt", bytes, None).expect_err("refused"), expected);
        }
        let zip = read("some/x.txt", b"PK\x03\x04rest", None);
        assert!(matches!(zip, Err(ReadError::Epub { .. })), "{zip:?}");
    }

    #[test]
    fn json_without_books_is_rejected() {
        let utf_16: Vec<u8> = "\u{feff}{\"content\": \"河灯\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (path, bytes) in [("a.jsonl", utf_16.as_slice()), ("a.json", b"\"Chapter 1\"")] {
            let refused = read(path, bytes, None);
            assert!(matches!(refused, Err(ReadError::Format { .. })), "{refused:?}");
        }
    }

    /// A file of a given size that panics when it is read beyond its first bytes.
    struct Huge {
        size: u64,
        at: u64,
        head: &'static [u8],
    }

    impl std::io::Read for Huge {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            assert!(self.at < 16_384, "read before its size was checked");
            let length = buffer.len().min(4096);
            buffer[..length].fill(b'a');
            for (at, byte) in (self.at..).zip(&mut buffer[..length]) {
                *byte = usize::try_from(at).ok().and_then(|at| self.head.get(at)).copied().unwrap_or(b'a');
            }
            self.at += length as u64;
            Ok(length)
        }
    }

    impl Seek for Huge {
        fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
            self.at = match to {
                SeekFrom::Start(at) => at,
                SeekFrom::End(_) => self.size,
                SeekFrom::Current(_) => self.at,
            };
            Ok(self.at)
        }
    }

    #[test]
    fn a_huge_file_is_rejected_before_it_is_read() {
        for (size, head) in [(2 << 30, &b""[..]), (MAX_BYTES + 1, b"Chapter 1\n"), (8 << 30, b"PK\x03\x04")] {
            let huge = std::io::BufReader::new(Huge { size, at: 0, head });
            let found: Vec<_> = books("some/huge.txt", huge, None).collect();
            assert!(matches!(found[..], [Err(ReadError::TooLarge { .. })]), "{found:?}");
        }
    }

    #[test]
    fn one_long_line_is_a_book() {
        let line = "The mill stood still and the river went by. ".repeat(50_000);
        let book = read("a.txt", line.as_bytes(), None).expect("reads");
        let (chunks, rejects) = chunk(&book, &chapters(&book), &Params::default());
        assert!(rejects.is_empty() && chunks.len() > 40, "{}", chunks.len());
        assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>(), line);
    }

    #[test]
    fn line_endings_and_wrapping_do_not_change_paragraphs() {
        let paragraphs = [
            "It rained on the weir all that night, and nobody in the mill slept; the wheel stood still and the river went by.",
            "“Who is there?” said Anna. “Nobody comes at this hour but the miller, and he has a key of his own to the door.”",
            "Nobody answered. She took the lamp and went down to see, one step and then another, with her hand on the wall.",
        ];
        let wrapped: Vec<String> = paragraphs
            .iter()
            .map(|paragraph| {
                let words: Vec<&str> = paragraph.split(' ').collect();
                words.chunks(9).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
            })
            .collect();
        let lines = paragraphs.join("\n\n");
        let forms = [
            lines.clone(),
            lines.replace('\n', "\r\n"),
            paragraphs.join("\n"),
            wrapped.join("\n\n"),
            wrapped.join("\n\n").replace('\n', "\r\n"),
        ];
        for form in forms {
            let book = read("a.txt", form.as_bytes(), None).expect("reads");
            let params = Params { max_tokens: 40, min_fill: 0.0, ..Params::default() };
            let (chunks, _) = chunk(&book, &chapters(&book), &params);
            let read: Vec<String> =
                chunks.iter().map(|chunk| chunk.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            assert_eq!(read, paragraphs, "{form:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..600), name in "[a-z]{1,3}(\\.(txt|md|html|epub|jsonl|fountain))?") {
            for book in books(&name, Cursor::new(&bytes), None).flatten() {
                let chapters = chapters(&book);
                let (chunks, _) = chunk(&book, &chapters, &Params::default());
                prop_assert!(chunks.iter().all(|chunk| chunk.start <= chunk.end));
            }
        }

        #[test]
        fn chapters_of_any_text_have_ordered_offsets(text in "(<h[12]>|</h[12]>|<p>|Chapter [0-9]\n|# |CONTENTS\n\n|第[一二三]回 |\n\n|[a-z 。“”]{0,30}|===\n|\\*\\*\\* (START|END) OF THE PROJECT GUTENBERG EBOOK X \\*\\*\\*\n){0,30}", ending in "txt|md|html") {
            let Ok(book) = read(&format!("a.{ending}"), text.as_bytes(), None) else { return Ok(()) };
            let length = u32::try_from(book.text.chars().count()).expect("short");
            let chapters = chapters(&book);
            for pair in chapters.windows(2) {
                prop_assert!(pair[0].start <= pair[1].start && pair[0].end <= pair[1].start);
            }
            prop_assert!(chapters.iter().all(|chapter| chapter.end <= length));
            let (chunks, rejects) = chunk(&book, &chapters, &Params { max_tokens: 64, ..Params::default() });
            let mut at = 0;
            for chunk in &chunks {
                prop_assert!(chunk.start >= at && chunk.end > chunk.start && chunk.end <= length);
                let own: String = book.text.chars().skip(chunk.start as usize).take((chunk.end - chunk.start) as usize).collect();
                prop_assert_eq!(&own, &chunk.text);
                at = chunk.end;
            }
            // Text outside all chunks is blank or listed in a reject.
            let held: usize = chunks.iter().map(|chunk| chunk.text.split_whitespace().map(str::len).sum::<usize>()).sum();
            let all: usize = book.text.split_whitespace().map(str::len).sum();
            prop_assert!(held == all || !rejects.is_empty());
        }
    }
}
