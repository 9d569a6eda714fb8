//! Letters and other quoted writing: set in quotation marks, but not spoken by a character.
//!
//! Recognised by the narration that introduces them, by greetings and by signatures. A letter without quotation marks
//! is treated as narration.

mod chinese;
mod context;
mod english;

use self::context::QuotedWriting;
use super::span::Span;
use crate::attribution::Paragraph;
use crate::schema::Language;

/// Marks the quotations that are writing rather than speech.
pub(in crate::attribution) fn mark_written(
    chars: &[char],
    paragraphs: &[Paragraph],
    spans: &mut [Span],
    language: Language,
) {
    let mut at = 0;
    while at < spans.len() {
        let writing = QuotedWriting { chars, paragraphs, spans };
        let end = match language {
            Language::En => writing.english_end(at),
            Language::Zh => writing.chinese_end(at),
        };
        spans[at..end].iter_mut().for_each(|span| span.written = true);
        at = end.max(at + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::Attribution;
    use crate::attribution::attribute;

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
    fn letters_are_separated_from_dialogue() {
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
    fn written_text_is_recognized_by_its_introduction() {
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
    fn chinese_written_text_is_recognized_by_its_introduction() {
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
