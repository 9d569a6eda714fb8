//! English word classes.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

/// A verb that introduces speech.
pub(in crate::attribution) const SPEECH: u32 = 1;

/// A speech verb that has other common uses.
pub(in crate::attribution) const AMBIGUOUS_SPEECH: u32 = 1 << 1;

/// A verb whose subject is always a person.
pub(in crate::attribution) const ACTION: u32 = 1 << 2;

/// A feminine pronoun.
pub(in crate::attribution) const SHE: u32 = 1 << 3;

/// A masculine pronoun.
pub(in crate::attribution) const HE: u32 = 1 << 4;

/// A plural pronoun, or one for the participants of a conversation.
pub(in crate::attribution) const THEY: u32 = 1 << 5;

/// The first person singular.
pub(in crate::attribution) const NARRATOR: u32 = 1 << 6;

/// An article or demonstrative.
pub(in crate::attribution) const DETERMINER: u32 = 1 << 7;

/// A possessive pronoun.
pub(in crate::attribution) const POSSESSIVE: u32 = 1 << 8;

/// A preposition.
pub(in crate::attribution) const PREPOSITION: u32 = 1 << 9;

/// A title before a name.
pub(in crate::attribution) const TITLE: u32 = 1 << 10;

/// A title that a first name may follow.
pub(in crate::attribution) const TITLE_GIVEN: u32 = 1 << 11;

/// An adjective that may precede a name.
pub(in crate::attribution) const TITLE_LOOSE: u32 = 1 << 12;

/// A small word inside a name, such as `de`.
pub(in crate::attribution) const PARTICLE: u32 = 1 << 13;

/// A noun for a relative or companion.
pub(in crate::attribution) const KIN: u32 = 1 << 14;

/// A role noun: a person by occupation or kind.
pub(in crate::attribution) const ROLE: u32 = 1 << 15;

/// Feminine, of a title, kinship noun or role noun.
pub(in crate::attribution) const FEMALE: u32 = 1 << 16;

/// Masculine, of a title, kinship noun or role noun.
pub(in crate::attribution) const MALE: u32 = 1 << 17;

/// A capitalised word that is not a person's name.
pub(in crate::attribution) const STOP: u32 = 1 << 18;

/// An animal or thing that is a character in some books.
pub(in crate::attribution) const ANIMAL: u32 = 1 << 19;

/// A word that turns the name before it into a place name.
pub(in crate::attribution) const PLACE: u32 = 1 << 20;

/// A word whose full stop does not end a sentence.
pub(in crate::attribution) const ABBREVIATION: u32 = 1 << 21;

/// A female given name.
pub(in crate::attribution) const GIVEN_FEMALE: u32 = 1 << 22;

/// A male given name.
pub(in crate::attribution) const GIVEN_MALE: u32 = 1 << 23;

/// A word that opens a subordinate clause.
pub(in crate::attribution) const SUBORDINATOR: u32 = 1 << 24;

/// A role noun for anyone of a sex or age; it can refer to any character present.
pub(in crate::attribution) const GENERIC: u32 = 1 << 25;

/// A noun for something said.
pub(in crate::attribution) const UTTERANCE: u32 = 1 << 26;

/// A noun for something written.
pub(in crate::attribution) const WRITING: u32 = 1 << 27;

/// A verb that introduces writing.
pub(in crate::attribution) const WRITING_VERB: u32 = 1 << 28;

/// A word that greetings in letters begin with.
pub(in crate::attribution) const GREETING: u32 = 1 << 29;

/// A word that follows `your` or `yours` at the end of a letter.
pub(in crate::attribution) const CLOSING: u32 = 1 << 30;

/// The English tables.
pub(in crate::attribution) static ENGLISH: LazyLock<English> = LazyLock::new(English::load);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishFile {
    speech: String,
    ambiguous_speech: String,
    actions: String,
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
    animals: String,
    places: String,
    abbreviations: String,
    stop: String,
    elided: String,
    subordinators: String,
    generic: String,
    utterances: String,
    writings: String,
    writing_verbs: String,
    greetings: String,
    closings: String,
    professions: String,
    auxiliaries: String,
    adverbs: String,
    elder_kin: String,
    assertion_openers: String,
    byline_works: String,
    present_verbs: String,
    title_forms: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishNamesFile {
    female: String,
    male: String,
    short: String,
}

/// The classes of English words.
pub(in crate::attribution) struct English {
    classes: HashMap<String, u32>,
    /// Words that begin with an apostrophe.
    pub(in crate::attribution) elided: HashSet<String>,
    /// Professional titles whose bearers are also called Mr.
    pub(in crate::attribution) professions: HashSet<String>,
    /// Auxiliary verbs.
    pub(in crate::attribution) auxiliaries: HashSet<String>,
    /// Adverbs and similar words between a subject and its verb. Words in -ly need no entry.
    pub(in crate::attribution) adverbs: HashSet<String>,
    /// Kinship nouns for a married or older relative, who is called by a title such as Mrs. or Lady.
    pub(in crate::attribution) elder_kin: HashSet<String>,
    /// Words before a main clause that leave it an assertion.
    pub(in crate::attribution) assertion_openers: HashSet<String>,
    /// Words before `by` in a byline.
    pub(in crate::attribution) byline_works: HashSet<String>,
    /// Verbs in the present tense, which occur in speech rather than in past-tense narration.
    pub(in crate::attribution) present_verbs: HashSet<String>,
    /// Canonical form of each title that has another.
    pub(in crate::attribution) title_forms: HashMap<String, String>,
    /// Short forms of given names, each with the names that it may stand for.
    short: HashMap<String, Vec<String>>,
}

impl English {
    pub(super) fn load() -> Self {
        let file: EnglishFile = embedded_toml!("english.toml");
        let names: EnglishNamesFile = embedded_toml!("english_names.toml");
        let mut classes = HashMap::new();
        for (words, class) in [
            (&file.speech, SPEECH),
            (&file.ambiguous_speech, SPEECH | AMBIGUOUS_SPEECH),
            (&file.actions, ACTION),
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
            (&file.animals, ROLE | ANIMAL),
            (&file.places, PLACE),
            (&file.abbreviations, ABBREVIATION),
            (&file.stop, STOP),
            (&file.subordinators, SUBORDINATOR),
            (&file.generic, GENERIC),
            (&file.utterances, UTTERANCE),
            (&file.writings, WRITING),
            (&file.writing_verbs, WRITING_VERB),
            (&file.greetings, GREETING),
            (&file.closings, CLOSING),
            (&names.female, GIVEN_FEMALE),
            (&names.male, GIVEN_MALE),
        ] {
            for word in words.split_whitespace() {
                *classes.entry(word.to_owned()).or_insert(0) |= class;
            }
        }
        let mut short: HashMap<String, Vec<String>> = HashMap::new();
        for (pets, names) in names.short.lines().filter_map(|line| line.split_once('=')) {
            for pet in pets.split_whitespace() {
                short.entry(pet.to_owned()).or_default().extend(names.split_whitespace().map(str::to_owned));
            }
        }
        let words = |list: &str| list.split_whitespace().map(str::to_owned).collect::<HashSet<String>>();
        let title_forms = file.title_forms.lines().filter_map(|line| line.split_once('='));
        let title_forms = title_forms.flat_map(|(titles, form)| {
            titles.split_whitespace().map(|title| (title.to_owned(), form.trim().to_owned()))
        });
        Self {
            classes,
            elided: words(&file.elided),
            professions: words(&file.professions),
            auxiliaries: words(&file.auxiliaries),
            adverbs: words(&file.adverbs),
            elder_kin: words(&file.elder_kin),
            assertion_openers: words(&file.assertion_openers),
            byline_works: words(&file.byline_works),
            present_verbs: words(&file.present_verbs),
            title_forms: title_forms.collect(),
            short,
        }
    }

    /// Whether a lower-case name may be a short form of another.
    pub(in crate::attribution) fn shortens(&self, short: &str, long: &str) -> bool {
        self.short.get(short).is_some_and(|names| names.iter().any(|name| name == long))
    }

    /// Returns the classes of a lower-case word, as bits.
    pub(in crate::attribution) fn class(&self, word: &str) -> u32 {
        self.classes.get(word).copied().unwrap_or(0)
    }

    /// Whether a lower-case word is of any of the given classes.
    pub(in crate::attribution) fn is(&self, word: &str, class: u32) -> bool {
        self.class(word) & class != 0
    }
}
