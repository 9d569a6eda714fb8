//! The exact search for an utterance.

use std::ops::Range;

use memchr::memmem::Finder;

use super::alignment::find_cut_off;
use super::matches::{ExactMatch, MatchedRanges};
use super::normalized::{NormalizedText, SEPARATOR};
use super::passage_search::PassageIndex;
use super::token::Begins;
use crate::text::is_han;

/// The maximum number of matches examined on each side of the previous one.
pub(super) const MAX_MATCHES: usize = 400;

/// How much of the surrounding clause is examined, in code points.
pub(super) const CLAUSE_CONTEXT: u32 = 60;

impl PassageIndex<'_> {
    /// Searches the dialogue, then the whole text. Ranges that are not cut off and not matched yet are preferred, then
    /// those that open a quotation or come after `after`.
    pub(super) fn find_exact(
        &self,
        speech: &NormalizedText,
        after: u32,
        matched: &MatchedRanges,
    ) -> Option<ExactMatch> {
        let length = speech.chars.len();
        let search = |is_dialogue: bool| {
            let text = self.normalized(is_dialogue);
            let mut best: Option<((bool, bool, bool, bool), ExactMatch)> = None;
            // Later matches come first, so that a phrase that occurs a thousand times is not scanned in full each time.
            let first_later = text.points.partition_point(|point| *point < after);
            let first_later = text.bytes.get(first_later).copied().unwrap_or(text.text.len());
            let finder = Finder::new(&speech.text);
            let later =
                finder.find_iter(&text.text.as_bytes()[first_later..]).map(|byte| first_later + byte).take(MAX_MATCHES);
            let earlier =
                finder.find_iter(text.text.as_bytes()).take_while(|byte| *byte < first_later).take(MAX_MATCHES);
            for byte in later.chain(earlier) {
                let from = text.char_index(byte);
                let to = from + length;
                let letter = |at: Option<usize>| {
                    at.and_then(|at| text.chars.get(at)).is_some_and(|c| c.is_alphanumeric() && !is_han(*c))
                };
                let inside = |at: usize| letter(at.checked_sub(1)) && letter(Some(at));
                if inside(from) || inside(to) {
                    continue;
                }
                let range = text.book_range(from, to);
                let exact = ExactMatch {
                    range,
                    already_matched: matched.has(range),
                    is_cut_off: self.is_cut_off(range, is_dialogue, speech),
                };
                let opens = is_dialogue && (from == 0 || text.chars[from - 1] == SEPARATOR);
                let rank = (!exact.is_cut_off, !exact.already_matched, opens, range.0 >= after);
                if best.is_none_or(|(found, _)| rank > found) {
                    best = Some((rank, exact));
                }
                // An unmatched one that opens a quotation after the previous match is the best possible.
                if rank == (true, true, true, true) {
                    break;
                }
            }
            best.map(|(_, exact)| exact)
        };
        // A word or two of narration is not an utterance.
        let least = if speech.chars.iter().any(|c| is_han(*c)) { 5 } else { 12 };
        let in_dialogue = search(true);
        if in_dialogue.is_some_and(|exact| !exact.is_cut_off && !exact.already_matched) || length < least {
            return in_dialogue;
        }
        let in_text =
            search(false).filter(|exact| !(exact.is_cut_off || in_dialogue.is_some() && exact.already_matched));
        in_text.or(in_dialogue)
    }

    /// Whether a range is cut out of its clause in a way that changes the meaning: without a name, a number or a
    /// negation, or because it is only a word or two.
    pub(super) fn is_cut_off(&self, range: (u32, u32), is_dialogue: bool, speech: &NormalizedText) -> bool {
        let Range { start, end } = self.bounds(range, is_dialogue);
        let blank = |c: &char| c.is_whitespace();
        let before = self.book.slice(range.0.saturating_sub(CLAUSE_CONTEXT).max(start), range.0);
        let after = self.book.slice(range.1, (range.1 + CLAUSE_CONTEXT).min(end));
        let inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let torn = inner(before.chars().rev().find(|c| !blank(c))) || inner(after.chars().find(|c| !blank(c)));
        let short = if speech.chars.iter().any(|c| is_han(*c)) {
            speech.chars.len() < 4
        } else {
            speech.chars.iter().filter(|c| **c == ' ').count() < 2
        };
        let comma = before.trim_end().ends_with([',', '，', '、']);
        if !torn && !comma {
            return false;
        }
        if torn && short {
            return true;
        }
        let mut passage = self.words(before, range.0 - u32::try_from(before.chars().count()).unwrap_or(0));
        let first = passage.len();
        let own = self.words(self.book.slice(range.0, range.1), range.0);
        let begins = |text: &str| {
            let mark = text.chars().rev().find(|c| !c.is_whitespace());
            mark.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '-' | '·'))
        };
        passage.extend(own);
        let last = passage.len().saturating_sub(1);
        passage.extend(self.words(after, range.1));
        if first > last {
            return false;
        }
        // The three parts were tokenized separately, so that each seems to begin a sentence.
        let own_begins = match before.trim_end().chars().next_back() {
            Some(',' | '，' | '、') => Begins::Clause,
            _ if begins(before) => Begins::Sentence,
            _ => Begins::Nothing,
        };
        passage[first].begins = own_begins;
        if let Some(next) = passage.get_mut(last + 1)
            && after.trim_start().starts_with(char::is_alphanumeric)
        {
            next.begins = Begins::Nothing;
        }
        find_cut_off(&passage, first, last, &|word| self.is_used(word)).is_some()
    }
}
