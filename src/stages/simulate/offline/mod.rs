//! The offline answers of `simulate`'s asks: from the input record and a seeded generator alone. They open no connection.

use rand::RngExt as _;

use super::{Direct, Direction, Rate, Rating, SceneReply, TestReply};
use crate::llm::Offline;
use crate::schema::{Language, Quality};

/// Gives the turn to whoever has waited longest.
pub(super) fn direct(ask: &Direct, _: &mut Offline<'_>) -> Direction {
    let waited = |name: &String| ask.history.iter().rev().position(|line| &line.speaker == name).unwrap_or(usize::MAX);
    if ask.may_end && ask.turns_left < 4 {
        return Direction { reason: "all has been said".to_owned(), next: Direction::END.to_owned() };
    }
    let next = ask.choices.iter().max_by_key(|name| waited(name)).cloned().unwrap_or_default();
    Direction { reason: "longest silent".to_owned(), next }
}

/// Replies with a sentence that names the turn.
pub(super) fn scene_reply(ask: &SceneReply, offline: &mut Offline<'_>) -> String {
    words(ask.language, ask.history.len(), offline)
}

/// Replies with a sentence that names the turn.
pub(super) fn test_reply(ask: &TestReply, offline: &mut Offline<'_>) -> String {
    words(ask.language, ask.history.len(), offline)
}

/// Rates by the number of speakers.
pub(super) fn rate(ask: &Rate, _: &mut Offline<'_>) -> Rating {
    let speakers: std::collections::BTreeSet<_> = ask.history.iter().map(|line| &line.speaker).collect();
    let quality = if speakers.len() > 1 { Quality::High } else { Quality::Poor };
    let reason = format!("{} speakers", speakers.len());
    Rating { interaction: reason.clone(), coherence: reason.clone(), progression: reason, quality }
}

fn words(language: Language, turn: usize, offline: &mut Offline<'_>) -> String {
    let number: u32 = offline.rng.random_range(100..1_000_000);
    match language {
        Language::En => format!("(nods) At turn {turn} I say that it is number {number}."),
        Language::Zh => format!("（点头）第{turn}回，我说的是第{number}号。"),
    }
}
