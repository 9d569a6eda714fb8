//! Chinese names: which of them are one person's, and what they say of gender.
//!
//! Joins on evidence only: a name and a piece of it, a title that first stands where its bearer was just named, a name given to another.
//! A surname that two share is none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::super::Gender;
use super::super::given::Given;
use super::super::people::Draft;
use super::super::tables::CHINESE;
use super::groups::Groups;
use super::names::Names;
use super::namings::{Alias, Naming};
use super::words::{rank, role, title};

/// So many mentions of a title say whose it is.
const VOTES: usize = 12;

/// A title stands for somebody of that surname who was named no further back than this.
const NEAR: usize = 1200;

/// What is heard less than once for so many mentions of somebody says nothing of whether that is a man or a woman.
const RARE: u32 = 50;

/// Titles that are put behind a name and leave the person the same; 嫂 or 妈 make another of it.
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
    /// Decides which forms are one person's.
    pub(super) fn settle(&mut self, given: &Given) -> Vec<Draft> {
        let count = self.list.len();
        let mut groups = Groups::new(count);
        for (a, b) in self.joins() {
            groups.join(a, b);
        }
        self.told(&mut groups);
        let mut roots: Vec<usize> = (0..count).map(|i| groups.root(i)).collect();
        let printed: Vec<(String, u32)> =
            self.list.iter().map(|name| (name.form.iter().collect(), name.count)).collect();
        let printed: Vec<(&str, u32)> = printed.iter().map(|(form, count)| (form.as_str(), *count)).collect();
        given.part(&mut roots, &printed);
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut drafts: Vec<Draft> = Vec::new();
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
                drafts.push(Draft::default());
                drafts.len() - 1
            });
            people.push(place);
            let name = &self.list[i];
            let draft = &mut drafts[place];
            let told = told.get(name.form.as_slice());
            // A name may stand in its statement alone, and there in two pieces.
            let printed = told.filter(|_| name.count == 0).map_or(&name.printed, |form| &form.printed);
            if !printed.is_empty() {
                draft.add(printed, name.count.max(u32::from(told.is_some())));
            }
            let own = (bearers.contains(name.form.as_slice()) || told.is_some_and(|form| form.own))
                && name.count * 10 >= heard[&root];
            draft.female += name.female;
            draft.male += name.male;
            draft.role |= role(&name.form);
            // Surname and given name are what somebody is called by, whatever title the book prefers.
            if full(&name.form).is_some()
                && (name.count > 2 || own)
                && draft.name.as_ref().is_none_or(|other| {
                    let known = draft.forms.get(other).copied().unwrap_or(0);
                    (other.chars().count(), known) < (name.form.len(), name.count)
                })
            {
                draft.name = Some(printed.clone());
            }
            match self.titled_gender(i) {
                // A title that somebody is hardly ever given may have been meant for another.
                gender if gender != Gender::Unknown && name.count * RARE >= heard[&root] => draft.fixed = Some(gender),
                _ => {}
            }
        }
        // Whatever nouns join them later, people are called by their names.
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

    /// Joins the names that the book itself says to be one person's, unless another person goes by one of them.
    fn told(&self, groups: &mut Groups) {
        // By name: those who are given it.
        let mut bearers: BTreeMap<&[char], BTreeSet<usize>> = BTreeMap::new();
        for naming in &self.namings {
            let Some(first) = self.index_of(naming.first()) else { continue };
            for form in &naming.forms {
                bearers.entry(&form.form).or_default().insert(first);
            }
        }
        // By person: the full names that the book uses.
        let mut fulls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, _) in self.list.iter().enumerate().filter(|(_, name)| name.count > 0 && full(&name.form).is_some()) {
            fulls.entry(groups.root(i)).or_default().push(i);
        }
        for naming in &self.namings {
            let Some(first) = self.index_of(naming.first()) else { continue };
            for form in &naming.forms {
                let Some(other) = self.index_of(&form.form) else { continue };
                let (a, b) = (groups.root(first), groups.root(other));
                let shared = bearers[form.form.as_slice()].iter().any(|&bearer| groups.root(bearer) != a);
                if a == b || shared || ![a, b].iter().all(|person| self.agree(fulls.get(person), naming)) {
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

    /// Whether somebody's full names let the statement be about him: it has them, or what stands behind their surnames.
    fn agree(&self, fulls: Option<&Vec<usize>>, naming: &Naming) -> bool {
        let said =
            |name: &[char]| naming.forms.iter().any(|form| form.form == name) || naming.bearer.as_deref() == Some(name);
        let given = |tail: &[char]| naming.forms.iter().any(|form| form.form.ends_with(tail));
        fulls.into_iter().flatten().all(|&name| {
            let form = &self.list[name].form;
            said(form) || full(form).is_some_and(|surname| given(&form[surname..]))
        })
    }

    fn joins(&self) -> Vec<(usize, usize)> {
        let forms: HashMap<&[char], usize> =
            self.list.iter().enumerate().map(|(i, name)| (name.form.as_slice(), i)).collect();
        // A name of another house, borne by somebody who goes by a second one, says nothing of titles.
        let mut strange: HashSet<&[char]> = HashSet::new();
        for naming in &self.namings {
            let Some(bearer) = naming.bearer.as_deref().filter(|bearer| full(bearer).is_some()) else { continue };
            let others = naming.forms.iter().filter(|told| told.own && told.form[0] != bearer[0]);
            strange.extend(others.map(|told| told.form.as_slice()));
        }
        // By what stands behind the surname: the given name, or a numbered title.
        let mut given: HashMap<&[char], Vec<usize>> = HashMap::new();
        let mut fulls: HashMap<&[char], Vec<usize>> = HashMap::new();
        for (i, name) in self.list.iter().enumerate() {
            let surname = CHINESE.surnames.head(&name.form);
            let tail = &name.form[surname..];
            if surname > 0 && tail.len() > 1 && name.count > 0 && !role(tail) && !rank(tail) {
                given.entry(&name.form[surname..]).or_default().push(i);
            }
            if let Some(surname) = full(&name.form)
                && name.count > 1
                && !strange.contains(name.form.as_slice())
            {
                fulls.entry(&name.form[..surname]).or_default().push(i);
            }
        }
        // By each part of a foreign name: the names that hold it.
        let mut parts: HashMap<&[char], Vec<usize>> = HashMap::new();
        for (i, name) in self.list.iter().enumerate().filter(|(_, name)| name.form.contains(&'·') && name.count > 0) {
            for part in name.form.split(|&c| c == '·') {
                parts.entry(part).or_default().push(i);
            }
        }
        // By name: its first mentions.
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
                    && (SAME.contains(&word.as_str()) || word == "子" && title(&name.form[length - 1..]).is_some())
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
            if let Some(other) = self.titled(i, &fulls, &early[i]) {
                joins.push((other, i));
            }
        }
        joins
    }

    /// Returns the one full name that a given name belongs to: the only one, or the one far ahead of the others.
    fn bearer(&self, name: usize, others: &[usize]) -> Option<usize> {
        let mut others: Vec<usize> = others.iter().copied().filter(|&other| other != name).collect();
        others.sort_by_key(|&other| (std::cmp::Reverse(self.list[other].count), other));
        match others[..] {
            [] => None,
            [only] => Some(only),
            [first, second, ..] => (self.list[first].count > self.list[second].count * 3).then_some(first),
        }
    }

    /// Returns the full name whose bearer a surname with a title, or with 老, means: whoever of that surname is mostly the last to be
    /// named before it.
    fn titled(&self, at: usize, fulls: &HashMap<&[char], Vec<usize>>, early: &[usize]) -> Option<usize> {
        let name = &self.list[at];
        let (surname, gender) = match name.form[..] {
            ['老', c] if CHINESE.surnames.has(&[c]) => (&name.form[1..], Gender::Unknown),
            _ => {
                let length = CHINESE.surnames.head(&name.form);
                (&name.form[..length], title(&name.form[length..])?)
            }
        };
        // 张和尚 is what one man is called, and no title of another.
        let called = matches!(&name.form[surname.len()..], ['和', '尚'] | ['道', '士' | '人'] | ['婆', '子']);
        if surname.is_empty() || name.count == 0 || called {
            return None;
        }
        let others = fulls.get(surname)?;
        // Each time the form stands, the last of that surname to be named before it has a vote.
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        let mut whole = surname.to_vec();
        for &start in early {
            let window = self.between(start.saturating_sub(NEAR), start);
            // Who is named is meant by the full name, or by what stands behind the surname.
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
            // A wife's title goes by her husband's surname as often as by her own.
            Gender::Female => own == Gender::Female || own == Gender::Unknown && maiden(&name.form[surname.len()..]),
            Gender::Male => own == Gender::Male || own == Gender::Unknown && self.often(at, other, surname),
            Gender::Unknown => true,
        };
        (fits && most * 5 >= early.len() * 3).then_some(other)
    }

    /// Whether a title is heard often enough beside a full name to say of its bearer what that leaves open.
    fn often(&self, title: usize, full: usize, surname: &[char]) -> bool {
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
        (1..form.len()).find_map(|i| title(&form[i..])).unwrap_or(Gender::Unknown)
    }

    fn own_gender(&self, at: usize) -> Gender {
        match self.titled_gender(at) {
            Gender::Unknown => {
                let name = &self.list[at];
                Draft { female: name.female, male: name.male, ..Draft::default() }.gender()
            }
            gender => gender,
        }
    }
}

/// Whether a title is said of girls, who bear their own surname.
fn maiden(title: &[char]) -> bool {
    [['姑', '娘'], ['小', '姐'], ['妹', '妹'], ['姐', '姐'], ['丫', '头'], ['女', '侠'], ['女', '士']]
        .iter()
        .any(|word| title == word)
}

/// Whether what stands behind a surname tells people of one house apart by age or kin, or says what they are: `老娘`, `二姐`.
fn kin(tail: &[char]) -> bool {
    const AGES: &str = "老大小二三四五六七八九十";
    const KIN: &str = "娘爷姐妹哥弟叔伯姑姨嫂婶婆公太爹妈舅奶";
    const MARKED: &str = "胡麻瘸胖瘦秃聋驼矮癞瞎拐跛哑";
    let aged = matches!(tail, [age, word] if AGES.contains(*age) && KIN.contains(*word));
    let aged = aged || matches!(tail, [mark, '子'] if MARKED.contains(*mark));
    aged || title(tail).is_some() || rank(tail) || tail.len() > 1 && CHINESE.roles.has(tail)
}

/// Returns the length of the surname where a form is surname and given name.
pub(super) fn full(form: &[char]) -> Option<usize> {
    let surname = CHINESE.surnames.head(form);
    let given = form.len() - surname;
    let tail = &form[surname..];
    let plain = surname > 0 && (1..=2).contains(&given) && !kin(tail) && !role(form) && !matches!(tail, ['家' | '子']);
    (plain && (1..form.len()).all(|i| title(&form[i..]).is_none() || i + 1 == form.len())).then_some(surname)
}
