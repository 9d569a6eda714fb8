//! Chinese word lists, and folding of traditional characters.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::word_set::{CharSet, WordSet};

/// The Chinese tables.
pub(in crate::attribution) static CHINESE: LazyLock<Chinese> = LazyLock::new(Chinese::load);

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
    main_name_markers: String,
    extra_name_markers: String,
    name_links: String,
    places: String,
    surnames: String,
    titles_female: String,
    titles_male: String,
    titles_either: String,
    generic_female: String,
    generic_male: String,
    generic_either: String,
    roles: String,
    not_in_names: String,
    not_names: String,
    actions: String,
    classifiers: String,
    plurals: String,
    place_suffixes: String,
    times: String,
    sounds: String,
    writings: String,
    writing_verbs: String,
    greetings: String,
    closings: String,
    same_person_titles: String,
    maiden_titles: String,
    family_ranks: String,
    family_kin: String,
    nickname_marks: String,
    rural_nicknames: String,
    common_roles: String,
    naming_verbs: String,
    identity_verbs: String,
    group_members: String,
    group_openings: String,
    voices: String,
    plural_determiners: String,
    distinct_main_names: String,
    person_pointers: String,
    address_endings: String,
    not_in_short_names: String,
    name_introductions: String,
    name_followers: String,
}

/// Traditional characters, and the simplified character for each at the same position.
#[derive(Deserialize)]
struct ScriptsFile {
    traditional: String,
    simplified: String,
}

/// The classes of Chinese words. All lists hold simplified forms; fold text with [`Chinese::fold`] before looking it
/// up.
pub(in crate::attribution) struct Chinese {
    pub(in crate::attribution) speech: WordSet,
    pub(in crate::attribution) manner: WordSet,
    pub(in crate::attribution) opening: WordSet,
    pub(in crate::attribution) objects: WordSet,
    pub(in crate::attribution) she: WordSet,
    pub(in crate::attribution) he: WordSet,
    pub(in crate::attribution) narrator: WordSet,
    pub(in crate::attribution) plural: WordSet,
    /// Words that introduce a character's main name.
    pub(in crate::attribution) main_name_markers: WordSet,
    /// Words that introduce an additional name.
    pub(in crate::attribution) extra_name_markers: WordSet,
    /// Words that may stand between a naming word and the name.
    pub(in crate::attribution) name_links: WordSet,
    /// Suffixes of names of places and things.
    pub(in crate::attribution) places: WordSet,
    pub(in crate::attribution) surnames: WordSet,
    pub(in crate::attribution) titles_female: WordSet,
    pub(in crate::attribution) titles_male: WordSet,
    pub(in crate::attribution) titles_either: WordSet,
    pub(in crate::attribution) generic_female: WordSet,
    pub(in crate::attribution) generic_male: WordSet,
    pub(in crate::attribution) generic_either: WordSet,
    pub(in crate::attribution) roles: WordSet,
    pub(in crate::attribution) not_in_names: WordSet,
    /// Words of two or more characters that are not names.
    pub(in crate::attribution) not_names: WordSet,
    pub(in crate::attribution) actions: WordSet,
    pub(in crate::attribution) classifiers: WordSet,
    pub(in crate::attribution) plurals: WordSet,
    /// Words that turn the word before them into a place or a body part.
    pub(in crate::attribution) place_suffixes: WordSet,
    /// Phrases that open a paragraph after time has passed.
    pub(in crate::attribution) times: WordSet,
    /// Characters used to transcribe foreign names.
    pub(in crate::attribution) sounds: CharSet,
    /// Nouns for something written.
    pub(in crate::attribution) writings: WordSet,
    /// Words that end a clause which introduces writing.
    pub(in crate::attribution) writing_verbs: WordSet,
    /// Greetings of letters, before a colon.
    pub(in crate::attribution) greetings: WordSet,
    /// Closings of letters.
    pub(in crate::attribution) closings: WordSet,
    /// Titles that refer to the same person when added to a name.
    pub(in crate::attribution) same_person_titles: WordSet,
    /// Titles of unmarried women, who have their own surname.
    pub(in crate::attribution) maiden_titles: WordSet,
    /// Characters for the age or rank of a member of a family, before a kinship character.
    pub(in crate::attribution) family_ranks: WordSet,
    /// Kinship characters after them.
    pub(in crate::attribution) family_kin: WordSet,
    /// Characters for looks and disabilities, before 子 in nicknames.
    pub(in crate::attribution) nickname_marks: WordSet,
    /// Nicknames of village children, after a numeral.
    pub(in crate::attribution) rural_nicknames: WordSet,
    /// Nouns that are part of names but also apply to many people.
    pub(in crate::attribution) common_roles: WordSet,
    /// Verbs right before the name that a noun is given.
    pub(in crate::attribution) naming_verbs: WordSet,
    /// Starts of a clause that identifies a person mentioned before.
    pub(in crate::attribution) identity_verbs: WordSet,
    /// Words between a group and the member of it that is introduced.
    pub(in crate::attribution) group_members: WordSet,
    /// The same at the start of a clause.
    pub(in crate::attribution) group_openings: WordSet,
    /// Words for a voice, which may stand for its owner.
    pub(in crate::attribution) voices: WordSet,
    /// Determiners for more than one.
    pub(in crate::attribution) plural_determiners: WordSet,
    /// Kinds of main name, of which a person may have several.
    pub(in crate::attribution) distinct_main_names: WordSet,
    /// Pronouns and demonstratives for the person mentioned last.
    pub(in crate::attribution) person_pointers: WordSet,
    /// Last characters of forms of address that other lists hold only as part of longer words.
    pub(in crate::attribution) address_endings: WordSet,
    /// Characters (mostly verbs and adverbs) that a name of two characters does not contain after its surname.
    pub(in crate::attribution) not_in_short_names: WordSet,
    /// Words before a name in quotation marks.
    pub(in crate::attribution) name_introductions: WordSet,
    /// Words after a stated name, which end it.
    pub(in crate::attribution) name_followers: WordSet,
    simplified: HashMap<char, char>,
    folded: CharSet,
}

/// Marks inside a foreign name, folded to `·`.
const DOTS: [char; 4] = ['•', '・', '‧', '∙'];

impl Chinese {
    pub(super) fn load() -> Self {
        let file: ChineseFile = embedded_toml!("chinese.toml");
        let scripts: ScriptsFile = embedded_toml!("scripts.toml");
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
            main_name_markers: WordSet::new(&file.main_name_markers),
            extra_name_markers: WordSet::new(&file.extra_name_markers),
            name_links: WordSet::new(&file.name_links),
            places: WordSet::new(&file.places),
            surnames: WordSet::new(&file.surnames),
            titles_female: WordSet::new(&file.titles_female),
            titles_male: WordSet::new(&file.titles_male),
            titles_either: WordSet::new(&file.titles_either),
            generic_female: WordSet::new(&file.generic_female),
            generic_male: WordSet::new(&file.generic_male),
            generic_either: WordSet::new(&file.generic_either),
            roles: WordSet::new(&file.roles),
            not_in_names: WordSet::new(&file.not_in_names),
            not_names: WordSet::new(&file.not_names),
            actions: WordSet::new(&file.actions),
            classifiers: WordSet::new(&file.classifiers),
            plurals: WordSet::new(&file.plurals),
            place_suffixes: WordSet::new(&file.place_suffixes),
            times: WordSet::new(&file.times),
            sounds: CharSet::of(file.sounds.chars()),
            writings: WordSet::new(&file.writings),
            writing_verbs: WordSet::new(&file.writing_verbs),
            greetings: WordSet::new(&file.greetings),
            closings: WordSet::new(&file.closings),
            same_person_titles: WordSet::new(&file.same_person_titles),
            maiden_titles: WordSet::new(&file.maiden_titles),
            family_ranks: WordSet::new(&file.family_ranks),
            family_kin: WordSet::new(&file.family_kin),
            nickname_marks: WordSet::new(&file.nickname_marks),
            rural_nicknames: WordSet::new(&file.rural_nicknames),
            common_roles: WordSet::new(&file.common_roles),
            naming_verbs: WordSet::new(&file.naming_verbs),
            identity_verbs: WordSet::new(&file.identity_verbs),
            group_members: WordSet::new(&file.group_members),
            group_openings: WordSet::new(&file.group_openings),
            voices: WordSet::new(&file.voices),
            plural_determiners: WordSet::new(&file.plural_determiners),
            distinct_main_names: WordSet::new(&file.distinct_main_names),
            person_pointers: WordSet::new(&file.person_pointers),
            address_endings: WordSet::new(&file.address_endings),
            not_in_short_names: WordSet::new(&file.not_in_short_names),
            name_introductions: WordSet::new(&file.name_introductions),
            name_followers: WordSet::new(&file.name_followers),
            folded: CharSet::of(simplified.keys().copied()),
            simplified,
        }
    }

    /// Returns the simplified form of a character if the tables have it, else the character itself.
    pub(in crate::attribution) fn fold(&self, c: char) -> char {
        if self.folded.has(c) { self.simplified.get(&c).copied().unwrap_or(c) } else { c }
    }

    /// Whether a folded clause ends in a speech verb, aspect particles ignored.
    pub(in crate::attribution) fn ends_in_speech(&self, clause: &[char]) -> bool {
        let bare = clause.len() - clause.iter().rev().take_while(|c| matches!(c, '着' | '了' | '过')).count();
        self.speech.tail(clause) > 0 || self.speech.tail(&clause[..bare]) > 0
    }
}
