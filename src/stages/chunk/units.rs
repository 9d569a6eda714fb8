//! Splits text into units between which it can be cut: paragraphs, and sentences or clauses of long ones.

use super::Params;
use super::breaks::{in_quotation_after, is_ornament, is_scene_break, paragraph_ends, sentence_ends, starts_quotation};
use crate::llm::Estimate;

/// The cost of cutting after a unit. The unit of cost is a distance of one chunk length (`max_tokens`) from the ideal
/// cut.
mod cost {
    /// Inside an open quotation.
    pub(super) const QUOTATION: f64 = 0.3;
    /// Inside a paragraph.
    pub(super) const PARAGRAPH: f64 = 0.2;
    /// Between two paragraphs of dialogue.
    pub(super) const DIALOGUE: f64 = 0.04;
    /// At a scene break. Negative, so that cuts there are preferred.
    pub(super) const SCENE_BREAK: f64 = -0.15;
}

/// A paragraph, or part of one that is too long. Offsets are in bytes; trailing blank lines are included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) weight: Weight,
    /// The cost of a cut after this unit.
    pub(super) cost: f64,
}

/// The token count of a passage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    /// An upper bound on the tokens that the passage adds to a text.
    pub(super) tokens: u32,
    /// The estimate, or `None` if tokens are counted exactly or the parts meet inside a word.
    pub(super) estimate: Option<Estimate>,
}

impl Weight {
    pub(super) fn of(text: &str, params: &Params) -> Self {
        if let Some(tokenizer) = params.tokenizer {
            return Self { tokens: tokenizer.count(text), estimate: None };
        }
        let estimate = Estimate::of(text);
        Self { tokens: estimate.tokens(), estimate: Some(estimate) }
    }

    pub(super) fn joined(self, next: Self) -> Self {
        let estimate = self.estimate.zip(next.estimate).and_then(|(before, next)| before.joined(next));
        Self { tokens: self.tokens.saturating_add(next.tokens), estimate }
    }
}

/// Splits a section into paragraphs, and paragraphs over the limit into sentences, then words, then characters.
pub(super) fn units(text: &str, offset: usize, max: u32, params: &Params) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut start = 0;
    // The number of paragraphs that a quotation has been open for. A missing closing mark must not keep it open
    // forever.
    let mut open_paragraphs = 0;
    for end in paragraph_ends(text) {
        let context =
            ParagraphContext { next: text[end..].trim_start(), in_quotation: (1..=6).contains(&open_paragraphs) };
        let in_quotation = paragraph((&text[start..end], offset + start), context, max, params, &mut units);
        open_paragraphs = if in_quotation { open_paragraphs + 1 } else { 0 };
        start = end;
    }
    units
}

/// The context of a paragraph.
#[derive(Debug, Clone, Copy)]
struct ParagraphContext<'a> {
    /// The text that follows, from the first word of the next paragraph.
    next: &'a str,
    /// Whether a quotation from an earlier paragraph is still open.
    in_quotation: bool,
}

/// Splits a paragraph into units, and returns whether a quotation is open at its end.
fn paragraph(
    (text, offset): (&str, usize),
    ParagraphContext { next, in_quotation }: ParagraphContext,
    max: u32,
    params: &Params,
    units: &mut Vec<Unit>,
) -> bool {
    let words = text.trim();
    let weight = Weight::of(text, params);
    // An opening mark at the start of a paragraph repeats that the quotation is open.
    let before = in_quotation && !starts_quotation(words);
    let in_quotation = in_quotation_after(before, words);
    let at_scene_break = is_scene_break(words)
        || next.starts_with(is_ornament) && is_scene_break(next.lines().next().unwrap_or("").trim());
    let in_dialogue = starts_quotation(words) && starts_quotation(next);
    let end_cost = if in_quotation {
        cost::QUOTATION
    } else if at_scene_break {
        cost::SCENE_BREAK
    } else if in_dialogue {
        cost::DIALOGUE
    } else {
        0.0
    };
    if weight.tokens <= max {
        units.push(Unit { start: offset, end: offset + text.len(), weight, cost: end_cost });
        return in_quotation;
    }
    let mut start = 0;
    let mut push = |end: usize, cost: f64, within_word: bool| {
        let mut weight = Weight::of(&text[start..end], params);
        // A word cut in two can count one token more joined than apart.
        weight.tokens += u32::from(within_word);
        units.push(Unit { start: offset + start, end: offset + end, weight, cost });
        start = end;
    };
    // By the estimate, a character counts at most 4/3 tokens. A tokenizer may give each of its bytes one.
    let most = if params.tokenizer.is_some() { max as usize / 8 } else { (max as usize / 2).saturating_sub(2) * 3 / 4 };
    let (mut begun, mut within) = (0, before);
    for end in sentence_ends(text) {
        let sentence = &text[begun..end];
        if params.count_tokens(sentence) > max {
            for (at, within_word) in clause_ends(sentence, most) {
                push(begun + at, cost::PARAGRAPH * 2.0, within_word);
            }
        }
        within = in_quotation_after(within, sentence);
        let cost = if within { cost::QUOTATION } else { cost::PARAGRAPH };
        push(end, if end == text.len() { end_cost } else { cost }, false);
        begun = end;
    }
    in_quotation
}

/// Returns where a sentence over the limit is cut, excluding its own end, and whether each cut is inside a word. Cuts
/// are at white space and commas where possible. No part has more than `most` characters, which never count more than
/// half of the limit.
fn clause_ends(text: &str, most: usize) -> Vec<(usize, bool)> {
    let most = most.max(1);
    let mut ends = Vec::new();
    let (mut start, mut length, mut blank) = (0, 0, None);
    for (at, c) in text.char_indices() {
        if length >= most {
            let (end, within_word) = match blank {
                Some(blank) if blank > start => (blank, false),
                _ => (at, c.is_alphanumeric()),
            };
            ends.push((end, within_word));
            length = text[end..at].chars().count();
            (start, blank) = (end, None);
        }
        length += 1;
        if c.is_whitespace() || matches!(c, '，' | '、' | '；' | '：') {
            blank = Some(at + c.len_utf8());
        }
    }
    ends
}
