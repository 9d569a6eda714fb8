//! The first-person narrator: finds the name of the `I` of the narration.

use std::collections::BTreeMap;

use crate::attribution::english::names::self_naming::{is_told_own_name, states_own_name};
use crate::attribution::english::names::{Mention, Names};
use crate::attribution::english::tokens::{NONE, Tokens};
use crate::attribution::speakers::{SpeakerCue, SpeakerDecision, Turn};

/// Number of answers to a name that one explicit statement of it is worth.
const STATEMENT_VOTES: u32 = 4;

/// Returns the names that the narrator answers to, the most certain first. `narrator` is the narrator's character;
/// `mentions_in` returns the mentions in a turn.
pub(super) fn narrator_names<'a>(
    book: &Tokens,
    names: &Names,
    turns: &[Turn],
    vocatives: &[Vec<(usize, usize)>],
    decisions: &[SpeakerDecision],
    narrator: usize,
    mentions_in: impl Fn(usize) -> &'a [Mention],
) -> Vec<usize> {
    let mut votes: BTreeMap<usize, u32> = BTreeMap::new();
    let mut tagged: BTreeMap<usize, u32> = BTreeMap::new();
    for turn in turns {
        if let SpeakerCue::Named(person) = turn.cue {
            *tagged.entry(person).or_default() += 1;
        }
    }
    let speaks = |i: usize| decisions.get(i).is_some_and(|decision| decision.speaker == Some(narrator));
    for (i, vocatives) in vocatives.iter().enumerate() {
        let answered = turns.get(i + 1).is_some_and(|next| !next.starts_conversation) && speaks(i + 1);
        let answering = i > 0 && !turns[i].starts_conversation && speaks(i - 1);
        if speaks(i) {
            // `“I am Hale,” I said.`
            if turns[i].cue == SpeakerCue::Named(narrator) {
                let stated = mentions_in(i).iter().filter(|mention| states_own_name(book, mention));
                stated.for_each(|mention| *votes.entry(mention.name).or_default() += STATEMENT_VOTES);
            }
            continue;
        }
        if !answered && !answering {
            continue;
        }
        for &(name, _) in vocatives {
            *votes.entry(name).or_default() += u32::from(answered) + u32::from(answering);
        }
        if answered {
            let addressed = mentions_in(i).iter().filter(|mention| is_told_own_name(book, mention));
            addressed.for_each(|mention| *votes.entry(mention.name).or_default() += STATEMENT_VOTES);
        }
    }
    for mention in &names.mentions {
        if book.list[mention.first].quote == NONE
            && names.people[mention.name].is_some()
            && states_own_name(book, mention)
        {
            *votes.entry(mention.name).or_default() += STATEMENT_VOTES;
        }
    }
    // A name used by the narration is another character's.
    let mut people: BTreeMap<usize, u32> = BTreeMap::new();
    votes.retain(|&name, count| {
        let Some(person) = names.people[name] else { return false };
        let is_narrated =
            tagged.get(&person).copied().unwrap_or(0) * 4 > *count || names.list[name].speech * 4 > *count;
        if !is_narrated {
            *people.entry(person).or_default() += *count;
        }
        !is_narrated
    });
    let Some((&best, &most)) = people.iter().max_by_key(|&(&person, &count)| (count, std::cmp::Reverse(person))) else {
        return Vec::new();
    };
    if most < 3 {
        return Vec::new();
    }
    let mut found: Vec<(usize, u32)> = votes
        .into_iter()
        .filter(|&(name, count)| {
            let of = &names.list[name];
            names.people[name] == Some(best) || count > 2 && of.narrated * 8 < of.count
        })
        .collect();
    found.sort_by_key(|&(name, count)| (names.people[name] != Some(best), std::cmp::Reverse(count), name));
    found.into_iter().map(|(name, _)| name).collect()
}
