//! The generated reference pages under `docs/reference/`: every key of a pipeline file and every column of a data set.

use std::fmt::Write as _;

use serde_json::Value;

use super::schemas::schemas;
use crate::stages::export::{ALL_CONFIGS, column_notes};

const KEY_TABLE: &str = "\n| key | type | default | meaning |\n|---|---|---|---|\n";
const COLUMN_TABLE: &str = "\n| column | type | meaning |\n|---|---|---|\n";

/// Returns the path below `docs/reference/` and the text of every page, sorted by path.
#[must_use]
pub fn reference_pages() -> Vec<(String, String)> {
    vec![("dataset.md".to_owned(), dataset()), ("pipeline.md".to_owned(), pipeline())]
}

fn dataset() -> String {
    let mut text = String::from(
        "# Data set: all columns\n\nGenerated from the program's types; do not edit. [dataset.md](../dataset.md) explains how to use \
         a data set. `column[].field` is a field of the structs in a list. All columns are nullable. With `export.canary` every \
         config has a last column `canary`.\n",
    );
    for config in ALL_CONFIGS {
        let _ = write!(text, "\n## {config}\n{COLUMN_TABLE}");
        for note in column_notes(config).expect("an empty table of the program's own columns is valid") {
            let _ = writeln!(text, "| `{}` | `{}` | {} |", note.path, note.kind, cell(&note.description));
        }
    }
    text
}

fn pipeline() -> String {
    let (_, schema) = schemas().into_iter().find(|(name, _)| name == "pipeline.schema.json").expect("it is generated");
    let root: Value = serde_json::from_str(&schema).expect("a schema is JSON");
    let schema = Node { value: &root, root: &root };
    let mut text = String::from(
        "# Pipeline file: all keys\n\nGenerated from the program's types; do not edit. [pipeline.md](../pipeline.md) explains how to \
         write a pipeline file. A key without a default is optional and unset, unless it is marked as required.\n\n## Top level\n",
    );
    text.push_str(KEY_TABLE);
    for (key, property) in schema.properties().filter(|(key, property)| *key != "models" && !property.is_table()) {
        row(schema, key, key, property, &mut text);
    }
    for (key, property) in schema.properties() {
        if key == "models" {
            models(property, &mut text);
        } else if property.is_table() {
            let _ = write!(text, "\n## {key}\n\n{}\n{KEY_TABLE}", property.description());
            rows(property.resolved(), &format!("{key}."), &mut text);
        }
    }
    text
}

/// Adds a section for each provider of models.
fn models(property: Node<'_>, text: &mut String) {
    let _ = write!(text, "\n## models\n\n{} Each model is a table `[models.<name>]`.\n", property.description());
    for provider in property.at(&property.value["additionalProperties"]).resolved().alternatives() {
        let provider = provider.resolved();
        let name = &provider.value["properties"]["provider"]["const"];
        let _ = write!(text, "\n### provider = {name}\n\n{}\n{KEY_TABLE}", provider.description());
        rows(provider, "", text);
    }
}

/// Adds a row for each key of a table, and for the keys of tables within it.
fn rows(table: Node<'_>, prefix: &str, text: &mut String) {
    for (key, property) in table.properties() {
        let name = format!("{prefix}{key}");
        row(table, key, &name, property, text);
        let inner = property.resolved();
        let (inner, separator) = match &inner.value["items"] {
            Value::Null => (inner, "."),
            items => (inner.at(items).resolved(), "[]."),
        };
        let mut tables = inner.alternatives();
        tables.push(inner);
        for table in tables.into_iter().map(Node::resolved).filter(|table| !table.is_by_language()) {
            rows(table, &format!("{name}{separator}"), text);
        }
    }
}

fn row(table: Node<'_>, key: &str, name: &str, property: Node<'_>, text: &mut String) {
    let inner = property.resolved();
    let default = match property.value.get("default") {
        Some(default) if !default.is_null() => format!("`{}`", toml(default)),
        _ if table.requires(key) => "required".to_owned(),
        _ => String::new(),
    };
    let mut description = property.description();
    if description.is_empty() {
        description = inner.description();
    }
    for choice in inner.alternatives() {
        if let (Some(value), false) = (choice.value.get("const"), choice.description().is_empty()) {
            let _ = write!(description, " `{value}`: {}", choice.description());
        }
    }
    let kind = cell(&property.type_name());
    let _ = writeln!(text, "| `{name}` | {kind} | {} | {} |", cell(&default), cell(&description));
}

/// A part of a JSON Schema, with the root that its references point into.
#[derive(Clone, Copy)]
struct Node<'a> {
    value: &'a Value,
    root: &'a Value,
}

impl<'a> Node<'a> {
    fn at(self, value: &'a Value) -> Self {
        Self { value, root: self.root }
    }

    /// Follows a `$ref`, and enters the only alternative of a nullable schema.
    fn resolved(self) -> Self {
        if let Some(reference) = self.value["$ref"].as_str() {
            return self.at(&self.root["$defs"][reference.trim_start_matches("#/$defs/")]).resolved();
        }
        match &self.alternatives()[..] {
            [only] => only.resolved(),
            _ => self,
        }
    }

    /// Returns the alternatives of `anyOf` or `oneOf`, without null.
    fn alternatives(self) -> Vec<Self> {
        let listed = self.value["anyOf"].as_array().or_else(|| self.value["oneOf"].as_array());
        listed.into_iter().flatten().filter(|value| value["type"] != "null").map(|value| self.at(value)).collect()
    }

    fn description(self) -> String {
        self.value["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn properties(self) -> impl Iterator<Item = (&'a str, Self)> {
        let properties = self.value["properties"].as_object().into_iter().flatten();
        properties.map(move |(key, value)| (key.as_str(), self.at(value)))
    }

    fn requires(self, key: &str) -> bool {
        self.value["required"].as_array().is_some_and(|keys| keys.iter().any(|required| required == key))
    }

    fn is_table(self) -> bool {
        self.resolved().properties().next().is_some()
    }

    /// Returns whether it is a table with one value per language.
    fn is_by_language(self) -> bool {
        let has = |language: &str| self.value["properties"].get(language).is_some();
        has("en") && has("zh")
    }

    fn type_name(self) -> String {
        let node = self.resolved();
        if let Some(value) = node.value.get("const") {
            return format!("`{value}`");
        }
        let alternatives = node.alternatives();
        if !alternatives.is_empty() {
            return alternatives.into_iter().map(Self::type_name).collect::<Vec<_>>().join(" or ");
        }
        let kind = match &node.value["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").unwrap_or(&Value::Null),
            kind => kind,
        };
        match kind.as_str().unwrap_or("value") {
            "array" => format!("list of {}", node.at(&node.value["items"]).type_name()),
            "object" if node.is_by_language() => {
                format!("table with `en` and `zh`: {}", node.at(&node.value["properties"]["en"]).type_name())
            }
            "object" => "table".to_owned(),
            number @ ("integer" | "number") => format!("{number}{}", node.range()),
            other => other.to_owned(),
        }
    }

    /// Returns the range of a number. The upper bound of its integer type is omitted.
    fn range(self) -> String {
        let bound = |key: &str| self.value[key].as_f64().filter(|bound| *bound < f64::from(u32::MAX));
        match (bound("minimum"), bound("maximum")) {
            (Some(least), Some(most)) => format!(", {least} to {most}"),
            (Some(least), None) => format!(" ≥ {least}"),
            (None, Some(most)) => format!(" ≤ {most}"),
            (None, None) => String::new(),
        }
    }
}

/// Writes a JSON value as TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let pairs: Vec<String> = map.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// Escapes a text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Node, toml};

    #[test]
    fn types_are_in_words() {
        let root = json!({"$defs": {"Share": {"type": ["number", "null"], "minimum": 0.0, "maximum": 1.0}}});
        let cases = [
            (json!({"$ref": "#/$defs/Share"}), "number, 0 to 1"),
            (json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}), "integer ≥ 1"),
            (json!({"type": "array", "items": {"type": "string"}}), "list of string"),
            (json!({"anyOf": [{"$ref": "#/$defs/Share"}, {"type": "null"}]}), "number, 0 to 1"),
            (json!({"oneOf": [{"const": "lane"}, {"const": "character"}]}), "`\"lane\"` or `\"character\"`"),
            (
                json!({"type": "object", "properties": {"en": {"type": "integer"}, "zh": {"type": "integer"}}}),
                "table with `en` and `zh`: integer",
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(Node { value: &value, root: &root }.type_name(), expected);
        }
    }

    #[test]
    fn defaults_are_in_toml() {
        assert_eq!(toml(&json!({"en": 5, "zh": ["a", 0.5]})), r#"{ en = 5, zh = ["a", 0.5] }"#);
    }
}
