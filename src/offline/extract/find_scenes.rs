//! The offline answer to [`FindScenes`]: groups the attributed quotations into scenes.

use std::collections::BTreeSet;

use super::actions::event;
use super::passage::{Line, Passage};
use super::salience::prominence;
use super::scene_boundaries::{Cut, Gap, cuts, most_characters, turns};
use super::summary::summary;
use super::utterances::{add_actions, lines};
use crate::schema::{Language, Utterance};
use crate::stages::extract::book_index::sentences::one_line;
use crate::stages::extract::{FindScenes, FoundLine, FoundScene, FoundScenes};

/// Utterances of one scene, with the earliest start and the latest end of its text.
struct Run<'a, 'b> {
    lines: &'b [Line<'a>],
    floor: u32,
    ceiling: u32,
}

/// Finds the scenes of a passage.
pub(super) fn scenes(ask: &FindScenes) -> FoundScenes {
    let text = Passage::new(ask);
    let mut lines = lines(&text);
    add_actions(&text, &mut lines);
    let runs = runs(&text, &lines);
    let mut scenes: Vec<FoundScene> = Vec::new();
    let mut last_end = ask.start;
    for run in runs {
        let spoken: Vec<&Line<'_>> = run.lines.iter().filter(|line| !line.thought).collect();
        let speakers: BTreeSet<&str> = spoken.iter().map(|line| line.speaker).collect();
        if spoken.len() < ask.min_utterances as usize || speakers.len() < 2 {
            continue;
        }
        let (start, end) = text_range(&text, &run);
        last_end = run.lines[run.lines.len() - 1].end;
        let mut characters: Vec<String> = Vec::new();
        for line in run.lines {
            if !characters.iter().any(|name| name == line.speaker) {
                characters.push(line.speaker.to_owned());
            }
        }
        let words_of = text.text_between(start, end);
        scenes.push(FoundScene {
            continues: scenes.is_empty() && continues(ask, run.lines),
            first_words: words(words_of, ask.language, false),
            summary: summary(&text, start, end, &characters, run.lines),
            prominence: Some(prominence(&text, end, run.lines)),
            characters,
            dialogue: dialogue(&text, run.lines),
            last_words: words(words_of, ask.language, true),
            unfinished: false,
        });
    }
    let near = match ask.language {
        language if ask.continues => most_characters(language),
        Language::Zh => 80,
        Language::En => 250,
    };
    if let Some(scene) = scenes.last_mut() {
        scene.unfinished = ask.goes_on && ask.end.saturating_sub(last_end) <= near;
    }
    FoundScenes { scenes }
}

/// Builds the dialogue of a scene, adding an environment event now and then, but never before the first utterance.
fn dialogue(text: &Passage<'_>, lines: &[Line<'_>]) -> Vec<FoundLine> {
    let mut dialogue: Vec<FoundLine> = Vec::new();
    let mut since = 0;
    for (at, line) in lines.iter().enumerate() {
        since += 1;
        if at > 0 && since > 4 {
            let between = text.narration(lines[at - 1].end, line.start);
            if let Some(action) = between.iter().find_map(|hint| event(text.ask.language, hint)) {
                let speaker = Utterance::ENVIRONMENT.to_owned();
                dialogue.push(FoundLine { speaker, action: Some(action), ..FoundLine::default() });
                since = 0;
            }
        }
        let (speech, thought) =
            if line.thought { (None, Some(line.speech.clone())) } else { (Some(line.speech.clone()), None) };
        dialogue.push(FoundLine { speaker: line.speaker.to_owned(), thought, action: line.action.clone(), speech });
    }
    dialogue
}

/// Splits the utterances at scene boundaries, then merges short runs with a neighbour and splits long ones.
fn runs<'a, 'b>(text: &Passage<'_>, lines: &'b [Line<'a>]) -> Vec<Run<'a, 'b>> {
    let ask = text.ask;
    let gap = |at: usize| {
        let (before, after) = (&lines[at], &lines[at + 1]);
        let between = ask.paragraphs.get(before.paragraph + 1..after.paragraph).unwrap_or(&[]);
        let border = between.iter().any(|paragraph| paragraph.border);
        let narration = text.narration_text(before.end, after.start);
        let characters = after.start - before.end;
        let (time, place) = turns(ask.language, narration.into_iter());
        Gap { border, paragraphs: between.len(), characters, time, place }
    };
    let speakers: Vec<&str> = lines.iter().map(|line| line.speaker).collect();
    let cuts = cuts(ask.language, &speakers, &gap);
    let (fewest, most) = (ask.min_utterances as usize, ask.max_utterances as usize);
    let end = Cut { at: lines.len(), hard: true, turn: None };
    let mut runs: Vec<(usize, usize, Option<u32>)> = Vec::new();
    let mut before = Cut { at: 0, hard: true, turn: None };
    for cut in cuts.into_iter().chain([end]) {
        match runs.last_mut() {
            Some(run)
                if !before.hard
                    && (cut.at - before.at < fewest || run.1 - run.0 < fewest)
                    && cut.at - run.0 <= most =>
            {
                run.1 = cut.at;
            }
            _ => runs.push((before.at, cut.at, before.turn)),
        }
        before = cut;
    }
    let mut parts: Vec<(usize, usize, Option<u32>)> = Vec::new();
    for (start, end, turn) in runs {
        let mut even_parts = Vec::new();
        split_evenly(start, end, most, &|at| lines[at + 1].start - lines[at].end, &mut even_parts);
        parts.extend(even_parts.into_iter().map(|part| (part.0, part.1, turn.filter(|_| part.0 == start))));
    }
    let mut found: Vec<Run<'a, 'b>> = Vec::new();
    for (at, (start, end, turn)) in parts.iter().enumerate() {
        let floor = turn.unwrap_or_else(|| start.checked_sub(1).map_or(ask.start, |last| lines[last].end));
        let next = parts.get(at + 1).and_then(|(_, _, turn)| *turn);
        let ceiling = next.unwrap_or_else(|| lines.get(*end).map_or(ask.end, |line| line.start));
        found.push(Run { lines: &lines[*start..*end], floor, ceiling });
    }
    found
}

/// Splits a run into even parts of at most `most` utterances, each at the widest gap near the ideal position.
fn split_evenly(start: usize, end: usize, most: usize, gap: &dyn Fn(usize) -> u32, parts: &mut Vec<(usize, usize)>) {
    let mut start = start;
    while end - start > most {
        let count = (end - start).div_ceil(most);
        let due = start + (end - start).div_ceil(count);
        let slack = (most / 6).max(1);
        let latest = (due + slack).min(start + most).min(end - 1);
        let earliest = (due - slack.min(due - start - 1)).max(start + 1);
        let cut =
            (earliest..=latest).max_by_key(|at| (gap(at - 1), std::cmp::Reverse(at.abs_diff(due)))).unwrap_or(due);
        parts.push((start, cut));
        start = cut;
    }
    if end > start {
        parts.push((start, end));
    }
}

/// Returns the range of a scene's text: its utterances and the narration just before them.
fn text_range(text: &Passage<'_>, run: &Run<'_, '_>) -> (u32, u32) {
    let ask = text.ask;
    let (first, last) = (&run.lines[0], &run.lines[run.lines.len() - 1]);
    let paragraphs = &ask.paragraphs[..first.paragraph.min(ask.paragraphs.len())];
    let border =
        paragraphs.iter().rev().find(|paragraph| paragraph.border).map_or(ask.start, |paragraph| paragraph.end);
    let floor = run.floor.max(ask.start).max(border);
    let earliest = floor.max(first.start.saturating_sub(most_characters(ask.language) / 2));
    // A scene begins with a paragraph or a sentence of narration.
    let paragraph = ask.paragraphs.iter().map(|paragraph| paragraph.start).find(|start| *start >= earliest);
    let sentence = text.narration(earliest, first.start).first().map(|sentence| sentence.start);
    let start = [paragraph, sentence].into_iter().flatten().min().filter(|start| *start <= first.start);
    let start = start.unwrap_or(first.start);
    let end = ask.paragraphs.get(last.paragraph).map_or(last.end, |paragraph| paragraph.end);
    (start, end.min(run.ceiling).clamp(last.end, ask.end.max(last.end)))
}

fn continues(ask: &FindScenes, run: &[Line<'_>]) -> bool {
    let Some(carried) = &ask.carried else { return false };
    let near = run[0].start.saturating_sub(ask.start) < most_characters(ask.language) / 2;
    let border = ask.paragraphs.iter().take(run[0].paragraph + 1).any(|paragraph| paragraph.border);
    let shares = run.iter().any(|line| carried.characters.iter().any(|name| name == line.speaker));
    near && !border && shares && carried.lines as usize + run.len() <= ask.max_utterances as usize
}

/// Returns the first or last few words of a text.
fn words(text: &str, language: Language, last: bool) -> String {
    let text = one_line(text);
    match language {
        Language::En => {
            let words: Vec<&str> = text.split(' ').collect();
            let count = words.len().min(8);
            if last { words[words.len() - count..].join(" ") } else { words[..count].join(" ") }
        }
        Language::Zh => {
            let count = text.chars().count().saturating_sub(14);
            if last { text.chars().skip(count).collect() } else { text.chars().take(14).collect() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::extract::Params;
    use crate::stages::extract::fixtures::{EN_PEOPLE, attribution, chunk, indexed_book, length};
    use crate::stages::extract::requests::find_scenes;

    /// The number of utterances in each scene.
    fn found(text: &str, speakers: &[usize], params: &Params) -> Vec<usize> {
        let mut people = EN_PEOPLE.to_vec();
        people.extend([("Clara", EN_PEOPLE[1].1, EN_PEOPLE[0].2), ("Dora", EN_PEOPLE[1].1, EN_PEOPLE[0].2)]);
        let book = indexed_book(Language::En, text, attribution(text, &people, speakers));
        let chunk = chunk(Language::En, text, 0, 0, length(text));
        scenes(&find_scenes(params, &book, &chunk, None)).scenes.iter().map(|scene| scene.dialogue.len()).collect()
    }

    fn talk(lines: usize) -> String {
        "“Rain again.”\n".repeat(lines)
    }

    #[test]
    fn scenes_end_at_breaks_gaps_and_changes_of_cast() {
        let params = Params::default();
        let turns = [0, 1].repeat(12);
        assert_eq!(found(&talk(8), &turns, &params), [8]);
        assert_eq!(found(&format!("{}* * *\n{}", talk(6), talk(6)), &turns, &params), [6, 6]);
        let pause = "The river went by and said nothing.\n";
        assert_eq!(found(&format!("{}{}{}", talk(6), pause.repeat(3), talk(6)), &turns, &params), [12]);
        assert_eq!(found(&format!("{}{}{}", talk(6), pause.repeat(14), talk(6)), &turns, &params), [6, 6]);
        let other_cast = [[0, 1].repeat(3), [2, 3].repeat(3)].concat();
        assert_eq!(found(&format!("{}{pause}{}", talk(6), talk(6)), &other_cast, &params), [6, 6]);
    }

    #[test]
    fn long_dialogue_is_split_evenly_and_short_dialogue_is_dropped() {
        let params = Params { max_utterances: 10, ..Params::default() };
        let turns = [0, 1].repeat(20);
        assert_eq!(found(&talk(25), &turns, &params).iter().sum::<usize>(), 25);
        assert!(found(&talk(25), &turns, &params).iter().all(|lines| (7..=10).contains(lines)));
        assert!(found(&talk(3), &turns, &params).is_empty());
        assert!(found(&talk(8), &[0; 8], &params).is_empty());
        // Quotations without a speaker are dropped and do not split a scene.
        assert_eq!(found(&talk(9), &[0, 1, 0, 1, 99, 0, 1, 0, 1], &params), [8]);
    }

    #[test]
    fn labels_and_lines_of_groups_are_not_utterances() {
        let params = Params::default();
        let label = "They were called “Paid” and “Owed”.\n";
        assert_eq!(found(&format!("{}{label}", talk(6)), &[0, 1].repeat(4), &params), [6]);
    }

    /// The utterances of the only scene: speaker, whether thought, action.
    fn dialogue(text: &str) -> Vec<(String, bool, Option<String>)> {
        let book = indexed_book(Language::En, text, attribution(text, EN_PEOPLE, &[0, 1].repeat(20)));
        let chunk = chunk(Language::En, text, 0, 0, length(text));
        let mut found = scenes(&find_scenes(&Params::default(), &book, &chunk, None)).scenes;
        let lines = found.remove(0).dialogue.into_iter();
        lines.map(|line| (line.speaker, line.thought.is_some(), line.action)).collect()
    }

    #[test]
    fn actions_thoughts_and_events_are_assigned_to_their_lines() {
        let text = "Anna shut the heavy gate.\n“Late.”\n“Late.”\n“Early,” thought Anna, and sat down.\n“Tea?” said Boris. Boris put the kettle on.\n\
                    “Tea.”\n“Here.”\nThe wind rose over the pond.\n“Thanks.”\n“Well.”\n";
        let found = dialogue(text);
        assert_eq!(found[0].2.as_deref(), Some("shut the heavy gate"));
        assert!(found[2].1 && found.iter().filter(|line| line.1).count() == 1, "{found:?}");
        assert_eq!(found[3].2.as_deref(), Some("put the kettle on"));
        let wind = found.iter().position(|line| line.0 == "Environment").expect("one event was added");
        assert_eq!((wind, found[wind].2.as_deref()), (6, Some("The wind rose over the pond")));
    }

    #[test]
    fn a_quoted_heading_is_not_an_utterance() {
        let params = Params::default();
        assert_eq!(found(&format!("Chapter “Rain”\n{}", talk(6)), &[0, 1].repeat(4), &params), [6]);
    }

    #[test]
    fn a_change_of_day_ends_a_scene() {
        let night = "The next morning the mill stood still, and the river was white with frost to the far bank, as it had not been \
                     for years; nobody had come to the door yet, and the gate was shut.\n";
        let text = format!("{}{night}{}", talk(6), talk(6));
        assert_eq!(found(&text, &[0, 1].repeat(6), &Params::default()), [6, 6]);
    }
}
