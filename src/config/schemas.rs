//! The JSON Schemas under `schemas/`, generated from the types.

use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::config::document::json_schema::settings;

use super::pipeline_file::PipelineFile;
use super::referenced::VetoFile;
use crate::attribution::aliases::Aliases;
use crate::schema::{CharacterFile, Conversation, Sample, Scene};
use crate::stages;

/// Returns the path below the schema folder and the text of every schema, sorted by path.
#[must_use]
pub fn schemas() -> Vec<(String, String)> {
    let mut schemas = vec![
        record::<PipelineFile>("pipeline"),
        record::<Scene>("scene"),
        record::<Aliases>("aliases"),
        record::<CharacterFile>("character"),
        record::<VetoFile>("vetoes"),
        record::<Sample>("sample"),
        record::<Conversation>("conversation"),
    ];
    schemas.extend(
        stages::answers()
            .into_iter()
            .map(|(ask, schema)| (format!("asks/{}.schema.json", ask.replace('/', ".")), text(&schema))),
    );
    schemas.sort();
    schemas
}

/// Returns the schema of a file or a row.
fn record<T: JsonSchema>(name: &str) -> (String, String) {
    let mut schema = settings().into_generator().into_root_schema_for::<T>().to_value();
    name_tables(&mut schema);
    (format!("{name}.schema.json"), text(&schema))
}

/// Renames the definition of each stage's `Params` to its table name; schemars only numbers them.
fn name_tables(schema: &mut Value) {
    let tables = schema["properties"].as_object().into_iter().flatten();
    let names: Vec<(String, String)> = tables
        .filter_map(|(table, property)| {
            let definition = property.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
            definition.starts_with("Params").then(|| (definition.to_owned(), table.clone()))
        })
        .collect();
    for (definition, table) in names {
        let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) else { return };
        let Some(params) = definitions.remove(&definition) else { continue };
        definitions.insert(table.clone(), params);
        schema["properties"][&table]["$ref"] = json!(format!("#/$defs/{table}"));
    }
}

fn text(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("a schema serializes to JSON");
    text.push('\n');
    text
}
