//! Reads the text chunks of a PNG, which contain character cards. Pixels are not decoded; lengths are checked.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

use super::container_error::{ContainerError, MOST_TEXT};

/// The first bytes of every PNG.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Bytes of a chunk in addition to its data: length, type and checksum.
const FRAME: usize = 12;

/// Returns keyword and text of the first chunk with one of the keywords; earlier keywords take precedence.
///
/// `tEXt`, `zTXt` and `iTXt` chunks are read at any position. Truncation or damage elsewhere in the file is not an
/// error as long as the text is intact.
pub(super) fn text(bytes: &[u8], keywords: &[&'static str]) -> Result<(&'static str, Vec<u8>), ContainerError> {
    let mut found: Vec<Option<Chunk<'_>>> = vec![None; keywords.len()];
    let mut fault = ContainerError::NoCard;
    let mut at = SIGNATURE.len();
    while at < bytes.len() {
        let Some(chunk) = Chunk::read(bytes, at) else {
            fault = ContainerError::Truncated { offset: at };
            break;
        };
        if chunk.kind == *b"IEND" {
            break;
        }
        // Some programs write `Chara`.
        let named = |name: &[u8]| keywords.iter().position(|keyword| keyword.as_bytes().eq_ignore_ascii_case(name));
        let keyword = chunk.keyword().and_then(named);
        if let Some(slot) = keyword.and_then(|keyword| found.get_mut(keyword)) {
            slot.get_or_insert(chunk);
        }
        at += FRAME + chunk.data.len();
    }
    let first = found.into_iter().zip(keywords).find_map(|(chunk, keyword)| Some((chunk?, *keyword)));
    let (chunk, keyword) = first.ok_or(fault)?;
    chunk.check()?;
    let text = chunk.text().ok_or(ContainerError::Packed { keyword })?;
    Ok((keyword, text))
}

/// A chunk of a PNG.
#[derive(Debug, Clone, Copy)]
struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
    checksum: u32,
    /// Byte offset of the chunk.
    offset: usize,
}

impl<'a> Chunk<'a> {
    /// Reads the chunk at an offset. None if the bytes end within it.
    fn read(bytes: &'a [u8], offset: usize) -> Option<Self> {
        let number = |at: usize| bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_be_bytes);
        let length = usize::try_from(number(offset)?).ok()?;
        let kind = bytes.get(offset + 4..offset + 8)?.try_into().ok()?;
        let end = (offset + 8).checked_add(length)?;
        Some(Self { kind, data: bytes.get(offset + 8..end)?, checksum: number(end)?, offset })
    }

    /// Returns the keyword of a text chunk.
    fn keyword(&self) -> Option<&'a [u8]> {
        let end = self.data.iter().position(|byte| *byte == 0)?;
        matches!(&self.kind, b"tEXt" | b"zTXt" | b"iTXt").then(|| &self.data[..end])
    }

    fn check(&self) -> Result<(), ContainerError> {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.kind);
        hasher.update(self.data);
        if hasher.finalize() == self.checksum {
            return Ok(());
        }
        Err(ContainerError::Checksum { kind: String::from_utf8_lossy(&self.kind).into_owned(), offset: self.offset })
    }

    /// Returns the text after the keyword, decompressed.
    fn text(&self) -> Option<Vec<u8>> {
        let rest = self.data.get(self.keyword()?.len() + 1..)?;
        match &self.kind {
            b"tEXt" => Some(rest.to_vec()),
            b"zTXt" => unpacked(rest.strip_prefix(&[0])?),
            _ => {
                // Compression flag and method, then the strings language tag and translated keyword.
                let (head, rest) = rest.split_at_checked(2)?;
                let mut rest = rest.splitn(3, |byte| *byte == 0).skip(2);
                let text = rest.next()?;
                if head[0] == 0 { Some(text.to_vec()) } else { unpacked(text) }
            }
        }
    }
}

/// Decompresses a text of at most [`MOST_TEXT`] bytes.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    ZlibDecoder::new(packed).take(MOST_TEXT as u64 + 1).read_to_end(&mut text).ok()?;
    (text.len() <= MOST_TEXT).then_some(text)
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(data.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend(kind);
        bytes.extend(data);
        bytes.extend(crc32fast::hash(&bytes[4..]).to_be_bytes());
        bytes
    }

    pub(crate) fn picture(chunks: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend(chunk(*b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]));
        bytes.extend(chunk(*b"IDAT", b"pixels"));
        bytes.extend(chunks.iter().flatten());
        bytes.extend(chunk(*b"IEND", b""));
        bytes
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn find(bytes: &[u8]) -> Result<(&'static str, String), ContainerError> {
        text(bytes, &["ccv3", "chara"]).map(|(keyword, text)| (keyword, String::from_utf8(text).unwrap()))
    }

    #[test]
    fn text_is_found_in_every_chunk_type_after_the_pixels() {
        let other = chunk(*b"tEXt", b"Comment\0chara");
        for own in [
            chunk(*b"tEXt", b"chara\0two"),
            chunk(*b"tEXt", b"Chara\0two"),
            chunk(*b"zTXt", &[b"chara\0\0".as_slice(), &packed(b"two")].concat()),
            chunk(*b"iTXt", b"chara\0\0\0en\0Karte\0two"),
            chunk(*b"iTXt", &[b"chara\0\x01\0\0\0".as_slice(), &packed(b"two")].concat()),
        ] {
            let found = find(&picture(&[other.clone(), own.clone()]));
            assert_eq!(found, Ok(("chara", "two".to_owned())));
            let third = chunk(*b"tEXt", b"ccv3\0three");
            assert_eq!(
                find(&picture(&[own, third])),
                Ok(("ccv3", "three".to_owned())),
                "the newer version takes precedence"
            );
        }
        // Zero bytes in the text are kept.
        assert_eq!(find(&picture(&[chunk(*b"iTXt", b"chara\0\0\0\0\0a\0b")])), Ok(("chara", "a\0b".to_owned())));
    }

    #[test]
    fn damage_is_reported_only_where_it_matters() {
        assert_eq!(find(&picture(&[])), Err(ContainerError::NoCard));
        let intact = picture(&[chunk(*b"tEXt", b"chara\0two")]);
        let position = intact.windows(3).position(|three| three == b"two").unwrap();
        let mut damaged = intact.clone();
        damaged[position] ^= 1;
        let offset = position - b"chara\0".len() - 8;
        assert_eq!(find(&damaged), Err(ContainerError::Checksum { kind: "tEXt".to_owned(), offset }));
        let mut damaged = intact.clone();
        let pixels = intact.windows(6).position(|six| six == b"pixels").unwrap();
        damaged[pixels] ^= 1;
        assert!(find(&damaged).is_ok(), "damaged pixels do not matter");
        assert_eq!(find(&intact[..position]), Err(ContainerError::Truncated { offset }));
        assert!(find(&intact[..intact.len() - 5]).is_ok(), "the text is intact");
        let bad = picture(&[chunk(*b"zTXt", b"chara\0\0no zlib")]);
        assert_eq!(find(&bad), Err(ContainerError::Packed { keyword: "chara" }));
        let long = packed(&vec![b'a'; MOST_TEXT + 1]);
        let bomb = picture(&[chunk(*b"zTXt", &[b"chara\0\0".as_slice(), &long].concat())]);
        assert_eq!(find(&bomb), Err(ContainerError::Packed { keyword: "chara" }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_handled_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = text(&[SIGNATURE, &bytes].concat(), &["ccv3", "chara"]);
        }

        #[test]
        fn a_modified_picture_is_handled_without_a_panic(
            kind in prop_oneof![Just(*b"tEXt"), Just(*b"zTXt"), Just(*b"iTXt")],
            data in proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), any::<u8>()], 0..40),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            length in any::<prop::sample::Index>(),
        ) {
            let mut bytes = picture(&[chunk(kind, &[b"chara\0".as_slice(), &data].concat())]);
            let _ = text(&bytes, &["ccv3", "chara"]);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes.truncate(length.index(bytes.len() + 1));
            let _ = text(&bytes, &["ccv3", "chara"]);
        }
    }
}
