//! Checks that enumerated values are valid and that required values are present.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Group;
use super::findings::Findings;
use super::findings::Remedy;
use crate::config::Check;
use crate::config::document::json_schema::inlined;
use crate::schema::{Character, Conversation, Reject, RoleGeneral, RoleProfile, RoleSpecific, Sample, Scene};

/// The allowed values in the columns of a config.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// By path of a text, such as `messages[].role`: the allowed words.
    words: BTreeMap<String, Vec<String>>,
    /// Text columns that must not be null.
    needed: Vec<String>,
}

impl Values {
    /// Reads the schema of a config's record type; for unknown configs nothing is checked.
    pub(super) fn new(config: &str) -> Self {
        let schema = match config {
            "samples" => inlined::<Sample>(),
            "conversations" => inlined::<Conversation>(),
            "scenes" => inlined::<Scene>(),
            "characters" => inlined::<Character>(),
            "roles" => inlined::<RoleProfile>(),
            "role_specific" => inlined::<RoleSpecific>(),
            "role_general" => inlined::<RoleGeneral>(),
            "rejected" => inlined::<Reject>(),
            _ => return Self::default(),
        };
        let mut values = Self::default();
        for (column, schema) in schema["properties"].as_object().into_iter().flatten() {
            words(column, schema, &mut values.words);
            // Missing ids and references are reported by other checks.
            let is_name = column == "id" || column.ends_with("_id");
            if !is_name && (schema["type"] == "string" || (of(schema).is_some() && !takes_null(schema))) {
                values.needed.push(column.clone());
            }
        }
        values
    }

    /// Checks the rows of a group.
    pub(super) fn check(&self, group: &Group<'_>, findings: &mut Findings) {
        for column in &self.needed {
            let Some(texts) = group.texts(column) else { continue };
            for row in (0..group.height).filter(|row| texts.text(*row).is_none()) {
                findings.add(
                    group.location(Check::Schema, row, column),
                    &format!("the row has no `{column}`"),
                    Remedy::CorrectValue,
                );
            }
        }
        let mut path = String::new();
        for (column, cells) in &group.columns {
            if !self.words.keys().any(|path| path.split(['[', '.']).next() == Some(column)) {
                continue;
            }
            for row in 0..group.height {
                path.clone_from(column);
                cells.each_text(row, &mut path, &mut |path, text| {
                    let Some(words) = self.words.get(path).filter(|words| !words.iter().any(|word| word == text))
                    else {
                        return;
                    };
                    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                    let message = format!("`{text}` is not one of {}", words.join(", "));
                    findings.add(group.location(Check::Schema, row, path), &message, Remedy::CorrectValue);
                });
            }
        }
    }
}

/// Collects the allowed words of all texts below a schema.
fn words(path: &str, schema: &Value, found: &mut BTreeMap<String, Vec<String>>) {
    if let Some(words) = of(schema) {
        found.insert(path.to_owned(), words);
    }
    for part in schema["anyOf"].as_array().into_iter().flatten() {
        words(path, part, found);
    }
    if schema["items"].is_object() {
        words(&format!("{path}[]"), &schema["items"], found);
    }
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        words(&format!("{path}.{field}"), schema, found);
    }
}

/// Returns the words of a schema that is an enumeration.
fn of(schema: &Value) -> Option<Vec<String>> {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(listed) = schema["enum"].as_array() {
        return Some(listed.iter().filter_map(word).collect());
    }
    schema["oneOf"].as_array()?.iter().map(|one| word(&one["const"])).collect()
}

fn takes_null(schema: &Value) -> bool {
    let is_null = |value: &Value| value.is_null() || value["type"] == "null";
    ["enum", "anyOf"].iter().any(|key| schema[key].as_array().is_some_and(|all| all.iter().any(is_null)))
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn allowed_values_come_from_the_record_types() {
        let values = Values::new("samples");
        assert_eq!(values.words["language"], ["en", "zh"]);
        assert_eq!(values.words["character_type"], ["established", "synthesized"]);
        assert_eq!(values.words["messages[].role"], ["system", "user", "assistant"]);
        assert_eq!(values.words["scene_characters[].profile[].visibility"], ["public", "private"]);
        for needed in ["book", "character_type", "dimension", "reference", "language"] {
            assert!(values.needed.iter().any(|column| column == needed), "{needed}");
        }
        for free in ["id", "scene_id", "target", "edit_reason", "score"] {
            assert!(!values.needed.iter().any(|column| column == free), "{free}");
        }
        let values = Values::new("conversations");
        assert_eq!(values.words["quality"], ["poor", "moderate", "high"], "null is allowed");
        assert_eq!(values.words["turns[].kept_reply"], ["source", "base"]);
        assert!(!values.needed.iter().any(|column| column == "quality"));
        assert!(Values::new("other").words.is_empty());
    }
}
