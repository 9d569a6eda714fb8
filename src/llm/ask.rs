//! One typed question, and the two ways to answer it.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Offline;
use crate::prompt::{PromptError, Prompts};
use crate::schema::Message;

/// What form a reply has.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// JSON that fits a schema; it is sent to the server and checked on the reply.
    Json(Value),
    /// Plain text; the answer type is a `String`.
    Text,
}

/// A question to a model: an input record (the implementing type), an answer record, a template, and an offline answer.
pub trait Ask: Send + Sync {
    /// `<stage>/<ask>`; the template's name, and part of every journal key.
    const NAME: &'static str;

    /// What comes back.
    type Answer: Serialize + DeserializeOwned + JsonSchema + Send;

    /// Renders the request, stable part first, so that a later turn extends an earlier prompt.
    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError>;

    /// Returns the form of the reply: the answer's schema, or one that an ask narrows with the names that are possible now.
    fn shape(&self) -> Shape {
        Shape::Json(schema_of::<Self::Answer>())
    }

    /// Returns a value that does not fit the schema as one that does, where the ask itself knows what is meant. The answer is what
    /// the model gave all the same.
    fn meant(&self, _value: &Value) -> Option<Value> {
        None
    }

    /// Checks what a schema cannot say. The text of an error is shown to the model when it is asked again.
    fn check(&self, _answer: &Self::Answer) -> Result<(), String> {
        Ok(())
    }

    /// Answers in this process, from the input record and a seeded generator alone. Must pass [`check`](Self::check) and the schema.
    fn offline(&self, offline: &mut Offline<'_>) -> Self::Answer;
}

/// Returns the JSON Schema of a type in the form that strict modes take: every object closed, every key required,
/// nothing referenced.
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

/// Closes every object of a schema and requires all of its keys, since strict modes know no optional key (optional
/// answers are nullable instead); drops what they do not know.
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
