//! Decodes bytes into text, and detects the encoding from the bytes. Independent of formats, except for a declared
//! charset.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::error::ReadError;

/// How many bytes are examined to detect an encoding. A chapter shows it as well as a whole book.
const SAMPLE: usize = 1 << 15;
/// The size of the blocks of a sample that are judged separately, so that a bad byte affects only its block.
const BLOCK: usize = 1 << 11;

/// Decodes a file. Returns the text and its encoding.
///
/// The encoding is, in this order: the one given (bad bytes become U+FFFD), that of a byte order mark, UTF-8 if the
/// bytes are valid, the one that the page declares, a statistical guess. The mark is not part of the text. If lines end
/// in CR only, each CR becomes LF, so that offsets stay the same.
pub(crate) fn decode(
    path: &str,
    bytes: Vec<u8>,
    label: Option<&str>,
) -> Result<(String, &'static Encoding), ReadError> {
    let (text, encoding) = decoded(path, bytes, label)?;
    Ok((with_line_feeds(text), encoding))
}

fn decoded(path: &str, mut bytes: Vec<u8>, label: Option<&str>) -> Result<(String, &'static Encoding), ReadError> {
    let path = || path.to_owned();
    let marked = Encoding::for_bom(&bytes);
    let mark = marked.map_or(0, |(_, length)| length);
    let marked = marked.map(|(encoding, _)| encoding);
    if let Some(label) = label {
        let encoding = Encoding::for_label(label.as_bytes())
            .ok_or_else(|| ReadError::Label { path: path(), label: label.to_owned() })?;
        // The byte order mark takes precedence.
        let encoding = marked.unwrap_or(encoding);
        return Ok((replaced(encoding, &bytes[mark..]).0, encoding));
    }
    bytes.drain(..mark);
    if let Some(encoding) = marked.filter(|encoding| *encoding != UTF_8).or_else(|| utf_16(&bytes)) {
        if bytes.len() % 2 == 1 {
            return Err(ReadError::Cut { path: path(), encoding: encoding.name() });
        }
        let (text, bad) = replaced(encoding, &bytes);
        if bad > 0 {
            return Err(ReadError::Undecodable { path: path(), encoding: encoding.name() });
        }
        return Ok((text, encoding));
    }
    let bytes = match String::from_utf8(bytes) {
        // ISO-2022-JP text looks like ASCII apart from its escape sequences.
        Ok(text) if !has_escape_sequences(&text) => return Ok((text, UTF_8)),
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    };
    if bytes.contains(&0) {
        let offset = bytes.iter().position(|byte| *byte == 0).unwrap_or_default() + mark;
        return Err(ReadError::Binary { path: path(), offset });
    }
    if let Some(Bad { count, first, cut }) = almost_utf_8(&bytes, marked.is_some()) {
        if cut {
            return Err(ReadError::Cut { path: path(), encoding: UTF_8.name() });
        }
        let line = bytes[..first].split(|byte| *byte == b'\n').count();
        return Err(ReadError::Damaged { path: path(), count, line, offset: first + mark });
    }
    let guess = declared(&bytes).unwrap_or_else(|| statistics(&bytes));
    // GB18030 decodes everything that GBK does, and characters that GBK lacks.
    let encoding = if guess == encoding_rs::GBK { encoding_rs::GB18030 } else { guess };
    let (text, bad) = replaced(encoding, &bytes);
    if bad > 0 && bad * 200 > text.chars().count() {
        return Err(ReadError::Undecodable { path: path(), encoding: encoding.name() });
    }
    Ok((text, encoding))
}

/// Whether an ASCII text contains the escape sequences by which ISO-2022-JP switches to Japanese.
fn has_escape_sequences(text: &str) -> bool {
    text.is_ascii() && ["\u{1b}$B", "\u{1b}$@"].iter().any(|sign| text.contains(sign))
}

/// Decodes bytes, and counts the resulting U+FFFD. Allocates at most about 1.5 times the size of the text.
fn replaced(encoding: &'static Encoding, bytes: &[u8]) -> (String, usize) {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 2 + 16);
    let (mut at, mut bad) = (0, false);
    loop {
        let (result, read, replaced) = decoder.decode_to_string(&bytes[at..], &mut text, true);
        at += read;
        bad |= replaced;
        if result == CoderResult::InputEmpty {
            break;
        }
        text.reserve((bytes.len() - at) / 2 + 64);
    }
    let bad = if bad { text.matches('\u{fffd}').count() } else { 0 };
    (text, bad)
}

/// Replaces CR with LF if there is no LF.
fn with_line_feeds(text: String) -> String {
    if text.contains('\n') || !text.contains('\r') {
        return text;
    }
    let mut bytes = text.into_bytes();
    for byte in bytes.iter_mut().filter(|byte| **byte == b'\r') {
        *byte = b'\n';
    }
    String::from_utf8(bytes).expect("replacing one ASCII byte with another keeps UTF-8 valid")
}

/// Guesses the encoding from the first lines that are not pure ASCII.
fn statistics(bytes: &[u8]) -> &'static Encoding {
    let mut sample = Vec::with_capacity(SAMPLE);
    // No encoding has a line feed inside a character.
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if !line.is_ascii() || line.contains(&0x1b) {
            let remaining_sample = SAMPLE - sample.len();
            sample.extend_from_slice(&line[..line.len().min(remaining_sample)]);
            if line.len() >= remaining_sample {
                break;
            }
        }
    }
    let whole_sample = guess(&sample);
    let non_ascii = sample.iter().filter(|byte| !byte.is_ascii()).count();
    // One bad byte is enough for the detector to rule out a multi-byte encoding. Text that is not in Latin letters is
    // therefore guessed again block by block.
    if whole_sample.is_single_byte() && non_ascii * 3 > sample.len() {
        let mut votes: Vec<(&'static Encoding, usize)> = Vec::new();
        let mut blocks = 0;
        for block in blocks_of(&sample) {
            let guess = guess(block);
            blocks += 1;
            match votes.iter_mut().find(|(encoding, _)| *encoding == guess) {
                Some((_, count)) => *count += 1,
                None => votes.push((guess, 1)),
            }
        }
        let best = votes.into_iter().filter(|(encoding, _)| !encoding.is_single_byte()).max_by_key(|(_, count)| *count);
        if let Some((encoding, _)) = best.filter(|(_, count)| count * 2 > blocks) {
            return encoding;
        }
    }
    whole_sample
}

/// Cuts a sample into blocks, at line ends if there are any.
fn blocks_of(sample: &[u8]) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    let mut rest = sample;
    while !rest.is_empty() {
        let least = BLOCK.min(rest.len());
        let end = rest[least..].iter().take(BLOCK).position(|byte| *byte == b'\n').map_or(least, |at| least + at + 1);
        let (block, after) = rest.split_at(end);
        blocks.push(block);
        rest = after;
    }
    blocks
}

fn guess(sample: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    // A sample may end inside a character.
    detector.feed(sample, false);
    let guess = detector.guess(None, Utf8Detection::Deny);
    // A few accents fit many languages; in an English book they are those of western Europe.
    if guess.is_single_byte() { detector.guess(Some(b"uk"), Utf8Detection::Deny) } else { guess }
}

/// Returns the encoding that a page or an XML file declares at its start.
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
    // The bytes are not UTF-8, whatever the page declares.
    Encoding::for_label(label.as_bytes())
        .filter(|encoding| *encoding != UTF_8 && *encoding != UTF_16LE && *encoding != UTF_16BE)
}

/// Detects UTF-16 without a byte order mark: in the right byte order almost all text is Latin or Chinese, in the wrong
/// one hardly any.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let bytes = &bytes[..bytes.len().min(SAMPLE) / 2 * 2];
    if !bytes.contains(&0) {
        return None;
    }
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

/// Errors in bytes that are meant to be UTF-8.
struct Bad {
    /// The number of invalid sequences.
    count: usize,
    /// The byte offset of the first one.
    first: usize,
    /// Whether the only error is a truncated character at the end.
    cut: bool,
}

/// The number of samples taken first, and the length of each in bytes.
const PROBES: usize = 8;
const PROBE_LENGTH: usize = SAMPLE / PROBES;

/// Finds invalid sequences, if the rest of the bytes shows that they are meant to be UTF-8.
fn almost_utf_8(bytes: &[u8], marked: bool) -> Option<Bad> {
    // Text in another encoding rarely forms valid sequences, let alone ten for each invalid one.
    let is_meant = |good: usize, bad: usize| marked || good >= bad * 10;
    let (mut good, mut bad) = (0, 0);
    // A few samples are enough to rule out UTF-8.
    if bytes.len() > SAMPLE * 2 {
        for probe in 0..PROBES {
            let from = (bytes.len() - PROBE_LENGTH) / PROBES * probe;
            let counts = count_sequences(&bytes[from..from + PROBE_LENGTH], |_, _| {});
            good += counts.0;
            bad += counts.1;
        }
        // The edges of a sample may cut a character.
        if !is_meant(good, bad.saturating_sub(2 * PROBES)) {
            return None;
        }
    }
    let (mut first, mut cut) = (None, false);
    let (good, bad) = count_sequences(bytes, |at, at_end| {
        cut = at_end && first.is_none();
        first.get_or_insert(at);
    });
    first.filter(|_| is_meant(good, bad)).map(|first| Bad { count: bad, first, cut })
}

/// Counts the non-ASCII characters and the invalid sequences. Calls `on_invalid` for each invalid sequence with its
/// offset and whether the bytes end in the middle of it.
fn count_sequences(bytes: &[u8], mut on_invalid: impl FnMut(usize, bool)) -> (usize, usize) {
    let (mut good, mut bad, mut at) = (0, 0, 0);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        good += if valid.is_ascii() { 0 } else { valid.chars().filter(|c| !c.is_ascii()).count() };
        at += valid.len();
        if !chunk.invalid().is_empty() {
            bad += 1;
            let at_end = at + chunk.invalid().len() == bytes.len();
            on_invalid(
                at,
                at_end && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none()),
            );
            at += chunk.invalid().len();
        }
    }
    (good, bad)
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, GB18030, SHIFT_JIS, WINDOWS_1252};

    use super::*;

    const ZH: &str = "河边有一座旧水车，三十年没有转过。守水车的老人姓陆，人都叫他陆三更。\n“今夜涨水。”陆三更说。\n";
    const TRADITIONAL: &str =
        "河邊有一座舊水車，三十年沒有轉過。守水車的老人姓陸，人都叫他陸三更。\n「今夜漲水。」陸三更說。\n";

    fn found(bytes: &[u8], label: Option<&str>) -> Result<(String, &'static str), ReadError> {
        decode("x.txt", bytes.to_vec(), label).map(|(text, encoding)| (text, encoding.name()))
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
            (b"\x1b$B2O@n\x1b(B\n".repeat(9), "ISO-2022-JP", "河川\n".repeat(9)),
            (
                WINDOWS_1252.encode("“Café,” she said—“naïve.”").0.into_owned(),
                "windows-1252",
                "“Café,” she said—“naïve.”".to_owned(),
            ),
            // Latin-1 and Windows-1252 agree here. The label is that of the larger set, as on the web.
            (b"The na\xefve caf\xe9 owner slept.".to_vec(), "windows-1252", "The naïve café owner slept.".to_owned()),
        ] {
            assert_eq!(found(&bytes, None), Ok((text, encoding)));
        }
    }

    #[test]
    fn long_books_are_decoded_correctly() {
        // A few bytes longer than a sample, so that the sample ends inside a character.
        for shift in 0..3 {
            let (simplified, traditional) = (ZH.repeat(1500), TRADITIONAL.repeat(1500));
            let line = |text: &str| format!("{}{}", "a".repeat(shift), text.replace('\n', ""));
            for (text, encoding, name) in [
                (&simplified, GB18030, "gb18030"),
                (&line(&simplified), GB18030, "gb18030"),
                (&traditional, BIG5, "Big5"),
                (&line(&traditional), BIG5, "Big5"),
            ] {
                let (read, found) = found(&encoding.encode(text).0, None).expect("reads");
                assert!(found == name && read == *text, "{found} for {name}");
            }
        }
        // Cantonese characters of the Hong Kong extension, which the library decodes but does not encode.
        let cantonese = "「佢哋喺度做咩嘢？」陸三更話：「唔好嘈，嗰個人嚟咗。」\n".repeat(40);
        let bytes = b"\xa1\x75\xca\x5c\x92\x5d\x9d\xf6\xab\xd7\xb0\xb5\xab\xa7\x9d\xcf\xa1\x48\xa1\x76\xb3\xb0\xa4\x54\xa7\xf3\xb8\xdc\xa1\x47\xa1\x75\xad\xf8\xa6\x6e\xb9\xcb\xa1\x41\x9d\xf5\xad\xd3\xa4\x48\x91\xc1\x9d\xf7\xa1\x43\xa1\x76\n";
        assert_eq!(found(&bytes.repeat(40), None), Ok((cantonese, "Big5")));
    }

    #[test]
    fn a_few_invalid_bytes_do_not_change_the_encoding() {
        for (text, encoding, name) in [(ZH, GB18030, "gb18030"), (TRADITIONAL, BIG5, "Big5")] {
            let mut bytes = encoding.encode(&text.repeat(400)).0.into_owned();
            for at in [700, 20_001, 30_000] {
                // No character starts with this byte.
                bytes.splice(at..at, [0xff, b'\n']);
            }
            let (read, found) = found(&bytes, None).expect("reads");
            assert_eq!(found, name);
            assert!(read.matches(&text[..30]).count() >= 396 && read.matches('\u{fffd}').count() < 12);
        }
    }

    #[test]
    fn a_few_accented_letters_mean_a_western_encoding() {
        let plain = "It rained on the weir all that night, and nobody in the mill slept; the wheel stood still.\n";
        for words in [
            "The curé’s café was closed.\n",
            "“Señor Ibáñez,” she said, “à bientôt.”\n",
            "It cost £3 and a half—naïve as he was.\n",
            "Zoë spoke of her fiancé and the Brontës.\n",
            "An æsthete’s rôle, my dear Anaïs.\n",
        ] {
            let text = format!("{}{words}{}{words}", plain.repeat(600), plain.repeat(600));
            assert_eq!(found(&WINDOWS_1252.encode(&text).0, None), Ok((text, "windows-1252")));
        }
    }

    #[test]
    fn carriage_returns_end_lines() {
        let text = "Chapter 1\r\rIt rained.\r";
        assert_eq!(found(text.as_bytes(), None), Ok((text.replace('\r', "\n"), "UTF-8")));
        assert_eq!(found("第一回\r河灯\r".as_bytes(), Some("utf-8")).expect("reads").0, "第一回\n河灯\n");
        for kept in ["a\r\nb\r\n", "a\rb\nc"] {
            assert_eq!(found(kept.as_bytes(), None), Ok((kept.to_owned(), "UTF-8")));
        }
    }

    #[test]
    fn utf_16_without_a_mark_is_found() {
        let english = "It rained on the weir.\r\n“Who is there?” said Anna.\r\n";
        for (text, bytes, name) in [
            (english, u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"),
            (english, u16::to_be_bytes, "UTF-16BE"),
            (TRADITIONAL, u16::to_le_bytes, "UTF-16LE"),
        ] {
            let text = text.repeat(1000);
            let mut encoded: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
            assert_eq!(found(&encoded, None), Ok((text, name)));
            encoded.pop();
            assert_eq!(found(&encoded, None), Err(ReadError::Cut { path: "x.txt".to_owned(), encoding: name }));
        }
    }

    #[test]
    fn a_truncated_download_is_an_error() {
        for (text, missing) in [(ZH.repeat(2), 2), (format!("{}😀", "“Yes,” said Anna. ".repeat(9)), 1)] {
            let text = text.trim_end();
            let cut = &text.as_bytes()[..text.len() - missing];
            let error = found(cut, None).expect_err("cut");
            assert_eq!(error, ReadError::Cut { path: "x.txt".to_owned(), encoding: "UTF-8" });
            assert!(error.to_string().contains("truncated"), "{error}");
            assert!(found(cut, Some("utf-8")).expect("forced").0.ends_with('\u{fffd}'));
        }
    }

    #[test]
    fn the_encoding_is_detected_from_late_bytes() {
        let text = format!("{}“今夜涨水。”陆三更说，河上无风。", "plain words \n".repeat(200_000));
        assert_eq!(found(&GB18030.encode(&text).0, None), Ok((text, "gb18030")));
    }

    #[test]
    fn the_encoding_declared_in_a_page_is_used_if_it_is_valid() {
        let page = "<html><head><meta charset=\"big5\"></head><p>水車</p></html>";
        assert_eq!(found(&BIG5.encode(page).0, None), Ok((page.to_owned(), "Big5")));
        let misdeclared = "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><p>水車</p>";
        assert_eq!(found(misdeclared.as_bytes(), None), Ok((misdeclared.to_owned(), "UTF-8")));
    }

    #[test]
    fn an_encoding_label_overrides_detection() {
        let bytes = BIG5.encode(TRADITIONAL).0;
        assert_eq!(found(&bytes, Some("big5")), Ok((TRADITIONAL.to_owned(), "Big5")));
        assert_ne!(found(&bytes, Some("gbk")).expect("decodes to something").0, TRADITIONAL);
        let error = found(b"a", Some("utf-9")).expect_err("no such encoding");
        assert!(error.to_string().contains("utf-9"), "{error}");
    }

    #[test]
    fn a_damaged_file_is_reported_and_can_be_forced() {
        let mut bytes = ZH.as_bytes().to_vec();
        bytes.insert(ZH.len() - 1, 0xff);
        let error = found(&bytes, None).expect_err("damaged");
        assert_eq!(error, ReadError::Damaged { path: "x.txt".to_owned(), count: 1, line: 2, offset: ZH.len() - 1 });
        assert!(found(&bytes, Some("utf-8")).expect("forced").0.contains('\u{fffd}'));
    }
}
