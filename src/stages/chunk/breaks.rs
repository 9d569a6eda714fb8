//! Finds where a text can be cut: ends of paragraphs and sentences, scene breaks, and whether a quotation is open there.

use memchr::memchr_iter;

use crate::text::{Shape, paragraph_starts};

/// Returns the byte offsets where paragraphs end. Blank lines belong to the paragraph before them, leading ones to the
/// first paragraph.
pub(super) fn paragraph_ends(text: &str) -> Vec<usize> {
    let (mut shapes, mut begins, mut at) = (Vec::<Shape>::new(), Vec::new(), 0);
    for end in memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).chain([text.len()]) {
        if end == at {
            continue;
        }
        let shape = Shape::of_line(&text[at..end]);
        // Consecutive blank lines count as one.
        if !(shape.is_blank() && shapes.last().is_some_and(|before| before.is_blank())) {
            shapes.push(shape);
            begins.push(at);
        }
        at = end;
    }
    let starts = paragraph_starts(&shapes);
    let mut ends: Vec<usize> =
        begins.into_iter().zip(starts).filter_map(|(at, is_start)| is_start.then_some(at)).skip(1).collect();
    if at > 0 {
        ends.push(at);
    }
    ends
}

/// Returns the byte offsets where sentences end, including the end of the text. Closing marks and spaces belong to the
/// sentence before them.
pub(super) fn sentence_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut closing = false;
    for (at, c) in text.char_indices() {
        if matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '．' | '…') {
            closing = true;
        } else if closing && !(c.is_whitespace() || matches!(c, '”' | '"' | '’' | '\'' | '」' | '』' | '）' | ')'))
        {
            // A Latin full stop ends a sentence only before white space.
            let before = text[..at].chars().next_back();
            if before.is_some_and(char::is_whitespace) || !text[..at].ends_with('.') {
                ends.push(at);
            }
            closing = false;
        }
    }
    ends.push(text.len());
    ends
}

/// Whether a paragraph ends inside a quotation. Marks that do not match are interpreted by what is open.
pub(crate) fn ends_in_quotation(text: &str) -> bool {
    in_quotation_after(false, text)
}

/// Returns whether a quotation is open after `text`, given whether it was open before. Searches for quotation marks in
/// blocks, since most text has none.
pub(super) fn in_quotation_after(in_quotation: bool, text: &str) -> bool {
    const BLOCK: usize = 32;
    let (bytes, mut in_quotation) = (text.as_bytes(), in_quotation);
    let mut update = |at: usize| match (bytes[at], at.checked_sub(2).and_then(|from| text.get(from..=at))) {
        (b'"', _) | (_, Some("＂")) => in_quotation = !in_quotation,
        (_, Some("“" | "「" | "『")) => in_quotation = true,
        (_, Some("”" | "」" | "』")) => in_quotation = false,
        _ => {}
    };
    let (Some((_, lasts)), Some((_, befores))) = (bytes.split_first(), bytes.split_last()) else { return in_quotation };
    update(0);
    let (blocks, rest) = lasts.as_chunks::<BLOCK>();
    for (block, (lasts, befores)) in blocks.iter().zip(befores.as_chunks::<BLOCK>().0).enumerate() {
        let marks: [bool; BLOCK] = std::array::from_fn(|at| may_quote(befores[at], lasts[at]));
        if marks.iter().fold(false, |any, mark| any | mark) {
            let marked = (block * BLOCK + 1..).zip(marks).filter(|(_, mark)| *mark);
            marked.for_each(|(at, _)| update(at));
        }
    }
    (bytes.len() - rest.len()..bytes.len()).for_each(update);
    in_quotation
}

/// Whether a quotation mark may end with these two bytes. All marks but `"` have three bytes, and few other characters
/// end like them.
const fn may_quote(before: u8, last: u8) -> bool {
    let print = before == 0x80 && (last & 0xfc == 0x8c || last & 0xfe == 0x9c);
    last == b'"' || print || (before == 0xbc && last == 0x82)
}

/// Whether a text starts with an opening quotation mark.
pub(super) fn starts_quotation(text: &str) -> bool {
    text.starts_with(['“', '"', '「', '『', '‘'])
}

/// Whether a line consists only of ornaments, as a scene break does.
pub(crate) fn is_scene_break(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| c.is_whitespace() || is_ornament(c)) && line.chars().nth(40).is_none()
}

/// Whether a character is one of those that scene breaks consist of.
pub(super) fn is_ornament(c: char) -> bool {
    "*＊#＃~～-—_=•·…◇◆○●☆★※□■".contains(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn open_quotations_are_tracked_by_their_marks(text in "[a-z ，。“”「」『』\"＂䀌㼂]{0,90}", in_quotation: bool) {
            let expected = text.chars().fold(in_quotation, |in_quotation, c| match c {
                '"' | '＂' => !in_quotation,
                '“' | '「' | '『' => true,
                '”' | '」' | '』' => false,
                _ => in_quotation,
            });
            prop_assert_eq!(in_quotation_after(in_quotation, &text), expected);
        }
    }

    #[test]
    fn short_unseparated_lines_are_paragraphs() {
        let talk = "“谁在外头？”老周问。\n“我。”\n他没有再说话。\n\n".repeat(9);
        assert_eq!(paragraph_ends(&talk).len(), 27);
        let wrapped = "The mill stood still that night, and the river\nwent by it under a sky that nobody looked\nat. So it went on.\n\n";
        assert_eq!(paragraph_ends(&wrapped.repeat(9)).len(), 9);
    }
}
