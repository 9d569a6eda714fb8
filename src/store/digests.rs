//! Hashes for comparing the rows of two data sets: one hash per column of each row, a bounded number of rows at a time.

use std::collections::BTreeMap;
use std::path::Path;

use polars::frame::DataFrame;
use polars::prelude::{Column, DataType, PolarsError, Series};

use super::error::StoreError;
use super::tables::{Dataset, RowReader};

/// The number of rows that are read at once.
const STEP: usize = 2_000;

/// The rows of a config.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digests {
    /// The column names, in order.
    pub columns: Vec<String>,
    /// The rows, by key.
    pub rows: BTreeMap<String, RowDigest>,
}

/// The hashes and texts of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowDigest {
    /// The split of the row.
    pub split: String,
    /// A hash of each column's value.
    pub columns: Vec<u64>,
    /// The values of the requested text columns; an empty string for null.
    pub texts: Vec<String>,
}

/// Calls `row` with the texts of some columns for each row. Skips rows where one of them is null. A missing config has
/// no rows.
pub fn each_texts(
    dataset: &Path,
    config: &str,
    columns: &[&str],
    mut row: impl FnMut(&[String]),
) -> Result<(), StoreError> {
    let dataset = Dataset::open(dataset)?;
    for path in dataset.of(config).flat_map(|table| &table.files) {
        for group in super::tables::groups(path, Some(columns))? {
            let (_, frame) = group?;
            let texts = |name: &&str| Ok(frame.column(name)?.str()?.iter().collect::<Vec<_>>());
            let texts: Result<Vec<Vec<Option<&str>>>, PolarsError> = columns.iter().map(texts).collect();
            let texts = texts.map_err(|source| StoreError::Rows { path: path.clone(), source })?;
            for at in 0..frame.height() {
                let of_row: Option<Vec<String>> = texts.iter().map(|texts| texts[at].map(str::to_owned)).collect();
                if let Some(of_row) = of_row {
                    row(&of_row);
                }
            }
        }
    }
    Ok(())
}

/// Reads the rows of a config of a data set.
///
/// `key` is the column that identifies a row; `texts` are the columns whose texts are returned. A missing config has no
/// rows.
pub fn digests(dataset: &Path, config: &str, key: &str, texts: &[&str]) -> Result<Digests, StoreError> {
    let mut all = Digests::default();
    let dataset = Dataset::open(dataset)?;
    for table in dataset.of(config) {
        let mut rows = RowReader::new(table);
        while let Some(frame) = rows.next(STEP)? {
            let path = || table.files.first().cloned().unwrap_or_default();
            all.add(&frame, &table.split, key, texts).map_err(|source| StoreError::Rows { path: path(), source })?;
        }
    }
    Ok(all)
}

impl Digests {
    fn add(&mut self, frame: &DataFrame, split: &str, key: &str, texts: &[&str]) -> Result<(), PolarsError> {
        if self.columns.is_empty() {
            self.columns = frame.get_column_names().into_iter().map(ToString::to_string).collect();
        }
        let text = |name: &str| -> Result<Vec<String>, PolarsError> {
            let column = frame.column(name)?.str()?;
            Ok(column.iter().map(|text| text.unwrap_or_default().to_owned()).collect())
        };
        let keys = text(key)?;
        let texts: Vec<Vec<String>> = texts.iter().map(|name| text(name)).collect::<Result<_, _>>()?;
        let hashes: Vec<Vec<u64>> = frame.columns().iter().map(hashes).collect::<Result<_, _>>()?;
        for (row, key) in keys.into_iter().enumerate() {
            let columns = hashes.iter().map(|column| column[row]).collect();
            let texts = texts.iter().map(|texts| texts[row].clone()).collect();
            self.rows.insert(key, RowDigest { split: split.to_owned(), columns, texts });
        }
        Ok(())
    }
}

/// Hashes each value of a column.
fn hashes(column: &Column) -> Result<Vec<u64>, PolarsError> {
    let series = column.as_materialized_series();
    let hash = |row| {
        let mut hasher = blake3::Hasher::new();
        feed(&series.slice(row, 1), &mut hasher)?;
        let bytes = hasher.finalize();
        Ok(u64::from_le_bytes(std::array::from_fn(|at| bytes.as_bytes()[at])))
    };
    (0..).take(series.len()).map(hash).collect()
}

/// Hashes the values of a series in order, with lengths, so that different sequences of values cannot produce the same
/// bytes.
fn feed(series: &Series, hasher: &mut blake3::Hasher) -> Result<(), PolarsError> {
    let mut add = |value: Option<&[u8]>| match value {
        None => drop(hasher.update(&[0])),
        Some(bytes) => {
            hasher.update(&[1]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        }
    };
    match series.dtype() {
        DataType::String => series.str()?.iter().for_each(|text| add(text.map(str::as_bytes))),
        DataType::List(_) => {
            let lists = series.list()?;
            for row in 0..lists.len() {
                match lists.get_as_series(row) {
                    None => drop(hasher.update(&[0])),
                    Some(items) => {
                        hasher.update(&[2]).update(&(items.len() as u64).to_le_bytes());
                        feed(&items, hasher)?;
                    }
                }
            }
        }
        DataType::Struct(_) => {
            for field in series.struct_()?.fields_as_series() {
                feed(&field, hasher)?;
            }
        }
        // Numbers and booleans are hashed as text: one type has one notation. Dates and times are hashed as the
        // integers behind them, because their text depends on the time zone.
        kind => {
            let physical =
                if kind.is_temporal() { series.to_physical_repr() } else { std::borrow::Cow::Borrowed(series) };
            for value in physical.iter() {
                let text = (!value.is_null()).then(|| value.to_string());
                add(text.as_deref().map(str::as_bytes));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use polars::prelude::{IntoColumn as _, IntoSeries as _, ListChunked, NamedFrom as _};

    use super::*;
    use crate::store::parquet::TableFile;

    fn frame(ids: &[&str], scores: &[Option<i32>], lists: &[&[&str]]) -> DataFrame {
        let items: Vec<Series> = lists.iter().map(|items| Series::new("".into(), *items)).collect();
        let lists: ListChunked = items.into_iter().collect();
        let columns = vec![
            Column::new("id".into(), ids),
            Column::new("score".into(), scores),
            lists.into_series().with_name("lines".into()).into_column(),
        ];
        DataFrame::new(ids.len(), columns).unwrap()
    }

    fn written(frame: DataFrame) -> Digests {
        let folder = tempfile::tempdir().unwrap();
        let mut table =
            TableFile::new(folder.path().join("samples"), "test".to_owned(), crate::store::parquet::SHARD_BYTES);
        table.write(frame).unwrap();
        table.end().unwrap();
        digests(folder.path(), "samples", "id", &["id"]).unwrap()
    }

    #[test]
    fn a_change_affects_only_the_digest_of_its_column() {
        let one = written(frame(&["a", "雨"], &[Some(1), None], &[&["x", "yz"], &[]]));
        let other = written(frame(&["a", "雨"], &[Some(1), Some(0)], &[&["xy", "z"], &[]]));
        assert_eq!(one.columns, ["id", "score", "lines"]);
        let differing = |id: &str| -> Vec<bool> {
            one.rows[id].columns.iter().zip(&other.rows[id].columns).map(|(one, other)| one != other).collect()
        };
        assert_eq!(differing("a"), [false, false, true], "the boundary between two items is hashed");
        assert_eq!(differing("雨"), [false, true, false], "null is not 0");
        assert_eq!((one.rows["雨"].split.as_str(), one.rows["雨"].texts[0].as_str()), ("test", "雨"));
    }

    #[test]
    fn long_tables_are_read_completely() {
        let ids: Vec<String> = (0..STEP + 5).map(|n| n.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let scores = vec![Some(1); ids.len()];
        assert_eq!(written(frame(&ids, &scores, &vec![&[][..]; ids.len()])).rows.len(), STEP + 5);
    }

    #[test]
    fn a_missing_config_has_no_rows() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(digests(folder.path(), "roles", "role_id", &[]).unwrap(), Digests::default());
        each_texts(folder.path(), "rejected", &["id"], |_| panic!("the config has no rows")).unwrap();
    }
}
