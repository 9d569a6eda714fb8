//! Speeches: who says each one, and the stage directions in it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::headings::{closing_bracket, is_bracketed, is_heading};
use super::parser::{ScriptCue, ScriptParser};
use super::word_lists::SCRIPT_WORDS;
use crate::attribution::people::CharacterDraft;
use crate::attribution::{Quotation, QuotationKind, flatten, to_u32};
use crate::text;
use crate::text::is_group_name;

impl ScriptParser<'_> {
    pub(super) fn add_speeches(&mut self) {
        let names: BTreeSet<String> = self.cues.iter().flatten().map(|cue| cue.name.clone()).collect();
        let titles = short_names(&names);
        let mut i = 0;
        while i < self.lines.len() {
            let Some(cue) = self.cues[i].take() else {
                i += 1;
                continue;
            };
            let speaker = self.speaker(&cue, &names, &titles);
            let mut asides: Vec<String> = Vec::new();
            asides.extend(cue.aside.filter(|aside| !is_technical(aside)));
            let start = cue.speech.unwrap_or(self.lines[cue.last].end);
            let mut end = if cue.speech.is_some() { self.lines[cue.last].end } else { start };
            i = cue.last + 1;
            // A wrapped speech ends at the next cue or blank line.
            while !self.blank(i) && (cue.speech.is_none() || !is_heading(self.text(i)) && self.cues[i].is_none()) {
                // A bracketed last line describes the stage, not the speaker.
                let last = self.blank(i + 1) || self.cues[i + 1].is_some();
                if cue.speech.is_none() || !(last && is_bracketed(self.text(i))) {
                    end = self.lines[i].end;
                }
                i += 1;
            }
            self.add_speech(speaker, start, end, asides);
        }
    }

    /// Returns the character of a cue, with its name in title case; none if several speak.
    pub(in crate::attribution) fn speaker(
        &mut self,
        cue: &ScriptCue,
        names: &BTreeSet<String>,
        titles: &BTreeMap<String, String>,
    ) -> Option<usize> {
        if joins_names(&cue.name, names) || is_group_name(&cue.name) {
            return None;
        }
        let name = title_case(&cue.name);
        let cast = &mut self.cast;
        let key = cue.key();
        let person = *self.index.entry(titles.get(&key).cloned().unwrap_or(key)).or_insert_with(|| {
            cast.push(CharacterDraft { name: Some(name.clone()), ..CharacterDraft::default() });
            cast.len() - 1
        });
        self.cast[person].add(&name, 1);
        // Mixed case as printed is better: title-casing `MCPHEE` would lose the `P` of `McPhee`.
        if cue.name.chars().any(char::is_lowercase) {
            self.cast[person].name = Some(name);
        }
        Some(person)
    }

    /// Adds a speech as one quotation. Stage directions inside it are removed and become the speaker's action.
    fn add_speech(&mut self, speaker: Option<usize>, start: usize, end: usize, mut asides: Vec<String>) {
        let mut words: Vec<char> = Vec::new();
        let (mut first, mut last) = (None, start);
        let mut at = start;
        while at < end {
            let close = closing_bracket(self.chars[at])
                .and_then(|close| self.chars[at..end].iter().position(|&c| c == close).map(|close| at + close));
            if let Some(close) = close {
                let inside: String = flatten(&self.chars[at + 1..close]);
                asides
                    .extend(Some(inside.trim_matches(['_', '*', ' ']).to_owned()).filter(|inside| !inside.is_empty()));
                // After a removed direction, attach the punctuation that follows to the word before: `Well (he bows).`
                let mark = self.chars.get(close + 1).is_some_and(|c| ".,;:!?…，。；：！？".contains(*c));
                if mark {
                    let kept = words.iter().rposition(|c| !c.is_whitespace()).map_or(0, |last| last + 1);
                    words.truncate(kept);
                } else {
                    words.push(' ');
                }
                at = close + 1;
                continue;
            }
            if !self.chars[at].is_whitespace() {
                first.get_or_insert(at);
                last = at + 1;
            }
            words.push(self.chars[at]);
            at += 1;
        }
        let text = flatten(&words);
        let Some(first) = first.filter(|_| text.chars().any(char::is_alphanumeric)) else { return };
        self.quotations.push(Quotation {
            start: to_u32(first),
            end: to_u32(last),
            text,
            speaker,
            kind: speaker.map(|_| QuotationKind::Script),
            confidence: if speaker.is_some() { 1.0 } else { 0.0 },
            action: speaker.filter(|_| !asides.is_empty()).map(|_| asides.join("; ")),
        });
    }
}

/// Whether a name joins several known names: 甲和乙. Each part must be a known name, as one person may be called 和珅.
fn joins_names(name: &str, names: &BTreeSet<String>) -> bool {
    name.match_indices(['和', '与', '與', '同']).any(|(at, joint)| {
        let (one, other) = (&name[..at], &name[at + joint.len()..]);
        names.contains(one) && (names.contains(other) || joins_names(other, names))
    })
}

/// Returns the short names to use for names with a title, by key: `ROOKE` for `CAPTAIN ROOKE` if no other character is
/// called Rooke.
fn short_names(names: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut bearers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        let title = name.split(' ').take_while(|word| text::is_title(word.trim_end_matches('.'))).count();
        let bare: Vec<&str> = name.split(' ').skip(title).collect();
        if title > 0 && !bare.is_empty() {
            bearers.entry(bare.join(" ").to_lowercase()).or_default().push(name.to_lowercase());
        }
    }
    let spoken: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let one = bearers.into_iter().filter(|(bare, full)| full.len() == 1 && spoken.contains(bare));
    one.map(|(bare, mut full)| (full.remove(0), bare)).collect()
}

/// Whether brackets after a name are a production note and not an action: `(CONT’D)`, `(O.S.)`, `（画外音）`.
fn is_technical(aside: &str) -> bool {
    let capitals = aside.chars().all(|c| !c.is_lowercase()) && aside.chars().any(char::is_uppercase);
    capitals
        || aside.replace(['’', '\''], "").to_lowercase().starts_with("contd")
        || SCRIPT_WORDS.production_notes.iter().any(|note| note == aside)
}

/// Converts a name in capitals to title case.
fn title_case(cue: &str) -> String {
    if cue.chars().any(char::is_lowercase) {
        return cue.to_owned();
    }
    let mut name = String::with_capacity(cue.len());
    let mut begins = true;
    for c in cue.chars() {
        if begins {
            name.push(c);
        } else {
            name.extend(c.to_lowercase());
        }
        begins = !c.is_alphanumeric() && !matches!(c, '’' | '\'');
    }
    name
}
