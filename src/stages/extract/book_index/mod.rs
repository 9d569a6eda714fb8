//! An index of a whole book built before any model is asked: attribution, narration, and facts per character.

pub(super) mod names;
pub(super) mod narration;
mod people;
mod profile_facts;
mod script_front;
pub(crate) mod sentences;
mod speech_style;
pub(crate) mod standalone_sentence;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::names::Names;
use self::narration::{Sentence, narration};
use self::people::{drop_doubtful, exchanges, is_unnamed, narrator, story};
use self::profile_facts::{gender_word, names_a_trade, narrated_facts, statements_by_others};
use self::script_front::{clear_cue_borders, first_line, listed_characters, lower_capitals};
use self::speech_style::SpeechStyles;
use super::asks::Note;
use super::lexicon::{Patterns, ProfileKey, Script, list};
use crate::attribution::{Attribution, Person, Quotation};
use crate::schema::{Book, Language};

/// A book with its attribution, indexed for [`extract`](super::extract).
#[derive(Debug)]
pub struct BookIndex {
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
    speech_styles: SpeechStyles,
    /// Facts from the narration per person, in book order: end offset, profile key, sentence. Indexed like `people`.
    narrated_facts: Vec<Vec<(u32, ProfileKey, String)>>,
    /// Conversation partners per person, in book order: end offset, partner. Indexed like `people`.
    exchanges: Vec<Vec<(u32, usize)>>,
    /// The first-person narrator.
    narrator: Option<usize>,
    /// A sentence on what the book mentions most often.
    world: Option<String>,
    /// What other people say of each person: end offset, sentence. Indexed like `people`.
    statements_by_others: Vec<Vec<(u32, String)>>,
    /// Entries of a script's list of characters, by person.
    listed_characters: BTreeMap<usize, String>,
    /// Lines per person for those who speak most, in descending order.
    lines_by_rank: Vec<u32>,
}

const STEP: usize = 256;

/// The number of a person's most recent exchanges that are counted to find whom it talks with most.
const RECENT_EXCHANGES: usize = 120;

/// The number of top speakers that a scene's cast is compared with; no scene has more who matter.
const RANKS: usize = 16;

impl BookIndex {
    /// Indexes a book in one language; linear in its length. `text` is the text of the book, which `book` may no longer
    /// hold.
    #[must_use]
    pub fn new(book: &Book, language: Language, text: Arc<str>, mut attribution: Attribution) -> Self {
        if book.script {
            clear_cue_borders(&mut attribution);
        }
        for person in &mut attribution.people {
            // 人 (“person”) can mean anyone.
            person.aliases.retain(|alias| !Patterns::is_group(language, alias) && alias != "人");
        }
        drop_doubtful(&mut attribution, language);
        let names = Names::new(&attribution.people);
        let mut narration = narration(&text, language, &attribution, &names);
        if book.script {
            lower_capitals(&mut narration, &attribution);
        }
        let steps = text.char_indices().step_by(STEP).map(|(byte, _)| byte).collect();
        let script = Script::of(language, &text);
        let speech_styles = SpeechStyles::new(&attribution, language, &names);
        let statements_by_others = statements_by_others(&attribution, script, &names);
        let listed_characters =
            if book.script { listed_characters(&text, &attribution, &names) } else { BTreeMap::new() };
        // In a script, everything before the first line is the list of characters.
        let front = narration
            .partition_point(|sentence| !listed_characters.is_empty() && sentence.start < first_line(&attribution));
        let narrated_facts = narrated_facts(&narration[front..], &attribution, language, &names);
        let exchanges = exchanges(&attribution);
        let world = world::counted(story(&text, &attribution), script, &names);
        let narrator = narrator(&narration, &attribution);
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
            speech_styles,
            narrated_facts,
            exchanges,
            narrator,
            world,
            statements_by_others,
            listed_characters,
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
    pub(super) fn narrator(&self) -> Option<&str> {
        self.narrator.map(|person| self.person(person).name.as_str())
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
        let words = Patterns::of(self.language);
        let mut opening: Vec<String> = Vec::new();
        if !self.listed_characters.is_empty() {
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
        let narration = self.narration(far.max(border), offset);
        let standalone = narration.iter().filter(|sentence| sentence.is_standalone);
        let mut lead: Vec<&Sentence> = standalone.rev().take(2).collect();
        lead.reverse();
        lead
    }

    /// Returns the last sentence before an offset that names a person, ignoring scene breaks.
    pub(super) fn earlier(&self, offset: u32) -> Option<&Sentence> {
        let far = offset.saturating_sub(self.near());
        self.narration(far, offset).iter().rev().find(|sentence| sentence.is_standalone && !sentence.people.is_empty())
    }

    /// Returns the facts that the book has stated about a person up to an offset, where possible in its own sentences.
    pub(super) fn notes(&self, index: usize, until: u32) -> Vec<Note> {
        let person = self.person(index);
        let mut notes: Vec<Note> = Vec::new();
        let mut add = |key: ProfileKey, text: String| notes.push(Note { key: key.word(self.script), text });
        if let Some(gender) = gender_word(person.gender, self.language) {
            add(ProfileKey::Gender, gender.to_owned());
        }
        let list_entry = self.listed_characters.get(&index);
        // An unnamed person is only assumed to be the same one over a short distance.
        let unnamed = is_unnamed(person, self.language);
        let since = if unnamed { until.saturating_sub(self.near()) } else { 0 };
        let facts =
            &self.narrated_facts[index][..self.narrated_facts[index].partition_point(|(end, ..)| *end <= until)];
        let facts = &facts[facts.partition_point(|(end, ..)| *end < since)..];
        if let Some(age) = list_entry.and_then(|text| Patterns::of(self.language).age(text)) {
            add(ProfileKey::Age, age.to_owned());
        }
        for (_, key, text) in facts {
            let known = list_entry.is_some() && matches!(key, ProfileKey::Age | ProfileKey::PublicBackground);
            if !known {
                add(*key, text.clone());
            }
        }
        if let Some(text) = list_entry {
            add(ProfileKey::PublicBackground, text.clone());
        }
        for alias in person.aliases.iter().filter(|alias| names_a_trade(alias)).take(1) {
            add(ProfileKey::PublicBackground, format!("Known as {alias}."));
        }
        if unnamed && self.exchanges[index].first().is_some_and(|(first, _)| *first < since) {
            return notes;
        }
        let statements = self.statements_by_others[index].iter().filter(|_| !unnamed);
        for (_, text) in statements.take_while(|(end, _)| *end <= until).take(2) {
            add(ProfileKey::PublicBackground, text.clone());
        }
        if let Some(partners) = self.partners(index, until) {
            add(ProfileKey::Relationships, partners);
        }
        if let Some(manner) = self.speech_styles.of(index, until, self.script) {
            add(ProfileKey::SpeechPattern, manner);
        }
        notes
    }

    /// Whether a person has no proper name, only a description that fits many.
    pub(super) fn is_unnamed(&self, index: usize) -> bool {
        is_unnamed(self.person(index), self.language)
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
        let exchanges = &self.exchanges[index][..self.exchanges[index].partition_point(|(end, _)| *end <= until)];
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        let is_named = |partner: &usize| {
            let partner = self.person(*partner);
            let unnamed = self.language == Language::Zh && is_unnamed(partner, self.language);
            !unnamed && !Patterns::is_group(self.language, &partner.name)
        };
        for (_, partner) in exchanges[exchanges.len().saturating_sub(RECENT_EXCHANGES)..]
            .iter()
            .filter(|(_, partner)| is_named(partner))
        {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::Gender;
    use crate::attribution::Paragraph;
    use crate::stages::extract::fixtures::{EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, attribution, indexed_book};

    fn notes(book: &BookIndex, index: usize, until: u32) -> Vec<(String, String)> {
        book.notes(index, until).into_iter().map(|note| (note.key, note.text)).collect()
    }

    #[test]
    fn slices_count_code_points() {
        for (language, text, people) in [(Language::En, EN, EN_PEOPLE), (Language::Zh, ZH, ZH_PEOPLE)] {
            let long = text.repeat(6);
            let book = indexed_book(language, &long, attribution(text, people, EN_SPEAKERS));
            let points: Vec<char> = long.chars().collect();
            for (start, end) in [(0, 5), (255, 257), (300, 300), (511, 700), (points.len() - 3, points.len() + 9)] {
                let expected: String = points[start..end.min(points.len())].iter().collect();
                let number = |at: usize| u32::try_from(at).expect("short");
                assert_eq!(book.slice(number(start), number(end)), expected);
            }
        }
    }

    #[test]
    fn notes_contain_nothing_from_later_text() {
        let book = indexed_book(Language::En, EN, attribution(EN, EN_PEOPLE, EN_SPEAKERS));
        let first = book.attribution.quotations[0].start;
        let early = notes(&book, 0, 60);
        assert_eq!(early, [("gender".to_owned(), "female".to_owned())]);
        assert!(notes(&book, 0, first).iter().any(|(key, _)| key == "public background"));
    }

    #[test]
    fn statements_of_other_characters_enter_the_profile() {
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
            let book = indexed_book(language, text, attribution(text, people, &[0, 0]));
            let statements: Vec<String> =
                notes(&book, 1, 200).into_iter().map(|(_, text)| text).filter(|text| text.contains('“')).collect();
            let closed = expected.contains(['.', '。']);
            assert_eq!(statements, if closed { vec![expected.to_owned()] } else { Vec::new() });
        }
    }

    #[test]
    fn a_cue_line_is_not_a_scene_break() {
        let text = "ANNA\n“Yes.”\n";
        let mut attribution = attribution(text, EN_PEOPLE, &[0]);
        attribution.paragraphs = vec![
            Paragraph { start: 0, end: 4, border: true },
            Paragraph { start: 5, end: 11, border: false },
            Paragraph { start: 12, end: 13, border: true },
        ];
        clear_cue_borders(&mut attribution);
        assert_eq!(
            attribution.paragraphs.iter().map(|paragraph| paragraph.border).collect::<Vec<_>>(),
            [false, false, true]
        );
    }

    /// Facts about the first person.
    fn facts_of_person_zero(language: Language, text: &str) -> Vec<(String, String)> {
        let people = if language == Language::En { EN_PEOPLE } else { ZH_PEOPLE };
        let book = indexed_book(language, text, attribution(text, people, &[]));
        notes(&book, 0, u32::MAX).into_iter().filter(|(key, _)| key != "gender" && key != "性别").collect()
    }

    #[test]
    fn profile_facts_are_about_their_subject_only() {
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
            let found = facts_of_person_zero(language, text);
            assert_eq!(found.first().map(|(key, _)| key.as_str()), key, "{text}{found:?}");
        }
    }

    #[test]
    fn names_with_diacritics_have_the_same_profile() {
        let notes_of = |name: &str| {
            let text =
                format!("{name} was always proud and careful. {name}, who had come from the coast, had grey hair.\n");
            let book = indexed_book(Language::En, &text, attribution(&text, &[(name, &[], Gender::Male)], &[]));
            let found = notes(&book, 0, u32::MAX).into_iter();
            found.map(|(key, note)| (key, note.replace(name, "Noel"))).collect::<Vec<(String, String)>>()
        };
        let expected = notes_of("Noel");
        assert!(expected.iter().any(|(key, _)| key == "persona"), "{expected:?}");
        for name in ["Noël", "Itō", "Forêt"] {
            assert_eq!(notes_of(name), expected, "{name}");
        }
    }
}
