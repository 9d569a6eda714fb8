//! Tables read value by value: a frame of the data set, however nested, as texts, numbers, lists and structs. Knows nothing of
//! what the columns mean, and changes none.

use polars::prelude::{
    BooleanChunked, ChunkedArray, Column, DataFrame, DataType, Float64Chunked, Int8Chunked, Int32Chunked, Int64Chunked,
    PolarsNumericType, PolarsResult, Series, StringChunked,
};
use serde_json::Value;

/// A column, or a part of a nested one.
#[derive(Debug)]
pub enum Cells {
    /// Strings.
    Text(StringChunked),
    /// Booleans.
    Flag(BooleanChunked),
    /// Integers of 8 bits.
    Small(Int8Chunked),
    /// Integers of 32 bits.
    Number(Int32Chunked),
    /// Integers of 64 bits.
    Large(Int64Chunked),
    /// Floats of 64 bits.
    Share(Float64Chunked),
    /// Lists.
    List {
        /// Where each list begins in `items`, and where the last ends.
        ends: Vec<i64>,
        /// Which lists are null; empty when none is.
        nulls: Vec<bool>,
        /// What the lists hold, end to end.
        items: Box<Cells>,
    },
    /// Structs: their fields by name.
    Struct(Vec<(String, Cells)>),
    /// A type that no column of the data set has; reads as null.
    Other,
}

impl Cells {
    /// Makes a column of a frame ready to be read.
    pub fn of(frame: &DataFrame, column: &str) -> PolarsResult<Self> {
        frame.column(column).and_then(Self::new)
    }

    /// Makes a column ready to be read.
    pub fn new(column: &Column) -> PolarsResult<Self> {
        Self::read(column.as_materialized_series())
    }

    fn read(series: &Series) -> PolarsResult<Self> {
        // Looking a value up is fastest where there is one chunk.
        let series = series.rechunk();
        Ok(match series.dtype() {
            DataType::String => Self::Text(series.str()?.clone()),
            DataType::Boolean => Self::Flag(series.bool()?.clone()),
            DataType::Int8 => Self::Small(series.i8()?.clone()),
            DataType::Int32 => Self::Number(series.i32()?.clone()),
            DataType::Int64 => Self::Large(series.i64()?.clone()),
            DataType::Float64 => Self::Share(series.f64()?.clone()),
            DataType::List(_) => {
                let list = series.list()?;
                let ends = match list.downcast_iter().next() {
                    Some(array) => array.offsets().as_slice().to_vec(),
                    None => vec![0],
                };
                let nulls = if list.null_count() > 0 { list.is_null().iter().flatten().collect() } else { Vec::new() };
                Self::List { ends, nulls, items: Box::new(Self::read(&list.get_inner())?) }
            }
            DataType::Struct(_) => {
                let fields = series.struct_()?.fields_as_series();
                let field = |field: &Series| Ok((field.name().to_string(), Self::read(field)?));
                Self::Struct(fields.iter().map(field).collect::<PolarsResult<_>>()?)
            }
            _ => Self::Other,
        })
    }

    /// Returns the text at a place; none where it is null or no text.
    #[must_use]
    pub fn text(&self, place: usize) -> Option<&str> {
        match self {
            Self::Text(texts) => texts.get(place),
            _ => None,
        }
    }

    /// Returns the integer at a place; none where it is null or none.
    #[must_use]
    pub fn number(&self, place: usize) -> Option<i64> {
        match self {
            Self::Small(numbers) => numbers.get(place).map(i64::from),
            Self::Number(numbers) => numbers.get(place).map(i64::from),
            Self::Large(numbers) => numbers.get(place),
            _ => None,
        }
    }

    /// Returns the places in [`items`](Self::items) of the list at a place; none where there is no list.
    #[must_use]
    pub fn list(&self, place: usize) -> std::ops::Range<usize> {
        let Self::List { ends, .. } = self else { return 0..0 };
        let end = |at: usize| usize::try_from(ends[at]).expect("offsets of an array in memory");
        end(place)..end(place + 1)
    }

    /// Returns what lists hold, end to end; itself where there is no list.
    #[must_use]
    pub fn items(&self) -> &Self {
        match self {
            Self::List { items, .. } => items,
            cells => cells,
        }
    }

    /// Returns a field of structs, or of the structs that lists hold.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Self> {
        match self.items() {
            Self::Struct(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, cells)| cells),
            _ => None,
        }
    }

    /// Hands on every text at a place, those within lists and structs too, each with the path of its field: empty for the column's
    /// own, else such as `[].content`.
    pub fn each_text<'a>(&'a self, place: usize, path: &mut String, text: &mut impl FnMut(&str, &'a str)) {
        match self {
            Self::Text(texts) => {
                if let Some(found) = texts.get(place) {
                    text(path, found);
                }
            }
            Self::List { items, .. } => {
                let length = path.len();
                path.push_str("[]");
                for item in self.list(place) {
                    items.each_text(item, path, text);
                }
                path.truncate(length);
            }
            Self::Struct(fields) => {
                for (name, cells) in fields {
                    let length = path.len();
                    path.push('.');
                    path.push_str(name);
                    cells.each_text(place, path, text);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// Writes the value at a place as JSON.
    pub fn write_json(&self, place: usize, json: &mut Vec<u8>) {
        match self {
            Self::Text(texts) => write(json, &texts.get(place)),
            Self::Flag(flags) => write(json, &flags.get(place)),
            Self::Small(numbers) => scalar(json, numbers, place),
            Self::Number(numbers) => scalar(json, numbers, place),
            Self::Large(numbers) => scalar(json, numbers, place),
            Self::Share(shares) => write(json, &shares.get(place)),
            Self::List { nulls, .. } if nulls.get(place) == Some(&true) => json.extend(b"null"),
            Self::List { items, .. } => {
                json.push(b'[');
                for (number, item) in self.list(place).enumerate() {
                    if number > 0 {
                        json.push(b',');
                    }
                    items.write_json(item, json);
                }
                json.push(b']');
            }
            Self::Struct(fields) => {
                write_fields(fields.iter().map(|(name, cells)| (name.as_str(), cells)), place, json);
            }
            Self::Other => json.extend(b"null"),
        }
    }

    /// Returns the value at a place as JSON.
    #[must_use]
    pub fn json(&self, place: usize) -> Value {
        let mut json = Vec::new();
        self.write_json(place, &mut json);
        serde_json::from_slice(&json).expect("it was written as JSON just now")
    }
}

/// Writes fields of a place as a JSON object.
pub fn write_fields<'a>(fields: impl Iterator<Item = (&'a str, &'a Cells)>, place: usize, json: &mut Vec<u8>) {
    json.push(b'{');
    for (number, (name, cells)) in fields.enumerate() {
        if number > 0 {
            json.push(b',');
        }
        write(json, &name);
        json.push(b':');
        cells.write_json(place, json);
    }
    json.push(b'}');
}

fn scalar<T: PolarsNumericType>(json: &mut Vec<u8>, numbers: &ChunkedArray<T>, place: usize)
where
    for<'a> T::Physical<'a>: Copy + serde::Serialize,
{
    write(json, &numbers.get(place));
}

fn write(json: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(json, value).expect("a plain value becomes JSON, and memory takes it");
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::Cells;

    /// Returns two rows: a list of structs that hold lists, the second one null.
    fn nested() -> Column {
        let values = Series::new("value".into(), ["a", "乙", "c"]);
        let keys = Series::new("n".into(), [1_i32, 2, 3]);
        let items = StructChunked::from_series("item".into(), 3, [keys, values].iter()).unwrap().into_series();
        let lists = [Some(items.slice(0, 2)), None, Some(items.slice(2, 1))];
        Column::from(Series::new("list".into(), lists))
    }

    #[test]
    fn a_nested_column_is_read_and_written_as_it_stands() {
        let cells = Cells::new(&nested()).unwrap();
        assert_eq!(cells.json(0), serde_json::json!([{"n": 1, "value": "a"}, {"n": 2, "value": "乙"}]));
        assert_eq!(cells.json(1), serde_json::Value::Null);
        let values = cells.field("value").expect("it has the field");
        assert_eq!(cells.list(2).map(|item| values.text(item).unwrap()).collect::<Vec<_>>(), ["c"]);
        let mut found = Vec::new();
        cells.each_text(0, &mut String::new(), &mut |path, text| found.push((path.to_owned(), text)));
        assert_eq!(found, [("[].value".to_owned(), "a"), ("[].value".to_owned(), "乙")]);
    }

    #[test]
    fn a_slice_is_read_from_where_it_begins() {
        let cells = Cells::new(&nested().slice(2, 1)).unwrap();
        assert_eq!(cells.json(0), serde_json::json!([{"n": 3, "value": "c"}]));
    }
}
