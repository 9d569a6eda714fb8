//! Bytes become a book: encoding, title, language. Reads no file; refuses what is no text, and says what to do instead.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::{headings, language};
use crate::schema::{Book, slug};

/// Why a file cannot be read as a book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    /// It holds no text.
    #[error("read `{path}` as a book: it is empty")]
    Empty {
        /// The path as given.
        path: String,
    },
    /// It is of a format that holds text but is not text.
    #[error(
        "read `{path}` as a book: it is {format}; convert it to plain text first (.txt, .md and .fountain are read)"
    )]
    Format {
        /// The path as given.
        path: String,
        /// The format, with its article.
        format: &'static str,
    },
    /// It is no text in any encoding.
    #[error("read `{path}` as a book: byte {offset} is NUL, so it is no text file; take it out of `books.paths`")]
    Binary {
        /// The path as given.
        path: String,
        /// Where the first NUL stands, in bytes.
        offset: usize,
    },
    /// It would be UTF-8 but for a few bytes.
    #[error(
        "read `{path}` as a book: it is UTF-8 but for {count} bad places, the first on line {line} (byte {offset}); \
         mend them, or set `chunk.encoding = \"utf-8\"` to read each as \u{fffd}"
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
    /// The encoding that the pipeline file names does not exist.
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
}

/// First bytes of what is no plain text.
const FORMATS: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "an EPUB or another zip archive"),
    (b"%PDF", "a PDF"),
    (b"{\\rtf", "an RTF document"),
    (b"\xd0\xcf\x11\xe0", "a Word document"),
    (b"\x1f\x8b", "a gzip archive"),
];

/// Reads a book from a file's bytes.
///
/// The encoding is the one given (bad bytes become U+FFFD), else what a byte-order mark says, else UTF-8 when the bytes
/// are, else what their statistics say.
pub fn read(path: &str, bytes: &[u8], encoding: Option<&str>) -> Result<Book, ChunkError> {
    let owned = || path.to_owned();
    if let Some((_, format)) = FORMATS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(ChunkError::Format { path: owned(), format });
    }
    let (text, encoding) = decode(path, bytes, encoding)?;
    if text.trim().is_empty() {
        return Err(ChunkError::Empty { path: owned() });
    }
    if let Some(offset) = text.find('\0') {
        return Err(ChunkError::Binary { path: owned(), offset });
    }
    let head: String = text.trim_start().chars().take(200).collect::<String>().to_ascii_lowercase();
    if ["<!doctype html", "<html", "<?xml"].iter().any(|magic| head.starts_with(magic)) {
        return Err(ChunkError::Format { path: owned(), format: "HTML or XML" });
    }
    let (stem, extension) = stem_and_extension(path);
    let script = extension == "fountain" || (extension != "md" && language::is_script(&text));
    Ok(Book {
        slug: slug(stem),
        title: language::title(&text, stem, headings::is_heading),
        language: language::language(&text),
        encoding: encoding.name().to_owned(),
        path: owned(),
        text,
        hash: blake3::hash(bytes).to_hex().to_string(),
        script,
        ..Book::default()
    })
}

/// Splits a path's last part into stem and lower-case extension.
fn stem_and_extension(path: &str) -> (&str, String) {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension.to_ascii_lowercase()),
        _ => (name, String::new()),
    }
}

fn decode(path: &str, bytes: &[u8], label: Option<&str>) -> Result<(String, &'static Encoding), ChunkError> {
    let path = || path.to_owned();
    if let Some(label) = label {
        let encoding = Encoding::for_label(label.as_bytes())
            .ok_or_else(|| ChunkError::Label { path: path(), label: label.to_owned() })?;
        let (text, encoding, _) = encoding.decode(bytes);
        return Ok((text.into_owned(), encoding));
    }
    let marked = Encoding::for_bom(bytes);
    let rest = marked.map_or(bytes, |(_, length)| &bytes[length..]);
    match marked.map(|(encoding, _)| encoding).or_else(|| utf_16(rest)) {
        Some(encoding) if encoding != UTF_8 => {
            let text = encoding
                .decode_without_bom_handling_and_without_replacement(rest)
                .ok_or_else(|| ChunkError::Undecodable { path: path(), encoding: encoding.name() })?;
            return Ok((text.into_owned(), encoding));
        }
        _ => {}
    }
    if let Ok(text) = std::str::from_utf8(rest) {
        return Ok((text.to_owned(), UTF_8));
    }
    if let Some(offset) = rest.iter().position(|byte| *byte == 0) {
        return Err(ChunkError::Binary { path: path(), offset });
    }
    if let Some((count, first)) = almost_utf_8(rest, marked.is_some()) {
        let line = rest[..first].split(|byte| *byte == b'\n').count();
        return Err(ChunkError::Damaged { path: path(), count, line, offset: first + bytes.len() - rest.len() });
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(rest, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // GB18030 decodes all that GBK does, and the characters that GBK lacks.
    let encoding = if guess == encoding_rs::GBK { encoding_rs::GB18030 } else { guess };
    let (text, _) = encoding.decode_without_bom_handling(rest);
    let bad = text.chars().filter(|c| *c == '\u{fffd}').count();
    if bad * 200 > text.chars().count() {
        return Err(ChunkError::Undecodable { path: path(), encoding: encoding.name() });
    }
    Ok((text.into_owned(), encoding))
}

/// Finds UTF-16 without a mark: read in the right byte order nearly all is Latin or Chinese, in the wrong one hardly any.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    if !bytes.len().is_multiple_of(2) || !bytes.contains(&0) {
        return None;
    }
    [UTF_16LE, UTF_16BE].into_iter().find(|encoding| {
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
        text.is_some_and(|text| {
            let usual = |c: &char| {
                matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{a0}'..='\u{24f}' | '\u{2010}'..='\u{2030}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff60}')
                    || language::is_han(*c)
            };
            let lines = text.contains('\n') || text.contains(' ');
            lines && text.chars().filter(usual).count() * 20 > text.chars().count() * 19
        })
    })
}

/// Counts the places that are not UTF-8 and finds the first, when the rest shows that the file is meant to be UTF-8.
fn almost_utf_8(bytes: &[u8], marked: bool) -> Option<(usize, usize)> {
    let (mut bad, mut first, mut good, mut at) = (0, None, 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (valid, step) = match std::str::from_utf8(rest) {
            Ok(text) => (text, rest.len()),
            Err(error) => {
                let valid = error.valid_up_to();
                bad += 1;
                first.get_or_insert(at + valid);
                let text = std::str::from_utf8(&rest[..valid]).expect("valid up to here");
                (text, valid + error.error_len().unwrap_or(rest.len() - valid))
            }
        };
        good += valid.chars().filter(|c| !c.is_ascii()).count();
        at += step;
    }
    // Text in another encoding rarely forms a proper sequence, let alone ten for each improper one.
    first.filter(|_| marked || good >= bad * 10).map(|first| (bad, first))
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, GB18030, SHIFT_JIS, WINDOWS_1252};

    use super::*;
    use crate::schema::Language;

    const ZH: &str = "河边有一座旧水车，三十年没有转过。守水车的老人姓陆，人都叫他陆三更。\n“今夜涨水。”陆三更说。\n";
    const TRADITIONAL: &str =
        "河邊有一座舊水車，三十年沒有轉過。守水車的老人姓陸，人都叫他陸三更。\n「今夜漲水。」陸三更說。\n";

    #[test]
    fn encodings_are_found_from_bytes() {
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| ZH.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let repeated = |text: &str| text.repeat(8);
        for (bytes, encoding, text) in [
            (ZH.as_bytes().to_vec(), "UTF-8", ZH.to_owned()),
            ([b"\xef\xbb\xbf", ZH.as_bytes()].concat(), "UTF-8", ZH.to_owned()),
            ([b"\xff\xfe".to_vec(), utf_16(u16::to_le_bytes)].concat(), "UTF-16LE", ZH.to_owned()),
            (utf_16(u16::to_be_bytes), "UTF-16BE", ZH.to_owned()),
            (GB18030.encode(&repeated(ZH)).0.into_owned(), "gb18030", repeated(ZH)),
            (BIG5.encode(&repeated(TRADITIONAL)).0.into_owned(), "Big5", repeated(TRADITIONAL)),
            (
                WINDOWS_1252.encode("“Café,” she said—“naïve.”").0.into_owned(),
                "windows-1252",
                "“Café,” she said—“naïve.”".to_owned(),
            ),
        ] {
            let book = read("books/a_book.txt", &bytes, None).expect(encoding);
            assert_eq!((book.encoding.as_str(), &book.text), (encoding, &text));
        }
        let japanese = "そうですか、と彼は言った。".repeat(9);
        let book = read("b.txt", &SHIFT_JIS.encode(&japanese).0, None).expect("decodes");
        assert_eq!((book.encoding.as_str(), book.text), ("Shift_JIS", japanese));
    }

    #[test]
    fn a_book_knows_itself() {
        let book = read("some/Lu_San.GENG.txt", format!("陆三更\n\n{ZH}").as_bytes(), None).expect("reads");
        assert_eq!((book.slug.as_str(), book.title.as_str(), book.language), ("lu-san-geng", "陆三更", Language::Zh));
        assert!(!book.script);
        let play = read("a.fountain", b"Title: Rain\n\nINT. SHED\n", None).expect("reads");
        assert_eq!((play.title.as_str(), play.script), ("Rain", true));
    }

    #[test]
    fn what_is_no_text_is_refused_with_advice() {
        for (bytes, part) in [
            (&b""[..], "empty"),
            (b" \r\n \n", "empty"),
            (b"PK\x03\x04rest", "EPUB"),
            (b"%PDF-1.7", "PDF"),
            (b"\n <!DOCTYPE html><p>", "HTML"),
            (b"abc\0\x01\x02def\0\0\0", "NUL"),
        ] {
            let error = read("x.txt", bytes, None).expect_err(part).to_string();
            assert!(error.contains(part) && error.contains("x.txt"), "{error}");
        }
    }

    #[test]
    fn a_damaged_file_is_reported_and_can_be_forced() {
        let mut bytes = ZH.as_bytes().to_vec();
        bytes.insert(ZH.len() - 1, 0xff);
        let error = read("x.txt", &bytes, None).expect_err("damaged");
        assert_eq!(error, ChunkError::Damaged { path: "x.txt".to_owned(), count: 1, line: 2, offset: ZH.len() - 1 });
        let book = read("x.txt", &bytes, Some("utf-8")).expect("forced");
        assert!(book.text.contains('\u{fffd}'));
        let error = read("x.txt", b"a", Some("utf-9")).expect_err("no such encoding");
        assert!(error.to_string().contains("utf-9"), "{error}");
    }
}
