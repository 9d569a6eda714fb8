//! Access to single values of a table, including nested ones, as text, numbers, lists and structs. Independent of what
//! the columns mean.

mod temporal;

use std::borrow::Cow;

use polars::prelude::{
    BooleanChunked, ChunkedArray, Column, DataFrame, DataType, Float32Chunked, Float64Chunked, Int8Chunked,
    Int32Chunked, Int64Chunked, ListChunked, PolarsNumericType, PolarsResult, Series, StringChunked, TimeUnit,
    UInt64Chunked,
};
use serde_json::Value;

/// A column, or a part of a nested column.
#[derive(Debug)]
pub enum Cells {
    /// Strings; also categories by name, and dates and times in ISO 8601.
    Text(StringChunked),
    /// Booleans.
    Boolean(BooleanChunked),
    /// 8-bit integers.
    Int8(Int8Chunked),
    /// 32-bit integers.
    Int32(Int32Chunked),
    /// 64-bit integers, and smaller types that the program's own tables do not use.
    Int64(Int64Chunked),
    /// Unsigned 64-bit integers.
    UInt64(UInt64Chunked),
    /// 32-bit floats, whose decimal digits differ from those of 64-bit floats.
    Float32(Float32Chunked),
    /// 64-bit floats.
    Float64(Float64Chunked),
    /// Decimal numbers, as their digits.
    Decimal(StringChunked),
    /// Lists.
    List {
        /// The start of each list in `items`, followed by the end of the last one.
        offsets: Vec<i64>,
        /// Which lists are null; empty if none is.
        nulls: Vec<bool>,
        /// The items of all lists, concatenated.
        items: Box<Cells>,
    },
    /// Structs, as their fields by name.
    Struct(Vec<(String, Cells)>),
    /// A column of nulls, or of bytes and other types without a text form; every value reads as null.
    Other,
}

impl Cells {
    /// Prepares a column of a frame for reading.
    pub fn of(frame: &DataFrame, column: &str) -> PolarsResult<Self> {
        frame.column(column).and_then(Self::new)
    }

    /// Prepares a column for reading.
    pub fn new(column: &Column) -> PolarsResult<Self> {
        Self::read(column.as_materialized_series())
    }

    fn read(series: &Series) -> PolarsResult<Self> {
        // Random access is fastest in a single chunk.
        let series = series.rechunk();
        Ok(match series.dtype() {
            DataType::String => Self::Text(series.str()?.clone()),
            DataType::Boolean => Self::Boolean(series.bool()?.clone()),
            DataType::Int8 => Self::Int8(series.i8()?.clone()),
            DataType::Int32 => Self::Int32(series.i32()?.clone()),
            DataType::Int64 => Self::Int64(series.i64()?.clone()),
            DataType::Int16 | DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => {
                Self::Int64(series.cast(&DataType::Int64)?.i64()?.clone())
            }
            DataType::UInt64 => Self::UInt64(series.u64()?.clone()),
            DataType::Float32 => Self::Float32(series.f32()?.clone()),
            DataType::Float64 => Self::Float64(series.f64()?.clone()),
            DataType::Categorical(..) | DataType::Enum(..) => {
                Self::Text(series.cast(&DataType::String)?.str()?.clone())
            }
            DataType::Date => Self::Text(formatted(&series, temporal::date)?),
            DataType::Time => {
                Self::Text(formatted(&series, |units| temporal::time(units, temporal::NANOS_PER_SECOND))?)
            }
            DataType::Datetime(unit, zone) => {
                let (per_second, is_utc) = (units_per_second(*unit), zone.is_some());
                Self::Text(formatted(&series, |units| temporal::date_time(units, per_second, is_utc))?)
            }
            DataType::Duration(unit) => {
                let per_second = units_per_second(*unit);
                Self::Text(formatted(&series, |units| temporal::duration(units, per_second))?)
            }
            DataType::Decimal(_, scale) => {
                let values = series.to_physical_repr();
                let digits = values.i128()?.iter().map(|value| value.map(|value| temporal::decimal(value, *scale)));
                Self::Decimal(digits.collect())
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
        let offsets = match list.downcast_iter().next() {
            Some(array) => array.offsets().as_slice().to_vec(),
            None => vec![0],
        };
        let nulls = if list.null_count() > 0 { list.is_null().iter().flatten().collect() } else { Vec::new() };
        Ok(Self::List { offsets, nulls, items: Box::new(Self::read(&list.get_inner())?) })
    }

    /// Returns the value in a row as text that identifies it. Returns `None` for null, lists, structs and types without
    /// a text form.
    #[must_use]
    pub fn value_text(&self, row: usize) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(texts) | Self::Decimal(texts) => texts.get(row).map(Cow::Borrowed),
            Self::List { .. } | Self::Struct(_) | Self::Other => None,
            cells => {
                let mut json = Vec::new();
                cells.write_json(row, &mut json);
                let word = String::from_utf8(json).expect("JSON is UTF-8");
                (word != "null").then_some(Cow::Owned(word))
            }
        }
    }

    /// Returns the text in a row, or `None` if it is null or another type.
    #[must_use]
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Self::Text(texts) => texts.get(row),
            _ => None,
        }
    }

    /// Returns the integer in a row, or `None` if it is null or another type.
    #[must_use]
    pub fn number(&self, row: usize) -> Option<i64> {
        match self {
            Self::Int8(numbers) => numbers.get(row).map(i64::from),
            Self::Int32(numbers) => numbers.get(row).map(i64::from),
            Self::Int64(numbers) => numbers.get(row),
            Self::UInt64(numbers) => numbers.get(row).and_then(|number| i64::try_from(number).ok()),
            _ => None,
        }
    }

    /// Returns the range in [`items`](Self::items) of the list in a row, or an empty range if this is not a list
    /// column.
    #[must_use]
    pub fn list(&self, row: usize) -> std::ops::Range<usize> {
        let Self::List { offsets, .. } = self else { return 0..0 };
        let offset =
            |at: usize| usize::try_from(offsets[at]).expect("offsets into an array in memory are not negative");
        offset(row)..offset(row + 1)
    }

    /// Returns the concatenated items of a list column, or the column itself if it has no lists.
    #[must_use]
    pub fn items(&self) -> &Self {
        match self {
            Self::List { items, .. } => items,
            cells => cells,
        }
    }

    /// Returns a field of a struct column, or of the structs in a list column.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Self> {
        match self.items() {
            Self::Struct(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, cells)| cells),
            _ => None,
        }
    }

    /// Calls `text` with every text in a row, including those in lists and structs, and the path of its field. The path
    /// is empty for the column's own text, and otherwise such as `[].content`.
    pub fn each_text<'a>(&'a self, row: usize, path: &mut String, text: &mut impl FnMut(&str, &'a str)) {
        match self {
            Self::Text(texts) => {
                if let Some(found) = texts.get(row) {
                    text(path, found);
                }
            }
            Self::List { items, .. } => {
                let length = path.len();
                path.push_str("[]");
                for item in self.list(row) {
                    items.each_text(item, path, text);
                }
                path.truncate(length);
            }
            Self::Struct(fields) => {
                for (name, cells) in fields {
                    let length = path.len();
                    path.push('.');
                    path.push_str(name);
                    cells.each_text(row, path, text);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// Writes the value in a row as JSON.
    pub fn write_json(&self, row: usize, json: &mut Vec<u8>) {
        match self {
            Self::Text(texts) => write(json, &texts.get(row)),
            Self::Boolean(flags) => write(json, &flags.get(row)),
            Self::Int8(numbers) => scalar(json, numbers, row),
            Self::Int32(numbers) => scalar(json, numbers, row),
            Self::Int64(numbers) => scalar(json, numbers, row),
            Self::UInt64(numbers) => scalar(json, numbers, row),
            Self::Float32(parts) => write(json, &parts.get(row)),
            Self::Float64(shares) => write(json, &shares.get(row)),
            Self::Decimal(digits) => json.extend(digits.get(row).unwrap_or("null").bytes()),
            Self::List { nulls, .. } if nulls.get(row) == Some(&true) => json.extend(b"null"),
            Self::List { items, .. } => {
                json.push(b'[');
                for (number, item) in self.list(row).enumerate() {
                    if number > 0 {
                        json.push(b',');
                    }
                    items.write_json(item, json);
                }
                json.push(b']');
            }
            Self::Struct(fields) => {
                write_fields(fields.iter().map(|(name, cells)| (name.as_str(), cells)), row, json);
            }
            Self::Other => json.extend(b"null"),
        }
    }

    /// Returns the value in a row as JSON.
    #[must_use]
    pub fn json(&self, row: usize) -> Value {
        let mut json = Vec::new();
        self.write_json(row, &mut json);
        serde_json::from_slice(&json).expect("`write_json` writes valid JSON")
    }
}

/// Returns the path and type of the first field of a column that has no text form, such as `images[].bytes`.
#[must_use]
pub fn unrepresentable_field(column: &Column) -> Option<(String, String)> {
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

/// Formats the integers behind a column of dates or times. A value that `format` cannot express is kept as an integer.
fn formatted(series: &Series, format: impl Fn(i64) -> Option<String>) -> PolarsResult<StringChunked> {
    let values = series.to_physical_repr().cast(&DataType::Int64)?;
    Ok(values
        .i64()?
        .iter()
        .map(|value| value.map(|value| format(value).unwrap_or_else(|| value.to_string())))
        .collect())
}

/// Returns the number of units per second.
const fn units_per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Milliseconds => 1_000,
        TimeUnit::Microseconds => 1_000_000,
        TimeUnit::Nanoseconds => temporal::NANOS_PER_SECOND,
    }
}

/// Writes the fields of a row as a JSON object.
pub fn write_fields<'a>(fields: impl Iterator<Item = (&'a str, &'a Cells)>, row: usize, json: &mut Vec<u8>) {
    json.push(b'{');
    for (number, (name, cells)) in fields.enumerate() {
        if number > 0 {
            json.push(b',');
        }
        write(json, &name);
        json.push(b':');
        cells.write_json(row, json);
    }
    json.push(b'}');
}

fn scalar<T: PolarsNumericType>(json: &mut Vec<u8>, numbers: &ChunkedArray<T>, row: usize)
where
    for<'a> T::Physical<'a>: Copy + serde::Serialize,
{
    write(json, &numbers.get(row));
}

fn write(json: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(json, value).expect("writing a plain value to memory cannot fail");
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::Cells;

    /// Returns a column with a list of structs, a null, and another list of structs.
    fn nested() -> Column {
        let values = Series::new("value".into(), ["a", "乙", "c"]);
        let keys = Series::new("n".into(), [1_i32, 2, 3]);
        let items = StructChunked::from_series("item".into(), 3, [keys, values].iter()).unwrap().into_series();
        let lists = [Some(items.slice(0, 2)), None, Some(items.slice(2, 1))];
        Column::from(Series::new("list".into(), lists))
    }

    #[test]
    fn a_nested_column_round_trips() {
        let cells = Cells::new(&nested()).unwrap();
        assert_eq!(cells.json(0), serde_json::json!([{"n": 1, "value": "a"}, {"n": 2, "value": "乙"}]));
        assert_eq!(cells.json(1), serde_json::Value::Null);
        let values = cells.field("value").expect("the structs have this field");
        assert_eq!(cells.list(2).map(|item| values.text(item).unwrap()).collect::<Vec<_>>(), ["c"]);
        let mut found = Vec::new();
        cells.each_text(0, &mut String::new(), &mut |path, text| found.push((path.to_owned(), text)));
        assert_eq!(found, [("[].value".to_owned(), "a"), ("[].value".to_owned(), "乙")]);
    }

    /// Returns one column for each type in other programs' tables. Each has two rows, the second null, and comes with
    /// its first value as JSON and as text.
    fn foreign() -> Vec<(Column, &'static str, &'static str)> {
        let integers = |kind: DataType| Column::new("n".into(), [Some(7_i64), None]).cast(&kind).unwrap();
        let text = |text: &str| Column::new("t".into(), [Some(text), None]);
        let moment = |unit| DataType::Datetime(unit, None);
        // Casting to a time zone needs the time zone database, which reading does not.
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
    fn foreign_column_types_convert_to_json() {
        for (column, json, word) in foreign() {
            let kind = column.dtype().clone();
            assert_eq!(super::unrepresentable_field(&column), None, "{kind}");
            let cells = Cells::new(&column).unwrap();
            let mut written = Vec::new();
            cells.write_json(0, &mut written);
            assert_eq!(String::from_utf8(written).unwrap(), json, "{kind}");
            assert_eq!((cells.json(1), cells.value_text(1)), (serde_json::Value::Null, None), "{kind}");
            assert_eq!(cells.value_text(0).unwrap(), word, "{kind}");
        }
        let nothing = Column::new_scalar("n".into(), Scalar::null(DataType::Null), 2);
        assert_eq!(super::unrepresentable_field(&nothing), None);
        assert_eq!(Cells::new(&nothing).unwrap().json(1), serde_json::Value::Null);
        let pairs = Column::new("pairs".into(), [Series::new("".into(), [1_u8, 2]), Series::new("".into(), [3_u8, 4])]);
        let pairs = pairs.cast(&DataType::Array(Box::new(DataType::UInt8), 2)).unwrap();
        assert_eq!(Cells::new(&pairs).unwrap().json(1), serde_json::json!([3, 4]));
        let bytes = Column::new("bytes".into(), [&b"\xff"[..]]);
        let image = StructChunked::from_columns("image".into(), 1, &[bytes]).unwrap().into_column();
        let (path, kind) = super::unrepresentable_field(&image).expect("bytes have no text form");
        assert_eq!((path.as_str(), kind.as_str()), ("image.bytes", "binary"));
    }

    #[test]
    fn a_slice_is_read_from_its_start() {
        let cells = Cells::new(&nested().slice(2, 1)).unwrap();
        assert_eq!(cells.json(0), serde_json::json!([{"n": 3, "value": "c"}]));
    }
}
