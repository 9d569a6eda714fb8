//! Quotations that continue over lines of verse.

use super::quotation_marks::may_end_speech;
use crate::attribution::Paragraph;

/// Whether a line of verse continues in the next: both short and indented, without a blank line between them.
pub(super) fn continues_verse(chars: &[char], line: &Paragraph, next: &Paragraph) -> bool {
    const LONGEST: u32 = 60;
    let indented = |paragraph: &Paragraph| chars[..paragraph.start as usize].ends_with(&[' ', ' ']);
    let breaks = chars[line.end as usize..next.start as usize].iter().filter(|&&c| c == '\n').count();
    let opened = matches!(chars[next.start as usize], '“' | '‘' | '"' | '«');
    breaks == 1
        && !next.border
        && !opened
        && [line, next].into_iter().all(|paragraph| indented(paragraph) && paragraph.end - paragraph.start < LONGEST)
}

/// Returns where a quotation ends in a line of verse that continues it, where to continue parsing, and whether a mark
/// closed it.
pub(super) fn verse_end(chars: &[char], before: usize, line: &Paragraph) -> (usize, usize, bool) {
    let shut = match chars[before] {
        '‘' => '’',
        '“' => '”',
        '«' => '»',
        other => other,
    };
    let (start, end) = (line.start as usize, line.end as usize);
    let closes = |i: &usize| {
        let inner = chars[*i] == '”' && chars[start..*i].contains(&'“');
        let after = chars[i + 1..end].first().is_none_or(|c| !c.is_alphanumeric());
        chars[*i] == shut && *i > start && !inner && after && (may_end_speech(chars[i - 1]) || chars[i - 1] == '”')
    };
    (start..end).find(closes).map_or((end, end, false), |i| (i, i + 1, true))
}
