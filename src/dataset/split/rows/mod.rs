//! The facts about rows that a split uses: id, related rows, stratum and texts.

mod compared_text;
pub(crate) mod input;
pub(crate) mod output;

pub use compared_text::ComparedText;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult};

use super::params::Params;
use super::relation::Relation;
use crate::cells::Cells;
use crate::schema::Language;

/// The configs that can be split.
pub const SPLITTABLE_CONFIGS: [&str; 4] = ["samples", "conversations", "role_specific", "role_general"];

/// Returns the columns that an argument of the command line may refer to in a config: a column name, or a short name
/// such as `character`.
#[must_use]
pub fn column_of(config: &str, word: &str) -> Vec<String> {
    let of_samples = config == "samples" || config == "conversations";
    let names: &[&str] = match word {
        "character" if of_samples => &["character_id", "test_character"],
        "character" | "role" if !of_samples => &["role_id", "role"],
        "scene" if of_samples => &["scene_id"],
        "conversation" if config == "samples" => &["conversation_id"],
        "type" if config == "samples" => &["character_type"],
        name => &[name],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the columns that are read to split a config, as far as it has them.
#[must_use]
pub fn needed(config: &str, params: &Params, has: impl Fn(&str) -> bool) -> Vec<String> {
    let mut columns = vec!["id".to_owned(), "language".to_owned()];
    columns.extend(Relation::ALL.iter().filter_map(|relation| relation.column(config)).map(str::to_owned));
    columns.extend(params.stratify.iter().cloned());
    let of_words = params.by.iter().chain(params.hold_out.iter().map(|held| &held.column));
    columns.extend(of_words.flat_map(|word| column_of(config, word)));
    columns.extend(
        ComparedText::of(config)
            .iter()
            .flat_map(|compared_text| compared_text.columns())
            .map(|column| (*column).to_owned()),
    );
    columns.sort();
    columns.dedup();
    columns.retain(|column| has(column));
    columns
}

/// The rows as a split sees them. Strings are interned.
#[derive(Debug, Default)]
pub struct Rows {
    ids: Vec<String>,
    languages: Vec<Language>,
    words: Words,
    /// For each relation with a column, the number of each row's value.
    keys: BTreeMap<Relation, Vec<Option<u32>>>,
    /// The relations whose values can stand for a row's id in the random order.
    key_relations: Vec<Relation>,
    /// For each row, the number of its value of `by`.
    groups: Vec<u32>,
    /// Whether each row is held out, by hold-out and row.
    held: Vec<Vec<bool>>,
    /// The value number by stratified column and row.
    pub(super) levels: Vec<Vec<u32>>,
    texts: Vec<(ComparedText, Vec<u32>)>,
}

/// Interned strings.
#[derive(Debug, Default)]
struct Words {
    numbers: HashMap<Arc<str>, u32>,
    words: Vec<Arc<str>>,
}

impl Words {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = u32::try_from(self.words.len()).expect("fewer than 2^32 strings fit in memory");
        let word: Arc<str> = word.into();
        self.numbers.insert(Arc::clone(&word), number);
        self.words.push(word);
        number
    }
}

impl Rows {
    /// Creates an empty set of rows.
    #[must_use]
    pub fn new(config: &str, params: &Params) -> Self {
        let relations = Relation::ALL.into_iter().filter(|relation| relation.column(config).is_some());
        Self {
            key_relations: Relation::KEY_RELATIONS
                .into_iter()
                .filter(|relation| params.group_by.contains(relation))
                .collect(),
            keys: relations.map(|relation| (relation, Vec::new())).collect(),
            held: vec![Vec::new(); params.hold_out.len()],
            levels: vec![Vec::new(); params.stratify.len()],
            texts: ComparedText::of(config).iter().map(|compared_text| (*compared_text, Vec::new())).collect(),
            ..Self::default()
        }
    }

    /// Adds the rows of a frame that has the columns returned by [`needed`]. A missing id is read as an empty string.
    pub fn add(&mut self, config: &str, params: &Params, frame: &DataFrame) -> PolarsResult<()> {
        let cells = |column: &str| match frame.column(column) {
            Ok(column) => Cells::new(column).map(Some),
            Err(_) => Ok(None),
        };
        let word = |cells: &Option<Cells>, row: usize| {
            cells.as_ref().and_then(|cells| cells.value_text(row)).unwrap_or_default().into_owned()
        };
        let rows = 0..frame.height();
        let (ids, languages) = (cells("id")?, cells("language")?);
        self.ids.extend(rows.clone().map(|row| word(&ids, row)));
        let language = |row| if word(&languages, row) == Language::Zh.code() { Language::Zh } else { Language::En };
        self.languages.extend(rows.clone().map(language));
        for (relation, keys) in &mut self.keys {
            let values = cells(relation.column(config).expect("`keys` has only relations with a column"))?;
            let value = |row| values.as_ref().and_then(|values| values.value_text(row));
            keys.extend(rows.clone().map(|row| value(row).map(|value| self.words.number(&value))));
        }
        if let Some(by) = &params.by {
            let columns = column_of(config, by).iter().find_map(|column| cells(column).transpose()).transpose()?;
            self.groups.extend(rows.clone().map(|row| self.words.number(&word(&columns, row))));
        }
        for (hold_out, held) in params.hold_out.iter().zip(&mut self.held) {
            let columns = column_of(config, &hold_out.column);
            let columns: Vec<Option<Cells>> =
                columns.iter().map(|column| cells(column)).collect::<PolarsResult<_>>()?;
            held.extend(rows.clone().map(|row| columns.iter().any(|column| word(column, row) == hold_out.value)));
        }
        for (column, level) in params.stratify.iter().zip(&mut self.levels) {
            let values = cells(column)?;
            level.extend(rows.clone().map(|row| self.words.number(&word(&values, row))));
        }
        for (compared_text, texts) in &mut self.texts {
            let columns: Vec<Cells> = compared_text
                .columns()
                .iter()
                .map(|column| cells(column))
                .filter_map(Result::transpose)
                .collect::<PolarsResult<_>>()?;
            texts.extend(rows.clone().map(|row| self.words.number(&compared_text.text(&columns, row))));
        }
        Ok(())
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the id of a row.
    #[must_use]
    pub fn id(&self, row: usize) -> &str {
        &self.ids[row]
    }

    pub(super) fn language(&self, row: usize) -> Language {
        self.languages[row]
    }

    /// Returns the value numbers of all rows for a relation, or `None` if the config has no column for it.
    pub(super) fn keys(&self, relation: Relation) -> Option<&[Option<u32>]> {
        self.keys.get(&relation).map(Vec::as_slice)
    }

    pub(super) fn word(&self, number: u32) -> &str {
        &self.words.words[number as usize]
    }

    /// Returns the string that identifies a row independently of other rows: its group, its scene or another relation,
    /// otherwise its id.
    pub(super) fn stable_key(&self, row: usize) -> &str {
        if let Some(group) = self.groups.get(row) {
            return self.word(*group);
        }
        let mut keys = self.key_relations.iter().filter_map(|relation| self.keys(*relation));
        keys.find_map(|keys| keys[row]).map_or_else(|| self.id(row), |key| self.word(key))
    }

    /// Returns for each value of a relation the split of highest priority among its rows. `rest` is the index of the
    /// remainder, which comes last, after `unused`.
    #[must_use]
    pub fn highest_priority_splits(&self, relation: Relation, splits: &[usize], rest: usize) -> HashMap<&str, usize> {
        let order = |split: usize| if split == rest { usize::MAX } else { split };
        let mut best: HashMap<&str, usize> = HashMap::new();
        for (key, split) in self.keys(relation).unwrap_or_default().iter().zip(splits) {
            let Some(key) = key else { continue };
            let held = best.entry(self.word(*key)).or_insert(*split);
            if order(*split) < order(*held) {
                *held = *split;
            }
        }
        best
    }

    /// Returns the group number of each row.
    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Returns the compared texts, as numbers of interned strings.
    pub(super) fn texts(&self) -> &[(ComparedText, Vec<u32>)] {
        &self.texts
    }

    /// Returns the name of a row's stratum.
    pub(super) fn stratum(&self, row: usize) -> String {
        self.levels.iter().map(|level| self.word(level[row])).collect::<Vec<_>>().join("/")
    }

    /// Returns the split in which each row is held out, if any; of several, the one with the highest priority.
    pub(super) fn held(&self, params: &Params, names: &[String]) -> Vec<Option<usize>> {
        let index_of = |split: &str| names.iter().position(|name| name == split);
        let splits: Vec<Option<usize>> = params.hold_out.iter().map(|held| index_of(&held.split)).collect();
        let of_row = |row: usize| {
            let held = self.held.iter().zip(&splits).filter(|(held, _)| held[row]);
            held.filter_map(|(_, split)| *split).min()
        };
        (0..self.len()).map(of_row).collect()
    }

    /// Returns the number of rows of each hold-out.
    #[must_use]
    pub fn held_counts(&self) -> Vec<usize> {
        self.held.iter().map(|held| held.iter().filter(|held| **held).count()).collect()
    }
}
