//! English letters: introductions, greetings, dates and closings.

use super::context::QuotedWriting;
use crate::attribution::words::english::{
    ABBREVIATION, AMBIGUOUS_SPEECH, CLOSING, ENGLISH, GREETING, KIN, SPEECH, WRITING, WRITING_VERB,
};

/// Maximum number of quoted paragraphs in a letter, signature included.
pub(in crate::attribution) const MAX_PARAGRAPHS: usize = 80;

impl QuotedWriting<'_> {
    /// Returns the end (exclusive) of the English writing that begins at a quotation; `at` if it is not writing.
    pub(in crate::attribution) fn english_end(&self, at: usize) -> usize {
        let mut body = at;
        let mut greeted = false;
        while (body == at && self.fills_paragraph(at) || body > at && self.follows(body))
            && (is_greeting(self.text(body)) || is_date_line(self.text(body)))
        {
            greeted |= is_greeting(self.text(body));
            body += 1;
        }
        if !greeted || !self.follows(body) {
            (greeted, body) = (false, at);
        }
        let end = self.run_end(body);
        let is_introduced_as_writing = self.is_introduced_as_writing(at);
        let has_writing_tag = self.has_writing_tag(at);
        let is_introduced = greeted || is_introduced_as_writing;
        let opens = is_introduced || opens_with_greeting(self.text(at));
        let mut closing = (body..end).find(|&k| is_closing(self.text(k), is_introduced));
        if closing.is_none() && (end - 1 == at || self.fills_paragraph(end - 1)) {
            let reach = if opens { MAX_PARAGRAPHS } else { 1 };
            let mut run = (end..self.spans.len().min(end + reach)).take_while(|&k| self.follows(k));
            closing = run.find(|&k| {
                is_closing(self.text(k), opens)
                    || is_introduced && is_upper_case(self.text(k)) && is_signature(self.text(k))
            });
        }
        let length = self.spans[end - 1].end - self.spans[at].start;
        if !(is_introduced || has_writing_tag || closing.is_some() && (opens || length > 100)) {
            return at;
        }
        let mut stop = end.max(closing.map_or(0, |closing| closing + 1));
        while closing.is_some() && stop - at < MAX_PARAGRAPHS && self.follows(stop) {
            let text = self.text(stop);
            if !(is_signature(text) || is_closing(text, true) || text.starts_with(&['P', '.'])) {
                break;
            }
            stop = self.run_end(stop);
        }
        stop
    }

    /// Whether the narration before an English quotation introduces it as writing: `She wrote:`, `the note ran as
    /// follows.`
    fn is_introduced_as_writing(&self, at: usize) -> bool {
        let lead = self.narration_before(at);
        let Some(&mark) = lead.last() else { return false };
        let colon = matches!(mark, ':' | '—' | '-');
        let stands_alone = self.fills_paragraph(at) || self.run_end(at) > at + 1;
        if !colon && mark != ',' && !stands_alone && !mark.is_alphanumeric() && mark != '.' {
            return false;
        }
        // A comma separates `taking out the letter, said` from what the letter said.
        let spaced: Vec<char> =
            last_sentence(lead).iter().flat_map(|&c| if c == ',' { vec![' ', '&', ' '] } else { vec![c] }).collect();
        let words = lower_case_words(&spaced);
        let class = |i: usize| ENGLISH.class(&words[i]);
        let is = |i: usize, bits: u32| words.get(i).is_some_and(|word| ENGLISH.is(word, bits));
        let follows_writing_noun = |i: usize| i > 0 && is(i - 1, WRITING);
        let spoken = |i: usize| {
            class(i) & (SPEECH | AMBIGUOUS_SPEECH) == SPEECH && class(i) & WRITING_VERB == 0 && !follows_writing_noun(i)
        };
        let speaks = |word: &String| matches!(word.as_str(), "spoke" | "speaks" | "told" | "addressed" | "began");
        if (0..words.len()).any(spoken) || words.iter().any(speaks) {
            return false;
        }
        let near_end = words.len().saturating_sub(5);
        let has_writing_verb = (words.len().saturating_sub(8)..words.len()).rev().find(|&i| is(i, WRITING_VERB));
        let has_writing_verb =
            has_writing_verb.is_some_and(|i| i == 0 || !matches!(words[i - 1].as_str(), "as" | "while"));
        let phrase = [&["as", "follows"][..], &["this", "effect"], &["these", "words"]];
        let phrase = phrase.iter().any(|phrase| words[near_end..].windows(phrase.len()).any(|found| found == *phrase));
        let noun = (0..words.len()).any(|i| is(i, WRITING));
        let has_near_noun = (near_end..words.len()).any(|i| is(i, WRITING) || follows_writing_noun(i));
        let has_reading_verb = (near_end..words.len())
            .any(|i| matches!(words[i].as_str(), "read" | "reads" | "ran" | "runs") || follows_writing_noun(i));
        let long = self.spans[self.run_end(at) - 1].end - self.spans[at].start > 40;
        if colon {
            return has_writing_verb
                || has_reading_verb && noun
                || has_near_noun && long
                || phrase && (noun || stands_alone);
        }
        let aloud = words.last().is_some_and(|word| word == "aloud");
        has_writing_verb && mark == ',' || phrase && (noun || has_writing_verb) || noun && aloud && stands_alone
    }

    /// Whether the narration after an English quotation marks it as writing: `wrote Hale`, `she wrote,`.
    fn has_writing_tag(&self, at: usize) -> bool {
        let rest = self.narration_after(at);
        let comma = self.text(at).last() == Some(&',');
        let stop = rest.iter().position(|c| matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | '—')).unwrap_or(rest.len());
        let words = lower_case_words(&rest[..stop.min(60)]);
        let Some(verb) = words.iter().take(4).position(|word| ENGLISH.is(word, SPEECH | WRITING_VERB)) else {
            return false;
        };
        let writes = ENGLISH.is(&words[verb], WRITING_VERB) && (verb == 0 || comma);
        writes || comma && words.starts_with(&["so".to_owned(), "ran".to_owned()])
    }
}

/// Whether an English paragraph is only a greeting: `My dear Ruth,`.
fn is_greeting(text: &[char]) -> bool {
    let ends = matches!(text.last(), Some(',' | ':' | ';' | '—' | '-')) || is_upper_case(text);
    // A date may precede it on the lines above.
    let line = text.rsplit(|&c| c == '\n').next().unwrap_or_default();
    ends && text.len() < 120 && line.len() < 60 && is_salutation(&lower_case_words(line))
}

/// Whether English text opens with a greeting that is set off from the rest: `Dear Sir,—I have your letter`.
fn opens_with_greeting(text: &[char]) -> bool {
    let head = &text[..text.len().min(60)];
    let stop = head.iter().position(|c| matches!(c, ',' | ':' | ';' | '—' | '\n' | '\r'));
    let Some(stop) = stop.filter(|&stop| stop > 2) else { return false };
    let set_off =
        matches!(head[stop], ':' | '\n' | '\r') || matches!(head.get(stop + 1), Some('—' | '-' | '\n' | '\r'));
    set_off && is_salutation(&lower_case_words(&head[..stop]))
}

fn is_salutation(words: &[String]) -> bool {
    let modifiers = words.iter().take_while(|word| matches!(word.as_str(), "my" | "own" | "very" | "most")).count();
    match words.get(modifiers).map(String::as_str) {
        Some("sir" | "sirs" | "madam" | "gentlemen") => words.len() == 1,
        Some(word) => words.len() > modifiers + 1 && words.len() < 8 && ENGLISH.is(word, GREETING),
        None => false,
    }
}

/// Whether an English paragraph is only a date line: `Harwich, Sept. 6.`
fn is_date_line(text: &[char]) -> bool {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    if text.len() > 90 || text.contains(&'!') || text.contains(&'?') {
        return false;
    }
    let words = lower_case_words(text);
    let number = words.iter().any(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let month = |word: &String| MONTHS.iter().any(|month| word.starts_with(month)) && word.len() < 10;
    let day = |word: &String| word.len() > 5 && word.ends_with("day");
    words.len() < 14 && (number && words.iter().any(month) || words.len() < 7 && words.iter().any(day))
}

/// Whether an English paragraph ends like a letter: `Yours truly, J. Hale`. If it is `known` to be a letter, `Yours,`
/// is enough.
fn is_closing(text: &[char], known: bool) -> bool {
    let tail = lower_case_words(&text[text.len().saturating_sub(90)..]);
    let tail = &tail[tail.len().saturating_sub(12)..];
    tail.iter().enumerate().any(|(i, word)| {
        let next = tail.get(i + 1).map(String::as_str).unwrap_or_default();
        let closing = ENGLISH.is(next, CLOSING);
        match word.as_str() {
            "yours" | "your's" => closing || known && text.len() < 60 && i == 0,
            "your" => closing && tail[i + 1..].iter().any(|word| ENGLISH.is(word, KIN | CLOSING) && word != next),
            "am" | "remain" => known && i == 1 && tail[0] == "i" && tail.iter().any(|word| ENGLISH.is(word, GREETING)),
            _ => false,
        }
    })
}

/// Whether an English paragraph is only a name.
fn is_signature(text: &[char]) -> bool {
    let words: Vec<&[char]> = text.split(|c| c.is_whitespace()).filter(|word| !word.is_empty()).collect();
    let capital = |word: &&[char]| word[0].is_uppercase() && !word.contains(&'!') && !word.contains(&'?');
    words.len() < 6 && words.iter().all(capital)
}

/// Whether the text has no lower-case letters, and more than three capitals.
fn is_upper_case(text: &[char]) -> bool {
    !text.iter().any(|c| c.is_lowercase()) && text.iter().filter(|c| c.is_uppercase()).count() > 3
}

/// Returns the last sentence of the narration.
fn last_sentence(lead: &[char]) -> &[char] {
    let end = lead.iter().rposition(|c| c.is_alphanumeric()).map_or(0, |i| i + 1);
    let start = (0..end).rev().find(|&i| {
        let stop = matches!(lead[i], '.' | '!' | '?' | '”' | '"');
        let word = lead[..i].rsplit(|c| !c.is_alphabetic()).next().unwrap_or_default();
        stop && !(lead[i] == '.' && (word.len() == 1 || ENGLISH.is(&lower_case(word), ABBREVIATION)))
    });
    &lead[start.map_or(0, |start| start + 1)..end]
}

/// Returns the words of English text in lower case.
fn lower_case_words(text: &[char]) -> Vec<String> {
    let within = |c: &char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '&');
    text.split(|c| !within(c)).filter(|word| !word.is_empty()).map(lower_case).collect()
}

fn lower_case(word: &[char]) -> String {
    word.iter().flat_map(|&c| if c == '’' { '\'' } else { c }.to_lowercase()).collect()
}
