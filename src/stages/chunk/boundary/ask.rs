//! The ask about a boundary between two chunks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::llm::Ask;
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Book, Chunk, Language, Message};
use crate::stages::chunk::breaks::{paragraph_ends, sentence_ends};
use crate::text::{count_code_points, single_spaced};

/// How many characters an ask shows on each side of a boundary: about 300 English words or 600 Chinese characters.
pub(crate) const fn window(language: Language) -> usize {
    match language {
        Language::En => 1800,
        Language::Zh => 600,
    }
}

/// A paragraph near a boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Paragraph {
    /// Its number, from 1.
    pub(crate) number: u32,
    /// Its text on one line.
    pub(crate) text: String,
    /// Its start, in code points of the book.
    #[serde(skip)]
    pub(crate) start: u32,
    /// Whether it contains a heading.
    #[serde(skip)]
    pub(crate) heading: bool,
}

/// Ask: does a boundary between two chunks cut a storyline, a conversation or trailing lines, and where should it be?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindBoundary {
    pub(crate) language: Language,
    pub(crate) title: String,
    pub(crate) chapter: String,
    pub(crate) before: Vec<Paragraph>,
    pub(crate) after: Vec<Paragraph>,
    /// The first and last paragraph that may open the next chunk, and the one that opens it as planned.
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) planned: u32,
    /// Whether the book is a script, in which speech has no quotation marks.
    #[serde(skip)]
    pub(crate) script: bool,
}

/// What a border cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// Nothing: something ends there.
    Nothing,
    /// People who are talking with each other, or a speech.
    Conversation,
    /// One action at one place.
    Storyline,
    /// The last or first lines of something, which stand on the wrong side.
    Trailing,
}

/// What an ask at a border finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundBoundary {
    /// What runs across the planned border, or ends there, in one sentence.
    pub reason: String,
    /// What the planned border cuts.
    pub cuts: Cut,
    /// The number of the paragraph that should be the first of the next part.
    pub opens_with: u32,
    /// Whether a scene runs on across that place all the same.
    pub continues: bool,
}

impl FindBoundary {
    /// Takes the text around a boundary, at most half of each chunk, so that two boundaries never meet. Returns `None`
    /// if the chunks are not adjacent.
    pub(super) fn new(book: &Book, before: &Chunk, after: &Chunk) -> Option<Self> {
        if before.end != after.start {
            return None;
        }
        let language = before.language;
        let most = |chunk: &Chunk| window(language).min((chunk.end - chunk.start) as usize / 2);
        let pieces = |chunk: &Chunk, from_end: bool| near(&chunk.text, most(chunk), window(language), from_end);
        let headings: Vec<u32> = before.headings.iter().chain(&after.headings).map(|(offset, _)| *offset).collect();
        let mut number = 0;
        let mut numbered = |chunk: &Chunk, pieces: Vec<(usize, usize)>| {
            let (mut byte, mut point) = (0, chunk.start);
            let numbered: Vec<Paragraph> = pieces
                .into_iter()
                .map(|(start, end)| {
                    point += count_code_points(&chunk.text[byte..start]);
                    let length = count_code_points(&chunk.text[start..end]);
                    number += 1;
                    let heading = headings.iter().any(|heading| (point..point + length).contains(heading));
                    let paragraph =
                        Paragraph { number, text: single_spaced(&chunk.text[start..end]), start: point, heading };
                    (byte, point) = (end, point + length);
                    paragraph
                })
                .collect();
            numbered
        };
        let (paragraphs_before, paragraphs_after) =
            (numbered(before, pieces(before, true)), numbered(after, pieces(after, false)));
        let planned = paragraphs_after.first()?.number;
        let (first, last) = (paragraphs_before.first()?.number + 1, paragraphs_after.last()?.number);
        Some(Self {
            language,
            title: book.title.clone(),
            chapter: after.chapter.clone(),
            before: paragraphs_before,
            after: paragraphs_after,
            first,
            last,
            planned,
            script: book.script,
        })
    }

    /// Returns the start of a paragraph, in code points.
    pub(super) fn position(&self, number: u32) -> Option<u32> {
        let all = self.before.iter().chain(&self.after);
        all.into_iter().find(|paragraph| paragraph.number == number).map(|paragraph| paragraph.start)
    }
}

/// Returns the byte ranges of the paragraphs next to the end or the start of a text, in order: about `most` characters.
/// Paragraphs longer than a window are split at sentence ends. The last (or first) bytes of the text are always
/// included.
fn near(text: &str, most: usize, window: usize, from_end: bool) -> Vec<(usize, usize)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for end in paragraph_ends(text) {
        let paragraph = &text[start..end];
        let mut begun = start;
        if paragraph.len() > window && paragraph.chars().count() > window {
            for sentence in sentence_ends(paragraph) {
                if text[begun..start + sentence].chars().count() * 6 >= window && start + sentence < end {
                    pieces.push((begun, start + sentence));
                    begun = start + sentence;
                }
            }
        }
        pieces.push((begun, end));
        start = end;
    }
    if from_end {
        pieces.reverse();
    }
    let (mut count, mut length) = (0, 0);
    for (start, end) in &pieces {
        length += text[*start..*end].chars().count();
        if count > 0 && length > most {
            break;
        }
        count += 1;
    }
    pieces.truncate(count);
    if from_end {
        pieces.reverse();
    }
    pieces
}

impl Ask for FindBoundary {
    const NAME: &'static str = "chunk/border";
    type Answer = FoundBoundary;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![
            Message::system(prompts.render(Self::NAME, self.language, "system", self)?),
            Message::user(prompts.render(Self::NAME, self.language, "user", self)?),
        ])
    }

    fn check(&self, answer: &FoundBoundary) -> Result<(), String> {
        if (self.first..=self.last).contains(&answer.opens_with) {
            Ok(())
        } else {
            Err(format!("`opens_with` is {}, not a number from {} to {}", answer.opens_with, self.first, self.last))
        }
    }
}
