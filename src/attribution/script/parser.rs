//! State and lines of a script.

use std::collections::BTreeMap;

use super::word_lists::SCRIPT_WORDS;
use crate::attribution::Quotation;
use crate::attribution::people::CharacterDraft;
use crate::text::CueSeparator;

/// A line without leading and trailing whitespace.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(in crate::attribution) start: usize,
    pub(in crate::attribution) end: usize,
}

/// A line that may introduce a speech.
pub(super) struct ScriptCue {
    /// The speaker's name as printed.
    pub(in crate::attribution) name: String,
    pub(super) aside: Option<String>,
    /// Offset of the speech in the text; none if it starts on the next line.
    pub(in crate::attribution) speech: Option<usize>,
    /// Index of the last line of the cue; a stage direction after the name may be wrapped.
    pub(in crate::attribution) last: usize,
    pub(in crate::attribution) sure: bool,
    pub(in crate::attribution) mark: CueSeparator,
}

impl ScriptCue {
    pub(super) fn key(&self) -> String {
        self.name.to_lowercase()
    }
}

/// State while a script is parsed.
pub(super) struct ScriptParser<'a> {
    pub(in crate::attribution) chars: &'a [char],
    pub(in crate::attribution) lines: Vec<Line>,
    /// The cue on each line, if any.
    pub(super) cues: Vec<Option<ScriptCue>>,
    pub(in crate::attribution) cast: Vec<CharacterDraft>,
    pub(in crate::attribution) index: BTreeMap<String, usize>,
    pub(in crate::attribution) quotations: Vec<Quotation>,
}

impl ScriptParser<'_> {
    pub(in crate::attribution) fn text(&self, line: usize) -> &[char] {
        &self.chars[self.lines[line].start..self.lines[line].end]
    }

    pub(super) fn blank(&self, line: usize) -> bool {
        self.lines.get(line).is_none_or(|line| line.start == line.end)
    }

    /// Returns the first line after the title page.
    pub(super) fn title_page_end(&self) -> usize {
        let first: String = self.text(0).iter().collect();
        let key = first.split(':').next().unwrap_or_default().to_lowercase();
        if !first.contains(':') || !SCRIPT_WORDS.title_page_keys.contains(&key) {
            return 0;
        }
        (0..self.lines.len()).find(|&i| self.blank(i)).unwrap_or(self.lines.len())
    }
}
