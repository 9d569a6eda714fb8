//! The plot-aware pass: asks what a boundary between two chunks cuts, and where it should be. Does not split again; a
//! boundary only moves within the text shown in its ask, and only if both chunks stay within the token limit.

use futures::StreamExt;

use super::ask::{Cut, FindBoundary, FoundBoundary};
use crate::llm::{AskError, Model};
use crate::schema::{Book, Chunk, Draw, Language, Reject, Stage};
use crate::stages::chunk::Params;
use crate::text::count_code_points;

/// The number of boundaries of one book that are asked about concurrently.
const MAX_CONCURRENT: usize = 16;

/// Checks each boundary between two adjacent chunks, and moves it to where it does not interrupt the plot, or sets
/// `continues` on the chunk before it.
///
/// The draw is `<id of the chunk before the boundary>/border`. If a call fails, its boundary stays as it is and a
/// reject is recorded; only errors that end the run are returned. The chunks hold the same text as before, each within
/// `max_tokens`.
pub async fn adjust_boundaries<'m>(
    model: impl Fn(Language) -> &'m Model,
    params: &Params,
    book: &Book,
    mut chunks: Vec<Chunk>,
) -> Result<(Vec<Chunk>, Vec<Reject>), AskError> {
    let calls: Vec<_> = chunks
        .windows(2)
        .map(|pair| {
            let (model, draw) = (model(pair[0].language), Draw::Boundary { chunk: pair[0].id() });
            // A boundary where boilerplate was left out between two chunks cannot move.
            let meet = pair[0].end == pair[1].start;
            let ask = if meet { FindBoundary::new(book, &pair[0], &pair[1]) } else { None };
            answer(model, ask, draw)
        })
        .collect();
    let answers: Vec<_> = futures::stream::iter(calls).buffered(MAX_CONCURRENT).collect().await;
    let mut rejects = Vec::new();
    let mut ended: Option<AskError> = None;
    for (at, answered) in answers.into_iter().enumerate() {
        let Some((ask, answer)) = answered else { continue };
        let [before, after, ..] = &mut chunks[at..] else { continue };
        match answer {
            Ok(answer) => apply_answer(before, after, &ask, &answer, params),
            Err(error) if error.ends_the_run() => {
                // An interruption says less than the error that caused it.
                if matches!(ended, None | Some(AskError::Interrupted)) {
                    ended = Some(error);
                }
            }
            Err(error) => rejects.push(Reject::new(Stage::Chunk, before.id(), error.reason(), error.detail())),
        }
    }
    ended.map_or(Ok((chunks, rejects)), Err)
}

async fn answer(
    model: &Model,
    ask: Option<FindBoundary>,
    draw: Draw,
) -> Option<(FindBoundary, Result<FoundBoundary, AskError>)> {
    let ask = ask?;
    let answer = model.ask(&ask, &draw).await;
    if answer.as_ref().is_err_and(AskError::ends_the_run) {
        // Requests in flight are finished and kept; no new ones start.
        model.session().stop();
    }
    Some((ask, answer))
}

/// Moves the boundary to where the answer puts it. If a chunk would exceed the limit, the boundary stays and the scene
/// is marked as continuing.
pub(super) fn apply_answer(
    before: &mut Chunk,
    after: &mut Chunk,
    ask: &FindBoundary,
    answer: &FoundBoundary,
    params: &Params,
) {
    let offset = ask.position(answer.opens_with).unwrap_or(before.end);
    let moved = offset != before.end && move_boundary(before, after, offset, params);
    before.continues = answer.continues || (!moved && answer.cuts != Cut::Nothing);
}

/// Moves the boundary between two chunks to a code point offset. Returns `false` if a chunk would exceed the limit.
pub(super) fn move_boundary(before: &mut Chunk, after: &mut Chunk, offset: u32, params: &Params) -> bool {
    let joined = format!("{}{}", before.text, after.text);
    let Some(skip) = offset.checked_sub(before.start) else { return false };
    let Some((cut, _)) = joined.char_indices().nth(skip as usize) else { return false };
    let (first, second) = joined.split_at(cut);
    let (first_tokens, second_tokens) = (params.count_tokens(first), params.count_tokens(second));
    if cut == 0 || first_tokens.max(second_tokens) > params.max_tokens {
        return false;
    }
    let mut headings = std::mem::take(&mut before.headings);
    headings.append(&mut after.headings);
    let split = headings.partition_point(|(heading_start, _)| *heading_start < offset);
    after.chapter = chapter_at(offset, second, &headings, split).unwrap_or_else(|| before.chapter.clone());
    after.headings = headings.split_off(split);
    before.headings = headings;
    (before.end, after.start) = (offset, offset);
    (before.tokens, after.tokens) = (first_tokens, second_tokens);
    second.clone_into(&mut after.text);
    first.clone_into(&mut before.text);
    true
}

/// Returns the innermost heading that a text starts with, or else the last one before it.
fn chapter_at(offset: u32, text: &str, headings: &[(u32, String)], split: usize) -> Option<String> {
    let blank = text.len() - text.trim_start().len();
    let mut reach = offset + count_code_points(&text[..blank]);
    let mut chapter = headings[..split].last();
    for heading in &headings[split..] {
        if heading.0 > reach {
            break;
        }
        // Nested headings are separated by line breaks only.
        reach = heading.0 + count_code_points(&heading.1) + 8;
        chapter = Some(heading);
    }
    chapter.map(|(_, title)| title.clone())
}
