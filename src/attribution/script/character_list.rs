//! The list of characters at the start of a play, whose lines are not cues.

use std::collections::BTreeSet;

use super::headings::is_heading;
use super::parser::{ScriptCue, ScriptParser};
use super::word_lists::SCRIPT_WORDS;
use crate::text;

impl ScriptParser<'_> {
    /// Drops the cues in the list of characters. The list ends at a heading, or where one of its names recurs.
    pub(super) fn drop_character_list(&mut self, first: usize) {
        let opens = |line: &usize| {
            let text: String = self.text(*line).iter().take(40).map(|&c| crate::attribution::folded(c)).collect();
            let text = text.to_lowercase();
            let heading = text.trim_matches(|c: char| !c.is_alphanumeric());
            SCRIPT_WORDS.character_list_headings.iter().any(|known| known == heading)
        };
        let Some(head) = (first..self.lines.len()).find(opens) else { return };
        let mut listed: BTreeSet<String> = BTreeSet::new();
        let mut end = head + 1;
        while end < self.lines.len() && !is_heading(self.text(end)) {
            let named = self.cues[end].as_ref().map(ScriptCue::key);
            // `MARTHA KEEL, a widow` may speak as `MARTHA`.
            let known =
                |name: &String| listed.iter().any(|full| full == name || full.split(' ').any(|word| word == name));
            if named.as_ref().is_some_and(known) {
                break;
            }
            let line: String = self.text(end).iter().collect::<String>().to_lowercase();
            let name = line.split([',', '.', ':', '，', '。', '：', '—', '–', '(', '（', '\u{3000}']).next();
            let name = name.map(|name| name.split(" - ").next().unwrap_or(name).trim_matches(['*', '_', '-', ' ']));
            let name = name.map(|name| match name.split_once(' ') {
                Some((name, _)) if name.chars().any(text::is_han) => name,
                _ => name,
            });
            listed.extend(name.map(str::to_owned));
            listed.extend(named);
            end += 1;
        }
        for cue in &mut self.cues[head..end] {
            *cue = None;
        }
    }
}
