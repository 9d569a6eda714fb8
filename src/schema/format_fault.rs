//! Faults in the format of a reply, and the faults of a turn.

use std::fmt;

/// Defines the faults with their names in files, alone and as part of a reject reason or turn fault.
macro_rules! format_faults {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal,)*) => {
        /// A fault in the format of a reply.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FormatFault {
            $($(#[doc = $doc])* $name,)*
        }

        impl FormatFault {
            /// All faults.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the word used in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// Returns the reject reason of a reply with the fault.
            pub(super) const fn in_reply(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("format:", $word),)*
                }
            }

            /// Returns the reject reason of a sample with the fault in its history.
            pub(super) const fn in_history(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("history:", $word),)*
                }
            }

            /// Returns the reject reason of a sample whose baseline has the fault.
            pub(super) const fn in_baseline(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("baseline:", $word),)*
                }
            }

            /// Returns the turn fault for a reply in which the fault was repaired.
            const fn repaired(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($word, ":mended"),)*
                }
            }

            /// Returns the turn fault for the reply that was not kept.
            const fn in_other_reply(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("lost:", $word),)*
                }
            }

            /// Returns the turn fault for the reply that was not kept, in which the fault was repaired.
            const fn repaired_in_other_reply(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("lost:", $word, ":mended"),)*
                }
            }
        }
    };
}

format_faults! {
    /// No speech and no action.
    Empty = "empty",
    /// Began with the speaker's own name as a label.
    OwnName = "own_name",
    /// Went on to speak or act for someone else; truncated before that.
    SpeaksForOthers = "speaks_for_others",
    /// An action was marked by something other than parentheses.
    ActionMarks = "action_marks",
    /// Wrapped in a code fence, a tag or JSON.
    Wrapped = "wrapped",
    /// Contained chat template tokens; truncated at the first one after its words.
    TemplateTokens = "template_tokens",
    /// Contained a note to the reader in brackets.
    OutOfCharacter = "out_of_character",
    /// Contained a horizontal rule; one side of it is kept.
    RuledOff = "ruled_off",
    /// Contained the same long sentence twice.
    RepeatsItself = "repeats_itself",
    /// The whole speech was in quotation marks, or had a single unpaired one.
    Quoted = "quoted",
    /// More sentences than allowed; truncated after the last allowed one.
    TooManySentences = "too_many_sentences",
    /// Unbalanced parentheses.
    UnbalancedParentheses = "unbalanced_parentheses",
    /// In a different language than the conversation.
    WrongLanguage = "wrong_language",
    /// Repeats a long sentence or a whole utterance of the conversation.
    RepeatsHistory = "repeats_history",
    /// Speaks as a language model.
    RevealsAi = "reveals_ai",
    /// Refuses to continue, as an assistant does.
    Declines = "declines",
    /// Only says that it will not help or answer, which may come from the assistant or the character.
    MayDecline = "may_decline",
    /// Has no final punctuation, as if it were cut off.
    CutEnding = "cut_ending",
}

impl fmt::Display for FormatFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A fault of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TurnFault {
    /// The director's answer was not an exact name, but matched exactly one.
    SpeakerMatched,
    /// No attempt of the director named a character who may speak, so the speaker was drawn at random.
    SpeakerDrawn,
    /// The kept reply has a format fault.
    Format(FormatFault),
    /// The kept reply had a format fault that was repaired.
    Repaired(FormatFault),
    /// The reply that was not kept has a format fault.
    OtherReply(FormatFault),
    /// The reply that was not kept had a format fault that was repaired.
    OtherReplyRepaired(FormatFault),
}

impl TurnFault {
    /// Returns all turn faults.
    pub fn all() -> impl Iterator<Item = Self> {
        let faults = FormatFault::ALL.iter().copied().flat_map(|fault| {
            [Self::Format(fault), Self::Repaired(fault), Self::OtherReply(fault), Self::OtherReplyRepaired(fault)]
        });
        [Self::SpeakerMatched, Self::SpeakerDrawn].into_iter().chain(faults)
    }

    /// Returns the word used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SpeakerMatched => "director:matched",
            Self::SpeakerDrawn => "director:by_lot",
            Self::Format(fault) => fault.name(),
            Self::Repaired(fault) => fault.repaired(),
            Self::OtherReply(fault) => fault.in_other_reply(),
            Self::OtherReplyRepaired(fault) => fault.repaired_in_other_reply(),
        }
    }

    /// Returns the fault of a kept reply as that of a reply that was not kept. Faults of the director stay the same.
    #[must_use]
    pub const fn of_other_reply(self) -> Self {
        match self {
            Self::Format(fault) => Self::OtherReply(fault),
            Self::Repaired(fault) => Self::OtherReplyRepaired(fault),
            _ => self,
        }
    }
}

/// A word that is not a turn fault of this version.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown turn fault `{0}`")]
pub struct UnknownTurnFault(pub String);

by_name!(TurnFault, UnknownTurnFault);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_turn_fault_has_its_own_word_and_is_read_back() {
        let words: BTreeSet<&str> = TurnFault::all().map(TurnFault::name).collect();
        assert_eq!(words.len(), 2 + 4 * FormatFault::ALL.len());
        for fault in TurnFault::all() {
            assert_eq!(fault.name().parse(), Ok(fault));
            assert_eq!(serde_json::to_value(fault).unwrap(), fault.name());
            assert_eq!(serde_json::from_value::<TurnFault>(fault.name().into()).unwrap(), fault);
        }
        for word in [
            "director:matched",
            "director:by_lot",
            "own_name",
            "own_name:mended",
            "lost:cut_ending",
            "lost:speaks_for_others:mended",
        ] {
            assert!(words.contains(word), "{word}");
        }
        assert_eq!(
            "lost:director:by_lot".parse::<TurnFault>(),
            Err(UnknownTurnFault("lost:director:by_lot".to_owned()))
        );
    }
}
