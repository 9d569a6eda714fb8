//! Estimates how important a scene is to its book from its cast, its length and the actions in it. It does not read
//! what is said, so it separates main characters from minor ones but does not recognize a turning point.

use std::collections::BTreeSet;

use super::passage::{Line, Passage};

/// The weights of cast, dialogue and actions.
const WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];

/// Returns a scene's prominence, 1 to 100: 1 + 99 × (0.5 × cast + 0.3 × dialogue + 0.2 × actions), rounded.
///
/// - Cast: the lines of its speakers in the whole book, divided by those of the same number of top speakers.
/// - Dialogue: its utterances, divided by the maximum of a scene.
/// - Actions: sentences about a speaker from its first utterance on, divided by its utterances.
pub(super) fn prominence(text: &Passage<'_>, end: u32, run: &[Line<'_>]) -> u8 {
    let ask = text.ask;
    let spoken_lines = run.iter().filter(|line| !line.thought);
    let speakers: BTreeSet<&str> = spoken_lines.clone().map(|line| line.speaker).collect();
    let lines = spoken_lines.count();
    let own = ask.cast.iter().filter(|member| speakers.contains(member.name.as_str()));
    let own: u32 = own.map(|member| member.all_lines).sum();
    let most: u32 = ask.lines_by_rank.iter().take(speakers.len()).sum();
    let first = run.first().map_or(end, |line| line.start);
    let is_about_speaker = |name: &Option<String>| name.as_deref().is_some_and(|name| speakers.contains(name));
    let actions = text.narration(first, end).iter().filter(|sentence| is_about_speaker(&sentence.subject)).count();
    let shares = [share(own as usize, most as usize), share(lines, ask.max_utterances as usize), share(actions, lines)];
    let weighted_sum: f64 = shares.iter().zip(WEIGHTS).map(|(share, weight)| share * weight).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 100")]
    let prominence = (weighted_sum * 99.0).round() as u8 + 1;
    prominence
}

/// Returns `part / total`, at most 1; 0 if `total` is 0.
fn share(part: usize, total: usize) -> f64 {
    if total == 0 { 0.0 } else { (crate::text::float(part) / crate::text::float(total)).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::super::find_scenes;
    use crate::schema::Language;
    use crate::stages::extract::Params;
    use crate::stages::extract::fixtures::{
        EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, attribution, chunk, indexed_book, length,
    };
    use crate::stages::extract::requests::find_scenes;

    /// The prominence of each scene.
    fn found(language: Language, text: &str, speakers: &[usize], max_utterances: u32) -> Vec<u8> {
        let mut people = if language == Language::En { EN_PEOPLE } else { ZH_PEOPLE }.to_vec();
        let others = if language == Language::En { ["Clara", "Dora"] } else { ["沈三娘", "孙四娘"] };
        people.extend(others.map(|name| (name, [].as_slice(), EN_PEOPLE[0].2)));
        let book = indexed_book(language, text, attribution(text, &people, speakers));
        let params = Params { max_utterances, ..Params::default() };
        let chunk = chunk(language, text, 0, 0, length(text));
        let found = find_scenes::scenes(&find_scenes(&params, &book, &chunk, None));
        found.scenes.iter().map(|scene| scene.prominence.expect("it is counted")).collect()
    }

    #[test]
    fn salience_follows_its_documented_weights() {
        for (language, text) in [(Language::En, EN), (Language::Zh, ZH)] {
            // Six of twelve utterances, by the two who have all lines of the book, and two sentences on what Anna does:
            // 0.5 · 1 + 0.3 · 6/12 + 0.2 · 2/6.
            assert_eq!(found(language, text, EN_SPEAKERS, 12), [72], "{language}");
        }
    }

    #[test]
    fn main_characters_length_and_actions_raise_salience() {
        for (language, spoken_lines, rest, action_phrase) in [
            (Language::En, "“Rain again.”\n", "* * *\n", "Anna took the lamp down from its hook.\n"),
            (Language::Zh, "“又下雨了。”\n", "＊＊＊\n", "陆平把灯从钩子上取了下来。\n"),
        ] {
            let book = |first: usize, second: usize, actions: usize| {
                let (talk, actions) = (spoken_lines.repeat(first), action_phrase.repeat(actions));
                format!("{talk}{actions}{spoken_lines}{spoken_lines}{rest}{}", spoken_lines.repeat(second))
            };
            let speakers = |first: usize, second: usize| {
                let main = (0..first + 2).map(|at| at % 2);
                main.chain((0..second).map(|at| 2 + at % 2)).collect::<Vec<usize>>()
            };
            let salience_of = |first: usize, second: usize, actions: usize| {
                let found = found(language, &book(first, second, actions), &speakers(first, second), 40);
                assert_eq!(found.len(), 2, "{language}");
                (found[0], found[1])
            };
            let (main, passing) = salience_of(28, 14, 0);
            assert!(main > passing + 20, "{main} {passing}");
            let ((shorter, _), (longer, _)) = (salience_of(8, 14, 0), salience_of(28, 14, 0));
            assert!(longer > shorter + 10, "{longer} {shorter}");
            assert!(salience_of(8, 14, 3).0 > shorter, "{language}");
        }
    }

    #[test]
    fn salience_is_between_1_and_100() {
        let text = "“Rain again.”\n".repeat(4);
        assert_eq!(found(Language::En, &text, &[0, 1, 0, 1], 4), [80]);
        let actions = "“Rain again.”\n".to_owned() + &"Anna took the lamp down from its hook.\n".repeat(9);
        let text = actions.clone() + &"“Rain again.”\n".repeat(3);
        assert_eq!(found(Language::En, &text, &[0, 1, 0, 1], 4), [100]);
    }
}
