//! Offline questions and answers: the answer is a real line of the role, the question is built from its context. So
//! answers sound like the role, and questions ask for something that was said.

use std::sync::LazyLock;

use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use super::person::first;
use super::talk::{self_statements, with_final_punctuation};
use crate::schema::{Confidence, DialogueTurn, Language};
use crate::stages::instruct::asks::direct_questions;
use crate::stages::instruct::{AskDescription, AskSegment, Triplet, Triplets};
use crate::text::{asks, content_words, length, sentences, spoken, topics};

/// The minimum length of an answer in English words; 1.5 times as many Chinese characters.
const FEWEST: usize = 5;
/// The maximum length of a citation in a question, in the same units.
const MOST_CITED: usize = 25;

static FILE: LazyLock<QuestionFile> = LazyLock::new(|| embedded_toml!("questions.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionFile {
    en: QuestionTemplates,
    zh: QuestionTemplates,
    no_things: NoThings,
}

/// English words that show that a phrase is not a thing, separated by whitespace.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoThings {
    nobody: String,
    after_verb: String,
}

/// Templates of a question. `{name}` is the role, `{other}` the other speaker, `{said}` what the other speaker said, `{topic}` a
/// thing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionTemplates {
    /// On a question of the other speaker.
    answered: Vec<String>,
    /// On a statement of the other speaker.
    told: Vec<String>,
    /// On a thing that the role mentioned to the other speaker.
    topic_with: Vec<String>,
    /// On a thing.
    topic: Vec<String>,
    /// On nothing in particular.
    vague: Vec<String>,
    rationale: Rationales,
}

/// The rationale of a question, by its source and confidence.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rationales {
    segment_high: String,
    segment_low: String,
    description_high: String,
    description_low: String,
}

fn templates(language: Language) -> &'static QuestionTemplates {
    match language {
        Language::En => &FILE.en,
        Language::Zh => &FILE.zh,
    }
}

/// A question under construction.
struct Draft {
    question: String,
    answer: String,
    confidence: Confidence,
    /// The number of content words in the answer.
    weight: usize,
}

/// Asks about a segment: lines of the role that answer someone or mention a thing, those with most content first.
pub(super) fn segment(ask: &AskSegment, rng: &mut ChaCha8Rng) -> Triplets {
    let mut drafts: Vec<Draft> = Vec::new();
    for (at, turn) in ask.turns.iter().enumerate().filter(|(_, turn)| turn.role == ask.name) {
        let answer = answer(ask, at);
        if length(&answer, ask.language) < fewest(ask.language) {
            continue;
        }
        // A turn in another round is not an answer.
        let before = at
            .checked_sub(1)
            .map(|before| &ask.turns[before])
            .filter(|before| (before.act, before.round) == (turn.act, turn.round))
            .filter(|before| before.role != DialogueTurn::NARRATOR && before.role != ask.name);
        drafts.push(draft(ask, &answer, before, rng));
    }
    drafts.sort_by_key(|draft| std::cmp::Reverse(draft.weight));
    let mut seen = Vec::new();
    let count = usize::try_from(ask.count).unwrap_or(usize::MAX);
    let fresh = |draft: &Draft| {
        let known = seen.contains(&draft.question);
        seen.push(draft.question.clone());
        !known
    };
    let drafts: Vec<Draft> = drafts.into_iter().filter(fresh).take(count).collect();
    finish(drafts, ask.language, true)
}

/// Returns what the role says from a turn on, including its own next turns.
fn answer(ask: &AskSegment, at: usize) -> String {
    let turn = &ask.turns[at];
    let own = ask.turns[at..].iter().take_while(|next| next.role == ask.name && next.act == turn.act);
    let quotation: Vec<String> = own
        .flat_map(|turn| sentences(spoken(&turn.content)))
        .take(4)
        .map(|sentence| with_final_punctuation(sentence, ask.language))
        .collect();
    quotation.join(if ask.language == Language::En { " " } else { "" })
}

/// Builds the question that a line answers.
fn draft(ask: &AskSegment, answer: &str, before: Option<&DialogueTurn>, rng: &mut ChaCha8Rng) -> Draft {
    let templates = templates(ask.language);
    let weight = content_words(answer).len();
    let topic = topics(answer, ask.language).into_iter().next().map(|topic| topic.phrase);
    let made = |frames: &[String], other: &str, quotation: &str, topic: &str, rng: &mut ChaCha8Rng| {
        let frame = frames.choose(rng).map_or("", String::as_str);
        frame
            .replace("{name}", &ask.name)
            .replace("{other}", other)
            .replace("{said}", quotation)
            .replace("{topic}", topic)
    };
    let cited = before.map(|before| (before.role.as_str(), cited(&before.content, ask.language)));
    let (question, confidence) = match (cited, topic) {
        (Some((other, quotation)), _)
            if content_words(&quotation).len() >= 2 && length(&quotation, ask.language) <= most(ask.language) =>
        {
            (
                made(if asks(&quotation) { &templates.answered } else { &templates.told }, other, &quotation, "", rng),
                Confidence::High,
            )
        }
        (Some((other, _)), Some(topic)) => (made(&templates.topic_with, other, "", &topic, rng), Confidence::High),
        (_, Some(topic)) => (made(&templates.topic, "", "", &topic, rng), Confidence::High),
        (Some((other, quotation)), None) if asks(&quotation) => {
            (made(&templates.answered, other, &quotation, "", rng), Confidence::Low)
        }
        _ => (made(&templates.vague, "", "", "", rng), Confidence::Low),
    };
    Draft { question, answer: answer.to_owned(), confidence, weight }
}

/// Returns the sentence of a turn that is answered: its last question, or else its last sentence.
fn cited(content: &str, language: Language) -> String {
    let quotation = sentences(spoken(content));
    let cited =
        quotation.iter().rev().find(|sentence| asks(sentence)).or(quotation.last()).copied().unwrap_or_default();
    let quotes = ['“', '”', '"', '‘', '「', '」', '『', '』'];
    let cited = cited.trim_matches(|c| quotes.contains(&c) || c == '’');
    if language == Language::Zh { cited.trim_end_matches('。').to_owned() } else { cited.to_owned() }
}

/// Asks about a description: things mentioned in the role's lines or its description, answered with that text; some
/// questions are about the angle of the call, on which there may be no data.
pub(super) fn description(ask: &AskDescription, rng: &mut ChaCha8Rng) -> Triplets {
    let templates = templates(ask.language);
    let description = first(&ask.description, ask.language);
    let self_statements = match ask.language {
        Language::En => self_statements(&description, ask.language),
        // In Chinese the subject is often implied.
        Language::Zh => sentences(&description).into_iter().filter(|sentence| !sentence.contains('：')).collect(),
    };
    let own: Vec<&str> = ask.lines.iter().map(String::as_str).chain(self_statements).collect();
    let fits = |text: &&&str| length(text, ask.language) >= fewest(ask.language);
    let mut mentions: Vec<(String, String)> = own
        .iter()
        .filter(fits)
        .flat_map(|text| {
            let things = topics(text, ask.language).into_iter().filter(|topic| is_thing(&topic.noun, text));
            things.map(|topic| (topic.phrase, (*text).to_owned()))
        })
        .collect();
    mentions.shuffle(rng);
    let made = |frames: &[String], slot: &str, with: &str, rng: &mut ChaCha8Rng| {
        let frame = frames.choose(rng).map_or("", String::as_str);
        frame.replace("{name}", &ask.name).replace(slot, with)
    };
    let count = usize::try_from(ask.count).unwrap_or(usize::MAX);
    let (mut drafts, mut things): (Vec<Draft>, Vec<String>) = (Vec::new(), Vec::new());
    for (thing, text) in mentions {
        // Two in ten questions are about the angle.
        if drafts.len() + count / 5 >= count {
            break;
        }
        if things.contains(&thing) {
            continue;
        }
        let question = made(&templates.topic, "{topic}", &thing, rng);
        things.push(thing);
        drafts.push(Draft { question, answer: whole(&text, ask.language), confidence: Confidence::High, weight: 0 });
    }
    let wanted = content_words(&ask.angle);
    // A single character or a short word occurs in many lines.
    let long = if ask.language == Language::Zh { 2 } else { 5 };
    let shared = |text: &str| {
        content_words(text).iter().filter(|word| word.chars().count() >= long && wanted.contains(word)).count()
    };
    let mut near: Vec<&&str> = own.iter().filter(fits).collect();
    near.shuffle(rng);
    near.sort_by_key(|text| std::cmp::Reverse(shared(text)));
    for (text, question) in
        near.into_iter().zip(direct_questions(&ask.angle, ask.language)).take(count - drafts.len().min(count))
    {
        let question = format!("{}{}{question}", ask.name, if ask.language == Language::Zh { "，" } else { ", " });
        let confidence = if shared(text) > 0 { Confidence::High } else { Confidence::Low };
        drafts.push(Draft { question, answer: whole(text, ask.language), confidence, weight: 0 });
    }
    finish(drafts, ask.language, false)
}

/// Whether a phrase is a thing: not `everyone`, nor `brother keeps` in `my brother keeps my accounts`.
fn is_thing(noun: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let after_verb = |word: &str| text.contains(&format!("{noun} {word} "));
    let words = &FILE.no_things;
    let is_verb = noun.contains(' ') && noun.ends_with('s') && words.after_verb.split_whitespace().any(after_verb);
    !is_verb && !words.nobody.split_whitespace().any(|nobody| nobody == noun)
}

/// Returns a text as complete sentences.
fn whole(text: &str, language: Language) -> String {
    let sentences: Vec<String> = sentences(spoken(text))
        .into_iter()
        .take(4)
        .map(|sentence| with_final_punctuation(sentence, language))
        .collect();
    sentences.join(if language == Language::En { " " } else { "" })
}

/// Adds the rationale to every draft.
fn finish(drafts: Vec<Draft>, language: Language, is_script: bool) -> Triplets {
    let rationale = &templates(language).rationale;
    let reason = |confidence| match (is_script, confidence) {
        (true, Confidence::High) => &rationale.segment_high,
        (true, Confidence::Low) => &rationale.segment_low,
        (false, Confidence::High) => &rationale.description_high,
        (false, Confidence::Low) => &rationale.description_low,
    };
    let triplet = |draft: Draft| Triplet {
        rationale: reason(draft.confidence).clone(),
        question: draft.question,
        confidence: draft.confidence,
        answer: draft.answer,
    };
    Triplets { triplets: drafts.into_iter().filter(|draft| !draft.answer.is_empty()).map(triplet).collect() }
}

const fn fewest(language: Language) -> usize {
    match language {
        Language::En => FEWEST,
        Language::Zh => FEWEST * 3 / 2,
    }
}

const fn most(language: Language) -> usize {
    match language {
        Language::En => MOST_CITED,
        Language::Zh => MOST_CITED * 3 / 2,
    }
}
