//! Chinese nouns after a possessor: `X的母亲`, `他母亲`, `X的乳母Y`.

use super::{DescribedNoun, NounPhrase, Possessor};
use crate::attribution::chinese::names::Names;
use crate::attribution::chinese::role_nouns::noun_gender;
use crate::attribution::words::chinese::CHINESE;

/// Whether a clause continues as it does after a subject.
pub(super) fn continues_after_subject(rest: &[char]) -> bool {
    rest.is_empty()
        || matches!(rest[0], '都' | '也' | '一' | '齐' | '忙' | '皆' | '俱' | '便' | '又' | '听' | '见')
        || CHINESE.speech.head(rest) > 0
}

/// `X的母亲`, `他母亲`; or the name after it: `他母亲某氏`.
pub(super) fn possessed_noun(
    text: &[char],
    names: &Names,
    from: usize,
    at: usize,
    end: usize,
    owner: Possessor,
) -> Option<(NounPhrase, usize)> {
    let linked = matches!(text.get(at), Some('的' | '之')) && at < end;
    let start = at + usize::from(linked);
    let length = relation_length(&text[start..end], linked)?;
    let to = start + length;
    if let Some(name) = names.at(&text[to..end]) {
        return Some((NounPhrase::Name(name, to), to + names.list[name].form.len()));
    }
    let several = CHINESE.plurals.head(&text[to..end]);
    let noun = DescribedNoun {
        bare: start,
        head: start,
        gender: noun_gender(&text[start..to]),
        owner,
        several: several > 0,
        ..DescribedNoun::undescribed(from, to + several)
    };
    Some((NounPhrase::Role(noun), to + several))
}

/// `X的乳母Y`: the name after a relation that is not in the tables.
pub(super) fn apposed_name(text: &[char], names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    if at >= end || !matches!(text[at], '的' | '之') {
        return None;
    }
    for i in at + 2..end.min(at + 6) {
        if CHINESE.objects.head(&text[i - 1..end]) > 0 || CHINESE.manner.head(&text[i - 1..end]) > 0 {
            return None;
        }
        if let Some(name) = names.at(&text[i..end]) {
            return Some((NounPhrase::Name(name, i), i + names.list[name].form.len()));
        }
    }
    None
}

/// Returns the length of a kinship noun; directly after its possessor, only of one that is not a form of address.
fn relation_length(rest: &[char], linked: bool) -> Option<usize> {
    let kin = CHINESE.generic_female.head(rest).max(CHINESE.generic_male.head(rest));
    let length = if linked { kin.max(CHINESE.roles.head(rest)) } else { kin };
    let length = if linked { length.max(usize::from(rest.first() == Some(&'妻'))) } else { length };
    (length > 1 || linked && length == 1).then_some(length)
}
