//! Speech that starts with a dash at the start of a paragraph and has no closing mark: only the speech tag shows where
//! it ends.

use super::dash_tags::{chinese_tag_end, ends_clause, english_tag_end, is_dash, narration_start};
use super::span::Span;
use crate::attribution::Paragraph;
use crate::schema::Language;

/// Minimum number of paragraphs that start with a dash for the dash to count as a quotation mark.
const MIN_DASH_PARAGRAPHS: usize = 3;

/// Whether a paragraph starts like speech after a dash.
fn opens_speech(chars: &[char], paragraph: &Paragraph) -> bool {
    let line = &chars[paragraph.start as usize..paragraph.end as usize];
    let dashes = line.iter().take_while(|&&c| is_dash(c)).count();
    // A Chinese dash is two dash characters, and marks an interrupted sentence.
    let is_double_dash = dashes == 2 && line.get(2).is_some_and(char::is_ascii);
    !paragraph.border && (dashes == 1 || is_double_dash) && line[dashes..].iter().any(|c| c.is_alphanumeric())
}

/// Whether a book marks its speech with dashes. `marked` is the number of quotations in other marks.
pub(super) fn uses_dashes(chars: &[char], paragraphs: &[Paragraph], marked: usize) -> bool {
    let dashed = paragraphs.iter().filter(|paragraph| opens_speech(chars, paragraph)).count();
    dashed >= MIN_DASH_PARAGRAPHS && dashed > marked
}

/// Returns the quotations of such a book in order.
pub(super) fn dash_quotations(chars: &[char], paragraphs: &[Paragraph], language: Language) -> Vec<Span> {
    let mut spans = Vec::new();
    for (index, paragraph) in paragraphs.iter().enumerate().filter(|(_, paragraph)| opens_speech(chars, paragraph)) {
        let (start, end) = (paragraph.start as usize, paragraph.end as usize);
        for (from, to) in spoken_parts(chars, start, end, language) {
            let blank = |c: &&char| c.is_whitespace() || is_dash(**c);
            let head = chars[from..to].iter().take_while(blank).count();
            let tail = chars[from + head..to].iter().rev().take_while(blank).count();
            let (from, to) = (from + head, to - tail);
            if chars[from..to].iter().any(|c| c.is_alphanumeric()) {
                let first = spans.last().is_none_or(|last: &Span| last.paragraph < index);
                let (outer_start, outer_end) = (if first { start } else { from }, to);
                let (paragraph, continues, written) = (index, false, false);
                spans.push(Span { start: from, end: to, outer_start, outer_end, paragraph, continues, written });
            }
        }
    }
    spans
}

/// Returns the spoken parts of a paragraph, as (start, end).
fn spoken_parts(chars: &[char], start: usize, end: usize, language: Language) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut from = (start..end).find(|&i| !is_dash(chars[i])).unwrap_or(end);
    let mut i = from;
    while i < end {
        let mark = is_dash(chars[i]) && i > from && chars[i - 1].is_whitespace()
            || matches!(chars[i], ',' | '!' | '?' | ';' | '…' | '，' | '！' | '？' | '。' | '；');
        let tag = (i + 1..end).find(|&k| !chars[k].is_whitespace() && !is_dash(chars[k]) && !ends_clause(chars[k]));
        let stop = tag.filter(|_| mark).and_then(|at| match language {
            Language::En => english_tag_end(chars, at, end),
            Language::Zh => chinese_tag_end(chars, at, end),
        });
        // `—Yes. Hale drank. —How old?`: a narrated sentence before a dash that resumes the speech.
        if language == Language::En
            && is_dash(chars[i])
            && i > from
            && chars[i - 1].is_whitespace()
            && let Some(narration) = narration_start(chars, from, i)
        {
            pieces.push((from, narration));
            (from, i) = (i, i + 1);
        } else if let Some(stop) = stop {
            pieces.push((from, i + usize::from(!is_dash(chars[i]))));
            (from, i) = (stop, stop);
        } else {
            i += 1;
        }
    }
    pieces.push((from, end));
    pieces
}
