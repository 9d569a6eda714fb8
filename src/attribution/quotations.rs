//! Quotation boundaries, for all common quotation marks.
//!
//! Speakers are not considered here. A nested quotation is part of the outer one; marked words that are not speech are
//! left out.

use super::dashes;
use super::tables::{CHINESE, ENGLISH, FAINT, SPEECH};
use super::{Paragraph, wide};
use crate::schema::Language;

/// A passage of direct speech, quotation marks excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Offset of the opening mark.
    pub(super) outer_start: usize,
    /// Offset after the closing mark, or the end of the paragraph if there is none.
    pub(super) outer_end: usize,
    /// Index of its paragraph.
    pub(super) paragraph: usize,
    /// Whether it continues the previous span, which was still open at the end of its paragraph.
    pub(super) continues: bool,
    /// Whether it is writing rather than speech.
    pub(super) written: bool,
}

/// The marks that a book uses for speech.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    Double,
    Single,
}

/// Returns the quotations of a book in order.
pub(super) fn quotations(chars: &[char], paragraphs: &[Paragraph], language: Language) -> Vec<Span> {
    let (marks, marked) = choose_marks(chars);
    if dashes::uses_dashes(chars, paragraphs, marked) {
        return dashes::dash_quotations(chars, paragraphs, language);
    }
    let mut spans: Vec<Span> = Vec::new();
    let mut open: Option<usize> = None;
    // Offset of the mark that opened a quotation still open at the end of a line of verse.
    let mut mark = 0;
    for (index, paragraph) in paragraphs.iter().enumerate() {
        let (start, end) = (paragraph.start as usize, paragraph.end as usize);
        let mut at = start;
        let mut left_open = None;
        if language == Language::En
            && open.is_some_and(|before| before + 1 == index && continues_verse(chars, &paragraphs[before], paragraph))
        {
            let (close, next, closed) = verse_end(chars, mark, paragraph);
            let (outer_start, outer_end) = (start, next);
            let (paragraph, continues, written) = (index, true, false);
            spans.push(Span { start, end: close, outer_start, outer_end, paragraph, continues, written });
            left_open = (!closed).then_some(index);
            at = next;
        }
        while at < end {
            if !opens_at(chars, at, start, end, marks) {
                at += 1;
                continue;
            }
            let (close, next, closed) = close_of(chars, at, end, marks);
            let (mut from, mut to) = (at + 1, close);
            while from < to && chars[from].is_whitespace() {
                from += 1;
            }
            while to > from && chars[to - 1].is_whitespace() {
                to -= 1;
            }
            let continues = at == start && open.is_some_and(|before| before + 1 == index);
            let (outer_start, outer_end, paragraph, written) = (at, next, index, false);
            let span = Span { start: from, end: to, outer_start, outer_end, paragraph, continues, written };
            if from < to && (continues || !closed || is_speech(chars, &span, start, end, language)) {
                spans.push(span);
                left_open = (!closed).then_some(index);
                mark = outer_start;
            }
            at = next.max(at + 1);
        }
        open = left_open;
    }
    spans
}

/// Whether a line of verse continues in the next: both short and indented, without a blank line between them.
fn continues_verse(chars: &[char], line: &Paragraph, next: &Paragraph) -> bool {
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
fn verse_end(chars: &[char], before: usize, line: &Paragraph) -> (usize, usize, bool) {
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

/// Returns which marks open words more often, double or single, and how often.
fn choose_marks(chars: &[char]) -> (Marks, usize) {
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

fn opens_at(chars: &[char], at: usize, start: usize, end: usize, marks: Marks) -> bool {
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
fn close_of(chars: &[char], at: usize, end: usize, marks: Marks) -> (usize, usize, bool) {
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

const fn may_end_speech(c: char) -> bool {
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
            if may_end_speech(chars[i - 1]) || wide(chars[i - 1]) || tag_follows(chars, i, end) {
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

/// Whether marked words are spoken. False for titles of things and for words cited in a sentence, where that is clear.
fn is_speech(chars: &[char], span: &Span, start: usize, end: usize, language: Language) -> bool {
    let words = &chars[span.start..span.end];
    let before = (start..span.outer_start).rev().find(|&i| !chars[i].is_whitespace());
    let last = words[words.len() - 1];
    let alone = (span.outer_end..end).all(|i| chars[i].is_whitespace());
    if language == Language::En && !alone && is_title_of_work(words) {
        return false;
    }
    let Some(before) = before else {
        return alone || language == Language::Zh || !is_cited(chars, span, None, end);
    };
    match language {
        Language::Zh => {
            let c = chars[before];
            if matches!(c, '：' | ':') {
                return true;
            }
            if introduces_name(&chars[start..=before]) {
                return false;
            }
            let full = words.iter().any(|c| matches!(c, '。' | '！' | '？' | '．' | '…' | '!' | '?' | '～'));
            if full {
                return words.len() > 1;
            }
            if matches!(c, '，' | ',') {
                let clause: Vec<char> =
                    chars[start..before].iter().rev().take(4).rev().map(|&c| CHINESE.fold(c)).collect();
                return matches!(last, '，' | ',' | '—') || CHINESE.ends_in_speech(&clause);
            }
            let held = matches!(
                chars.get(span.outer_end),
                Some('字' | '二' | '两' | '兩' | '三' | '四' | '这' | '這' | '之' | '的')
            );
            let clause: Vec<char> =
                chars[start..=before].iter().rev().take(4).rev().map(|&c| CHINESE.fold(c)).collect();
            if words.len() > 1 && !held && CHINESE.ends_in_speech(&clause) {
                return true;
            }
            let paragraph_end = (span.outer_end..end).all(|i| chars[i].is_whitespace());
            matches!(last, '，' | ',' | '—' | '；')
                || (paragraph_end && matches!(c, '。' | '”' | '"' | '」' | '．' | '！' | '？'))
        }
        Language::En => {
            let c = chars[before];
            if is_cited(chars, span, Some(before), end) {
                return false;
            }
            if !c.is_alphanumeric() || matches!(last, '!' | '?' | '.' | '-' | '—' | '…') {
                return true;
            }
            let word: Vec<char> =
                chars[start..=before].iter().rev().take_while(|c| c.is_alphabetic()).copied().collect();
            let word: String = word.iter().rev().flat_map(|c| c.to_lowercase()).collect();
            if ENGLISH.class(&word) & (SPEECH | FAINT) == SPEECH || word == "with" {
                return true;
            }
            let after = (span.outer_end..end).find(|&i| !chars[i].is_whitespace());
            let tag: String = after.map_or_else(String::new, |i| {
                chars[i..end].iter().take_while(|c| c.is_alphabetic()).flat_map(|c| c.to_lowercase()).collect()
            });
            ENGLISH.is(&tag, SPEECH) || words.iter().filter(|c| c.is_whitespace()).count() > 5
        }
    }
}

/// Whether the text before a mark introduces a name: `江湖人称“……”`, `绰号“……”`.
fn introduces_name(before: &[char]) -> bool {
    const NAMING: [&[char]; 11] = [
        &['人', '称'],
        &['号', '称'],
        &['自', '称'],
        &['绰', '号'],
        &['诨', '号'],
        &['外', '号'],
        &['别', '号'],
        &['人', '送'],
        &['称', '为'],
        &['名', '叫'],
        &['叫', '做'],
    ];
    let tail: Vec<char> = before.iter().rev().take(2).rev().map(|&c| CHINESE.fold(c)).collect();
    NAMING.iter().any(|word| tail == *word)
}

/// Whether marked words are a title: two or more words, all capitalised except short ones, without punctuation.
fn is_title_of_work(words: &[char]) -> bool {
    let (mut capitals, mut others) = (0, 0);
    for word in words.split(|c| c.is_whitespace()) {
        let Some(first) = word.first() else { continue };
        if !word.iter().all(|c| c.is_alphabetic() || matches!(c, '’' | '\'' | '-')) {
            return false;
        }
        if first.is_uppercase() {
            capitals += 1;
        } else if word.len() > 3 {
            others += 1;
        }
    }
    capitals > 1 && others == 0
}

/// Whether marked words are cited within a sentence: `“Here” was all of it`, `what she calls “a cry.”`.
fn is_cited(chars: &[char], span: &Span, before: Option<usize>, end: usize) -> bool {
    let words = &chars[span.start..span.end];
    if words.iter().filter(|c| c.is_whitespace()).count() > 3 {
        return false;
    }
    let word = |at: Option<usize>| -> String {
        at.map_or_else(String::new, |at| {
            chars[at..end].iter().take_while(|c| c.is_alphabetic()).flat_map(|c| c.to_lowercase()).collect()
        })
    };
    let next = word((span.outer_end..end).find(|&i| !chars[i].is_whitespace()));
    if words[words.len() - 1].is_alphanumeric()
        && matches!(next.as_str(), "was" | "were" | "is" | "are" | "had" | "meant")
    {
        return true;
    }
    let Some(before) = before.filter(|&before| words[0].is_lowercase() && chars[before].is_alphanumeric()) else {
        return false;
    };
    // Words that continue the sentence are speech only after a speech verb.
    let clause: String = chars[before.saturating_sub(40)..=before].iter().flat_map(|c| c.to_lowercase()).collect();
    let said = clause
        .rsplit(|c: char| !c.is_alphabetic())
        .take(5)
        .any(|word| ENGLISH.class(word) & (SPEECH | FAINT) == SPEECH);
    !said && !ENGLISH.is(&next, SPEECH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::paragraphs::paragraphs;

    fn check(text: &str, language: Language, expected: &[&str]) {
        let chars: Vec<char> = text.chars().collect();
        let found: Vec<String> = quotations(&chars, &paragraphs(&chars), language)
            .iter()
            .map(|span| chars[span.start..span.end].iter().collect())
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn reads_english_marks() {
        check("“Come in,” she said. “Sit.”", Language::En, &["Come in,", "Sit."]);
        check("\"Come in,\" she said. \"Sit.\"", Language::En, &["Come in,", "Sit."]);
        check("‘It isn’t Tom’s,’ said he. ‘’Tis mine.’", Language::En, &["It isn’t Tom’s,", "’Tis mine."]);
        check("'It isn't the dogs' dinner,' said he. 'Sit.'", Language::En, &["It isn't the dogs' dinner,", "Sit."]);
        check("“He said, ‘No,’ and left,” said she.", Language::En, &["He said, ‘No,’ and left,"]);
        check("“He said nothing more.", Language::En, &["He said nothing more."]);
    }

    #[test]
    fn reads_marks_that_stand_inside_the_points_and_marks_of_other_countries() {
        check(
            "‘I’m goin’ home’, said Tom. ‘Are the dogs’ tails wet?’",
            Language::En,
            &["I’m goin’ home", "Are the dogs’ tails wet?"],
        );
        check("`It isn't Tom's,' said he. `'Tis mine.'", Language::En, &["It isn't Tom's,", "'Tis mine."]);
        check("« Come in », she said. « Sit. »", Language::En, &["Come in", "Sit."]);
        check("»Come in,« she said. »Sit.«", Language::En, &["Come in,", "Sit."]);
        check("„Come in,“ she said. „Sit.“", Language::En, &["Come in,", "Sit."]);
    }

    #[test]
    fn reads_speech_behind_dashes() {
        check(
            "—Is it deep? said Hale from the rail.\n\n—Deep enough, Captain Pell answered, and spat. Go in and see.\n\n—I will not.\n\n\
             Hale laughed—for the first time.\n\n—Row, he said, or swim.\n",
            Language::En,
            &["Is it deep?", "Deep enough,", "Go in and see.", "I will not.", "Row,", "or swim."],
        );
        check(
            "—Nobody asked you. Hale drank. —Is it deep?\n\n—It is. The captain sat down. —Very.\n\n—He is here, she told him.\n\n\
             —No. They know. I am sure.\n",
            Language::En,
            &["Nobody asked you.", "Is it deep?", "It is.", "Very.", "He is here,", "No. They know. I am sure."],
        );
        check("“Is it deep?” said Hale.\n\n—It was not.\n", Language::En, &["Is it deep?"]);
        check(
            "—水深么？罗守田问。\n\n—不深，沈阿牛说，下去罢。\n\n—你先下。\n",
            Language::Zh,
            &["水深么？", "不深，", "下去罢。", "你先下。"],
        );
    }

    #[test]
    fn leaves_out_words_that_nobody_says() {
        check("The inn was called “The Anchor,” and it meant it.", Language::En, &[]);
        check("It is entered under “Paid” in the book.", Language::En, &[]);
        check("She only said “no” and went.", Language::En, &["no"]);
        check("“The Blue Boat”; “The Two Weirs”; these were all. “The Locks” had gone.", Language::En, &[]);
        check("She went home and had what she calls “a good cry.”", Language::En, &[]);
        check("“Tide” was all of it.", Language::En, &[]);
        check("He was heard to say “be quiet.”", Language::En, &["be quiet."]);
        check("门上写着“公账房”三个字。", Language::Zh, &[]);
        check("此人姓罗，江湖上人称“铁桨”；他说“不去”，也就罢了。", Language::Zh, &["不去"]);
        check("他问“是谁？”便走了。", Language::Zh, &["是谁？"]);
    }

    #[test]
    fn reads_chinese_marks() {
        check("他道：“去罢。”她道：「不去。」", Language::Zh, &["去罢。", "不去。"]);
        check("他道：“去罢！\"她道：“不去？\"", Language::Zh, &["去罢！", "不去？"]);
        check("他道：“去罢。她道：“不去。”", Language::Zh, &["去罢。", "不去。"]);
        check("他道：『你說「去」麼？』", Language::Zh, &["你說「去」麼？"]);
        check("他道：“又道：“去。”罢了。”", Language::Zh, &["又道：“去。”罢了。"]);
    }

    #[test]
    fn goes_on_over_the_lines_of_a_song() {
        let song = "He sang as he rowed, and nobody was there to hear it:\n\n    “The tide is out, the mud is brown,\n      And all the boats lie over;\n\n    \
                    “He asked me, ‘Which way to the town?’\n      I told him, ‘Ask the drover.’”\n\n“Again!” said Hale.\n\n  \
                    “I never closed this,\nsaid Tom.\n";
        check(
            song,
            Language::En,
            &[
                "The tide is out, the mud is brown,",
                "And all the boats lie over;",
                "He asked me, ‘Which way to the town?’",
                "I told him, ‘Ask the drover.’",
                "Again!",
                "I never closed this,",
            ],
        );
    }

    #[test]
    fn goes_on_over_paragraphs() {
        let text = "“One thing more.\n\n“And another,” he said.";
        let chars: Vec<char> = text.chars().collect();
        let spans = quotations(&chars, &paragraphs(&chars), Language::En);
        assert_eq!(spans.iter().map(|span| span.continues).collect::<Vec<_>>(), [false, true]);
    }
}
