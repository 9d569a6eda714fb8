//! The ask of the judge.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::llm::{Ask, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Attribute, CastMember, Language, Line, Message};

/// A dimension as shown to the judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// Its code.
    pub code: String,
    /// Its name in the judge's language.
    pub name: String,
    /// Its definition in the judge's language.
    pub definition: String,
}

/// Asks the judge which dimension fits the context, and which of two replies is better on it (FURINA 3.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judge {
    /// The language of the prompt.
    pub language: Language,
    /// The test character's name.
    pub name: String,
    /// The test character's full profile.
    pub profile: Vec<Attribute>,
    /// Example lines of the test character.
    pub lines: Vec<String>,
    /// The other characters present, with public attributes only.
    pub others: Vec<CastMember>,
    /// The situation.
    pub situation: String,
    /// The conversation so far.
    pub history: Vec<Line>,
    /// The dimensions to choose from.
    pub criteria: Vec<Criterion>,
    /// The reply shown first.
    pub first: String,
    /// The reply shown second.
    pub second: String,
    /// Code of the target dimension, if the judge is given it.
    pub hint: Option<String>,
}

/// The judge's answer: reasons before verdicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// Why the context calls for this dimension.
    pub dimension_reason: String,
    /// The code of the dimension.
    pub dimension: String,
    /// How the two replies compare on it.
    pub comparison: String,
    /// 1: the first is much better … 3: alike … 5: the second is much better.
    #[schemars(range(min = 1, max = 5))]
    pub score: u8,
}

impl Ask for Judge {
    const NAME: &'static str = "select/judge";
    type Answer = Judgement;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let filled = prompts.filled(Self::NAME, self.language, self);
        Ok(vec![Message::system(filled.part("system")?), Message::user(filled.part("user")?)])
    }

    fn shape(&self) -> Shape {
        static SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<Judgement>);
        let mut schema = SCHEMA.clone();
        let codes: Vec<&str> = self.criteria.iter().map(|criterion| criterion.code.as_str()).collect();
        schema["properties"]["dimension"]["enum"] = json!(codes);
        schema["properties"]["score"] = json!({
            "description": schema["properties"]["score"]["description"],
            "type": "integer",
            "enum": [1, 2, 3, 4, 5],
        });
        Shape::Json(schema)
    }
}
