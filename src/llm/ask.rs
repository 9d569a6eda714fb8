//! The trait of typed questions to a model.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::prompt::{PromptError, Prompts};
use crate::schema::Message;

/// Format of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// JSON that matches a schema; the schema is sent to the server and checked on the reply.
    Json(Value),
    /// Plain text; the answer type is a `String`.
    Text,
}

/// A question to a model: an input record (the implementing type), an answer record, a prompt template, and an offline
/// answer.
pub trait Ask: Send + Sync {
    /// `<stage>/<ask>`: the name of the template, and part of every journal key.
    const NAME: &'static str;

    /// Type of the answer.
    type Answer: Serialize + DeserializeOwned + JsonSchema + Send;

    /// Renders the messages, with the stable part first, so that a later turn extends an earlier prompt and can use a
    /// prefix cache.
    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError>;

    /// Returns the format of the reply: the answer's schema by default. An ask may restrict it, for example to the
    /// possible names.
    fn shape(&self) -> Shape {
        Shape::Json(schema_of::<Self::Answer>())
    }

    /// Converts a value that does not match the schema to one that does, if the ask knows what was meant. The answer is
    /// still parsed from the original value.
    fn coerce(&self, _value: &Value) -> Option<Value> {
        None
    }

    /// Validates what a schema cannot express. The error text is shown to the model when it is asked again.
    fn check(&self, _answer: &Self::Answer) -> Result<(), String> {
        Ok(())
    }
}

/// Returns the JSON Schema of a type in the form required by strict modes: all objects closed, all keys required, no
/// references.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    close(&mut schema);
    schema
}

/// Closes every object of a schema and requires all of its keys, because strict modes have no optional keys (optional
/// answers are nullable instead). Removes keywords that strict modes do not support.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                let keys: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
                object.insert("required".to_owned(), Value::Array(keys));
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            if object.get("title").is_some_and(Value::is_string) {
                object.remove("title");
            }
            if object.get("format").is_some_and(Value::is_string) {
                object.remove("format");
            }
            object.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
