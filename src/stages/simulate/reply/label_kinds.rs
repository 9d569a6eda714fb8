//! Parses a speaker label (`Name:`) at the start of a sentence and classifies it by form: a person, a thing, a list
//! number. The cast is not known here.

use super::words::{WORDS, contains};
use crate::text::{bare_name, is_han, is_mark, is_sentence_opener, is_title, label, name_words};

/// Markup characters that may precede a label.
const DECORATION: [char; 9] = ['*', '_', '#', '>', '-', '—', '–', '•', ' '];

/// A possible speaker label at the start of a sentence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label<'t> {
    /// The possible name.
    pub name: &'t str,
    /// An action in parentheses between name and colon; may be empty.
    pub action: &'t str,
    /// The text after the label.
    pub body: &'t str,
    /// Whether the name is in brackets without a colon after them.
    pub without_colon: bool,
    /// Whether a letter follows the colon directly. Then it is a label only if the name is known.
    pub without_space: bool,
}

impl<'t> Label<'t> {
    /// Parses `Name:`, `Name (action):`, `[Name]` or `<Name>` at the start of a sentence.
    pub(crate) fn read(piece: &'t str) -> Option<Self> {
        let piece = piece.trim_start_matches(DECORATION);
        let bracketed = [('[', ']'), ('【', '】'), ('<', '>')].into_iter().find_map(|(open, close)| {
            let (name, body) = piece.strip_prefix(open)?.split_once(close)?;
            let body = body.trim_start_matches(['*', '_', ' ']);
            let (body, without_colon) = body.strip_prefix([':', '：']).map_or((body, true), |body| (body, false));
            Some(Self { name: name.trim(), action: "", body: body.trim_start(), without_colon, without_space: false })
        });
        if let Some(label) = bracketed {
            let fits = !label.name.is_empty() && label.name.chars().count() <= 40;
            return fits.then_some(label);
        }
        let (name, body) = label(piece)?;
        let colon = body.as_ptr() as usize - piece.as_ptr() as usize;
        let close = piece[..colon].ends_with(':');
        let is_time = close && body.starts_with(|c: char| c.is_numeric() && !is_han(c) || c == '/');
        let without_space = close && body.starts_with(|c: char| c.is_alphabetic() && !is_han(c));
        let (name, action) = match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
            Some((front, _)) => (front.trim_end_matches(['*', '_', ' ']), &name[front.len()..]),
            None => (name, ""),
        };
        let marks = [',', '，', '、', '；', ';', '“', '”', '"', '「', '」', '(', ')', '[', ']'];
        let ends = |c: char| is_mark(c) && c != '.';
        let fits = !is_time && !name.is_empty() && !name.contains(marks) && !name.contains(ends);
        fits.then_some(Self {
            name,
            action,
            body: body.trim_start_matches(['*', '_', ' ']),
            without_colon: false,
            without_space,
        })
    }

    /// Parses a label that is not at the start of the reply. A colon within a quotation does not make a label.
    pub(crate) fn read_later(piece: &'t str) -> Option<Self> {
        let is_quoted = piece
            .trim_start_matches(DECORATION)
            .strip_prefix(['“', '"', '「', '『'])
            .and_then(|inside| inside.split([':', '：']).next())
            .is_some_and(|name| !name.contains(['”', '"', '」', '』']));
        if is_quoted { None } else { Self::read(piece) }
    }

    /// Returns whether the text after the label starts like speech in a script.
    pub(crate) fn begins_speech(&self) -> bool {
        let body = self.body.trim_start();
        body.starts_with(char::is_uppercase)
            || body.starts_with(is_han)
            || body.starts_with(['“', '"', '「', '『', '…'])
            || self.is_set_off()
    }

    /// Returns whether an action precedes or follows the colon. A quotation mark is not evidence: mottos are quoted
    /// too.
    pub(crate) fn is_set_off(&self) -> bool {
        !self.action.is_empty() || self.body.starts_with('(')
    }

    /// Returns whether the label could be a speaker label in a script.
    pub(crate) fn is_script_label(&self) -> bool {
        !self.without_colon && !self.without_space && self.begins_speech() && self.has_name_form()
    }

    /// Returns whether the label has the form of a name or role.
    fn has_name_form(&self) -> bool {
        let name = self.name;
        if name.chars().all(is_han) {
            let is_no_speaker = WORDS.chinese_non_speakers.iter().any(|word| name.ends_with(word.as_str()))
                || WORDS.group_address.iter().any(|word| name.starts_with(word.as_str()));
            // Titles such as 先生 and 道长 contain characters of `phrase_characters`, so they are removed first.
            let is_phrase = bare_name(name).contains(|c| WORDS.phrase_characters.contains(c));
            return (2..=5).contains(&name.chars().count()) && !is_no_speaker && !is_phrase;
        }
        let words: Vec<&str> = name.split_whitespace().collect();
        let last = words.last().map_or(String::new(), |word| word.to_lowercase());
        let is_capitalized = |word: &&str| word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let opens_sentence = words.len() == 1 && is_sentence_opener(&last);
        (1..=4).contains(&words.len())
            && name.starts_with(|c: char| c.is_uppercase() && !is_han(c))
            && words.iter().all(|word| is_capitalized(word) || matches!(*word, "of" | "the" | "de"))
            && !opens_sentence
            && !contains(&WORDS.english_non_speakers, &last)
    }

    /// Returns whether the label numbers a list item, such as `Plan A`, `Rule One` or 第一.
    fn is_list_number(&self) -> bool {
        if self.name.chars().all(is_han) {
            return self.name.starts_with(['第', '其']);
        }
        self.name.split_whitespace().any(|word| {
            let is_number = word.chars().count() == 1 || word.chars().all(|c| c.is_ascii_digit());
            is_number || contains(&WORDS.list_numbers, &word.to_lowercase())
        })
    }

    /// Returns whether the label is a name or role with a title, followed by speech.
    pub(crate) fn has_title(&self) -> bool {
        if !self.is_script_label() || self.is_list_number() {
            return false;
        }
        if self.name.chars().all(is_han) {
            return self.name.ends_with("小二") || (is_title(self.name) && identifies_speaker(self.name));
        }
        let mut words = self.name.split_whitespace();
        words.next().is_some_and(|first| first == "The" || is_title(first)) && words.next().is_some()
    }

    /// Returns whether the label clearly introduces an unknown speaker. In a script (`scripted`) any label that does
    /// not number a list item does.
    pub(crate) fn introduces_unknown_speaker(&self, scripted: bool) -> bool {
        if !self.is_script_label() || self.is_list_number() {
            return false;
        }
        // Labels of two characters are too often words such as 功夫 or forms of address such as 师兄.
        let role = || {
            let is_long = self.name.chars().all(is_han) && self.name.chars().nth(2).is_some();
            is_long && (self.name.ends_with(|c| WORDS.role_characters.contains(c)) || self.has_title())
        };
        let titled = || !self.name.chars().all(is_han) && self.has_title();
        scripted || self.is_set_off() || role() || titled()
    }
}

/// Returns whether a name is more than a form of address and so can identify a speaker.
pub(crate) fn identifies_speaker(name: &str) -> bool {
    if name.chars().all(is_han) {
        return !bare_name(name).is_empty();
    }
    !name_words(name).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_from_the_start() {
        for (piece, expected) in [
            ("Guard (salutes): Halt!", Some(("Guard", "(salutes)", "Halt!", false))),
            ("**Guard:** Halt!", Some(("Guard", "", "Halt!", false))),
            ("Guard:Halt!", Some(("Guard", "", "Halt!", true))),
            ("- [守卫]：站住！", Some(("守卫", "", "站住！", false))),
            ("守卫:站住！", Some(("守卫", "", "站住！", false))),
            ("10:30 it turns.", None),
            ("https://example.org", None),
            ("No, Guard: Halt!", None),
        ] {
            let read = Label::read(piece).map(|label| (label.name, label.action, label.body, label.without_space));
            assert_eq!(read, expected, "{piece}");
        }
        for piece in ["“Guard: Halt!”", "- “Guard: Halt!”", "“守卫：站住！”"] {
            assert!(Label::read(piece).is_some() && Label::read_later(piece).is_none(), "{piece}");
        }
        assert!(Label::read_later("“Guard”: Halt!").is_some() && Label::read_later("“守卫”：站住！").is_some());
    }

    #[test]
    fn an_unknown_speaker_label_differs_from_a_list() {
        for (piece, alone, scripted) in [
            ("Captain Reyes: Halt!", true, true),
            ("The Innkeeper: Welcome!", true, true),
            ("Guard: (salutes) Halt!", true, true),
            ("Guard: Halt!", false, true),
            ("Guard Reyes: Halt!", false, true),
            ("Plan A: We swim.", false, false),
            ("Rule One: Nobody speaks.", false, false),
            ("Louis II: Halt!", false, false),
            ("J. Reyes: Halt!", false, true),
            ("Price: Two pence.", false, false),
            ("Guard:Halt!", false, false),
            ("李先生：请坐。", true, true),
            ("店小二：里面请！", true, true),
            ("守门人：站住！", true, true),
            ("路人：(拱手)请。", true, true),
            ("路人：请。", false, true),
            ("功夫：全在手上。", false, true),
            ("第一：带绳子。", false, false),
            ("其一：无粮。", false, false),
            ("各位兄弟：动手。", false, false),
            ("他大哥：不。", false, false),
        ] {
            let label = Label::read(piece).expect("the text has a colon");
            assert_eq!(
                (label.introduces_unknown_speaker(false), label.introduces_unknown_speaker(true)),
                (alone, scripted),
                "{piece}"
            );
        }
    }
}
