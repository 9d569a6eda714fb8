//! The exact search for an utterance.

use std::ops::Range;

use memchr::memmem::Finder;

use super::alignment::cut;
use super::matches::{Exact, MatchedRanges};
use super::normalized::{NormalizedText, SEPARATOR};
use super::passage_search::PassageIndex;
use super::token::Begins;
use crate::text::is_han;

/// The maximum number of matches examined on each side of the previous one.
pub(super) const MOST_PLACES: usize = 400;

/// How much of the surrounding clause is examined, in code points.
pub(super) const REST: u32 = 60;

impl PassageIndex<'_> {
    pub(super) fn exact(&self, plain: &NormalizedText, after: u32, taken: &MatchedRanges) -> Option<Exact> {
        let length = plain.chars.len();
        let search = |talk: bool| {
            let ground = self.plain(talk);
            let mut best: Option<((bool, bool, bool, bool), Exact)> = None;
            // Later matches come first, so that a phrase that occurs a thousand times is not scanned in full each time.
            let behind = ground.points.partition_point(|point| *point < after);
            let behind = ground.bytes.get(behind).copied().unwrap_or(ground.text.len());
            let finder = Finder::new(&plain.text);
            let later = finder.find_iter(&ground.text.as_bytes()[behind..]).map(|byte| behind + byte).take(MOST_PLACES);
            let earlier = finder.find_iter(ground.text.as_bytes()).take_while(|byte| *byte < behind).take(MOST_PLACES);
            for byte in later.chain(earlier) {
                let from = ground.index(byte);
                let to = from + length;
                let letter = |at: Option<usize>| {
                    at.and_then(|at| ground.chars.get(at)).is_some_and(|c| c.is_alphanumeric() && !is_han(*c))
                };
                let inside = |at: usize| letter(at.checked_sub(1)) && letter(Some(at));
                if inside(from) || inside(to) {
                    continue;
                }
                let place = ground.place(from, to);
                let exact = Exact { place, taken: taken.has(place), cut: self.cuts(place, talk, plain) };
                let opens = talk && (from == 0 || ground.chars[from - 1] == SEPARATOR);
                let rank = (!exact.cut, !exact.taken, opens, place.0 >= after);
                if best.is_none_or(|(found, _)| rank > found) {
                    best = Some((rank, exact));
                }
                // A whole match after the previous one is the best possible.
                if rank == (true, true, true, true) {
                    break;
                }
            }
            best.map(|(_, exact)| exact)
        };
        // A word or two of narration is not an utterance.
        let least = if plain.chars.iter().any(|c| is_han(*c)) { 5 } else { 12 };
        let talk = search(true);
        if talk.is_some_and(|exact| !exact.cut && !exact.taken) || length < least {
            return talk;
        }
        let whole = search(false).filter(|exact| !(exact.cut || talk.is_some() && exact.taken));
        whole.or(talk)
    }

    /// Whether a range is cut out of its clause in a way that changes the meaning: without a name, a number or a
    /// negation, or because it is only a word or two.
    pub(super) fn cuts(&self, place: (u32, u32), talk: bool, plain: &NormalizedText) -> bool {
        let Range { start, end } = self.bounds(place, talk);
        let blank = |c: &char| c.is_whitespace();
        let before = self.book.slice(place.0.saturating_sub(REST).max(start), place.0);
        let after = self.book.slice(place.1, (place.1 + REST).min(end));
        let inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let torn = inner(before.chars().rev().find(|c| !blank(c))) || inner(after.chars().find(|c| !blank(c)));
        let short = if plain.chars.iter().any(|c| is_han(*c)) {
            plain.chars.len() < 4
        } else {
            plain.chars.iter().filter(|c| **c == ' ').count() < 2
        };
        let comma = before.trim_end().ends_with([',', '，', '、']);
        if !torn && !comma {
            return false;
        }
        if torn && short {
            return true;
        }
        let mut passage = self.words(before, place.0 - u32::try_from(before.chars().count()).unwrap_or(0));
        let first = passage.len();
        let own = self.words(self.book.slice(place.0, place.1), place.0);
        let begins = |text: &str| {
            let mark = text.chars().rev().find(|c| !c.is_whitespace());
            mark.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '-' | '·'))
        };
        passage.extend(own);
        let last = passage.len().saturating_sub(1);
        passage.extend(self.words(after, place.1));
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
        cut(&passage, first, last, &|word| self.is_used(word)).is_some()
    }
}
