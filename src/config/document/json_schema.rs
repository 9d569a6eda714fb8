//! Generates the JSON Schema of a type.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// Returns a type's schema without `$ref`s, so that an error's schema path leads to the violated part.
pub(crate) fn inlined<T: JsonSchema>() -> Value {
    let settings = settings().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

pub(crate) fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(bounds))
        .with_transform(RecursiveTransform(unwrap_lines))
}

/// Adds the upper bounds of integer types, which `format` alone does not enforce.
fn bounds(schema: &mut Schema) {
    let max = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => json!(u8::MAX),
        Some("uint32") => json!(u32::MAX),
        _ => return,
    };
    let object = schema.ensure_object();
    object.entry("maximum").or_insert(max);
}

/// Joins the lines of wrapped doc comments.
fn unwrap_lines(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let paragraphs: Vec<String> = description.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *description = paragraphs.join("\n\n");
    }
}
