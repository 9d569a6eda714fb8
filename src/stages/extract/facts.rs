//! What is known of a whole book before any model is asked: the reading by rule, and the book's own sentences by person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::asks::Note;
use super::lexicon::{Key, Words, list, quoted};
use super::narration::{Names, Sentence, narration, one_line, sentences};
use super::reading::{Gender, Person, Quotation, Reading};
use crate::schema::{Book, Language};
use crate::text::is_han;

/// A book with its reading, indexed for [`extract`](super::extract).
#[derive(Debug)]
pub struct BookFacts {
    pub(super) slug: String,
    pub(super) title: String,
    pub(super) language: Language,
    pub(super) reading: Reading,
    text: Arc<str>,
    /// The byte of every 256th code point.
    steps: Vec<usize>,
    names: Names,
    narration: Vec<Sentence>,
    /// How each person speaks; by index of people.
    manners: Vec<Option<String>>,
    /// What others say of each person: where it ends, and the sentence. By index of people.
    hearsay: Vec<Vec<(u32, String)>>,
    /// What a script's list of persons says of each.
    billed: BTreeMap<usize, String>,
}

const STEP: usize = 256;

/// How many sentences of a story may tell of its world.
const OPENING: usize = 160;

impl BookFacts {
    /// Indexes a book as told in a language. Takes time in proportion to its length. `text` is the book's, which may be gone
    /// from it by now.
    #[must_use]
    pub fn new(book: &Book, language: Language, text: Arc<str>, mut reading: Reading) -> Self {
        if book.script {
            open_cues(&mut reading);
        }
        for person in &mut reading.people {
            person.aliases.retain(|alias| !Words::is_group(language, alias));
        }
        let names = Names::new(&reading.people);
        let mut narration = narration(&text, language, &reading, &names);
        if book.script {
            lower_capitals(&mut narration, &reading);
        }
        let steps = text.char_indices().step_by(STEP).map(|(byte, _)| byte).collect();
        let manners = manners(&reading, language);
        let hearsay = hearsay(&reading, language, &names);
        let billed = if book.script { billed(&text, &reading, &names) } else { BTreeMap::new() };
        let (slug, title) = (book.slug.clone(), book.title.clone());
        Self { slug, title, language, reading, text, steps, names, narration, manners, hearsay, billed }
    }

    /// Returns the text between two offsets in code points.
    pub(super) fn slice(&self, start: u32, end: u32) -> &str {
        let (start, end) = (self.byte(start), self.byte(end.max(start)));
        &self.text[start..end]
    }

    fn byte(&self, point: u32) -> usize {
        let point = point as usize;
        let Some(&step) = self.steps.get(point / STEP) else { return self.text.len() };
        self.text[step..].char_indices().nth(point % STEP).map_or(self.text.len(), |(byte, _)| step + byte)
    }

    /// Returns the person whom a name means.
    pub(super) fn owner(&self, name: &str) -> Option<usize> {
        self.names.owner(name)
    }

    pub(super) fn person(&self, index: usize) -> &Person {
        &self.reading.people[index]
    }

    /// Returns the quotations that begin in a stretch.
    pub(super) fn quotations(&self, start: u32, end: u32) -> &[Quotation] {
        let all = &self.reading.quotations;
        &all[all.partition_point(|quotation| quotation.start < start)
            ..all.partition_point(|quotation| quotation.start < end)]
    }

    /// Returns the sentences of narration that begin in a stretch.
    pub(super) fn narration(&self, start: u32, end: u32) -> &[Sentence] {
        let all = &self.narration;
        &all[all.partition_point(|sentence| sentence.start < start)
            ..all.partition_point(|sentence| sentence.start < end)]
    }

    /// Whether the story goes on after an offset without a heading or a border.
    pub(super) fn goes_on(&self, offset: u32) -> bool {
        let paragraphs = &self.reading.paragraphs;
        let next = paragraphs.partition_point(|paragraph| paragraph.end <= offset);
        paragraphs.get(next).is_some_and(|paragraph| !paragraph.border)
    }

    /// Returns sentences that may tell of the book's world, from where its first chapter begins; in a script the lines
    /// of its front that tell of no person come first.
    pub(super) fn opening(&self, start: u32) -> Vec<String> {
        let words = Words::of(self.language);
        let most = if self.language == Language::Zh { 110 } else { 320 };
        let mut opening: Vec<String> = Vec::new();
        if !self.billed.is_empty() {
            let front = self.narration(0, start).iter().filter(|sentence| sentence.people.is_empty());
            opening.extend(
                front.filter(|sentence| words.setting(&sentence.text) > 0).map(|sentence| sentence.text.clone()),
            );
        }
        let from = self.narration.partition_point(|sentence| sentence.start < start);
        let story = self.narration[from..].iter().take(OPENING).enumerate();
        // The first sentence may stand for itself; a later one has to tell of more than a house or a person.
        let world = |sentence: &Sentence| sentence.people.is_empty() && words.setting(&sentence.text) >= 2;
        let story = story.filter(|(at, sentence)| *at == 0 || world(sentence));
        opening.extend(story.map(|(_, sentence)| sentence.text.clone()));
        opening.retain(|text| text.chars().count() <= most);
        opening.truncate(16);
        opening
    }

    /// Returns the last sentences told before an offset, no further back than the border before it.
    pub(super) fn lead(&self, offset: u32) -> Vec<String> {
        let far = offset.saturating_sub(if self.language == Language::Zh { 1500 } else { 5000 });
        let paragraphs = &self.reading.paragraphs;
        let before = &paragraphs[..paragraphs.partition_point(|paragraph| paragraph.end <= offset)];
        let border = before.iter().rev().find(|paragraph| paragraph.border).map_or(0, |paragraph| paragraph.end);
        let told = self.narration(far.max(border), offset);
        let words = Words::of(self.language);
        let own = told.iter().filter(|sentence| !words.leans(&sentence.text));
        let mut lead: Vec<String> = own.rev().take(2).map(|sentence| sentence.text.clone()).collect();
        lead.reverse();
        lead
    }

    /// Returns what the book has told of a person up to an offset, in the book's own sentences where it can be.
    pub(super) fn notes(&self, index: usize, until: u32) -> Vec<Note> {
        let words = Words::of(self.language);
        let person = self.person(index);
        let (most, least) = if self.language == Language::Zh { (100, 8) } else { (260, 24) };
        let mut notes: Vec<Note> = Vec::new();
        let mut add = |key: Key, text: String| notes.push(Note { key: key.word(self.language).to_owned(), text });
        let end = self.narration.partition_point(|sentence| sentence.end <= until);
        let own: Vec<&Sentence> = self.narration[..end]
            .iter()
            .filter(|sentence| sentence.subject == Some(index) && !words.is_first_person(&sentence.text))
            .filter(|sentence| (least..=most).contains(&sentence.text.chars().count()))
            .collect();
        if let Some(gender) = gender_word(person.gender, self.language) {
            add(Key::Gender, gender.to_owned());
        }
        let billed = self.billed.get(&index);
        let told_age = || own.iter().find_map(|sentence| self.age(sentence, index));
        if let Some(age) = billed.and_then(|text| words.age(text)).or_else(told_age) {
            add(Key::Age, age.to_owned());
        }
        // No sentence is told twice.
        let mut used: BTreeSet<u32> = BTreeSet::new();
        let mut pick = |key: Key, count: usize, fits: &dyn Fn(&Sentence) -> bool| {
            let found = own.iter().filter(|sentence| !used.contains(&sentence.start) && fits(sentence)).take(count);
            for sentence in found.collect::<Vec<_>>() {
                used.insert(sentence.start);
                add(key, sentence.text.clone());
            }
        };
        // Only a sentence that brings someone in tells what everyone knows of them, and it comes early.
        let named = |sentence: &&&Sentence| sentence.people.first() == Some(&index);
        let introduction = own.iter().filter(named).take(5).find(|sentence| self.introduces(sentence, index));
        if let (Some(introduction), None) = (introduction, billed) {
            pick(Key::PublicBackground, 1, &|sentence| sentence.start == introduction.start);
        }
        // What describes is about one person alone, and says so soon.
        let alone = |sentence: &Sentence| sentence.people.len() <= 1;
        pick(Key::Appearance, 2, &|sentence| alone(sentence) && words.tells_looks(self.near(sentence, index)));
        pick(Key::Persona, 2, &|sentence| alone(sentence) && words.tells_traits(self.near(sentence, index)));
        pick(Key::Hobbies, 1, &|sentence| words.tells_likes(&sentence.text));
        pick(Key::PrivateBackground, 2, &|sentence| alone(sentence) && words.tells_past(self.near(sentence, index)));
        pick(Key::Relationships, 1, &|sentence| {
            sentence.people.len() == 2 && words.tells_kin(self.near(sentence, index))
        });
        for alias in person.aliases.iter().filter(|alias| alias.starts_with("the ")).take(1) {
            add(Key::PublicBackground, format!("Known as {alias}."));
        }
        let said = self.hearsay[index].iter().take_while(|(end, _)| *end <= until).map(|(_, text)| text).take(2);
        for text in billed.into_iter().chain(said) {
            add(Key::PublicBackground, text.clone());
        }
        if let Some(partners) = self.partners(index, until) {
            add(Key::Relationships, partners);
        }
        if let Some(manner) = &self.manners[index] {
            add(Key::SpeechPattern, manner.clone());
        }
        notes
    }

    /// Returns what a sentence says right after it names a person: further on it may have turned to others.
    fn near<'t>(&self, sentence: &'t Sentence, index: usize) -> &'t str {
        let most = if self.language == Language::Zh { 24 } else { 110 };
        let start =
            self.names.find(&sentence.text).iter().find(|(_, person)| *person == index).map_or(0, |(at, _)| *at);
        let rest = &sentence.text[start..];
        rest.char_indices().nth(most).map_or(rest, |(byte, _)| &rest[..byte])
    }

    /// Whether a sentence brings a person in: by words that do, or by what stands beside the name.
    fn introduces(&self, sentence: &Sentence, index: usize) -> bool {
        let words = Words::of(self.language);
        let Some((at, _)) = self.names.find(&sentence.text).into_iter().find(|(_, person)| *person == index) else {
            return false;
        };
        let (before, after) = sentence.text.split_at(at);
        words.introduces(self.near(sentence, index)) || words.apposes(before, after)
    }

    /// Returns a person's age, where a sentence tells it between the person's name and the next.
    fn age<'t>(&self, sentence: &'t Sentence, index: usize) -> Option<&'t str> {
        let named = self.names.find(&sentence.text);
        let start = named.iter().find(|(_, person)| *person == index).map_or(0, |(at, _)| *at);
        let end = named
            .iter()
            .find(|(at, person)| *at > start && *person != index)
            .map_or(sentence.text.len(), |(at, _)| *at);
        Words::of(self.language).age(&sentence.text[start..end])
    }

    /// Says with whom a person has talked most.
    fn partners(&self, index: usize, until: u32) -> Option<String> {
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for pair in self.quotations(0, until).windows(2) {
            let (Some(first), Some(second)) = (pair[0].speaker, pair[1].speaker) else { continue };
            if first == second || pair[1].start - pair[0].end > 600 {
                continue;
            }
            if first == index {
                *counts.entry(second).or_default() += 1;
            } else if second == index {
                *counts.entry(first).or_default() += 1;
            }
        }
        let mut partners: Vec<(u32, usize)> =
            counts.into_iter().map(|(person, count)| (count, person)).filter(|(count, _)| *count >= 3).collect();
        partners.sort_by_key(|(count, person)| (std::cmp::Reverse(*count), *person));
        let names: Vec<String> = partners.iter().take(3).map(|(_, person)| self.person(*person).name.clone()).collect();
        (!names.is_empty()).then(|| match self.language {
            Language::En => format!("Talks most with {}.", list(&names, Language::En)),
            Language::Zh => format!("与{}往来最多。", list(&names, Language::Zh)),
        })
    }
}

/// Writes names as names where a script sets them in capitals.
fn lower_capitals(narration: &mut [Sentence], reading: &Reading) {
    let mut written: BTreeMap<String, &str> = BTreeMap::new();
    for name in reading.people.iter().flat_map(|person| person.aliases.iter().chain([&person.name])) {
        for word in name.split_whitespace().filter(|word| word.chars().any(char::is_lowercase)) {
            written.insert(word.to_uppercase(), word);
        }
    }
    for sentence in narration {
        let words = sentence.text.split(' ').map(|word| {
            let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
            let known = written.get(&word[..end]).filter(|_| end > 1);
            known.map_or_else(|| word.to_owned(), |name| format!("{name}{}", &word[end..]))
        });
        sentence.text = words.collect::<Vec<_>>().join(" ");
    }
}

/// Takes a name that stands over its speech for what it is: no border.
fn open_cues(reading: &mut Reading) {
    let quotations = &reading.quotations;
    for paragraph in &mut reading.paragraphs {
        let next = quotations.partition_point(|quotation| quotation.start < paragraph.end);
        let cue = quotations.get(next).is_some_and(|quotation| quotation.start <= paragraph.end + 2);
        paragraph.border &= !cue;
    }
}

pub(super) const fn gender_word(gender: Gender, language: Language) -> Option<&'static str> {
    match (gender, language) {
        (Gender::Female, Language::En) => Some("female"),
        (Gender::Female, Language::Zh) => Some("女"),
        (Gender::Male, Language::En) => Some("male"),
        (Gender::Male, Language::Zh) => Some("男"),
        (Gender::Unknown, _) => None,
    }
}

/// Reads the list of persons before a script: paragraphs that begin with a name and a comma or colon.
fn billed(text: &str, reading: &Reading, names: &Names) -> BTreeMap<usize, String> {
    let first = reading.quotations.first().map_or(u32::MAX, |quotation| quotation.start) as usize;
    let front: String = text.chars().take(first).collect();
    let mut billed = BTreeMap::new();
    for line in front.lines() {
        let line = one_line(line);
        let Some(end) = line.find([',', ':', '，', '：', '—', '–']) else { continue };
        let (name, rest) = line.split_at(end);
        let rest = rest.trim_start_matches([',', ':', '，', '：', '—', '–', ' ']);
        // `LUDO WICK` is billed, `WICK` speaks: any name within counts.
        let person = names.owner(name).or_else(|| names.find(name).first().map(|(_, person)| *person));
        if let Some(person) = person
            && name.chars().count() <= 40
            && rest.chars().count() >= 3
        {
            // Whose it is stands in the line before, which nobody sees any more.
            let leans = ["her ", "his ", "their "].into_iter().find(|word| rest.to_lowercase().starts_with(word));
            let rest = leans.map_or(rest, |word| &rest[word.len()..]);
            let (first, others) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            billed.entry(person).or_insert_with(|| format!("{}{others}", first.to_uppercase()));
        }
    }
    billed
}

/// Collects what people say of those whom they name: a plain statement of who or what someone is.
fn hearsay(reading: &Reading, language: Language, names: &Names) -> Vec<Vec<(u32, String)>> {
    let words = Words::of(language);
    let most = if language == Language::Zh { 50 } else { 140 };
    let mut hearsay: Vec<Vec<(u32, String)>> = vec![Vec::new(); reading.people.len()];
    for quotation in &reading.quotations {
        for (start, end, closed) in sentences(&quotation.text) {
            let sentence = &quotation.text[start..end];
            if !closed || sentence.contains(['?', '？', '“', '‘']) || sentence.chars().count() > most {
                continue;
            }
            let Some((at, person)) = names.find(sentence).into_iter().next() else { continue };
            if quotation.speaker != Some(person)
                && Words::name_comes_first(language, at)
                && words.says_who(&sentence[at..])
            {
                let text = match language {
                    Language::En => format!("It is said: {}", quoted(sentence)),
                    Language::Zh => format!("有人说：{}", quoted(sentence)),
                };
                hearsay[person].push((quotation.end, text));
            }
        }
    }
    hearsay
}

/// Describes how each person speaks, as measured against the rest of the book.
fn manners(reading: &Reading, language: Language) -> Vec<Option<String>> {
    let length = |text: &str| match language {
        Language::En => text.split_whitespace().count(),
        Language::Zh => text.chars().filter(|c| is_han(*c)).count(),
    };
    let mut lines: Vec<Vec<&str>> = vec![Vec::new(); reading.people.len()];
    let mut openings: BTreeMap<String, u32> = BTreeMap::new();
    for quotation in &reading.quotations {
        if let Some(person) = quotation.speaker {
            lines[person].push(&quotation.text);
            *openings.entry(opening(&quotation.text, language)).or_default() += 1;
        }
    }
    let total: usize = lines.iter().flatten().map(|line| length(line)).sum();
    let count: usize = lines.iter().map(Vec::len).sum();
    let describe = |own: &Vec<&str>| {
        if own.len() < 5 || count <= own.len() {
            return None;
        }
        let words: usize = own.iter().map(|line| length(line)).sum();
        let mean = (words + own.len() / 2) / own.len();
        let rest = (total - words) / (count - own.len());
        let ask = own.iter().filter(|line| line.contains(['?', '？'])).count() * 10 / own.len();
        let cry = own.iter().filter(|line| line.contains(['!', '！'])).count() * 10 / own.len();
        let mut favourites: BTreeMap<String, u32> = BTreeMap::new();
        for line in own {
            *favourites.entry(opening(line, language)).or_default() += 1;
        }
        // An opening is one's own when it comes back and is said by others at most as often.
        let mut favourites: Vec<(u32, String)> = favourites
            .into_iter()
            .filter(|(words, times)| {
                !words.is_empty() && *times >= 3 && *times as usize * 25 >= own.len() && openings[words] <= times * 2
            })
            .map(|(words, times)| (times, words))
            .collect();
        favourites.sort_by_key(|(times, words)| (std::cmp::Reverse(*times), words.clone()));
        let favourites: Vec<String> = favourites.into_iter().take(3).map(|(_, words)| quoted(&words)).collect();
        Some(phrase(mean, rest, ask, cry, &favourites, language))
    };
    lines.iter().map(describe).collect()
}

/// Returns the first clause of a line when it is short, in lower case and without marks.
fn opening(line: &str, language: Language) -> String {
    let clause = line
        .split([',', '.', '!', '?', ';', ':', '—', '，', '。', '！', '？', '；', '：', '、', '…', '．'])
        .next()
        .unwrap_or("")
        .trim();
    let fits = match language {
        Language::En => (1..=4).contains(&clause.split_whitespace().count()) && clause.len() > 2,
        Language::Zh => (2..=6).contains(&clause.chars().count()),
    };
    if fits { clause.to_owned() } else { String::new() }
}

fn phrase(mean: usize, rest: usize, ask: usize, cry: usize, favourites: &[String], language: Language) -> String {
    let mut parts: Vec<String> = Vec::new();
    match language {
        Language::En => {
            let manner = if mean * 4 <= rest * 3 {
                "Speaks briefly"
            } else if mean * 3 >= rest * 4 {
                "Speaks at length"
            } else {
                ""
            };
            parts.push(if manner.is_empty() {
                format!("Speaks in lines of about {mean} words, as most here do")
            } else {
                format!("{manner}, about {mean} words at a time (others about {rest})")
            });
            if ask >= 3 {
                parts.push(format!("asks something in {ask} lines of 10"));
            }
            if cry >= 3 {
                parts.push(format!("exclaims in {cry} lines of 10"));
            }
            if !favourites.is_empty() {
                parts.push(format!("likes to begin with {}", list(favourites, language)));
            }
            format!("{}.", parts.join("; "))
        }
        Language::Zh => {
            let manner = if mean * 4 <= rest * 3 {
                "话说得短"
            } else if mean * 3 >= rest * 4 {
                "话说得长"
            } else {
                ""
            };
            parts.push(if manner.is_empty() {
                format!("每次约说{mean}字，与旁人相仿")
            } else {
                format!("{manner}，每次约{mean}字（旁人约{rest}字）")
            });
            if ask >= 3 {
                parts.push(format!("十句里约{ask}句带问"));
            }
            if cry >= 3 {
                parts.push(format!("十句里约{cry}句带感叹"));
            }
            if !favourites.is_empty() {
                parts.push(format!("开口爱说{}", favourites.join("")));
            }
            format!("{}。", parts.join("；"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::Paragraph;
    use super::super::sample::{EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, facts, reading};
    use super::*;

    fn notes(book: &BookFacts, index: usize, until: u32) -> Vec<(String, String)> {
        book.notes(index, until).into_iter().map(|note| (note.key, note.text)).collect()
    }

    #[test]
    fn slices_count_code_points() {
        for (language, text, people) in [(Language::En, EN, EN_PEOPLE), (Language::Zh, ZH, ZH_PEOPLE)] {
            let long = text.repeat(6);
            let book = facts(language, &long, reading(text, people, EN_SPEAKERS));
            let points: Vec<char> = long.chars().collect();
            for (start, end) in [(0, 5), (255, 257), (300, 300), (511, 700), (points.len() - 3, points.len() + 9)] {
                let expected: String = points[start..end.min(points.len())].iter().collect();
                let number = |at: usize| u32::try_from(at).expect("short");
                assert_eq!(book.slice(number(start), number(end)), expected);
            }
        }
    }

    #[test]
    fn notes_tell_nothing_that_comes_later() {
        let book = facts(Language::En, EN, reading(EN, EN_PEOPLE, EN_SPEAKERS));
        let first = book.reading.quotations[0].start;
        let early = notes(&book, 0, 60);
        assert_eq!(early, [("gender".to_owned(), "female".to_owned())]);
        assert!(notes(&book, 0, first).iter().any(|(key, _)| key == "public background"));
    }

    #[test]
    fn what_others_say_of_someone_is_known() {
        for (language, text, people, expected) in [
            (
                Language::En,
                "“Boris is the best miller on the river,” said Anna. “Boris is late.”\n",
                EN_PEOPLE,
                "It is said: “Boris is the best miller on the river,”",
            ),
            (
                Language::En,
                "“Boris is the best miller on the river.”\n“Is Boris the mayor?”\n",
                EN_PEOPLE,
                "It is said: “Boris is the best miller on the river.”",
            ),
            (Language::Zh, "“周老七是个老实人。”陆平说。\n", ZH_PEOPLE, "有人说：“周老七是个老实人。”"),
        ] {
            let book = facts(language, text, reading(text, people, &[0, 0]));
            let said: Vec<String> =
                notes(&book, 1, 200).into_iter().map(|(_, text)| text).filter(|text| text.contains('“')).collect();
            let closed = expected.contains(['.', '。']);
            assert_eq!(said, if closed { vec![expected.to_owned()] } else { Vec::new() });
        }
    }

    #[test]
    fn a_way_of_speaking_is_measured_against_the_rest() {
        let text = "“Now look, who?”\n“I have walked all day along the river to see you here.”\n".repeat(6);
        let book = facts(Language::En, &text, reading(&text, EN_PEOPLE, &[0, 1].repeat(6)));
        assert_eq!(
            book.manners[0].as_deref(),
            Some(
                "Speaks briefly, about 3 words at a time (others about 12); asks something in 10 lines of 10; likes to begin with “Now look”."
            )
        );
        let text = "“好说，何人？”\n“我沿着河走了一整天，才走到你这里来。”\n".repeat(6);
        let book = facts(Language::Zh, &text, reading(&text, ZH_PEOPLE, &[0, 1].repeat(6)));
        assert_eq!(
            book.manners[0].as_deref(),
            Some("话说得短，每次约4字（旁人约16字）；十句里约10句带问；开口爱说“好说”。")
        );
    }

    #[test]
    fn a_cue_over_its_speech_is_no_border() {
        let text = "ANNA\n“Yes.”\n";
        let mut reading = reading(text, EN_PEOPLE, &[0]);
        reading.paragraphs = vec![
            Paragraph { start: 0, end: 4, border: true },
            Paragraph { start: 5, end: 11, border: false },
            Paragraph { start: 12, end: 13, border: true },
        ];
        open_cues(&mut reading);
        assert_eq!(
            reading.paragraphs.iter().map(|paragraph| paragraph.border).collect::<Vec<_>>(),
            [false, false, true]
        );
    }
}
