//! The first-person narrator: finds the name of the `I` of the narration.

use std::collections::BTreeMap;

use super::names::{Mention, Names};
use super::tokens::{NONE, Tokens};
use crate::attribution::speakers::{SpeakerCue, SpeakerDecision, Turn};

/// Number of answers to a name that one explicit statement of it is worth.
const STATED: u32 = 4;

/// Whether the clause at a token is the speaker's own assertion: not `if I’m Hale`, and not a nested quotation.
fn is_assertion(book: &Tokens, at: usize) -> bool {
    const LEADS: [&str; 16] = [
        "and", "but", "for", "so", "then", "yes", "no", "well", "why", "now", "oh", "sir", "because", "indeed", "here",
        "course",
    ];
    let before = at.checked_sub(1).filter(|&before| book.list[before].quote == book.list[at].quote);
    let opens = before.is_none_or(|before| book.list[before].word() == NONE || LEADS.contains(&book.text(before)));
    opens && !book.list[at].nested()
}

/// Whether a name is stated as the speaker's own: `my name is Hale`, `I am Hale`, `call me Hale`, `what a clever Toad I
/// am`.
pub(super) fn states_own_name(book: &Tokens, mention: &Mention) -> bool {
    if mention.possessive {
        return false;
    }
    let quote = book.list[mention.first].quote;
    let back = |n: usize| {
        mention.first.checked_sub(n).map_or("", |at| if book.list[at].quote == quote { book.text(at) } else { "" })
    };
    let on = |n: usize| {
        book.list
            .get(mention.end + n)
            .map_or("", |token| if token.quote == quote { book.text(mention.end + n) } else { "" })
    };
    let one = (1..4).any(|n| matches!(back(n), "a" | "an"));
    if quote != NONE && one && on(0) == "i" && on(1) == "am" {
        return true;
    }
    // The argument is how many tokens before the name the statement begins.
    let asserted = |n: usize| is_assertion(book, mention.first - n);
    match back(1) {
        "i'm" => asserted(1),
        "name's" => true,
        // `I am the Toad`, for characters known by what they are.
        "the" => quote != NONE && back(2) == "am" && back(3) == "i" && asserted(3),
        "am" => back(2) == "i" && asserted(2),
        "is" | "was" => back(2) == "name" && back(3) == "my" && asserted(3),
        "me" => matches!(back(2), "call" | "called" | "christened" | "named"),
        _ => false,
    }
}

/// Whether the addressee is told that the name is theirs: `you must be Hale`, `you’re Hale`.
pub(super) fn is_told_own_name(book: &Tokens, mention: &Mention) -> bool {
    let quote = book.list[mention.first].quote;
    if mention.possessive || quote == NONE {
        return false;
    }
    let back = |n: usize| {
        mention.first.checked_sub(n).map_or("", |at| if book.list[at].quote == quote { book.text(at) } else { "" })
    };
    let asserted = |n: usize| is_assertion(book, mention.first - n);
    match back(1) {
        "you're" => asserted(1),
        "are" => back(2) == "you" && asserted(2),
        "be" => matches!(back(2), "you'll" | "must" | "will") && (back(2) == "you'll" || back(3) == "you"),
        _ => false,
    }
}

/// Returns the names that the narrator answers to, the most certain first. `own` is the narrator's character; `heard`
/// returns the mentions in a turn.
pub(super) fn narrator_names<'a>(
    book: &Tokens,
    names: &Names,
    turns: &[Turn],
    called: &[Vec<(usize, usize)>],
    verdicts: &[SpeakerDecision],
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
    let speaks = |i: usize| verdicts.get(i).is_some_and(|verdict| verdict.speaker == Some(own));
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
