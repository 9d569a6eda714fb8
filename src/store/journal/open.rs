//! Opens the files of a journal for writing: locks the open segment, completes its header, checks every line of all
//! segments, and removes a last line that a crash cut short.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::Path;

use super::line::{Hash, Index};
use super::record_reader::Source;
use super::scan::{Closed, Scan, UsageByModel, add, add_usage, closed_segments, scan_uncompressed};
use super::segment::{SegmentForm, check_complete, list_segments, read_number, write_missing_header};
use crate::store::atomic;
use crate::store::error::StoreError;

/// The files of a journal after they were checked.
#[derive(Debug)]
pub(super) struct OpenedFiles {
    /// The open segment, locked.
    pub(super) file: File,
    /// The number of the open segment.
    pub(super) segment: u32,
    /// The end of the open segment.
    pub(super) end: u64,
    /// The texts of the open segment.
    pub(super) texts: HashSet<Hash>,
    /// The closed segments that are not compressed yet.
    pub(super) uncompressed: Vec<u32>,
    /// The files of the closed segments.
    pub(super) sources: BTreeMap<u32, Source>,
    pub(super) index: Index,
    /// The token usage of all records.
    pub(super) paid: UsageByModel,
    /// The number of damaged lines and compressed frames.
    pub(super) damaged: u64,
    /// The number of bytes of an incomplete last line that were removed.
    pub(super) cut: u64,
}

/// Opens or creates a journal by the path of its open segment. Fails if another process has it open.
pub(super) fn open_files(path: &Path) -> Result<OpenedFiles, StoreError> {
    let open = || File::options().read(true).append(true).create(true).open(path);
    let mut file = open().map_err(StoreError::io("open", path))?;
    if !atomic::lock(&file, path)? {
        return Err(StoreError::InUse { path: path.to_owned(), by: "another process".to_owned() });
    }
    let segments = list_segments(path)?;
    let next = segments.last_key_value().map_or(1, |(number, _)| number + 1);
    write_missing_header(&mut file, path, next)?;
    let segment = read_number(&file, path)?.unwrap_or(next).max(next);
    check_complete(path, &segments, segment)?;
    let Closed { mut index, sources, mut damaged, mut paid, .. } = closed_segments(path, &segments)?;
    let scan = scan_uncompressed(&file, segment, path, |_| {})?;
    add(&mut index, &scan.records);
    add_usage(&mut paid, &scan.paid);
    damaged += scan.damaged;
    let cut = cut_torn_tail(&file, path, &scan)?;
    // If a part of a text is damaged, the text cannot be read. So all texts are written again when they are used next.
    let texts = if scan.damaged > 0 { Vec::new() } else { scan.texts };
    let is_uncompressed = |(_, form): &(&u32, &SegmentForm)| **form == SegmentForm::Uncompressed;
    Ok(OpenedFiles {
        file,
        segment,
        end: scan.end,
        texts: texts.into_iter().map(|(hash, _)| hash).collect(),
        uncompressed: segments.iter().filter(is_uncompressed).map(|(number, _)| *number).collect(),
        sources,
        index,
        paid,
        damaged,
        cut,
    })
}

/// Removes an incomplete last line, which a crash left behind. Returns the number of bytes removed.
fn cut_torn_tail(file: &File, path: &Path, scan: &Scan) -> Result<u64, StoreError> {
    if scan.end < scan.length {
        file.set_len(scan.end).and_then(|()| file.sync_all()).map_err(StoreError::io("truncate", path))?;
    }
    Ok(scan.length - scan.end)
}
