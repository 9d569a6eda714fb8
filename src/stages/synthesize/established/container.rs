//! What a character file is wrapped in: a picture, an archive or nothing. Takes bytes, gives the text of its JSON or TOML.

use std::io::{Cursor, Read as _};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zip::ZipArchive;

use super::png;

/// The most bytes of a character file; pictures are the large ones.
pub const MOST_BYTES: usize = 64 << 20;

/// The most bytes of a card's text.
pub(super) const MOST_TEXT: usize = 16 << 20;

/// The text chunks of a picture that hold a card. Where both stand, the first is the newer form.
const KEYWORDS: [&str; 2] = ["ccv3", "chara"];

/// Why a file gives no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is longer than any card.
    #[error("{bytes} bytes are more than a character file may have ({MOST_BYTES})")]
    TooLarge {
        /// Its length.
        bytes: u64,
    },
    /// A picture and nothing more.
    #[error("this picture holds no character card")]
    NoCard,
    /// The file ends too early.
    #[error("this picture breaks off within the chunk at byte {offset}, before any character card")]
    Truncated {
        /// Where the last chunk begins.
        offset: usize,
    },
    /// A bit is not what it was.
    #[error("the chunk `{kind}` at byte {offset} of this picture is damaged: its checksum is wrong")]
    Checksum {
        /// The chunk's kind.
        kind: String,
        /// Where it begins.
        offset: usize,
    },
    /// The text cannot be unpacked, or not within its bounds.
    #[error("the chunk `{keyword}` of this picture cannot be unpacked")]
    Packed {
        /// The chunk's keyword.
        keyword: &'static str,
    },
    /// The text is not in base64.
    #[error("the chunk `{keyword}` of this picture is no base64")]
    Base64 {
        /// The chunk's keyword.
        keyword: &'static str,
    },
    /// The archive is broken, encrypted or has no card.
    #[error("`card.json` of this archive cannot be read: {0}")]
    Archive(String),
    /// Bytes that are no text.
    #[error("the text of this file is no UTF-8")]
    Encoding,
}

impl Fault {
    /// Says what would be right.
    #[must_use]
    pub const fn expected(&self) -> &'static str {
        match self {
            Self::NoCard => {
                "a PNG with a text chunk `ccv3` or `chara`; image editors and chats drop it, so take the file as it was \
                 downloaded, or leave the picture out of the pattern"
            }
            Self::Truncated { .. } | Self::Checksum { .. } | Self::Packed { .. } | Self::Base64 { .. } => {
                "a whole file: download or export the card again"
            }
            Self::TooLarge { .. } => "a card without its assets: export it as JSON or PNG",
            Self::Archive(_) => "a `.charx` archive with `card.json` at its root, not encrypted",
            Self::Encoding => "TOML or JSON in UTF-8, a PNG with a card, or a `.charx` archive",
        }
    }
}

/// Returns the text of a character file: of a PNG its card, of a `.charx` archive its `card.json`, else the file's own. What
/// a file is, its bytes say.
pub fn text(bytes: Vec<u8>) -> Result<String, Fault> {
    if bytes.len() > MOST_BYTES {
        return Err(Fault::TooLarge { bytes: bytes.len() as u64 });
    }
    let text = if bytes.starts_with(png::SIGNATURE) {
        let (keyword, text) = png::text(&bytes, &KEYWORDS)?;
        decoded(text).ok_or(Fault::Base64 { keyword })?
    } else if bytes.starts_with(b"PK\x03\x04") {
        archived(&bytes)?
    } else {
        bytes
    };
    let text = String::from_utf8(text).map_err(|_| Fault::Encoding)?;
    Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
}

/// Says whether a file is wrapped, so that places in its text are no places in the file.
#[must_use]
pub fn is_wrapped(bytes: &[u8]) -> bool {
    bytes.starts_with(png::SIGNATURE) || bytes.starts_with(b"PK\x03\x04")
}

/// Decodes base64, with or without its padding; JSON that was put into the picture as it is stays.
fn decoded(mut text: Vec<u8>) -> Option<Vec<u8>> {
    if text.trim_ascii_start().starts_with(b"{") {
        return Some(text);
    }
    text.retain(|byte| !byte.is_ascii_whitespace() && *byte != 0);
    let padding = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, padding).decode(text).ok()
}

fn archived(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let fault = |error: &dyn std::error::Error| Fault::Archive(error.to_string());
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| fault(&error))?;
    let entry = archive.by_name("card.json").map_err(|error| fault(&error))?;
    let mut text = Vec::new();
    entry.take(MOST_TEXT as u64 + 1).read_to_end(&mut text).map_err(|error| fault(&error))?;
    if text.len() > MOST_TEXT {
        return Err(Fault::Archive(format!("it has more than {MOST_TEXT} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::stages::synthesize::established::png::tests::{chunk, picture};

    const CARD: &str = r#"{"name":"阿满","x":1}"#;

    fn archive(name: &str, text: &[u8]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file("assets/icon/images/main.png", SimpleFileOptions::default()).unwrap();
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text).unwrap();
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn a_card_is_taken_out_of_whatever_it_is_in() {
        let own = |base64: String| picture(&[chunk(*b"tEXt", format!("chara\0{base64}").as_bytes())]);
        let broken_lines = STANDARD.encode(CARD).replace('I', "I\r\n");
        for bytes in [
            CARD.as_bytes().to_vec(),
            format!("\u{feff}{CARD}").into_bytes(),
            own(STANDARD.encode(CARD)),
            own(STANDARD_NO_PAD.encode(CARD)),
            own(broken_lines),
            own(CARD.to_owned()),
            archive("card.json", CARD.as_bytes()),
        ] {
            assert_eq!(text(bytes).as_deref(), Ok(CARD));
        }
    }

    #[test]
    fn what_cannot_be_taken_out_is_told() {
        let own = |text: &[u8]| picture(&[chunk(*b"tEXt", &[b"chara\0".as_slice(), text].concat())]);
        assert_eq!(text(own(b"***")), Err(Fault::Base64 { keyword: "chara" }));
        assert_eq!(text(own(STANDARD.encode([0xff, 0xfe]).as_bytes())), Err(Fault::Encoding));
        assert_eq!(text(vec![0xff]), Err(Fault::Encoding));
        assert_eq!(text(vec![b' '; MOST_BYTES + 1]), Err(Fault::TooLarge { bytes: MOST_BYTES as u64 + 1 }));
        for bytes in [
            archive("other.json", b"{}"),
            b"PK\x03\x04broken".to_vec(),
            archive("card.json", &vec![b' '; MOST_TEXT + 1]),
        ] {
            assert!(matches!(text(bytes), Err(Fault::Archive(_))));
        }
    }
}
