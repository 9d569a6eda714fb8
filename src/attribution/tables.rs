//! The word lists used by the rules, loaded once from `words/`.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use serde::Deserialize;

/// A verb that introduces speech.
pub(super) const SPEECH: u32 = 1;
/// A speech verb that has other common uses.
pub(super) const FAINT: u32 = 1 << 1;
/// A verb whose subject is always a person.
pub(super) const DEED: u32 = 1 << 2;
/// A feminine pronoun.
pub(super) const SHE: u32 = 1 << 3;
/// A masculine pronoun.
pub(super) const HE: u32 = 1 << 4;
/// A plural pronoun, or one for the participants of a conversation.
pub(super) const THEY: u32 = 1 << 5;
/// The first person singular.
pub(super) const NARRATOR: u32 = 1 << 6;
/// An article or demonstrative.
pub(super) const DETERMINER: u32 = 1 << 7;
/// A possessive pronoun.
pub(super) const POSSESSIVE: u32 = 1 << 8;
/// A preposition.
pub(super) const PREPOSITION: u32 = 1 << 9;
/// A title before a name.
pub(super) const TITLE: u32 = 1 << 10;
/// A title that a first name may follow.
pub(super) const TITLE_GIVEN: u32 = 1 << 11;
/// An adjective that may precede a name.
pub(super) const TITLE_LOOSE: u32 = 1 << 12;
/// A small word inside a name, such as `de`.
pub(super) const PARTICLE: u32 = 1 << 13;
/// A noun for a relative or companion.
pub(super) const KIN: u32 = 1 << 14;
/// A role noun: a person by occupation or kind.
pub(super) const ROLE: u32 = 1 << 15;
/// Feminine, of a title, kinship noun or role noun.
pub(super) const FEMALE: u32 = 1 << 16;
/// Masculine, of a title, kinship noun or role noun.
pub(super) const MALE: u32 = 1 << 17;
/// A capitalised word that is not a person's name.
pub(super) const STOP: u32 = 1 << 18;
/// An animal or thing that is a character in some books.
pub(super) const BEAST: u32 = 1 << 19;
/// A word that turns the name before it into a place name.
pub(super) const PLACE: u32 = 1 << 20;
/// A word whose full stop does not end a sentence.
pub(super) const ABBREVIATION: u32 = 1 << 21;
/// A female given name.
pub(super) const GIVEN_FEMALE: u32 = 1 << 22;
/// A male given name.
pub(super) const GIVEN_MALE: u32 = 1 << 23;
/// A word that opens a subordinate clause.
pub(super) const SUBORDINATOR: u32 = 1 << 24;
/// A role noun for anyone of a sex or age; it can refer to any character present.
pub(super) const GENERIC: u32 = 1 << 25;
/// A noun for something said.
pub(super) const UTTERANCE: u32 = 1 << 26;
/// A noun for something written.
pub(super) const WRITING: u32 = 1 << 27;
/// A verb that introduces writing.
pub(super) const WRITES: u32 = 1 << 28;
/// A word that greetings in letters begin with.
pub(super) const GREETING: u32 = 1 << 29;
/// A word that follows `your` or `yours` at the end of a letter.
pub(super) const CLOSING: u32 = 1 << 30;

/// The English tables.
pub(super) static ENGLISH: LazyLock<English> = LazyLock::new(English::load);

/// The Chinese tables.
pub(super) static CHINESE: LazyLock<Chinese> = LazyLock::new(Chinese::load);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishFile {
    speech: String,
    faint: String,
    deeds: String,
    she: String,
    he: String,
    they: String,
    narrator: String,
    determiners: String,
    possessives: String,
    prepositions: String,
    titles_female: String,
    titles_male: String,
    titles_either: String,
    titles_given: String,
    titles_loose: String,
    particles: String,
    kin_female: String,
    kin_male: String,
    kin_either: String,
    roles_female: String,
    roles_male: String,
    roles_either: String,
    beasts: String,
    places: String,
    abbreviations: String,
    stop: String,
    elided: String,
    subordinators: String,
    generic: String,
    utterances: String,
    writings: String,
    writes: String,
    greetings: String,
    closings: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishNamesFile {
    female: String,
    male: String,
    short: String,
}

/// The classes of English words.
pub(super) struct English {
    classes: HashMap<String, u32>,
    /// Words that begin with an apostrophe.
    pub(super) elided: HashSet<String>,
    /// Short forms of given names, each with the names that it may stand for.
    short: HashMap<String, Vec<String>>,
}

impl English {
    fn load() -> Self {
        let file: EnglishFile =
            toml::from_str(include_str!("words/english.toml")).expect("word lists are embedded and tested");
        let given: EnglishNamesFile =
            toml::from_str(include_str!("words/english_names.toml")).expect("word lists are embedded and tested");
        let mut classes = HashMap::new();
        for (words, class) in [
            (&file.speech, SPEECH),
            (&file.faint, SPEECH | FAINT),
            (&file.deeds, DEED),
            (&file.she, SHE),
            (&file.he, HE),
            (&file.they, THEY),
            (&file.narrator, NARRATOR),
            (&file.determiners, DETERMINER),
            (&file.possessives, POSSESSIVE),
            (&file.prepositions, PREPOSITION),
            (&file.titles_female, TITLE | FEMALE),
            (&file.titles_male, TITLE | MALE),
            (&file.titles_either, TITLE),
            (&file.titles_given, TITLE_GIVEN),
            (&file.titles_loose, TITLE_LOOSE),
            (&file.particles, PARTICLE),
            (&file.kin_female, KIN | FEMALE),
            (&file.kin_male, KIN | MALE),
            (&file.kin_either, KIN),
            (&file.roles_female, ROLE | FEMALE),
            (&file.roles_male, ROLE | MALE),
            (&file.roles_either, ROLE),
            (&file.beasts, ROLE | BEAST),
            (&file.places, PLACE),
            (&file.abbreviations, ABBREVIATION),
            (&file.stop, STOP),
            (&file.subordinators, SUBORDINATOR),
            (&file.generic, GENERIC),
            (&file.utterances, UTTERANCE),
            (&file.writings, WRITING),
            (&file.writes, WRITES),
            (&file.greetings, GREETING),
            (&file.closings, CLOSING),
            (&given.female, GIVEN_FEMALE),
            (&given.male, GIVEN_MALE),
        ] {
            for word in words.split_whitespace() {
                *classes.entry(word.to_owned()).or_insert(0) |= class;
            }
        }
        let mut short: HashMap<String, Vec<String>> = HashMap::new();
        for (pets, names) in given.short.lines().filter_map(|line| line.split_once('=')) {
            for pet in pets.split_whitespace() {
                short.entry(pet.to_owned()).or_default().extend(names.split_whitespace().map(str::to_owned));
            }
        }
        Self { classes, elided: file.elided.split_whitespace().map(str::to_owned).collect(), short }
    }

    /// Whether a lower-case name may be a short form of another.
    pub(super) fn shortens(&self, short: &str, long: &str) -> bool {
        self.short.get(short).is_some_and(|names| names.iter().any(|name| name == long))
    }

    /// Returns the classes of a lower-case word, as bits.
    pub(super) fn class(&self, word: &str) -> u32 {
        self.classes.get(word).copied().unwrap_or(0)
    }

    /// Whether a lower-case word is of any of the given classes.
    pub(super) fn is(&self, word: &str, class: u32) -> bool {
        self.class(word) & class != 0
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChineseFile {
    speech: String,
    manner: String,
    opening: String,
    objects: String,
    she: String,
    he: String,
    narrator: String,
    plural: String,
    named: String,
    styled: String,
    links: String,
    places: String,
    surnames: String,
    titles_female: String,
    titles_male: String,
    titles_either: String,
    generic_female: String,
    generic_male: String,
    generic_either: String,
    roles: String,
    never: String,
    common: String,
    deeds: String,
    classifiers: String,
    several: String,
    parts: String,
    times: String,
    sounds: String,
    writings: String,
    writes: String,
    greetings: String,
    closings: String,
}

/// Traditional characters, and the simplified character for each at the same position.
#[derive(Deserialize)]
struct ScriptsFile {
    traditional: String,
    simplified: String,
}

/// A set of short words that is matched against the start or end of a clause.
pub(super) struct WordSet {
    set: HashSet<Vec<char>, BuildWordHasher>,
    longest: usize,
    /// First and last characters of the words, so that most look-ups need no hash.
    first: CharSet,
    last: CharSet,
}

impl WordSet {
    fn new(list: &str) -> Self {
        let set: HashSet<Vec<char>, BuildWordHasher> =
            list.split_whitespace().map(|word| word.chars().collect()).collect();
        let longest = set.iter().map(Vec::len).max().unwrap_or(0);
        let mut words = Self { set: HashSet::default(), longest, first: CharSet::default(), last: CharSet::default() };
        for word in &set {
            words.first.add(word[0]);
            words.last.add(word[word.len() - 1]);
        }
        Self { set, ..words }
    }

    /// Whether the whole text is one of the words.
    pub(super) fn has(&self, word: &[char]) -> bool {
        word.first().is_some_and(|&c| self.first.has(c)) && word.len() <= self.longest && self.set.contains(word)
    }

    /// Returns the length of the longest word that the text starts with, 0 if none.
    pub(super) fn head(&self, chars: &[char]) -> usize {
        if !chars.first().is_some_and(|&c| self.first.has(c)) {
            return 0;
        }
        (1..=self.longest.min(chars.len())).rev().find(|&n| self.set.contains(&chars[..n])).unwrap_or(0)
    }

    /// Returns the length of the longest word that the text ends with, 0 if none.
    pub(super) fn tail(&self, chars: &[char]) -> usize {
        if !chars.last().is_some_and(|&c| self.last.has(c)) {
            return 0;
        }
        (1..=self.longest.min(chars.len())).rev().find(|&n| self.set.contains(&chars[chars.len() - n..])).unwrap_or(0)
    }
}

/// Fast hasher for the words of a table, which are looked up at every character of a book. The words are shipped with
/// the program, so no input can force collisions.
#[derive(Default)]
struct WordHasher(u64);

type BuildWordHasher = BuildHasherDefault<WordHasher>;

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, value: usize) {
        self.0 ^= value as u64;
    }
}

/// A set of characters: one bit each for the first 65,536 code points; all others count as members.
#[derive(Debug, Clone, Default)]
pub(super) struct CharSet {
    bits: Vec<u64>,
}

impl CharSet {
    /// Returns the set of the given characters, whitespace excluded.
    pub(super) fn of(chars: impl Iterator<Item = char>) -> Self {
        let mut set = Self::default();
        chars.filter(|c| !c.is_whitespace()).for_each(|c| set.add(c));
        set
    }

    /// Adds a character.
    pub(super) fn add(&mut self, c: char) {
        let at = c as usize;
        if at < 0x1_0000 {
            if self.bits.is_empty() {
                self.bits = vec![0; 0x400];
            }
            self.bits[at / 64] |= 1 << (at % 64);
        }
    }

    /// Whether the set may contain a character.
    pub(super) fn has(&self, c: char) -> bool {
        let at = c as usize;
        at >= 0x1_0000 || self.bits.get(at / 64).is_some_and(|bits| bits & (1 << (at % 64)) != 0)
    }
}

/// The classes of Chinese words. All lists hold simplified forms; fold text with [`Chinese::fold`] before looking it
/// up.
pub(super) struct Chinese {
    pub(super) speech: WordSet,
    pub(super) manner: WordSet,
    pub(super) opening: WordSet,
    pub(super) objects: WordSet,
    pub(super) she: WordSet,
    pub(super) he: WordSet,
    pub(super) narrator: WordSet,
    pub(super) plural: WordSet,
    /// Words that introduce a character's main name.
    pub(super) named: WordSet,
    /// Words that introduce an additional name.
    pub(super) styled: WordSet,
    /// Words that may stand between a naming word and the name.
    pub(super) links: WordSet,
    /// Suffixes of names of places and things.
    pub(super) places: WordSet,
    pub(super) surnames: WordSet,
    pub(super) titles_female: WordSet,
    pub(super) titles_male: WordSet,
    pub(super) titles_either: WordSet,
    pub(super) generic_female: WordSet,
    pub(super) generic_male: WordSet,
    pub(super) generic_either: WordSet,
    pub(super) roles: WordSet,
    pub(super) never: WordSet,
    /// Words of two or more characters that are no names.
    pub(super) common: WordSet,
    pub(super) deeds: WordSet,
    pub(super) classifiers: WordSet,
    pub(super) several: WordSet,
    /// Words that turn the word before them into a place or a body part.
    pub(super) parts: WordSet,
    /// Phrases that open a paragraph after time has passed.
    pub(super) times: WordSet,
    /// Characters used to transcribe foreign names.
    pub(super) sounds: CharSet,
    /// Nouns for something written.
    pub(super) writings: WordSet,
    /// Words that end a clause which introduces writing.
    pub(super) writes: WordSet,
    /// Greetings of letters, before a colon.
    pub(super) greetings: WordSet,
    /// Closings of letters.
    pub(super) closings: WordSet,
    simplified: HashMap<char, char>,
    folded: CharSet,
}

/// Marks inside a foreign name, folded to `·`.
const DOTS: [char; 4] = ['•', '・', '‧', '∙'];

impl Chinese {
    fn load() -> Self {
        let file: ChineseFile =
            toml::from_str(include_str!("words/chinese.toml")).expect("word lists are embedded and tested");
        let scripts: ScriptsFile =
            toml::from_str(include_str!("words/scripts.toml")).expect("word lists are embedded and tested");
        let chars = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<char>>();
        let simplified = chars(&scripts.simplified).into_iter().chain(DOTS.map(|_| '·'));
        let simplified: HashMap<char, char> =
            chars(&scripts.traditional).into_iter().chain(DOTS).zip(simplified).collect();
        Self {
            speech: WordSet::new(&file.speech),
            manner: WordSet::new(&file.manner),
            opening: WordSet::new(&file.opening),
            objects: WordSet::new(&file.objects),
            she: WordSet::new(&file.she),
            he: WordSet::new(&file.he),
            narrator: WordSet::new(&file.narrator),
            plural: WordSet::new(&file.plural),
            named: WordSet::new(&file.named),
            styled: WordSet::new(&file.styled),
            links: WordSet::new(&file.links),
            places: WordSet::new(&file.places),
            surnames: WordSet::new(&file.surnames),
            titles_female: WordSet::new(&file.titles_female),
            titles_male: WordSet::new(&file.titles_male),
            titles_either: WordSet::new(&file.titles_either),
            generic_female: WordSet::new(&file.generic_female),
            generic_male: WordSet::new(&file.generic_male),
            generic_either: WordSet::new(&file.generic_either),
            roles: WordSet::new(&file.roles),
            never: WordSet::new(&file.never),
            common: WordSet::new(&file.common),
            deeds: WordSet::new(&file.deeds),
            classifiers: WordSet::new(&file.classifiers),
            several: WordSet::new(&file.several),
            parts: WordSet::new(&file.parts),
            times: WordSet::new(&file.times),
            sounds: CharSet::of(file.sounds.chars()),
            writings: WordSet::new(&file.writings),
            writes: WordSet::new(&file.writes),
            greetings: WordSet::new(&file.greetings),
            closings: WordSet::new(&file.closings),
            folded: CharSet::of(simplified.keys().copied()),
            simplified,
        }
    }

    /// Returns the simplified form of a character if the tables have it, else the character itself.
    pub(super) fn fold(&self, c: char) -> char {
        if self.folded.has(c) { self.simplified.get(&c).copied().unwrap_or(c) } else { c }
    }

    /// Whether a folded clause ends in a speech verb, aspect particles ignored.
    pub(super) fn ends_in_speech(&self, clause: &[char]) -> bool {
        let bare = clause.len() - clause.iter().rev().take_while(|c| matches!(c, '着' | '了' | '过')).count();
        self.speech.tail(clause) > 0 || self.speech.tail(&clause[..bare]) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_what_rules_ask_for() {
        assert!(ENGLISH.is("said", SPEECH) && !ENGLISH.is("said", FAINT));
        assert!(ENGLISH.is("mrs", FEMALE) && ENGLISH.is("captain", TITLE));
        assert!(ENGLISH.is("ruth", GIVEN_FEMALE) && ENGLISH.shortens("tom", "thomas"));
        assert!(!ENGLISH.shortens("tom", "theodore"));
        let clause: Vec<char> = "那人說".chars().map(|c| CHINESE.fold(c)).collect();
        assert!(CHINESE.ends_in_speech(&clause));
        assert_eq!(CHINESE.surnames.head(&['欧', '阳', '木']), 2);
    }
}
