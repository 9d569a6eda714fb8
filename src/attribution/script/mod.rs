//! Attribution for plays and screenplays, where the speaker's name precedes each speech.
//!
//! Parses Fountain, centred names (a cue on its own line) and speeches on the line of the name (`NAME.`, `NAME:`, `名：`,
//! `名　`). `text::parse_cue_line` recognises which lines have the form of a cue. Speeches by
//! several speakers at once are reported as unknown.

mod character_list;
mod cues;
mod headings;
mod parser;
mod speeches;
#[cfg(test)]
mod tests;
mod word_lists;

use std::collections::BTreeMap;

use self::headings::is_heading;
use self::parser::{Line, ScriptParser};
use super::Attribution;
use super::paragraphs::paragraphs;
use super::people::finish;

/// Attributes the speeches of a script.
pub(super) fn read(chars: &[char]) -> Attribution {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in chars.split(|&c| c == '\n') {
        let head = line.iter().take_while(|c| c.is_whitespace()).count();
        let tail = line[head..].iter().rev().take_while(|c| c.is_whitespace()).count();
        lines.push(Line { start: at + head, end: at + line.len() - tail.min(line.len() - head) });
        at += line.len() + 1;
    }
    let mut play = ScriptParser {
        chars,
        lines,
        cues: Vec::new(),
        cast: Vec::new(),
        index: BTreeMap::new(),
        quotations: Vec::new(),
    };
    let first = play.title_page_end();
    play.cues = Vec::with_capacity(play.lines.len());
    while play.cues.len() < play.lines.len() {
        let line = play.cues.len();
        let cue = (line >= first).then(|| play.parse_cue(line)).flatten();
        let next = cue.as_ref().map_or(line, |cue| cue.last) + 1;
        play.cues.push(cue);
        play.cues.resize_with(next, || None);
    }
    play.drop_character_list(first);
    play.keep_usual_cues();
    play.add_speeches();
    let mut paragraphs = paragraphs(chars);
    for paragraph in &mut paragraphs {
        paragraph.border |= is_heading(&chars[paragraph.start as usize..paragraph.end as usize]);
    }
    finish(play.cast, play.quotations, paragraphs)
}
