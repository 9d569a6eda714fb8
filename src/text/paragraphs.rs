//! Decides which lines of a text start a paragraph. All modules use this rule, so that paragraph boundaries agree.
//!
//! Books have one line per paragraph, or hard-wrapped lines with blank lines between paragraphs, or hard-wrapped lines
//! where only an indent starts a paragraph. The layout is detected from the shapes of the lines, not from words.

/// A line of more columns than this is not hard-wrapped.
const LONG: u8 = 120;
/// The share of the full width, as a fraction, below which a line was broken by the author rather than by wrapping.
const FILLED: (u16, u16) = (6, 10);

/// The shape of a line, in columns. A Chinese character has two columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// The width without surrounding white space, capped just above [`LONG`]; 0 for a blank line.
    width: u8,
    /// The width of the leading white space, capped at 255.
    indent: u8,
    /// The width of the first word, capped like `width`.
    first: u8,
    /// Whether it ends like a sentence, a quotation or an introduction of speech.
    ended: bool,
}

impl Shape {
    /// Returns the shape of a line, with or without its line break.
    pub fn of(line: impl DoubleEndedIterator<Item = char> + Clone) -> Self {
        let mut shape = Self::default();
        let Some(last) = line.clone().rev().find(|c| !c.is_whitespace()) else { return shape };
        shape.ended = ends(last);
        let (mut begun, mut within, mut blanks) = (false, true, 0_u8);
        for c in line {
            if c.is_whitespace() {
                within &= !begun;
                let blanks = if begun { &mut blanks } else { &mut shape.indent };
                *blanks = blanks.saturating_add(columns(c));
                continue;
            }
            begun = true;
            let width = shape.width.saturating_add(columns(c)).saturating_add(std::mem::take(&mut blanks));
            shape.width = width.min(LONG + 1);
            if within {
                shape.first = shape.width;
                // A line may be broken after any Chinese character.
                within = columns(c) == 1;
            }
            if shape.width > LONG {
                break;
            }
        }
        shape
    }

    /// Returns the shape of a line, with or without its line break. The same as [`of`](Self::of), but fast for English.
    #[must_use]
    pub fn of_line(line: &str) -> Self {
        let inner = line.trim_ascii();
        if inner.is_empty() || !is_narrow(line) {
            return Self::of(line.chars());
        }
        let width = if inner.is_ascii() { inner.len() } else { inner.chars().count() };
        let first = inner.chars().take_while(|c| !c.is_ascii_whitespace()).count();
        let counted = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        Self {
            width: counted(width).min(LONG + 1),
            indent: counted(line.len() - line.trim_ascii_start().len()),
            first: counted(first).min(LONG + 1),
            ended: inner.ends_with(ends),
        }
    }

    /// Whether it is the shape of a blank line.
    #[must_use]
    pub const fn is_blank(self) -> bool {
        self.width == 0
    }
}

/// Whether all characters of a line are printable ASCII or punctuation such as curly quotes and dashes, with one column
/// each and no white space except ASCII. A branch-free check of the bytes, with false negatives.
fn is_narrow(line: &str) -> bool {
    let is_narrow = |byte: u8| matches!(byte, b' '..=b'~' | b'\r' | b'\n' | 0xe2 | 0x80 | 0x93..=0xa6);
    // Of the characters made of these bytes, only U+2000 is white space.
    line.bytes().fold(true, |all, byte| all & is_narrow(byte)) && (line.is_ascii() || !line.contains("\u{2000}"))
}

const fn columns(c: char) -> u8 {
    match c as u32 {
        0x09 => 4,
        0x2E80..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFE30..=0xFE4F | 0xFF00..=0xFF60 | 0x20000..=0x3FFFF => {
            2
        }
        _ => 1,
    }
}

/// Whether a final character ends a sentence, a quotation or an introduction of speech.
const fn ends(last: char) -> bool {
    matches!(last, '.' | '!' | '?' | '”' | '"' | '。' | '！' | '？' | '」' | '』' | '．' | '…' | '：' | '；' | '）')
}

/// The paragraph layout of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Each line is a paragraph.
    Lines,
    /// Paragraphs are separated by blank lines.
    Wrapped {
        /// The width of full lines.
        full: u16,
    },
    /// Paragraphs are separated by blank lines, or start with an indent wider than `margin`.
    Indented { full: u16, margin: u16 },
}

/// Whether lines are hard-wrapped, so that a paragraph spans several lines.
#[must_use]
pub fn is_wrapped(shapes: &[Shape]) -> bool {
    layout(shapes) != Layout::Lines
}

fn layout(shapes: &[Shape]) -> Layout {
    let mut widths = [0_usize; LONG as usize + 1];
    let mut indents = [0_usize; 64];
    let (mut filled, mut long) = (0_usize, 0_usize);
    for shape in shapes.iter().filter(|shape| !shape.is_blank()) {
        filled += 1;
        if shape.width > LONG {
            long += 1;
        } else {
            widths[usize::from(shape.width)] += 1;
        }
        indents[usize::from(shape.indent).min(63)] += 1;
    }
    if filled < 2 || long * 50 > filled {
        return Layout::Lines;
    }
    // The width that 90% of the lines do not exceed.
    let mut below = 0;
    let wide = widths.iter().position(|count| {
        below += count;
        below * 10 >= filled * 9
    });
    let full = u16::try_from(wide.unwrap_or_default()).unwrap_or(u16::from(LONG));
    // The margin is the smallest indent of more than 5% of the lines.
    let margin = indents.iter().position(|count| count * 20 > filled).unwrap_or_default();
    let margin = u16::try_from(margin).unwrap_or_default();
    // Counts lines that continue a full line, lines after a finished one, and indented lines.
    let (mut continues, mut follows, mut below_end, mut indented, mut indented_below_end) = (0, 0, 0, 0, 0);
    for pair in shapes.windows(2).filter(|pair| !pair[0].is_blank() && !pair[1].is_blank()) {
        let (before, after) = (pair[0], pair[1]);
        if u16::from(after.indent) > margin + 1 {
            indented += 1;
            indented_below_end += usize::from(before.ended);
        } else {
            follows += 1;
            below_end += usize::from(before.ended);
            continues += usize::from(u16::from(before.width) * 10 >= full * 7 && !before.ended);
        }
    }
    // A wrapped line seldom ends a sentence.
    if follows == 0 || continues * 2 <= follows || below_end * 2 >= follows {
        return Layout::Lines;
    }
    // Lines of verse are indented too, but few of them follow the end of a sentence.
    if indented * 8 > follows && indented_below_end * 3 > indented * 2 {
        Layout::Indented { full, margin }
    } else {
        Layout::Wrapped { full }
    }
}

/// Returns, for each line, whether it starts a paragraph. Blank lines never do.
#[must_use]
pub fn paragraph_starts(shapes: &[Shape]) -> Vec<bool> {
    let layout = layout(shapes);
    let mut starts = vec![false; shapes.len()];
    let (full, margin) = match layout {
        Layout::Lines => {
            for (start, shape) in starts.iter_mut().zip(shapes) {
                *start = !shape.is_blank();
            }
            return starts;
        }
        Layout::Wrapped { full } => (full, None),
        Layout::Indented { full, margin } => (full, Some(margin)),
    };
    let mut at = 0;
    while at < shapes.len() {
        if shapes[at].is_blank() {
            at += 1;
            continue;
        }
        let joins =
            |shape: &Shape| !shape.is_blank() && margin.is_none_or(|margin| u16::from(shape.indent) <= margin + 1);
        let group = shapes[at + 1..].iter().take_while(|shape| joins(shape)).count() + 1;
        let lines = &shapes[at..at + group];
        // If most lines had room for the next word, the breaks are the author's: a list, verse, or a script.
        let room = |pair: &[Shape]| (u16::from(pair[0].width) + u16::from(pair[1].first)) * FILLED.1 < full * FILLED.0;
        let own = lines.windows(2).filter(|pair| room(pair)).count() * 2 > lines.len() - 1;
        starts[at] = true;
        for (nth, pair) in lines.windows(2).enumerate() {
            // A sentence that ends where there was room ends its paragraph.
            starts[at + nth + 1] = own || (pair[0].ended && room(pair));
        }
        at += group;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<usize> {
        let shapes: Vec<Shape> = text.split('\n').map(|line| Shape::of(line.chars())).collect();
        let starts = paragraph_starts(&shapes);
        (0..starts.len()).filter(|at| starts[*at]).collect()
    }

    #[test]
    fn shapes_count_columns() {
        let shape = Shape::of("  　Low water\r\n".chars());
        assert_eq!((shape.indent, shape.width, shape.first, shape.ended), (4, 9, 3, false));
        let shape = Shape::of("河上无风。".chars());
        assert_eq!((shape.indent, shape.width, shape.first, shape.ended), (0, 10, 2, true));
        assert!(Shape::of(" \t\r\n".chars()).is_blank());
        assert_eq!(Shape::of("water".repeat(90).chars()).width, LONG + 1);
    }

    proptest::proptest! {
        #[test]
        fn the_fast_and_slow_shapes_of_a_line_agree(line in "[ \t\r\n\u{b}\u{c}a-zA-Z.,!?\"“”’…—河　\u{2000}\u{a0}-]{0,150}", long in 0_usize..3) {
            let line = line.repeat(1 + long * 2);
            proptest::prop_assert_eq!(Shape::of_line(&line), Shape::of(line.chars()));
        }

        #[test]
        fn the_fast_and_slow_shapes_of_a_narrow_line_agree(line in "[ a-z.,\"“”’…—–\u{2000}\u{2480}\u{24d3}\r\n]{0,150}") {
            proptest::prop_assert_eq!(Shape::of_line(&line), Shape::of(line.chars()));
        }
    }

    #[test]
    fn lines_that_a_width_breaks_are_joined() {
        let wrapped = "The mill stood still that night, and the river went by it under a sky\nthat nobody looked at; there was no ferry, no lamp, and no man on the\nweir. So it went on.\n\nNobody came.\n";
        assert_eq!(starts(&wrapped.repeat(3)), [0, 4, 5, 9, 10, 14]);
        let zh = "　　河上没有风，水车停了三天，守夜的人都睡不着，只听见水从闸下\n过去，一声接着一声。\n　　“谁在外头？”老周问，“渡船七点就走了，潮不涨是不回来的，\n你到别处去罢。”\n";
        assert_eq!(starts(&zh.repeat(2)), [0, 2, 4, 6]);
    }

    #[test]
    fn verse_lists_and_cues_keep_their_lines() {
        let prose = "The mill stood still that night, and the river went by it under a sky\nthat nobody looked at; there was no ferry, no lamp, and no man on the\nweir. So it went on.\n\n";
        let verse = "    The water came,\n    The water went,\n    And nobody knew\n    What the water meant.\n\n";
        let list = "A lamp\nThree sacks\nA letter\n\n";
        assert_eq!(starts(&format!("{prose}{prose}{verse}{list}{prose}")), [0, 4, 8, 9, 10, 11, 13, 14, 15, 17]);
        assert_eq!(starts("“谁在外头？”老周问。\n“我。”\n他没有再说话。\n"), [0, 1, 2]);
        assert_eq!(starts("ANNA. It rains.\nBEN. It rained before.\nANNA. Yes.\n"), [0, 1, 2]);
    }
}
