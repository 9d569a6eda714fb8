//! Reads the tables of a data set back from its folder, and makes room for what is written of them.

use std::fs::File;
use std::path::Path;

use polars::frame::DataFrame;
use polars::prelude::{ParquetReader, SerReader as _};

use super::StoreError;

/// Removes a folder that an earlier export wrote, if there is one.
pub fn clear(folder: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

/// Returns the tables of some configs of a data set, as (config, split, rows), in order; a config that it lacks gives none.
pub fn tables(dataset: &Path, configs: &[&str]) -> Result<Vec<(String, String, DataFrame)>, StoreError> {
    let mut tables = Vec::new();
    for config in configs {
        let folder = dataset.join(config);
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(StoreError::io("read the folder", &folder)(error)),
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io("read the folder", &folder))?.path();
            if path.extension().is_some_and(|ending| ending == "parquet") {
                paths.push(path);
            }
        }
        paths.sort();
        for path in paths {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let split = name.split('-').next().unwrap_or_default().to_owned();
            let file = File::open(&path).map_err(StoreError::io("read", &path))?;
            let frame = ParquetReader::new(file).finish();
            let frame = frame.map_err(|source| StoreError::Rows { path: path.clone(), source })?;
            tables.push(((*config).to_owned(), split, frame));
        }
    }
    Ok(tables)
}
