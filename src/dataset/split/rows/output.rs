//! Copies rows from the old tables to the new ones, in steps.

use std::collections::BTreeMap;

use polars::prelude::{DataFrame, IdxCa};

use crate::dataset::split::error::{SplitError, frame as frame_of};
use crate::stages::export::{RowGroups, SplitRows};
use crate::store::{NewDataset, RowReader, StoreError, Table};

/// Number of rows copied per step.
const STEP: usize = 1000;

/// Writes the rows to their splits, sorted by id.
pub(crate) fn write(
    config: &'static str,
    tables: &[&Table],
    tails: &[usize],
    order: &[usize],
    (splits, names): (&[usize], &[String]),
    new: &mut NewDataset,
) -> Result<Vec<SplitRows>, SplitError> {
    let mut readers: Vec<RowReader> = tables.iter().map(|table| RowReader::new(table)).collect();
    let mut files: Vec<_> = names.iter().map(|name| (new.table(config, name), RowGroups::default())).collect();
    for step in order.chunks(STEP) {
        let mut counts = vec![0; tables.len()];
        let of: Vec<usize> = step.iter().map(|row| tails.partition_point(|tail| tail <= row)).collect();
        for table in &of {
            counts[*table] += 1;
        }
        let mut frame: Option<DataFrame> = None;
        let mut starts = vec![0; tables.len()];
        for (table, count) in counts.into_iter().enumerate() {
            starts[table] = frame.as_ref().map_or(0, DataFrame::height);
            let mut remaining = count;
            while remaining > 0 {
                let part = readers[table].next(remaining)?;
                // Readers of the tables were created from the same files.
                let part = part.ok_or_else(|| StoreError::FileChanged { path: tables[table].files[0].clone() })?;
                remaining -= part.height();
                match &mut frame {
                    Some(frame) => frame.vstack_mut_owned(part).map(drop).map_err(frame_of(config))?,
                    none => *none = Some(part),
                }
            }
        }
        let Some(frame) = frame else { continue };
        let mut by_split: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (row, table) in step.iter().zip(of) {
            let index = u32::try_from(starts[table]).expect("a step has at most 1,000 rows");
            by_split.entry(splits[*row]).or_default().push(index);
            starts[table] += 1;
        }
        for (split, indices) in by_split {
            let part = frame.take(&IdxCa::from_vec("".into(), indices)).map_err(frame_of(config))?;
            let (file, groups) = &mut files[split];
            if let Some(group) = groups.add(config, part)? {
                file.write(group)?;
            }
        }
    }
    let mut written = Vec::new();
    for ((mut file, groups), name) in files.into_iter().zip(names) {
        let (rest, rows) = groups.end(name);
        if let Some(rest) = rest {
            file.write(rest)?;
        }
        new.end(file)?;
        if rows.rows > 0 {
            written.push(rows);
        }
    }
    written.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(written)
}
