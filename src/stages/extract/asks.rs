//! What the extractor is asked: which scenes a stretch of a book holds, and what there is to know about one of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::doubts::is_foreign;
use super::lexicon::Script;
use super::{find, portray};
use crate::llm::{Ask, Offline};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Attribute, Language, Message, Motivation};

/// Someone whom the reading by rule found in the book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct CastHint {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    /// How many quotations of this stretch are theirs.
    pub(super) lines: u32,
    /// How many of the whole book.
    pub(super) all_lines: u32,
}

/// A quotation as the reading by rule has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct QuotationHint {
    /// The speaker, where one was found.
    pub(super) speaker: Option<String>,
    /// Its first words.
    pub(super) opening: String,
    #[serde(skip)]
    pub(super) text: String,
    #[serde(skip)]
    pub(super) action: Option<String>,
    #[serde(skip)]
    pub(super) start: u32,
    #[serde(skip)]
    pub(super) end: u32,
}

/// A paragraph of the stretch; for the offline engine, which reads the text by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ParagraphHint {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) border: bool,
}

/// A sentence of narration; for the offline engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentenceHint {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) text: String,
    /// Whom it names.
    pub(super) people: Vec<String>,
    /// Whom it is about.
    pub(super) subject: Option<String>,
    /// What stands after the first name of whom it is about.
    pub(super) after: String,
    /// Whether it can be told by itself.
    pub(super) alone: bool,
    /// Whether it is told by an `I`.
    pub(super) first_person: bool,
}

/// A scene that the stretch before broke off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct CarriedHint {
    /// What happened in it.
    pub(super) summary: String,
    /// Who speaks in it.
    pub(super) characters: Vec<String>,
    /// How many lines it has.
    pub(super) lines: u32,
    /// Its last lines.
    pub(super) last_lines: Vec<String>,
}

/// Which scenes with dialogue does a stretch of a book hold? (FURINA 3.2, after CoSER.)
///
/// What is not shown in the prompt follows from what is: places in the text, and the sentences of the text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindScenes {
    pub(super) language: Language,
    pub(super) title: String,
    pub(super) chapter: String,
    pub(super) text: String,
    pub(super) carried: Option<CarriedHint>,
    pub(super) cast: Vec<CastHint>,
    pub(super) quotations: Vec<QuotationHint>,
    pub(super) min_utterances: u32,
    pub(super) max_utterances: u32,
    /// Whether the chapter goes on after the stretch.
    pub(super) goes_on: bool,
    /// What was wrong with the answer before, when the stretch is asked about again.
    pub(super) doubt: Option<String>,
    /// Whether the stretch was found to end in the middle of a scene.
    pub(super) continues: bool,
    /// Where the stretch begins, in code points of the book.
    #[serde(skip)]
    pub(super) start: u32,
    #[serde(skip)]
    pub(super) end: u32,
    #[serde(skip)]
    pub(super) paragraphs: Vec<ParagraphHint>,
    #[serde(skip)]
    pub(super) narration: Vec<SentenceHint>,
    /// The script of the text.
    #[serde(skip)]
    pub(super) script: Script,
    /// The name of whoever tells the book as `I`.
    #[serde(skip)]
    pub(super) teller: Option<String>,
    /// How many quotations of the whole book are whose, the most first; for the offline engine.
    #[serde(skip)]
    pub(super) lines_by_rank: Vec<u32>,
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

    fn offline(&self, _: &mut Offline<'_>) -> FoundScenes {
        find::scenes(self)
    }
}

/// Something that the book tells of a character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Note {
    /// The key of the profile that it belongs to.
    pub(super) key: String,
    pub(super) text: String,
}

/// A character of a scene, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct CastNotes {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    /// Its profile as the scene before left it.
    pub(super) known: Vec<Attribute>,
    /// What the reading by rule noted.
    pub(super) notes: Vec<Note>,
}

/// A line of the scene's dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DialogueHint {
    pub(super) speaker: String,
    pub(super) content: String,
    #[serde(skip)]
    pub(super) speech: String,
}

/// What is there to know about a scene: its world and situation, what each wants, and who they are? (FURINA 3.2)
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescribeScene {
    pub(super) language: Language,
    pub(super) title: String,
    pub(super) chapter: String,
    /// The world as far as it is known.
    pub(super) worldview: Option<String>,
    /// Sentences from the opening of the book, while the world is not known.
    pub(super) opening: Vec<String>,
    /// What the book names again and again, while the world is not known.
    pub(super) counted: Option<String>,
    pub(super) cast: Vec<CastNotes>,
    /// The last that was told before the text, where the text itself says too little before the talk.
    pub(super) lead: Vec<String>,
    pub(super) text: String,
    pub(super) dialogue: Vec<DialogueHint>,
    /// The keys of a profile, public ones first.
    pub(super) public_keys: Vec<String>,
    pub(super) private_keys: Vec<String>,
    /// The script of the text.
    #[serde(skip)]
    pub(super) script: Script,
    /// The name of whoever tells the book as `I`.
    #[serde(skip)]
    pub(super) teller: Option<String>,
    /// Sentences of the text before its first line of dialogue.
    #[serde(skip)]
    pub(super) before: Vec<SentenceHint>,
    /// Sentences of the text after it.
    #[serde(skip)]
    pub(super) after: Vec<SentenceHint>,
    /// The last that was told of anybody before the text, be it in the chapter before.
    #[serde(skip)]
    pub(super) earlier: Option<SentenceHint>,
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

    fn offline(&self, _: &mut Offline<'_>) -> SceneDescription {
        portray::describe(self)
    }
}
