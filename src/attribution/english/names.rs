//! English names: where they occur, which are people, and which belong to the same person.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::bylines::authors;
use super::clauses::{SentencePosition, sentence_position};
use super::merging::Merger;
use super::name_starts::NameStarts;
use super::narrator::{is_told_own_name, states_own_name};
use crate::attribution::Gender;
use crate::attribution::known_characters::{KnownCharacters, KnownPhrases};
use crate::attribution::people::CharacterDraft;
use crate::attribution::tables::{
    BEAST, DEED, DETERMINER, FEMALE, GIVEN_FEMALE, GIVEN_MALE, HE, KIN, MALE, PARTICLE, PLACE, POSSESSIVE, ROLE, SHE,
    SPEECH, STOP, TITLE, TITLE_GIVEN, TITLE_LOOSE,
};

use super::tokens::{NONE, Token, Tokens};

/// A name form, such as `Mr. Hale` or `Margaret`.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    /// The form as first printed in the book.
    pub(super) form: String,
    /// Word index of the title.
    pub(super) title: Option<u32>,
    /// Word indices of the other words.
    pub(super) words: Vec<u32>,
    pub(super) count: u32,
    /// Its first mention, as an index into [`Names::mentions`].
    pub(super) first: usize,
    /// Number of mentions within a sentence, where capitalisation is informative.
    pub(super) inner: u32,
    /// Number of mentions in narration.
    pub(super) narrated: u32,
    /// Number of mentions next to a speech verb.
    pub(super) speech: u32,
    /// Number of mentions as a vocative.
    pub(super) vocative: u32,
    /// Number of mentions followed by a verb that takes only people as subjects.
    pub(super) deeds: u32,
    /// Number of mentions in positions typical of places: after `in`, `at`, `from` and the like.
    pub(super) local: u32,
    pub(super) female: u32,
    pub(super) male: u32,
}

/// An occurrence of a name in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    /// Index of the first token.
    pub(super) first: usize,
    /// Index after the last token.
    pub(super) end: usize,
    /// Index into [`Names::list`].
    pub(super) name: usize,
    pub(super) possessive: bool,
    /// Whether the name is a vocative.
    pub(super) vocative: bool,
    /// Grammatical position in the sentence.
    pub(super) place: SentencePosition,
    /// The character meant, if the name is a character's.
    pub(super) person: Option<usize>,
}

/// Minimum weight of a gendered given name, in pronouns.
const GIVEN: u32 = 6;

/// All names of a book.
pub(super) struct Names {
    pub(super) list: Vec<Name>,
    pub(super) mentions: Vec<Mention>,
    /// The tokens at which mentions begin.
    name_starts: NameStarts,
    /// The character of each name, if it has one.
    pub(super) people: Vec<Option<usize>>,
}

impl Names {
    /// Finds the names of a book and counts the evidence for each.
    pub(super) fn read(book: &Tokens, chars: &[char], given: &KnownCharacters) -> Self {
        let mut names =
            Self { list: Vec::new(), mentions: Vec::new(), name_starts: NameStarts::default(), people: Vec::new() };
        names.find_mentions(book, chars, &KnownPhrases::new(given));
        names.count_uses(book);
        names.count_genders(book);
        names
    }

    /// Returns the mention that begins at a token.
    pub(super) fn mention(&self, at: usize) -> Option<Mention> {
        let (mention, begins) = self.name_starts.rank(at);
        begins.then(|| self.mentions[mention])
    }

    /// Returns the mentions that begin between two tokens.
    pub(super) fn between(&self, from: usize, to: usize) -> &[Mention] {
        &self.mentions[self.name_starts.rank(from).0..self.name_starts.rank(to).0]
    }

    /// Returns the character whose name begins at a token.
    pub(super) fn person(&self, at: usize) -> Option<usize> {
        self.mention(at).and_then(|mention| self.people[mention.name])
    }

    /// Whether a name is only a role noun: `the Captain`, in a book that capitalises it.
    pub(super) fn is_role(&self, book: &Tokens, name: usize) -> bool {
        let name = &self.list[name];
        name.title.is_none() && name.words.len() == 1 && book.words[name.words[0] as usize].class & (ROLE | TITLE) != 0
    }

    fn find_mentions(&mut self, book: &Tokens, chars: &[char], phrases: &KnownPhrases) {
        let mut index: HashMap<(Option<u32>, Vec<u32>), usize> = HashMap::new();
        let authors = authors(book, chars);
        let mut i = 0;
        while i < book.list.len() {
            let Some((title, words, first, end)) = known_name_at(book, phrases, i).or_else(|| name_at(book, i)) else {
                i += 1;
                continue;
            };
            if authors.contains(&words) {
                i = end;
                continue;
            }
            let name = *index.entry((title, words.clone())).or_insert_with(|| {
                let form = printed_form(chars, book, first, end);
                self.list.push(Name { form, title, words, first: self.mentions.len(), ..Name::default() });
                self.list.len() - 1
            });
            let possessive = book.list[end - 1].possessive();
            let vocative = !possessive && is_vocative(book, first, end);
            let last = self.mentions.last().map(|last| (last.end, last.place));
            let place = sentence_position(book, first, book.opening(first), last);
            self.mentions.push(Mention { first, end, name, possessive, vocative, place, person: None });
            i = end;
        }
        self.name_starts = NameStarts::new(self.mentions.iter().map(|mention| mention.first));
    }

    fn count_uses(&mut self, book: &Tokens) {
        for mention in &self.mentions {
            let name = &mut self.list[mention.name];
            name.count += 1;
            name.inner += u32::from(!book.list[mention.first].initial());
            if mention.vocative {
                name.vocative += 1;
            }
            // A name that someone states as their own is a person's.
            name.deeds += if states_own_name(book, mention) || name.words.len() > 1 && is_told_own_name(book, mention) {
                2
            } else {
                0
            };
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
            let mut head = mention.first;
            head -= usize::from(head > 0 && book.class(head - 1) & DETERMINER != 0);
            let before = head.checked_sub(1).map_or(0, |at| book.class(at));
            name.speech += u32::from((after | before) & SPEECH != 0);
            name.deeds += u32::from(after & DEED != 0);
        }
    }

    /// Counts the pronouns that follow a name in its sentence if no other name does, and adds the evidence of given
    /// names.
    fn count_genders(&mut self, book: &Tokens) {
        for name in &mut self.list {
            let given = name.words.len() > 1
                || name.title.is_none_or(|title| book.words[title as usize].class & TITLE_GIVEN != 0);
            let class = name.words.first().map_or(0, |&word| book.words[word as usize].class);
            // The pronouns near a name often refer to someone else, so only many of them outweigh a given name.
            let weight = GIVEN.max(name.count / 2);
            if given && class & GIVEN_FEMALE != 0 {
                name.female += weight;
            } else if given && class & GIVEN_MALE != 0 {
                name.male += weight;
            }
        }
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
                if matches!(token.mark(), '.' | '!' | '?') {
                    age += 1;
                    if age > 1 {
                        alone = None;
                        several = false;
                        age = 0;
                    }
                }
                if let Some(mention) = self.mention(i) {
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

    /// Decides which names are characters and which belong to the same one. `links` are pairs of names that the
    /// dialogue shows to belong together.
    pub(super) fn characters(
        &mut self,
        book: &Tokens,
        links: &[(usize, usize)],
        given: &KnownCharacters,
    ) -> Vec<CharacterDraft> {
        let person =
            |name: &Name| !given.ignores(&name.form) && (is_person(book, name) || given.owner(&name.form).is_some());
        let person: Vec<bool> = self.list.iter().map(person).collect();
        let (mut groups, shared) = Merger::merge(book, &self.list, &self.mentions, &person);
        for &(a, b) in links {
            groups.join(a, b);
        }
        let mut roots: Vec<usize> = (0..self.list.len()).map(|i| groups.root(i)).collect();
        let forms: Vec<(&str, u32)> = self.list.iter().map(|name| (name.form.as_str(), name.count)).collect();
        given.part(&mut roots, &forms);
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut drafts: Vec<CharacterDraft> = Vec::new();
        self.people = vec![None; self.list.len()];
        let anyone: Vec<bool> = {
            let mut any = vec![false; self.list.len()];
            for (i, &is) in person.iter().enumerate() {
                any[roots[i]] |= is;
            }
            any
        };
        for (i, &root) in roots.iter().enumerate() {
            if !anyone[root] {
                continue;
            }
            let place = *places.entry(root).or_insert_with(|| {
                drafts.push(CharacterDraft::default());
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
        let shared: BTreeMap<usize, Vec<usize>> = shared
            .into_iter()
            .map(|(name, sets)| {
                let people = sets.into_iter().filter_map(|root| places.get(&roots[root]).copied());
                (name, people.collect())
            })
            .collect();
        self.resolve_mentions(&shared);
        given.mark(&mut drafts);
        drafts
    }

    /// Resolves each mention to a character. A vocative that several characters share means the one mentioned last.
    fn resolve_mentions(&mut self, shared: &BTreeMap<usize, Vec<usize>>) {
        let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
        let bearers: BTreeSet<usize> = shared.values().flatten().copied().collect();
        for (i, mention) in self.mentions.iter_mut().enumerate() {
            mention.person = self.people[mention.name];
            if let Some(people) = shared.get(&mention.name) {
                let last = people.iter().filter_map(|person| Some((*seen.get(person)?, *person))).max();
                if let Some((_, person)) = last.filter(|(at, _)| mention.vocative && i - at < 80) {
                    mention.person = Some(person);
                }
            } else if let Some(person) = mention.person.filter(|person| bearers.contains(person)) {
                seen.insert(person, i);
            }
        }
    }
}

/// Whether the book shows that a name is a person's.
fn is_person(book: &Tokens, name: &Name) -> bool {
    if name.words.is_empty() {
        return false;
    }
    if name.title.is_some() {
        return true;
    }
    let place = name.local * 4 > name.narrated && name.speech * 4 < name.local;
    if place {
        return false;
    }
    if let [word] = name.words[..] {
        let word = &book.words[word as usize];
        let doubled = word.text.split_once('-').is_some_and(|(a, b)| b.starts_with(a));
        // `Papa` may be a different person for each child, and an exclamation occurs only at the start of a sentence.
        if doubled || word.class & KIN != 0 && name.speech + name.deeds < 3 || name.narrated == 0 && name.inner == 0 {
            return false;
        }
        return name.speech > 0 || name.vocative > 1 && name.inner > 0 || name.deeds > 1;
    }
    name.speech > 0 || name.vocative > 1 || name.deeds > 0
}

/// Returns the known-character name that begins at a token, in the format of [`run`], unless `run` finds one as long.
fn known_name_at(book: &Tokens, phrases: &KnownPhrases, at: usize) -> Option<(Option<u32>, Vec<u32>, usize, usize)> {
    let token = book.list[at];
    if token.word() == NONE {
        return None;
    }
    let word = |place: usize| {
        let next = book.list.get(at + place).filter(|next| next.word() != NONE && next.quote == token.quote)?;
        (place == 0 || !book.list[at + place - 1].possessive()).then(|| (book.text(at + place), next.capital()))
    };
    let end = at + phrases.length(book.text(at), word);
    if end == at || name_at(book, at).is_some_and(|(_, _, first, stop)| first == at && stop >= end) {
        return None;
    }
    Some((None, book.list[at..end].iter().map(Token::word).collect(), at, end))
}

/// Returns title, words, first token and end of the name that begins at a token.
pub(super) fn name_at(book: &Tokens, at: usize) -> Option<(Option<u32>, Vec<u32>, usize, usize)> {
    let token = book.list[at];
    if token.word() == NONE || !token.capital() {
        return None;
    }
    let mut i = at;
    let mut title = None;
    while book.class(i) & TITLE != 0 && !book.list[i].possessive() {
        let next = book.list.get(i + 1)?;
        let near = next.word() != NONE
            && next.capital()
            && !next.initial()
            && next.quote == token.quote
            && next.start() - book.end(i) < 4;
        if !near || book.class(i + 1) & STOP != 0 && book.class(i + 1) & TITLE == 0 && book.class(i) & TITLE_GIVEN != 0
        {
            break;
        }
        if book.class(i) & TITLE_LOOSE == 0 {
            title = Some(book.list[i].word());
        }
        i += 1;
    }
    let first = if title.is_some() { at } else { i };
    let mut words = Vec::new();
    let start = i;
    while let Some(next) = book.list.get(i) {
        if next.word() == NONE || next.quote != token.quote {
            break;
        }
        if i > start {
            let before = book.list[i - 1];
            let gap = next.start() - book.end(i - 1);
            if before.possessive() || next.initial() || gap > 3 {
                break;
            }
            let particle = book.class(i) & PARTICLE != 0
                && book
                    .list
                    .get(i + 1)
                    .is_some_and(|after| after.word() != NONE && after.capital() && book.nameable(after.word()));
            if particle {
                words.push(next.word());
                i += 1;
                continue;
            }
        }
        let own_title = title.is_some() && i == start;
        let word = &book.words[next.word() as usize];
        // `Will` within a sentence is a name and not a verb.
        let given = word.class & (GIVEN_FEMALE | GIVEN_MALE) != 0
            && !next.initial()
            && (i == 0 || book.class(i - 1) & POSSESSIVE == 0);
        let fits = next.capital() && (book.nameable(next.word()) || given || own_title && word.class & STOP == 0);
        let initial = next.capital()
            && book.end(i) - next.start() == 1
            && word.text != "i"
            && word.text != "a"
            && word.text != "o";
        if !fits && !initial
            || word.class & PLACE != 0
            || i > start && word.class & TITLE != 0 && word.class & TITLE_LOOSE == 0 && words.len() > 2
        {
            break;
        }
        words.push(next.word());
        i += 1;
    }
    if i > start
        && book.list.get(i).is_some_and(|next| next.capital() && next.start() - book.end(i - 1) < 3)
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
        let determined = start > 0 && book.class(start - 1) & (DETERMINER | POSSESSIVE) != 0;
        // `the doctor` is a role. In a book that always writes `the Doctor` it is a name, like that of an animal with a
        // capital.
        let word = &book.words[book.list[start].word() as usize];
        let called = class & (ROLE | TITLE) != 0
            && class & KIN == 0
            && determined
            && book.text(start - 1) == "the"
            && word.inner > 2
            && word.inner > word.lower * 2;
        let role = class & (ROLE | KIN) != 0 && class & BEAST == 0 && determined;
        if (class & TITLE != 0 || role) && !called {
            return None;
        }
    }
    Some((title, words, first, i))
}

/// Returns a name as printed, in one line. All-capital words become capitalised ones.
fn printed_form(chars: &[char], book: &Tokens, first: usize, end: usize) -> String {
    let mut form = String::new();
    for i in first..end {
        let token = book.list[i];
        if i > first {
            form.push(' ');
        }
        let word = &chars[token.start()..book.end(i)];
        let shout = (word.len() > 2 || book.class(i) & TITLE != 0) && word.iter().all(|c| !c.is_lowercase());
        for (k, c) in word.iter().enumerate() {
            if shout && k > 0 && word[k - 1].is_alphabetic() {
                form.extend(c.to_lowercase());
            } else {
                form.push(*c);
            }
        }
        if chars.get(book.end(i)) == Some(&'.') && i + 1 < end {
            form.push('.');
        }
    }
    form
}

/// Whether the words at these tokens are a vocative: set off by punctuation within speech.
pub(super) fn is_vocative(book: &Tokens, first: usize, end: usize) -> bool {
    let quote = book.list[first].quote;
    if quote == NONE {
        return false;
    }
    let before = first.checked_sub(1).map(|at| (book.list[at], book.text(at)));
    let opens = match before {
        None => true,
        Some((token, _)) if token.quote != quote => true,
        Some((token, _)) if token.word() == NONE => {
            matches!(token.mark(), ',' | '.' | '!' | '?' | ';' | '—' | '-' | ':')
        }
        Some((_, word)) => matches!(
            word,
            "dear" | "dearest" | "my" | "oh" | "o" | "ah" | "well" | "no" | "yes" | "sweet" | "poor" | "come" | "why"
        ),
    };
    let after = book.list.get(end);
    let closes = after
        .is_none_or(|token| token.quote != quote || matches!(token.mark(), ',' | '.' | '!' | '?' | ';' | '—' | '-'));
    let whole = before.is_none_or(|(token, _)| token.quote != quote)
        && after
            .is_none_or(|token| token.quote != quote || book.list.get(end + 1).is_none_or(|next| next.quote != quote));
    // A name as a complete utterance is the answer to a question, not a vocative, unless it is an exclamation.
    opens && closes && (!whole || after.is_some_and(|token| token.mark() == '!'))
}

pub(super) fn title_gender(book: &Tokens, title: u32) -> Gender {
    let class = book.words[title as usize].class;
    // A word in both lists gives no gender.
    match (class & FEMALE != 0, class & MALE != 0) {
        (true, false) => Gender::Female,
        (false, true) => Gender::Male,
        _ => Gender::Unknown,
    }
}
