//! Validates a document against the JSON Schema of its type, with messages in terms of the file.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{ValidationError, Validator};
use schemars::JsonSchema;
use serde_json::Value;

use super::problems::{Problem, SourceSpan};
use super::{Document, child, dotted};
use crate::config::document::json_schema::inlined;

/// Reports everything that does not match the type: unknown and missing keys, wrong types, numbers out of range. `subject`
/// names the file in messages, such as `the pipeline file`.
pub(crate) fn check<T: JsonSchema>(document: &Document, subject: &str, problems: &mut Vec<Problem>) {
    let schema = inlined::<T>();
    let validator: Validator = jsonschema::validator_for(&schema).expect("a schema generated from a type is valid");
    let checker = SchemaCheck { schema: &schema, document, subject };
    for error in validator.iter_errors(&document.value) {
        checker.report(&error, problems);
    }
    checker.integers("", &document.value, problems);
}

struct SchemaCheck<'a> {
    schema: &'a Value,
    document: &'a Document,
    subject: &'a str,
}

impl SchemaCheck<'_> {
    fn report(&self, error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
        let pointer = error.instance_path().as_str();
        let node = self.node(error);
        let wrong = |found: String| {
            Problem::new(self.document.at(pointer), format!("{} is {found}", self.name(pointer)))
                .expected(describe(node))
        };
        match error.kind() {
            Kind::AdditionalProperties { unexpected } => {
                problems.extend(unexpected.iter().map(|key| self.unknown(pointer, key, node)));
            }
            Kind::Required { property } => {
                let key = property.as_str().unwrap_or_default();
                problems.extend(self.missing(pointer, key, node.pointer(&child("/properties", key)).map(describe)));
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.choose(pointer, node, context, problems),
            Kind::Enum { options } => {
                let options = options.as_array().map_or(&[][..], Vec::as_slice);
                problems.push(self.none_of(pointer, options));
            }
            Kind::Constant { expected_value } => problems.push(self.none_of(pointer, &[(**expected_value).clone()])),
            Kind::MinItems { .. } | Kind::MinLength { .. } | Kind::MinProperties { .. } => {
                problems.push(wrong("empty".to_owned()));
            }
            Kind::Type { .. } => problems.push(wrong(kind_of(error.instance()).to_owned())),
            _ => problems.push(wrong(error.instance().to_string())),
        }
    }

    /// Returns the name of a location for messages.
    fn name(&self, pointer: &str) -> String {
        if pointer.is_empty() { self.subject.to_owned() } else { format!("`{}`", dotted(pointer)) }
    }

    /// Returns the part of the schema that an error comes from.
    fn node(&self, error: &ValidationError<'_>) -> &Value {
        let path = error.schema_path().as_str();
        let parent = path.rfind('/').map_or("", |end| &path[..end]);
        self.schema.pointer(parent).unwrap_or(&Value::Null)
    }

    fn unknown(&self, pointer: &str, key: &str, node: &Value) -> Problem {
        let known: Vec<&str> = properties(node).collect();
        let table = self.name(pointer);
        let at = self.document.key(&child(pointer, key));
        let problem = Problem::new(at, format!("unknown key `{key}` in {table}")).nearest(key, known.iter().copied());
        if problem.nearest.is_some() {
            return problem;
        }
        // If no similar key exists here, the likeliest mistake is a valid key in the wrong table.
        let elsewhere = properties(self.schema).find(|table| {
            properties(self.schema.pointer(&child("/properties", table)).unwrap_or(&Value::Null))
                .any(|known| known == key)
        });
        match elsewhere {
            Some(table) => problem.expected(format!("it in `[{table}]`")),
            None => problem.expected(one_of(known.iter().map(|key| format!("`{key}`")))),
        }
    }

    fn missing(&self, pointer: &str, key: &str, expected: Option<String>) -> Option<Problem> {
        if !self.document.complete {
            return None;
        }
        let at = if pointer.is_empty() { self.document.at("") } else { self.document.key(pointer) };
        let problem = Problem::new(at, format!("{} is missing the key `{key}`", self.name(pointer)));
        Some(match expected {
            Some(expected) => problem.expected(expected),
            None => problem,
        })
    }

    fn none_of(&self, pointer: &str, options: &[Value]) -> Problem {
        let value = self.document.value.pointer(pointer).unwrap_or(&Value::Null);
        let problem = Problem::new(self.document.at(pointer), format!("{} is {value}", self.name(pointer)))
            .expected(one_of(options.iter().map(|option| format!("`{option}`"))));
        match value {
            Value::String(name) => problem.nearest(name, options.iter().filter_map(Value::as_str)),
            _ => problem,
        }
    }

    /// Reports the problems of a value that has several possible forms, relative to the form that was most likely
    /// meant.
    fn choose(
        &self,
        pointer: &str,
        node: &Value,
        context: &[Vec<ValidationError<'static>>],
        problems: &mut Vec<Problem>,
    ) {
        // A form is ruled out if its type differs, or if the tag names another form.
        let names_another = |error: &&ValidationError<'static>| matches!(error.kind(), Kind::Constant { .. });
        let is_another = |error: &ValidationError<'static>| {
            names_another(&error)
                || matches!(error.kind(), Kind::Type { .. } if error.instance_path().as_str() == pointer)
        };
        let candidates: Vec<_> = context.iter().filter(|errors| !errors.iter().any(is_another)).collect();
        // If the tag is missing, any form may be meant.
        let tags: Vec<&Value> = variants(node).filter_map(tag).collect();
        if let Some(key) = tags.first().and_then(|_| tag_key(node))
            && self.document.value.pointer(pointer).is_some_and(|value| value.is_object() && value.get(key).is_none())
        {
            problems.extend(self.missing(pointer, key, Some(one_of(tags.iter().map(|tag| format!("`{tag}`"))))));
            return;
        }
        if let Some(errors) = candidates.iter().min_by_key(|errors| errors.len()) {
            errors.iter().for_each(|error| self.report(error, problems));
            return;
        }
        if let Some(named) = context.iter().flatten().find(names_another) {
            let constants = variants(node).filter_map(|form| form.get("const"));
            let options: Vec<Value> = tags.into_iter().chain(constants).cloned().collect();
            problems.push(self.none_of(named.instance_path().as_str(), &options));
            return;
        }
        let value = self.document.value.pointer(pointer).unwrap_or(&Value::Null);
        let message = format!("{} is {}", self.name(pointer), kind_of(value));
        problems.push(Problem::new(self.document.at(pointer), message).expected(describe(node)));
    }

    /// Reports numbers such as `3.0` where an integer is expected: JSON Schema accepts them, serde does not.
    fn integers(&self, pointer: &str, value: &Value, problems: &mut Vec<Problem>) {
        match value {
            Value::Object(object) => {
                object.iter().for_each(|(key, value)| self.integers(&child(pointer, key), value, problems));
            }
            Value::Array(items) => {
                let indexed = items.iter().enumerate();
                indexed.for_each(|(index, item)| self.integers(&child(pointer, &index.to_string()), item, problems));
            }
            Value::Number(number) if number.as_f64().is_some_and(|f| f.fract() == 0.0) && number.is_f64() => {
                let nodes = nodes(self.schema, pointer);
                if let Some(node) = nodes.first().filter(|_| nodes.iter().all(|node| takes(node, "integer"))) {
                    let message = format!("{} is {number}", self.name(pointer));
                    problems.push(Problem::new(self.document.at(pointer), message).expected(describe(node)));
                }
            }
            _ => {}
        }
    }
}

/// Removes problems on lines with syntax errors, since their values are unreliable.
pub(crate) fn forgive_broken_lines(sources: &[(String, String)], broken: &[SourceSpan], problems: &mut Vec<Problem>) {
    let line = |source: usize, offset: usize| {
        let text = &sources[source].1;
        text[..text.floor_char_boundary(offset)].matches('\n').count()
    };
    problems.retain(|problem| {
        !broken.iter().any(|at| {
            at.source == problem.source && line(at.source, at.span.start) == line(at.source, problem.span.start)
        })
    });
}

/// Returns the possible forms of a value.
fn variants(node: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|key| node.get(key)?.as_array()).flatten()
}

/// Returns the key whose value names the form, if the forms are tagged.
fn tag_key(node: &Value) -> Option<&str> {
    variants(node).find_map(|variant| {
        let properties = variant.get("properties")?.as_object()?;
        properties.iter().find(|(_, schema)| schema.get("const").is_some()).map(|(key, _)| key.as_str())
    })
}

/// Returns the tag value of a form.
fn tag(variant: &Value) -> Option<&Value> {
    variant.get("properties")?.as_object()?.values().find_map(|schema| schema.get("const"))
}

fn properties(node: &Value) -> impl Iterator<Item = &str> {
    node.get("properties").and_then(Value::as_object).into_iter().flat_map(|object| object.keys().map(String::as_str))
}

/// Returns the possible schemas of a location, one per form of its parents.
fn nodes<'s>(schema: &'s Value, pointer: &str) -> Vec<&'s Value> {
    let mut nodes = vec![schema];
    for key in pointer.split('/').skip(1) {
        let key = key.replace("~1", "/").replace("~0", "~");
        let with_forms = nodes.into_iter().flat_map(|node| std::iter::once(node).chain(variants(node)));
        nodes = with_forms
            .filter_map(|node| {
                node.get("properties")
                    .and_then(|properties| properties.get(&key))
                    .or_else(|| node.get("additionalProperties").filter(|schema| schema.is_object()))
                    .or_else(|| node.get("items"))
            })
            .collect();
    }
    nodes
}

fn takes(node: &Value, kind: &str) -> bool {
    match node.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|any| any == kind),
        _ => false,
    }
}

/// Describes in words what a schema accepts.
fn describe(node: &Value) -> String {
    if let Some(options) = node.get("enum").and_then(Value::as_array) {
        return one_of(options.iter().filter(|option| !option.is_null()).map(|option| format!("`{option}`")));
    }
    if let Some(only) = node.get("const") {
        return format!("`{only}`");
    }
    let mut forms: Vec<String> = variants(node).filter(|form| !takes(form, "null")).map(describe).collect();
    forms.dedup();
    if !forms.is_empty() {
        return one_of(forms);
    }
    let bound = |key: &str| node.get(key).and_then(Value::as_f64);
    let range = |noun: &str| match (bound("minimum"), bound("maximum")) {
        (Some(min), Some(max)) if max < 4e9 => format!("{noun} from {min} to {max}"),
        (Some(min), _) => format!("{noun} of at least {min}"),
        (None, Some(max)) => format!("{noun} of at most {max}"),
        (None, None) => noun.to_owned(),
    };
    if takes(node, "integer") {
        range("an integer")
    } else if takes(node, "number") {
        range("a number")
    } else if takes(node, "string") {
        "a string".to_owned()
    } else if takes(node, "boolean") {
        "`true` or `false`".to_owned()
    } else if takes(node, "array") {
        match node.get("items").map(describe).as_deref() {
            Some("a string") => "a list of strings".to_owned(),
            Some("a table") => "a list of tables".to_owned(),
            _ => "a list".to_owned(),
        }
    } else {
        let keys: Vec<&str> =
            node.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        match keys.as_slice() {
            [] => "a table".to_owned(),
            ["en", "zh"] => "a table by language `{ en = …, zh = … }`".to_owned(),
            keys => format!("a table with `{}`", keys.join("`, `")),
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

/// Joins words with commas, and `or` before the last.
pub(crate) fn one_of(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = words.into_iter().collect();
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
