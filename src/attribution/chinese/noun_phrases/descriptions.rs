//! Chinese descriptions of people: `那老者`, `一个花白胡子的人`, `内中一个客人`.
//!
//! Parses the noun with its modifiers; `referents` decides whom it means.

use super::possession::{continues_after_subject, possessed_noun};
use super::{DescribedNoun, NounPhrase, Possessor};
use crate::attribution::Gender;
use crate::attribution::chinese::clauses::clause_end;
use crate::attribution::chinese::names::Names;
use crate::attribution::chinese::role_nouns::{is_role_noun, is_title, noun_gender};
use crate::attribution::words::chinese::CHINESE;

/// The determiner of a description.
pub(super) struct Determiner {
    /// Its end; the start of the description if there is none.
    pub(in crate::attribution::chinese) end: usize,
    /// Whether it introduces a person.
    pub(in crate::attribution::chinese) new: bool,
    /// Whether it is a demonstrative.
    pub(in crate::attribution::chinese) demonstrative: bool,
    /// Whether it is plural.
    pub(in crate::attribution::chinese) several: bool,
}

/// Returns the described noun phrase that begins at an offset, and its end: `那老者`, `一个花白胡子的人`, `内中一个客人`.
pub(super) fn described_noun(text: &[char], names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    let limit = end.min(at + 18);
    let mut lead = determiner(text, at, end);
    let from = at;
    // `一个是镖师，一个是书生`: the copula is not part of the description.
    if lead.new && lead.end > at && text[lead.end..end].first() == Some(&'是') {
        lead.end += 1;
    }
    // Text that begins with a preposition or an adverb is not a description.
    let rest = &text[at..end];
    if lead.end == at
        && noun_length(text, at, at, end).is_none()
        && (CHINESE.objects.head(rest) > 0
            || CHINESE.manner.head(rest) > 1 && !rest.iter().take(12).any(|&c| c == '的')
            || CHINESE.opening.head(rest) > 1
            || CHINESE.not_in_names.has(&rest[..1]) && !"里外上下前后一二三半".contains(rest[0]))
    {
        return None;
    }
    let mut i = lead.end;
    while i < limit && !clause_end(text[i]) {
        // `坐在后排的一个人`: the determiner follows 的.
        if i > lead.end && text[i - 1] == '的' {
            let inner = determiner(text, i, end);
            if inner.end > i {
                i = inner.end;
                lead = inner;
                continue;
            }
        }
        let Some(length) = noun_length(text, lead.end, i, end) else {
            let rest = &text[i..end];
            let other =
                CHINESE.he.has(&rest[..1]) || CHINESE.she.has(&rest[..1]) || matches!(rest[0], '我' | '你' | '是');
            let verb = i > lead.end && (other || CHINESE.speech.head(rest) > 1);
            if verb || names.at(rest).is_some() {
                break;
            }
            i += 1;
            continue;
        };
        let mut to = i + length;
        if let Some(found) = member_of_group(text, names, from, to, end) {
            return Some(found);
        }
        let voice_follows = CHINESE.voices.head(&text[to..end]) > 0;
        if CHINESE.place_suffixes.head(&text[to..end]) > 0 {
            return None;
        }
        if matches!(text.get(to), Some('的' | '之')) && to < end && !voice_follows {
            if let Some((NounPhrase::Role(found), stop)) =
                possessed_noun(text, names, from, to, end, Possessor::Pronoun)
            {
                return Some((NounPhrase::Role(DescribedNoun { owner: Possessor::None, ..found }), stop));
            }
            i = to + 1;
            continue;
        }
        if let Some(name) = names.at(&text[to..end]) {
            return Some((NounPhrase::Name(name, to), to + names.list[name].form.len()));
        }
        let several = CHINESE.plurals.head(&text[to..end]);
        if several > 0 && (several > 1 || text[to] == '们' || continues_after_subject(&text[to + several..end])) {
            lead.several = true;
            to += several;
        }
        // `丫鬟和媳妇一齐`.
        if matches!(text.get(to), Some('和' | '与' | '同' | '、'))
            && let Some(other) = noun_length(text, to + 1, to + 1, end)
            && continues_after_subject(&text[to + 1 + other..end])
        {
            lead.several = true;
            to += 1 + other;
        }
        let gender = if lead.several { Gender::Unknown } else { noun_gender(&text[i..to]) };
        let Determiner { end: bare, new, demonstrative, several } = lead;
        let noun = DescribedNoun {
            bare,
            head: i,
            gender,
            new,
            demonstrative,
            several,
            ..DescribedNoun::undescribed(from, to)
        };
        return Some((NounPhrase::Role(noun), to));
    }
    determiner_alone(text, from, &lead, end)
}

/// `X内中一个人`: a member of a group.
fn member_of_group(text: &[char], names: &Names, from: usize, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    let inner = CHINESE.group_members.head(&text[at..end]);
    if inner == 0 {
        return None;
    }
    let after = at + inner;
    let lead = determiner(text, after, end);
    if !lead.new || lead.end == after {
        return None;
    }
    match described_noun(text, names, after, end) {
        Some((NounPhrase::Role(part), to)) => Some((NounPhrase::Role(DescribedNoun { from, bare: from, ..part }), to)),
        _ => None,
    }
}

/// `又一个道`, `那个道`: a determiner without a noun.
fn determiner_alone(text: &[char], from: usize, lead: &Determiner, end: usize) -> Option<(NounPhrase, usize)> {
    let to = lead.end;
    let counts = to > from + 1 && matches!(text[to - 1], '个' | '位' | '名');
    if !counts || !(continues_after_subject(&text[to..end]) || CHINESE.manner.head(&text[to..end]) > 0) {
        return None;
    }
    Some((
        NounPhrase::Role(DescribedNoun {
            new: lead.new,
            demonstrative: lead.demonstrative,
            ..DescribedNoun::undescribed(from, to)
        }),
        to,
    ))
}

/// Parses the determiner that may precede a description.
pub(super) fn determiner(text: &[char], at: usize, end: usize) -> Determiner {
    let mut i = at;
    let mut demonstrative = false;
    while i < end {
        if CHINESE.group_openings.head(&text[i..end]) > 0 {
            i += 2;
        } else if matches!(text[i], '又' | '另' | '还' | '有' | '早' | '却' | '只') {
            i += 1;
        } else {
            break;
        }
    }
    if i < end && matches!(text[i], '那' | '这' | '此' | '该') {
        demonstrative = true;
        i += 1;
    }
    let rest = &text[i..end];
    let length = CHINESE.plural_determiners.head(rest);
    if length > 0 {
        let counter = usize::from(rest.get(length).is_some_and(|c| matches!(c, '个' | '位' | '名')));
        return Determiner { end: i + length + counter, new: false, demonstrative, several: true };
    }
    let numerals = rest.iter().take_while(|c| "一二两三四五六七八九十".contains(**c)).count();
    let next = rest.get(numerals);
    // `钻出个孩子`.
    let behind_verb = i == at && at > 0 && "出来进有见了着是".contains(text[at - 1]);
    let counts = next.is_some_and(|c| matches!(c, '个' | '位' | '名' | '员' | '条' | '群'));
    if counts && (numerals > 0 || demonstrative || behind_verb) {
        let one = numerals == 0 || rest[..numerals] == ['一'];
        return Determiner { end: i + numerals + 1, new: one && !demonstrative, demonstrative, several: !one };
    }
    if numerals == 1 && rest[0] == '一' && !demonstrative && i > at {
        return Determiner { end: i + 1, new: true, demonstrative: false, several: false };
    }
    Determiner { end: if demonstrative { i } else { at }, new: false, demonstrative, several: false }
}

/// Returns the length of the role noun at `i`, in a description that begins at `base`.
fn noun_length(text: &[char], base: usize, i: usize, end: usize) -> Option<usize> {
    let rest = &text[i..end.min(i + 5)];
    let linked = i > base && text[i - 1] == '的';
    let near = i <= base + 4 && follows_determiner(text, base) && !(base..i).any(|k| CHINESE.objects.has(&text[k..=k]));
    let known = |word: &[char]| is_role_noun(word) || is_title(word);
    let length = (1..=4.min(rest.len())).rev().find(|&n| known(&rest[..n])).unwrap_or(0);
    // A second noun may follow directly: 丫鬟 before 媳妇.
    if length > 1 && (i == base || linked || near) {
        let next = (2..=rest.len() - length).rev().find(|&n| known(&rest[length..length + n]));
        return Some(length + next.unwrap_or(0));
    }
    if length == 1
        && i == base
        && (rest.len() == 1 || continues_after_subject(&rest[1..]) || CHINESE.manner.head(&rest[1..]) > 0)
    {
        return Some(1);
    }
    let person = rest.first() == Some(&'人') && !rest.starts_with(&['人', '家']) && !rest.starts_with(&['人', '们']);
    let bears = i == base || linked || near;
    (person && bears && (linked || i > base || continues_after_subject(&rest[1..]) || follows_determiner(text, base)))
        .then_some(1)
}

/// Whether a demonstrative or numeral phrase directly precedes.
fn follows_determiner(text: &[char], base: usize) -> bool {
    base > 0
        && matches!(
            text[base - 1],
            '那' | '这' | '个' | '位' | '一' | '名' | '些' | '众' | '诸' | '此' | '多' | '几' | '数' | '各'
        )
}
