//! Tables read value by value: a frame of the data set, however nested, as texts, numbers, lists and structs. Knows nothing of
//! what the columns mean, and changes none.

mod moments;

use std::borrow::Cow;

use polars::prelude::{
    BooleanChunked, ChunkedArray, Column, DataFrame, DataType, Float32Chunked, Float64Chunked, Int8Chunked,
    Int32Chunked, Int64Chunked, ListChunked, PolarsNumericType, PolarsResult, Series, StringChunked, TimeUnit,
    UInt64Chunked,
};
use serde_json::Value;

/// A column, or a part of a nested one.
#[derive(Debug)]
pub enum Cells {
    /// Strings; categories by their names, and dates and times as ISO 8601 has them.
    Text(StringChunked),
    /// Booleans.
    Flag(BooleanChunked),
    /// Integers of 8 bits.
    Small(Int8Chunked),
    /// Integers of 32 bits.
    Number(Int32Chunked),
    /// Integers of 64 bits, and those of fewer that no column of ours has.
    Large(Int64Chunked),
    /// Integers of 64 bits without a sign.
    Count(UInt64Chunked),
    /// Floats of 32 bits, which have other digits than those of 64.
    Part(Float32Chunked),
    /// Floats of 64 bits.
    Share(Float64Chunked),
    /// Decimal numbers, in digits.
    Exact(StringChunked),
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
    /// Nothing but null, or bytes and other things that have no form as text; reads as null.
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
            DataType::Int16 | DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => {
                Self::Large(series.cast(&DataType::Int64)?.i64()?.clone())
            }
            DataType::UInt64 => Self::Count(series.u64()?.clone()),
            DataType::Float32 => Self::Part(series.f32()?.clone()),
            DataType::Float64 => Self::Share(series.f64()?.clone()),
            DataType::Categorical(..) | DataType::Enum(..) => {
                Self::Text(series.cast(&DataType::String)?.str()?.clone())
            }
            DataType::Date => Self::Text(told(&series, moments::date)?),
            DataType::Time => Self::Text(told(&series, |passed| moments::time(passed, moments::NANO))?),
            DataType::Datetime(unit, zone) => {
                let (second, is_utc) = (second(*unit), zone.is_some());
                Self::Text(told(&series, |passed| moments::moment(passed, second, is_utc))?)
            }
            DataType::Duration(unit) => {
                let second = second(*unit);
                Self::Text(told(&series, |length| moments::duration(length, second))?)
            }
            DataType::Decimal(_, scale) => {
                let values = series.to_physical_repr();
                let digits = values.i128()?.iter().map(|value| value.map(|value| moments::decimal(value, *scale)));
                Self::Exact(digits.collect())
            }
            DataType::List(_) => Self::lists(series.list()?)?,
            DataType::Array(inner, _) => Self::lists(series.cast(&DataType::List(inner.clone()))?.list()?)?,
            DataType::Struct(_) => {
                let fields = series.struct_()?.fields_as_series();
                let field = |field: &Series| Ok((field.name().to_string(), Self::read(field)?));
                Self::Struct(fields.iter().map(field).collect::<PolarsResult<_>>()?)
            }
            _ => Self::Other,
        })
    }

    fn lists(list: &ListChunked) -> PolarsResult<Self> {
        let ends = match list.downcast_iter().next() {
            Some(array) => array.offsets().as_slice().to_vec(),
            None => vec![0],
        };
        let nulls = if list.null_count() > 0 { list.is_null().iter().flatten().collect() } else { Vec::new() };
        Ok(Self::List { ends, nulls, items: Box::new(Self::read(&list.get_inner())?) })
    }

    /// Returns the value at a place as a word, by which it is told from others; none where it is null, or nothing that a word says.
    #[must_use]
    pub fn word(&self, place: usize) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(texts) | Self::Exact(texts) => texts.get(place).map(Cow::Borrowed),
            Self::List { .. } | Self::Struct(_) | Self::Other => None,
            cells => {
                let mut json = Vec::new();
                cells.write_json(place, &mut json);
                let word = String::from_utf8(json).expect("JSON is UTF-8");
                (word != "null").then_some(Cow::Owned(word))
            }
        }
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
            Self::Count(numbers) => numbers.get(place).and_then(|number| i64::try_from(number).ok()),
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
            Self::Count(numbers) => scalar(json, numbers, place),
            Self::Part(parts) => write(json, &parts.get(place)),
            Self::Share(shares) => write(json, &shares.get(place)),
            Self::Exact(digits) => json.extend(digits.get(place).unwrap_or("null").bytes()),
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

/// Returns what of a column has no form as text, with its type: the path of the first such field, as `images[].bytes`.
#[must_use]
pub fn unwritten(column: &Column) -> Option<(String, String)> {
    fn within(path: String, kind: &DataType) -> Option<(String, String)> {
        match kind {
            DataType::List(inner) | DataType::Array(inner, _) => within(path + "[]", inner),
            DataType::Struct(fields) => {
                fields.iter().find_map(|field| within(format!("{path}.{}", field.name()), field.dtype()))
            }
            DataType::Null
            | DataType::Boolean
            | DataType::String
            | DataType::Categorical(..)
            | DataType::Enum(..)
            | DataType::Decimal(..)
            | DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::Float32
            | DataType::Float64 => None,
            kind if kind.is_temporal() => None,
            kind => Some((path, kind.to_string())),
        }
    }
    within(column.name().to_string(), column.dtype())
}

/// Tells each of the integers behind a column of dates or times.
fn told(series: &Series, tell: impl Fn(i64) -> String) -> PolarsResult<StringChunked> {
    let values = series.to_physical_repr().cast(&DataType::Int64)?;
    Ok(values.i64()?.iter().map(|value| value.map(&tell)).collect())
}

/// Returns how many of a unit are a second.
const fn second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Milliseconds => 1_000,
        TimeUnit::Microseconds => 1_000_000,
        TimeUnit::Nanoseconds => moments::NANO,
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

    /// Returns one column of two rows for each type that others write, the second row null, with its first value as JSON and as a word.
    fn foreign() -> Vec<(Column, &'static str, &'static str)> {
        let integers = |kind: DataType| Column::new("n".into(), [Some(7_i64), None]).cast(&kind).unwrap();
        let text = |text: &str| Column::new("t".into(), [Some(text), None]);
        let moment = |unit| DataType::Datetime(unit, None);
        // A cast to a zone takes the names of all zones, which reading does not.
        let zoned = |column: &Column| {
            let moments = column.i64().unwrap().clone().into_datetime(TimeUnit::Milliseconds, Some(TimeZone::UTC));
            Column::from(moments.into_series())
        };
        let second = Column::new("n".into(), [Some(1_706_704_200_500_i64), None]);
        let categories = Categories::global();
        let kinds = FrozenCategories::new(["渡口", "ferry"]).unwrap();
        vec![
            (integers(DataType::Int8), "7", "7"),
            (integers(DataType::Int16), "7", "7"),
            (integers(DataType::Int32), "7", "7"),
            (integers(DataType::UInt8), "7", "7"),
            (integers(DataType::UInt16), "7", "7"),
            (integers(DataType::UInt32), "7", "7"),
            (integers(DataType::UInt64), "7", "7"),
            (Column::new("n".into(), [Some(u64::MAX), None]), "18446744073709551615", "18446744073709551615"),
            (Column::new("f".into(), [Some(0.1_f32), None]), "0.1", "0.1"),
            (Column::new("f".into(), [Some(0.1_f64), None]), "0.1", "0.1"),
            (Column::new("b".into(), [Some(true), None]), "true", "true"),
            (text("陆"), "\"陆\"", "陆"),
            (text("ferry").cast(&DataType::from_categories(categories)).unwrap(), "\"ferry\"", "ferry"),
            (text("渡口").cast(&DataType::from_frozen_categories(kinds)).unwrap(), "\"渡口\"", "渡口"),
            (integers(DataType::Int32).cast(&DataType::Date).unwrap(), "\"1970-01-08\"", "1970-01-08"),
            (second.cast(&DataType::Time).unwrap(), "\"00:28:26.7042005\"", "00:28:26.7042005"),
            (
                second.cast(&moment(TimeUnit::Milliseconds)).unwrap(),
                "\"2024-01-31T12:30:00.5\"",
                "2024-01-31T12:30:00.5",
            ),
            (zoned(&second), "\"2024-01-31T12:30:00.5Z\"", "2024-01-31T12:30:00.5Z"),
            (
                integers(DataType::Int64).cast(&DataType::Duration(TimeUnit::Nanoseconds)).unwrap(),
                "\"PT0.000000007S\"",
                "PT0.000000007S",
            ),
            (integers(DataType::Int64).cast(&DataType::Decimal(10, 2)).unwrap(), "7.00", "7.00"),
        ]
    }

    #[test]
    fn what_others_write_is_told_whole() {
        for (column, json, word) in foreign() {
            let kind = column.dtype().clone();
            assert_eq!(super::unwritten(&column), None, "{kind}");
            let cells = Cells::new(&column).unwrap();
            let mut written = Vec::new();
            cells.write_json(0, &mut written);
            assert_eq!(String::from_utf8(written).unwrap(), json, "{kind}");
            assert_eq!((cells.json(1), cells.word(1)), (serde_json::Value::Null, None), "{kind}");
            assert_eq!(cells.word(0).unwrap(), word, "{kind}");
        }
        let nothing = Column::new_scalar("n".into(), Scalar::null(DataType::Null), 2);
        assert_eq!(super::unwritten(&nothing), None);
        assert_eq!(Cells::new(&nothing).unwrap().json(1), serde_json::Value::Null);
        let pairs = Column::new("pairs".into(), [Series::new("".into(), [1_u8, 2]), Series::new("".into(), [3_u8, 4])]);
        let pairs = pairs.cast(&DataType::Array(Box::new(DataType::UInt8), 2)).unwrap();
        assert_eq!(Cells::new(&pairs).unwrap().json(1), serde_json::json!([3, 4]));
        let bytes = Column::new("bytes".into(), [&b"\xff"[..]]);
        let image = StructChunked::from_columns("image".into(), 1, &[bytes]).unwrap().into_column();
        let (path, kind) = super::unwritten(&image).expect("bytes are no text");
        assert_eq!((path.as_str(), kind.as_str()), ("image.bytes", "binary"));
    }

    #[test]
    fn a_slice_is_read_from_where_it_begins() {
        let cells = Cells::new(&nested().slice(2, 1)).unwrap();
        assert_eq!(cells.json(0), serde_json::json!([{"n": 3, "value": "c"}]));
    }
}
