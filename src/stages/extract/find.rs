//! The offline answer to which scenes a stretch holds: the quotations of the reading, parted where the talk parts.

use std::collections::{BTreeMap, BTreeSet};

use super::asks::{CastHint, FindScenes, FoundLine, FoundScene, FoundScenes, QuotationHint, SentenceHint};
use super::lexicon::{Words, join, list};
use super::narration::one_line;
use crate::schema::Language;
use crate::text::{lead_word, topics};

/// A line on its way into a scene: one speaker's words in one paragraph, joined over what interrupts them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line<'a> {
    speaker: &'a str,
    speech: String,
    action: Option<String>,
    start: u32,
    end: u32,
    paragraph: usize,
}

/// What lies between two lines.
#[derive(Debug, Clone, Copy)]
struct Gap {
    border: bool,
    paragraphs: usize,
    characters: u32,
}

/// A gap of this many paragraphs parts two scenes.
const MOST_PARAGRAPHS: usize = 12;

/// A gap of this many characters does: some 350 English words, 600 Chinese characters.
const fn most_characters(language: Language) -> u32 {
    match language {
        Language::En => 2000,
        Language::Zh => 600,
    }
}

/// Finds the scenes of a stretch.
pub(super) fn scenes(ask: &FindScenes) -> FoundScenes {
    let lines = lines(ask);
    let runs = runs(ask, &lines);
    let mut scenes: Vec<FoundScene> = Vec::new();
    let mut last_end = ask.start;
    for run in runs {
        let speakers: BTreeSet<&str> = run.iter().map(|line| line.speaker).collect();
        if run.len() < ask.min_utterances as usize || speakers.len() < 2 {
            continue;
        }
        let (start, end) = stretch(ask, run, last_end);
        last_end = run[run.len() - 1].end;
        let mut characters: Vec<String> = Vec::new();
        for line in run {
            if !characters.iter().any(|name| name == line.speaker) {
                characters.push(line.speaker.to_owned());
            }
        }
        let text = cut(ask, start, end);
        scenes.push(FoundScene {
            continues: scenes.is_empty() && continues(ask, run),
            first_words: words(text, ask.language, false),
            summary: summary(ask, start, end, &characters, run),
            characters,
            dialogue: run.iter().map(found).collect(),
            last_words: words(text, ask.language, true),
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

fn found(line: &Line<'_>) -> FoundLine {
    let (speaker, speech) = (line.speaker.to_owned(), Some(line.speech.clone()));
    FoundLine { speaker, thought: None, action: line.action.clone(), speech }
}

fn lines(ask: &FindScenes) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for quotation in &ask.quotations {
        let Some(speaker) = quotation.speaker.as_deref() else { continue };
        if !quotation.text.chars().any(char::is_alphanumeric)
            || Words::is_group(ask.language, speaker)
            || is_label(ask, quotation)
        {
            continue;
        }
        let paragraph = ask.paragraphs.partition_point(|paragraph| paragraph.end <= quotation.start);
        match lines.last_mut() {
            Some(line) if line.paragraph == paragraph && line.speaker == speaker => {
                join_speech(&mut line.speech, cut(ask, line.end, quotation.start), &quotation.text, ask.language);
                line.end = quotation.end;
                line.action = line.action.take().or_else(|| action(ask, speaker, quotation.action.as_deref()));
            }
            _ => lines.push(Line {
                speaker,
                speech: quotation.text.clone(),
                action: action(ask, speaker, quotation.action.as_deref()),
                start: quotation.start,
                end: quotation.end,
                paragraph,
            }),
        }
    }
    for line in &mut lines {
        // A comma at the end belonged to the tag.
        close(&mut line.speech, ask.language);
    }
    lines
}

/// Joins two parts of a speech. Where the tag between them ends a sentence, so does the first part.
fn join_speech(speech: &mut String, between: &str, next: &str, language: Language) {
    let tag = between.trim().trim_matches(['“', '”', '"', '「', '」', '『', '』', '‘', '’']).trim_end();
    let first = next.split_whitespace().next().unwrap_or_default();
    let word = first.trim_end_matches(|c: char| !c.is_alphanumeric());
    // A word that is written small within a sentence begins a new one when it is not.
    let begins = word.starts_with(char::is_uppercase) && lead_word(word) && !word.starts_with("I’") && word != "I";
    if tag.ends_with(['.', '。', '．', '!', '！']) || begins {
        close(speech, language);
    }
    if language == Language::En {
        speech.push(' ');
    }
    speech.push_str(next);
}

/// Puts a full stop in place of a comma at the end, also of one within a last quotation.
fn close(speech: &mut String, language: Language) {
    let kept = speech.trim_end_matches(['’', '”', '」', '』']).len();
    if let Some(mark) = speech[..kept].chars().next_back().filter(|mark| matches!(mark, ',' | '，')) {
        speech.replace_range(kept - mark.len_utf8()..kept, if language == Language::En { "." } else { "。" });
    }
}

/// Whether quotation marks stand round what something is called: a few words that end in no mark, as speech does.
fn is_label(ask: &FindScenes, quotation: &QuotationHint) -> bool {
    let text = quotation.text.trim();
    let marked = quotation.start > ask.start
        && cut(ask, quotation.start - 1, quotation.start).starts_with(['“', '"', '‘', '「', '『']);
    let short = match ask.language {
        Language::En => text.split_whitespace().count() <= 3,
        Language::Zh => text.chars().count() <= 8,
    };
    marked && short && text.ends_with(char::is_alphanumeric)
}

/// Keeps an action that is short, clean and told of the speaker from outside.
fn action(ask: &FindScenes, speaker: &str, action: Option<&str>) -> Option<String> {
    let action = action?.trim_matches(|c: char| c.is_whitespace() || "()（）[]，,。．.;；:：—".contains(c));
    let action = ["But ", "And ", "Then ", "So "].iter().find_map(|word| action.strip_prefix(word)).unwrap_or(action);
    let named = |names: &CastHint| {
        let names = names.aliases.iter().chain([&names.name]).filter(|name| action.starts_with(name.as_str()));
        names.map(String::len).max()
    };
    let subject = ask.cast.iter().filter_map(|person| Some((named(person)?, &person.name))).max();
    let action = match subject {
        // The speaker's own name stands before the line already; what another does is no action of the speaker.
        Some((length, name)) if name == speaker => action[length..].trim_start(),
        Some(_) => return None,
        None => ["He ", "he ", "She ", "she ", "他", "她"]
            .iter()
            .find_map(|pronoun| action.strip_prefix(pronoun))
            .unwrap_or(action),
    };
    // What is left of `she began` tells nothing.
    if ask.language == Language::En && subject.is_some() && action.split_whitespace().count() < 3 {
        return None;
    }
    let most = if ask.language == Language::Zh { 24 } else { 80 };
    let length = action.chars().count();
    let clean = !action.contains(['“', '”', '"', '「', '」', '\n', '(', ')', '（', '）']);
    let outside = !Words::of(ask.language).is_first_person(action);
    ((2..=most).contains(&length) && clean && outside).then(|| action.to_owned())
}

/// Parts the lines where scenes part, then joins what is too short with its neighbour and cuts what is too long.
fn runs<'a, 'b>(ask: &FindScenes, lines: &'b [Line<'a>]) -> Vec<&'b [Line<'a>]> {
    let gap = |at: usize| {
        let (before, after) = (&lines[at], &lines[at + 1]);
        let between = ask.paragraphs.get(before.paragraph + 1..after.paragraph).unwrap_or(&[]);
        let border = between.iter().any(|paragraph| paragraph.border);
        Gap { border, paragraphs: between.len(), characters: after.start - before.end }
    };
    let mut cuts: Vec<(usize, bool)> = Vec::new();
    let mut begun = 0;
    for at in 0..lines.len().saturating_sub(1) {
        let gap = gap(at);
        let far = gap.paragraphs >= MOST_PARAGRAPHS || gap.characters > most_characters(ask.language);
        let changed = gap.paragraphs > 0 && changed(&lines[begun..=at], &lines[at + 1..]);
        if gap.border || far || changed {
            cuts.push((at + 1, gap.border || gap.characters > 2 * most_characters(ask.language)));
            begun = at + 1;
        }
    }
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    let mut hard_before = true;
    for (end, hard) in cuts.into_iter().chain([(lines.len(), true)]) {
        let (fewest, most) = (ask.min_utterances as usize, ask.max_utterances as usize);
        match runs.last_mut() {
            Some(run) if !hard_before && (end - start < fewest || run.1 - run.0 < fewest) && end - run.0 <= most => {
                run.1 = end;
            }
            _ => runs.push((start, end)),
        }
        (start, hard_before) = (end, hard);
    }
    let mut parts = Vec::new();
    for (start, end) in runs {
        even(start, end, ask.max_utterances as usize, &|at| gap(at).characters, &mut parts);
    }
    parts.into_iter().map(|(start, end)| &lines[start..end]).collect()
}

/// Whether other people talk from here on than did so far.
fn changed(before: &[Line<'_>], after: &[Line<'_>]) -> bool {
    let before: BTreeSet<&str> = before.iter().rev().take(8).map(|line| line.speaker).collect();
    let after: BTreeSet<&str> = after.iter().take(8).map(|line| line.speaker).collect();
    before.len() >= 2 && after.len() >= 2 && before.is_disjoint(&after)
}

/// Cuts a run into even parts of at most `most` lines, each cut at the widest gap near where it is due.
fn even(start: usize, end: usize, most: usize, gap: &dyn Fn(usize) -> u32, parts: &mut Vec<(usize, usize)>) {
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

/// Returns the stretch of text that a scene plays in: its lines, and what is told just before them.
fn stretch(ask: &FindScenes, run: &[Line<'_>], last_end: u32) -> (u32, u32) {
    let place = |at: usize, otherwise: u32| ask.paragraphs.get(at).map_or(otherwise, |paragraph| paragraph.start);
    let (first, last) = (&run[0], &run[run.len() - 1]);
    let most = most_characters(ask.language) / 2;
    let mut from = first.paragraph;
    while from > 0 {
        let before = ask.paragraphs[from - 1];
        let wide = first.start.saturating_sub(before.start) > most;
        if before.border || before.start < last_end || before.start < ask.start || wide || first.paragraph - from >= 5 {
            break;
        }
        from -= 1;
    }
    let start = place(from, first.start).max(ask.start).min(first.start);
    let end = ask.paragraphs.get(last.paragraph).map_or(last.end, |paragraph| paragraph.end);
    (start, end.clamp(last.end, ask.end.max(last.end)))
}

fn continues(ask: &FindScenes, run: &[Line<'_>]) -> bool {
    let Some(carried) = &ask.carried else { return false };
    let near = run[0].start.saturating_sub(ask.start) < most_characters(ask.language) / 2;
    let border = ask.paragraphs.iter().take(run[0].paragraph + 1).any(|paragraph| paragraph.border);
    let shares = run.iter().any(|line| carried.characters.iter().any(|name| name == line.speaker));
    near && !border && shares && carried.lines as usize + run.len() <= ask.max_utterances as usize
}

fn cut(ask: &FindScenes, start: u32, end: u32) -> &str {
    let mut bytes = ask.text.char_indices().map(|(byte, _)| byte).chain([ask.text.len()]);
    let from = bytes.nth((start - ask.start) as usize).unwrap_or(ask.text.len());
    let to = if end > start { bytes.nth((end - start) as usize - 1).unwrap_or(ask.text.len()) } else { from };
    &ask.text[from..to]
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

/// Returns the things that come up in a talk again and again, the most frequent first, at most three.
fn things(language: Language, run: &[Line<'_>]) -> Vec<String> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (at, line) in run.iter().enumerate() {
        for topic in topics(&line.speech, language) {
            if topic.phrase.starts_with("the ") || language == Language::Zh {
                counts.entry(topic.phrase).or_insert((0, at)).0 += 1;
            }
        }
    }
    let mut things: Vec<(usize, usize, String)> = counts
        .into_iter()
        .filter(|(_, (count, _))| *count > 1)
        .map(|(phrase, (count, at))| (count, at, phrase))
        .collect();
    things.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)).then_with(|| a.2.cmp(&b.2)));
    things.into_iter().take(3).map(|(_, _, phrase)| phrase).collect()
}

/// Tells a scene in the book's own sentences: of each third of it the one that names most of the cast.
fn summary(ask: &FindScenes, start: u32, end: u32, characters: &[String], run: &[Line<'_>]) -> String {
    let (least, most) = if ask.language == Language::Zh { (10, 90) } else { (40, 240) };
    let third = (end - start) / 3 + 1;
    let mut best: BTreeMap<u32, (usize, &SentenceHint)> = BTreeMap::new();
    for sentence in ask.narration.iter().filter(|sentence| sentence.start >= start && sentence.end <= end) {
        let named = sentence.people.iter().filter(|name| characters.contains(name)).count().min(2);
        let length = sentence.text.chars().count();
        let leans = Words::of(ask.language).leans(&sentence.text);
        if named == 0
            || leans
            || !(least..=most).contains(&length)
            || Words::of(ask.language).is_first_person(&sentence.text)
        {
            continue;
        }
        let named = named * 2 + usize::from(sentence.subject.as_ref().is_some_and(|name| characters.contains(name)));
        let part = best.entry((sentence.start - start) / third).or_insert((0, sentence));
        if named > part.0 {
            *part = (named, sentence);
        }
    }
    let cast = list(&characters[..characters.len().min(6)], ask.language);
    let mut sentences: Vec<String> = best.values().map(|(_, sentence)| sentence.text.clone()).collect();
    if sentences.len() < 2 {
        let things = list(&things(ask.language, run), ask.language);
        let talk = match (ask.language, things.is_empty()) {
            (Language::En, true) => format!("{cast} talk."),
            (Language::En, false) => format!("{cast} talk of {things}."),
            (Language::Zh, true) => format!("{cast}在交谈。"),
            (Language::Zh, false) => format!("{cast}谈起{things}。"),
        };
        sentences.insert(0, talk);
    }
    join(&sentences, ask.language)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{EN_PEOPLE, chunk, facts, length, reading};
    use super::super::{Params, find_scenes};
    use super::*;

    /// The number of lines of each scene that is found.
    fn found(text: &str, speakers: &[usize], params: &Params) -> Vec<usize> {
        let mut people = EN_PEOPLE.to_vec();
        people.extend([("Clara", EN_PEOPLE[1].1, EN_PEOPLE[0].2), ("Dora", EN_PEOPLE[1].1, EN_PEOPLE[0].2)]);
        let book = facts(Language::En, text, reading(text, &people, speakers));
        let chunk = chunk(Language::En, text, 0, 0, length(text));
        scenes(&find_scenes(params, &book, &chunk, None)).scenes.iter().map(|scene| scene.dialogue.len()).collect()
    }

    fn talk(lines: usize) -> String {
        "“Rain again.”\n".repeat(lines)
    }

    #[test]
    fn scenes_part_at_borders_gaps_and_changes_of_cast() {
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
    fn long_talk_is_cut_evenly_and_short_talk_is_no_scene() {
        let params = Params { max_utterances: 10, ..Params::default() };
        let turns = [0, 1].repeat(20);
        assert_eq!(found(&talk(25), &turns, &params).iter().sum::<usize>(), 25);
        assert!(found(&talk(25), &turns, &params).iter().all(|lines| (7..=10).contains(lines)));
        assert!(found(&talk(3), &turns, &params).is_empty());
        assert!(found(&talk(8), &[0; 8], &params).is_empty());
        // Lines of unknown speakers are left out and break nothing.
        assert_eq!(found(&talk(9), &[0, 1, 0, 1, 99, 0, 1, 0, 1], &params), [8]);
    }

    #[test]
    fn interrupted_speech_is_one_line_with_its_own_stops() {
        for (between, next, language, expected) in [
            (",” said she, “", "and so will you.", Language::En, "I will, and so will you."),
            (",” said she. “", "You will too.", Language::En, "I will. You will too."),
            ("，”她说，“", "你也去。", Language::Zh, "我去，你也去。"),
            ("，”她说。“", "你也去。", Language::Zh, "我去。你也去。"),
            (",” said she, and rose, “", "It will do.", Language::En, "I will. It will do."),
            (",” said she, “", "I think.", Language::En, "I will, I think."),
        ] {
            let first = if language == Language::En { "I will," } else { "我去，" };
            let mut speech = first.to_owned();
            join_speech(&mut speech, between.trim_start_matches([',', '，']), next, language);
            assert_eq!(speech, expected);
        }
        let mut speech = "It says ‘upon view,’".to_owned();
        join_speech(&mut speech, "” he said. “", "A blind man.", Language::En);
        assert_eq!(speech, "It says ‘upon view.’ A blind man.");
    }

    #[test]
    fn labels_and_lines_of_many_are_no_lines() {
        let params = Params::default();
        let label = "They were called “Paid” and “Owed”.\n";
        assert_eq!(found(&format!("{}{label}", talk(6)), &[0, 1].repeat(4), &params), [6]);
    }
}
