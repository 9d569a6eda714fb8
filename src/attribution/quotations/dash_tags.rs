//! Speech tags within dash dialogue: where the narration begins and ends.

use crate::attribution::words::chinese::CHINESE;
use crate::attribution::words::english::{
    AMBIGUOUS_SPEECH, DETERMINER, ENGLISH, HE, KIN, NARRATOR, POSSESSIVE, ROLE, SHE, SPEECH, STOP, THEY, TITLE,
};

/// Returns the end of the English speech tag that starts at `at`, if there is one: `said Hale.`, `the clerk asked,`.
pub(super) fn english_tag_end(chars: &[char], at: usize, end: usize) -> Option<usize> {
    let class = |word: &(usize, usize)| class_of(chars, *word);
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut i = at;
    while i < end && words.len() < 6 && (chars[i].is_alphanumeric() || chars[i].is_whitespace()) {
        if chars[i].is_whitespace() {
            i += 1;
            continue;
        }
        let stop =
            (i..end).find(|&k| !chars[k].is_alphanumeric() && !matches!(chars[k], '’' | '\'' | '-')).unwrap_or(end);
        words.push((i, stop));
        // The full stop of a title does not end a sentence.
        i = stop + usize::from(chars.get(stop) == Some(&'.') && class(&(words[words.len() - 1])) & TITLE != 0);
    }
    let pronoun = HE | SHE | THEY;
    let capital = |word: &(usize, usize)| chars[word.0].is_uppercase();
    let says = |word: &(usize, usize)| class(word) & SPEECH != 0 && !capital(word);
    let person = |word: &(usize, usize)| capital(word) || class(word) & (pronoun | DETERMINER | POSSESSIVE) != 0;
    let first = words.first()?;
    let verb_first = says(first) && words.get(1).is_some_and(person);
    // `he told her`: for speech verbs that have other common uses.
    let is_told_to = |word: &(usize, usize)| {
        let next = words.iter().position(|other| other == word).and_then(|at| words.get(at + 1));
        chars[word.0..word.1] == ['t', 'o', 'l', 'd']
            && next.is_some_and(|next| class(next) & pronoun != 0 || capital(next))
    };
    let is_speech_verb =
        |word: &(usize, usize)| says(word) && (class(word) & AMBIGUOUS_SPEECH == 0 || is_told_to(word));
    let subject_first = match class(first) {
        // `I say` is part of speech; `I said` may be narration.
        class if class & NARRATOR != 0 => {
            words.get(1).is_some_and(|word| is_speech_verb(word) && chars[word.1 - 1] == 'd')
        }
        class if class & pronoun != 0 => words.iter().skip(1).take(2).any(is_speech_verb),
        class if class & (DETERMINER | POSSESSIVE) != 0 => {
            let noun = words.iter().skip(1).take(3).position(|word| is_role_class(class_of(chars, *word)));
            noun.is_some_and(|noun| words.iter().skip(noun + 2).take(2).any(is_speech_verb))
        }
        _ => capital(first) && words.iter().skip(1).take(3).find(|word| !capital(word)).is_some_and(is_speech_verb),
    };
    (verb_first || subject_first).then(|| english_narration_end(chars, words[1].1, end))
}

/// Returns the start of the last sentence before a dash if it is narration: `Hale drank.`, `The captain sat down.`.
pub(super) fn narration_start(chars: &[char], from: usize, dash: usize) -> Option<usize> {
    let end = (from..dash).rev().find(|&i| !chars[i].is_whitespace())?;
    let stops = |i: &usize| matches!(chars[*i], '.' | '!' | '?') && chars[i + 1].is_whitespace();
    let before = (from..end).rev().find(stops).filter(|_| chars[end] == '.')?;
    let start = (before + 1..end).find(|&i| !chars[i].is_whitespace())?;
    let mut words = chars[start..end].split(|c| !c.is_alphanumeric() && !matches!(c, '’' | '\'')).take(4);
    let class = |word: &[char]| ENGLISH.class(&word.iter().flat_map(|c| c.to_lowercase()).collect::<String>());
    let first = words.next()?;
    let is_third_person = class(first) & (HE | SHE | THEY | DETERMINER) != 0;
    // A verb in the present tense shows speech, the past tense narration.
    let is_present = |word: &[char]| ENGLISH.present_verbs.contains(&word.iter().collect::<String>());
    let in_past_tense = !words.any(is_present);
    let named = first.first().is_some_and(|c| c.is_uppercase()) && class(first) & (STOP | NARRATOR) == 0;
    ((is_third_person || named) && in_past_tense).then_some(before + 1)
}

fn class_of(chars: &[char], word: (usize, usize)) -> u32 {
    ENGLISH.class(&chars[word.0..word.1].iter().flat_map(|c| c.to_lowercase()).collect::<String>())
}

const fn is_role_class(class: u32) -> bool {
    class & (ROLE | KIN) != 0
}

/// Returns the end of narration that continues after a speech verb: at the end of the sentence, or at a comma that no
/// further action follows.
fn english_narration_end(chars: &[char], at: usize, end: usize) -> usize {
    let mut i = at;
    while i < end {
        let point = chars[i] == '.' && chars.get(i + 1).is_none_or(|c| c.is_whitespace() || is_dash(*c));
        let title = point && {
            let word = (at..i).rev().take_while(|&k| chars[k].is_alphabetic()).last().unwrap_or(i);
            class_of(chars, (word, i)) & TITLE != 0
        };
        if point && !title || matches!(chars[i], '!' | '?' | ':') || is_dash(chars[i]) {
            return i + 1;
        }
        if chars[i] == ',' {
            let from = (i + 1..end).find(|&k| !chars[k].is_whitespace()).unwrap_or(end);
            let word: String = chars[from..end].iter().take_while(|c| c.is_alphabetic()).collect();
            let continues = word.ends_with("ing")
                || word.ends_with("ed")
                || matches!(
                    word.as_str(),
                    "and" | "but" | "with" | "as" | "while" | "his" | "her" | "then" | "who" | "for" | "in" | "to"
                );
            if !continues {
                return i + 1;
            }
        }
        i += 1;
    }
    end
}

/// Returns the end of the Chinese speech tag that starts at `at`, if there is one.
pub(super) fn chinese_tag_end(chars: &[char], at: usize, end: usize) -> Option<usize> {
    let stop = (at..end).find(|&i| ends_clause(chars[i]) || matches!(chars[i], '：' | ':')).unwrap_or(end);
    let clause: Vec<char> = chars[at..stop].iter().map(|&c| CHINESE.fold(c)).collect();
    (clause.len() > 1 && clause.len() < 15 && CHINESE.ends_in_speech(&clause)).then_some((stop + 1).min(end))
}

/// Whether a character is a dash that may open speech.
pub(super) const fn is_dash(c: char) -> bool {
    matches!(c, '—' | '–' | '―' | '－')
}

/// Whether a character ends a clause of speech.
pub(super) const fn ends_clause(c: char) -> bool {
    matches!(c, ',' | '!' | '?' | ';' | '…' | '，' | '！' | '？' | '。' | '；')
}
