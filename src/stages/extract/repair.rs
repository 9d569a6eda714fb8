//! Lines that do not stand in the book: the model is shown each beside the passage that is most like it, and says how it stands
//! there or that nobody says it. What is then not in the book is no dialogue of a scene.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Params;
use super::doubts::is_foreign;
use super::facts::BookFacts;
use super::grounding::{Found, Ground, Taken};
use super::scenes::{Draft, round};
use crate::llm::{Ask, AskError, Model, Offline};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Grounded, Language, Message, Reject};

/// The most lines that are shown at once.
const MOST_LINES: usize = 24;

/// A scene of which fewer lines stand in the book is invented: there is nothing to repair.
const LEAST_SHARE: f64 = 0.2;

/// A line that is not in the text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct MissingLine {
    /// From 1.
    number: u32,
    speaker: String,
    speech: String,
    /// The passage that is most like it; null when none is.
    passage: Option<String>,
    /// What the line has and the passage has in its place, where that is all that is wrong with it.
    difference: Option<(String, String)>,
    /// The words of the passage, where the line can stand for no others. For the offline engine.
    #[serde(skip)]
    words: Option<String>,
}

/// How do lines that are not in the text stand there?
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

    fn offline(&self, _: &mut Offline<'_>) -> RepairedLines {
        let repaired = |line: &MissingLine| RepairedLine { number: line.number, speech: line.words.clone() };
        RepairedLines { lines: self.lines.iter().map(repaired).collect() }
    }
}

/// Asks for the lines of a scene that were not found, and leaves out those that are not found then. A call that fails for the
/// scene alone repairs nothing.
pub(super) async fn repair(
    model: &Model,
    params: &Params,
    book: &BookFacts,
    ground: &Ground<'_>,
    draft: &mut Draft,
) -> Result<Vec<Reject>, AskError> {
    let mut rejects = Vec::new();
    for round in 0..params.max_repairs {
        let missing = draft.missing();
        if missing.is_empty() || draft.grounding() < LEAST_SHARE || is_translated(draft, book.language) {
            break;
        }
        let shown = &missing[..missing.len().min(MOST_LINES)];
        let ask = ask(params, book, ground, draft, shown);
        let id = draft.id(book);
        let draw = if round == 0 { format!("{id}/repair") } else { format!("{id}/repair/again{round}") };
        match model.ask(&ask, &draw).await {
            Ok(answer) => take(answer, shown, params, ground, draft),
            Err(error) if error.ends_the_run() => return Err(error),
            Err(error) => {
                rejects.push(Reject::new("extract", format!("{id}/repair"), error.reason(), error.detail()));
                break;
            }
        }
    }
    Ok(rejects)
}

/// Leaves out what was not found, and says so line by line.
pub(super) fn leave_out(draft: &mut Draft, params: &Params, book: &BookFacts, ground: &Ground<'_>) -> Vec<Reject> {
    let id = draft.id(book);
    let missing = draft.missing();
    let mut rejects = Vec::new();
    for &at in &missing {
        let line = &draft.dialogue[at];
        let speech = line.speech.as_deref().unwrap_or_default();
        let found = ground.find(speech, 0, params.min_similarity, &Taken::default());
        let mut detail = format!("{} says “{speech}”", line.speaker);
        if let Some(alteration) = &found.alteration {
            let quoted = |words: &str| if words.is_empty() { "nothing".to_owned() } else { format!("“{words}”") };
            let (line, book) = (quoted(&alteration.line), quoted(&alteration.book));
            write!(detail, "; for {line} the book has {book}").expect("a string takes it");
        } else {
            write!(detail, "; nothing in the book is alike by more than {}", round(found.similarity))
                .expect("a string takes it");
        }
        rejects.push(Reject::new("extract", format!("{id}#{at}"), "not_in_book", detail));
    }
    draft.left_out += u32::try_from(missing.len()).unwrap_or(u32::MAX);
    draft.dialogue.retain(|line| line.grounded != Some(Grounded::Absent));
    rejects
}

/// Whether most of what was not found is in another language: no words of the book can be meant by likeness.
fn is_translated(draft: &Draft, language: Language) -> bool {
    let missing = draft.missing();
    let speech = |at: &&usize| draft.dialogue[**at].speech.as_deref().is_some_and(|text| is_foreign(text, language));
    missing.iter().filter(speech).count() * 2 > missing.len()
}

fn ask(params: &Params, book: &BookFacts, ground: &Ground<'_>, draft: &Draft, shown: &[usize]) -> RepairLines {
    let taken = draft.taken();
    let lines = (1..).zip(shown).map(|(number, &at)| {
        let line = &draft.dialogue[at];
        let speech = line.speech.clone().unwrap_or_default();
        let found = ground.find(&speech, 0, params.min_similarity, &taken);
        MissingLine {
            number,
            speaker: line.speaker.clone(),
            passage: found.nearest.map(|place| ground.passage(place)),
            difference: found.alteration.clone().map(|alteration| (alteration.line, alteration.book)),
            words: words(&found, ground),
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

/// Returns what the book says where a line says it with one thing altered.
fn words(found: &Found, ground: &Ground<'_>) -> Option<String> {
    let place = found.nearest.filter(|_| found.alteration.is_some())?;
    Some(ground.said(place))
}

/// Puts repaired lines into their places, each where nothing else of the scene stands.
fn take(answer: RepairedLines, shown: &[usize], params: &Params, ground: &Ground<'_>, draft: &mut Draft) {
    for line in answer.lines {
        let Some(&at) = (line.number as usize).checked_sub(1).and_then(|number| shown.get(number)) else { continue };
        let Some(speech) = line.speech.map(|speech| speech.trim().to_owned()).filter(|speech| !speech.is_empty())
        else {
            continue;
        };
        if draft.dialogue[at].grounded != Some(Grounded::Absent) {
            continue;
        }
        let after = draft.dialogue[..at].iter().rev().find_map(|line| line.end).unwrap_or(0);
        let speech = super::scenes::unquoted(&speech).to_owned();
        let found = ground.find(&speech, after, params.min_similarity, &draft.taken());
        if let Some((start, end)) = found.place {
            let line = &mut draft.dialogue[at];
            (line.speech, line.start, line.end) = (Some(speech), Some(start), Some(end));
            (line.grounded, line.similarity) = (Some(found.grounded), Some(round(found.similarity)));
        }
    }
}
