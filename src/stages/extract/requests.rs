//! Builds the questions of the stage from the book index.

use std::collections::BTreeMap;

use super::asks::{
    CarriedHint, CastHint, CastNotes, DescribeScene, DialogueHint, FindScenes, ParagraphHint, QuotationHint,
    SentenceHint,
};
use super::book_index::BookIndex;
use super::book_index::narration::Sentence;
use super::carry::Carry;
use super::lexicon::ProfileKey;
use super::params::Params;
use super::scenes::Draft;
use crate::schema::{Chunk, Language};

pub(crate) fn find_scenes(params: &Params, book: &BookIndex, chunk: &Chunk, carried: Option<&Draft>) -> FindScenes {
    let quotations = book.quotations(chunk.start, chunk.end);
    let mut lines: BTreeMap<usize, u32> = BTreeMap::new();
    for speaker in quotations.iter().filter_map(|quotation| quotation.speaker) {
        *lines.entry(speaker).or_default() += 1;
    }
    let mut cast: Vec<CastHint> = lines
        .into_iter()
        .map(|(person, lines)| {
            let person = book.person(person);
            let (name, aliases) = (person.name.clone(), person.aliases.clone());
            CastHint { name, aliases, lines, all_lines: person.lines }
        })
        .collect();
    cast.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
    let first_words = |text: &str| match book.language {
        Language::En => text.split_whitespace().take(6).collect::<Vec<_>>().join(" "),
        Language::Zh => text.chars().take(12).collect(),
    };
    let quotations = quotations
        .iter()
        .map(|quotation| QuotationHint {
            speaker: quotation.speaker.map(|person| book.person(person).name.clone()),
            opening: first_words(&quotation.text),
            text: quotation.text.clone(),
            action: quotation.action.clone(),
            start: quotation.start,
            end: quotation.end,
        })
        .collect();
    let paragraphs = book
        .attribution
        .paragraphs
        .iter()
        .skip(book.attribution.paragraphs.partition_point(|paragraph| paragraph.end <= chunk.start))
        .take_while(|paragraph| paragraph.start < chunk.end)
        .map(|paragraph| ParagraphHint { start: paragraph.start, end: paragraph.end, border: paragraph.border })
        .collect();
    FindScenes {
        language: book.language,
        title: book.title.clone(),
        chapter: chunk.chapter.clone(),
        text: chunk.text.clone(),
        carried: carried.map(|draft| CarriedHint {
            summary: draft.summary.clone(),
            characters: draft.speakers().into_iter().map(str::to_owned).collect(),
            lines: u32::try_from(draft.dialogue.len()).unwrap_or(u32::MAX),
            last_lines: last_lines(draft),
        }),
        cast,
        quotations,
        min_utterances: params.min_utterances,
        max_utterances: params.max_utterances,
        goes_on: chunk.continues || book.goes_on(chunk.end),
        doubt: None,
        continues: chunk.continues,
        start: chunk.start,
        end: chunk.end,
        paragraphs,
        narration: book.narration(chunk.start, chunk.end).iter().map(|sentence| hint(book, sentence)).collect(),
        script: book.script(),
        narrator: book.narrator().map(str::to_owned),
        lines_by_rank: book.lines_by_rank().to_vec(),
    }
}

pub(super) fn last_lines(draft: &Draft) -> Vec<String> {
    let from = draft.dialogue.len().saturating_sub(3);
    draft.dialogue[from..].iter().map(|line| format!("{}: {}", line.speaker, line.content())).collect()
}

pub(super) fn hint(book: &BookIndex, sentence: &Sentence) -> SentenceHint {
    let name = |person: &usize| book.person(*person).name.clone();
    let after =
        sentence.subject.and_then(|person| book.after_name(&sentence.text, person)).unwrap_or_default().to_owned();
    SentenceHint {
        start: sentence.start,
        end: sentence.end,
        text: sentence.text.clone(),
        people: sentence.people.iter().map(name).collect(),
        subject: sentence.subject.as_ref().map(name),
        after,
        is_standalone: sentence.is_standalone,
        first_person: sentence.first_person,
    }
}

pub(crate) fn describe_scene(book: &BookIndex, opening: u32, draft: &Draft, carry: &Carry) -> DescribeScene {
    let end = draft.text_range.1.max(draft.end());
    let cast = draft
        .characters
        .iter()
        .map(|name| {
            let person = book.owner(name);
            CastNotes {
                name: name.clone(),
                aliases: person.map_or_else(Vec::new, |person| book.person(person).aliases.clone()),
                // An unnamed person may be someone else than in the previous scene.
                known: match person {
                    Some(person) if book.is_unnamed(person) => Vec::new(),
                    _ => carry.profiles.get(name).cloned().unwrap_or_default(),
                },
                notes: person.map_or_else(Vec::new, |person| book.notes(person, end)),
            }
        })
        .collect();
    let keys = |public: bool| {
        let keys = ProfileKey::all().filter(|key| (key.visibility() == crate::schema::Visibility::Public) == public);
        keys.map(|key| key.word(book.script())).collect()
    };
    let hints = |start: u32, end: u32| book.narration(start, end).iter().map(|sentence| hint(book, sentence)).collect();
    let first = draft.start();
    let begin = draft.text_range.0.min(first);
    let before: Vec<SentenceHint> = hints(begin, first);
    // A passage that begins with dialogue does not say where it takes place; the narration just before it may.
    let lead = if before.iter().any(|sentence| sentence.is_standalone) { Vec::new() } else { book.lead(begin) };
    let lead_hints: Vec<SentenceHint> = lead.iter().map(|sentence| hint(book, sentence)).collect();
    DescribeScene {
        language: book.language,
        title: book.title.clone(),
        chapter: draft.chapter.clone(),
        worldview: carry.worldview.clone(),
        opening: if carry.worldview.is_none() { book.opening(opening) } else { Vec::new() },
        counted: book.world().filter(|_| carry.worldview.is_none()).map(str::to_owned),
        cast,
        lead: lead.into_iter().map(|sentence| sentence.text.clone()).collect(),
        text: book.slice(begin, end).to_owned(),
        dialogue: draft
            .dialogue
            .iter()
            .map(|line| DialogueHint {
                speaker: line.speaker.clone(),
                content: line.content(),
                speech: line.speech.clone().unwrap_or_default(),
            })
            .collect(),
        public_keys: keys(true),
        private_keys: keys(false),
        script: book.script(),
        narrator: book.narrator().map(str::to_owned),
        before: lead_hints.into_iter().chain(before).collect(),
        after: hints(first, end),
        earlier: book.earlier(begin).map(|sentence| hint(book, sentence)),
    }
}
