//! Extracts the JSON or TOML text of a character file from a PNG, a `.charx` archive or a plain text file.

use std::io::{Cursor, Read as _};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zip::ZipArchive;

use super::container_error::{ContainerError, MOST_BYTES, MOST_TEXT};
use super::png;

/// The keywords of PNG text chunks that contain a card. If both exist, the first one is the newer version.
const KEYWORDS: [&str; 2] = ["ccv3", "chara"];

/// Returns the text of a character file: the card of a PNG, the `card.json` of a `.charx` archive, otherwise the file
/// itself. The file type is detected from the bytes.
pub fn text(bytes: Vec<u8>) -> Result<String, ContainerError> {
    if bytes.len() > MOST_BYTES {
        return Err(ContainerError::TooLarge { bytes: bytes.len() as u64 });
    }
    let text = if bytes.starts_with(png::SIGNATURE) {
        let (keyword, text) = png::text(&bytes, &KEYWORDS)?;
        decoded(text).ok_or(ContainerError::Base64 { keyword })?
    } else if bytes.starts_with(b"PK\x03\x04") {
        archived(&bytes)?
    } else {
        bytes
    };
    let text = String::from_utf8(text).map_err(|_| ContainerError::Encoding)?;
    Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
}

/// Returns whether a file is a PNG or an archive, so that positions in its text are not positions in the file.
#[must_use]
pub fn is_wrapped(bytes: &[u8]) -> bool {
    bytes.starts_with(png::SIGNATURE) || bytes.starts_with(b"PK\x03\x04")
}

/// Decodes base64 with or without padding. Plain JSON is returned as is.
fn decoded(mut text: Vec<u8>) -> Option<Vec<u8>> {
    if text.trim_ascii_start().starts_with(b"{") {
        return Some(text);
    }
    text.retain(|byte| !byte.is_ascii_whitespace() && *byte != 0);
    let padding = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&STANDARD, padding).decode(text).ok()
}

fn archived(bytes: &[u8]) -> Result<Vec<u8>, ContainerError> {
    let fault = |error: &dyn std::error::Error| ContainerError::Archive(error.to_string());
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| fault(&error))?;
    let entry = archive.by_name("card.json").map_err(|error| fault(&error))?;
    let mut text = Vec::new();
    entry.take(MOST_TEXT as u64 + 1).read_to_end(&mut text).map_err(|error| fault(&error))?;
    if text.len() > MOST_TEXT {
        return Err(ContainerError::Archive(format!("the entry exceeds the limit of {MOST_TEXT} bytes")));
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
    fn a_card_is_extracted_from_every_container() {
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
    fn a_card_that_cannot_be_extracted_is_an_error() {
        let own = |text: &[u8]| picture(&[chunk(*b"tEXt", &[b"chara\0".as_slice(), text].concat())]);
        assert_eq!(text(own(b"***")), Err(ContainerError::Base64 { keyword: "chara" }));
        assert_eq!(text(own(STANDARD.encode([0xff, 0xfe]).as_bytes())), Err(ContainerError::Encoding));
        assert_eq!(text(vec![0xff]), Err(ContainerError::Encoding));
        assert_eq!(text(vec![b' '; MOST_BYTES + 1]), Err(ContainerError::TooLarge { bytes: MOST_BYTES as u64 + 1 }));
        for bytes in [
            archive("other.json", b"{}"),
            b"PK\x03\x04broken".to_vec(),
            archive("card.json", &vec![b' '; MOST_TEXT + 1]),
        ] {
            assert!(matches!(text(bytes), Err(ContainerError::Archive(_))));
        }
    }
}
