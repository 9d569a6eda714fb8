//! Quotation marks: which ones a book uses, and where a quotation opens and closes.

use crate::attribution::is_full_width;
use crate::attribution::words::english::{ENGLISH, SPEECH};

/// The marks that a book uses for speech.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    Double,
    Single,
}

/// Returns which marks open words more often, double or single, and how often.
pub(super) fn choose_marks(chars: &[char]) -> (Marks, usize) {
    let (mut double, mut single) = (0_usize, 0_usize);
    let mut before = '\n';
    for pair in chars.windows(2) {
        match pair[0] {
            '“' | '「' | '«' | '『' | '„' | '＂' => double += 2,
            '"' | '”' => double += 1,
            '‘' | '\'' | '`' if may_precede_opening(before) && !pair[1].is_whitespace() => single += 2,
            _ => {}
        }
        before = pair[0];
    }
    if single > double * 2 { (Marks::Single, single / 2) } else { (Marks::Double, double / 2) }
}

/// Whether a mark after this character may be an opening one.
fn may_precede_opening(before: char) -> bool {
    before.is_whitespace()
        || matches!(before, '(' | '[' | '—' | '–' | '-' | '_' | '：' | '，' | '。' | '！' | '？' | '“' | '"')
}

pub(super) fn opens_at(chars: &[char], at: usize, start: usize, end: usize, marks: Marks) -> bool {
    let before = if at > start { chars[at - 1] } else { '\n' };
    let after = if at + 1 < end { chars[at + 1] } else { '\n' };
    match (chars[at], marks) {
        ('“' | '「' | '『' | '«' | '„', _) => true,
        // Some typesetters use guillemets the other way round.
        ('»', _) => may_precede_opening(before) && after.is_alphanumeric() && chars[at..end].contains(&'«'),
        // A straight mark after a word and before whitespace is a stray closing mark.
        ('"' | '＂', _) => at == start || before.is_whitespace() || !after.is_whitespace(),
        ('‘', Marks::Single) => !is_apostrophe(chars, at, end) || single_close(chars, at, end).is_some(),
        ('\'' | '`', Marks::Single) => {
            may_precede_opening(before)
                && !after.is_whitespace()
                && (at == start || !is_apostrophe(chars, at, end))
                && single_close(chars, at, end).is_some()
        }
        _ => false,
    }
}

/// Returns where the quotation opened at `at` ends, where to continue parsing, and whether a mark closed it.
pub(super) fn close_of(chars: &[char], at: usize, end: usize, marks: Marks) -> (usize, usize, bool) {
    let found = match chars[at] {
        '“' => curly_close(chars, at, end),
        '"' | '＂' => straight_close(chars, at, end),
        '„' => (at + 1..end).find(|&i| matches!(chars[i], '“' | '”' | '"')).map(|i| (i, i + 1)),
        '»' => paired_close(chars, at, end, '»', '«'),
        '「' => paired_close(chars, at, end, '「', '」'),
        '『' => paired_close(chars, at, end, '『', '』'),
        '«' => paired_close(chars, at, end, '«', '»'),
        _ if marks == Marks::Single => single_close(chars, at, end).map(|close| (close, close + 1)),
        _ => None,
    };
    found.map_or((end, end, false), |(close, next)| (close, next, true))
}

fn paired_close(chars: &[char], at: usize, end: usize, open: char, shut: char) -> Option<(usize, usize)> {
    let mut depth = 0_usize;
    for (i, &c) in chars.iter().enumerate().take(end).skip(at) {
        if c == open {
            depth += 1;
        } else if c == shut {
            depth -= 1;
            if depth == 0 {
                return Some((i, i + 1));
            }
        }
    }
    // Without this fallback, an unpaired inner mark would extend the quotation to the end of the paragraph.
    (at + 1..end).find(|&i| chars[i] == shut).map(|i| (i, i + 1))
}

fn curly_close(chars: &[char], at: usize, end: usize) -> Option<(usize, usize)> {
    let mut depth = 1_usize;
    let mut i = at + 1;
    while i < end {
        match chars[i] {
            '”' => {
                depth -= 1;
                if depth == 0 {
                    return Some((i, i + 1));
                }
            }
            '“' => {
                // Two closing marks before the next opening mark: a nested quotation. Otherwise the first one was never
                // closed.
                let mut marks = (i + 1..end).filter(|&k| matches!(chars[k], '“' | '”' | '"'));
                let nested =
                    marks.next().is_some_and(|k| chars[k] != '“') && marks.next().is_some_and(|k| chars[k] != '“');
                if !nested {
                    let tag =
                        (at + 1..i).rev().find(|&k| matches!(chars[k], '。' | '！' | '？' | '．' | '.' | '!' | '?'));
                    return Some(tag.map_or((i, i), |k| (k + 1, i)));
                }
                depth += 1;
            }
            '"' => {
                if may_end_speech(chars[i - 1]) || i + 1 == end {
                    return Some((i, i + 1));
                }
                // Marked words inside the speech: skip both marks.
                match (i + 1..end.min(i + 20)).find(|&k| matches!(chars[k], '"' | '“' | '”')) {
                    Some(k) if chars[k] == '"' && !may_end_speech(chars[k - 1]) => i = k,
                    _ => return Some((i, i + 1)),
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

fn straight_close(chars: &[char], at: usize, end: usize) -> Option<(usize, usize)> {
    for i in at + 1..end {
        match chars[i] {
            '”' => return Some((i, i + 1)),
            '"' | '＂' => {
                let opening = chars[i - 1].is_whitespace() && i + 1 < end && !chars[i + 1].is_whitespace();
                return Some(if opening { (i, i) } else { (i, i + 1) });
            }
            '“' => return Some((i, i)),
            _ => {}
        }
    }
    None
}

pub(super) const fn may_end_speech(c: char) -> bool {
    matches!(
        c,
        '。' | '！'
            | '？'
            | '．'
            | '，'
            | '…'
            | '—'
            | '!'
            | '?'
            | '.'
            | ','
            | '-'
            | '；'
            | '：'
            | '’'
            | '』'
            | '」'
            | '）'
            | ')'
            | '_'
    )
}

/// Returns the closing mark of a quotation in single marks: the first after punctuation, else the last before the next
/// quotation opens.
fn single_close(chars: &[char], at: usize, end: usize) -> Option<usize> {
    let shut = if chars[at] == '‘' { '’' } else { '\'' };
    let mut last = None;
    for i in at + 1..end {
        let after = if i + 1 < end { chars[i + 1] } else { '\n' };
        if chars[i] == shut && !after.is_alphanumeric() {
            if may_end_speech(chars[i - 1]) || is_full_width(chars[i - 1]) || tag_follows(chars, i, end) {
                return Some(i);
            }
            last = Some(i);
        } else if chars[i] == chars[at]
            && may_precede_opening(chars[i - 1])
            && !is_apostrophe(chars, i, end)
            && last.is_some()
        {
            break;
        }
    }
    last
}

/// Whether a mark before a comma or full stop closes speech: a speech verb follows within four words.
fn tag_follows(chars: &[char], at: usize, end: usize) -> bool {
    // In `goin’, he said` the apostrophe does not end the quotation.
    if !matches!(chars.get(at + 1), Some(',' | '.')) || chars[..at].ends_with(&['i', 'n']) {
        return false;
    }
    let clause =
        chars[at + 2..end].split(|c| matches!(c, ',' | '.' | ';' | '!' | '?' | ':')).next().unwrap_or_default();
    let mut words = clause.split(|c| !c.is_alphabetic()).filter(|word| !word.is_empty()).take(4);
    words.any(|word| ENGLISH.is(&word.iter().flat_map(|c| c.to_lowercase()).collect::<String>(), SPEECH))
}

/// Whether the mark is an apostrophe for omitted letters, as in `'tis`.
fn is_apostrophe(chars: &[char], at: usize, end: usize) -> bool {
    let word: String = chars[at + 1..end.min(at + 10)]
        .iter()
        .take_while(|c| c.is_alphabetic())
        .flat_map(|c| c.to_lowercase())
        .collect();
    ENGLISH.elided.contains(word.as_str())
}
