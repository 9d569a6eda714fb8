//! The result of Chinese attribution: speakers, actions, and the names of unnamed characters.

use super::Dialogue;
use crate::attribution::chinese::clauses::{clause_end, sentence_end};
use crate::attribution::chinese::role_nouns::title_gender;
use crate::attribution::flatten;
use crate::attribution::people::{CharacterDraft, SpeakerAssignment};
use crate::attribution::speakers::SpeakerDecision;
use crate::attribution::words::chinese::CHINESE;

impl Dialogue<'_> {
    /// Returns the characters, and the speaker of each quotation.
    pub(in crate::attribution::chinese) fn finish(
        mut self,
        decisions: Vec<SpeakerDecision>,
    ) -> (Vec<CharacterDraft>, Vec<SpeakerAssignment>) {
        self.referents.cast.iter_mut().filter(|draft| draft.known_character.is_none()).for_each(strip_demonstratives);
        let mut found = vec![SpeakerAssignment::default(); self.spans.len()];
        for (turn, decision) in self.turns.iter().zip(decisions) {
            for (quote, found) in found.iter_mut().enumerate().take(turn.end).skip(turn.first) {
                *found = SpeakerAssignment {
                    speaker: decision.speaker,
                    kind: decision.kind,
                    confidence: decision.confidence,
                    action: decision.speaker.and_then(|_| self.action(quote)),
                };
            }
        }
        (self.referents.cast, found)
    }

    /// Returns the speaker's action after a quotation, if it is a separate sentence of narration without a speech verb.
    fn action(&self, quote: usize) -> Option<String> {
        let span = self.spans[quote];
        let end = self
            .spans
            .get(quote + 1)
            .filter(|next| next.paragraph == span.paragraph)
            .map_or(self.paragraphs[span.paragraph].end as usize, |next| next.outer_start);
        let narration = &self.text[span.outer_end..end];
        let stop = narration.iter().position(|&c| sentence_end(c))?;
        let short = (2..60).contains(&stop) && narration[stop + 1..].iter().all(|c| c.is_whitespace());
        let spoken = matches!(self.text[span.end - 1], '。' | '！' | '？' | '…' | '．' | '!' | '?');
        let silent = !narration[..stop].split(|&c| clause_end(c)).any(|clause| CHINESE.ends_in_speech(clause));
        (short && spoken && silent).then(|| flatten(&self.chars[span.outer_end..=span.outer_end + stop]))
    }
}

/// Demonstratives, which are not part of a name.
pub(in crate::attribution::chinese) const DEMONSTRATIVES: [char; 6] = ['那', '这', '這', '此', '该', '該'];

/// Removes demonstratives from the name of an unnamed character, and demonstrative or generic nouns from the aliases of
/// a named one.
fn strip_demonstratives(draft: &mut CharacterDraft) {
    let name = draft.main_name();
    if !draft.role {
        let is_generic = |form: &str| {
            let form: Vec<char> = form.chars().map(|c| CHINESE.fold(c)).collect();
            let nouns = [&CHINESE.generic_female, &CHINESE.generic_male, &CHINESE.generic_either];
            nouns.iter().any(|words| words.has(&form)) && title_gender(&form).is_none()
        };
        draft.forms.retain(|form, _| *form == name || !form.starts_with(DEMONSTRATIVES) && !is_generic(form));
        return;
    }
    let undetermined = name.trim_start_matches(DEMONSTRATIVES);
    let undetermined = undetermined.strip_prefix(['个', '個', '位', '名']).unwrap_or(undetermined);
    let undetermined = ["一个", "一個", "一位", "一名"]
        .iter()
        .find_map(|count| undetermined.strip_prefix(count))
        .unwrap_or(undetermined);
    if undetermined.len() < name.len() && !undetermined.starts_with('些') {
        // 人 alone is not a name.
        draft.name = Some(if undetermined == "人" || undetermined.is_empty() {
            "某人".to_owned()
        } else {
            undetermined.to_owned()
        });
    }
}
