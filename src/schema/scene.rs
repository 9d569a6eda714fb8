//! A scene of a book that a test character can step into.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attribute, Language};

/// One scene of the pool: background, motivations, original dialogue and cast (FURINA 3.2: B, M, D and C).
///
/// A scene that people write needs an id, a book, a language, a situation and a cast; the rest may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// `<book slug>@<start>`; scenes that people write carry their own.
    pub id: String,
    /// The slug of its book; for a scene of no book any word, such as `custom`.
    pub book: String,
    /// Its language.
    pub language: Language,
    /// The heading of the chapter that it begins in; empty before the first.
    #[serde(default)]
    pub chapter: String,
    /// Where it begins, in code points of the decoded text; null for scenes that people write.
    pub start: Option<u32>,
    /// Where it ends; null for scenes that people write.
    pub end: Option<u32>,
    /// What happens in it, in a few sentences.
    #[serde(default)]
    pub summary: String,
    /// How much the plot matters to the book, from 1 (in passing) to 100 (what the book turns on); null where nobody has said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub prominence: Option<u8>,
    /// The world of the book, as far as the scene needs it.
    #[serde(default)]
    pub worldview: String,
    /// Where and when it is, who is there and what has just happened.
    pub situation: String,
    /// What each of the cast wants.
    #[serde(default)]
    pub motivations: Vec<Motivation>,
    /// The cast, each with the profile as it stands at this point of the story.
    #[schemars(length(min = 1))]
    pub characters: Vec<SceneCharacter>,
    /// The dialogue as in the book.
    #[serde(default)]
    pub dialogue: Vec<Utterance>,
    /// The share of its lines of speech that were found in the book, 0 to 1; null for scenes that people write.
    pub grounding: Option<f64>,
    /// The model that extracted it; null for scenes that people write.
    pub model: Option<String>,
}

/// What tells a scene from the others of a pool: what lists show and lanes choose by, without the texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SceneHead {
    /// Its id.
    pub id: String,
    /// The slug of its book.
    pub book: String,
    /// The heading of the chapter that it begins in.
    pub chapter: String,
    /// Its language.
    pub language: Language,
    /// Where it begins, in code points of the decoded text.
    pub start: Option<u32>,
    /// Where it ends.
    pub end: Option<u32>,
    /// How much the plot matters to the book, 1 to 100.
    pub prominence: Option<u8>,
    /// The names of its cast.
    pub cast: Vec<String>,
    /// How many utterances its dialogue has.
    pub lines: u32,
    /// The share of its lines of speech that were found in the book.
    pub grounding: Option<f64>,
    /// Whether somebody wrote it for the pool; only who reads a pool knows.
    #[serde(skip)]
    pub is_custom: bool,
}

impl From<Scene> for SceneHead {
    fn from(scene: Scene) -> Self {
        let mut cast: Vec<String> = scene.characters.into_iter().map(|character| character.name).collect();
        // The list would keep the room that the characters took.
        cast.shrink_to_fit();
        Self {
            id: scene.id,
            book: scene.book,
            chapter: scene.chapter,
            language: scene.language,
            start: scene.start,
            end: scene.end,
            prominence: scene.prominence,
            cast,
            lines: u32::try_from(scene.dialogue.len()).unwrap_or(u32::MAX),
            grounding: scene.grounding,
            is_custom: false,
        }
    }
}

/// What a character of a scene wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motivation {
    /// The character's name.
    pub character: String,
    /// What it wants, and what stands in its way.
    pub motivation: String,
}

/// A character of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneCharacter {
    /// Its name in the scene.
    pub name: String,
    /// Other names that it goes by.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What is known of it at this point of the story.
    #[serde(default)]
    pub profile: Vec<Attribute>,
}

/// How a line of speech was found in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grounded {
    /// Word for word, white space and marks aside.
    Exact,
    /// Much alike; `similarity` says how much.
    Near,
    /// Not at all.
    Absent,
}

impl Grounded {
    /// Returns the word that files use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Near => "near",
            Self::Absent => "absent",
        }
    }
}

/// Something said, done or thought in a scene. The speaker `Environment` stands for what happens by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Utterance {
    /// A name of the cast, or `Environment`.
    pub speaker: String,
    /// What it thinks, unheard by the others.
    pub thought: Option<String>,
    /// What it does.
    pub action: Option<String>,
    /// What it says.
    pub speech: Option<String>,
    /// Where the speech begins in the book, in code points; null when it was not found.
    pub start: Option<u32>,
    /// Where it ends.
    pub end: Option<u32>,
    /// How the speech was found; null without speech.
    pub grounded: Option<Grounded>,
    /// Likeness to what stands in the book, 0 to 1; null without speech.
    pub similarity: Option<f64>,
}

impl Utterance {
    /// The speaker of what happens by itself.
    pub const ENVIRONMENT: &'static str = "Environment";

    /// Returns the utterance as one line: an action in parentheses, then the speech.
    #[must_use]
    pub fn content(&self) -> String {
        match (&self.action, &self.speech) {
            (Some(action), Some(speech)) => format!("({action}) {speech}"),
            (Some(action), None) => format!("({action})"),
            (None, Some(speech)) => speech.clone(),
            (None, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_by_hand_needs_what_a_person_knows() {
        let text = r#"
            id = "渡口夜话"
            book = "custom"
            language = "zh"
            situation = "夜里，渡口，两个人等船。"
            [[characters]]
            name = "老周"
            [[characters]]
            name = "阿满"
            profile = [{ key = "身份", value = "船工", visibility = "public" }]
            [[dialogue]]
            speaker = "老周"
            speech = "船还来么？"
        "#;
        let scene: Scene = toml::from_str(text).expect("nothing else is asked for");
        assert_eq!((scene.start, scene.end, scene.grounding, scene.model), (None, None, None, None));
        assert!(scene.motivations.is_empty() && scene.worldview.is_empty());
        assert_eq!((scene.dialogue[0].grounded, scene.dialogue[0].content().as_str()), (None, "船还来么？"));
        for line in ["id =", "book =", "language =", "situation ="] {
            let rest: Vec<&str> = text.lines().filter(|other| !other.trim_start().starts_with(line)).collect();
            let error = toml::from_str::<Scene>(&rest.join("\n")).expect_err(line).to_string();
            assert!(error.contains("missing field"), "{error}");
        }
    }
}
