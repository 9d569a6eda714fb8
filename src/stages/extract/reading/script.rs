//! Plays and screenplays: names stand before speeches, so that no speaker has to be guessed.
//!
//! Reads Fountain (cues in capitals on a line of their own) and speeches in the line of the name (`NAME.`, `NAME:`, `名：`).

use std::collections::BTreeMap;

use super::people::{Draft, settle};
use super::{Kind, Quotation, Reading, flatten, number, paragraphs::paragraphs};

/// A line without the blanks at its ends.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    end: usize,
}

/// What is gathered while a script is read.
struct Play<'a> {
    chars: &'a [char],
    lines: Vec<Line>,
    cast: Vec<Draft>,
    index: BTreeMap<String, usize>,
    quotations: Vec<Quotation>,
}

/// Reads a script.
pub(super) fn read(chars: &[char]) -> Reading {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in chars.split(|&c| c == '\n') {
        let head = line.iter().take_while(|c| c.is_whitespace()).count();
        let tail = line[head..].iter().rev().take_while(|c| c.is_whitespace()).count();
        lines.push(Line { start: at + head, end: at + line.len() - tail.min(line.len() - head) });
        at += line.len() + 1;
    }
    let mut play = Play { chars, lines, cast: Vec::new(), index: BTreeMap::new(), quotations: Vec::new() };
    let first = play.title_page();
    let cues = (first..play.lines.len()).filter(|&i| play.cue(i).is_some()).count();
    let prefixes = play.prefixes(first);
    let inline: u32 = prefixes.values().sum();
    if inline as usize > cues {
        play.inline(first, &prefixes);
    } else {
        play.fountain(first);
    }
    let mut paragraphs = paragraphs(chars);
    for paragraph in &mut paragraphs {
        paragraph.border |= heading(&chars[paragraph.start as usize..paragraph.end as usize]);
    }
    settle(play.cast, play.quotations, paragraphs)
}

/// Whether a paragraph is a scene heading or a section.
fn heading(chars: &[char]) -> bool {
    let line: String = chars.iter().take(100).collect();
    let upper = line.to_uppercase();
    line.starts_with('#')
        || line.starts_with("===")
        || line.starts_with('.') && !line.starts_with("..")
        || ["INT.", "EXT.", "EST.", "INT/EXT", "INT./EXT", "I/E", "INT ", "EXT "]
            .iter()
            .any(|head| upper.starts_with(head))
        || ["内景", "外景", "內景"].iter().any(|head| line.starts_with(head))
}

impl Play<'_> {
    fn text(&self, line: usize) -> &[char] {
        &self.chars[self.lines[line].start..self.lines[line].end]
    }

    fn blank(&self, line: usize) -> bool {
        self.lines.get(line).is_none_or(|line| line.start == line.end)
    }

    /// Returns the first line behind the title page.
    fn title_page(&self) -> usize {
        const KEYS: [&str; 12] = [
            "title",
            "credit",
            "author",
            "authors",
            "source",
            "draft date",
            "date",
            "contact",
            "copyright",
            "notes",
            "format",
            "revision",
        ];
        let first: String = self.text(0).iter().collect();
        let key = first.split(':').next().unwrap_or_default().to_lowercase();
        if !first.contains(':') || !KEYS.contains(&key.as_str()) {
            return 0;
        }
        (0..self.lines.len()).find(|&i| self.blank(i)).unwrap_or(self.lines.len())
    }

    /// Returns the name that a line of Fountain hands speech to: in capitals or forced, between a blank line and a spoken one.
    fn cue(&self, line: usize) -> Option<String> {
        if self.blank(line) || self.blank(line + 1) || line > 0 && !self.blank(line - 1) {
            return None;
        }
        let text: String = self.text(line).iter().collect();
        if heading(self.text(line)) || text.starts_with(['>', '!', '(', '[', '~', '=']) {
            return None;
        }
        let text = text.trim_end_matches('^').trim_end();
        let (text, forced) = text.strip_prefix('@').map_or((text, false), |name| (name, true));
        // `(O.S.)`, `(CONT’D)`: how the voice comes, not whose it is.
        let name = text.split(['(', '（']).next().unwrap_or_default().trim();
        let letters = name.chars().any(char::is_alphabetic);
        let capitals = name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
        let long = name.chars().count() > 40 || name.ends_with([':', '!', '?', ',']);
        (letters && !long && (capitals || forced)).then(|| name.to_owned())
    }

    fn fountain(&mut self, first: usize) {
        let mut i = first;
        while i < self.lines.len() {
            let Some(name) = self.cue(i) else {
                i += 1;
                continue;
            };
            let speaker = self.speaker(&name);
            i += 1;
            let mut asides: Vec<String> = Vec::new();
            let mut spoken: Vec<Line> = Vec::new();
            while !self.blank(i) {
                let text = self.text(i);
                if matches!(text[0], '(' | '（') && matches!(text[text.len() - 1], ')' | '）') {
                    asides.push(flatten(&text[1..text.len() - 1]));
                } else {
                    spoken.push(self.lines[i]);
                }
                i += 1;
            }
            self.say(speaker, &spoken, (!asides.is_empty()).then(|| asides.join("; ")));
        }
    }

    /// Returns the person of a cue, called as a name is written and not in capitals.
    fn speaker(&mut self, cue: &str) -> usize {
        let name = titled(cue);
        let cast = &mut self.cast;
        let person = *self.index.entry(name.clone()).or_insert_with(|| {
            cast.push(Draft { name: Some(name.clone()), ..Draft::default() });
            cast.len() - 1
        });
        self.cast[person].add(&name, 1);
        person
    }

    /// Adds a speech: one quotation, whatever asides part its lines.
    fn say(&mut self, speaker: usize, lines: &[Line], action: Option<String>) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
        let mut words: Vec<char> = Vec::new();
        for line in lines {
            words.extend(&self.chars[line.start..line.end]);
            words.push(' ');
        }
        self.quotations.push(Quotation {
            start: number(first.start),
            end: number(last.end),
            text: flatten(&words),
            speaker: Some(speaker),
            kind: Some(Kind::Script),
            confidence: 1.0,
            action,
        });
    }

    /// Returns the names that stand before speech in one line, with how often they do.
    fn prefixes(&self, first: usize) -> BTreeMap<String, u32> {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for i in first..self.lines.len() {
            if let Some((name, ..)) = self.prefix(i) {
                *counts.entry(name).or_default() += 1;
            }
        }
        // What stands there once may be any sentence, unless it is in capitals.
        counts.retain(|name, count| {
            *count > 1 || name.chars().all(|c| !c.is_lowercase()) && name.chars().any(char::is_uppercase)
        });
        counts
    }

    /// Returns the name before a line's speech, an aside behind the name, and where the speech begins.
    fn prefix(&self, line: usize) -> Option<(String, Option<String>, usize)> {
        let text = self.text(line);
        let stop = text.iter().take(60).position(|c| matches!(c, '.' | ':' | '：' | '(' | '（' | '．'))?;
        let (mut at, mut aside) = (stop, None);
        if matches!(text[stop], '(' | '（') {
            let close = text.iter().position(|c| matches!(c, ')' | '）'))?;
            aside = Some(flatten(&text[stop + 1..close]));
            at = close + 1;
            if !matches!(text.get(at), Some('.' | ':' | '：' | '．')) {
                return None;
            }
        }
        let name: String = text[..stop].iter().collect::<String>().trim().to_owned();
        let words = name.split_whitespace().count();
        let capital = name.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii());
        let each = name.split_whitespace().all(|word| word.starts_with(|c: char| !c.is_lowercase()));
        let han = name.chars().any(|c| !c.is_ascii() && c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase());
        let short = words < 5 && (!han || name.chars().count() < 8);
        if name.is_empty()
            || !capital
            || !each
            || !short
            || !name.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || "’'-&".contains(c))
        {
            return None;
        }
        at += 1;
        while at < text.len() && text[at].is_whitespace() {
            at += 1;
        }
        (at < text.len()).then_some((name, aside, at))
    }

    fn inline(&mut self, first: usize, prefixes: &BTreeMap<String, u32>) {
        let mut i = first;
        while i < self.lines.len() {
            let Some((name, aside, at)) = self.prefix(i).filter(|(name, ..)| prefixes.contains_key(name)) else {
                i += 1;
                continue;
            };
            let speaker = self.speaker(&name);
            let mut speech = Line { start: self.lines[i].start + at, end: self.lines[i].end };
            i += 1;
            // A wrapped speech goes on to the next name or blank line.
            while !self.blank(i)
                && !heading(self.text(i))
                && !matches!(self.text(i)[0], '(' | '[' | '（' | '［' | '【')
                && self.prefix(i).is_none_or(|(name, ..)| !prefixes.contains_key(&name))
            {
                speech.end = self.lines[i].end;
                i += 1;
            }
            self.say(speaker, &[speech], aside);
        }
    }
}

/// Writes a name in capitals as names are written.
fn titled(cue: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn speeches(text: &str) -> Vec<(String, String, Option<String>)> {
        let chars: Vec<char> = text.chars().collect();
        let reading = read(&chars);
        for quotation in &reading.quotations {
            assert_eq!(quotation.kind, Some(Kind::Script));
        }
        reading
            .quotations
            .iter()
            .map(|quotation| {
                let speaker = quotation.speaker.expect("every speech has a name before it");
                (reading.people[speaker].name.clone(), quotation.text.clone(), quotation.action.clone())
            })
            .collect()
    }

    fn speech(name: &str, text: &str, action: Option<&str>) -> (String, String, Option<String>) {
        (name.to_owned(), text.to_owned(), action.map(str::to_owned))
    }

    #[test]
    fn reads_fountain() {
        let text = "Title: Rain\nAuthor: nobody\n\n# Act One\n\nINT. SHED - NIGHT\n\nIt rains.\n\nORLA (O.S.)\nWho is there?\n\nMR. O’DEA ^\n(wet)\nOnly me.\n(sitting)\nAnd the dog.\n\n@McPhee (CONT’D)\nSit down,\nboth.\n\n> CUT TO:\n";
        assert_eq!(
            speeches(text),
            [
                speech("Orla", "Who is there?", None),
                speech("Mr. O’dea", "Only me. And the dog.", Some("wet; sitting")),
                speech("McPhee", "Sit down, both.", None),
            ]
        );
    }

    #[test]
    fn reads_names_in_the_line() {
        let text = "ACT I.\n\nORLA. Who is there?\nIs it you?\n\nDEA. (wet) Only me.\n\nORLA (rising). Sit.\n";
        let found = speeches(text);
        assert_eq!(found[0], speech("Orla", "Who is there? Is it you?", None));
        assert_eq!(found[2], speech("Orla", "Sit.", Some("rising")));
        let chinese = "甲：谁？\n乙（低声）：是我。\n甲：坐。\n乙：好。\n";
        let found = speeches(chinese);
        assert_eq!(found.len(), 4);
        assert_eq!(found[1], speech("乙", "是我。", Some("低声")));
    }
}
