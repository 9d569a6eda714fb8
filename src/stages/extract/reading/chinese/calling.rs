//! Chinese names: the forms that show themselves by their make, surname and title or 老 and surname, wherever they stand.

use std::collections::{BTreeMap, HashSet};

use super::super::tables::{CHINESE, Chars};
use super::clauses::clause_end;
use super::words::{rank, role, title};

/// Returns names that show themselves where clauses begin: surname and title, or 老, 小, 阿 before a character.
pub(super) fn familiar(text: &[char]) -> BTreeMap<Vec<char>, u32> {
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
        } else if matches!(text[i], '老' | '小' | '阿') && !role(&text[i..i + 2]) && !role(&text[i..i + 3]) {
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
            let clean = form.iter().all(|c| c.is_alphabetic() && !c.is_ascii() && !CHINESE.never.has(&[*c]));
            let titled = rank(&form[CHINESE.surnames.head(form)..]);
            (*count > 3 && most * 2 < *count || titled && *count > 1 && most * 2 <= *count) && clean
        })
        .map(|(form, _)| form)
        .chain(wives)
        .map(|form| (form, 1))
        .collect()
}

/// Returns the other forms that a full name may go by, with how often the book has them: surname and title, 老 and surname, the
/// given name alone.
pub(super) fn called(text: &[char], forms: &BTreeMap<Vec<char>, u32>) -> BTreeMap<Vec<char>, u32> {
    let mut surnames: HashSet<&[char]> = HashSet::new();
    let mut given: HashSet<&[char]> = HashSet::new();
    let mut firsts = Chars::default();
    for (form, &says) in forms {
        let surname = CHINESE.surnames.head(form);
        if surname > 0
            && says > 1
            && (1..=2).contains(&(form.len() - surname))
            && title(&form[surname..]).is_none()
            && !role(form)
        {
            firsts.add(form[0]);
            surnames.insert(&form[..surname]);
            let tail = &form[surname..];
            if tail.len() == 2 && !role(tail) && !rank(tail) && !CHINESE.common.has(tail) {
                firsts.add(form[surname]);
                given.insert(&form[surname..]);
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
        if let Some(name) = text.get(i..i + 2).filter(|name| given.contains(name))
            && (i == 0 || !surnames.contains(&text[i - 1..i]))
        {
            *found.entry(name.to_vec()).or_default() += 1;
        }
    }
    found
}
