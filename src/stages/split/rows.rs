//! What a division needs to know of a row: its id, what it shares with others, its stratum, the texts that it is known by.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult};
use serde::{Deserialize, Serialize};

use super::{Kind, Params};
use crate::cells::Cells;
use crate::schema::Language;

/// The configs whose rows can be divided.
pub const CONFIGS: [&str; 4] = ["samples", "conversations", "role_specific", "role_general"];

/// What rows may share that never straddles a border.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// They play in one scene.
    Scene,
    /// They are of one conversation.
    Conversation,
    /// They answer one general instruction.
    Instruction,
    /// They are much alike.
    Near,
}

impl Relation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Scene, Self::Conversation, Self::Instruction, Self::Near];

    /// Those by which a family is known whatever rows it has, the widest first.
    const ANCHORS: [Self; 3] = [Self::Scene, Self::Instruction, Self::Conversation];

    /// Returns its name, as the command line and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scene => "scene",
            Self::Conversation => "conversation",
            Self::Instruction => "instruction",
            Self::Near => "near",
        }
    }

    /// Returns the column that holds it in a config; none where the config has no such thing, or it is no column.
    #[must_use]
    pub fn column(self, config: &str) -> Option<&'static str> {
        match (self, config) {
            (Self::Scene, "samples" | "conversations") => Some("scene_id"),
            (Self::Conversation, "samples") => Some("conversation_id"),
            (Self::Instruction, "role_general") => Some("instruction"),
            _ => None,
        }
    }
}

/// Returns the columns that a word of the command line stands for in a config: its own name, or what people call it.
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

/// Returns the columns that are read to divide a config, of those that it has.
#[must_use]
pub fn needed(config: &str, params: &Params, has: impl Fn(&str) -> bool) -> Vec<String> {
    let mut columns = vec!["id".to_owned(), "language".to_owned()];
    columns.extend(Relation::ALL.iter().filter_map(|relation| relation.column(config)).map(str::to_owned));
    columns.extend(params.stratify.iter().cloned());
    let of_words = params.by.iter().chain(params.hold_out.iter().map(|held| &held.column));
    columns.extend(of_words.flat_map(|word| column_of(config, word)));
    columns.extend(Kind::of(config).iter().flat_map(|kind| kind.columns()).map(|column| (*column).to_owned()));
    columns.sort();
    columns.dedup();
    columns.retain(|column| has(column));
    columns
}

/// Rows as a division sees them. Strings that many rows share are held once.
#[derive(Debug, Default)]
pub struct Rows {
    ids: Vec<String>,
    languages: Vec<Language>,
    words: Words,
    /// By relation that is a column: the number of the row's value.
    keys: BTreeMap<Relation, Vec<Option<u32>>>,
    /// The relations that rows may be known by in place of their ids.
    anchors: Vec<Relation>,
    /// By row: the numbers of the values of `by`'s columns.
    groups: Vec<u32>,
    /// By hold-out, then by row.
    held: Vec<Vec<bool>>,
    /// By stratified column, then by row.
    pub(super) levels: Vec<Vec<u32>>,
    texts: Vec<(Kind, Vec<u32>)>,
}

/// Numbers for strings.
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
    /// Begins without rows.
    #[must_use]
    pub fn new(config: &str, params: &Params) -> Self {
        let relations = Relation::ALL.into_iter().filter(|relation| relation.column(config).is_some());
        Self {
            anchors: Relation::ANCHORS.into_iter().filter(|relation| params.apart.contains(relation)).collect(),
            keys: relations.map(|relation| (relation, Vec::new())).collect(),
            held: vec![Vec::new(); params.hold_out.len()],
            levels: vec![Vec::new(); params.stratify.len()],
            texts: Kind::of(config).iter().map(|kind| (*kind, Vec::new())).collect(),
            ..Self::default()
        }
    }

    /// Adds the rows of a frame, which has the columns that are [`needed`]. A row without an id has an empty one.
    pub fn add(&mut self, config: &str, params: &Params, frame: &DataFrame) -> PolarsResult<()> {
        let cells = |column: &str| match frame.column(column) {
            Ok(column) => Cells::new(column).map(Some),
            Err(_) => Ok(None),
        };
        let word = |cells: &Option<Cells>, row: usize| {
            cells.as_ref().and_then(|cells| cells.word(row)).unwrap_or_default().into_owned()
        };
        let rows = 0..frame.height();
        let (ids, languages) = (cells("id")?, cells("language")?);
        self.ids.extend(rows.clone().map(|row| word(&ids, row)));
        let language = |row| if word(&languages, row) == Language::Zh.code() { Language::Zh } else { Language::En };
        self.languages.extend(rows.clone().map(language));
        for (relation, keys) in &mut self.keys {
            let values = cells(relation.column(config).expect("only relations of the config"))?;
            let value = |row| values.as_ref().and_then(|values| values.word(row));
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
        for (kind, texts) in &mut self.texts {
            let columns: Vec<Cells> = kind
                .columns()
                .iter()
                .map(|column| cells(column))
                .filter_map(Result::transpose)
                .collect::<PolarsResult<_>>()?;
            texts.extend(rows.clone().map(|row| self.words.number(&kind.text(&columns, row))));
        }
        Ok(())
    }

    /// Returns how many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
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

    /// Returns the numbers of the values that rows have in a relation that is a column of the config.
    pub(super) fn keys(&self, relation: Relation) -> Option<&[Option<u32>]> {
        self.keys.get(&relation).map(Vec::as_slice)
    }

    pub(super) fn word(&self, number: u32) -> &str {
        &self.words.words[number as usize]
    }

    /// Returns what a row is known by whatever other rows there are: its group, its scene or the like, else its id.
    pub(super) fn anchor(&self, row: usize) -> &str {
        if let Some(group) = self.groups.get(row) {
            return self.word(*group);
        }
        let mut keys = self.anchors.iter().filter_map(|relation| self.keys(*relation));
        keys.find_map(|keys| keys[row]).map_or_else(|| self.id(row), |key| self.word(key))
    }

    /// Returns for each value of a relation the best guarded split of the rows that have it: what is set aside comes before the
    /// rest, the place of which is given.
    #[must_use]
    pub fn best_guarded(&self, relation: Relation, splits: &[usize], rest: usize) -> HashMap<&str, usize> {
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

    /// Returns the numbers of the rows' groups.
    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Returns the texts that rows are known by, as numbers of words.
    pub(super) fn texts(&self) -> &[(Kind, Vec<u32>)] {
        &self.texts
    }

    /// Returns the values of a row's stratum.
    pub(super) fn stratum(&self, row: usize) -> String {
        self.levels.iter().map(|level| self.word(level[row])).collect::<Vec<_>>().join("/")
    }

    /// Says of each row in which split it is held out by name; the best guarded where there are several.
    pub(super) fn held(&self, params: &Params, names: &[String]) -> Vec<Option<usize>> {
        let place = |split: &str| names.iter().position(|name| name == split);
        let splits: Vec<Option<usize>> = params.hold_out.iter().map(|held| place(&held.split)).collect();
        let of_row = |row: usize| {
            let held = self.held.iter().zip(&splits).filter(|(held, _)| held[row]);
            held.filter_map(|(_, split)| *split).min()
        };
        (0..self.len()).map(of_row).collect()
    }

    /// Returns how many rows each hold-out has.
    #[must_use]
    pub fn held_counts(&self) -> Vec<usize> {
        self.held.iter().map(|held| held.iter().filter(|held| **held).count()).collect()
    }
}
