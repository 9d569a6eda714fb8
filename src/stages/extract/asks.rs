//! The questions this stage asks a model: which scenes a passage contains, and the description of one scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::language_check::is_foreign;
use super::lexicon::Script;
use crate::llm::Ask;
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Attribute, Language, Message, Motivation};

/// A character found by rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CastHint {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    /// The number of quotations in this passage attributed to the character.
    pub(super) lines: u32,
    /// The number of quotations in the whole book.
    pub(crate) all_lines: u32,
}

/// A quotation with its speaker as attributed by rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct QuotationHint {
    /// The speaker, if one was found.
    pub(crate) speaker: Option<String>,
    /// Its first words.
    pub(super) opening: String,
    #[serde(skip)]
    pub(crate) text: String,
    #[serde(skip)]
    pub(crate) action: Option<String>,
    #[serde(skip)]
    pub(crate) start: u32,
    #[serde(skip)]
    pub(crate) end: u32,
}

/// A paragraph of the passage; used by the offline engine only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ParagraphHint {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) border: bool,
}

/// A sentence of narration; used by the offline engine only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentenceHint {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) text: String,
    /// The characters it names.
    pub(crate) people: Vec<String>,
    /// The character it is about.
    pub(crate) subject: Option<String>,
    /// The text after the first mention of the character it is about.
    pub(crate) after: String,
    /// Whether it is understandable without context.
    pub(crate) is_standalone: bool,
    /// Whether it is narrated in the first person.
    pub(crate) first_person: bool,
}

/// A scene that the previous passage cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CarriedHint {
    /// A summary of what happened in it.
    pub(super) summary: String,
    /// Its speakers.
    pub(crate) characters: Vec<String>,
    /// The number of its utterances.
    pub(crate) lines: u32,
    /// Its last utterances.
    pub(super) last_lines: Vec<String>,
}

/// Which scenes with dialogue does a passage of a book contain? (FURINA 3.2, after CoSER.)
///
/// Fields that are not shown in the prompt (offsets, the sentences of the text) are derived from those that are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindScenes {
    pub(crate) language: Language,
    pub(super) title: String,
    pub(super) chapter: String,
    pub(crate) text: String,
    pub(crate) carried: Option<CarriedHint>,
    pub(crate) cast: Vec<CastHint>,
    pub(crate) quotations: Vec<QuotationHint>,
    pub(crate) min_utterances: u32,
    pub(crate) max_utterances: u32,
    /// Whether the chapter continues after the passage.
    pub(crate) goes_on: bool,
    /// The problem with the previous answer, if the model is asked again.
    pub(super) doubt: Option<String>,
    /// Whether the passage was found to end in the middle of a scene.
    pub(crate) continues: bool,
    /// Start of the passage, in code points of the book.
    #[serde(skip)]
    pub(crate) start: u32,
    #[serde(skip)]
    pub(crate) end: u32,
    #[serde(skip)]
    pub(crate) paragraphs: Vec<ParagraphHint>,
    #[serde(skip)]
    pub(crate) narration: Vec<SentenceHint>,
    /// The script of the text.
    #[serde(skip)]
    pub(crate) script: Script,
    /// The name of the first-person narrator.
    #[serde(skip)]
    pub(crate) narrator: Option<String>,
    /// Quotations per character in the whole book, in descending order; used by the offline engine only.
    #[serde(skip)]
    pub(crate) lines_by_rank: Vec<u32>,
}

/// The scenes of a stretch, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundScenes {
    /// The scenes; none where nobody talks with anybody.
    pub scenes: Vec<FoundScene>,
}

/// One scene of a stretch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundScene {
    /// Whether it goes on with the scene that the stretch before broke off.
    pub continues: bool,
    /// The first words of the scene, as they stand in the text.
    pub first_words: String,
    /// What happens in it, in two or three sentences.
    pub summary: String,
    /// How much what happens matters to the whole book, from 1 (in passing) to 100 (what the book turns on); null where
    /// that cannot be told.
    #[schemars(range(min = 1, max = 100))]
    pub prominence: Option<u8>,
    /// Everyone who takes part.
    pub characters: Vec<String>,
    /// What is said and done, in order.
    pub dialogue: Vec<FoundLine>,
    /// The last words of the scene, as they stand in the text.
    pub last_words: String,
    /// Whether the stretch breaks it off.
    pub unfinished: bool,
}

/// One line of a scene.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundLine {
    /// A name out of the characters, or `Environment` for what happens by itself.
    pub speaker: String,
    /// What the speaker thinks, where the text says so.
    pub thought: Option<String>,
    /// What the speaker does.
    pub action: Option<String>,
    /// What the speaker says, word for word.
    pub speech: Option<String>,
}

impl Ask for FindScenes {
    const NAME: &'static str = "extract/scenes";
    type Answer = FoundScenes;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![
            Message::system(prompts.render(Self::NAME, self.language, "system", self)?),
            Message::user(prompts.render(Self::NAME, self.language, "user", self)?),
        ])
    }
}

/// A fact that the book states about a character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Note {
    /// The profile key it belongs to.
    pub(crate) key: String,
    pub(crate) text: String,
}

/// A character of a scene, with what is known so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CastNotes {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    /// The profile after the previous scene.
    pub(super) known: Vec<Attribute>,
    /// Facts found by rule.
    pub(crate) notes: Vec<Note>,
}

/// An utterance of the scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DialogueHint {
    pub(crate) speaker: String,
    pub(super) content: String,
    #[serde(skip)]
    pub(crate) speech: String,
}

/// What are a scene's worldview, situation, motivations and profiles? (FURINA 3.2)
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescribeScene {
    pub(crate) language: Language,
    pub(crate) title: String,
    pub(crate) chapter: String,
    /// The worldview so far.
    pub(crate) worldview: Option<String>,
    /// Sentences from the opening of the book, if there is no worldview yet.
    pub(crate) opening: Vec<String>,
    /// What the book mentions most often, if there is no worldview yet.
    pub(crate) counted: Option<String>,
    pub(crate) cast: Vec<CastNotes>,
    /// The last narration before the passage, if the passage itself has too little before its dialogue.
    pub(super) lead: Vec<String>,
    pub(super) text: String,
    pub(crate) dialogue: Vec<DialogueHint>,
    /// The profile keys, public ones first.
    pub(super) public_keys: Vec<String>,
    pub(super) private_keys: Vec<String>,
    /// The script of the text.
    #[serde(skip)]
    pub(crate) script: Script,
    /// The name of the first-person narrator.
    #[serde(skip)]
    pub(crate) narrator: Option<String>,
    /// Narration of the passage before its first utterance.
    #[serde(skip)]
    pub(crate) before: Vec<SentenceHint>,
    /// Narration of the passage after its first utterance.
    #[serde(skip)]
    pub(crate) after: Vec<SentenceHint>,
    /// The last narration before the passage that names a character, possibly in an earlier chapter.
    #[serde(skip)]
    pub(crate) earlier: Option<SentenceHint>,
}

/// What there is to know about a scene.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SceneDescription {
    /// The world of the book, as far as the scene needs it.
    pub worldview: String,
    /// Where and when the scene is, who is there, and what has just happened.
    pub situation: String,
    /// What each character wants; a character whose aims the text does not show is left out.
    pub motivations: Vec<Motivation>,
    /// Who they are.
    pub profiles: Vec<Profile>,
}

/// A character's profile at this point of the story.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// The character's name.
    pub character: String,
    /// What is known of it; keys of which nothing is known are left out.
    pub attributes: Vec<Attribute>,
}

impl Ask for DescribeScene {
    const NAME: &'static str = "extract/describe";
    type Answer = SceneDescription;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![
            Message::system(prompts.render(Self::NAME, self.language, "system", self)?),
            Message::user(prompts.render(Self::NAME, self.language, "user", self)?),
        ])
    }

    fn check(&self, answer: &SceneDescription) -> Result<(), String> {
        if answer.situation.trim().is_empty() {
            Err("`situation` is empty".to_owned())
        } else if is_foreign(&answer.situation, self.language) {
            let language = if self.language == Language::En { "English" } else { "Chinese" };
            Err(format!("`situation` is not in {language}, the language of the book"))
        } else {
            Ok(())
        }
    }
}
