//! Prompt templates: strict rendering and hashes.
//!
//! A template is a file in a stage's `prompts/` folder, named `<ask>.<language>.jinja`, embedded in the program and
//! replaceable from the pipeline file. A line `=== system ===` or `=== user ===` starts a part; each part renders to
//! the text of one message. An undefined variable is an error.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;

use crate::schema::Language;

/// Errors of prompt templates.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A user's template does not parse.
    #[error("failed to parse the prompt template `{name}`")]
    Syntax {
        /// The template's name.
        name: String,
        /// Error of minijinja.
        #[source]
        source: minijinja::Error,
    },
    /// A template does not render, for example because it uses a variable that the ask does not have.
    #[error("failed to render the prompt template `{name}`")]
    Render {
        /// Name and part of the template.
        name: String,
        /// Error of minijinja.
        #[source]
        source: minijinja::Error,
    },
    /// The pipeline file replaces a template that does not exist.
    #[error("unknown prompt template `{name}`; did you mean `{nearest}`?")]
    Unknown {
        /// Name in the pipeline file.
        name: String,
        /// The most similar known name.
        nearest: String,
    },
}

/// The embedded templates, with the user's replacements.
#[derive(Debug)]
pub struct Prompts {
    environment: Environment<'static>,
    hashes: BTreeMap<String, String>,
}

impl Prompts {
    /// Parses the embedded templates, given as (name, source), and the replacements by name.
    pub fn new(
        embedded: impl IntoIterator<Item = (&'static str, &'static str)>,
        replacements: &BTreeMap<String, String>,
    ) -> Result<Self, PromptError> {
        let embedded: BTreeMap<_, _> = embedded.into_iter().collect();
        for name in replacements.keys() {
            if !embedded.contains_key(name.as_str()) {
                let nearest = embedded.keys().max_by(|a, b| {
                    strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)).then_with(|| b.cmp(a))
                });
                return Err(PromptError::Unknown {
                    name: name.clone(),
                    nearest: nearest.map_or_else(String::new, |nearest| (*nearest).to_owned()),
                });
            }
        }
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(block_lines());
        let mut hashes = BTreeMap::new();
        for (name, source) in embedded {
            let source = replacements.get(name).map_or(source, String::as_str);
            hashes.insert(name.to_owned(), blake3::hash(source.as_bytes()).to_hex().to_string());
            for (part, text) in parts(source) {
                environment
                    .add_template_owned(format!("{name}#{part}"), text)
                    .map_err(|source| PromptError::Syntax { name: name.to_owned(), source })?;
            }
        }
        Ok(Self { environment, hashes })
    }

    /// Returns an ask's template in a language, to be filled with a record. The record is serialized once for all
    /// parts.
    pub fn filled<'a>(&'a self, ask: &'a str, language: Language, record: &impl Serialize) -> Filled<'a> {
        Filled { prompts: self, ask, language, record: Value::from(Serde(record)) }
    }

    /// Renders one part of an ask's template in a language, such as `("simulate/direct", En, "system")`, with white
    /// space trimmed at both ends.
    pub fn render(
        &self,
        ask: &str,
        language: Language,
        part: &str,
        record: &impl Serialize,
    ) -> Result<String, PromptError> {
        self.filled(ask, language, record).part(part)
    }

    /// Returns the blake3 hash of each template's source by name, for the manifest.
    #[must_use]
    pub const fn hashes(&self) -> &BTreeMap<String, String> {
        &self.hashes
    }
}

/// A template with the record to fill it with.
#[derive(Debug)]
pub struct Filled<'a> {
    prompts: &'a Prompts,
    ask: &'a str,
    language: Language,
    record: Value,
}

impl Filled<'_> {
    /// Renders a part, with white space trimmed at both ends.
    pub fn part(&self, part: &str) -> Result<String, PromptError> {
        let name = format!("{}.{}#{part}", self.ask, self.language);
        let render = || self.prompts.environment.get_template(&name)?.render(self.record.clone());
        match render() {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(source) => Err(PromptError::Render { name, source }),
        }
    }
}

/// Returns a syntax in which a block tag on a line of its own leaves no blank line.
pub(crate) fn block_lines() -> SyntaxConfig {
    SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().expect("the default delimiters are valid")
}

/// Splits a template's source at its `=== part ===` lines. Text before the first is a comment.
fn parts(source: &str) -> Vec<(String, String)> {
    let mut parts: Vec<(String, String)> = Vec::new();
    for line in source.lines() {
        if let Some(part) = line.strip_prefix("=== ").and_then(|rest| rest.strip_suffix(" ===")) {
            parts.push((part.to_owned(), String::new()));
        } else if let Some((_, text)) = parts.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATES: [(&str, &str); 1] = [(
        "room/ask.en",
        "a note\n=== system ===\nYou are {{ name }}.\n\n=== user ===\n{% for x in list %}\n- {{ x }}\n{% endfor %}\n",
    )];

    fn render(part: &str, context: &serde_json::Value) -> Result<String, PromptError> {
        Prompts::new(TEMPLATES, &BTreeMap::new())?.render("room/ask", Language::En, part, context)
    }

    #[test]
    fn each_part_is_rendered_separately() {
        assert_eq!(render("system", &serde_json::json!({"name": "薛嵩"})).expect("renders"), "You are 薛嵩.");
        assert_eq!(render("user", &serde_json::json!({"list": [1, 2]})).expect("renders"), "- 1\n- 2");
    }

    #[test]
    fn an_undefined_variable_is_an_error() {
        let error = render("system", &serde_json::json!({})).expect_err("no name");
        assert!(error.to_string().contains("room/ask.en#system"), "{error}");
    }

    #[test]
    fn a_replacement_must_name_a_template() {
        let replacements = BTreeMap::from([("room/aks.en".to_owned(), String::new())]);
        let error = Prompts::new(TEMPLATES, &replacements).expect_err("unknown name");
        assert!(error.to_string().ends_with("did you mean `room/ask.en`?"), "{error}");
    }

    #[test]
    fn a_replacement_changes_the_hash() {
        let replacements = BTreeMap::from([("room/ask.en".to_owned(), "=== user ===\nHm.".to_owned())]);
        let own = Prompts::new(TEMPLATES, &replacements).expect("parses");
        let embedded = Prompts::new(TEMPLATES, &BTreeMap::new()).expect("parses");
        assert_ne!(own.hashes()["room/ask.en"], embedded.hashes()["room/ask.en"]);
        assert_eq!(own.render("room/ask", Language::En, "user", &()).expect("renders"), "Hm.");
    }
}
