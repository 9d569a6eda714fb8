//! The road of `export --format` for tables: reads a data set group by group and writes its rows in another form, a folder beside it
//! that takes its place whole.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::pipeline::RunError;
use crate::stages::export::{Form, Lines};
use crate::store::{self, Dataset, LineFiles, LineLimits, NewFolder, StoreError};

/// What is to be written.
#[derive(Debug, Clone)]
pub struct Forms {
    /// The data set.
    pub dataset: PathBuf,
    /// The form.
    pub form: Form,
    /// The configs; all that the form is one of when empty.
    pub configs: Vec<String>,
    /// The model that batch requests name.
    pub model: String,
    /// The folder, which is replaced whole.
    pub out: PathBuf,
    /// How large a file may grow; `CoSER`'s is one list and so one file.
    pub limits: LineLimits,
}

/// Writes the tables and returns how many rows each file has, by its path below the folder.
pub fn forms(forms: &Forms) -> Result<BTreeMap<String, usize>, RunError> {
    let dataset = Dataset::open(&forms.dataset)?;
    let is_list = forms.form == Form::Coser;
    let limits = if is_list { LineLimits { bytes: u64::MAX, lines: u64::MAX } } else { forms.limits };
    let whole = NewFolder::new(&forms.out)?;
    let mut written = BTreeMap::new();
    for table in &dataset.tables {
        let is_wanted = match (forms.form.config(), forms.configs.as_slice()) {
            (Some(config), _) => table.config == config,
            (None, []) => true,
            (None, configs) => configs.contains(&table.config),
        };
        if !is_wanted {
            continue;
        }
        let folder =
            if forms.form.config().is_some() { whole.place().to_owned() } else { whole.place().join(&table.config) };
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
                let lines = Lines::new(forms.form, &frame, &forms.model, rows);
                let lines = lines.map_err(|source| StoreError::Rows { path: path.clone(), source })?;
                let ending = forms.form.ending();
                let files = files.get_or_insert_with(|| LineFiles::new(&folder, name, ending, lines.head(), limits));
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
            // A list is one file, and the bracket that ends it is no row.
            let rows = if is_list { rows } else { usize::try_from(lines).unwrap_or(usize::MAX) };
            let below = path.strip_prefix(whole.place()).unwrap_or(&path);
            let below = below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
            written.insert(below, rows);
        }
    }
    whole.finish()?;
    Ok(written)
}
