//! Finds the start and the end of a story that has no headings there.

use std::sync::LazyLock;

use serde::Deserialize;

use super::front_back::{Heads, block_end, heads};
use super::titles::boilerplate_kind_of_heading;
use crate::schema::BoilerplateKind;
use crate::stages::chunk::breaks::is_scene_break;

/// How lines of web sites around a text are recognised.
#[derive(Debug, Deserialize)]
struct Notices {
    sites: Vec<String>,
    offers: Vec<String>,
    openings: Vec<String>,
}

static NOTICES: LazyLock<Notices> = LazyLock::new(|| embedded_toml!("notices.toml"));

/// Returns where a story without headings starts: after the boilerplate at the front.
pub(super) fn leading(text: &str, start: usize, end: usize) -> usize {
    let reach = start + (end - start).min((end - start) / 5).max((end - start).min(6000));
    let reach = (start..=reach.min(end)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(start);
    let mut story = start;
    // YAML front matter of a Markdown file.
    let opening = text[start..end].trim_start();
    if opening.starts_with("---\n") || opening.starts_with("---\r\n") {
        let at = end - opening.len();
        let close = opening[4..].find("\n---");
        story = close.map_or(story, |close| {
            let rest = at + 4 + close + 1;
            text[rest..end].find('\n').map_or(end, |line| rest + line + 1)
        });
    }
    // Lines that a web site puts above the text.
    let mut at = story;
    for line in text[story..reach.max(story)].split_inclusive('\n') {
        at += line.len();
        if is_notice(line.trim()) {
            story = at;
        } else if !line.trim().is_empty() && !is_scene_break(line.trim()) {
            break;
        }
    }
    for (at, words) in heads(text, start, reach) {
        let Some(kind) = boilerplate_kind_of_heading(words).filter(|_| at >= story) else { continue };
        story = match kind {
            BoilerplateKind::FrontMatter => story,
            kind => block_end(text, at, end, kind),
        };
    }
    story.min(end)
}

/// Returns where the story ends before the lines that a web site puts below it.
pub(super) fn before_notices(text: &str, last: usize, end: usize) -> usize {
    let mut story = end;
    let mut at = end;
    for line in text[last..end].split_inclusive('\n').rev() {
        at -= line.len();
        let words = line.trim();
        if is_notice(words) {
            story = at;
        } else if !words.is_empty() && !is_scene_break(words) {
            break;
        }
    }
    story.max(last)
}

/// Returns where the story ends before a closing note or list that is not a chapter.
pub(super) fn trailing(text: &str, last: usize, end: usize, start: usize) -> usize {
    // Only a note in the last part of the book can end it.
    let length = end - start;
    let from = (end - (length / 5).max(length.min(6000))).max(last).max(start);
    let from = (from..=end).find(|at| text.is_char_boundary(*at)).unwrap_or(end);
    let mut heads = Heads { text, at: from, end, blank: from == start };
    let found = heads.find(|(at, words)| {
        *at > start
            && *at > last
            && matches!(
                boilerplate_kind_of_heading(words),
                Some(BoilerplateKind::TranscriberNote | BoilerplateKind::Licence | BoilerplateKind::Illustrations)
            )
    });
    found.map_or(end, |(at, _)| at)
}

/// Whether a line only says where the file comes from: a web site and what it offers.
fn is_notice(line: &str) -> bool {
    if line.is_empty() || line.len() > 240 || line.starts_with(['“', '「', '‘', '"']) {
        return false;
    }
    let opens = NOTICES
        .openings
        .iter()
        .any(|opening| line.trim_start_matches(['【', '（', '(', '=', '-', '*']).starts_with(opening.as_str()));
    let site = || {
        let lower = line.to_ascii_lowercase();
        NOTICES.sites.iter().any(|site| lower.contains(site.as_str()))
    };
    let goods = || NOTICES.offers.iter().any(|word| line.contains(word.as_str()));
    (opens && (line.len() <= 120 || site())) || (goods() && site())
}
