//! Merges Chinese names that belong to one person, and determines their gender.
//!
//! Only evidence counts: a name and a part of it, a title that occurs soon after the full name, a statement of the
//! book. A shared surname is no evidence.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::groups::Groups;
use super::name_patterns::{Alias, NameStatement};
use super::names::Names;
use super::words::{is_role_noun, is_title, title_gender};
use crate::attribution::Gender;
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::people::CharacterDraft;
use crate::attribution::tables::CHINESE;

/// Maximum number of mentions of a title that are used to find its bearer.
const VOTES: usize = 12;

/// Maximum distance in characters between a title and the last mention of its bearer.
const NEAR: usize = 1200;

/// A title used less than once per this many mentions of a character is no evidence of its gender.
const RARE: u32 = 50;

/// Titles that refer to the same person when added to a name; 嫂 and 妈 do not.
const SAME: [&str; 25] = [
    "老人",
    "老人家",
    "老先生",
    "老爹",
    "太爷",
    "先生",
    "老爷",
    "公子",
    "少爷",
    "爷",
    "二爷",
    "大爷",
    "哥",
    "哥哥",
    "哥儿",
    "兄",
    "兄弟",
    "弟",
    "姑娘",
    "小姐",
    "姐姐",
    "妹妹",
    "相公",
    "大人",
    "公",
];

impl Names {
    /// Decides which names belong to one character.
    pub(super) fn characters(&mut self, given: &KnownCharacters) -> Vec<CharacterDraft> {
        let count = self.list.len();
        let mut groups = Groups::new(count);
        for (a, b) in self.linked_names() {
            groups.join(a, b);
        }
        self.apply_statements(&mut groups);
        let mut roots: Vec<usize> = (0..count).map(|i| groups.root(i)).collect();
        let printed: Vec<(String, u32)> =
            self.list.iter().map(|name| (name.form.iter().collect(), name.count)).collect();
        let printed: Vec<(&str, u32)> = printed.iter().map(|(form, count)| (form.as_str(), *count)).collect();
        given.part(&mut roots, &printed);
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut drafts: Vec<CharacterDraft> = Vec::new();
        let mut people = Vec::with_capacity(count);
        let mut heard: BTreeMap<usize, u32> = BTreeMap::new();
        for (name, &root) in self.list.iter().zip(&roots) {
            let most = heard.entry(root).or_default();
            *most = name.count.max(*most);
        }
        let mut told: HashMap<&[char], &Alias> = HashMap::new();
        for form in self.namings.iter().flat_map(|naming| &naming.forms) {
            told.entry(&form.form).or_insert(form);
        }
        let bearers: HashSet<&[char]> = self.namings.iter().filter_map(|naming| naming.bearer.as_deref()).collect();
        for (i, &root) in roots.iter().enumerate() {
            let place = *places.entry(root).or_insert_with(|| {
                drafts.push(CharacterDraft::default());
                drafts.len() - 1
            });
            people.push(place);
            let name = &self.list[i];
            let draft = &mut drafts[place];
            let told = told.get(name.form.as_slice());
            // A name may occur only in the statement that gives it, there in two parts.
            let printed = told.filter(|_| name.count == 0).map_or(&name.printed, |form| &form.printed);
            if !printed.is_empty() {
                draft.add(printed, name.count.max(u32::from(told.is_some())));
            }
            let own = (bearers.contains(name.form.as_slice()) || told.is_some_and(|form| form.own))
                && name.count * 10 >= heard[&root];
            draft.female += name.female;
            draft.male += name.male;
            draft.role |= is_role_noun(&name.form);
            // Surname and given name become the main name, even if a title is more frequent.
            if surname_length(&name.form).is_some()
                && (name.count > 2 || own)
                && draft.name.as_ref().is_none_or(|other| {
                    let known = draft.forms.get(other).copied().unwrap_or(0);
                    (other.chars().count(), known) < (name.form.len(), name.count)
                })
            {
                draft.name = Some(printed.clone());
            }
            match self.titled_gender(i) {
                // A rare title may have been meant for someone else.
                gender if gender != Gender::Unknown && name.count * RARE >= heard[&root] => draft.fixed = Some(gender),
                _ => {}
            }
        }
        // Fix the names now, so that nouns added later cannot replace them.
        for draft in &mut drafts {
            if draft.name.is_none() {
                let most = draft.forms.values().copied().max().unwrap_or(0);
                let fit = draft.forms.iter().filter(|&(_, &count)| count * 10 >= most);
                draft.name =
                    fit.max_by_key(|&(form, &count)| (form.chars().count(), count, form)).map(|(form, _)| form.clone());
            }
        }
        self.people = people;
        given.mark(&mut drafts);
        drafts
    }

    /// Merges the names that a statement of the book gives to one person, unless someone else has one of them.
    fn apply_statements(&self, groups: &mut Groups) {
        // By name: the characters it is given to.
        let mut bearers: BTreeMap<&[char], BTreeSet<usize>> = BTreeMap::new();
        for naming in &self.namings {
            let Some(first) = self.index_of(naming.first()) else { continue };
            for form in &naming.forms {
                bearers.entry(&form.form).or_default().insert(first);
            }
        }
        // By character: the full names that occur in the book.
        let mut fulls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, _) in
            self.list.iter().enumerate().filter(|(_, name)| name.count > 0 && surname_length(&name.form).is_some())
        {
            fulls.entry(groups.root(i)).or_default().push(i);
        }
        for naming in &self.namings {
            let Some(first) = self.index_of(naming.first()) else { continue };
            for form in &naming.forms {
                let Some(other) = self.index_of(&form.form) else { continue };
                let (a, b) = (groups.root(first), groups.root(other));
                let shared = bearers[form.form.as_slice()].iter().any(|&bearer| groups.root(bearer) != a);
                if a == b || shared || ![a, b].iter().all(|person| self.statement_fits(fulls.get(person), naming)) {
                    continue;
                }
                groups.join(a, b);
                let mut names = [a, b].map(|person| fulls.remove(&person).unwrap_or_default());
                names.sort_by_key(|names| std::cmp::Reverse(names.len()));
                let [mut all, fewer] = names;
                all.extend(fewer);
                fulls.insert(groups.root(a), all);
            }
        }
    }

    /// Whether a statement can be about a character: it contains all of their full names, or at least the given names.
    fn statement_fits(&self, fulls: Option<&Vec<usize>>, naming: &NameStatement) -> bool {
        let said =
            |name: &[char]| naming.forms.iter().any(|form| form.form == name) || naming.bearer.as_deref() == Some(name);
        let given = |tail: &[char]| naming.forms.iter().any(|form| form.form.ends_with(tail));
        fulls.into_iter().flatten().all(|&name| {
            let form = &self.list[name].form;
            said(form) || surname_length(form).is_some_and(|surname| given(&form[surname..]))
        })
    }

    fn linked_names(&self) -> Vec<(usize, usize)> {
        let forms: HashMap<&[char], usize> =
            self.list.iter().enumerate().map(|(i, name)| (name.form.as_slice(), i)).collect();
        // Another family's name, borne by someone with a second name, is no evidence for titles.
        let mut strange: HashSet<&[char]> = HashSet::new();
        for naming in &self.namings {
            let Some(bearer) = naming.bearer.as_deref().filter(|bearer| surname_length(bearer).is_some()) else {
                continue;
            };
            let others = naming.forms.iter().filter(|told| told.own && told.form[0] != bearer[0]);
            strange.extend(others.map(|told| told.form.as_slice()));
        }
        // By what follows the surname: a given name or a numbered title.
        let mut given: HashMap<&[char], Vec<usize>> = HashMap::new();
        let mut fulls: HashMap<&[char], Vec<usize>> = HashMap::new();
        for (i, name) in self.list.iter().enumerate() {
            let surname = CHINESE.surnames.head(&name.form);
            let tail = &name.form[surname..];
            if surname > 0 && tail.len() > 1 && name.count > 0 && !is_role_noun(tail) && !is_title(tail) {
                given.entry(&name.form[surname..]).or_default().push(i);
            }
            if let Some(surname) = surname_length(&name.form)
                && name.count > 1
                && !strange.contains(name.form.as_slice())
            {
                fulls.entry(&name.form[..surname]).or_default().push(i);
            }
        }
        // By part of a foreign name: the names that contain it.
        let mut parts: HashMap<&[char], Vec<usize>> = HashMap::new();
        for (i, name) in self.list.iter().enumerate().filter(|(_, name)| name.form.contains(&'·') && name.count > 0) {
            for part in name.form.split(|&c| c == '·') {
                parts.entry(part).or_default().push(i);
            }
        }
        // By name: the offsets of its first mentions.
        let mut early: Vec<Vec<usize>> = vec![Vec::new(); self.list.len()];
        for mention in &self.mentions {
            if early[mention.name].len() < VOTES {
                early[mention.name].push(mention.start);
            }
        }
        let mut joins: Vec<(usize, usize)> = Vec::new();
        for (i, name) in self.list.iter().enumerate() {
            if let Some((&'儿', stem)) = name.form.split_last()
                && stem.len() > 1
                && let Some(&other) = forms.get(stem)
            {
                joins.push((other, i));
            }
            for length in 2..name.form.len() {
                let word: String = name.form[length..].iter().collect();
                if let Some(&other) = forms.get(&name.form[..length])
                    && (SAME.contains(&word.as_str())
                        || word == "子" && title_gender(&name.form[length - 1..]).is_some())
                {
                    joins.push((other, i));
                }
            }
            if let Some(others) = given.get(name.form.as_slice())
                && name.form.len() > 1
                && let Some(other) = self.bearer(i, others)
            {
                joins.push((other, i));
            }
            if let Some(others) = parts.get(name.form.as_slice())
                && let Some(other) = self.bearer(i, others)
            {
                joins.push((other, i));
            }
            if let Some(other) = self.titled_bearer(i, &fulls, &early[i]) {
                joins.push((other, i));
            }
        }
        joins
    }

    /// Returns the full name that a given name belongs to: the only one, or one more than three times as frequent as
    /// any other.
    fn bearer(&self, name: usize, others: &[usize]) -> Option<usize> {
        let mut others: Vec<usize> = others.iter().copied().filter(|&other| other != name).collect();
        others.sort_by_key(|&other| (std::cmp::Reverse(self.list[other].count), other));
        match others[..] {
            [] => None,
            [only] => Some(only),
            [first, second, ..] => (self.list[first].count > self.list[second].count * 3).then_some(first),
        }
    }

    /// Returns the full name that a surname with a title or with 老 refers to: the one that is mostly mentioned last
    /// before it.
    fn titled_bearer(&self, at: usize, fulls: &HashMap<&[char], Vec<usize>>, early: &[usize]) -> Option<usize> {
        let name = &self.list[at];
        let (surname, gender) = match name.form[..] {
            ['老', c] if CHINESE.surnames.has(&[c]) => (&name.form[1..], Gender::Unknown),
            _ => {
                let length = CHINESE.surnames.head(&name.form);
                (&name.form[..length], title_gender(&name.form[length..])?)
            }
        };
        // 张和尚 is a name of its own rather than another person's title.
        let called = matches!(&name.form[surname.len()..], ['和', '尚'] | ['道', '士' | '人'] | ['婆', '子']);
        if surname.is_empty() || name.count == 0 || called {
            return None;
        }
        let others = fulls.get(surname)?;
        // Each use of the form is a vote for the last person with that surname mentioned before it.
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        let mut whole = surname.to_vec();
        for &start in early {
            let window = self.between(start.saturating_sub(NEAR), start);
            // A person is mentioned by the full name or by the given name.
            let bearer = window.iter().rev().find_map(|mention| {
                whole.truncate(surname.len());
                whole.extend(&self.list[mention.name].form);
                let both = [Some(mention.name), self.index_of(&whole)];
                both.into_iter().flatten().filter(|name| *name != at && others.binary_search(name).is_ok()).min()
            });
            if let Some(bearer) = bearer {
                *votes.entry(bearer).or_default() += 1;
            }
        }
        let (&other, &most) = votes.iter().max_by_key(|&(&other, &count)| (count, std::cmp::Reverse(other)))?;
        let own = self.own_gender(other);
        let fits = match gender {
            // A wife's title is used with her husband's surname as often as with her own.
            Gender::Female => {
                own == Gender::Female || own == Gender::Unknown && is_maiden_title(&name.form[surname.len()..])
            }
            Gender::Male => own == Gender::Male || own == Gender::Unknown && self.is_frequent_title(at, other, surname),
            Gender::Unknown => true,
        };
        (fits && most * 5 >= early.len() * 3).then_some(other)
    }

    /// Whether a title is used often enough, relative to a full name, to determine its gender.
    fn is_frequent_title(&self, title: usize, full: usize, surname: &[char]) -> bool {
        let full = &self.list[full].form;
        let names = [self.index_of(full), self.index_of(&full[surname.len()..])];
        let known: u32 = names.into_iter().flatten().map(|name| self.list[name].count).sum();
        self.list[title].count * RARE >= known
    }

    fn titled_gender(&self, at: usize) -> Gender {
        let form = &self.list[at].form;
        if CHINESE.generic_female.tail(form) > 1 {
            return Gender::Female;
        }
        if CHINESE.generic_male.tail(form) > 1 {
            return Gender::Male;
        }
        (1..form.len()).find_map(|i| title_gender(&form[i..])).unwrap_or(Gender::Unknown)
    }

    fn own_gender(&self, at: usize) -> Gender {
        match self.titled_gender(at) {
            Gender::Unknown => {
                let name = &self.list[at];
                CharacterDraft { female: name.female, male: name.male, ..CharacterDraft::default() }.gender()
            }
            gender => gender,
        }
    }
}

/// Whether a title applies to unmarried women, who have their own surname.
fn is_maiden_title(title: &[char]) -> bool {
    [['姑', '娘'], ['小', '姐'], ['妹', '妹'], ['姐', '姐'], ['丫', '头'], ['女', '侠'], ['女', '士']]
        .iter()
        .any(|word| title == word)
}

/// Whether the text after a surname distinguishes members of one family by age, kinship or appearance, or is a role:
/// `老娘`, `二姐`.
fn is_family_word(tail: &[char]) -> bool {
    const AGES: &str = "老大小二三四五六七八九十";
    const KIN: &str = "娘爷姐妹哥弟叔伯姑姨嫂婶婆公太爹妈舅奶";
    const MARKED: &str = "胡麻瘸胖瘦秃聋驼矮癞瞎拐跛哑";
    let aged = matches!(tail, [age, word] if AGES.contains(*age) && KIN.contains(*word));
    let aged = aged || matches!(tail, [mark, '子'] if MARKED.contains(*mark));
    aged || title_gender(tail).is_some() || is_title(tail) || tail.len() > 1 && CHINESE.roles.has(tail)
}

/// Returns the length of the surname if a form is a surname with a given name.
pub(super) fn surname_length(form: &[char]) -> Option<usize> {
    let surname = CHINESE.surnames.head(form);
    let given = form.len() - surname;
    let tail = &form[surname..];
    let plain = surname > 0
        && (1..=2).contains(&given)
        && !is_family_word(tail)
        && !is_role_noun(form)
        && !matches!(tail, ['家' | '子']);
    (plain && (1..form.len()).all(|i| title_gender(&form[i..]).is_none() || i + 1 == form.len())).then_some(surname)
}
