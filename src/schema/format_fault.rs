//! Faults in the format of a reply.

/// Defines the faults with their words, alone and as part of a reject reason.
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

            /// Returns the reject reason of an item with the fault itself.
            pub(super) const fn own(self) -> &'static str {
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

impl FormatFault {
    /// Returns the fault with a name, if there is one. Repaired faults (`:mended`) and those of a reply that was not kept
    /// (`lost:`) have other names in the column `faults`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}

impl std::fmt::Display for FormatFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
