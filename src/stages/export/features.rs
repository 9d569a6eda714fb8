//! Descriptions of columns: as features of the `datasets` library, and in words. They come from the frame's schema and
//! the doc comments of the records, so they always match the files.

use std::fmt::Write as _;

use polars::prelude::{DataFrame, DataType, Field, TimeUnit};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use super::groups::TableRow as _;
use super::yaml_text::scalar;
use crate::schema::{Character, Conversation, Reject, RoleGeneral, RoleProfile, RoleSpecific, Sample, Scene};

/// Why a column of the program's own tables always has a type name.
pub(super) const OURS: &str = "the program's own column types have names in `datasets`";

/// Returns the features of a frame in the notation that the `datasets` library writes into cards, each line indented by
/// `indent` spaces. Returns `None` if the library has no name for a type, which only happens in tables of other
/// programs.
pub(crate) fn features(frame: &DataFrame, indent: usize) -> Option<String> {
    let mut yaml = String::new();
    for field in fields(frame) {
        write_feature(&mut yaml, &field, indent)?;
    }
    Some(yaml)
}

fn fields(frame: &DataFrame) -> Vec<Field> {
    frame.columns().iter().map(|column| Field::new(column.name().clone(), column.dtype().clone())).collect()
}

fn write_feature(yaml: &mut String, field: &Field, indent: usize) -> Option<()> {
    let _ = writeln!(yaml, "{:indent$}- name: {}", "", scalar(field.name()));
    write_type(yaml, field.dtype(), indent + 2)
}

fn write_type(yaml: &mut String, dtype: &DataType, indent: usize) -> Option<()> {
    // In this notation the items of a list of scalars or structs are written directly under `list`, without a level for
    // their type.
    let (key, inner) = match dtype {
        DataType::List(inner) => ("list", inner.as_ref()),
        DataType::Struct(_) => ("struct", dtype),
        scalar => {
            let _ = writeln!(yaml, "{:indent$}dtype: {}", "", scalar_name(scalar)?);
            return Some(());
        }
    };
    match inner {
        DataType::Struct(fields) => {
            let _ = writeln!(yaml, "{:indent$}{key}:", "");
            for field in fields {
                write_feature(yaml, field, indent)?;
            }
        }
        DataType::List(_) => {
            let _ = writeln!(yaml, "{:indent$}{key}:", "");
            write_type(yaml, inner, indent + 2)?;
        }
        scalar => {
            let _ = writeln!(yaml, "{:indent$}{key}: {}", "", scalar_name(scalar)?);
        }
    }
    Some(())
}

/// Returns the name of a scalar type in Arrow and `datasets`, or `None` if they cannot read it from a card.
fn scalar_name(dtype: &DataType) -> Option<String> {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Nanoseconds => "ns",
        TimeUnit::Microseconds => "us",
        TimeUnit::Milliseconds => "ms",
    };
    let name = match dtype {
        // Readers decode categories to strings.
        DataType::String | DataType::Categorical(..) | DataType::Enum(..) => "string",
        DataType::Boolean => "bool",
        DataType::Int8 => "int8",
        DataType::Int16 => "int16",
        DataType::Int32 => "int32",
        DataType::Int64 => "int64",
        DataType::UInt8 => "uint8",
        DataType::UInt16 => "uint16",
        DataType::UInt32 => "uint32",
        DataType::UInt64 => "uint64",
        DataType::Float16 => "float16",
        DataType::Float32 => "float32",
        DataType::Float64 => "float64",
        DataType::Binary => "binary",
        DataType::Date => "date32",
        DataType::Time => "time64[ns]",
        // Quoted, because a bare `null` is the YAML null value.
        DataType::Null => "\"null\"",
        DataType::Decimal(precision, scale) => return Some(format!("decimal128({precision}, {scale})")),
        DataType::Duration(of) => return Some(format!("duration[{}]", unit(of))),
        DataType::Datetime(of, None) => return Some(format!("timestamp[{}]", unit(of))),
        DataType::Datetime(of, Some(zone)) => return Some(format!("timestamp[{}, tz={zone}]", unit(of))),
        _ => return None,
    };
    Some(name.to_owned())
}

/// The description of a column or of a field within one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnNote {
    /// The path; a field of a list of structs is `column[].field`.
    pub path: String,
    /// The type, such as `list<string>`. The fields of a struct have descriptions of their own.
    pub kind: String,
    /// The meaning; empty if the config has no record.
    pub description: String,
}

/// Describes every column of a frame and every nested field, using the doc comments of the config's record.
pub(super) fn notes(config: &str, frame: &DataFrame) -> Vec<ColumnNote> {
    let (root, definitions) = record(config);
    let mut notes = Vec::new();
    for field in fields(frame) {
        describe(&mut notes, "", &field, &root, &definitions);
    }
    notes
}

/// Returns the JSON Schema of a config's record, and the definitions that it references.
fn record(config: &str) -> (Value, Value) {
    fn of<T: JsonSchema>() -> (Value, Value) {
        let mut generator = SchemaGenerator::default();
        let root = generator.root_schema_for::<T>().to_value();
        let definitions = root["$defs"].clone();
        (root, definitions)
    }
    match config {
        Sample::CONFIG => of::<Sample>(),
        Conversation::CONFIG => of::<Conversation>(),
        Scene::CONFIG => of::<Scene>(),
        Character::CONFIG => of::<Character>(),
        RoleProfile::CONFIG => of::<RoleProfile>(),
        RoleSpecific::CONFIG => of::<RoleSpecific>(),
        RoleGeneral::CONFIG => of::<RoleGeneral>(),
        Reject::CONFIG => of::<Reject>(),
        _ => (Value::Null, Value::Null),
    }
}

fn describe(notes: &mut Vec<ColumnNote>, within: &str, field: &Field, record: &Value, definitions: &Value) {
    let schema = &record["properties"][field.name().as_str()];
    let description =
        schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let path = format!("{within}{}", field.name());
    let description = match path.as_str() {
        "canary" => "A fixed string for detecting whether a model was trained on this data set.".to_owned(),
        _ => description,
    };
    let (kind, fields) = match field.dtype() {
        DataType::List(inner) => match inner.as_ref() {
            DataType::Struct(fields) => ("list<struct>".to_owned(), fields.as_slice()),
            scalar => (format!("list<{}>", scalar_name(scalar).expect(OURS)), [].as_slice()),
        },
        scalar => (scalar_name(scalar).expect(OURS), [].as_slice()),
    };
    notes.push(ColumnNote { path: path.clone(), kind, description });
    let item = &schema["items"];
    let item = match item["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        Some(name) => &definitions[name],
        None => item,
    };
    for field in fields {
        describe(notes, &format!("{path}[]."), field, item, definitions);
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::{Column, DataFrame, DataType, TimeUnit, TimeZone};

    use super::{features, notes};
    use crate::stages::export::fixture::{built, records};

    #[test]
    fn features_read_as_the_library_writes_them() {
        let tables = built(&records()).unwrap();
        let samples = features(&tables[0].frame, 2).unwrap();
        assert!(samples.starts_with("  - name: id\n    dtype: string\n  - name: language\n    dtype: string\n"));
        let cast = "  - name: scene_characters
    list:
    - name: name
      dtype: string
    - name: profile
      list:
      - name: key
        dtype: string
      - name: value
        dtype: string
      - name: visibility
        dtype: string
  - name: history
    list:
    - name: speaker
      dtype: string
    - name: content
      dtype: string
    - name: is_test
      dtype: bool
";
        assert!(samples.contains(cast), "{samples}");
        assert!(samples.contains("  - name: score\n    dtype: int8\n"));
        assert!(features(&tables[3].frame, 0).unwrap().contains("\n- name: lines\n  list: string\n"));
        assert!(
            features(&tables[2].frame, 0)
                .unwrap()
                .ends_with("- name: model\n  dtype: string\n- name: salience\n  dtype: int32\n")
        );
    }

    #[test]
    fn foreign_types_have_the_names_that_readers_know() {
        let named = |kind: &DataType| {
            let column = Column::new_empty("x".into(), kind);
            features(&DataFrame::new(0, vec![column]).unwrap(), 0)
        };
        for (kind, name) in [
            (DataType::Int16, "int16"),
            (DataType::UInt8, "uint8"),
            (DataType::Float32, "float32"),
            (DataType::Binary, "binary"),
            (DataType::Date, "date32"),
            (DataType::Time, "time64[ns]"),
            (DataType::Null, "\"null\""),
            (DataType::Decimal(10, 2), "decimal128(10, 2)"),
            (DataType::Duration(TimeUnit::Milliseconds), "duration[ms]"),
            (DataType::Datetime(TimeUnit::Nanoseconds, None), "timestamp[ns]"),
            (DataType::Datetime(TimeUnit::Microseconds, Some(TimeZone::UTC)), "timestamp[us, tz=UTC]"),
        ] {
            assert_eq!(named(&kind), Some(format!("- name: x\n  dtype: {name}\n")));
        }
        assert_eq!(named(&DataType::Int128), None, "`datasets` has no 128-bit integers");
        assert_eq!(named(&DataType::Array(Box::new(DataType::Int64), 1)), None);
        let words =
            DataFrame::new(1, vec![Column::new("no".into(), [1.5]), Column::new("对话: a".into(), ["x"])]).unwrap();
        let expected = "- name: \"no\"\n  dtype: float64\n- name: \"对话: a\"\n  dtype: string\n";
        assert_eq!(features(&words, 0).as_deref(), Some(expected));
    }

    #[test]
    fn every_column_has_a_meaning() {
        for built in built(&records()).unwrap() {
            let config = built.table.config;
            for note in notes(config, &built.frame) {
                assert!(note.description.ends_with('.'), "{config} `{}`: `{}`", note.path, note.description);
            }
        }
    }

    #[test]
    fn column_descriptions_come_from_the_records() {
        let tables = built(&records()).unwrap();
        let note = |table: usize, path: &str| {
            let notes = notes(tables[table].table.config, &tables[table].frame);
            notes.into_iter().find(|note| note.path == path).unwrap().description
        };
        assert_eq!(note(0, "criteria"), "Criteria for the judge in this dimension.");
        assert_eq!(note(0, "scene_characters[].profile[].visibility"), "Who may see it.");
        assert_eq!(
            note(1, "turns[].kept_reply"),
            "Which of the two replies was kept; null in turns of scene characters."
        );
        assert_eq!(note(3, "type"), "Established or synthesized.");
    }
}
