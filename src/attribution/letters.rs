//! Letters and other quoted writing: set in quotation marks, but spoken by no character.
//!
//! Recognised by the narration that introduces them, by greetings and by signatures. A letter without quotation marks
//! is treated as narration.

use super::Paragraph;
use super::quotations::Span;
use super::tables::{ABBREVIATION, CHINESE, CLOSING, ENGLISH, FAINT, GREETING, KIN, SPEECH, WRITES, WRITING};
use crate::schema::Language;

/// Maximum number of quoted paragraphs in a letter, signature included.
const LONGEST: usize = 80;

/// Maximum length in characters of the narration before a quotation that is searched for an introduction.
const LEAD: usize = 240;

/// Marks the quotations that are writing rather than speech.
pub(super) fn mark_written(chars: &[char], paragraphs: &[Paragraph], spans: &mut [Span], language: Language) {
    let mut at = 0;
    while at < spans.len() {
        let page = QuotedWriting { chars, paragraphs, spans };
        let end = match language {
            Language::En => page.english(at),
            Language::Zh => page.chinese(at),
        };
        spans[at..end].iter_mut().for_each(|span| span.written = true);
        at = end.max(at + 1);
    }
}

/// The quotations of a book with the surrounding text.
struct QuotedWriting<'a> {
    chars: &'a [char],
    paragraphs: &'a [Paragraph],
    spans: &'a [Span],
}

impl QuotedWriting<'_> {
    fn text(&self, at: usize) -> &[char] {
        &self.chars[self.spans[at].start..self.spans[at].end]
    }

    /// Returns the narration right after a quotation, within its paragraph.
    fn rest(&self, at: usize) -> &[char] {
        let span = self.spans[at];
        let next = self.spans.get(at + 1).filter(|next| next.paragraph == span.paragraph);
        let end = next.map_or(self.paragraphs[span.paragraph].end as usize, |next| next.outer_start);
        trimmed(&self.chars[span.outer_end.min(end)..end])
    }

    /// Returns the narration right before a quotation, in its paragraph or the previous one.
    fn lead(&self, at: usize) -> &[char] {
        let span = self.spans[at];
        let floor = at.checked_sub(1).map_or(0, |before| self.spans[before].outer_end);
        let mut paragraph = span.paragraph;
        let mut end = span.outer_start;
        if end == self.paragraphs[paragraph].start as usize {
            let Some(before) = paragraph.checked_sub(1).filter(|&before| !self.paragraphs[before].border) else {
                return &[];
            };
            paragraph = before;
            end = self.paragraphs[before].end as usize;
        }
        let start = floor.max(self.paragraphs[paragraph].start as usize).max(end.saturating_sub(LEAD));
        trimmed(&self.chars[start.min(end)..end])
    }

    /// Whether a quotation fills its paragraph.
    fn bare(&self, at: usize) -> bool {
        let span = self.spans[at];
        span.outer_start == self.paragraphs[span.paragraph].start as usize && self.rest(at).is_empty()
    }

    /// Whether a quotation fills the paragraph after that of the previous quotation.
    fn follows(&self, at: usize) -> bool {
        let near = |span: &Span| span.continues || self.spans[at - 1].paragraph + 1 == span.paragraph;
        self.spans.get(at).is_some_and(near) && self.bare(at)
    }

    /// Returns the end of the quotation's run of spans that continue each other over paragraphs.
    fn chain(&self, at: usize) -> usize {
        (at + 1..self.spans.len()).find(|&k| !self.spans[k].continues).unwrap_or(self.spans.len())
    }

    /// Returns the end (exclusive) of the English writing that begins at a quotation; `at` if it is not writing.
    fn english(&self, at: usize) -> usize {
        let mut body = at;
        let mut greeted = false;
        while (body == at && self.bare(at) || body > at && self.follows(body))
            && (is_greeting(self.text(body)) || is_date_line(self.text(body)))
        {
            greeted |= is_greeting(self.text(body));
            body += 1;
        }
        if !greeted || !self.follows(body) {
            (greeted, body) = (false, at);
        }
        let end = self.chain(body);
        let brought = self.brought(at);
        let tagged = self.tagged(at);
        let known = greeted || brought;
        let opens = known || opens_with_greeting(self.text(at));
        let mut foot = (body..end).find(|&k| is_closing(self.text(k), known));
        if foot.is_none() && (end - 1 == at || self.bare(end - 1)) {
            let reach = if opens { LONGEST } else { 1 };
            let mut run = (end..self.spans.len().min(end + reach)).take_while(|&k| self.follows(k));
            foot = run.find(|&k| {
                is_closing(self.text(k), opens) || known && is_upper_case(self.text(k)) && is_signature(self.text(k))
            });
        }
        let length = self.spans[end - 1].end - self.spans[at].start;
        if !(known || tagged || foot.is_some() && (opens || length > 100)) {
            return at;
        }
        let mut stop = end.max(foot.map_or(0, |foot| foot + 1));
        while foot.is_some() && stop - at < LONGEST && self.follows(stop) {
            let text = self.text(stop);
            if !(is_signature(text) || is_closing(text, true) || text.starts_with(&['P', '.'])) {
                break;
            }
            stop = self.chain(stop);
        }
        stop
    }

    /// Whether the narration before an English quotation introduces it as writing: `She wrote:`, `the note ran as
    /// follows.`
    fn brought(&self, at: usize) -> bool {
        let lead = self.lead(at);
        let Some(&mark) = lead.last() else { return false };
        let colon = matches!(mark, ':' | '—' | '-');
        let whole = self.bare(at) || self.chain(at) > at + 1;
        if !colon && mark != ',' && !whole && !mark.is_alphanumeric() && mark != '.' {
            return false;
        }
        // A comma separates `taking out the letter, said` from what the letter said.
        let parted: Vec<char> =
            last_sentence(lead).iter().flat_map(|&c| if c == ',' { vec![' ', '&', ' '] } else { vec![c] }).collect();
        let words = lower_case_words(&parted);
        let class = |i: usize| ENGLISH.class(&words[i]);
        let is = |i: usize, bits: u32| words.get(i).is_some_and(|word| ENGLISH.is(word, bits));
        let told = |i: usize| i > 0 && is(i - 1, WRITING);
        let spoken = |i: usize| class(i) & (SPEECH | FAINT) == SPEECH && class(i) & WRITES == 0 && !told(i);
        let speaks = |word: &String| matches!(word.as_str(), "spoke" | "speaks" | "told" | "addressed" | "began");
        if (0..words.len()).any(spoken) || words.iter().any(speaks) {
            return false;
        }
        let far = words.len().saturating_sub(5);
        let wrote = (words.len().saturating_sub(8)..words.len()).rev().find(|&i| is(i, WRITES));
        let wrote = wrote.is_some_and(|i| i == 0 || !matches!(words[i - 1].as_str(), "as" | "while"));
        let phrase = [&["as", "follows"][..], &["this", "effect"], &["these", "words"]];
        let phrase = phrase.iter().any(|phrase| words[far..].windows(phrase.len()).any(|found| found == *phrase));
        let noun = (0..words.len()).any(|i| is(i, WRITING));
        let near = (far..words.len()).any(|i| is(i, WRITING) || told(i));
        let reads =
            (far..words.len()).any(|i| matches!(words[i].as_str(), "read" | "reads" | "ran" | "runs") || told(i));
        let long = self.spans[self.chain(at) - 1].end - self.spans[at].start > 40;
        if colon {
            return wrote || reads && noun || near && long || phrase && (noun || whole);
        }
        let aloud = words.last().is_some_and(|word| word == "aloud");
        wrote && mark == ',' || phrase && (noun || wrote) || noun && aloud && whole
    }

    /// Whether the narration after an English quotation marks it as writing: `wrote Hale`, `she wrote,`.
    fn tagged(&self, at: usize) -> bool {
        let rest = self.rest(at);
        let comma = self.text(at).last() == Some(&',');
        let stop = rest.iter().position(|c| matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | '—')).unwrap_or(rest.len());
        let words = lower_case_words(&rest[..stop.min(60)]);
        let Some(verb) = words.iter().take(4).position(|word| ENGLISH.is(word, SPEECH | WRITES)) else { return false };
        let writes = ENGLISH.is(&words[verb], WRITES) && (verb == 0 || comma);
        writes || comma && words.starts_with(&["so".to_owned(), "ran".to_owned()])
    }

    /// Returns the end (exclusive) of the Chinese writing that begins at a quotation; `at` if it is not writing.
    fn chinese(&self, at: usize) -> usize {
        let end = self.chain(at);
        let lead: Vec<char> = self.lead(at).iter().rev().take(24).rev().map(|&c| CHINESE.fold(c)).collect();
        let rest: Vec<char> = self.rest(at).iter().take(24).map(|&c| CHINESE.fold(c)).collect();
        let stop = rest.iter().position(|&c| !c.is_alphabetic()).unwrap_or(rest.len());
        let head: Vec<char> = self.text(at).iter().take(16).map(|&c| CHINESE.fold(c)).collect();
        let tag = stop < 8
            && rest.get(stop) != Some(&'：')
            && CHINESE.writes.tail(&rest[..stop]) > 1
            && rest[stop - 1] == '道';
        let known = is_introduced_zh(&lead) || tag || is_greeting_zh(&head) || is_closing_zh(self.text(end - 1));
        if known { end } else { at }
    }
}

/// Whether the Chinese narration before a quotation introduces it as writing: `信上说：`, `便写道：`, `牌上写着`.
fn is_introduced_zh(lead: &[char]) -> bool {
    let stop = lead.iter().rposition(|c| c.is_alphabetic()).map_or(0, |i| i + 1);
    let start = lead[..stop].iter().rposition(|c| !c.is_alphabetic()).map_or(0, |i| i + 1);
    let clause = &lead[start..stop];
    if CHINESE.writes.tail(clause) > 0 {
        return true;
    }
    (0..clause.len()).any(|i| {
        let noun = CHINESE.writings.head(&clause[i..]);
        if noun == 0 {
            return false;
        }
        let rest = &clause[i + noun..];
        let place = rest.iter().take(2).take_while(|c| matches!(c, '上' | '中' | '里' | '内' | '面')).count();
        let rest = &rest[place..];
        let before = i.checked_sub(1).map(|i| clause[i]);
        let sent = noun == 1
            && matches!(clause[i], '信' | '书' | '电' | '函')
            && matches!(before, Some('写' | '来' | '回' | '去' | '致' | '修' | '留'));
        let held = matches!(before, Some('着' | '指'));
        (place > 0 && rest.len() < 4 && !held || sent && rest.len() < 3) && CHINESE.ends_in_speech(rest)
    })
}

/// Whether a Chinese quotation begins like a letter: `敬启者：`, `亲爱的某某：`, `某某兄台鉴：`.
fn is_greeting_zh(head: &[char]) -> bool {
    let Some(stop) = head.iter().position(|c| matches!(c, '：' | ':')) else { return false };
    let greeting = &head[..stop];
    stop > 1 && (CHINESE.greetings.head(greeting) > 0 || CHINESE.greetings.tail(greeting) > 0)
}

/// Whether a Chinese quotation ends like a letter: `弟某某顿首`, `此致敬礼。`
fn is_closing_zh(text: &[char]) -> bool {
    let tail: Vec<char> = text[text.len().saturating_sub(12)..].iter().map(|&c| CHINESE.fold(c)).collect();
    let stop = tail.iter().rposition(|c| c.is_alphabetic()).map_or(0, |i| i + 1);
    // Only a name may follow the closing.
    let behind = |i: usize| CHINESE.closings.head(&tail[i..stop]);
    text.len() > 14
        && (0..stop).any(|i| {
            let length = behind(i);
            length > 0 && stop - i - length < 5 && tail[i + length..stop].iter().all(|c| c.is_alphabetic())
        })
}

/// Whether an English paragraph is only a greeting: `My dear Ruth,`.
fn is_greeting(text: &[char]) -> bool {
    let ends = matches!(text.last(), Some(',' | ':' | ';' | '—' | '-')) || is_upper_case(text);
    // A date may precede it on the lines above.
    let line = text.rsplit(|&c| c == '\n').next().unwrap_or_default();
    ends && text.len() < 120 && line.len() < 60 && is_salutation(&lower_case_words(line))
}

/// Whether English text opens with a greeting that is set off from the rest: `Dear Sir,—I have your letter`.
fn opens_with_greeting(text: &[char]) -> bool {
    let head = &text[..text.len().min(60)];
    let stop = head.iter().position(|c| matches!(c, ',' | ':' | ';' | '—' | '\n' | '\r'));
    let Some(stop) = stop.filter(|&stop| stop > 2) else { return false };
    let set_off =
        matches!(head[stop], ':' | '\n' | '\r') || matches!(head.get(stop + 1), Some('—' | '-' | '\n' | '\r'));
    set_off && is_salutation(&lower_case_words(&head[..stop]))
}

fn is_salutation(words: &[String]) -> bool {
    let own = words.iter().take_while(|word| matches!(word.as_str(), "my" | "own" | "very" | "most")).count();
    match words.get(own).map(String::as_str) {
        Some("sir" | "sirs" | "madam" | "gentlemen") => words.len() == 1,
        Some(word) => words.len() > own + 1 && words.len() < 8 && ENGLISH.is(word, GREETING),
        None => false,
    }
}

/// Whether an English paragraph is only a date line: `Harwich, Sept. 6.`
fn is_date_line(text: &[char]) -> bool {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    if text.len() > 90 || text.contains(&'!') || text.contains(&'?') {
        return false;
    }
    let words = lower_case_words(text);
    let number = words.iter().any(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let month = |word: &String| MONTHS.iter().any(|month| word.starts_with(month)) && word.len() < 10;
    let day = |word: &String| word.len() > 5 && word.ends_with("day");
    words.len() < 14 && (number && words.iter().any(month) || words.len() < 7 && words.iter().any(day))
}

/// Whether an English paragraph ends like a letter: `Yours truly, J. Hale`. If it is `known` to be a letter, `Yours,`
/// is enough.
fn is_closing(text: &[char], known: bool) -> bool {
    let tail = lower_case_words(&text[text.len().saturating_sub(90)..]);
    let tail = &tail[tail.len().saturating_sub(12)..];
    tail.iter().enumerate().any(|(i, word)| {
        let next = tail.get(i + 1).map(String::as_str).unwrap_or_default();
        let closing = ENGLISH.is(next, CLOSING);
        match word.as_str() {
            "yours" | "your's" => closing || known && text.len() < 60 && i == 0,
            "your" => closing && tail[i + 1..].iter().any(|word| ENGLISH.is(word, KIN | CLOSING) && word != next),
            "am" | "remain" => known && i == 1 && tail[0] == "i" && tail.iter().any(|word| ENGLISH.is(word, GREETING)),
            _ => false,
        }
    })
}

/// Whether an English paragraph is only a name.
fn is_signature(text: &[char]) -> bool {
    let words: Vec<&[char]> = text.split(|c| c.is_whitespace()).filter(|word| !word.is_empty()).collect();
    let capital = |word: &&[char]| word[0].is_uppercase() && !word.contains(&'!') && !word.contains(&'?');
    words.len() < 6 && words.iter().all(capital)
}

/// Whether the text has no lower-case letters, and more than three capitals.
fn is_upper_case(text: &[char]) -> bool {
    !text.iter().any(|c| c.is_lowercase()) && text.iter().filter(|c| c.is_uppercase()).count() > 3
}

/// Returns the last sentence of the narration.
fn last_sentence(lead: &[char]) -> &[char] {
    let end = lead.iter().rposition(|c| c.is_alphanumeric()).map_or(0, |i| i + 1);
    let start = (0..end).rev().find(|&i| {
        let stop = matches!(lead[i], '.' | '!' | '?' | '”' | '"');
        let word = lead[..i].rsplit(|c| !c.is_alphabetic()).next().unwrap_or_default();
        stop && !(lead[i] == '.' && (word.len() == 1 || ENGLISH.is(&lower_case(word), ABBREVIATION)))
    });
    &lead[start.map_or(0, |start| start + 1)..end]
}

/// Returns the words of English text in lower case.
fn lower_case_words(text: &[char]) -> Vec<String> {
    let within = |c: &char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '&');
    text.split(|c| !within(c)).filter(|word| !word.is_empty()).map(lower_case).collect()
}

fn lower_case(word: &[char]) -> String {
    word.iter().flat_map(|&c| if c == '’' { '\'' } else { c }.to_lowercase()).collect()
}

fn trimmed(chars: &[char]) -> &[char] {
    let head = chars.iter().take_while(|c| c.is_whitespace()).count();
    let tail = chars[head..].iter().rev().take_while(|c| c.is_whitespace()).count();
    &chars[head..chars.len() - tail]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{Attribution, attribute};

    fn texts(text: &str, attribution: &Attribution) -> Vec<String> {
        let cut = |letter: &crate::attribution::Letter| {
            text.chars().skip(letter.start as usize).take((letter.end - letter.start) as usize).collect()
        };
        attribution.letters.iter().map(cut).collect()
    }

    /// Checks which parts of a text are writing and which are speech.
    fn check(language: Language, text: &str, letters: &[&str], spoken: &[&str]) {
        let attribution = attribute(text, language, false);
        assert_eq!(texts(text, &attribution), letters, "{text}");
        let found: Vec<&str> = attribution.quotations.iter().map(|quotation| quotation.text.as_str()).collect();
        assert_eq!(found, spoken, "{text}");
    }

    #[test]
    fn tells_a_whole_letter_from_the_talk_about_it() {
        check(
            Language::En,
            "“A letter,” said Ruth Hallow.\n\n“Harwich, Sept. 6.\n\n“MY DEAR RUTH,\n\n“The tide was late and so was I. We sail on \
             Monday, whatever the mate says.\n\n“Pray tell nobody.\n\n“Your affectionate brother,\n\n“TOM HALLOW.”\n\n“He is well,” \
             said Ruth.\n\n“My dear Ruth,” said her aunt, “he is not.”\n",
            &[
                "Harwich, Sept. 6.",
                "MY DEAR RUTH,",
                "The tide was late and so was I. We sail on Monday, whatever the mate says.",
                "Pray tell nobody.",
                "Your affectionate brother,",
                "TOM HALLOW.",
            ],
            &["A letter,", "He is well,", "My dear Ruth,", "he is not."],
        );
    }

    #[test]
    fn knows_writing_by_what_brings_it_in() {
        for (text, letters, spoken) in [
            ("The note ran: “Come at once, and bring the key of the lower gate.”", 1, 0),
            ("She took the pen and wrote, “No.”", 1, 0),
            ("“I shall not come,” wrote Tom Pell, “until the bridge is mended.”", 2, 0),
            (
                "Tom read the telegram, which was as follows:\n\n“Ferry lost. Send boats. Nobody hurt but the mate.”",
                1,
                0,
            ),
            ("“Dear Sir,—I have your bill, and I decline it. Yours truly, J. Pell.”", 1, 0),
            ("Ruth took out the letter, said: “This is from my brother, and it is a long one.”", 0, 1),
            ("Tom laid the letter down and said, “He is late.”", 0, 1),
            ("“My dear Ruth,” said Tom Pell, “the fault is yours.”", 0, 2),
            ("“My dear,” he said, as he wrote, “sit down.”", 0, 2),
            ("Tom spoke to this effect: “I was never there, and I never will be.”", 0, 1),
        ] {
            let attribution = attribute(text, Language::En, false);
            assert_eq!((attribution.letters.len(), attribution.quotations.len()), (letters, spoken), "{text}");
        }
    }

    #[test]
    fn knows_chinese_writing_by_what_brings_it_in() {
        for (text, letters, spoken) in [
            ("罗守田拆开信，信上写道：“船已修好，初三开船。”", 1, 0),
            ("信裡說：「船已修好，初三開船。」羅守田道：「好。」", 1, 1),
            ("墙上贴着一张告示，上写：“渡船停开三日。”", 1, 0),
            ("“船已修好。”他写道。", 1, 0),
            ("沈固来信说：“船已修好。”罗守田看了，道：“好。”", 1, 1),
            ("“敬启者：船已修好，初三开船。此致敬礼。”", 1, 0),
            ("“弟一切都好，船已修好，初三开船。弟固顿首。”", 1, 0),
            ("罗守田从信上抬起头来说：“船修好了。”", 0, 1),
            ("罗守田指着书上道：“你看。”", 0, 1),
            ("罗守田放下信，说：“船修好了。”", 0, 1),
            ("侍书道：“船修好了。”", 0, 1),
        ] {
            let attribution = attribute(text, Language::Zh, false);
            assert_eq!((attribution.letters.len(), attribution.quotations.len()), (letters, spoken), "{text}");
        }
    }
}
