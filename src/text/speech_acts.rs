//! Detects speech acts of an utterance: asking, recalling, reasoning, feeling, stating.

use super::words::{SpeechActWords, WORDS, latin_words};
use crate::schema::Language;

/// A speech act, detected by the words of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeechMarker {
    /// Refers to what was said or done before.
    Recall,
    /// Gives or weighs reasons.
    Reason,
    /// Shows a feeling.
    Feeling,
    /// States how the world is: customs, figures, general truths.
    Fact,
    /// Hands over the turn or changes the subject.
    Turn,
    /// Says goodbye.
    Farewell,
    /// Greets.
    Greeting,
    /// Thanks.
    Thanks,
    /// Scolds.
    Anger,
    /// Asks for a fact, if it is a question.
    World,
    /// Asks for reasons or a choice, if it is a question.
    Why,
}

/// Returns the number of distinct words of a speech act's list in a text.
#[must_use]
pub fn count_speech_markers(text: &str, language: Language, marker: SpeechMarker) -> usize {
    match language {
        Language::En => {
            let mut spaced = String::from(" ");
            for word in latin_words(text) {
                spaced.push_str(&word);
                spaced.push(' ');
            }
            let digits = usize::from(marker == SpeechMarker::Fact && text.chars().any(|c| c.is_ascii_digit()));
            digits + markers(&WORDS.en.speech_acts, marker).iter().filter(|word| occurs(&spaced, word)).count()
        }
        Language::Zh => markers(&WORDS.zh.speech_acts, marker).iter().filter(|word| text.contains(word)).count(),
    }
}

/// Whether words occur in a text whose words are surrounded by single spaces.
fn occurs(spaced: &str, words: &str) -> bool {
    let blank = |at: usize| spaced.as_bytes()[at] == b' ';
    spaced.match_indices(words).any(|(at, _)| blank(at - 1) && blank(at + words.len()))
}

const fn markers(words: &SpeechActWords, marker: SpeechMarker) -> &super::words::List {
    match marker {
        SpeechMarker::Recall => &words.recall,
        SpeechMarker::Reason => &words.reason,
        SpeechMarker::Feeling => &words.feeling,
        SpeechMarker::Fact => &words.fact,
        SpeechMarker::Turn => &words.turn,
        SpeechMarker::Farewell => &words.farewell,
        SpeechMarker::Greeting => &words.greeting,
        SpeechMarker::Thanks => &words.thanks,
        SpeechMarker::Anger => &words.anger,
        SpeechMarker::World => &words.world,
        SpeechMarker::Why => &words.why,
    }
}

/// Whether a text contains a question mark.
#[must_use]
pub fn asks(text: &str) -> bool {
    text.contains(['?', '？'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_match_whole_words() {
        assert_eq!(count_speech_markers("Becausewards", Language::En, SpeechMarker::Reason), 0);
        assert_eq!(count_speech_markers("Because you said so earlier.", Language::En, SpeechMarker::Reason), 1);
        assert_eq!(count_speech_markers("Because you said so earlier.", Language::En, SpeechMarker::Recall), 2);
        assert_eq!(count_speech_markers("I’ve 3 of them.", Language::En, SpeechMarker::Fact), 1);
        assert_eq!(count_speech_markers("若是如此，只怕不妥。", Language::Zh, SpeechMarker::Reason), 3);
        assert!(asks("何必？") && asks("Why?") && !asks("Why not."));
    }
}
