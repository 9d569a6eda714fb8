//! Detects speech acts of an utterance: asking, recalling, reasoning, feeling, stating.

use super::words::{Signs, WORDS, latin_words};
use crate::schema::Language;

/// A speech act, detected by the words of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeechAct {
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
pub fn count_speech_act_words(text: &str, language: Language, sign: SpeechAct) -> usize {
    match language {
        Language::En => {
            let mut spaced = String::from(" ");
            for word in latin_words(text) {
                spaced.push_str(&word);
                spaced.push(' ');
            }
            let digits = usize::from(sign == SpeechAct::Fact && text.chars().any(|c| c.is_ascii_digit()));
            digits + list(&WORDS.en.signs, sign).iter().filter(|word| stands(&spaced, word)).count()
        }
        Language::Zh => list(&WORDS.zh.signs, sign).iter().filter(|word| text.contains(word)).count(),
    }
}

/// Whether words occur in a text whose words are surrounded by single spaces.
fn stands(spaced: &str, words: &str) -> bool {
    let blank = |at: usize| spaced.as_bytes()[at] == b' ';
    spaced.match_indices(words).any(|(at, _)| blank(at - 1) && blank(at + words.len()))
}

const fn list(signs: &Signs, sign: SpeechAct) -> &super::words::List {
    match sign {
        SpeechAct::Recall => &signs.recall,
        SpeechAct::Reason => &signs.reason,
        SpeechAct::Feeling => &signs.feeling,
        SpeechAct::Fact => &signs.fact,
        SpeechAct::Turn => &signs.turn,
        SpeechAct::Farewell => &signs.farewell,
        SpeechAct::Greeting => &signs.greeting,
        SpeechAct::Thanks => &signs.thanks,
        SpeechAct::Anger => &signs.anger,
        SpeechAct::World => &signs.world,
        SpeechAct::Why => &signs.why,
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
    fn signs_are_whole_words() {
        assert_eq!(count_speech_act_words("Becausewards", Language::En, SpeechAct::Reason), 0);
        assert_eq!(count_speech_act_words("Because you said so earlier.", Language::En, SpeechAct::Reason), 1);
        assert_eq!(count_speech_act_words("Because you said so earlier.", Language::En, SpeechAct::Recall), 2);
        assert_eq!(count_speech_act_words("I’ve 3 of them.", Language::En, SpeechAct::Fact), 1);
        assert_eq!(count_speech_act_words("若是如此，只怕不妥。", Language::Zh, SpeechAct::Reason), 3);
        assert!(asks("何必？") && asks("Why?") && !asks("Why not."));
    }
}
