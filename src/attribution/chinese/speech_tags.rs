//! Chinese speech tags: the clauses beside speech that show who speaks.

use super::clauses::{
    Clause, clauses, first_sentence, isolate_subject, last_sentence, sentence_end, sentence_ends_between,
    speech_lead_end, strip_opening,
};
use super::names::Names;
use super::noun_phrases::NounPhrase;
use crate::attribution::chinese::noun_phrases::parse::noun_phrase;
use crate::attribution::chinese::noun_phrases::unknown_subjects::{
    is_object, presented_person, subject_before_verb, unknown_speaker, unknown_topic,
};
use crate::attribution::words::chinese::CHINESE;

/// What narration beside speech shows about the speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// The subject of a speech verb.
    Speech(NounPhrase),
    /// A speech verb without a subject; with the last subject, if any.
    SubjectlessSpeech(Option<NounPhrase>),
    /// The subject of another verb.
    Action(NounPhrase),
}

/// Returns the subject of a clause. With `search_inside`, also looks for a name after the start of the clause.
pub(super) fn subject(text: &[char], names: &Names, (at, end): Clause, search_inside: bool) -> Option<NounPhrase> {
    let clause = &text[at..end];
    let opening_length = clause.len() - strip_opening(clause).len();
    // An opening word may overlap the beginning of a name.
    let overlapping = (0..opening_length)
        .find(|&k| names.at(&clause[k..]).is_some_and(|name| k + names.list[name].form.len() > opening_length));
    let first = overlapping.unwrap_or(opening_length);
    if let Some((found, _)) = noun_phrase(text, names, at + first, end) {
        // `舱里钻出一个撑篙的女子`: the text before the numeral is not a description.
        let inner = match &found {
            NounPhrase::Role(noun) if !noun.new && !noun.demonstrative => {
                presented_person(text, names, (at + first, end))
            }
            _ => None,
        };
        let shorter =
            |inner: &NounPhrase| matches!((inner, &found), (NounPhrase::Role(a), NounPhrase::Role(b)) if a.to == b.to);
        return Some(inner.filter(shorter).unwrap_or(found));
    }
    if !search_inside {
        return presented_person(text, names, (at, end));
    }
    let mut i = first + 1;
    while i < clause.len() {
        let Some(name) = names.at(&clause[i..]) else {
            i += 1;
            continue;
        };
        let length = names.list[name].form.len();
        let owner = matches!(clause.get(i + length), Some('的' | '之')) && clause.len() > i + length + 1;
        if !is_object(&clause[..i]) && !owner {
            return Some(NounPhrase::Name(name, at + i));
        }
        i += length;
    }
    presented_person(text, names, (at, end))
}

/// Whether a clause is about something that its subject hears or sees.
fn is_perception(text: &[char], (at, end): Clause) -> bool {
    const NARRATED: [&[char]; 3] = [&['只', '见'], &['忽', '见'], &['但', '见']];
    let clause = &text[at..end];
    let opening_length = clause.len() - strip_opening(clause).len();
    let begins_with_hearing =
        clause[0] == '听' || matches!(clause[0], '忽' | '又' | '只' | '猛') && clause.get(1) == Some(&'听');
    let is_hearing = begins_with_hearing || clause[..opening_length].contains(&'听');
    is_hearing
        || clause[..opening_length.max(1)].contains(&'见') && !NARRATED.iter().any(|word| clause.starts_with(word))
}

/// Whether a clause continues with the reaction of the one who hears or sees.
fn is_reaction(text: &[char], (at, end): Clause) -> bool {
    text[at..end].iter().take(2).any(|c| matches!(c, '便' | '就' | '忙' | '因' | '遂' | '连' | '乃' | '不' | '方'))
}

/// Parses the narration `[at, end)` before speech. `in_previous_paragraph` says that it is in the previous paragraph.
pub(super) fn tag_before_speech(
    text: &[char],
    names: &Names,
    at: usize,
    end: usize,
    in_previous_paragraph: bool,
) -> Option<Tag> {
    let clauses = clauses(text, at, end);
    let Some(stop) = speech_lead_end(text, at, end) else {
        if in_previous_paragraph {
            return None;
        }
        let sentence = last_sentence(text, &clauses);
        return sentence.iter().find_map(|&clause| subject(text, names, clause, false)).map(Tag::Action);
    };
    let (&(from, _), earlier) = clauses.split_last()?;
    let last = (from, stop);
    // If the tag is a sentence of its own, the subject may be a word that is not in the tables.
    let begins = earlier.last().is_none_or(|&before| sentence_ends_between(text, before, last));
    if let Some(subject) = subject(text, names, last, false).or_else(|| subject_before_verb(text, names, last)) {
        return Some(Tag::Speech(subject));
    }
    if begins && let Some(subject) = subject(text, names, last, true).or_else(|| unknown_speaker(text, names, last)) {
        return Some(Tag::Speech(subject));
    }
    // The nearest subject in the same sentence, else the subject of the sentences before.
    let mut after = last;
    let mut reaction = is_reaction(text, last);
    let mut other = None;
    for (index, &clause) in earlier.iter().enumerate().rev() {
        if sentence_ends_between(text, clause, after) {
            if let Some(subject) =
                other.or_else(|| subject(text, names, last, true)).or_else(|| unknown_topic(text, after))
            {
                return Some(Tag::Speech(subject));
            }
            return Some(Tag::SubjectlessSpeech(sentence_topic(text, names, &earlier[..=index])));
        }
        // `被X打了，骂道`: the agent remains the subject.
        if after == last
            && text[clause.0] == '被'
            && let Some((subject, _)) = noun_phrase(text, names, clause.0 + 1, clause.1)
        {
            return Some(Tag::Speech(subject));
        }
        after = clause;
        let opens = index == 0 || sentence_ends_between(text, earlier[index - 1], clause);
        if let Some(subject) = subject(text, names, clause, opens) {
            if !is_perception(text, clause) || !reaction && other.is_none() && !opens {
                return Some(Tag::Speech(subject));
            }
            other = other.or(if reaction { None } else { Some(subject) });
        }
        reaction |= is_reaction(text, clause);
    }
    if let Some(subject) = other.or_else(|| subject(text, names, last, true)) {
        return Some(Tag::Speech(subject));
    }
    match earlier.first().and_then(|&clause| unknown_topic(text, clause)) {
        Some(subject) => Some(Tag::Speech(subject)),
        None => Some(Tag::SubjectlessSpeech(None)),
    }
}

/// Returns the topic of the last of some sentences: the person it introduces, else the subject it begins with.
fn sentence_topic(text: &[char], names: &Names, clauses: &[Clause]) -> Option<NounPhrase> {
    let mut rest = clauses;
    for _ in 0..8 {
        let start = rest
            .windows(2)
            .rposition(|pair| {
                sentence_ends_between(text, pair[0], pair[1]) || text[pair[0].1..pair[1].0].contains(&'；')
            })
            .map_or(0, |i| i + 1);
        let own_clauses = || rest[start..].iter().filter(|&&clause| !is_perception(text, clause));
        let found = own_clauses().rev().find_map(|&clause| presented_person(text, names, clause));
        if let Some(subject) = found.or_else(|| own_clauses().find_map(|&clause| subject(text, names, clause, false))) {
            return Some(subject);
        }
        rest = &rest[..start];
        if rest.is_empty() {
            break;
        }
    }
    None
}

/// Parses the narration `[at, end)` after speech.
pub(super) fn tag_after_speech(text: &[char], names: &Names, at: usize, end: usize) -> Option<Tag> {
    let clauses = clauses(text, at, end);
    let &first = clauses.first()?;
    if text[at..first.0].iter().any(|&c| sentence_end(c)) {
        return None;
    }
    let sentence = first_sentence(text, &clauses);
    let sentence = &sentence[..sentence.len().min(6)];
    let speech = sentence.iter().any(|&(from, to)| CHINESE.ends_in_speech(&text[from..to]));
    // `这是X的声音`, `这是X到了`.
    let equals = (first.0..first.1.min(first.0 + 4)).find(|&i| text[i] == '是');
    let identified = equals.and_then(|i| noun_phrase(text, names, i + 1, first.1)).map(|(subject, _)| subject);
    let subject = identified.or_else(|| subject(text, names, first, true)).or_else(|| {
        let tagged =
            CHINESE.ends_in_speech(&text[first.0..first.1]) && isolate_subject(&text[first.0..first.1]).is_some();
        if tagged { unknown_speaker(text, names, first) } else { None }
    })?;
    Some(if speech { Tag::Speech(subject) } else { Tag::Action(subject) })
}
