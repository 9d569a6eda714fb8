//! Detects file formats from bytes and text.

use super::html::Syntax;

/// Magic numbers of unsupported formats: (offset, bytes, name with article).
const FORMATS: &[(usize, &[u8], &str)] = &[
    (0, b"%PDF", "a PDF"),
    (0, b"{\\rtf", "an RTF document"),
    (0, b"\xd0\xcf\x11\xe0", "a Word document in the old binary format"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!", "a RAR archive"),
    (0, b"\xfd7zXZ\0", "an xz archive"),
    (0, b"(\xb5\x2f\xfd", "a zstd archive"),
    (257, b"ustar", "a tar archive"),
    (60, b"BOOKMOBI", "a Kindle book (MOBI)"),
    (60, b"TEXtREAd", "a PalmDOC book"),
    (0, b"AT&TFORM", "a DjVu scan"),
    (0, b"\x89PNG", "a picture"),
    (0, b"\xff\xd8\xff", "a picture"),
    (0, b"GIF8", "a picture"),
    (0, b"SQLite format 3", "a database"),
    (0, b"PAR1", "a Parquet file"),
];

/// Returns the name of the unsupported format that these bytes start with, if any.
pub(super) fn unsupported_format(head: &[u8]) -> Option<&'static str> {
    let found = FORMATS.iter().find(|(at, magic, _)| head.get(*at..).is_some_and(|head| head.starts_with(magic)));
    found.map(|(.., format)| *format)
}

/// The markup language of a text.
pub(super) enum Markup {
    None,
    Html(Syntax),
    /// XML other than XHTML.
    Xml,
}

/// Detects the markup of a text from its first 2,000 characters. The extension decides only for fragments of a page.
pub(super) fn markup(text: &str, extension: &str) -> Markup {
    let text = text.trim_start();
    if !text.starts_with('<') {
        return Markup::None;
    }
    let head: String = text.chars().take(2000).collect::<String>().to_ascii_lowercase();
    let xml = head.starts_with("<?xml");
    let named = matches!(extension, "html" | "htm" | "xhtml" | "xht");
    let page = ["<html", "<!doctype html", "<head", "<body"].iter().any(|tag| head.contains(tag));
    match (xml, page || (named && head.contains('>'))) {
        (true, true) => Markup::Html(Syntax::Xhtml),
        (false, true) => Markup::Html(Syntax::Html),
        (true, false) => Markup::Xml,
        (false, false) => Markup::None,
    }
}
