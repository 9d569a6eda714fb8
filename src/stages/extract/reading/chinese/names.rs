//! Chinese names: found as the subjects of verbs of speech, then wherever they stand; joined on evidence.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::Gender;
use super::super::given::Given;
use super::super::people::Draft;
use super::super::quotations::Span;
use super::super::tables::{CHINESE, Chinese};

/// A form of a name.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    /// Folded to the characters of the tables.
    pub(super) form: Vec<char>,
    /// As the book first writes it.
    pub(super) printed: String,
    /// How often it is the subject of a verb of speech.
    pub(super) says: u32,
    pub(super) count: u32,
    pub(super) female: u32,
    pub(super) male: u32,
    /// How many other characters than the most frequent follow it, to tell a name from a piece of one.
    followers: HashMap<char, u32>,
    /// Surnames that stand before it.
    before: BTreeMap<Vec<char>, u32>,
}

/// A name in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) name: usize,
}

/// All names of a book.
pub(super) struct Names {
    pub(super) list: Vec<Name>,
    pub(super) mentions: Vec<Mention>,
    index: HashMap<char, Vec<usize>>,
    /// The person of each name.
    pub(super) people: Vec<usize>,
}

/// Whether a character ends a clause.
pub(super) const fn clause_end(c: char) -> bool {
    matches!(c, '，' | ',' | '；' | ';' | '：' | ':' | '—' | '\n' | '\r') || sentence_end(c)
}

/// Whether a character ends a sentence.
pub(super) const fn sentence_end(c: char) -> bool {
    matches!(c, '。' | '．' | '！' | '？' | '!' | '?' | '…' | '”' | '"' | '」' | '』')
}

impl Names {
    /// Finds the names of a book.
    pub(super) fn read(text: &[char], chars: &[char], spans: &[Span], given: &Given) -> Self {
        let mut says: BTreeMap<Vec<char>, u32> = BTreeMap::new();
        for (i, span) in spans.iter().enumerate() {
            let from = if i == 0 { 0 } else { spans[i - 1].outer_end };
            if let Some(subject) = before(&text[from..span.outer_start]) {
                *says.entry(subject).or_default() += 1;
            }
            let to = spans.get(i + 1).map_or(text.len(), |next| next.outer_start).min(span.outer_end + 20);
            if let Some(subject) = behind(&text[span.outer_end..to.max(span.outer_end)]) {
                *says.entry(subject).or_default() += 1;
            }
        }
        let table: &Chinese = &CHINESE;
        let mut forms: BTreeMap<Vec<char>, u32> = BTreeMap::new();
        for (form, &count) in &says {
            // `X放下笔`: a better-known subject with what it does.
            let longer = (1..form.len()).any(|length| {
                let tail = &form[length..];
                says.get(&form[..length]).is_some_and(|&other| other > count || role(&form[..length]))
                    && title(tail).is_none()
                    && tail != ['儿']
                    && (length > 1 || role(&form[..length]))
            });
            if !longer && plausible(table, form, count) {
                forms.insert(form.clone(), count);
            }
        }
        for (form, count) in familiar(text) {
            forms.entry(form).or_insert(count);
        }
        let mut names = Self::of(forms);
        names.scan(text, chars);
        let mut extended: BTreeMap<Vec<char>, u32> = BTreeMap::new();
        for mention in &names.mentions {
            let rest = &text[mention.end..text.len().min(mention.end + 3)];
            let word = CHINESE.titles_female.head(rest).max(CHINESE.titles_male.head(rest));
            if word > 0 && rest[..word] != ['家', '的'] {
                *extended.entry(text[mention.start..mention.end + word].to_vec()).or_default() += 1;
            }
        }
        // A piece that one character always follows is a piece of a longer name.
        let mut forms: BTreeMap<Vec<char>, u32> = BTreeMap::new();
        for name in &names.list {
            let mut form = name.form.clone();
            let most = name.followers.iter().max_by_key(|&(c, count)| (*count, *c));
            if let Some((&c, &count)) = most
                && !clause_end(c)
                && form.len() < 4
                && name.count > 2
                && count * 20 >= name.count * 19
            {
                form.push(c);
            }
            *forms.entry(form.clone()).or_default() += name.says;
            for (surname, &count) in &name.before {
                let plain = !table.objects.has(surname)
                    && !table.never.has(surname)
                    && !table.manner.has(surname)
                    && !table.opening.has(surname);
                let total: u32 = name.before.values().sum();
                let enough = if plain { count > 1 || name.count < 8 } else { count > 2 && count * 5 > name.count };
                if form.len() == 2 && count * 2 > total && enough {
                    let mut full = surname.clone();
                    full.extend(&form);
                    forms.entry(full).or_default();
                }
            }
        }
        for (form, count) in extended {
            if count > 3 {
                forms.entry(form).or_default();
            }
        }
        for (form, count) in called(text, &forms) {
            if count > 1 {
                forms.entry(form).or_default();
            }
        }
        forms.retain(|form, _| !given.ignores(&form.iter().collect::<String>()));
        for form in given.fresh() {
            let form: Vec<char> = form.chars().map(|c| CHINESE.fold(c)).collect();
            if !form.is_empty() && !role(&form) {
                forms.entry(form).or_default();
            }
        }
        let mut names = Self::of(forms);
        names.scan(text, chars);
        names.genders(text, spans);
        names
    }

    fn of(forms: BTreeMap<Vec<char>, u32>) -> Self {
        let mut names = Self { list: Vec::new(), mentions: Vec::new(), index: HashMap::new(), people: Vec::new() };
        for (form, says) in forms {
            names.index.entry(form[0]).or_default().push(names.list.len());
            names.list.push(Name { form, says, ..Name::default() });
        }
        for list in names.index.values_mut() {
            list.sort_by_key(|&i| (std::cmp::Reverse(names.list[i].form.len()), i));
        }
        names
    }

    /// Returns the longest name that begins here.
    pub(super) fn at(&self, text: &[char]) -> Option<usize> {
        let list = self.index.get(text.first()?)?;
        list.iter().copied().find(|&i| text.starts_with(&self.list[i].form))
    }

    fn scan(&mut self, text: &[char], chars: &[char]) {
        let mut i = 0;
        while i < text.len() {
            let Some(name) = self.at(&text[i..]) else {
                i += 1;
                continue;
            };
            let end = i + self.list[name].form.len();
            let entry = &mut self.list[name];
            if entry.count == 0 {
                entry.printed = chars[i..end].iter().collect();
            }
            entry.count += 1;
            if let Some(&c) = text.get(end) {
                *entry.followers.entry(c).or_default() += 1;
            }
            for length in [2, 1] {
                if i >= length && CHINESE.surnames.has(&text[i - length..i]) {
                    *entry.before.entry(text[i - length..i].to_vec()).or_default() += 1;
                    break;
                }
            }
            self.mentions.push(Mention { start: i, end, name });
            i = end;
        }
    }

    /// Counts the pronouns in the rest of a sentence that names one person, where the book tells she from he.
    fn genders(&mut self, text: &[char], spans: &[Span]) {
        if text.iter().filter(|&&c| c == '她').count() < 5 {
            return;
        }
        let mut quote = 0;
        for i in 0..self.mentions.len() {
            let mention = self.mentions[i];
            while quote < spans.len() && spans[quote].outer_end <= mention.start {
                quote += 1;
            }
            if spans.get(quote).is_some_and(|span| span.outer_start <= mention.start) {
                continue;
            }
            let limit = self.mentions.get(i + 1).map_or(text.len(), |next| next.start).min(mention.end + 60);
            // Only a pronoun that opens a clause is sure to mean the one just named.
            for i in mention.end + 1..limit {
                if matches!(text[i], '\n' | '“' | '"' | '「') {
                    break;
                }
                match (text[i], clause_end(text[i - 1])) {
                    ('她', true) => self.list[mention.name].female += 1,
                    ('他', true) => self.list[mention.name].male += 1,
                    _ => continue,
                }
                break;
            }
        }
    }

    /// Decides which forms are one person's.
    pub(super) fn settle(&mut self, given: &Given) -> Vec<Draft> {
        let count = self.list.len();
        let mut parents: Vec<usize> = (0..count).collect();
        let forms: HashMap<&[char], usize> =
            self.list.iter().enumerate().map(|(i, name)| (name.form.as_slice(), i)).collect();
        let mut fulls: BTreeMap<&[char], Vec<usize>> = BTreeMap::new();
        let mut firsts: HashMap<&[char], Vec<usize>> = HashMap::new();
        for (i, name) in self.list.iter().enumerate() {
            let surname = CHINESE.surnames.head(&name.form);
            let rest = name.form.len() - surname;
            if surname > 0
                && (1..=2).contains(&rest)
                && title(&name.form[surname..]).is_none()
                && name.count > 1
                && !role(&name.form)
            {
                fulls.entry(&name.form[..surname]).or_default().push(i);
                firsts.entry(&name.form[surname..]).or_default().push(i);
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
            if name.form.len() == 2
                && let Some([only]) = firsts.get(name.form.as_slice()).map(Vec::as_slice)
            {
                joins.push((*only, i));
            }
            let surname = CHINESE.surnames.head(&name.form);
            let (surname, familiar) = match name.form[..] {
                ['老', c] if CHINESE.surnames.has(&[c]) => (&name.form[1..], true),
                _ => (&name.form[..surname], false),
            };
            let called = familiar || title(&name.form[surname.len()..]).is_some();
            if !surname.is_empty() && called {
                let gender = if familiar {
                    Gender::Unknown
                } else {
                    title(&name.form[surname.len()..]).unwrap_or(Gender::Unknown)
                };
                let fit: Vec<usize> = fulls
                    .get(surname)
                    .into_iter()
                    .flatten()
                    .copied()
                    .filter(|&other| {
                        let own = self.own_gender(other);
                        other != i && (gender == Gender::Unknown || own == Gender::Unknown || own == gender)
                    })
                    .collect();
                if let [only] = fit[..] {
                    joins.push((only, i));
                }
            }
        }
        for (a, b) in joins {
            let (a, b) = (root(&mut parents, a), root(&mut parents, b));
            parents[a.max(b)] = a.min(b);
        }
        let mut roots: Vec<usize> = (0..count).map(|i| root(&mut parents, i)).collect();
        let printed: Vec<(String, u32)> =
            self.list.iter().map(|name| (name.form.iter().collect(), name.count)).collect();
        let printed: Vec<(&str, u32)> = printed.iter().map(|(form, count)| (form.as_str(), *count)).collect();
        given.part(&mut roots, &printed);
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut drafts: Vec<Draft> = Vec::new();
        let mut people = Vec::with_capacity(count);
        for (i, root) in roots.into_iter().enumerate() {
            let place = *places.entry(root).or_insert_with(|| {
                drafts.push(Draft::default());
                drafts.len() - 1
            });
            people.push(place);
            let name = &self.list[i];
            let draft = &mut drafts[place];
            draft.add(&name.printed, name.count);
            draft.female += name.female;
            draft.male += name.male;
            draft.role |= role(&name.form);
            // Surname and given name are what somebody is called by, whatever title the book prefers.
            let surname = CHINESE.surnames.head(&name.form);
            let full =
                surname > 0 && (1..=2).contains(&(name.form.len() - surname)) && title(&name.form[surname..]).is_none();
            if full
                && name.count > 2
                && !role(&name.form)
                && draft.name.as_ref().is_none_or(|other| other.chars().count() < name.form.len())
            {
                draft.name = Some(name.printed.clone());
            }
            match self.titled_gender(i) {
                Gender::Unknown => {}
                gender => draft.fixed = Some(gender),
            }
        }
        self.people = people;
        given.mark(&mut drafts);
        drafts
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

/// Returns names that show themselves where clauses begin: surname and title, or 老, 小, 阿 before a character.
fn familiar(text: &[char]) -> BTreeMap<Vec<char>, u32> {
    let mut found: BTreeMap<Vec<char>, (u32, BTreeMap<char, u32>)> = BTreeMap::new();
    for i in 1..text.len().saturating_sub(4) {
        if !clause_end(text[i - 1]) && !text[i - 1].is_whitespace() {
            continue;
        }
        let surname = CHINESE.surnames.head(&text[i..i + 2]);
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
            *count > 3 && most * 2 < *count && clean
        })
        .map(|(form, _)| (form, 1))
        .collect()
}

/// Returns the other forms that a full name may go by, with how often the book has them: surname and title, 老 and surname, the
/// given name alone.
fn called(text: &[char], forms: &BTreeMap<Vec<char>, u32>) -> BTreeMap<Vec<char>, u32> {
    let mut surnames: HashSet<&[char]> = HashSet::new();
    let mut given: HashSet<&[char]> = HashSet::new();
    for (form, &says) in forms {
        let surname = CHINESE.surnames.head(form);
        if surname > 0
            && says > 1
            && (1..=2).contains(&(form.len() - surname))
            && title(&form[surname..]).is_none()
            && !role(form)
        {
            surnames.insert(&form[..surname]);
            if form.len() - surname == 2 {
                given.insert(&form[surname..]);
            }
        }
    }
    let mut found: BTreeMap<Vec<char>, u32> = BTreeMap::new();
    for i in 0..text.len() {
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

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

/// Returns what a title says of its bearer; nothing where the stretch is no title.
pub(super) fn title(form: &[char]) -> Option<Gender> {
    if CHINESE.titles_female.has(form) {
        Some(Gender::Female)
    } else if CHINESE.titles_male.has(form) {
        Some(Gender::Male)
    } else if CHINESE.titles_either.has(form) {
        Some(Gender::Unknown)
    } else {
        None
    }
}

/// Whether a form is a noun for people and no name.
pub(super) fn role(form: &[char]) -> bool {
    [&CHINESE.roles, &CHINESE.generic_female, &CHINESE.generic_male, &CHINESE.generic_either, &CHINESE.plural]
        .iter()
        .any(|words| words.has(form))
}

/// Cuts what leads up to a subject off the front.
pub(super) fn open(mut clause: &[char]) -> &[char] {
    loop {
        let blank = clause.iter().take_while(|c| c.is_whitespace()).count();
        let cut = blank + CHINESE.opening.head(&clause[blank..]);
        if cut == 0 {
            return clause;
        }
        clause = &clause[cut..];
    }
}

/// Lays a subject bare: openings off the front; verb, object and manner off the end.
pub(super) fn bare(clause: &[char]) -> Option<Vec<char>> {
    let particle = clause.iter().rev().take_while(|c| matches!(c, '着' | '了' | '过')).count();
    let clause = &clause[..clause.len() - particle];
    let verb = CHINESE.speech.tail(clause);
    if verb == 0 {
        return None;
    }
    let mut rest = open(&clause[..clause.len() - verb]);
    if rest.len() > 1 && CHINESE.objects.head(rest) > 0 && !rest.starts_with(&['和', '尚']) {
        return None;
    }
    // `X向Y`, `X又问Y`: the subject ends before the word that brings in the other.
    for at in 1..rest.len() {
        let length = CHINESE.objects.head(&rest[at..]);
        let monk = rest[at] == '和' && rest.get(at + 1) == Some(&'尚');
        if length > 0 && !monk && at + length < rest.len() {
            rest = &rest[..at];
            break;
        }
    }
    loop {
        let verb = CHINESE.speech.tail(rest);
        // A lone 道 may end a title, as in 学道, and a lone 云 a name.
        let verb = if rest.len() > 1 && !rest.ends_with(&['道']) && !rest.ends_with(&['云']) { verb } else { 0 };
        let cut = CHINESE.manner.tail(rest).max(verb);
        if cut == 0 || cut > rest.len() {
            break;
        }
        rest = &rest[..rest.len() - cut];
    }
    (1..=5).contains(&rest.len()).then(|| rest.to_vec())
}

fn before(narration: &[char]) -> Option<Vec<char>> {
    let mut end = narration.len();
    while end > 0 && (clause_end(narration[end - 1]) || narration[end - 1].is_whitespace()) {
        if sentence_end(narration[end - 1]) {
            return None;
        }
        end -= 1;
    }
    let start = (0..end).rev().find(|&i| clause_end(narration[i])).map_or(0, |i| i + 1);
    bare(&narration[start..end])
}

fn behind(narration: &[char]) -> Option<Vec<char>> {
    let end = narration.iter().position(|&c| clause_end(c))?;
    bare(&narration[..end])
}

/// Whether a subject of speech may be a name.
fn plausible(table: &Chinese, form: &[char], count: u32) -> bool {
    let pronoun = table.she.has(form) || table.he.has(form) || table.narrator.has(form) || table.plural.has(form);
    if pronoun || form.iter().any(|c| !c.is_alphabetic() || c.is_ascii()) {
        return false;
    }
    if table.roles.has(form) {
        return count > 1;
    }
    if role(form) {
        return false;
    }
    let surname = table.surnames.head(form);
    let named = surname > 0 && form.len() > surname && form.len() <= surname + 3;
    let ending = (1..form.len()).find(|&i| title(&form[i..]).is_some()).unwrap_or(form.len());
    let numbered = ending < form.len();
    let stem = &form[..ending];
    let known: HashSet<char> =
        stem.iter().copied().filter(|&c| table.never.has(&[c]) && !(numbered && "一二三".contains(c))).collect();
    let clean = known.is_empty() || known.len() == 1 && (named || form.ends_with(&['的'])) && count > 1;
    let titled = (1..form.len()).any(|i| title(&form[i..]).is_some());
    form.len() > 1 && clean && (count > 1 || named && form.len() <= surname + 2 || titled)
}
