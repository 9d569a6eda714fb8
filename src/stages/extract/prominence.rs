//! How much a scene matters to its book, as far as that can be counted: who talks, for how long, and how much they do meanwhile.
//! Knows nothing of what is said, so that it tells a talk of main characters from one in passing, and no turn of a story.

use std::collections::BTreeSet;

use super::find::{Line, Stretch};

/// What the parts weigh: the cast, the talk, the deeds.
const WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];

/// Returns a scene's prominence, 1 to 100: half of it is how much of the book's talk its speakers have, three tenths how long
/// they talk, and two tenths how much is told of what they do.
///
/// - The cast: the lines that its speakers have in the whole book over those of as many who have most.
/// - The talk: its lines over the most that a scene may have.
/// - The deeds: the sentences told from its first line on that are about a speaker, over its lines.
pub(super) fn prominence(text: &Stretch<'_>, end: u32, run: &[Line<'_>]) -> u8 {
    let ask = text.ask;
    let said = run.iter().filter(|line| !line.thought);
    let speakers: BTreeSet<&str> = said.clone().map(|line| line.speaker).collect();
    let lines = said.count();
    let own = ask.cast.iter().filter(|member| speakers.contains(member.name.as_str()));
    let own: u32 = own.map(|member| member.all_lines).sum();
    let most: u32 = ask.lines_by_rank.iter().take(speakers.len()).sum();
    let first = run.first().map_or(end, |line| line.start);
    let about = |name: &Option<String>| name.as_deref().is_some_and(|name| speakers.contains(name));
    let deeds = text.narration(first, end).iter().filter(|sentence| about(&sentence.subject)).count();
    let shares = [share(own as usize, most as usize), share(lines, ask.max_utterances as usize), share(deeds, lines)];
    let whole: f64 = shares.iter().zip(WEIGHTS).map(|(share, weight)| share * weight).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 100")]
    let prominence = (whole * 99.0).round() as u8 + 1;
    prominence
}

/// Returns a part of a whole, at most 1; 0 of nothing.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { (crate::text::float(part) / crate::text::float(whole)).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, chunk, facts, length, reading};
    use super::super::{Params, find, find_scenes};
    use crate::schema::Language;

    /// The prominence of each scene that is found.
    fn found(language: Language, text: &str, speakers: &[usize], max_utterances: u32) -> Vec<u8> {
        let mut people = if language == Language::En { EN_PEOPLE } else { ZH_PEOPLE }.to_vec();
        let others = if language == Language::En { ["Clara", "Dora"] } else { ["沈三娘", "孙四娘"] };
        people.extend(others.map(|name| (name, [].as_slice(), EN_PEOPLE[0].2)));
        let book = facts(language, text, reading(text, &people, speakers));
        let params = Params { max_utterances, ..Params::default() };
        let chunk = chunk(language, text, 0, 0, length(text));
        let found = find::scenes(&find_scenes(&params, &book, &chunk, None));
        found.scenes.iter().map(|scene| scene.prominence.expect("it is counted")).collect()
    }

    #[test]
    fn the_parts_weigh_as_they_are_said_to() {
        for (language, text) in [(Language::En, EN), (Language::Zh, ZH)] {
            // Six lines of twelve by the two who have all lines of the book, with two sentences of what Anna does:
            // 0.5 · 1 + 0.3 · 6/12 + 0.2 · 2/6.
            assert_eq!(found(language, text, EN_SPEAKERS, 12), [72], "{language}");
        }
    }

    #[test]
    fn main_characters_long_talk_and_deeds_each_raise_it() {
        for (language, said, rest, deed) in [
            (Language::En, "“Rain again.”\n", "* * *\n", "Anna took the lamp down from its hook.\n"),
            (Language::Zh, "“又下雨了。”\n", "＊＊＊\n", "陆平把灯从钩子上取了下来。\n"),
        ] {
            let book = |first: usize, second: usize, deeds: usize| {
                let (talk, deeds) = (said.repeat(first), deed.repeat(deeds));
                format!("{talk}{deeds}{said}{said}{rest}{}", said.repeat(second))
            };
            let speakers = |first: usize, second: usize| {
                let main = (0..first + 2).map(|at| at % 2);
                main.chain((0..second).map(|at| 2 + at % 2)).collect::<Vec<usize>>()
            };
            let told = |first: usize, second: usize, deeds: usize| {
                let found = found(language, &book(first, second, deeds), &speakers(first, second), 40);
                assert_eq!(found.len(), 2, "{language}");
                (found[0], found[1])
            };
            let (main, passing) = told(28, 14, 0);
            assert!(main > passing + 20, "{main} {passing}");
            let ((shorter, _), (longer, _)) = (told(8, 14, 0), told(28, 14, 0));
            assert!(longer > shorter + 10, "{longer} {shorter}");
            assert!(told(8, 14, 3).0 > shorter, "{language}");
        }
    }

    #[test]
    fn it_is_between_1_and_100() {
        let text = "“Rain again.”\n".repeat(4);
        assert_eq!(found(Language::En, &text, &[0, 1, 0, 1], 4), [80]);
        let deeds = "“Rain again.”\n".to_owned() + &"Anna took the lamp down from its hook.\n".repeat(9);
        let text = deeds.clone() + &"“Rain again.”\n".repeat(3);
        assert_eq!(found(Language::En, &text, &[0, 1, 0, 1], 4), [100]);
    }
}
