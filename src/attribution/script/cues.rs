//! Cues: the names that introduce speeches.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::headings::{closing_bracket, is_heading};
use super::parser::{ScriptCue, ScriptParser};
use super::word_lists::SCRIPT_WORDS;
use crate::attribution::flatten;
use crate::text;
use crate::text::{CueSeparator, is_group_name};

/// Maximum length in characters of a name before a stage direction.
const MAX_NAME_LENGTH: usize = 48;

/// Maximum number of further lines that a stage direction after a name may span.
const MAX_WRAPPED_LINES: usize = 8;

impl ScriptParser<'_> {
    /// Parses a cue. A cue without speech on its line must follow a blank line and precede a speech.
    pub(super) fn parse_cue(&self, line: usize) -> Option<ScriptCue> {
        if self.blank(line) || is_heading(self.text(line)) {
            return None;
        }
        let start = self.lines[line].start;
        let mut text: String = self.text(line).iter().collect();
        let mut last = line;
        if text::parse_cue_line(&text).is_none() {
            last = self.last_cue_line(line);
            text = self.chars[start..self.lines[last].end].iter().collect();
        }
        let text::CueLine { name, aside, speech, sure, mark } = text::parse_cue_line(&text)?;
        let speech = (speech < text.len()).then(|| start + text[..speech].chars().count());
        if speech.is_none() && (self.blank(last + 1) || line > 0 && !self.blank(line - 1)) {
            return None;
        }
        let aside = aside.map(|aside| flatten(&aside.chars().collect::<Vec<_>>()));
        // `HALE (O.S.)` and `Hale’s voice` are both Hale.
        let name = SCRIPT_WORDS
            .name_suffixes
            .iter()
            .find_map(|suffix| name.strip_suffix(suffix.as_str()).map(str::to_owned))
            .unwrap_or(name);
        Some(ScriptCue { name, aside, speech, last, sure, mark })
    }

    /// Returns the last line of the stage directions that follow a possible name.
    fn last_cue_line(&self, line: usize) -> usize {
        let text = self.text(line);
        let Some(open) = text.iter().take(MAX_NAME_LENGTH).position(|&c| closing_bracket(c).is_some()) else {
            return line;
        };
        let continues_cue = |next: &usize| {
            let text: String = self.text(*next).iter().collect();
            let another = text::parse_cue_line(&text).is_some_and(|cue| cue.sure || cue.mark == CueSeparator::Colon);
            *next == line || !self.blank(*next) && !another
        };
        let mut last = line;
        let mut at = self.lines[line].start + open;
        while let Some(close) = self.chars.get(at).copied().and_then(closing_bracket) {
            let lines = (last..=(line + MAX_WRAPPED_LINES).min(self.lines.len() - 1)).take_while(continues_cue);
            let found = lines.into_iter().find_map(|next| {
                let from = at.max(self.lines[next].start);
                let end = self.chars[from..self.lines[next].end].iter().position(|&c| c == close)?;
                Some((next, from + end + 1))
            });
            let Some((next, end)) = found else { return line };
            let gap = self.chars[end..self.lines[next].end].iter().take_while(|c| matches!(c, ' ' | '_' | '*')).count();
            (last, at) = (next, end + gap);
        }
        last
    }

    /// Keeps only cues of the form that most speeches of the script have.
    pub(super) fn keep_usual_cues(&mut self) {
        let mut counts: BTreeMap<(String, bool), usize> = BTreeMap::new();
        let mut sure: BTreeSet<String> = BTreeSet::new();
        for cue in self.cues.iter().flatten() {
            *counts.entry((cue.key(), cue.speech.is_none())).or_default() += 1;
            sure.extend(cue.sure.then(|| cue.key()));
        }
        let total = |below: bool, sure_only: bool| -> usize {
            let found = counts
                .iter()
                .filter(|((name, index), count)| *index == below && (sure.contains(name) || !sure_only && **count > 1));
            found.map(|(_, count)| count).sum()
        };
        let inline = total(false, false) > total(true, false);
        // If names are in capitals, other lines of the same form are sentences.
        let capitals = total(!inline, true) * 10 > total(!inline, false) * 6;
        let known = |cue: &ScriptCue| {
            let again = counts.get(&(cue.key(), !inline)).is_some_and(|count| *count > 1);
            let han = !cue.name.is_ascii();
            let short = if han {
                cue.name.split(['、', '和', '与', '與', '同']).all(|name| name.chars().count() < 5)
            } else {
                cue.name.split(' ').count() < 4
            };
            sure.contains(&cue.key())
                || match cue.mark {
                    CueSeparator::Colon => again || short && !capitals,
                    CueSeparator::Stop | CueSeparator::End => again && !capitals,
                    CueSeparator::Gap => han && (again || is_group_name(&cue.name)),
                }
        };
        let own = |cue: &ScriptCue| (cue.speech.is_some() == inline) && known(cue);
        let names: BTreeSet<String> = self.cues.iter().flatten().filter(|cue| own(cue)).map(ScriptCue::key).collect();
        for cue in &mut self.cues {
            // A play with speeches on the cue line may still put a name above verse.
            let stays = |cue: &ScriptCue| own(cue) || inline && names.contains(&cue.key());
            *cue = cue.take().filter(stays);
        }
    }
}
