//! Finds scene boundaries: by changes of time and place in the narration between two utterances, by changes of
//! speakers, and by the length of the gap. Builds no scenes.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::schema::{ByLanguage, Language};
use crate::stages::extract::lexicon::WordLists;

/// The text between two utterances.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gap {
    /// Whether it has a heading or scene break.
    pub(super) border: bool,
    pub(super) paragraphs: usize,
    pub(super) characters: u32,
    /// Where a change of time begins, in code points of the book.
    pub(super) time: Option<u32>,
    /// Where a change of place begins.
    pub(super) place: Option<u32>,
}

/// A boundary between two scenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The first utterance after it.
    pub(super) at: usize,
    /// Whether the scenes must not be merged again.
    pub(super) hard: bool,
    /// Where the narration moves on to the next scene, if it does.
    pub(super) turn: Option<u32>,
}

/// A gap of this many paragraphs separates two scenes.
const MOST_PARAGRAPHS: usize = 12;

/// A gap longer than this separates two scenes: about 350 English words, 600 Chinese characters.
pub(super) const fn most_characters(language: Language) -> u32 {
    match language {
        Language::En => 2000,
        Language::Zh => 600,
    }
}

struct Turns {
    time: Regex,
    place: Regex,
}

/// Words at the beginning of a sentence that change the time, and verbs that change the place.
static TURNS: LazyLock<ByLanguage<Turns>> = LazyLock::new(|| {
    let lists = WordLists::parse(include_str!("scene_boundaries.toml"));
    let pattern = |lists: &WordLists, pattern: &str| {
        Regex::new(&lists.fill(pattern)).expect("the pattern is built in and tested")
    };
    let english = |words: &str| pattern(&lists.en, words);
    let chinese = |words: &str| pattern(&lists.zh, words);
    ByLanguage {
        en: Turns {
            time: english(
                r"(?i)(?:^|[.!?”’\x22]\s+|\n\s*)(?:but |and |so )?((?:(?:early |late )?(?:on )?(?:the )?(?:next|following) (?:<next_times>)|(?:early |late )?(?:that|the same) (?:night|evening|afternoon|morning)|(?:<counts>) (?:days|weeks|months|years|hours|nights) (?:later|after|passed|went|had|elapsed)|(?:an hour|half an hour|a week|a month|a fortnight|a year|a day or two|an hour or two) (?:later|after|passed|went|had)|after (?:breakfast|dinner|supper|tea|luncheon|church|dark|a (?:few|couple of) (?:days|hours|weeks))|at (?:dawn|noon|midnight|sunset|sunrise|daybreak|nightfall|dusk|breakfast|dinner|supper|\w+ o[’']clock|half[- ]past \w+)|(?:on|by|one|about|towards?) (?:the )?(?:\w+ ){0,2}(?:<named_times>)|in the (?:morning|evening|afternoon)|when (?:morning|night|evening|day) (?:came|broke)|(?:the )?(?:morning|evening|night|day|week) (?:came|passed|wore|broke|dawned|arrived)|(?:a|one) (?:\w+ )?(?:morning|evening|afternoon|night)|(?:days|weeks|months|years) (?:passed|went))\b)",
            ),
            place: english(r"\b(?:<moves>)\b"),
        },
        zh: Turns {
            time: chinese("(?:^|[。！？．”」』\n])[\\s　]*(?:<before_times>)?((?:<times>)[^。]{0,2}[，,。到已]?)"),
            place: chinese("<moves>"),
        },
    }
});

/// Returns the offsets of the last change of time and of place in a passage of narration. `pieces` are its parts
/// outside of quotation marks, each with its start in code points.
pub(super) fn turns<'a>(
    language: Language,
    pieces: impl Iterator<Item = (u32, &'a str)>,
) -> (Option<u32>, Option<u32>) {
    let turns = TURNS.get(language);
    let (mut time, mut place) = (None, None);
    let point = |start: u32, piece: &str, byte: usize| {
        start + u32::try_from(piece[..byte].chars().count()).unwrap_or(u32::MAX - start)
    };
    for (start, piece) in pieces {
        if let Some(found) = turns.time.captures_iter(piece).last().and_then(|found| found.get(1)) {
            time = Some(point(start, piece, found.start()));
        }
        if let Some(found) = turns.place.find_iter(piece).last() {
            let begun = piece[..found.start()].rfind(['.', '。', '．', '！', '”', '」', '\n']);
            let byte = begun.map_or(0, |byte| byte + piece[byte..].chars().next().map_or(0, char::len_utf8));
            place = Some(point(start, piece, byte));
        }
    }
    (time, place)
}

/// Returns the boundaries between utterances. `speakers` has the speaker of each, `gap` returns the gap after each.
pub(super) fn cuts(language: Language, speakers: &[&str], gap: &dyn Fn(usize) -> Gap) -> Vec<Cut> {
    let most = most_characters(language);
    let mut cuts = Vec::new();
    let mut begun = 0;
    for at in 0..speakers.len().saturating_sub(1) {
        let gap = gap(at);
        let cast_change = if gap.paragraphs > 0 || gap.characters > most / 8 {
            cast_change(&speakers[begun..=at], &speakers[at + 1..])
        } else {
            0
        };
        let far = gap.paragraphs >= MOST_PARAGRAPHS || gap.characters > most;
        let wide = usize::from(gap.characters > most / 3);
        // A move does not end the scene if the same two people go on talking.
        let moved = usize::from(gap.place.is_some());
        let later = gap.time.is_some() && (gap.characters > most / 12 || cast_change > 0);
        if gap.border || far || later || cast_change + moved + wide >= 2 {
            let turn = if later || gap.border { gap.time } else { gap.place };
            let hard = gap.border || later || gap.characters > most * 2 / 3 || cast_change == 2;
            cuts.push(Cut { at: at + 1, hard, turn });
            begun = at + 1;
        }
    }
    cuts
}

/// Returns how much the speakers change: 2 if none stays, 1 if one stays and most do not, else 0.
fn cast_change(before: &[&str], after: &[&str]) -> usize {
    let before: BTreeSet<&str> = before.iter().rev().take(8).copied().collect();
    let after: BTreeSet<&str> = after.iter().take(8).copied().collect();
    let stay = before.intersection(&after).count();
    if before.len() < 2 || after.len() < 2 {
        usize::from(stay == 0)
    } else if stay == 0 {
        2
    } else {
        usize::from(stay * 3 <= before.len().min(after.len()) + 1 && before.len() + after.len() > 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(language: Language, text: &str) -> Option<String> {
        let (time, _) = turns(language, std::iter::once((0, text)));
        time.map(|at| text.chars().skip(at as usize).take(6).collect())
    }

    #[test]
    fn a_change_of_time_is_recognized_at_the_start_of_a_sentence() {
        for (language, text, expected) in [
            (Language::En, " said Anna. The next morning Boris came back.", Some("The ne")),
            (Language::En, " said Anna, who had come the next morning.", None),
            (Language::En, "\nTwo days later the flood came.", Some("Two da")),
            (Language::En, "\nThe two days of March were wet.", None),
            (Language::Zh, "说。次日，陆平又来。", Some("次日，陆平又")),
            (Language::Zh, "说。陆平次日又来。", None),
            (Language::Zh, "過了幾日，陸平又來。", Some("過了幾日，陸")),
        ] {
            assert_eq!(time(language, text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn scenes_are_cut_by_time_cast_place_and_distance() {
        let gap = |characters, paragraphs, time, place| Gap { border: false, paragraphs, characters, time, place };
        let found = |speakers: &[&str], middle: Gap| {
            let half = speakers.len() / 2;
            let cuts = cuts(Language::En, speakers, &|at| if at + 1 == half { middle } else { Gap::default() });
            cuts.iter().map(|cut| (cut.at, cut.hard)).collect::<Vec<_>>()
        };
        let same = ["a", "b", "a", "b", "a", "b", "a", "b"];
        let other = ["a", "b", "a", "b", "c", "d", "c", "d"];
        assert_eq!(found(&same, gap(100, 1, None, None)), []);
        assert_eq!(found(&same, gap(300, 1, Some(9), None)), [(4, true)]);
        assert_eq!(found(&same, gap(300, 1, None, Some(9))), []);
        assert_eq!(found(&same, gap(900, 3, None, Some(9))), [(4, false)]);
        assert_eq!(found(&same, gap(2100, 3, None, None)), [(4, true)]);
        assert_eq!(found(&other, gap(100, 1, None, None)), [(4, true)]);
        assert_eq!(found(&other, Gap::default()), []);
    }
}
