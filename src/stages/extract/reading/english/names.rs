//! English names: where they stand, which of them are people, and which are the same person.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::Gender;
use super::super::given::{Given, Phrases};
use super::super::people::Draft;
use super::super::tables::{
    BEAST, DEED, DETERMINER, FEMALE, HE, KIN, MALE, PARTICLE, PLACE, POSSESSIVE, ROLE, SHE, SPEECH, STOP, TITLE,
    TITLE_GIVEN, TITLE_LOOSE,
};
use super::tokens::{NONE, Tokens};

/// A form of a name, such as `Mr. Hale` or `Margaret`.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    /// As the book first writes it.
    pub(super) form: String,
    /// The title's word.
    pub(super) title: Option<u32>,
    /// The other words.
    pub(super) words: Vec<u32>,
    pub(super) count: u32,
    /// How often narration has it.
    pub(super) narrated: u32,
    /// How often it stands beside a verb of speech.
    pub(super) speech: u32,
    /// How often somebody is called by it.
    pub(super) vocative: u32,
    /// How often a verb that only people do follows it.
    pub(super) deeds: u32,
    /// How often it stands where places stand: after `in`, `at`, `to`, `from`.
    pub(super) local: u32,
    pub(super) female: u32,
    pub(super) male: u32,
}

/// A name in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    /// Its first token.
    pub(super) first: usize,
    /// After its last token.
    pub(super) end: usize,
    /// Index into [`Names::list`].
    pub(super) name: usize,
    pub(super) possessive: bool,
    /// Whether somebody is called by it.
    pub(super) vocative: bool,
}

/// All names of a book.
pub(super) struct Names {
    pub(super) list: Vec<Name>,
    pub(super) mentions: Vec<Mention>,
    /// The mention that begins at a token, or [`NONE`].
    pub(super) at: Vec<u32>,
    /// The person of each name, where it is one.
    pub(super) people: Vec<Option<usize>>,
}

impl Names {
    /// Finds the names of a book and tells the people among them.
    pub(super) fn read(book: &Tokens, chars: &[char], given: &Given) -> Self {
        let mut names =
            Self { list: Vec::new(), mentions: Vec::new(), at: vec![NONE; book.list.len()], people: Vec::new() };
        names.find(book, chars, &Phrases::new(given));
        names.count(book);
        names.genders(book);
        names
    }

    fn find(&mut self, book: &Tokens, chars: &[char], phrases: &Phrases) {
        let mut index: HashMap<(Option<u32>, Vec<u32>), usize> = HashMap::new();
        let mut i = 0;
        while i < book.list.len() {
            let Some((title, words, first, end)) = phrase(book, phrases, i).or_else(|| run(book, i)) else {
                i += 1;
                continue;
            };
            let name = *index.entry((title, words.clone())).or_insert_with(|| {
                let form = form(chars, book, first, end);
                self.list.push(Name { form, title, words, ..Name::default() });
                self.list.len() - 1
            });
            let possessive = book.list[end - 1].possessive;
            let vocative = !possessive && vocative(book, first, end);
            self.at[first] = super::super::number(self.mentions.len());
            self.mentions.push(Mention { first, end, name, possessive, vocative });
            i = end;
        }
    }

    fn count(&mut self, book: &Tokens) {
        for mention in &self.mentions {
            let name = &mut self.list[mention.name];
            name.count += 1;
            if mention.vocative {
                name.vocative += 1;
            }
            if book.list[mention.first].quote != NONE {
                continue;
            }
            name.narrated += 1;
            let place = mention.first.checked_sub(1).map_or("", |at| book.text(at));
            name.local += u32::from(matches!(place, "in" | "at" | "from" | "near" | "into" | "through" | "towards"));
            if mention.possessive {
                continue;
            }
            let after = book.class(mention.end);
            let before = mention.first.checked_sub(1).map_or(0, |at| book.class(at));
            name.speech += u32::from((after | before) & SPEECH != 0);
            name.deeds += u32::from(after & DEED != 0);
        }
    }

    /// Counts the pronouns that follow a name alone in its sentence.
    fn genders(&mut self, book: &Tokens) {
        for pair in book.starts.windows(2) {
            let mut alone: Option<usize> = None;
            let mut several = false;
            let mut age = 0;
            let mut i = pair[0];
            while i < pair[1] {
                let token = book.list[i];
                if token.quote != NONE {
                    i += 1;
                    continue;
                }
                if matches!(token.mark, '.' | '!' | '?') {
                    age += 1;
                    if age > 1 {
                        alone = None;
                        several = false;
                        age = 0;
                    }
                }
                if self.at[i] != NONE {
                    let mention = self.mentions[self.at[i] as usize];
                    if alone.is_some_and(|name| name != mention.name) {
                        several = true;
                    }
                    alone = Some(mention.name);
                    age = 0;
                    i = mention.end;
                    continue;
                }
                if let Some(name) = alone.filter(|_| !several) {
                    let class = book.class(i);
                    self.list[name].female += u32::from(class & SHE != 0);
                    self.list[name].male += u32::from(class & HE != 0);
                }
                i += 1;
            }
        }
    }

    /// Decides which names are people and which are the same; `links` are pairs that the talk itself has shown to be one.
    pub(super) fn settle(&mut self, book: &Tokens, links: &[(usize, usize)], given: &Given) -> Vec<Draft> {
        let person = |name: &Name| !given.ignores(&name.form) && (is_person(name) || given.owner(&name.form).is_some());
        let person: Vec<bool> = self.list.iter().map(person).collect();
        let signs = self.list.iter().map(|name| {
            let Some(title) = name.title else { return 0 };
            let sex = match title_gender(book, title) {
                Gender::Female => 1,
                Gender::Male => 2,
                Gender::Unknown => 0,
            };
            match book.words[title as usize].text.as_str() {
                "mrs" => sex | 4,
                "miss" => sex | 8,
                _ => sex,
            }
        });
        let counts = self.list.iter().map(|name| (name.female, name.male));
        let mut groups = Groups::new(signs.collect(), counts.collect());
        self.merge(book, &person, &mut groups);
        for &(a, b) in links {
            groups.join(a, b);
        }
        let mut roots: Vec<usize> = (0..self.list.len()).map(|i| groups.root(i)).collect();
        let forms: Vec<(&str, u32)> = self.list.iter().map(|name| (name.form.as_str(), name.count)).collect();
        given.part(&mut roots, &forms);
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut drafts: Vec<Draft> = Vec::new();
        self.people = vec![None; self.list.len()];
        let anyone: Vec<bool> = {
            let mut any = vec![false; self.list.len()];
            for (i, &is) in person.iter().enumerate() {
                any[roots[i]] |= is;
            }
            any
        };
        for (i, root) in roots.into_iter().enumerate() {
            if !anyone[root] {
                continue;
            }
            let place = *places.entry(root).or_insert_with(|| {
                drafts.push(Draft::default());
                drafts.len() - 1
            });
            self.people[i] = Some(place);
            let name = &self.list[i];
            let draft = &mut drafts[place];
            draft.add(&name.form, name.count);
            draft.female += name.female;
            draft.male += name.male;
            if let Some(title) = name.title {
                match title_gender(book, title) {
                    Gender::Unknown => {}
                    gender => draft.fixed = Some(gender),
                }
            }
        }
        given.mark(&mut drafts);
        drafts
    }

    /// Joins the forms of one name: never by a surname alone where several people bear it.
    fn merge(&self, book: &Tokens, person: &[bool], groups: &mut Groups) {
        let mut fulls: Vec<usize> = (0..self.list.len()).filter(|&i| self.list[i].words.len() > 1).collect();
        fulls.sort_by_key(|&i| (std::cmp::Reverse(self.list[i].count), i));
        let mut by_words: HashMap<&[u32], Vec<usize>> = HashMap::new();
        let mut by_first: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut by_last: HashMap<u32, Vec<usize>> = HashMap::new();
        let letter = |word: u32| book.words[word as usize].text.chars().count() == 1;
        for &i in &fulls {
            let words = &self.list[i].words;
            if letter(words[0]) {
                continue;
            }
            let same = by_words.entry(words).or_default();
            let twin = same.iter().copied().find(|&other| groups.agree(i, other));
            same.push(i);
            if let Some(twin) = twin {
                groups.join(twin, i);
                continue;
            }
            by_first.entry(words[0]).or_default().push(i);
            by_last.entry(words[words.len() - 1]).or_default().push(i);
        }
        // `H. Hale` is the one Hale whose first name begins so.
        for &i in fulls.iter().filter(|&&i| letter(self.list[i].words[0])) {
            let words = &self.list[i].words;
            let initial = &book.words[words[0] as usize].text;
            let bearers = by_last.get(&words[words.len() - 1]).map_or(&[][..], Vec::as_slice);
            let fit: Vec<usize> = bearers
                .iter()
                .copied()
                .filter(|&other| book.words[self.list[other].words[0] as usize].text.starts_with(initial.as_str()))
                .collect();
            if let [only] = fit[..] {
                groups.join(only, i);
            }
        }
        let companions = self.companions(book);
        let mut titled: HashMap<u32, u32> = HashMap::new();
        for name in &self.list {
            if let ([word], Some(title)) = (&name.words[..], name.title)
                && book.words[title as usize].class & TITLE_GIVEN == 0
            {
                *titled.entry(*word).or_default() += name.count;
            }
        }
        // A first name alone, or behind a title that first names take.
        let mut given: Vec<bool> = vec![false; self.list.len()];
        for (i, name) in self.list.iter().enumerate() {
            let [word] = name.words[..] else { continue };
            if name.title.is_some_and(|title| book.words[title as usize].class & TITLE_GIVEN == 0) {
                continue;
            }
            let Some(bearers) = by_first.get(&word) else { continue };
            let fit: Vec<usize> = bearers.iter().copied().filter(|&other| groups.agree(i, other)).collect();
            // `Hale` is rather Colonel Hale than the first name of Hale Morton, where the colonel is the better known.
            let surname = name.title.is_none()
                && fit.iter().all(|&other| titled.get(&word).is_some_and(|&count| count > self.list[other].count));
            if surname {
                continue;
            }
            let best = fit.first().copied();
            let clear = match fit[..] {
                [] => false,
                [_] => true,
                [a, b, ..] => self.list[a].count >= 3 * self.list[b].count,
            };
            if let Some(best) = best.filter(|_| clear) {
                groups.join(best, i);
                given[i] = true;
            }
        }
        // The same single word with titles that may be one person's: `Captain Hale`, `Mr. Hale`, `Hale`.
        let mut singles: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, name) in self.list.iter().enumerate() {
            if let [word] = name.words[..]
                && !given[i]
                && (person[i] || name.title.is_none())
            {
                singles.entry(word).or_default().push(i);
            }
        }
        for (word, forms) in &singles {
            let bearers: &[usize] = by_last.get(word).map_or(&[], Vec::as_slice);
            let titled: Vec<usize> = forms.iter().copied().filter(|&i| self.list[i].title.is_some()).collect();
            for &i in &titled {
                let fit: Vec<usize> = bearers.iter().copied().filter(|&other| groups.agree(i, other)).collect();
                // A wife and a daughter share the name; only the talk can tell which of them this is.
                let wife = self.list[i].title.is_some_and(|title| book.words[title as usize].text == "mrs");
                if let [only] = fit[..]
                    && (!wife || self.list[only].title == self.list[i].title)
                    && !companions.contains(&(i.min(only), i.max(only)))
                {
                    groups.join(only, i);
                }
            }
            let bare = forms.iter().copied().find(|&i| self.list[i].title.is_none());
            let Some(bare) = bare else { continue };
            let rank = |i: &usize| std::cmp::Reverse(self.list[*i].count);
            let mut fit: Vec<usize> = titled.iter().copied().filter(|&i| groups.agree(bare, i)).collect();
            fit.sort_by_key(rank);
            // A bare surname is a man's in most books.
            let men: Vec<usize> = fit.iter().copied().filter(|&i| groups.gender(i) != Gender::Female).collect();
            let choice = match (&men[..], &fit[..]) {
                ([only], _) | ([], [only]) => Some(*only),
                ([a, b, ..], _) if self.list[*a].count >= 4 * self.list[*b].count => Some(*a),
                ([], []) => {
                    let fit: Vec<usize> = bearers.iter().copied().filter(|&other| groups.agree(bare, other)).collect();
                    match fit[..] {
                        [only] => Some(only),
                        _ => None,
                    }
                }
                _ => None,
            };
            if let Some(choice) = choice {
                groups.join(choice, bare);
            }
        }
        self.shorten(book, person, groups);
    }

    /// Joins pet names that only the talk uses to the name that they shorten.
    fn shorten(&self, book: &Tokens, person: &[bool], groups: &mut Groups) {
        for (i, name) in self.list.iter().enumerate() {
            let [word] = name.words[..] else { continue };
            if name.title.is_some_and(|title| book.words[title as usize].class & TITLE_GIVEN == 0)
                || name.narrated * 4 > name.count
            {
                continue;
            }
            let short = &book.words[word as usize].text;
            let mut fit: Vec<usize> = Vec::new();
            for (k, other) in self.list.iter().enumerate() {
                let Some(&first) = other.words.first() else { continue };
                let surname = other.words.len() == 1
                    && other.title.is_some_and(|title| book.words[title as usize].class & TITLE_GIVEN == 0);
                if person[k]
                    && !surname
                    && first != word
                    && other.narrated * 2 > other.count
                    && other.count > name.count
                    && shortens(short, &book.words[first as usize].text)
                    && groups.agree(i, k)
                {
                    let root = groups.root(k);
                    if !fit.contains(&root) {
                        fit.push(root);
                    }
                }
            }
            if let [only] = fit[..] {
                groups.join(only, i);
            }
        }
    }

    /// Returns the pairs of forms that stand in one sentence of narration, as two people do.
    fn companions(&self, book: &Tokens) -> HashSet<(usize, usize)> {
        let mut pairs = HashSet::new();
        for window in self.mentions.windows(4) {
            let first = window[0];
            for second in &window[1..] {
                let between = &book.list[first.end..second.first];
                let near = between.len() > 1
                    && between.len() < 30
                    && book.list[first.first].quote == NONE
                    && !between.iter().any(|token| token.initial || token.quote != NONE);
                if near && first.name != second.name {
                    pairs.insert((first.name.min(second.name), first.name.max(second.name)));
                }
            }
        }
        pairs
    }
}

/// Whether the book shows a name to be somebody's.
fn is_person(name: &Name) -> bool {
    if name.words.is_empty() {
        return false;
    }
    let place = name.local * 4 > name.narrated && name.speech * 4 < name.local;
    name.title.is_some()
        || !place && (name.speech > 0 || name.vocative > 1 || name.deeds > 1 || name.words.len() > 1 && name.deeds > 0)
}

/// Returns the name that begins at a token and was given beforehand, as `run` does, unless that finds as much.
fn phrase(book: &Tokens, phrases: &Phrases, at: usize) -> Option<(Option<u32>, Vec<u32>, usize, usize)> {
    let token = book.list[at];
    if token.word == NONE {
        return None;
    }
    let word = |place: usize| {
        let next = book.list.get(at + place).filter(|next| next.word != NONE && next.quote == token.quote)?;
        (place == 0 || !book.list[at + place - 1].possessive).then(|| (book.text(at + place), next.capital))
    };
    let end = at + phrases.length(book.text(at), word);
    if end == at || run(book, at).is_some_and(|(_, _, first, stop)| first == at && stop >= end) {
        return None;
    }
    Some((None, book.list[at..end].iter().map(|token| token.word).collect(), at, end))
}

/// Returns title, words, first token and end of the name that begins at a token.
fn run(book: &Tokens, at: usize) -> Option<(Option<u32>, Vec<u32>, usize, usize)> {
    let token = book.list[at];
    if token.word == NONE || !token.capital {
        return None;
    }
    let mut i = at;
    let mut title = None;
    while book.class(i) & TITLE != 0 && !book.list[i].possessive {
        let next = book.list.get(i + 1)?;
        let near = next.word != NONE
            && next.capital
            && !next.initial
            && next.quote == token.quote
            && next.start - book.list[i].end < 4;
        if !near || book.class(i + 1) & STOP != 0 && book.class(i + 1) & TITLE == 0 && book.class(i) & TITLE_GIVEN != 0
        {
            break;
        }
        if book.class(i) & TITLE_LOOSE == 0 {
            title = Some(book.list[i].word);
        }
        i += 1;
    }
    let first = if title.is_some() { at } else { i };
    let mut words = Vec::new();
    let start = i;
    while let Some(next) = book.list.get(i) {
        if next.word == NONE || next.quote != token.quote {
            break;
        }
        if i > start {
            let before = book.list[i - 1];
            let gap = next.start - before.end;
            if before.possessive || next.initial || gap > 3 {
                break;
            }
            let particle = book.class(i) & PARTICLE != 0
                && book
                    .list
                    .get(i + 1)
                    .is_some_and(|after| after.word != NONE && after.capital && book.nameable(after.word));
            if particle {
                words.push(next.word);
                i += 1;
                continue;
            }
        }
        let own_title = title.is_some() && i == start;
        let word = &book.words[next.word as usize];
        let fits = next.capital && (book.nameable(next.word) || own_title && word.class & STOP == 0);
        let initial =
            next.capital && next.end - next.start == 1 && word.text != "i" && word.text != "a" && word.text != "o";
        if !fits && !initial
            || word.class & PLACE != 0
            || i > start && word.class & TITLE != 0 && word.class & TITLE_LOOSE == 0 && words.len() > 2
        {
            break;
        }
        words.push(next.word);
        i += 1;
    }
    if i > start
        && book.list.get(i).is_some_and(|next| next.capital && next.start - book.list[i - 1].end < 3)
        && book.class(i) & PLACE != 0
    {
        return None;
    }
    // A single letter is no name, and a title alone is a role.
    if words.is_empty() || words.iter().all(|&word| book.words[word as usize].text.chars().count() == 1) {
        return None;
    }
    if title.is_none() && words.len() == 1 {
        let class = book.class(start);
        // `the Doctor` is a role; a beast with a capital is somebody.
        let role = class & (ROLE | KIN) != 0
            && class & BEAST == 0
            && start > 0
            && book.class(start - 1) & (DETERMINER | POSSESSIVE) != 0;
        if class & TITLE != 0 || role {
            return None;
        }
    }
    Some((title, words, first, i))
}

/// Returns a name as printed, in one line; capitals throughout become a capital each.
fn form(chars: &[char], book: &Tokens, first: usize, end: usize) -> String {
    let mut form = String::new();
    for i in first..end {
        let token = book.list[i];
        if i > first {
            form.push(' ');
        }
        let word = &chars[token.start..token.end];
        let shout = (word.len() > 2 || book.class(i) & TITLE != 0) && word.iter().all(|c| !c.is_lowercase());
        for (k, c) in word.iter().enumerate() {
            if shout && k > 0 && word[k - 1].is_alphabetic() {
                form.extend(c.to_lowercase());
            } else {
                form.push(*c);
            }
        }
        if chars.get(token.end) == Some(&'.') && i + 1 < end {
            form.push('.');
        }
    }
    form
}

/// Whether somebody is called by the words at these tokens: set off by marks within speech.
fn vocative(book: &Tokens, first: usize, end: usize) -> bool {
    let quote = book.list[first].quote;
    if quote == NONE {
        return false;
    }
    let before = first.checked_sub(1).map(|at| (book.list[at], book.text(at)));
    let opens = match before {
        None => true,
        Some((token, _)) if token.quote != quote => true,
        Some((token, _)) if token.word == NONE => matches!(token.mark, ',' | '.' | '!' | '?' | ';' | '—' | '-' | ':'),
        Some((_, word)) => matches!(
            word,
            "dear" | "dearest" | "my" | "oh" | "o" | "ah" | "well" | "no" | "yes" | "sweet" | "poor" | "come" | "why"
        ),
    };
    let after = book.list.get(end);
    let closes =
        after.is_none_or(|token| token.quote != quote || matches!(token.mark, ',' | '.' | '!' | '?' | ';' | '—' | '-'));
    let whole = before.is_none_or(|(token, _)| token.quote != quote)
        && after
            .is_none_or(|token| token.quote != quote || book.list.get(end + 1).is_none_or(|next| next.quote != quote));
    // A full stop on both sides answers a question; it calls nobody, unless it is a cry.
    opens && closes && (!whole || after.is_some_and(|token| token.mark == '!'))
}

fn title_gender(book: &Tokens, title: u32) -> Gender {
    let class = book.words[title as usize].class;
    // A word may be in both lists; then it says nothing.
    match (class & FEMALE != 0, class & MALE != 0) {
        (true, false) => Gender::Female,
        (false, true) => Gender::Male,
        _ => Gender::Unknown,
    }
}

/// Whether a pet name may stand for a name: the same beginning or a clear piece of it, and shorter.
pub(super) fn shortens(short: &str, long: &str) -> bool {
    let stem = ["sie", "sy", "zie", "zy", "kie", "ky", "ie", "ey", "y", "s", ""]
        .iter()
        .find_map(|ending| short.strip_suffix(ending).filter(|stem| stem.chars().count() > 2))
        .unwrap_or(short);
    let doubled = stem.chars().rev().take(2).collect::<Vec<_>>();
    let stem = match doubled[..] {
        [a, b] if a == b && stem.chars().count() > 3 => &stem[..stem.len() - a.len_utf8()],
        _ => stem,
    };
    // `Nellie`: the piece before the doubled letter, three letters at least, anywhere in the longer name.
    stem.chars().count() > 2
        && short.chars().count() <= long.chars().count() + 1
        && (long.starts_with(stem) || stem.chars().count() > 2 && long.contains(stem))
}

/// Sets of names that are one person's.
struct Groups {
    parents: Vec<usize>,
    /// By root: what the titles of the set say, as bits: woman, man, Mrs., Miss.
    signs: Vec<u8>,
    /// By root: pronouns for a woman and for a man.
    counts: Vec<(u32, u32)>,
}

impl Groups {
    fn new(signs: Vec<u8>, counts: Vec<(u32, u32)>) -> Self {
        Self { parents: (0..signs.len()).collect(), signs, counts }
    }

    /// Returns the gender that titles or, without one, pronouns give a set.
    fn gender(&mut self, at: usize) -> Gender {
        let root = self.root(at);
        match self.signs[root] & 3 {
            1 => return Gender::Female,
            2 => return Gender::Male,
            _ => {}
        }
        let (female, male) = self.counts[root];
        Draft { female, male, ..Draft::default() }.gender()
    }

    /// Whether nothing in titles or pronouns tells two sets apart.
    fn agree(&mut self, a: usize, b: usize) -> bool {
        let (first, second) = (self.gender(a), self.gender(b));
        let (a, b) = (self.root(a), self.root(b));
        let wed = (self.signs[a] | self.signs[b]) & 0b1100 == 0b1100;
        (first == Gender::Unknown || second == Gender::Unknown || first == second) && !wed
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    /// Joins two sets, unless their titles are of two people.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (a, b) = (a.min(b), a.max(b));
        let signs = self.signs[a] | self.signs[b];
        if signs & 0b0011 != 0b0011 && signs & 0b1100 != 0b1100 {
            if a != b {
                let (female, male) = self.counts[b];
                self.counts[a].0 += female;
                self.counts[a].1 += male;
            }
            self.parents[b] = a;
            self.signs[a] = signs;
        }
    }
}
