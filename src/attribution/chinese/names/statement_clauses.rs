//! Parses Chinese clauses that give a name: `姓沈名固`, `表字子坚`, `绰号铁算盘`, `人都唤他作阿福`.
//!
//! Handles one clause: which words are the name, and what kind of name it is. `statements` decides whose name it is.

use super::Names;
use super::evidence::{cannot_be_in_name, is_pronoun};
use crate::attribution::chinese::clauses::clause_end;
use crate::attribution::chinese::role_nouns::{begins_with, is_role_noun, is_title};
use crate::attribution::words::chinese::CHINESE;

/// The kind of a name that a clause gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::attribution::chinese) enum NameKind {
    /// A surname alone: `姓沈`.
    Surname,
    /// A given name, after a surname: `名固`.
    Given,
    /// A main name: `名叫沈固`.
    Main,
    /// An additional name: `绰号铁算盘`.
    Style,
    /// What people call someone: `人都叫他铁算盘`. Also used for things.
    Address,
}

/// A name given by a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::attribution::chinese) struct StatedName {
    /// Start of the words that introduce it.
    pub(super) marker: usize,
    /// Start of the name.
    pub(in crate::attribution::chinese) start: usize,
    /// End of the name.
    pub(in crate::attribution::chinese) end: usize,
    pub(in crate::attribution::chinese) kind: NameKind,
}

/// Whether a character can be part of words that introduce a name. A clause without such a character gives none.
pub(super) const fn hints_at_name(c: char) -> bool {
    matches!(c, '姓' | '名' | '字' | '号' | '称' | '叫' | '唤' | '呼')
}

/// Returns the names that a clause gives, in order. `surname` says that the previous clause ended in a surname.
pub(super) fn names_in_clause(
    text: &[char],
    names: &Names,
    (from, end): (usize, usize),
    surname: bool,
) -> Vec<StatedName> {
    let mut found: Vec<StatedName> = Vec::new();
    let first = from + text[from..end].iter().take_while(|c| !c.is_alphabetic()).count();
    let mut at = first;
    while at < end {
        let rest = &text[at..end];
        let last = found.last().copied().filter(|last| last.end == at);
        let behind = |kinds: &[NameKind]| last.is_some_and(|last| kinds.contains(&last.kind));
        let opens = at == first || text[first..at].iter().all(|c| "又自亦他她".contains(*c));
        let marker = CHINESE.extra_name_markers.head(rest).max(CHINESE.main_name_markers.head(rest));
        let (kind, length) = match rest[0] {
            '姓' if at == first || !"百贵高尊同异族".contains(text[at - 1]) => (NameKind::Surname, 1),
            _ if marker > 0 && CHINESE.main_name_markers.head(rest) == marker => (NameKind::Main, marker),
            _ if marker > 0 => (NameKind::Style, marker),
            '名' | '讳' if behind(&[NameKind::Surname]) || at == first && surname => (NameKind::Given, 1),
            '字' | '号' if opens || last.is_some() || names.ending(without_connectives(&text[first..at])).is_some() => {
                (NameKind::Style, 1)
            }
            '叫' | '唤' | '称' | '呼' if is_said_by_others(&text[first..at], rest) => (NameKind::Address, 1),
            _ => {
                at += 1;
                continue;
            }
        };
        match name_after_marker(text, at, length, end, kind) {
            // In `X的绰号是Y起的`, Y is who gave the name.
            Some((start, stop, _))
                if matches!(text[stop - 1], '起' | '取' | '给' | '給' | '送')
                    && names.at(&text[start..stop]).is_some_and(|name| names.list[name].form.len() < stop - start) =>
            {
                at = stop;
            }
            Some((start, stop, kind)) => {
                found.push(StatedName { marker: at, start, end: stop, kind });
                at = stop;
            }
            None => at += length,
        }
    }
    found
}

/// Removes words that may stand between a name and the words that introduce another: `X也字Y`.
pub(super) fn without_connectives(mut words: &[char]) -> &[char] {
    while let Some((c, rest)) = words.split_last()
        && "又亦也还另自后别都皆原本乃便就且并即的".contains(*c)
    {
        words = rest;
    }
    words
}

/// Whether the words around `叫` make it a form of address: `人都叫他`, `人皆呼为`.
fn is_said_by_others(before: &[char], rest: &[char]) -> bool {
    let people = before.last().is_some_and(|c| "人都皆们家均众".contains(*c)) && before.len() < 12;
    let object = rest.get(1).is_some_and(|c| "他她其之我伊做作为".contains(*c));
    people && object
}

/// Returns start, end and kind of the name after a marker.
fn name_after_marker(
    text: &[char],
    marker: usize,
    length: usize,
    end: usize,
    kind: NameKind,
) -> Option<(usize, usize, NameKind)> {
    let mut at = marker + length;
    let word: String = text[marker..at].iter().collect();
    if kind == NameKind::Surname {
        let known = CHINESE.surnames.head(&text[at..end.min(at + 2)]);
        let is_isolated = text.get(at + 1).is_none_or(|&c| clause_end(c) || matches!(c, '名' | '单' | '讳'));
        let length =
            if known == 0 && at < end && is_isolated && !cannot_be_in_name(&text[at..=at]) { 1 } else { known };
        return (length > 0).then_some((at, at + length, kind));
    }
    let single = matches!(word.as_str(), "单名" | "双名");
    // `小名他，人称他`.
    if kind == NameKind::Address || word == "人称" || word == "又名" {
        at += usize::from(at < end && "他她其之我伊".contains(text[at]));
    }
    // `小名儿就唤做X`.
    let suffix = usize::from(at < end && text[at] == '儿' && word.ends_with('名'));
    let adverb = usize::from(text.get(at + suffix).is_some_and(|c| "就便又也".contains(*c)));
    let link = CHINESE.name_links.head(&text[(at + suffix + adverb).min(end)..end]);
    at += suffix + if link > 0 { adverb + link } else { 0 };
    // `久仰大名`, `名字好听`.
    if link == 0 && matches!(word.as_str(), "名字" | "姓名" | "名号" | "称号" | "花名") {
        return None;
    }
    // These words introduce names of things as often as of people.
    let loose = matches!(word.as_str(), "叫做" | "叫作" | "唤作" | "唤做" | "称作" | "名曰");
    let kind = if loose { NameKind::Address } else { kind };
    at += usize::from(single && begins_with(&text[at.min(end)..end], "一个")) * 2;
    let marks = text[at.min(end)..end].iter().take_while(|c| "“‘「『\"《".contains(**c)).count();
    at += marks;
    let bare = word.chars().count() == 1 && kind == NameKind::Style;
    let max_length = match (kind, word.as_str()) {
        (NameKind::Given, _) | (_, "字") => 2,
        _ => 5,
    };
    let mut stop = at;
    while stop < end && stop <= at + max_length {
        let rest = &text[stop..end];
        let closed = clause_end(rest[0]) || "、’”」』》".contains(rest[0]);
        let next = stop > at && ends_name_here(rest);
        if closed || next {
            break;
        }
        stop += 1;
    }
    // `单名一个固字`.
    if single && stop > at + 1 && text[stop - 1] == '字' {
        stop -= 1;
    }
    let form = &text[at.min(end)..stop];
    let kind = if single { NameKind::Given } else { kind };
    // `唤他作阿福` shows that it is a name.
    let final_kind = if kind == NameKind::Address && link > 0 && !loose { NameKind::Style } else { kind };
    let min_length = if kind == NameKind::Given { 1 } else { 2 };
    // `字迹`, `号令`.
    let word = bare && form.first().is_some_and(|c| "迹体句眼画据母幅正典条里令码房啕哭召脉称数外角筒手".contains(*c));
    let ends_in_verb = bare && CHINESE.speech.tail(form).max(CHINESE.actions.tail(form)) > 0;
    let doubled = form.len() > 1 && form[0] == form[1];
    // `名叫小满` is a name; a reduplication right after 大名 is not.
    let is_reduplication = doubled && link == 0 && kind == NameKind::Main;
    let fits = (min_length..=max_length).contains(&form.len())
        && !word
        && !ends_in_verb
        && !is_reduplication
        && may_be_name(form, kind);
    fits.then_some((at, stop, final_kind))
}

/// Whether a name ends before this text: another statement or a description follows.
fn ends_name_here(rest: &[char]) -> bool {
    CHINESE.name_followers.head(rest) > 0
        || CHINESE.extra_name_markers.head(rest) > 0
        || matches!(rest[0], '字' | '号') && (3..=4).contains(&rest.len())
}

/// Whether the text may be a person's name.
fn may_be_name(form: &[char], kind: NameKind) -> bool {
    let is_noun = CHINESE.extra_name_markers.has(form)
        || CHINESE.main_name_markers.has(form)
        || is_role_noun(form)
        || is_title(form)
        || is_pronoun(form)
        || CHINESE.not_names.has(form);
    // `听涛`, `知秋`: chosen names may contain verbs.
    let allowed_in_style_name = |c: char| kind == NameKind::Style && "听知见看笑望未无非可能将上前后外里".contains(c);
    let clean = form.iter().all(|&c| (!cannot_be_in_name(&[c]) || allowed_in_style_name(c)) && c != '的');
    let is_place_name =
        kind != NameKind::Style && kind != NameKind::Given && CHINESE.places.tail(form) > 0 && !shows_surname(form);
    clean && !is_place_name && (kind == NameKind::Given || !is_noun)
}

/// Whether a surname precedes a word that may end names of both places and people.
fn shows_surname(form: &[char]) -> bool {
    let both = "山石江湖花草树关法马河海船门刀剑药文诗帮".contains(form[form.len() - 1]);
    both && CHINESE.surnames.head(form) > 0 && form.len() < 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names that a clause gives, with their kinds.
    fn read(clause: &str, surname: bool) -> Vec<(String, NameKind)> {
        let text: Vec<char> = clause.chars().map(|c| CHINESE.fold(c)).collect();
        let found =
            names_in_clause(&text, &Names::from_forms(std::collections::BTreeMap::new()), (0, text.len()), surname);
        found.into_iter().map(|stated| (text[stated.start..stated.end].iter().collect(), stated.kind)).collect()
    }

    #[test]
    fn names_are_read_from_naming_clauses() {
        for (clause, expected) in [
            ("姓沈名固", &[("沈", NameKind::Surname), ("固", NameKind::Given)][..]),
            (
                "姓沈名固表字子坚別號聽濤",
                &[
                    ("沈", NameKind::Surname),
                    ("固", NameKind::Given),
                    ("子坚", NameKind::Style),
                    ("听涛", NameKind::Style),
                ],
            ),
            ("字子坚", &[("子坚", NameKind::Style)]),
            ("号听涛居士", &[("听涛居士", NameKind::Style)]),
            ("那女子名叫水莲", &[("水莲", NameKind::Main)]),
            ("单名一个固字", &[("固", NameKind::Given)]),
            ("乳名喚作狗兒", &[("狗儿", NameKind::Style)]),
            ("绰号“铁算盘", &[("铁算盘", NameKind::Style)]),
            ("绰号铁算盘的王猛", &[("铁算盘", NameKind::Style)]),
            ("人都唤他作吴老抠", &[("吴老抠", NameKind::Style)]),
            ("人都叫他吴老抠", &[("吴老抠", NameKind::Address)]),
            ("江湖上人称赛霸王", &[("赛霸王", NameKind::Style)]),
            ("他大名叫赵建国", &[("赵建国", NameKind::Main)]),
        ] {
            let expected: Vec<(String, NameKind)> =
                expected.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect();
            assert_eq!(read(clause, false), expected, "{clause}");
        }
        assert_eq!(read("名固", true), [("固".to_owned(), NameKind::Given)]);
    }

    #[test]
    fn other_clauses_give_no_name() {
        for clause in [
            "久仰大名",
            "大名鼎鼎",
            "名字好听",
            "百姓名声",
            "字迹潦草",
            "号令三军",
            "叫他进来",
            "这山名叫青螺山",
            "小名丫头",
        ] {
            assert_eq!(read(clause, false), [], "{clause}");
        }
    }
}
