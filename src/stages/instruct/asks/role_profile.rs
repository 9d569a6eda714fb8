//! The questions behind a role's profile: how distinct its speech is, who it is, and its catchphrases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::llm::{Ask, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Attribute, Distinctness, Language, Message};
use crate::stages::instruct::role::Phrase;
use crate::text::{check_language, has_name, length};

/// The maximum length of a description in English words; 1.5 times as many Chinese characters.
const LONGEST_DESCRIPTION: usize = 300;

/// Can a role be recognized by its words alone? (Appendix K.3.)
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GradeVoice {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Sample lines of the role.
    pub lines: Vec<String>,
    /// Sample lines of others in the same book.
    pub others: Vec<String>,
}

/// A grade: the reason before the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grade {
    /// What in its words gives it away, or why nothing does.
    pub reason: String,
    /// The verdict.
    pub distinctness: Distinctness,
}

/// Who is a role? In the third person and without its name (Appendix D, 2; K.4, first step).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DescribeRole {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name, which the description must not contain.
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// Its profile.
    pub profile: Vec<Attribute>,
    /// Sample lines of the role.
    pub lines: Vec<String>,
}

/// Who are you? The same description in the second person (K.4, second step).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddressRole {
    /// The language of the prompt.
    pub language: Language,
    /// The description in the third person.
    pub portrait: String,
}

/// Which of these phrases are catchphrases? (Appendix D, 2; K.4.) The phrases are counted, so that the model need not
/// remember the book.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChooseCatchphrases {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// The phrases it uses much more often than others.
    pub phrases: Vec<Phrase>,
    /// The maximum number to choose.
    pub most: u32,
}

/// The catchphrases: the reason before the choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Catchphrases {
    /// What makes these a habit of speech and the others not.
    pub reason: String,
    /// The phrases, as they were given; none where none is a catchphrase.
    pub catchphrases: Vec<String>,
}

/// Renders the parts `system` and `user` of a template.
pub(super) fn two_parts<A: Ask + Serialize>(
    ask: &A,
    language: Language,
    prompts: &Prompts,
) -> Result<Vec<Message>, PromptError> {
    let part = |part| prompts.render(A::NAME, language, part, ask);
    Ok(vec![Message::system(part("system")?), Message::user(part("user")?)])
}

impl Ask for GradeVoice {
    const NAME: &'static str = "instruct/grade";
    type Answer = Grade;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        two_parts(self, self.language, prompts)
    }
}

impl Ask for DescribeRole {
    const NAME: &'static str = "instruct/describe";
    type Answer = String;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        two_parts(self, self.language, prompts)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn check(&self, answer: &String) -> Result<(), String> {
        described(answer, self.language)?;
        // `Ann` is not in `manner`, nor is `Will` in `will`.
        let has = |name: &str| match self.language {
            Language::Zh => has_name(answer, name),
            Language::En => answer.match_indices(name).any(|(at, _)| {
                let neighbours = [answer[..at].chars().next_back(), answer[at + name.len()..].chars().next()];
                !neighbours.into_iter().flatten().any(char::is_alphanumeric)
            }),
        };
        match self.telling_names().into_iter().find(|name| name.chars().count() > 1 && has(name)) {
            Some(_) => Err("the description must not have the character's name or nickname".to_owned()),
            None => Ok(()),
        }
    }
}

impl DescribeRole {
    /// Returns the name and those aliases that share a part with it: `the ferrywoman` could be anyone.
    pub(crate) fn telling_names(&self) -> Vec<&str> {
        let shares = |alias: &str| match self.language {
            Language::En => alias.split_whitespace().any(|word| self.name.split_whitespace().any(|own| own == word)),
            Language::Zh => alias.chars().any(|c| self.name.contains(c)),
        };
        let aliases = self.aliases.iter().map(String::as_str).filter(|alias| shares(alias));
        std::iter::once(self.name.as_str()).chain(aliases).collect()
    }
}

impl Ask for AddressRole {
    const NAME: &'static str = "instruct/address";
    type Answer = String;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        two_parts(self, self.language, prompts)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn check(&self, answer: &String) -> Result<(), String> {
        described(answer, self.language)
    }
}

/// Validates a description.
fn described(answer: &str, language: Language) -> Result<(), String> {
    check_language(answer, language)?;
    let most = if language == Language::Zh { LONGEST_DESCRIPTION * 3 / 2 } else { LONGEST_DESCRIPTION };
    match length(answer, language) {
        size if size > most => Err(format!("the description has a length of {size}; it must stay below {most}")),
        _ => Ok(()),
    }
}

impl Ask for ChooseCatchphrases {
    const NAME: &'static str = "instruct/catchphrases";
    type Answer = Catchphrases;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        two_parts(self, self.language, prompts)
    }

    fn shape(&self) -> Shape {
        let mut schema = schema_of::<Catchphrases>();
        let phrases: Vec<&str> = self.phrases.iter().map(|phrase| phrase.text.as_str()).collect();
        schema["properties"]["catchphrases"]["items"]["enum"] = json!(phrases);
        schema["properties"]["catchphrases"]["maxItems"] = json!(self.most);
        Shape::Json(schema)
    }
}
