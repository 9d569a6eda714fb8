//! Converts the tables of a data set to another format, for `export --format`: reads row groups and writes a new folder
//! that replaces the old one atomically.

mod role_formats;
mod table_formats;

pub use role_formats::{ConfigFrame, ROLE_CONFIGS, RoleConversion, RoleFormat};
pub use table_formats::{FormattedRows, TableFormat};

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::store::{self, Dataset, LineFiles, LineLimits, NewFolder, StoreError};

/// Options of a conversion.
#[derive(Debug, Clone)]
pub struct TableConversion {
    /// The data set.
    pub dataset: PathBuf,
    /// The format.
    pub format: TableFormat,
    /// The configs; if empty, all that the format supports.
    pub configs: Vec<String>,
    /// The model named in batch requests.
    pub model: String,
    /// The output folder, which is replaced.
    pub out: PathBuf,
    /// Limits of file size. CoSER's format is one JSON list and is never divided.
    pub limits: LineLimits,
}

/// Writes the tables and returns the number of rows by file, relative to the folder.
pub fn convert_tables(conversion: &TableConversion) -> Result<BTreeMap<String, usize>, StoreError> {
    let dataset = Dataset::open(&conversion.dataset)?;
    let is_list = conversion.format == TableFormat::Coser;
    let limits = if is_list { LineLimits { bytes: u64::MAX, lines: u64::MAX } } else { conversion.limits };
    let new_folder = NewFolder::new(&conversion.out)?;
    let mut written = BTreeMap::new();
    for table in &dataset.tables {
        let is_wanted = match (conversion.format.config(), conversion.configs.as_slice()) {
            (Some(config), _) => table.config == config,
            (None, []) => true,
            (None, configs) => configs.contains(&table.config),
        };
        if !is_wanted {
            continue;
        }
        let folder = if conversion.format.config().is_some() {
            new_folder.temporary_path().to_owned()
        } else {
            new_folder.temporary_path().join(&table.config)
        };
        let of_split;
        let name = if !is_list {
            &table.split
        } else if dataset.of(&table.config).count() == 1 {
            "test_set"
        } else {
            of_split = format!("{}_set", table.split);
            &of_split
        };
        let mut files: Option<LineFiles> = None;
        let mut rows = 0;
        for path in &table.files {
            for group in store::groups(path, None)? {
                let (_, frame) = group?;
                let lines = FormattedRows::new(conversion.format, &frame, &conversion.model, rows);
                let lines = lines.map_err(|source| StoreError::Rows { path: path.clone(), source })?;
                let extension = conversion.format.extension();
                let files = files.get_or_insert_with(|| LineFiles::new(&folder, name, extension, lines.head(), limits));
                lines.each(|line| files.write(line))?;
                rows += frame.height();
            }
        }
        let Some(mut files) = files else { continue };
        if is_list {
            files.write(b"]\n")?;
        }
        for (file, lines) in files.end()? {
            let path = folder.join(file);
            // A JSON list is one file, and its closing bracket is not a row.
            let rows = if is_list { rows } else { usize::try_from(lines).unwrap_or(usize::MAX) };
            let relative = path.strip_prefix(new_folder.temporary_path()).unwrap_or(&path);
            let relative = relative.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
            written.insert(relative, rows);
        }
    }
    new_folder.finish()?;
    Ok(written)
}
