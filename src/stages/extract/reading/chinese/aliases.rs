//! Chinese names: which of them are one person's, and what they say of gender.
//!
//! Joins on evidence only: a name and a piece of it, a title that first stands where its bearer was just named, a name given to another.
//! A surname that two share is none.

use std::collections::{BTreeMap, HashMap};

use super::super::Gender;
use super::super::given::Given;
use super::super::people::Draft;
use super::super::tables::CHINESE;
use super::names::Names;
use super::namings::Naming;
use super::words::{rank, role, title};

/// A title stands for somebody of that surname who was named no further back than this.
const NEAR: usize = 1200;

/// What is heard less than once for so many mentions of somebody says nothing of whether that is a man or a woman.
const RARE: u32 = 50;

/// Titles that are put behind a name and leave the person the same; 嫂 or 妈 make another of it.
const SAME: [&str; 20] = [
    "先生", "老爷", "公子", "少爷", "爷", "二爷", "大爷", "哥", "哥哥", "哥儿", "兄", "兄弟", "弟", "姑娘", "小姐",
    "姐姐", "妹妹", "相公", "大人", "公",
];

impl Names {
    /// Decides which forms are one person's.
    pub(super) fn settle(&mut self, given: &Given) -> Vec<Draft> {
        let count = self.list.len();
        let mut parents: Vec<usize> = (0..count).collect();
        for (a, b) in self.joins() {
            let (a, b) = (root(&mut parents, a), root(&mut parents, b));
            parents[a.max(b)] = a.min(b);
        }
        self.told(&mut parents);
        let mut roots: Vec<usize> = (0..count).map(|i| root(&mut parents, i)).collect();
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
        for (i, &root) in roots.iter().enumerate() {
            let place = *places.entry(root).or_insert_with(|| {
                drafts.push(Draft::default());
                drafts.len() - 1
            });
            people.push(place);
            let name = &self.list[i];
            let draft = &mut drafts[place];
            let told = self.namings.iter().flat_map(|naming| &naming.forms).find(|form| form.form == name.form);
            // A name may stand in its statement alone, and there in two pieces.
            let printed = told.filter(|_| name.count == 0).map_or(&name.printed, |form| &form.printed);
            if !printed.is_empty() {
                draft.add(printed, name.count.max(u32::from(told.is_some())));
            }
            let borne = self.namings.iter().any(|naming| naming.bearer.as_deref() == Some(name.form.as_slice()));
            let own = (borne || told.is_some_and(|form| form.own)) && name.count * 10 >= heard[&root];
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
    fn told(&self, parents: &mut [usize]) {
        // By name: those who are given it.
        let mut bearers: BTreeMap<&[char], Vec<usize>> = BTreeMap::new();
        for naming in &self.namings {
            let Some(first) = self.index_of(naming.first()) else { continue };
            naming.forms.iter().for_each(|form| bearers.entry(&form.form).or_default().push(first));
        }
        for naming in &self.namings {
            let Some(first) = self.index_of(naming.first()) else { continue };
            for form in &naming.forms {
                let Some(other) = self.index_of(&form.form) else { continue };
                let (a, b) = (root(parents, first), root(parents, other));
                let shared = bearers[form.form.as_slice()].iter().any(|&bearer| root(parents, bearer) != a);
                if a != b && !shared && self.agree(parents, (a, b), naming) {
                    parents[a.max(b)] = a.min(b);
                }
            }
        }
    }

    /// Whether two people may be one by their full names: the statement has them, or what stands behind their surnames.
    fn agree(&self, parents: &mut [usize], (a, b): (usize, usize), naming: &Naming) -> bool {
        let said =
            |name: &[char]| naming.forms.iter().any(|form| form.form == name) || naming.bearer.as_deref() == Some(name);
        let given = |tail: &[char]| naming.forms.iter().any(|form| form.form.ends_with(tail));
        let mut others: Vec<&[char]> = Vec::new();
        for (i, name) in self.list.iter().enumerate().filter(|(_, name)| name.count > 0 && !said(&name.form)) {
            let own = root(parents, i);
            if let Some(surname) = full(&name.form).filter(|_| own == a || own == b)
                && !given(&name.form[surname..])
            {
                others.push(&name.form);
            }
        }
        others.is_empty()
    }

    fn joins(&self) -> Vec<(usize, usize)> {
        let forms: HashMap<&[char], usize> =
            self.list.iter().enumerate().map(|(i, name)| (name.form.as_slice(), i)).collect();
        // A name of another house, borne by somebody who goes by a second one, says nothing of titles.
        let strange = |form: &[char]| {
            self.namings.iter().any(|naming| {
                let other =
                    naming.bearer.as_deref().is_some_and(|bearer| full(bearer).is_some() && bearer[0] != form[0]);
                other && naming.forms.iter().any(|told| told.own && told.form == form)
            })
        };
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
                && !strange(&name.form)
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
            if let Some(other) = self.titled(i, &fulls) {
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
    fn titled(&self, at: usize, fulls: &HashMap<&[char], Vec<usize>>) -> Option<usize> {
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
        let mut votes: BTreeMap<usize, u32> = BTreeMap::new();
        for mention in self.mentions.iter().filter(|mention| mention.name == at).take(12) {
            let window = self.between(mention.start.saturating_sub(NEAR), mention.start);
            let bearer = window.iter().rev().find_map(|mention| {
                let form = &self.list[mention.name].form;
                others.iter().copied().find(|&other| {
                    let full = &self.list[other].form;
                    other != at && (mention.name == other || form[..] == full[surname.len()..])
                })
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
        (fits && most * 5 >= name.count.min(12) * 3).then_some(other)
    }

    /// Whether a title is heard often enough beside a full name to say of its bearer what that leaves open.
    fn often(&self, title: usize, full: usize, surname: &[char]) -> bool {
        let full = &self.list[full].form;
        let names = self.list.iter().filter(|name| name.form == *full || name.form[..] == full[surname.len()..]);
        let known: u32 = names.map(|name| name.count).sum();
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

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}
