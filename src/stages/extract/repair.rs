//! Utterances that are not in the book: the model sees each one next to the most similar passage and gives the original
//! wording, or replies that it is not spoken there. Utterances that are still not found are dropped.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::book_index::BookIndex;
use super::grounding::{Found, MatchedRanges, PassageIndex};
use super::language_check::is_foreign;
use super::params::Params;
use super::scenes::{Draft, round};
use crate::llm::{Ask, AskError, Model};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Draw, Grounded, Language, Message, Reject, RejectReason, Stage};

/// The maximum number of utterances in one call.
const MAX_LINES: usize = 24;

/// Below this share of utterances in the book a scene is made up and not worth repairing.
const MIN_SHARE: f64 = 0.2;

/// An utterance that was not found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct MissingLine {
    /// Counted from 1.
    number: u32,
    speaker: String,
    speech: String,
    /// The most similar passage; null if there is none.
    passage: Option<String>,
    /// The words of the utterance and of the passage that differ, if nothing else does.
    difference: Option<(String, String)>,
    /// The words of the passage, if there is only one possible match; used by the offline engine only.
    #[serde(skip)]
    single_match: Option<String>,
}

/// What is the original wording of utterances that are not in the text?
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepairLines {
    language: Language,
    title: String,
    chapter: String,
    lines: Vec<MissingLine>,
}

/// Lines as they stand in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepairedLines {
    /// One entry for each line that was shown.
    pub lines: Vec<RepairedLine>,
}

/// One line as it stands in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepairedLine {
    /// The number of the line.
    pub number: u32,
    /// The words as they stand in the passage; null when nobody says them there.
    pub speech: Option<String>,
}

impl Ask for RepairLines {
    const NAME: &'static str = "extract/repair";
    type Answer = RepairedLines;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![
            Message::system(prompts.render(Self::NAME, self.language, "system", self)?),
            Message::user(prompts.render(Self::NAME, self.language, "user", self)?),
        ])
    }
}

impl RepairLines {
    /// Returns each line's number with the only possible words of the book, if it has such.
    pub(crate) fn only_matches(&self) -> impl Iterator<Item = (u32, Option<String>)> {
        self.lines.iter().map(|line| (line.number, line.single_match.clone()))
    }
}

/// Asks for the original wording of the utterances that were not found and applies it. A call that fails for this scene
/// only is a reject.
pub(super) async fn repair(
    model: &Model,
    params: &Params,
    book: &BookIndex,
    passage_index: &PassageIndex<'_>,
    draft: &mut Draft,
) -> Result<Vec<Reject>, AskError> {
    let mut rejects = Vec::new();
    for round in 0..params.max_repairs {
        let missing = draft.missing();
        if missing.is_empty() || draft.grounding() < MIN_SHARE || is_translated(draft, book.language) {
            break;
        }
        let asked = &missing[..missing.len().min(MAX_LINES)];
        let ask = ask(params, book, passage_index, draft, asked);
        let id = draft.id(book);
        let draw = Draw::SceneRepair { scene: id.clone(), round };
        match model.ask(&ask, &draw).await {
            Ok(answer) => apply(answer, asked, params, passage_index, draft),
            Err(error) if error.ends_the_run() => return Err(error),
            Err(error) => {
                rejects.push(Reject::new(Stage::Extract, format!("{id}/repair"), error.reason(), error.detail()));
                break;
            }
        }
    }
    Ok(rejects)
}

/// Drops the utterances that were not found, with one reject each.
pub(super) fn drop_missing(
    draft: &mut Draft,
    params: &Params,
    book: &BookIndex,
    passage_index: &PassageIndex<'_>,
) -> Vec<Reject> {
    let id = draft.id(book);
    let missing = draft.missing();
    let mut rejects = Vec::new();
    for &at in &missing {
        let line = &draft.dialogue[at];
        let speech = line.speech.as_deref().unwrap_or_default();
        let found = passage_index.find(speech, 0, params.min_similarity, &MatchedRanges::default());
        let mut detail = format!("{} says “{speech}”", line.speaker);
        if let Some(alteration) = &found.alteration {
            let quoted = |words: &str| {
                if words.is_empty() { "nothing".to_owned() } else { format!("“{words}”") }
            };
            let (line, book) = (quoted(&alteration.line), quoted(&alteration.book));
            write!(detail, "; the book has {book} instead of {line}").expect("writing to a string cannot fail");
        } else {
            write!(detail, "; the highest similarity in the book is {}", round(found.similarity))
                .expect("writing to a string cannot fail");
        }
        rejects.push(Reject::new(Stage::Extract, format!("{id}#{at}"), RejectReason::NotInBook, detail));
    }
    draft.dropped += u32::try_from(missing.len()).unwrap_or(u32::MAX);
    draft.dialogue.retain(|line| line.grounded != Some(Grounded::Absent));
    rejects
}

/// Whether most of the missing utterances are in another language, so that a similarity search is useless.
fn is_translated(draft: &Draft, language: Language) -> bool {
    let missing = draft.missing();
    let speech = |at: &&usize| draft.dialogue[**at].speech.as_deref().is_some_and(|text| is_foreign(text, language));
    missing.iter().filter(speech).count() * 2 > missing.len()
}

fn ask(
    params: &Params,
    book: &BookIndex,
    passage_index: &PassageIndex<'_>,
    draft: &Draft,
    asked: &[usize],
) -> RepairLines {
    let matched = draft.matched_ranges();
    let lines = (1..).zip(asked).map(|(number, &at)| {
        let line = &draft.dialogue[at];
        let speech = line.speech.clone().unwrap_or_default();
        let found = passage_index.find(&speech, 0, params.min_similarity, &matched);
        MissingLine {
            number,
            speaker: line.speaker.clone(),
            passage: found.nearest.map(|range| passage_index.passage(range)),
            difference: found.alteration.clone().map(|alteration| (alteration.line, alteration.book)),
            single_match: single_match(&found, passage_index),
            speech,
        }
    });
    RepairLines {
        language: book.language,
        title: book.title.clone(),
        chapter: draft.chapter.clone(),
        lines: lines.collect(),
    }
}

/// Returns the words of the book if the utterance has a difference from its nearest range that changes the meaning.
fn single_match(found: &Found, passage_index: &PassageIndex<'_>) -> Option<String> {
    let range = found.nearest.filter(|_| found.alteration.is_some())?;
    Some(passage_index.quoted_text(range))
}

/// Applies repaired utterances whose range is not matched to another one.
fn apply(answer: RepairedLines, asked: &[usize], params: &Params, passage_index: &PassageIndex<'_>, draft: &mut Draft) {
    for line in answer.lines {
        let Some(&at) = (line.number as usize).checked_sub(1).and_then(|number| asked.get(number)) else { continue };
        let Some(speech) = line.speech.map(|speech| speech.trim().to_owned()).filter(|speech| !speech.is_empty())
        else {
            continue;
        };
        if draft.dialogue[at].grounded != Some(Grounded::Absent) {
            continue;
        }
        let after = draft.dialogue[..at].iter().rev().find_map(|line| line.end).unwrap_or(0);
        let speech = super::scenes::unquoted(&speech).to_owned();
        let found = passage_index.find(&speech, after, params.min_similarity, &draft.matched_ranges());
        if let Some((start, end)) = found.range {
            let line = &mut draft.dialogue[at];
            (line.speech, line.start, line.end) = (Some(speech), Some(start), Some(end));
            (line.grounded, line.similarity) = (Some(found.grounded), Some(round(found.similarity)));
        }
    }
}
