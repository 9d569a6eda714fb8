//! The first-person narrator: finds the name of the `I` of the narration.

use std::collections::BTreeMap;

use crate::attribution::english::names::self_naming::{is_told_own_name, states_own_name};
use crate::attribution::english::names::{Mention, Names};
use crate::attribution::english::tokens::{NONE, Tokens};
use crate::attribution::speakers::{SpeakerCue, SpeakerDecision, Turn};

/// Number of answers to a name that one explicit statement of it is worth.
const STATED: u32 = 4;

/// Returns the names that the narrator answers to, the most certain first. `own` is the narrator's character; `heard`
/// returns the mentions in a turn.
pub(super) fn narrator_names<'a>(
    book: &Tokens,
    names: &Names,
    turns: &[Turn],
    called: &[Vec<(usize, usize)>],
    decisions: &[SpeakerDecision],
    own: usize,
    heard: impl Fn(usize) -> &'a [Mention],
) -> Vec<usize> {
    let mut votes: BTreeMap<usize, u32> = BTreeMap::new();
    let mut tagged: BTreeMap<usize, u32> = BTreeMap::new();
    for turn in turns {
        if let SpeakerCue::Named(person) = turn.cue {
            *tagged.entry(person).or_default() += 1;
        }
    }
    let speaks = |i: usize| decisions.get(i).is_some_and(|decision| decision.speaker == Some(own));
    for (i, called) in called.iter().enumerate() {
        let answered = turns.get(i + 1).is_some_and(|next| !next.fresh) && speaks(i + 1);
        let answering = i > 0 && !turns[i].fresh && speaks(i - 1);
        if speaks(i) {
            // `“I am Hale,” I said.`
            if turns[i].cue == SpeakerCue::Named(own) {
                let given = heard(i).iter().filter(|mention| states_own_name(book, mention));
                given.for_each(|mention| *votes.entry(mention.name).or_default() += STATED);
            }
            continue;
        }
        if !answered && !answering {
            continue;
        }
        for &(name, _) in called {
            *votes.entry(name).or_default() += u32::from(answered) + u32::from(answering);
        }
        if answered {
            let told = heard(i).iter().filter(|mention| is_told_own_name(book, mention));
            told.for_each(|mention| *votes.entry(mention.name).or_default() += STATED);
        }
    }
    for mention in &names.mentions {
        if book.list[mention.first].quote == NONE
            && names.people[mention.name].is_some()
            && states_own_name(book, mention)
        {
            *votes.entry(mention.name).or_default() += STATED;
        }
    }
    // A name used by the narration is another character's.
    let mut people: BTreeMap<usize, u32> = BTreeMap::new();
    votes.retain(|&name, count| {
        let Some(person) = names.people[name] else { return false };
        let told = tagged.get(&person).copied().unwrap_or(0) * 4 > *count || names.list[name].speech * 4 > *count;
        if !told {
            *people.entry(person).or_default() += *count;
        }
        !told
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
