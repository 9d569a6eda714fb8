//! Chinese subjects that are not at the start of a clause, or not in the tables.

use super::descriptions::{described_noun, determiner};
use super::{DescribedNoun, NounPhrase};
use crate::attribution::chinese::clauses::{Clause, isolate_subject, strip_opening};
use crate::attribution::chinese::names::Names;
use crate::attribution::chinese::role_nouns::{is_role_noun, noun_gender};
use crate::attribution::words::chinese::CHINESE;

/// Returns the unknown word before the speech verb of a clause as its subject.
pub(in crate::attribution::chinese) fn unknown_speaker(
    text: &[char],
    names: &Names,
    (at, end): Clause,
) -> Option<NounPhrase> {
    let subject = isolate_subject(&text[at..end])?;
    let from = (at..end).find(|&i| text[i..].starts_with(&subject))?;
    let demonstrative = usize::from(subject.len() > 1 && matches!(subject[0], '那' | '这' | '此'));
    let (from, subject) = (from + demonstrative, &subject[demonstrative..]);
    // A name with an adverb that is not in the tables.
    if let Some(name) = names.at(subject) {
        return Some(NounPhrase::Name(name, from));
    }
    let adverb = CHINESE.manner.head(subject).max(CHINESE.actions.head(subject));
    let verb = CHINESE.objects.head(subject) > 0 && subject.len() > 1 || adverb > 1 || adverb == subject.len();
    // A single character is an adverb, or stands for a thought: `心下想道`.
    let inward = matches!(subject, [_]) && !is_role_noun(subject) && !names.ends_full_name(subject[0]);
    if inward
        || !subject.iter().all(|&c| may_be_in_word(c))
        || CHINESE.not_names.head(subject) > 1
        || verb
        || subject.len() > 5
    {
        return None;
    }
    let to = from + subject.len();
    let noun = DescribedNoun::undescribed(from - demonstrative, to);
    Some(NounPhrase::Role(DescribedNoun {
        bare: from,
        head: from,
        gender: noun_gender(subject),
        demonstrative: demonstrative > 0,
        ..noun
    }))
}

/// Returns the person that a clause introduces after its verb: `走出一个老汉来`, `只见几个孩子跑来`.
pub(in crate::attribution::chinese) fn presented_person(
    text: &[char],
    names: &Names,
    (at, end): Clause,
) -> Option<NounPhrase> {
    for i in at + 1..end.saturating_sub(2) {
        let lead = determiner(text, i, end);
        let found = lead.end > i;
        // `和X同来的那个丫头`.
        if found
            && (lead.new || lead.demonstrative || lead.several)
            && text[i - 1] == '的'
            && let Some((NounPhrase::Role(noun), _)) = described_noun(text, names, i, end)
        {
            return Some(NounPhrase::Role(noun));
        }
        if text[i..end].starts_with(&['有', '人']) && !matches!(text[i - 1], '没' | '无' | '未') {
            return Some(NounPhrase::Role(DescribedNoun::undescribed(i, i + 2)));
        }
        if found
            && (lead.new || lead.several)
            && matches!(text[i], '一' | '几' | '两' | '三' | '四' | '许' | '二' | '个')
            && !text[at..i].contains(&'不')
            && matches!(text[i - 1], '见' | '来' | '出' | '进' | '着' | '了' | '有' | '上' | '过' | '是')
            && let Some((NounPhrase::Role(noun), _)) = described_noun(text, names, i, end)
            && noun.head > noun.from
        {
            return Some(NounPhrase::Role(noun));
        }
    }
    None
}

/// Returns the person right before the speech verb that ends a clause: `急得X道`, `外面有人说`, `门上小厮们回道`.
pub(in crate::attribution::chinese) fn subject_before_verb(
    text: &[char],
    names: &Names,
    (at, end): Clause,
) -> Option<NounPhrase> {
    let clause = &text[at..end];
    let particle = clause.iter().rev().take_while(|c| matches!(c, '着' | '了' | '过')).count();
    let mut rest = &clause[..clause.len() - particle];
    let mut spoken = false;
    loop {
        if spoken && let Some(name) = names.ending(rest) {
            let from = rest.len() - names.list[name].form.len();
            let addressed = rest[..from].iter().any(|c| "对向朝冲跟给把令命叫使".contains(*c));
            if addressed || is_object(&rest[..from]) {
                return None;
            }
            return Some(NounPhrase::Name(name, at + from));
        }
        let verb = CHINESE.speech.tail(rest);
        let cut = verb.max(if spoken { CHINESE.manner.tail(rest) } else { 0 });
        if cut == 0 || cut >= rest.len() {
            break;
        }
        spoken |= verb > 0;
        rest = &rest[..rest.len() - cut];
    }
    if !spoken {
        return None;
    }
    let someone = rest.ends_with(&['有', '人']);
    let is_bare_person = ['听', '得', '时', '见'].iter().any(|&before| rest.ends_with(&[before, '人']));
    let several = usize::from(rest.ends_with(&['们']));
    let bare = &rest[..rest.len() - several];
    let noun = (2..=4.min(bare.len())).rev().find(|&length| is_role_noun(&bare[bare.len() - length..]));
    let placed = |length: usize| {
        bare.len() > length
            && matches!(bare[bare.len() - length - 1], '上' | '里' | '外' | '边' | '内' | '中' | '下' | '面')
    };
    let length = match noun {
        Some(length) if placed(length) => length + several,
        _ if someone => 2,
        _ if is_bare_person || rest == ['人'] => 1,
        _ => return None,
    };
    let to = at + rest.len();
    Some(NounPhrase::Role(DescribedNoun { several: several > 0, ..DescribedNoun::undescribed(to - length, to) }))
}

/// Whether the text before a name makes the name an object.
pub(in crate::attribution::chinese) fn is_object(before: &[char]) -> bool {
    let particles = before.iter().rev().take_while(|c| matches!(c, '着' | '了' | '过' | '得' | '到' | '住')).count();
    let bare = &before[..before.len() - particles];
    // `急得X道`: X is the subject of the result.
    let driven = before.ends_with(&['得']) && CHINESE.objects.tail(bare) == 0;
    !driven
        && [before, bare].iter().any(|before| {
            CHINESE.objects.tail(before) > 0 || CHINESE.speech.tail(before) > 0 && !before.ends_with(&['道'])
        })
}

/// Returns the unknown word that a sentence begins with as its subject: the text before the first verb.
pub(in crate::attribution::chinese) fn unknown_topic(text: &[char], (at, end): Clause) -> Option<NounPhrase> {
    let from = end - strip_opening(&text[at..end]).len();
    let demonstrative = usize::from(matches!(text.get(from), Some('此' | '这' | '那')) && from + 2 < end);
    let from = from + demonstrative;
    let rest = &text[from..end];
    let verb = |rest: &[char]| CHINESE.actions.head(rest).max(CHINESE.speech.head(rest)).max(CHINESE.manner.head(rest));
    if rest.is_empty() || verb(rest).max(CHINESE.objects.head(rest)) > 0 || CHINESE.not_names.head(rest) > 1 {
        return None;
    }
    let length = (2 - demonstrative..=4.min(rest.len())).find(|&length| CHINESE.actions.head(&rest[length..]) > 0)?;
    let clean = rest[..length].iter().all(|&c| may_be_in_word(c));
    let noun = DescribedNoun::undescribed(from - demonstrative, from + length);
    let noun = DescribedNoun {
        bare: from,
        head: from,
        gender: noun_gender(&rest[..length]),
        demonstrative: demonstrative > 0,
        ..noun
    };
    clean.then_some(NounPhrase::Role(noun))
}

/// Whether a character can be part of an unknown word.
fn may_be_in_word(c: char) -> bool {
    c.is_alphabetic() && !c.is_ascii() && (!CHINESE.not_in_names.has(&[c]) || "一二三两".contains(c))
}
