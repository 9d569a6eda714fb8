//! Finds the person that a Chinese naming statement is about.

use super::Names;
use super::statement_clauses::{NameKind, StatedName, without_connectives};
use crate::attribution::chinese::clauses::{clause_end, sentence_end, strip_opening};
use crate::attribution::chinese::role_nouns::{begins_with, is_role_noun, title_gender};
use crate::attribution::words::chinese::CHINESE;

/// What precedes a statement within its clause.
pub(super) enum Antecedent {
    /// Nothing that shows whose name it is.
    Nothing,
    /// A pronoun or demonstrative for the person mentioned last.
    Pointer,
    /// A name.
    Name(Vec<char>),
    /// Another person, or the speaker.
    Other,
}

/// Classifies the text before a naming word, from the start of the clause or the previous name.
pub(super) fn antecedent(text: &[char], names: &Names, from: usize, stated: &StatedName, within: bool) -> Antecedent {
    let marker = stated.marker;
    let first = from + text[from..marker].iter().take_while(|c| !c.is_alphabetic()).count();
    // `有个叫X的和有个叫Y的`.
    if within && text[from..first].is_empty() && text.get(from) == Some(&'的') {
        return Antecedent::Other;
    }
    let words = strip_opening(&text[first..marker]);
    let words = if names.ending(words).is_some() { words } else { without_connectives(words) };
    if is_titled_surname(words) {
        return Antecedent::Name(words.to_vec());
    }
    if let Some(name) = names.ending(words) {
        return Antecedent::Name(names.list[name].form.clone());
    }
    if words.is_empty() {
        Antecedent::Nothing
    } else if CHINESE.person_pointers.has(words) {
        Antecedent::Pointer
    } else if stated.kind == NameKind::Address
        || begins_with(&text[marker..], "人称")
        || is_said_by_others(&text[marker..])
    {
        // `村里人都叫他`: the subject is who uses the name.
        Antecedent::Nothing
    } else {
        Antecedent::Other
    }
}

/// Whether a statement is about a place or thing: `这镇子别名水乡`, `有一座山，又名青螺`.
pub(super) fn is_about_thing(text: &[char], names: &Names, from: usize, marker: usize) -> bool {
    let is_thing = |words: &[char]| {
        let bare = words.strip_suffix(&['子']).unwrap_or(words);
        names.ending(words).is_none() && CHINESE.places.tail(bare) > 0
    };
    let words = without_connectives(strip_opening(&text[from.min(marker)..marker]));
    if !words.is_empty() {
        return is_thing(words);
    }
    let to = from.saturating_sub(1);
    let start = (to.saturating_sub(40)..to).rev().find(|&k| clause_end(text[k])).map_or(0, |k| k + 1);
    let counted = text[start.min(to)..to].iter().any(|c| "座条片".contains(*c));
    counted && is_thing(&text[start..to])
}

/// Whether the text is a surname with a title: `林校长`.
fn is_titled_surname(words: &[char]) -> bool {
    let surname = CHINESE.surnames.head(words);
    surname > 0 && words.len() > surname + 1 && title_gender(&words[surname..]).is_some()
}

/// Whether the words are about what people call someone: `都唤他作`.
fn is_said_by_others(words: &[char]) -> bool {
    matches!(words, ['叫' | '唤' | '称' | '呼', '他' | '她' | '其' | '之' | '我' | '伊' | '作' | '做' | '为', ..])
}

/// Whether an offset is within speech.
fn is_in_speech(text: &[char], at: usize) -> bool {
    let mark = (at.saturating_sub(300)..at).rev().map(|k| text[k]).find(|c| "“「『”」』\n".contains(*c));
    mark.is_some_and(opens_quotation)
}

const fn opens_quotation(c: char) -> bool {
    matches!(c, '“' | '「' | '『')
}

/// Whether the text contains a role noun.
pub(super) fn has_role_noun(words: &[char]) -> bool {
    (0..words.len()).any(|i| (2..=4).any(|length| words.get(i..i + length).is_some_and(is_role_noun)))
        || words.last().is_some_and(|c| "人妻女子妾婢僧尼汉".contains(*c))
}

/// Returns the only name that the clauses before a statement in its sentence are about, and whether they contain a role
/// noun.
pub(super) fn statement_subject(
    text: &[char],
    names: &Names,
    from: usize,
    kind: NameKind,
) -> (Option<Vec<char>>, bool) {
    let start = (from.saturating_sub(60)..from)
        .rev()
        .find(|&k| sentence_end(text[k]) || opens_quotation(text[k]) || text[k] == '\n');
    let Some(start) = start.map(|k| k + 1).or_else(|| (from <= 60).then_some(0)) else { return (None, false) };
    let to = from.saturating_sub(1).max(start);
    let clause = (start..to).rev().find(|&k| clause_end(text[k])).map_or(start, |k| k + 1);
    let words = strip_opening(&text[clause..to]);
    let noun = has_role_noun(&text[start..to]);
    // `过继的儿子X，本名Y`, `来的正是X，绰号Y`.
    if let Some(name) = names.ending(words) {
        let form = &names.list[name].form;
        let rest = &words[..words.len() - form.len()];
        let alone = !(0..rest.len()).any(|k| names.at(&words[k..]).is_some_and(|other| other != name));
        let paired = rest.last().is_some_and(|c| "和与同跟及、".contains(*c));
        // `X家过继的儿子Y`.
        let alone = alone || has_role_noun(rest) && !rest.last().is_some_and(|c| "的之".contains(*c));
        return ((alone && !paired).then(|| form.clone()), noun && !rest.is_empty());
    }
    let Some(name) = names.at(words) else { return (None, noun) };
    let form = names.list[name].form.clone();
    let rest = &words[form.len()..];
    // A person introduced after the name is the one who is named: `X家有个丫头，名叫Y`.
    let others = (0..rest.len()).any(|k| names.at(&rest[k..]).is_some()) || has_role_noun(rest);
    let brings = rest.iter().any(|c| "有养生娶收买个位只匹条头座把家".contains(*c));
    let copular =
        rest.is_empty() || ["是", "乃", "系", "原是", "本是", "原系", "者"].iter().any(|word| begins_with(rest, word));
    let born = copular && !rest.iter().any(|c| "养娶收买".contains(*c));
    // `X手下，绰号Y`, `X恨他，人称Y`, `X骑了黑马，绰号Y` end with another person or thing.
    let another = rest.ends_with(&['手', '下']) || rest.last().is_some_and(|c| "他她它们們马馬狗刀剑劍酒".contains(*c));
    let fits =
        if matches!(kind, NameKind::Style | NameKind::Address) { born || !others && !brings && !another } else { born };
    (fits.then_some(form), noun)
}

/// Returns the only name that the previous sentence is about.
pub(super) fn previous_subject(text: &[char], names: &Names, from: usize) -> Option<Vec<char>> {
    let stop = from.checked_sub(1).filter(|_| !is_in_speech(text, from))?;
    let start = (stop.saturating_sub(80)..stop).rev().find(|&k| sentence_end(text[k]) || text[k] == '\n')? + 1;
    let words = strip_opening(&text[start..stop]);
    let form = names.list[names.at(words)?].form.clone();
    let rest = &words[form.len()..];
    let others = (0..rest.len()).any(|k| names.at(&rest[k..]).is_some_and(|other| names.list[other].form != form));
    (!others && !has_role_noun(rest)).then_some(form)
}
