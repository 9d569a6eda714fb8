//! Bytes become text: which encoding they are in, found from the bytes themselves. Knows no format but a page's own word.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::ChunkError;

/// What is looked at to tell an encoding, in bytes: a few chapters show it as well as a library does.
const SAMPLE: usize = 1 << 20;

/// Decodes a file.
///
/// The encoding is the one given (bad bytes become U+FFFD), else what a byte-order mark says, else UTF-8 when the bytes
/// are, else what a page says of itself, else what their statistics say. The mark is no part of the text.
pub(super) fn decode(
    path: &str,
    bytes: Cow<'_, [u8]>,
    label: Option<&str>,
) -> Result<(String, &'static Encoding), ChunkError> {
    let path = || path.to_owned();
    if let Some(label) = label {
        let encoding = Encoding::for_label(label.as_bytes())
            .ok_or_else(|| ChunkError::Label { path: path(), label: label.to_owned() })?;
        let (text, encoding, _) = encoding.decode(&bytes);
        return Ok((text.into_owned(), encoding));
    }
    let marked = Encoding::for_bom(&bytes);
    let mark = marked.map_or(0, |(_, length)| length);
    let rest = &bytes[mark..];
    match marked.map(|(encoding, _)| encoding).or_else(|| utf_16(rest)) {
        Some(encoding) if encoding != UTF_8 => {
            let text = encoding
                .decode_without_bom_handling_and_without_replacement(rest)
                .ok_or_else(|| ChunkError::Undecodable { path: path(), encoding: encoding.name() })?;
            return Ok((text.into_owned(), encoding));
        }
        _ => {}
    }
    if std::str::from_utf8(rest).is_ok() {
        let mut bytes = bytes.into_owned();
        bytes.drain(..mark);
        return Ok((String::from_utf8(bytes).expect("it was looked at"), UTF_8));
    }
    if let Some(offset) = rest.iter().position(|byte| *byte == 0) {
        return Err(ChunkError::Binary { path: path(), offset });
    }
    if let Some((count, first)) = almost_utf_8(rest, marked.is_some()) {
        let line = rest[..first].split(|byte| *byte == b'\n').count();
        return Err(ChunkError::Damaged { path: path(), count, line, offset: first + bytes.len() - rest.len() });
    }
    let guess = declared(rest).unwrap_or_else(|| statistics(rest));
    // GB18030 decodes all that GBK does, and the characters that GBK lacks.
    let encoding = if guess == encoding_rs::GBK { encoding_rs::GB18030 } else { guess };
    let (text, _) = encoding.decode_without_bom_handling(rest);
    let bad = text.chars().filter(|c| *c == '\u{fffd}').count();
    if bad * 200 > text.chars().count() {
        return Err(ChunkError::Undecodable { path: path(), encoding: encoding.name() });
    }
    Ok((text.into_owned(), encoding))
}

/// Guesses from a sample that has something to show: pure ASCII tells nothing.
fn statistics(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let start = bytes.iter().position(|byte| !byte.is_ascii() || *byte == 0x1b).unwrap_or(0).saturating_sub(64);
    let end = bytes.len().min(start + SAMPLE);
    detector.feed(&bytes[start..end], true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Returns the encoding that a page or an XML file names at its beginning.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(2048)]).to_ascii_lowercase();
    if !head.trim_start().starts_with('<') {
        return None;
    }
    let after = ["charset=", "encoding="].into_iter().find_map(|key| head.split_once(key))?.1;
    let label: String = after
        .trim_start_matches(['"', '\'', ' '])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    // The bytes are not UTF-8, whatever the page says.
    Encoding::for_label(label.as_bytes())
        .filter(|encoding| *encoding != UTF_8 && *encoding != UTF_16LE && *encoding != UTF_16BE)
}

/// Finds UTF-16 without a mark: read in the right byte order nearly all is Latin or Chinese, in the wrong one hardly any.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    if !bytes.len().is_multiple_of(2) || !bytes.contains(&0) {
        return None;
    }
    let bytes = &bytes[..bytes.len().min(SAMPLE)];
    [UTF_16LE, UTF_16BE].into_iter().find(|encoding| {
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        let usual = |c: &char| {
            matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{a0}'..='\u{24f}' | '\u{2010}'..='\u{2030}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff60}')
                || crate::text::is_han(*c)
        };
        let lines = text.contains('\n') || text.contains(' ');
        lines && text.chars().filter(usual).count() * 20 > text.chars().count() * 19
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

    const ZH: &str = "河边有一座旧水车，三十年没有转过。守水车的老人姓陆，人都叫他陆三更。\n“今夜涨水。”陆三更说。\n";
    const TRADITIONAL: &str =
        "河邊有一座舊水車，三十年沒有轉過。守水車的老人姓陸，人都叫他陸三更。\n「今夜漲水。」陸三更說。\n";

    fn decoded(bytes: &[u8], label: Option<&str>) -> Result<(String, &'static str), ChunkError> {
        decode("x.txt", Cow::Borrowed(bytes), label).map(|(text, encoding)| (text, encoding.name()))
    }

    #[test]
    fn encodings_are_found_from_bytes() {
        let utf_16 = |bytes: fn(u16) -> [u8; 2]| ZH.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let repeated = |text: &str| text.repeat(8);
        let japanese = "そうですか、と彼は言った。".repeat(9);
        for (bytes, encoding, text) in [
            (ZH.as_bytes().to_vec(), "UTF-8", ZH.to_owned()),
            ([b"\xef\xbb\xbf", ZH.as_bytes()].concat(), "UTF-8", ZH.to_owned()),
            ([b"\xff\xfe".to_vec(), utf_16(u16::to_le_bytes)].concat(), "UTF-16LE", ZH.to_owned()),
            ([b"\xfe\xff".to_vec(), utf_16(u16::to_be_bytes)].concat(), "UTF-16BE", ZH.to_owned()),
            (utf_16(u16::to_be_bytes), "UTF-16BE", ZH.to_owned()),
            (utf_16(u16::to_le_bytes), "UTF-16LE", ZH.to_owned()),
            (GB18030.encode(&repeated(ZH)).0.into_owned(), "gb18030", repeated(ZH)),
            (BIG5.encode(&repeated(TRADITIONAL)).0.into_owned(), "Big5", repeated(TRADITIONAL)),
            (SHIFT_JIS.encode(&japanese).0.into_owned(), "Shift_JIS", japanese.clone()),
            (
                WINDOWS_1252.encode("“Café,” she said—“naïve.”").0.into_owned(),
                "windows-1252",
                "“Café,” she said—“naïve.”".to_owned(),
            ),
            // What Latin-1 and Windows-1252 share: the label is that of the larger set, as on the web.
            (b"The na\xefve caf\xe9 owner slept.".to_vec(), "windows-1252", "The naïve café owner slept.".to_owned()),
        ] {
            assert_eq!(decoded(&bytes, None), Ok((text, encoding)));
        }
    }

    #[test]
    fn the_first_strange_letter_may_come_late() {
        let text = format!("{}“今夜涨水。”陆三更说，河上无风。", "plain words \n".repeat(200_000));
        assert_eq!(decoded(&GB18030.encode(&text).0, None), Ok((text, "gb18030")));
    }

    #[test]
    fn a_page_says_its_own_encoding() {
        let page = "<html><head><meta charset=\"big5\"></head><p>水車</p></html>";
        assert_eq!(decoded(&BIG5.encode(page).0, None), Ok((page.to_owned(), "Big5")));
        let lying = "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><p>水車</p>";
        assert_eq!(decoded(lying.as_bytes(), None), Ok((lying.to_owned(), "UTF-8")));
    }

    #[test]
    fn a_label_overrides_what_was_found() {
        let bytes = BIG5.encode(TRADITIONAL).0;
        assert_eq!(decoded(&bytes, Some("big5")), Ok((TRADITIONAL.to_owned(), "Big5")));
        assert_ne!(decoded(&bytes, Some("gbk")).expect("decodes to something").0, TRADITIONAL);
        let error = decoded(b"a", Some("utf-9")).expect_err("no such encoding");
        assert!(error.to_string().contains("utf-9"), "{error}");
    }

    #[test]
    fn a_damaged_file_is_reported_and_can_be_forced() {
        let mut bytes = ZH.as_bytes().to_vec();
        bytes.insert(ZH.len() - 1, 0xff);
        let error = decoded(&bytes, None).expect_err("damaged");
        assert_eq!(error, ChunkError::Damaged { path: "x.txt".to_owned(), count: 1, line: 2, offset: ZH.len() - 1 });
        assert!(decoded(&bytes, Some("utf-8")).expect("forced").0.contains('\u{fffd}'));
    }
}
