//! Rejected items and the reasons for rejecting them.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FormatFault, Quality, Stage};

/// An item rejected by a stage: a row of the data set's `rejected` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reject {
    /// Stage that rejected it: `chunk`, `extract`, `synthesize`, `select`, `simulate`, `instruct` or `export`.
    #[schemars(with = "String")]
    pub stage: Stage,
    /// Id of the rejected chunk, scene, character, lane, conversation, sample, role, question or reply.
    pub id: String,
    /// Reason code from a fixed list per stage, such as `ungrounded` or `no_dialogue`.
    #[schemars(with = "String")]
    pub reason: RejectReason,
    /// The reason in a sentence, with the relevant figures.
    pub detail: String,
}

impl Reject {
    /// Creates a reject.
    pub fn new(stage: Stage, id: impl Into<String>, reason: RejectReason, detail: impl Into<String>) -> Self {
        Self { stage, id: id.into(), reason, detail: detail.into() }
    }
}

/// Rejects are sorted by their values in files: stage, id, reason, detail.
impl Ord for Reject {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |reject: &Self| (reject.stage.name(), reject.reason.name());
        let ((stage, reason), (other_stage, other_reason)) = (key(self), key(other));
        (stage, &self.id, reason, &self.detail).cmp(&(other_stage, &other.id, other_reason, &other.detail))
    }
}

impl PartialOrd for Reject {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Defines the reasons with their words.
macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal,)*) => {
        /// Why an item was rejected.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum RejectReason {
            $($(#[doc = $doc])* $name,)*
            /// The judge rated the conversation below `high`.
            Quality(Quality),
            /// The reply has a format fault.
            Format(FormatFault),
            /// An earlier turn of the conversation has a format fault.
            History(FormatFault),
            /// The baseline has a format fault.
            Baseline(FormatFault),
        }

        impl RejectReason {
            /// The reasons without parameters.
            const WITHOUT_PARAMETERS: &'static [Self] = &[$(Self::$name),*];

            /// Returns the word used in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                    Self::Quality(Quality::Poor) => "quality:poor",
                    Self::Quality(Quality::Moderate) => "quality:moderate",
                    Self::Quality(Quality::High) => "quality:high",
                    Self::Format(fault) => fault.in_reply(),
                    Self::History(fault) => fault.in_history(),
                    Self::Baseline(fault) => fault.in_baseline(),
                }
            }
        }
    };
}

reasons! {
    // Failed calls.
    /// All tries of a call failed.
    NoReply = "no_reply",
    /// The server refused the request for good.
    RequestRefused = "request_refused",
    /// The prompt is longer than the context window.
    ContextTooLong = "context_too_long",
    /// The model refused to answer.
    ModelRefused = "model_refused",
    /// The provider's content filter blocked the call.
    ContentFilter = "content_filter",
    /// The reply was empty.
    EmptyReply = "empty_reply",
    /// The reply was truncated.
    CutReply = "cut_reply",
    /// The reply did not match its schema.
    BadReply = "bad_reply",
    /// The prompt template did not render.
    Prompt = "prompt",
    /// The model cannot be used at all.
    ModelUnusable = "model_unusable",
    /// A replay did not find the answer in the journal.
    NotInJournal = "not_in_journal",
    /// A limit of `[budget]` was reached.
    Budget = "budget",
    /// The run was interrupted.
    Interrupted = "interrupted",
    /// The journal could not be read or written.
    Journal = "journal",
    // Books and chunks.
    /// The book or script cannot be read, or has changed.
    Unreadable = "unreadable",
    /// The same book, scene, question or instruction is used already.
    Duplicate = "duplicate",
    /// Another book has the same slug.
    SameSlug = "same_slug",
    /// All text of the book was skipped.
    NoStory = "no_story",
    /// Boilerplate before the story.
    FrontMatter = "front_matter",
    /// Boilerplate after the story.
    BackMatter = "back_matter",
    /// A licence or imprint.
    Licence = "licence",
    /// A table of contents.
    Contents = "contents",
    /// A list of illustrations.
    Illustrations = "illustrations",
    /// A note of a transcriber.
    TranscriberNote = "transcriber_note",
    /// Chapters that the pipeline file does not select.
    NotChosen = "not_chosen",
    /// A page without text.
    EmptyPage = "empty_page",
    /// A page that is missing from the file or unreadable.
    MissingPage = "missing_page",
    // Scenes.
    /// No scene was found; for a lane, no suitable scene.
    NoScene = "no_scene",
    /// The scene has no dialogue.
    NoDialogue = "no_dialogue",
    /// The scene has too few utterances.
    TooShort = "too_short",
    /// Only one character speaks.
    OneSpeaker = "one_speaker",
    /// Too few utterances occur in the book.
    Ungrounded = "ungrounded",
    /// The answer is in another language than the book.
    OtherLanguage = "other_language",
    /// The answer has more utterances than the passage can hold.
    TooMuch = "too_much",
    /// The utterance does not occur in the book.
    NotInBook = "not_in_book",
    /// The utterance occurs less often in the book.
    RepeatedLine = "repeated_line",
    /// The speaker does not occur in the text.
    UnknownSpeaker = "unknown_speaker",
    /// A member of the cast does not occur in the text.
    UnknownCharacter = "unknown_character",
    // Characters.
    /// The character is too similar to another one.
    Resembles = "resembles",
    /// The character is too similar to a well-known one.
    ResemblesKnown = "resembles_known",
    /// The character has too few distinct lines.
    TooFewLines = "too_few_lines",
    /// The scenes have no attributes of the character.
    NoProfile = "no_profile",
    /// The character is defined by a character file.
    Given = "given",
    /// The book has no suitable character.
    NoCharacter = "no_character",
    // Lanes.
    /// The lane reached τ for a dimension without a sample of it.
    NoSample = "no_sample",
    /// No suitable scene is left.
    ScenesExhausted = "scenes_exhausted",
    /// The limit of conversations was reached.
    ConversationsExhausted = "conversations_exhausted",
    /// The other lanes of the character reached τ first.
    NothingLeft = "nothing_left",
    /// The director named no valid speaker, so one was drawn at random. Nothing is missing.
    SpeakerDrawn = "director:by_lot",
    // Role data.
    /// A turn is too long for a segment.
    LongTurn = "long_turn",
    /// Turns that are left after the last full segment.
    RestOfDialogue = "rest_of_dialogue",
    /// The dialogue is too short for a segment.
    ShortDialogue = "short_dialogue",
    /// The end of a segment exceeds the maximum length.
    LongSegment = "long_segment",
    /// Only some segments are used.
    SegmentsSampled = "segments_sampled",
    /// The model is not certain of the answer.
    LowConfidence = "low_confidence",
    /// The question does not address the role.
    NotAddressed = "not_addressed",
    /// The reply is incomplete.
    Incomplete = "incomplete",
    /// The reply speaks as a language model.
    RevealsModel = "reveals_model",
    /// The reply begins with the role's name.
    NameInFront = "name_in_front",
    /// The reply refuses.
    Refuses = "refuses",
    /// No reply passed cleaning.
    NoneLeft = "none_left",
    /// The instruction and its answer are too long.
    LongInstruction = "long_instruction",
    /// The instruction was not sampled.
    NotSampled = "not_sampled",
    /// The people have too few turns.
    TooFewTurns = "too_few_turns",
    /// The speech style of the role is not distinct enough.
    Indistinct = "indistinct",
    /// Other roles of the book rank higher.
    NotAmongBest = "not_among_best",
    // Data set.
    /// Removed by hand.
    Vetoed = "vetoed",
}

impl RejectReason {
    /// Returns all reasons.
    pub fn all() -> impl Iterator<Item = Self> {
        let quality = [Quality::Poor, Quality::Moderate, Quality::High].map(Self::Quality);
        let faults = FormatFault::ALL.iter().copied();
        let faults = faults.flat_map(|fault| [Self::Format(fault), Self::History(fault), Self::Baseline(fault)]);
        Self::WITHOUT_PARAMETERS.iter().copied().chain(quality).chain(faults)
    }

    /// Returns whether a call failed, so that its result is missing from the data set.
    #[must_use]
    pub const fn is_failed_call(self) -> bool {
        matches!(self, Self::NoReply | Self::RequestRefused | Self::ContextTooLong) || self.is_journaled_failure()
    }

    /// Returns whether the failed reply is in the journal, so that a rerun reads it back and fails in the same way.
    #[must_use]
    pub const fn is_journaled_failure(self) -> bool {
        matches!(self, Self::ModelRefused | Self::ContentFilter | Self::EmptyReply | Self::CutReply | Self::BadReply)
    }
}

/// A word that is not a reject reason of this version.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown reject reason `{0}`")]
pub struct UnknownReason(pub String);

by_name!(RejectReason, UnknownReason);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn reject_reasons_round_trip_through_unique_names() {
        let words: BTreeSet<&str> = RejectReason::all().map(RejectReason::name).collect();
        assert_eq!(words.len(), RejectReason::all().count());
        for reason in RejectReason::all() {
            assert_eq!(reason.name().parse(), Ok(reason));
            assert_eq!(serde_json::from_value::<RejectReason>(reason.name().into()).unwrap(), reason);
        }
        for word in ["format:wrapped", "history:declines", "baseline:empty", "quality:poor", "director:by_lot"] {
            assert!(words.contains(word), "{word}");
        }
    }

    #[test]
    fn an_unknown_reason_is_an_error_that_names_it() {
        assert_eq!("sunspots".parse::<RejectReason>(), Err(UnknownReason("sunspots".to_owned())));
        let row = r#"{"stage": "extract", "id": "a", "reason": "sunspots", "detail": ""}"#;
        assert!(
            serde_json::from_str::<Reject>(row).unwrap_err().to_string().contains("unknown reject reason `sunspots`")
        );
    }

    #[test]
    fn rejects_are_sorted_by_words() {
        let reject = |stage, id: &str, reason| Reject::new(stage, id, reason, "");
        let mut all = [
            reject(Stage::Chunk, "a", RejectReason::NoStory),
            reject(Stage::Export, "a", RejectReason::Vetoed),
            reject(Stage::Extract, "a", RejectReason::NoDialogue),
            reject(Stage::Extract, "a", RejectReason::Ungrounded),
            reject(Stage::Extract, "b", RejectReason::Duplicate),
            reject(Stage::Select, "a", RejectReason::BadReply),
            reject(Stage::Simulate, "a", RejectReason::BadReply),
        ];
        let sorted = all.clone();
        all.reverse();
        all.sort();
        assert_eq!(all, sorted);
    }
}
