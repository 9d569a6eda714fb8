//! An index of a whole book built before any model is asked: attribution, narration, and facts per character.

pub(crate) mod narration;
mod speech_style;
pub(crate) mod standalone_sentence;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::narration::{Names, Sentence, narration, one_line, sentences};
use self::speech_style::Manners;
use self::standalone_sentence::written;
use super::asks::Note;
use super::lexicon::{Key, Script, Words, list, quoted};
use crate::attribution::{Attribution, Gender, Person, Quotation, is_word, names_somebody};
use crate::schema::{Book, Language};

/// A book with its attribution, indexed for [`extract`](super::extract).
#[derive(Debug)]
pub struct BookFacts {
    pub(super) slug: String,
    pub(super) title: String,
    pub(super) language: Language,
    pub(super) attribution: Attribution,
    text: Arc<str>,
    /// The byte offset of every 256th code point.
    steps: Vec<usize>,
    names: Names,
    narration: Vec<Sentence>,
    script: Script,
    /// How each person speaks.
    manners: Manners,
    /// Facts from the narration per person, in book order: end offset, profile key, sentence. Indexed like `people`.
    told: Vec<Vec<(u32, Key, String)>>,
    /// Conversation partners per person, in book order: end offset, partner. Indexed like `people`.
    talks: Vec<Vec<(u32, usize)>>,
    /// The first-person narrator.
    teller: Option<usize>,
    /// A sentence on what the book mentions most often.
    world: Option<String>,
    /// What other people say of each person: end offset, sentence. Indexed like `people`.
    hearsay: Vec<Vec<(u32, String)>>,
    /// Entries of a script's list of characters, by person.
    billed: BTreeMap<usize, String>,
    /// Lines per person for those who speak most, in descending order.
    lines_by_rank: Vec<u32>,
}

const STEP: usize = 256;

/// Chinese names that do not look like a name are doubted if they have at most this many lines.
const DOUBTFUL: u32 = 5;

/// The number of most recent exchanges that count for the most frequent partners.
const TALKS: usize = 120;

/// The number of top speakers that a scene's cast is compared with; no scene has more who matter.
const RANKS: usize = 16;

impl BookFacts {
    /// Indexes a book in one language; linear in its length. `text` is the text of the book, which `book` may no longer
    /// hold.
    #[must_use]
    pub fn new(book: &Book, language: Language, text: Arc<str>, mut attribution: Attribution) -> Self {
        if book.script {
            open_cues(&mut attribution);
        }
        for person in &mut attribution.people {
            // 人 (“person”) can mean anyone.
            person.aliases.retain(|alias| !Words::is_group(language, alias) && alias != "人");
        }
        drop_doubtful(&mut attribution, language);
        let names = Names::new(&attribution.people);
        let mut narration = narration(&text, language, &attribution, &names);
        if book.script {
            lower_capitals(&mut narration, &attribution);
        }
        let steps = text.char_indices().step_by(STEP).map(|(byte, _)| byte).collect();
        let script = Script::of(language, &text);
        let manners = Manners::new(&attribution, language, &names);
        let hearsay = hearsay(&attribution, script, &names);
        let billed = if book.script { billed(&text, &attribution, &names) } else { BTreeMap::new() };
        // In a script, everything before the first line is the list of characters.
        let front =
            narration.partition_point(|sentence| !billed.is_empty() && sentence.start < first_line(&attribution));
        let told = told(&narration[front..], &attribution, language, &names);
        let talks = talks(&attribution);
        let world = world::counted(story(&text, &attribution), script, &names);
        let teller = teller(&narration, &attribution);
        let mut lines_by_rank: Vec<u32> = attribution.people.iter().map(|person| person.lines).collect();
        lines_by_rank.sort_by_key(|lines| std::cmp::Reverse(*lines));
        lines_by_rank.truncate(RANKS);
        let (slug, title) = (book.slug.clone(), book.title.clone());
        Self {
            slug,
            title,
            language,
            attribution,
            text,
            steps,
            names,
            narration,
            script,
            manners,
            told,
            talks,
            teller,
            world,
            hearsay,
            billed,
            lines_by_rank,
        }
    }

    /// Returns the line counts of those who speak most, in descending order.
    pub(super) fn lines_by_rank(&self) -> &[u32] {
        &self.lines_by_rank
    }

    /// Returns the script of the book's text.
    pub(super) const fn script(&self) -> Script {
        self.script
    }

    /// Returns a sentence on what the book mentions most often.
    pub(super) fn world(&self) -> Option<&str> {
        self.world.as_deref()
    }

    /// Returns the name of the first-person narrator.
    pub(super) fn teller(&self) -> Option<&str> {
        self.teller.map(|person| self.person(person).name.as_str())
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

    /// Returns the person with a name.
    pub(super) fn owner(&self, name: &str) -> Option<usize> {
        self.names.owner(name)
    }

    /// Returns the index of names.
    pub(super) const fn names(&self) -> &Names {
        &self.names
    }

    pub(super) fn person(&self, index: usize) -> &Person {
        &self.attribution.people[index]
    }

    /// Returns the rest of a text after its first mention of a person.
    pub(super) fn after_name<'t>(&self, text: &'t str, index: usize) -> Option<&'t str> {
        let (_, end, _) = self.names.spans(text).into_iter().find(|(_, _, person)| *person == index)?;
        Some(&text[end..])
    }

    /// Returns the quotations that begin in a range.
    pub(super) fn quotations(&self, start: u32, end: u32) -> &[Quotation] {
        let all = &self.attribution.quotations;
        &all[all.partition_point(|quotation| quotation.start < start)
            ..all.partition_point(|quotation| quotation.start < end)]
    }

    /// Returns the sentences of narration that begin in a range.
    pub(super) fn narration(&self, start: u32, end: u32) -> &[Sentence] {
        let all = &self.narration;
        &all[all.partition_point(|sentence| sentence.start < start)
            ..all.partition_point(|sentence| sentence.start < end)]
    }

    /// Whether the story continues after an offset without a heading or scene break.
    pub(super) fn goes_on(&self, offset: u32) -> bool {
        let paragraphs = &self.attribution.paragraphs;
        let next = paragraphs.partition_point(|paragraph| paragraph.end <= offset);
        paragraphs.get(next).is_some_and(|paragraph| !paragraph.border)
    }

    /// Returns sentences that describe the book's world, from the start of its first chapter. In a script, front matter
    /// that names no person comes first.
    pub(super) fn opening(&self, start: u32) -> Vec<String> {
        let words = Words::of(self.language);
        let mut opening: Vec<String> = Vec::new();
        if !self.billed.is_empty() {
            let front = self.narration(0, start).iter().filter(|sentence| sentence.people.is_empty());
            let front =
                front.filter(|sentence| words.setting(&sentence.text) > 0 && sentence.text.chars().count() <= 320);
            opening.extend(front.take(3).map(|sentence| sentence.text.clone()));
        }
        let from = self.narration.partition_point(|sentence| sentence.start < start);
        if opening.is_empty() {
            opening = world::opening(&self.narration[from..], self.language);
        }
        opening
    }

    /// Returns up to two sentences of narration before an offset, no further back than the previous scene break.
    pub(super) fn lead(&self, offset: u32) -> Vec<&Sentence> {
        let far = offset.saturating_sub(if self.language == Language::Zh { 1500 } else { 5000 });
        let paragraphs = &self.attribution.paragraphs;
        let before = &paragraphs[..paragraphs.partition_point(|paragraph| paragraph.end <= offset)];
        let border = before.iter().rev().find(|paragraph| paragraph.border).map_or(0, |paragraph| paragraph.end);
        let told = self.narration(far.max(border), offset);
        let own = told.iter().filter(|sentence| sentence.alone);
        let mut lead: Vec<&Sentence> = own.rev().take(2).collect();
        lead.reverse();
        lead
    }

    /// Returns the last sentence before an offset that names a person, ignoring scene breaks.
    pub(super) fn earlier(&self, offset: u32) -> Option<&Sentence> {
        let far = offset.saturating_sub(self.near());
        self.narration(far, offset).iter().rev().find(|sentence| sentence.alone && !sentence.people.is_empty())
    }

    /// Returns the facts that the book has stated about a person up to an offset, where possible in its own sentences.
    pub(super) fn notes(&self, index: usize, until: u32) -> Vec<Note> {
        let person = self.person(index);
        let mut notes: Vec<Note> = Vec::new();
        let mut add = |key: Key, text: String| notes.push(Note { key: key.word(self.script), text });
        if let Some(gender) = gender_word(person.gender, self.language) {
            add(Key::Gender, gender.to_owned());
        }
        let billed = self.billed.get(&index);
        // An unnamed person is only assumed to be the same one over a short distance.
        let passing = is_passing(person, self.language);
        let since = if passing { until.saturating_sub(self.near()) } else { 0 };
        let told = &self.told[index][..self.told[index].partition_point(|(end, ..)| *end <= until)];
        let told = &told[told.partition_point(|(end, ..)| *end < since)..];
        if let Some(age) = billed.and_then(|text| Words::of(self.language).age(text)) {
            add(Key::Age, age.to_owned());
        }
        for (_, key, text) in told {
            let known = billed.is_some() && matches!(key, Key::Age | Key::PublicBackground);
            if !known {
                add(*key, text.clone());
            }
        }
        if let Some(text) = billed {
            add(Key::PublicBackground, text.clone());
        }
        for alias in person.aliases.iter().filter(|alias| names_a_trade(alias)).take(1) {
            add(Key::PublicBackground, format!("Known as {alias}."));
        }
        if passing && self.talks[index].first().is_some_and(|(first, _)| *first < since) {
            return notes;
        }
        let said = self.hearsay[index].iter().filter(|_| !passing);
        for (_, text) in said.take_while(|(end, _)| *end <= until).take(2) {
            add(Key::PublicBackground, text.clone());
        }
        if let Some(partners) = self.partners(index, until) {
            add(Key::Relationships, partners);
        }
        if let Some(manner) = self.manners.of(index, until, self.script) {
            add(Key::SpeechPattern, manner);
        }
        notes
    }

    /// Whether a person has no proper name, only a description that fits many.
    pub(super) fn is_passing(&self, index: usize) -> bool {
        is_passing(self.person(index), self.language)
    }

    /// How far back an unnamed person is still assumed to be the same one, in code points.
    const fn near(&self) -> u32 {
        match self.language {
            Language::En => 20_000,
            Language::Zh => 6_000,
        }
    }

    /// Returns a sentence on whom a person has recently talked with most.
    fn partners(&self, index: usize, until: u32) -> Option<String> {
        let talks = &self.talks[index][..self.talks[index].partition_point(|(end, _)| *end <= until)];
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        let somebody = |partner: &usize| {
            let partner = self.person(*partner);
            let passing = self.language == Language::Zh && is_passing(partner, self.language);
            !passing && !Words::is_group(self.language, &partner.name)
        };
        for (_, partner) in talks[talks.len().saturating_sub(TALKS)..].iter().filter(|(_, partner)| somebody(partner)) {
            *counts.entry(*partner).or_default() += 1;
        }
        let mut partners: Vec<(u32, usize)> =
            counts.into_iter().map(|(person, count)| (count, person)).filter(|(count, _)| *count >= 3).collect();
        partners.sort_by_key(|(count, person)| (std::cmp::Reverse(*count), *person));
        let names: Vec<String> = partners.iter().take(3).map(|(_, person)| self.person(*person).name.clone()).collect();
        (!names.is_empty()).then(|| match self.language {
            Language::En => format!("Talks most with {}.", list(&names, Language::En)),
            Language::Zh => {
                let script = self.script;
                format!("{}{}{}。", script.write("与"), script.list(&names), script.write("往来最多"))
            }
        })
    }
}

/// Whether a person has no proper name, only a description that fits many: `the stranger`, 那婆子.
fn is_passing(person: &Person, language: Language) -> bool {
    let mut names = person.aliases.iter().chain([&person.name]);
    match language {
        Language::En => person.name.starts_with("the ") && names.all(|name| !name.starts_with(char::is_uppercase)),
        Language::Zh => {
            let points = |name: &str| {
                name.starts_with(['那', '这', '這', '某']) || name.starts_with("一个") || name.starts_with("一個")
            };
            points(&person.name)
                || names.any(|name| {
                    let rest = name.strip_prefix(['那', '这', '這']);
                    rest.is_some_and(|rest| {
                        rest == person.name || rest.strip_prefix(['个', '個']) == Some(&person.name)
                    })
                })
        }
    }
}

/// Removes doubtful speakers: a scene's cast should rather be incomplete than wrong.
fn drop_doubtful(attribution: &mut Attribution, language: Language) {
    if language == Language::En {
        return;
    }
    let doubtful: Vec<bool> = attribution
        .people
        .iter()
        .map(|person| {
            let alone = person.name.chars().count() == 1;
            let known = matches!(person.name.as_str(), "我" | "叙述者" | "敘述者");
            !known && (alone || person.lines <= DOUBTFUL || is_word(&person.name)) && !names_somebody(&person.name)
        })
        .collect();
    for quotation in &mut attribution.quotations {
        quotation.speaker = quotation.speaker.filter(|person| !doubtful[*person]);
    }
    for (person, _) in attribution.people.iter_mut().zip(doubtful).filter(|(_, doubtful)| *doubtful) {
        person.aliases.clear();
        // Nothing in the text is attributed to a person without a name.
        person.name.clear();
    }
}

/// Finds the first-person narrator. If less than a tenth of the narration is in the first person, those sentences are
/// quoted text.
fn teller(narration: &[Sentence], attribution: &Attribution) -> Option<usize> {
    let own = narration.iter().filter(|sentence| sentence.first_person).count();
    let teller = |person: &Person| {
        person.aliases.iter().chain([&person.name]).any(|name| matches!(name.as_str(), "I" | "我" | "the narrator"))
    };
    (own > 0 && own * 10 >= narration.len()).then(|| attribution.people.iter().position(teller)).flatten()
}

/// Returns the text from the first attributed quotation to the last; text outside of it may be the publisher's.
fn story<'t>(text: &'t str, attribution: &Attribution) -> &'t str {
    let mut spoken = attribution.quotations.iter().filter(|quotation| quotation.speaker.is_some());
    let first = spoken.next();
    let (Some(first), Some(last)) = (first, spoken.next_back().or(first)) else { return text };
    let byte = |point: u32| text.char_indices().nth(point as usize).map_or(text.len(), |(byte, _)| byte);
    let start = byte(first.start);
    &text[start..byte(last.end).max(start)]
}

/// Collects each person's conversation partners: whoever speaks next within 600 code points.
fn talks(attribution: &Attribution) -> Vec<Vec<(u32, usize)>> {
    let mut talks: Vec<Vec<(u32, usize)>> = vec![Vec::new(); attribution.people.len()];
    for pair in attribution.quotations.windows(2) {
        let (Some(first), Some(second)) = (pair[0].speaker, pair[1].speaker) else { continue };
        if first != second && pair[1].start.saturating_sub(pair[0].end) <= 600 {
            talks[first].push((pair[1].end, second));
            talks[second].push((pair[1].end, first));
        }
    }
    talks
}

/// Collects facts about each person by profile key, keeping the first one or two sentences per key.
fn told(
    narration: &[Sentence],
    attribution: &Attribution,
    language: Language,
    names: &Names,
) -> Vec<Vec<(u32, Key, String)>> {
    let words = Words::of(language);
    let (least, most, reach) = if language == Language::Zh { (8, 100, 24) } else { (24, 260, 110) };
    let mut told: Vec<Vec<(u32, Key, String)>> = vec![Vec::new(); attribution.people.len()];
    // How often the narration has named each person so far; only early mentions count as introductions.
    let mut times: Vec<u32> = vec![0; attribution.people.len()];
    for sentence in narration {
        let spans = names.spans(&sentence.text);
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        for (_, _, person) in &spans {
            if seen.insert(*person) {
                times[*person] += 1;
            }
        }
        let Some(person) = sentence.subject.filter(|_| !sentence.first_person) else { continue };
        let Some(at) = spans.iter().position(|(_, _, other)| *other == person) else { continue };
        let (start, end, _) = spans[at];
        let next =
            spans[at + 1..].iter().find(|(_, _, other)| *other != person).map_or(sentence.text.len(), |next| next.0);
        let book = &mut told[person];
        let has = |book: &Vec<(u32, Key, String)>, key: Key| book.iter().filter(|(_, known, _)| *known == key).count();
        if has(book, Key::Age) == 0
            && let Some(age) = words.age(&sentence.text[start..next.min(own(&sentence.text, end, language))])
        {
            book.push((sentence.end, Key::Age, age.to_owned()));
        }
        if !sentence.alone || !(least..=most).contains(&sentence.text.chars().count()) {
            continue;
        }
        let rest = &sentence.text[end..];
        let after = rest.char_indices().nth(reach).map_or(rest, |(byte, _)| &rest[..byte]);
        let after = &after[..after.len().min(own(&sentence.text, end, language) - end)];
        let others = sentence.people.iter().filter(|other| **other != person).count();
        let before = &sentence.text[..start];
        let key = if times[person] <= 6 && words.introduces(before, after) && has(book, Key::PublicBackground) == 0 {
            Some((Key::PublicBackground, 1))
        } else if words.tells_kin(after) {
            Some((Key::Relationships, 2))
        } else if others == 0 && words.tells_looks(after) {
            Some((Key::Appearance, 2))
        } else if others == 0 && words.tells_traits(after) {
            Some((Key::Persona, 2))
        } else if others == 0 && words.tells_likes(after) {
            Some((Key::Hobbies, 1))
        } else if others == 0 && words.tells_past(after) {
            Some((Key::PrivateBackground, 2))
        } else {
            None
        };
        if let Some((key, most)) = key
            && has(book, key) < most
        {
            book.push((sentence.end, key, sentence.text.clone()));
        }
    }
    told
}

/// Returns where a sentence stops being about the person named up to `from`: what the person sees, or a second person's
/// description, is about someone else.
fn own(text: &str, from: usize, language: Language) -> usize {
    const CUT: [&str; 19] = [
        "见", "見", "看", "听", "聽", "问", "問", "叫", "命", "令", "把", "将", "將", "一个", "一個", "一位", "有个",
        "有個", "带着",
    ];
    match language {
        Language::Zh => CUT.iter().filter_map(|word| text[from..].find(word)).min().map_or(text.len(), |at| from + at),
        Language::En => text.len(),
    }
}

/// Whether an alias names a trade or office, and not just `the boy`.
fn names_a_trade(alias: &str) -> bool {
    const ANYBODY: &[&str] = &[
        "boy",
        "girl",
        "man",
        "woman",
        "lady",
        "gentleman",
        "child",
        "lad",
        "fellow",
        "stranger",
        "other",
        "animal",
        "creature",
        "person",
        "speaker",
        "figure",
        "father",
        "mother",
        "brother",
        "sister",
        "son",
        "daughter",
        "husband",
        "wife",
        "uncle",
        "aunt",
        "friend",
        "first",
        "second",
        "latter",
        "former",
        "youth",
        "old man",
    ];
    let word = alias.strip_prefix("the ").filter(|word| word.chars().all(|c| c.is_lowercase() || c == ' '));
    word.is_some_and(|word| {
        let last = word.rsplit(' ').next().unwrap_or(word);
        !ANYBODY.contains(&word) && !ANYBODY.contains(&last)
    })
}

/// Restores the capitalization of names that a script sets in capitals.
fn lower_capitals(narration: &mut [Sentence], attribution: &Attribution) {
    let mut written: BTreeMap<String, &str> = BTreeMap::new();
    for name in attribution.people.iter().flat_map(|person| person.aliases.iter().chain([&person.name])) {
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

/// Clears the scene-break flag of speaker cues above a speech.
fn open_cues(attribution: &mut Attribution) {
    let quotations = &attribution.quotations;
    for paragraph in &mut attribution.paragraphs {
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

fn first_line(attribution: &Attribution) -> u32 {
    attribution.quotations.first().map_or(u32::MAX, |quotation| quotation.start)
}

/// Parses the list of characters at the front of a script: lines that begin with a name and a comma, colon or dash.
fn billed(text: &str, attribution: &Attribution, names: &Names) -> BTreeMap<usize, String> {
    let front: String = text.chars().take(first_line(attribution) as usize).collect();
    let mut billed = BTreeMap::new();
    for line in front.lines() {
        let line = one_line(line);
        let Some(end) = line.find([',', ':', '，', '：', '—', '–']) else { continue };
        let (name, rest) = line.split_at(end);
        let rest = rest.trim_start_matches([',', ':', '，', '：', '—', '–', ' ']);
        // `LUDO WICK` is listed, `WICK` speaks: any name within counts.
        let person = names.owner(name).or_else(|| names.find(name).first().map(|(_, person)| *person));
        if let Some(person) = person
            && name.chars().count() <= 40
            && rest.chars().count() >= 3
        {
            // A possessive refers to the previous line, which is no longer shown.
            let leans = ["her ", "his ", "their "].into_iter().find(|word| rest.to_lowercase().starts_with(word));
            let rest = leans.map_or(rest, |word| &rest[word.len()..]);
            let (first, others) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            billed.entry(person).or_insert_with(|| format!("{}{others}", first.to_uppercase()));
        }
    }
    billed
}

/// Collects plain statements by characters about who or what another character is.
fn hearsay(attribution: &Attribution, script: Script, names: &Names) -> Vec<Vec<(u32, String)>> {
    let language = script.language();
    let words = Words::of(language);
    let most = if language == Language::Zh { 50 } else { 140 };
    let mut hearsay: Vec<Vec<(u32, String)>> = vec![Vec::new(); attribution.people.len()];
    for quotation in &attribution.quotations {
        for (start, end, closed) in sentences(&quotation.text) {
            let sentence = &written(&quotation.text[start..end]);
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
                    Language::Zh => format!("{}：{}", script.write("有人说"), quoted(sentence)),
                };
                hearsay[person].push((quotation.end, text));
            }
        }
    }
    hearsay
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::Paragraph;
    use crate::stages::extract::fixtures::{EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, attribution, facts};

    fn notes(book: &BookFacts, index: usize, until: u32) -> Vec<(String, String)> {
        book.notes(index, until).into_iter().map(|note| (note.key, note.text)).collect()
    }

    #[test]
    fn slices_count_code_points() {
        for (language, text, people) in [(Language::En, EN, EN_PEOPLE), (Language::Zh, ZH, ZH_PEOPLE)] {
            let long = text.repeat(6);
            let book = facts(language, &long, attribution(text, people, EN_SPEAKERS));
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
        let book = facts(Language::En, EN, attribution(EN, EN_PEOPLE, EN_SPEAKERS));
        let first = book.attribution.quotations[0].start;
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
            let book = facts(language, text, attribution(text, people, &[0, 0]));
            let said: Vec<String> =
                notes(&book, 1, 200).into_iter().map(|(_, text)| text).filter(|text| text.contains('“')).collect();
            let closed = expected.contains(['.', '。']);
            assert_eq!(said, if closed { vec![expected.to_owned()] } else { Vec::new() });
        }
    }

    #[test]
    fn a_cue_over_its_speech_is_no_border() {
        let text = "ANNA\n“Yes.”\n";
        let mut attribution = attribution(text, EN_PEOPLE, &[0]);
        attribution.paragraphs = vec![
            Paragraph { start: 0, end: 4, border: true },
            Paragraph { start: 5, end: 11, border: false },
            Paragraph { start: 12, end: 13, border: true },
        ];
        open_cues(&mut attribution);
        assert_eq!(
            attribution.paragraphs.iter().map(|paragraph| paragraph.border).collect::<Vec<_>>(),
            [false, false, true]
        );
    }

    /// Facts about the first person.
    fn told_of(language: Language, text: &str) -> Vec<(String, String)> {
        let people = if language == Language::En { EN_PEOPLE } else { ZH_PEOPLE };
        let book = facts(language, text, attribution(text, people, &[]));
        notes(&book, 0, u32::MAX).into_iter().filter(|(key, _)| key != "gender" && key != "性别").collect()
    }

    #[test]
    fn a_profile_is_told_of_its_owner_alone() {
        for (language, text, key) in [
            (Language::En, "Anna, who had come from the coast, had long grey hair.\n", Some("public background")),
            (Language::En, "Anna had long grey hair under her hat.\n", Some("appearance")),
            (Language::En, "Anna looked at the old man and his tall sons.\n", None),
            (Language::En, "Anna had put her hat over the lamp.\n", None),
            (Language::En, "Anna was always proud and careful.\n", Some("persona")),
            (Language::En, "Anna was proud of the new wheel that day.\n", None),
            (Language::Zh, "陆平身材瘦长，穿着一件旧长衫。\n", Some("外貌")),
            (Language::Zh, "陆平走进门来，只见一个身材瘦长的人。\n", None),
            (Language::Zh, "周老七把陆平打扮得身材高大。\n", None),
            (Language::Zh, "陆平为人忠厚，从不与人争。\n", Some("性格")),
            (Language::Zh, "陆平姓陆，是渠县人氏。\n", Some("公开背景")),
        ] {
            let found = told_of(language, text);
            assert_eq!(found.first().map(|(key, _)| key.as_str()), key, "{text}{found:?}");
        }
    }

    #[test]
    fn a_name_with_any_letter_has_a_profile() {
        let told = |name: &str| {
            let text =
                format!("{name} was always proud and careful. {name}, who had come from the coast, had grey hair.\n");
            let book = facts(Language::En, &text, attribution(&text, &[(name, &[], Gender::Male)], &[]));
            let found = notes(&book, 0, u32::MAX).into_iter();
            found.map(|(key, note)| (key, note.replace(name, "Noel"))).collect::<Vec<(String, String)>>()
        };
        let plain = told("Noel");
        assert!(plain.iter().any(|(key, _)| key == "persona"), "{plain:?}");
        for name in ["Noël", "Itō", "Forêt"] {
            assert_eq!(told(name), plain, "{name}");
        }
    }

    #[test]
    fn only_what_not_everybody_is_makes_a_name() {
        assert!(names_a_trade("the miller"));
        assert!(!names_a_trade("the boy") && !names_a_trade("the old man") && !names_a_trade("Anna"));
    }
}
