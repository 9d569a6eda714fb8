//! Scenes of the scene pool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SceneId;
use super::character::Attribute;
use super::language::Language;

/// A scene of the pool: background, motivations, original dialogue and characters (B, M, D and C in FURINA, section
/// 3.2).
///
/// A manually written scene needs an id, a book, a language, a situation and characters; everything else is optional.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// `<book slug>@<start>`; a unique id of your choice in manually written scenes.
    pub id: SceneId,
    /// Slug of its book, or any word such as `custom` if the scene is not from a book.
    pub book: String,
    /// Language of the scene.
    pub language: Language,
    /// Heading of the chapter in which it starts; empty before the first heading.
    #[serde(default)]
    pub chapter: String,
    /// Start in code points of the decoded text; null in manually written scenes.
    pub start: Option<u32>,
    /// End in code points of the decoded text (exclusive); null in manually written scenes.
    pub end: Option<u32>,
    /// Summary of the events, in a few sentences.
    #[serde(default)]
    pub summary: String,
    /// Importance of the scene to the plot of the book, from 1 (incidental) to 100 (a turning point); null if unrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub salience: Option<u8>,
    /// The world of the book, as far as it matters for the scene.
    #[serde(default)]
    pub worldview: String,
    /// Place, time, characters present, and preceding events.
    pub situation: String,
    /// What each character wants.
    #[serde(default)]
    pub motivations: Vec<Motivation>,
    /// The characters, each with its profile at this point of the story.
    #[schemars(length(min = 1))]
    pub characters: Vec<SceneCharacter>,
    /// The dialogue as in the book.
    #[serde(default)]
    pub dialogue: Vec<Utterance>,
    /// Fraction of its utterances with speech that were found in the book, 0 to 1; null in manually written scenes.
    pub grounding: Option<f64>,
    /// Model that extracted the scene; null in manually written scenes.
    pub model: Option<String>,
}

/// A scene without its texts, for lists and for selecting scenes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SceneHead {
    /// Id of the scene.
    pub id: SceneId,
    /// Slug of its book.
    pub book: String,
    /// Heading of the chapter in which it starts.
    pub chapter: String,
    /// Language of the scene.
    pub language: Language,
    /// Start in code points of the decoded text.
    pub start: Option<u32>,
    /// End in code points of the decoded text (exclusive).
    pub end: Option<u32>,
    /// Importance to the plot, 1 to 100.
    pub salience: Option<u8>,
    /// Names of its characters.
    pub cast: Vec<String>,
    /// Number of utterances in its dialogue.
    pub lines: u32,
    /// Fraction of utterances with speech that were found in the book, 0 to 1.
    pub grounding: Option<f64>,
    /// Whether it was written by hand; only set when it is read from a pool.
    #[serde(skip)]
    pub is_custom: bool,
}

impl From<Scene> for SceneHead {
    fn from(scene: Scene) -> Self {
        let mut cast: Vec<String> = scene.characters.into_iter().map(|character| character.name).collect();
        // Frees the unused capacity of the vector that held the characters.
        cast.shrink_to_fit();
        Self {
            id: scene.id,
            book: scene.book,
            chapter: scene.chapter,
            language: scene.language,
            start: scene.start,
            end: scene.end,
            salience: scene.salience,
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
    /// Name in the scene.
    pub name: String,
    /// Other names of the character.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What is known of the character at this point of the story.
    #[serde(default)]
    pub profile: Vec<Attribute>,
}

/// How the speech of an utterance was found in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grounded {
    /// Verbatim, except for white space and punctuation.
    Exact,
    /// Similar text; see `similarity`.
    Near,
    /// Not found.
    Absent,
}

impl Grounded {
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Near => "near",
            Self::Absent => "absent",
        }
    }
}

/// Speech, action or thought in a scene. The speaker `Environment` stands for events without an actor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Utterance {
    /// Name of a character of the scene, or `Environment`.
    pub speaker: String,
    /// Thought, not heard by the others.
    pub thought: Option<String>,
    /// Action.
    pub action: Option<String>,
    /// Speech.
    pub speech: Option<String>,
    /// Start of the speech in the book, in code points; null if not found.
    pub start: Option<u32>,
    /// End of the speech in the book, in code points (exclusive); null if not found.
    pub end: Option<u32>,
    /// How the speech was found; null without speech.
    pub grounded: Option<Grounded>,
    /// Similarity to the text of the book, 0 to 1; null without speech.
    pub similarity: Option<f64>,
}

impl Utterance {
    /// Speaker of events without an actor.
    pub const ENVIRONMENT: &'static str = "Environment";

    /// Returns the utterance as one line: the action in parentheses, then the speech.
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
    fn a_manual_scene_needs_few_fields() {
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
        let scene: Scene = toml::from_str(text).expect("the other fields are optional");
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
