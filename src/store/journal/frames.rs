//! Compressed segments: Zstandard in frames of whole lines, each of which can be decompressed alone.
//!
//! `zstdcat` and other Zstandard tools read the concatenated frames as one file. Each frame has a checksum, in addition
//! to those of its lines.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{self, CParameter, MAGICNUMBER};

use super::segment::{folder, temporary_path};
use crate::store::atomic;
use crate::store::error::StoreError;

/// A frame ends with the line that brings it to this many uncompressed bytes. Larger frames compress better; smaller
/// ones are faster to read.
const FRAME_BYTES: usize = 128 << 10;

/// The zstd level. Higher levels take much longer and compress only slightly better.
const LEVEL: i32 = 3;

/// The largest uncompressed size of a frame that is accepted, because a damaged header may claim any size.
const MAX_DECOMPRESSED_BYTES: u64 = 1 << 32;

/// The position of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// The offset of its first line in the uncompressed segment.
    pub(super) offset: u64,
    /// The offset of its first byte in the file.
    pub(super) at: u64,
    /// Its compressed length in bytes.
    pub(super) length: u32,
}

/// Compresses a file of lines into another file, which is renamed when it is complete. Returns the frames.
pub(super) fn compress_file(uncompressed: &Path, compressed: &Path) -> Result<Vec<Frame>, StoreError> {
    let lines = File::open(uncompressed).map_err(StoreError::io("open", uncompressed))?;
    let path = temporary_path(compressed);
    let write = || {
        let mut lines = BufReader::with_capacity(FRAME_BYTES, lines);
        let mut file = BufWriter::with_capacity(FRAME_BYTES, File::create(&path)?);
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        let (mut frames, mut offset, mut at) = (Vec::new(), 0, 0);
        let mut text = Vec::with_capacity(2 * FRAME_BYTES);
        loop {
            text.clear();
            while text.len() < FRAME_BYTES && lines.read_until(b'\n', &mut text)? > 0 {}
            if text.is_empty() {
                break;
            }
            let frame = compressor.compress(&text)?;
            file.write_all(&frame)?;
            let length = u32::try_from(frame.len()).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
            frames.push(Frame { offset, at, length });
            offset += text.len() as u64;
            at += u64::from(length);
        }
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&path, compressed)?;
        Ok(frames)
    };
    let frames = write().map_err(StoreError::io("compress", uncompressed))?;
    atomic::sync_folder(folder(compressed))?;
    Ok(frames)
}

/// Decompresses a frame.
pub(super) fn decompress(frame: &[u8]) -> io::Result<Vec<u8>> {
    let damaged = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message);
    let length =
        zstd_safe::get_frame_content_size(frame).ok().flatten().filter(|length| *length <= MAX_DECOMPRESSED_BYTES);
    let length = length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| damaged("not a valid frame"))?;
    let text = Decompressor::new()?.decompress(frame, length)?;
    if text.len() == length { Ok(text) } else { Err(damaged("the frame is truncated")) }
}

/// Calls `each` with the lines of every frame of a compressed segment. Returns the frames and the number of damaged
/// places.
pub(super) fn decompress_frames(bytes: &[u8], mut each: impl FnMut(&[u8])) -> (Vec<Frame>, u64) {
    let (mut frames, mut damaged, mut is_lost) = (Vec::new(), 0, false);
    let (mut offset, mut at) = (0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = zstd_safe::find_frame_compressed_size(rest).ok().filter(|length| *length <= rest.len());
        let text = length.and_then(|length| decompress(&rest[..length]).ok().zip(u32::try_from(length).ok()));
        if let Some((text, length)) = text {
            each(&text);
            frames.push(Frame { offset, at: at as u64, length });
            offset += text.len() as u64;
            at += length as usize;
            is_lost = false;
        } else {
            // Search for the magic number of the next frame; the checksum shows whether it is a real one.
            let magic = MAGICNUMBER.to_le_bytes();
            at += 1 + rest[1..].windows(magic.len()).position(|bytes| bytes == magic).unwrap_or(rest.len() - 1);
            damaged += u64::from(!is_lost);
            is_lost = true;
        }
    }
    (frames, damaged)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_rest_of_a_damaged_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let [uncompressed, compressed] = ["a.jsonl", "a.jsonl.zst"].map(|name| folder.path().join(name));
        let lines: Vec<String> =
            (0..6000_u32).map(|n| format!("{{\"{n}\":\"{}，好。\"}}\n", n.wrapping_mul(n))).collect();
        fs::write(&uncompressed, lines.concat().repeat(3)).unwrap();
        let frames = compress_file(&uncompressed, &compressed).unwrap();
        assert!(frames.len() > 3, "{}", frames.len());
        let bytes = fs::read(&compressed).unwrap();
        let read = |bytes: &[u8]| {
            let mut parts = Vec::new();
            let (frames, damaged) = decompress_frames(bytes, |text| parts.push(text.to_vec()));
            (parts, frames, damaged)
        };
        let (whole, again, damaged) = read(&bytes);
        assert_eq!((whole.concat(), again.len(), damaged), (fs::read(&uncompressed).unwrap(), frames.len(), 0));
        assert!(whole.iter().all(|part| part.ends_with(b"\n")), "no line is split between frames");
        for (frame, at) in [(1, 0), (1, 4), (1, 200), (0, 3), (frames.len() - 1, 77)] {
            let mut bytes = bytes.clone();
            bytes[usize::try_from(frames[frame].at).unwrap() + at] ^= 0x55;
            let (parts, left, damaged) = read(&bytes);
            assert_eq!((left.len(), damaged), (frames.len() - 1, 1), "frame {frame}, byte {at}");
            let mut rest = whole.clone();
            rest.remove(frame);
            assert!(parts == rest, "frame {frame}, byte {at}");
        }
        let (parts, _, damaged) = read(&bytes[..bytes.len() - 5]);
        assert_eq!((parts.len(), damaged), (frames.len() - 1, 1), "a truncated file");
    }
}
