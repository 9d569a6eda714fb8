//! Chinese names: which character sequences are names of people.
//!
//! Names are not marked in Chinese, but their use shows them: they are subjects of clauses that introduce speech, verbs
//! with human subjects follow them, and what follows varies while the sequence itself stays the same. `merging` merges
//! the names.

use std::collections::BTreeMap;
use std::collections::HashMap;

use super::evidence::{UsageCounts, cannot_be_in_name, is_name, is_pronoun, verb_length};
use crate::attribution::chinese::clauses::{
    Clause, clause_end, clauses, isolate_subject, last_sentence, speech_lead_end, strip_opening,
};
use crate::attribution::chinese::role_nouns::{apposed_noun, is_role_noun, role_noun_before_name, title_gender};
use crate::attribution::quotations::span::Span;
use crate::attribution::words::chinese::CHINESE;
use crate::attribution::words::word_set::CharSet;

/// Maximum length of a form, in characters.
pub(super) const MAX_LENGTH: usize = 5;

/// A form packed into an integer, 21 bits per character, for use as a hash key.
type Key = u128;

fn packed(form: &[char]) -> Key {
    form.iter().fold(0, |key, &c| key << 21 | c as Key)
}

/// Returns the full names whose last character alone is the subject of speech verbs, such as 霆 for 罗霆, with the count
/// of that.
fn names_by_last_character(text: &[char], spans: &[Span]) -> Vec<(Vec<char>, u32)> {
    let mut singles: BTreeMap<char, u32> = BTreeMap::new();
    for (i, span) in spans.iter().enumerate() {
        let from = if i == 0 { 0 } else { spans[i - 1].outer_end }.max(span.outer_start.saturating_sub(40));
        let Some(stop) = speech_lead_end(text, from, span.outer_start) else { continue };
        let Some(&(at, _)) = clauses(text, from, stop).last() else { continue };
        if let Some([c]) = isolate_subject(&text[at..stop]).as_deref()
            && c.is_alphabetic()
            && !c.is_ascii()
            && !is_role_noun(&[*c])
            && !is_pronoun(&[*c])
            && !CHINESE.not_in_names.has(&[*c])
        {
            *singles.entry(*c).or_default() += 1;
        }
    }
    let mut fulls: BTreeMap<Vec<char>, u32> = BTreeMap::new();
    for i in 1..text.len() {
        if !singles.contains_key(&text[i]) {
            continue;
        }
        let surname = [2, 1].into_iter().find(|&n| i >= n && CHINESE.surnames.has(&text[i - n..i]));
        if let Some(length) = surname {
            *fulls.entry(text[i - length..=i].to_vec()).or_default() += 1;
        }
    }
    fulls
        .into_iter()
        .filter(|(form, count)| {
            *count > 1 && !is_role_noun(form) && !CHINESE.not_names.has(form) && title_gender(&form[1..]).is_none()
        })
        .map(|(form, _)| {
            let speaker_count = singles[&form[form.len() - 1]];
            (form, speaker_count)
        })
        .collect()
}

/// Returns the forms of names, with how often each is the subject of a speech verb.
pub(super) fn find_forms(text: &[char], spans: &[Span]) -> BTreeMap<Vec<char>, u32> {
    let mut counts = collect_candidates(text, spans);
    count_uses(text, &mut counts);
    let mut accepted: BTreeMap<Vec<char>, u32> = BTreeMap::new();
    let mut forms: Vec<(&Vec<char>, &UsageCounts)> = counts.values().map(|(form, counts)| (form, counts)).collect();
    forms.sort_by(|a, b| (a.0.len(), a.0).cmp(&(b.0.len(), b.0)));
    for (form, usage) in forms {
        if !is_name(form, usage) {
            continue;
        }
        let parent = (2..form.len()).rev().find(|&length| accepted.contains_key(&form[..length]));
        if let Some(length) = parent {
            let shorter = &counts[&packed(&form[..length])].1;
            let tail = &form[length..];
            let titled = title_gender(tail).is_some() || tail == ['儿'];
            // Two adjacent names, or a name with an occasional adverb or verb.
            let two = accepted.contains_key(tail);
            let adverb = CHINESE.manner.has(&tail[tail.len() - 1..]);
            let share = if adverb { 9 } else { 3 };
            let frequent = usage.total * 10 >= shorter.total * share && usage.as_subject * 10 >= usage.total * 4;
            if two || !(titled && usage.total > 1 || frequent) {
                continue;
            }
            if usage.total * 20 >= shorter.total * 19 {
                accepted.remove(&form[..length]);
            }
        }
        accepted.insert(form.clone(), usage.as_speaker);
    }
    // `见X`, `X听`: a better-known name after another word.
    let total = |form: &[char]| counts.get(&packed(form)).map_or(0, |(_, counts)| counts.total);
    let longer: Vec<Vec<char>> = accepted
        .keys()
        .filter(|form| {
            let surname = CHINESE.surnames.head(form);
            (1..form.len() - 1).any(|at| {
                let tail = &form[at..];
                let object = CHINESE.objects.has(&form[..at]) && total(tail) > total(form) * 2;
                accepted.contains_key(tail)
                    && (at != surname || object)
                    && title_gender(tail).is_none()
                    && total(tail) >= total(form)
            })
        })
        .cloned()
        .collect();
    for form in longer {
        accepted.remove(&form);
    }
    for (form, as_speaker) in names_by_last_character(text, spans) {
        accepted.entry(form).or_insert(as_speaker);
    }
    accepted
}

/// Collects candidates from the starts of the clauses next to speech.
fn collect_candidates(text: &[char], spans: &[Span]) -> HashMap<Key, (Vec<char>, UsageCounts)> {
    let mut counts: HashMap<Key, (Vec<char>, UsageCounts)> = HashMap::new();
    for (i, span) in spans.iter().enumerate() {
        let from = if i == 0 { 0 } else { spans[i - 1].outer_end };
        let from = from.max(span.outer_start.saturating_sub(300));
        let led = speech_lead_end(text, from, span.outer_start);
        if let Some(stop) = led {
            let all = clauses(text, from, stop);
            for clause in last_sentence(text, &all) {
                add_candidates(&mut counts, text, *clause);
            }
        } else {
            let to = spans.get(i + 1).map_or(text.len(), |next| next.outer_start).min(span.outer_end + 24);
            let all = clauses(text, span.outer_end.min(to), to);
            let begins = !text[span.outer_end.min(to)..to].iter().take(2).any(|&c| c == '\n');
            if let Some(&clause) = all.first().filter(|_| begins) {
                add_candidates(&mut counts, text, clause);
            }
            // The subject of an action right before speech without a tag.
            let all = clauses(text, from.max(span.outer_start.saturating_sub(60)), span.outer_start);
            let near = all.last().is_some_and(|&(_, end)| !text[end..span.outer_start].contains(&'\n'));
            if let Some(&clause) = last_sentence(text, &all).first().filter(|_| near) {
                add_candidates(&mut counts, text, clause);
            }
        }
    }
    counts
}

fn add_candidates(counts: &mut HashMap<Key, (Vec<char>, UsageCounts)>, text: &[char], (from, to): Clause) {
    let clause = &text[from..to];
    let body = strip_opening(clause);
    let body = if body.len() > 2 && matches!(body[0], '那' | '这' | '此') { &body[1..] } else { body };
    let subject = isolate_subject(clause).map(|subject| match subject[..] {
        ['那' | '这' | '此', _, _, ..] => subject[1..].to_vec(),
        _ => subject,
    });
    add_prefixes(counts, body, subject.as_deref());
    // `伙计阿福`: the rest after the role noun may be a name.
    let noun = apposed_noun(body);
    if noun > 0 {
        add_prefixes(counts, &body[noun..], subject.as_deref().and_then(|subject| subject.get(noun..)));
    }
}

/// Records a subject and the possible prefixes of a clause as candidates.
fn add_prefixes(counts: &mut HashMap<Key, (Vec<char>, UsageCounts)>, body: &[char], subject: Option<&[char]>) {
    if let Some(subject) = subject
        && subject.len() > 1
        && subject.len() <= MAX_LENGTH
        && body.starts_with(subject)
    {
        let entry = &mut counts.entry(packed(subject)).or_insert_with(|| (subject.to_vec(), UsageCounts::default())).1;
        entry.as_speaker += 1;
    }
    for length in 2..=MAX_LENGTH.min(body.len()) {
        let form = &body[..length];
        if cannot_be_in_name(&form[length - 1..]) {
            break;
        }
        let entry = &mut counts.entry(packed(form)).or_insert_with(|| (form.to_vec(), UsageCounts::default())).1;
        entry.clause_starts += 1;
        // A word of two or more characters that follows subjects ends the name.
        if verb_length(&body[length..]) > 1 {
            break;
        }
    }
}

/// Counts the candidates everywhere in the text.
fn count_uses(text: &[char], counts: &mut HashMap<Key, (Vec<char>, UsageCounts)>) {
    let mut firsts = CharSet::default();
    for (form, _) in counts.values() {
        firsts.add(form[0]);
    }
    for i in 0..text.len() {
        if !firsts.has(text[i]) {
            continue;
        }
        let begins = i == 0 || clause_end(text[i - 1]) || text[i - 1].is_whitespace();
        let begins = begins
            || (CHINESE.surnames.has(&text[i..=i]) || matches!(text[i], '老' | '小' | '阿'))
                && role_noun_before_name(&text[i.saturating_sub(4)..i]) > 0;
        let mut found = Key::from(text[i] as u32);
        for length in 2..=MAX_LENGTH {
            let Some(&c) = text.get(i + length - 1) else { break };
            if clause_end(c) || c.is_whitespace() {
                break;
            }
            found = found << 21 | c as Key;
            let Some((_, counts)) = counts.get_mut(&found) else { continue };
            let rest = &text[i + length..text.len().min(i + length + 4)];
            // With a kinship noun after it, it is part of another person's name, which is counted separately.
            if CHINESE.titles_female.head(rest) > 0 {
                continue;
            }
            counts.total += 1;
            let next = rest.first().copied().unwrap_or('\n');
            let word = verb_length(rest);
            if word > 0
                || clause_end(next)
                || CHINESE.objects.head(rest) > 0
                || matches!(next, '的' | '之' | '们' | '是')
            {
                counts.as_subject += 1;
            }
            let addressed =
                i > 0 && matches!(text[i - 1], '向' | '对' | '和' | '与' | '同' | '问' | '叫' | '骂' | '跟');
            if addressed || begins && (CHINESE.speech.head(rest) > 0 || CHINESE.actions.head(rest) > 0) {
                counts.strong_uses += 1;
            }
            if let Some((_, count)) = counts.followers.iter_mut().find(|(other, _)| *other == next) {
                *count += 1;
            } else if counts.followers.len() < 8 {
                // Eight followers are enough to tell a name from a part of one.
                counts.followers.push((next, 1));
            }
        }
    }
}
