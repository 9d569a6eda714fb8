//! Summarizes a scene in a few sentences: the topics of its dialogue, its central sentences, and narration about its
//! cast. All words are from the book.

use std::collections::{BTreeMap, BTreeSet};

use super::describe_scene::narrate;
use super::passage::{Line, Passage};
use crate::schema::Language;
use crate::stages::extract::FindScenes;
use crate::stages::extract::asks::SentenceHint;
use crate::stages::extract::book_index::sentences::sentences;
use crate::stages::extract::lexicon::{Patterns, join, quoted};
use crate::text::{content_words, topics};

/// Returns the topics that recur in a dialogue, most frequent first, at most three.
fn things(language: Language, run: &[Line<'_>]) -> Vec<String> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (at, line) in run.iter().enumerate() {
        // An oath is not a topic: `by the powers`.
        let speech = line.speech.replace("by the ", "by, ");
        for topic in topics(&speech, language) {
            if topic.phrase.starts_with("the ") || language == Language::Zh {
                counts.entry(topic.phrase).or_insert((0, at)).0 += 1;
            }
        }
    }
    let mut things: Vec<(usize, usize, String)> = counts
        .into_iter()
        .filter(|(_, (count, _))| *count > 1 && *count * 10 >= run.len())
        .map(|(phrase, (count, at))| (count, at, phrase))
        .collect();
    things.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)).then_with(|| a.2.cmp(&b.2)));
    things.into_iter().take(3).map(|(_, _, phrase)| phrase).collect()
}

/// Summarizes a scene: the topics of its dialogue or else its central sentences, and for each half the sentence of
/// narration that says most about the cast.
pub(super) fn summary(text: &Passage<'_>, start: u32, end: u32, characters: &[String], run: &[Line<'_>]) -> String {
    let ask = text.ask;
    let (least, most) = if ask.language == Language::Zh { (10, 100) } else { (40, 240) };
    let first = run[0].start;
    let half = (end - first) / 2 + 1;
    let mut best: BTreeMap<u32, (usize, &SentenceHint)> = BTreeMap::new();
    for sentence in text.narration(first.max(start), end) {
        let named = sentence.people.iter().filter(|name| characters.contains(name)).count().min(2);
        let length = sentence.text.chars().count();
        let narrator = !sentence.first_person || ask.narrator.is_some();
        if named == 0 || !sentence.is_standalone || !(least..=most).contains(&length) || !narrator {
            continue;
        }
        let subject = usize::from(sentence.subject.as_ref().is_some_and(|name| characters.contains(name)));
        let score = named * 2 + 2 * subject + usize::from(!sentence.first_person);
        let part = best.entry((sentence.start - first) / half).or_insert((0, sentence));
        if score > part.0 {
            *part = (score, sentence);
        }
    }
    let narration: Vec<&SentenceHint> = best.values().map(|(_, sentence)| *sentence).collect();
    let things = ask.script.list(&things(ask.language, run));
    let key_sentences = match (narration.len() < 2, things.is_empty()) {
        (true, true) => key_sentences(ask, run, 2),
        (true, false) | (false, true) => key_sentences(ask, run, 1),
        (false, false) => Vec::new(),
    };
    let mut parts: Vec<String> = Vec::new();
    if !things.is_empty() || key_sentences.is_empty() {
        let cast = ask.script.list(&characters[..characters.len().min(6)]);
        parts.push(match (ask.language, things.is_empty()) {
            (Language::En, true) => format!("{cast} talk."),
            (Language::En, false) => format!("{cast} talk of {things}."),
            (Language::Zh, true) => format!("{cast}{}。", ask.script.write("在交谈")),
            (Language::Zh, false) => format!("{cast}{}{things}。", ask.script.write("谈起")),
        });
    }
    // First-person narration stays together, the rest is in book order.
    if narration.iter().any(|sentence| sentence.first_person) {
        parts.extend(key_sentences.into_iter().map(|(_, quotation)| quotation));
        parts.push(narrate(&narration, ask.narrator.as_deref(), ask.language));
    } else {
        let narration = narration.into_iter().map(|sentence| (sentence.start, sentence.text.clone()));
        let mut all: Vec<(u32, String)> = key_sentences.into_iter().chain(narration).collect();
        all.sort_by_key(|(start, _)| *start);
        parts.extend(all.into_iter().map(|(_, part)| part));
    }
    parts.retain(|part| !part.is_empty());
    for part in &mut parts {
        // Unnamed people may come first: `the gentleman says`.
        if let Some(rest) = part.strip_prefix("the ") {
            *part = format!("The {rest}");
        }
    }
    join(&parts, ask.language)
}

/// A sentence of a dialogue, with the index of its utterance.
struct KeySentence {
    weight: usize,
    line: usize,
    text: String,
}

/// Returns the central sentences of a dialogue with their offsets, in book order: the one that shares most words with
/// the rest, and if `count` is 2, the best one by another speaker.
fn key_sentences(ask: &FindScenes, run: &[Line<'_>], count: usize) -> Vec<(u32, String)> {
    let language = ask.language;
    let mut best = key_sentence(language, run, &|_| true).into_iter().collect::<Vec<KeySentence>>();
    if let Some(first) = best.first().map(|key_sentence| run[key_sentence.line].speaker).filter(|_| count > 1) {
        best.extend(key_sentence(language, run, &|line| line.speaker != first));
    }
    best.sort_by_key(|key_sentence| key_sentence.line);
    let mut before: Option<usize> = None;
    let mut phrased = Vec::new();
    for KeySentence { line, text, .. } in best {
        let quotation = quoted(&text);
        let speaker = run[line].speaker;
        let other = |line: &&Line<'_>| line.speaker != speaker && !line.thought;
        let next = run[line + 1..].iter().take(2).find(other);
        let to = next.or_else(|| run[..line].iter().rev().take(2).find(other)).map(|line| line.speaker);
        let answers = before.is_some_and(|before| before + 1 == line);
        phrased.push((
            run[line].start,
            match (language, to.filter(|_| before.is_none())) {
                (Language::En, _) if answers => format!("{speaker} answers: {quotation}"),
                (Language::Zh, _) if answers => format!("{speaker}{}：{quotation}", ask.script.write("回答")),
                (Language::En, Some(to)) => format!("{speaker} says to {to}: {quotation}"),
                (Language::Zh, Some(to)) => {
                    format!("{speaker}{}{to}{}：{quotation}", ask.script.write("对"), ask.script.write("说"))
                }
                (Language::En, None) => format!("{speaker} says: {quotation}"),
                (Language::Zh, None) => format!("{speaker}{}：{quotation}", ask.script.write("说")),
            },
        ));
        before = Some(line);
    }
    phrased
}

/// Returns the complete sentence that shares most words with the whole dialogue; the longest of equals.
fn key_sentence(language: Language, run: &[Line<'_>], counts_in: &dyn Fn(&Line<'_>) -> bool) -> Option<KeySentence> {
    let (least, most) = if language == Language::Zh { (8, 60) } else { (24, 160) };
    let distinct = |text: &str| content_words(text).into_iter().collect::<BTreeSet<String>>();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in run {
        for word in distinct(&line.speech) {
            *counts.entry(word).or_default() += 1;
        }
    }
    let mut best: Option<(usize, KeySentence)> = None;
    for (at, line) in run.iter().enumerate().filter(|(_, line)| !line.thought && counts_in(line)) {
        for (start, end, closed) in sentences(&line.speech) {
            let text = line.speech[start..end].trim();
            let length = text.chars().count();
            let within = text.contains(['‘', '“', '”', '「', '『', '』', '`']);
            if !closed || !(least..=most).contains(&length) || within || text.ends_with(['?', '？']) {
                continue;
            }
            // A sentence that depends on the previous one is used only if there is no other.
            let depends_on_context = Patterns::of(language).depends_on_context(text);
            let weight: usize =
                distinct(text).iter().map(|word| counts.get(word).copied().unwrap_or(0).saturating_sub(1)).sum();
            let weight = if depends_on_context { 0 } else { weight + 1 };
            if best.as_ref().is_none_or(|(long, best)| (weight, length) > (best.weight, *long)) {
                best = Some((length, KeySentence { weight, line: at, text: text.to_owned() }));
            }
        }
    }
    best.map(|(_, key_sentence)| key_sentence)
}
