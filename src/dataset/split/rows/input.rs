//! Reads the relations of rows that a split needs, and merges the tables in id order.

use polars::prelude::DataFrame;

use crate::dataset::split::Params;
use crate::dataset::split::error::{SplitError, frame};
use crate::dataset::split::rows::{Rows, column_of, needed};
use crate::store::{self, Table};

/// Reads the needed columns of each table in turn; returns the rows and the end of each table's rows.
pub(crate) fn read(config: &'static str, params: &Params, tables: &[&Table]) -> Result<(Rows, Vec<usize>), SplitError> {
    let mut rows = Rows::new(config, params);
    let mut tails = Vec::new();
    for table in tables {
        for path in &table.files {
            let all = store::columns(path)?;
            let has = |column: &str| all.iter().any(|name| name == column);
            check_columns(config, params, &all)?;
            let columns = needed(config, params, has);
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            for group in store::groups(path, Some(&columns))? {
                let (first, group) = group?;
                if first == 0 {
                    check_values(config, params, &group)?;
                }
                rows.add(config, params, &group).map_err(frame(config))?;
            }
        }
        tails.push(rows.len());
    }
    if let Some((held, _)) = params.hold_out.iter().zip(rows.held_counts()).find(|(_, count)| *count == 0) {
        let (column, value) = (held.column.clone(), held.value.clone());
        return Err(SplitError::NoValue { config: config.to_owned(), column, value });
    }
    Ok((rows, tails))
}

/// Returns the column names given on the command line.
fn named(params: &Params) -> impl Iterator<Item = &String> {
    params.by.iter().chain(params.hold_out.iter().map(|held| &held.column)).chain(&params.stratify)
}

fn check_columns(config: &str, params: &Params, has: &[String]) -> Result<(), SplitError> {
    for word in named(params) {
        if !column_of(config, word).iter().any(|column| has.contains(column)) {
            let (config, column) = (config.to_owned(), word.clone());
            return Err(SplitError::NoColumn { config, column, has: has.to_vec() });
        }
    }
    Ok(())
}

fn check_values(config: &str, params: &Params, group: &DataFrame) -> Result<(), SplitError> {
    for name in named(params).flat_map(|word| column_of(config, word)) {
        let Ok(column) = group.column(&name) else { continue };
        let is_binary = crate::cells::unrepresentable_field(column).is_some();
        if is_binary || column.dtype().is_nested() {
            let values = if is_binary { "bytes" } else { "lists or structs" };
            return Err(SplitError::NoValues { config: config.to_owned(), column: name, values: values.to_owned() });
        }
    }
    Ok(())
}

/// Returns the rows of all tables, merged by id. The order within a table is preserved, so that each is read
/// sequentially.
pub(crate) fn merged(rows: &Rows, tails: &[usize]) -> Vec<usize> {
    merged_ids(|row| rows.id(row), rows.len(), tails)
}

/// Like [`merged`], for any ids.
pub(crate) fn merged_ids<'a>(id: impl Fn(usize) -> &'a str, count: usize, tails: &[usize]) -> Vec<usize> {
    let mut heads: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for tail in tails {
        heads.push((start, *tail));
        start = *tail;
    }
    let mut order = Vec::with_capacity(count);
    while let Some(head) =
        heads.iter_mut().filter(|(at, tail)| at < tail).min_by(|a, b| id(a.0).cmp(id(b.0)).then(a.0.cmp(&b.0)))
    {
        order.push(head.0);
        head.0 += 1;
    }
    order
}
