//! Chinese names that are recognised by their form alone: a surname with a title, or 老, 小, 阿 before a character.

use std::collections::BTreeMap;
use std::collections::HashSet;

use crate::attribution::chinese::clauses::clause_end;
use crate::attribution::chinese::role_nouns::{is_role_noun, is_title, title_gender};
use crate::attribution::words::chinese::CHINESE;
use crate::attribution::words::word_set::CharSet;

/// Returns names recognised at the start of clauses: a surname with a title, or 老, 小, 阿 before a character.
pub(super) fn address_forms(text: &[char]) -> BTreeMap<Vec<char>, u32> {
    let mut found: BTreeMap<Vec<char>, (u32, BTreeMap<char, u32>)> = BTreeMap::new();
    let mut wives: HashSet<Vec<char>> = HashSet::new();
    for i in 1..text.len().saturating_sub(4) {
        if !clause_end(text[i - 1]) && !text[i - 1].is_whitespace() {
            if text[i + 1] == '氏'
                && matches!(text[i - 1], '妻' | '母' | '亲' | '子' | '媳' | '嫂' | '妇' | '妾')
                && CHINESE.surnames.has(&text[i..=i])
            {
                wives.insert(text[i..=i + 1].to_vec());
            }
            continue;
        }
        let surname = CHINESE.surnames.head(&text[i..i + 2]);
        if surname > 0 && text[i + surname] == '氏' {
            wives.insert(text[i..=i + surname].to_vec());
        }
        let rest = &text[i + surname..i + 4];
        let word = CHINESE.titles_male.head(rest).max(CHINESE.titles_female.head(rest));
        let length = if surname > 0 && word > 1 {
            surname + word
        } else if matches!(text[i], '老' | '小' | '阿')
            && !is_role_noun(&text[i..i + 2])
            && !is_role_noun(&text[i..i + 3])
            && !is_common_word(&text[i..i + 2])
        {
            2
        } else {
            continue;
        };
        let (count, after) = found.entry(text[i..i + length].to_vec()).or_default();
        *count += 1;
        *after.entry(text[i + length]).or_default() += 1;
    }
    found
        .into_iter()
        .filter(|(form, (count, after))| {
            let most = after.values().copied().max().unwrap_or(0);
            let clean = form.iter().all(|c| c.is_alphabetic() && !c.is_ascii() && !CHINESE.not_in_names.has(&[*c]));
            let titled = is_title(&form[CHINESE.surnames.head(form)..]);
            (*count > 3 && most * 2 < *count || titled && *count > 1 && most * 2 <= *count) && clean
        })
        .map(|(form, _)| form)
        .chain(wives)
        .map(|form| (form, 1))
        .collect()
}

/// Whether 老, 小 or 阿 begins a word that is not a name: `小弟`, `小名`.
fn is_common_word(word: &[char]) -> bool {
    is_title(word) || CHINESE.extra_name_markers.has(word) || CHINESE.not_names.has(word)
}

/// Returns transliterated foreign names (with `·` between their parts), and those of their parts that also occur alone.
pub(super) fn foreign_names(text: &[char]) -> BTreeMap<Vec<char>, u32> {
    const POINT: char = '·';
    const LONGEST: usize = 8;
    // `得` is used only in `彼得`.
    let sound = |i: usize| CHINESE.sounds.has(text[i]) || text[i] == '得' && i > 0 && text[i - 1] == '彼';
    let mut found: BTreeMap<Vec<char>, u32> = BTreeMap::new();
    let mut parts: BTreeMap<Vec<char>, u32> = BTreeMap::new();
    let mut at = 0;
    while let Some(point) = (at..text.len()).find(|&i| text[i] == POINT) {
        at = point + 1;
        let start = (point.saturating_sub(LONGEST)..point).rev().take_while(|&i| sound(i)).last();
        let Some(start) = start else { continue };
        let mut end = point;
        while end < text.len() && text[end] == POINT {
            let stop = (end + 1..text.len().min(end + 1 + LONGEST)).find(|&i| !sound(i));
            let stop = stop.unwrap_or_else(|| text.len().min(end + 1 + LONGEST));
            if stop == end + 1 {
                break;
            }
            end = stop;
        }
        if end > point {
            *found.entry(text[start..end].to_vec()).or_default() += 1;
            for part in text[start..end].split(|&c| c == POINT).filter(|part| part.len() > 1) {
                *parts.entry(part.to_vec()).or_default() += 1;
            }
            at = end;
        }
    }
    if found.is_empty() {
        return found;
    }
    // A part stands alone if no transliteration character is next to it.
    let mut alone: BTreeMap<Vec<char>, u32> = BTreeMap::new();
    let firsts = CharSet::of(parts.keys().map(|part| part[0]));
    for i in 0..text.len() {
        if !firsts.has(text[i]) || i > 0 && (text[i - 1] == POINT || sound(i - 1)) {
            continue;
        }
        let stop = (i..text.len().min(i + LONGEST)).find(|&k| !sound(k)).unwrap_or(i);
        if stop > i && text[stop] != POINT && parts.contains_key(&text[i..stop]) {
            *alone.entry(text[i..stop].to_vec()).or_default() += 1;
        }
    }
    found.extend(alone.into_iter().filter(|&(_, count)| count > 1));
    found
}

/// Returns the other forms that full names may take, with their counts: surname with title, 老 with surname, given name
/// alone.
pub(super) fn short_forms(text: &[char], forms: &BTreeMap<Vec<char>, u32>) -> BTreeMap<Vec<char>, u32> {
    let mut surnames: HashSet<&[char]> = HashSet::new();
    let mut given_names: HashSet<&[char]> = HashSet::new();
    let mut firsts = CharSet::default();
    for (form, &speaker_count) in forms {
        let surname = CHINESE.surnames.head(form);
        if surname > 0
            && speaker_count > 1
            && (1..=2).contains(&(form.len() - surname))
            && title_gender(&form[surname..]).is_none()
            && !is_role_noun(form)
        {
            firsts.add(form[0]);
            surnames.insert(&form[..surname]);
            let tail = &form[surname..];
            if tail.len() == 2 && !is_role_noun(tail) && !is_title(tail) && !CHINESE.not_names.has(tail) {
                firsts.add(form[surname]);
                given_names.insert(&form[surname..]);
            }
        }
    }
    let mut found: BTreeMap<Vec<char>, u32> = BTreeMap::new();
    for i in 0..text.len() {
        if !firsts.has(text[i]) {
            continue;
        }
        for length in [2, 1] {
            let Some(surname) = text.get(i..i + length).filter(|surname| surnames.contains(surname)) else { continue };
            // `一班和尚`.
            if i > 0 && "一两几这那".contains(text[i - 1]) && CHINESE.classifiers.has(surname) {
                continue;
            }
            let rest = &text[i + length..text.len().min(i + length + 3)];
            let word = CHINESE
                .titles_male
                .head(rest)
                .max(CHINESE.titles_female.head(rest))
                .max(CHINESE.titles_either.head(rest));
            if word > 0 && rest[..word] != ['家', '的'] {
                *found.entry(text[i..i + length + word].to_vec()).or_default() += 1;
            } else if i > 0 && text[i - 1] == '老' {
                let mut form = vec!['老'];
                form.extend(surname);
                *found.entry(form).or_default() += 1;
            }
        }
        if let Some(name) = text.get(i..i + 2).filter(|name| given_names.contains(name))
            && (i == 0 || !surnames.contains(&text[i - 1..i]))
        {
            *found.entry(name.to_vec()).or_default() += 1;
        }
    }
    found
}
