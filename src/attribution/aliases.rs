//! The characters of a book as a TOML file: the program writes what attribution found, and uses the file as corrected
//! by the user.
//!
//! Defines and validates the content of the file; does no I/O and attributes no quotation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attribution, Gender, Person, folded};

/// The characters of a book: `scene_pool/aliases/<book slug>.toml`, or a file for `extract --characters`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Aliases {
    /// The name of the character in this file who narrates the book in the first person.
    pub narrator: Option<String>,
    /// Names that are not characters, such as places.
    pub ignore: Vec<String>,
    /// The complete list of characters.
    pub people: Vec<KnownCharacter>,
}

/// A character of a book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownCharacter {
    /// The character's name in scenes.
    #[schemars(length(min = 1))]
    pub name: String,
    /// All other names of the character in the book, none of them shared with another character. If unset, they are
    /// found by rule.
    #[serde(default)]
    pub aliases: Option<Vec<String>>,
    /// The gender. If unset, it is found by rule.
    #[serde(default)]
    pub gender: Option<Gender>,
}

impl KnownCharacter {
    /// Returns the name and the aliases.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(self.aliases.iter().flatten()).map(String::as_str)
    }
}

/// An error in the content of an [`Aliases`] file that is syntactically valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasFault {
    /// JSON Pointer to the value.
    pub pointer: String,
    /// The problem.
    pub message: String,
    /// What is expected instead.
    pub expected: String,
    /// The unknown name, if another name of the file may have been meant.
    pub unknown: Option<String>,
}

/// What first-person narrators call themselves.
pub(crate) const NARRATOR: [&str; 2] = ["I", "我"];

/// The prefix of the first line, which has the hash of the rest.
const HASH_PREFIX: &str = "# As written: ";

impl Aliases {
    /// Returns the characters found by attribution. A name of two characters goes to the first one.
    #[must_use]
    pub fn of(attribution: &Attribution) -> Self {
        let people = || named_people(attribution).map(|(index, known)| (&attribution.people[index], known));
        let narrates = |form: &String| NARRATOR.contains(&form.as_str());
        let narrator = people().find(|(person, _)| std::iter::once(&person.name).chain(&person.aliases).any(narrates));
        Self {
            narrator: narrator.map(|(_, known)| known.name),
            ignore: Vec::new(),
            people: people().map(|(_, known)| known).collect(),
        }
    }

    /// Returns the errors: empty names, names of two characters, an unknown narrator.
    #[must_use]
    pub fn faults(&self) -> Vec<AliasFault> {
        let mut faults = Vec::new();
        let mut report = |pointer: String, message: String, expected: String, unknown: Option<&str>| {
            faults.push(AliasFault { pointer, message, expected, unknown: unknown.map(str::to_owned) });
        };
        let mut owners: BTreeMap<String, usize> = BTreeMap::new();
        for (index, person) in self.people.iter().enumerate() {
            for (position, form) in person.forms().enumerate() {
                let pointer = match position.checked_sub(1) {
                    None => format!("/people/{index}/name"),
                    Some(position) => format!("/people/{index}/aliases/{position}"),
                };
                let key = key(form);
                if key.is_empty() {
                    let expected = "a name with a letter, or nothing";
                    report(pointer, "this name has no letter".to_owned(), expected.to_owned(), None);
                    continue;
                }
                let owner = *owners.entry(key).or_insert(index);
                if owner != index {
                    let other = &self.people[owner].name;
                    let message = format!("`{form}` is already a name of `{other}`");
                    let expected = format!("the name at one character only: remove it here or at `{other}`");
                    report(pointer, message, expected, None);
                }
            }
        }
        for (index, form) in self.ignore.iter().enumerate() {
            let pointer = format!("/ignore/{index}");
            match owners.get(&key(form)) {
                Some(&owner) => {
                    let message = format!("`{form}` is ignored and also a name of `{}`", self.people[owner].name);
                    report(pointer, message, "the name in one of the two places".to_owned(), None);
                }
                None if key(form).is_empty() => {
                    report(pointer, "this name has no letter".to_owned(), "a name with a letter".to_owned(), None);
                }
                None => {}
            }
        }
        if let Some(narrator) = &self.narrator
            && !owners.contains_key(&key(narrator))
        {
            let message = format!("the narrator `{narrator}` is not a character in this file");
            report("/narrator".to_owned(), message, "a name or alias of one of `people`".to_owned(), Some(narrator));
        }
        faults
    }

    /// Gives each name of two characters to the first one, and drops characters without a name.
    pub fn assign_shared_names(&mut self) {
        let mut used_keys: BTreeSet<String> = BTreeSet::new();
        self.people.retain_mut(|person| {
            let forms: Vec<String> =
                person.forms().filter(|form| used_keys.insert(key(form))).map(str::to_owned).collect();
            let is_complete = person.aliases.is_some();
            let mut forms = forms.into_iter();
            forms.next().is_some_and(|name| {
                person.name = name;
                person.aliases = is_complete.then(|| forms.collect());
                true
            })
        });
    }

    /// Returns all names and aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.people.iter().flat_map(KnownCharacter::forms)
    }

    /// Returns the part of the file that applies to the text of a book in another language, where `attribution` is the
    /// attribution of that text without the file. Returns `None` if the file names none of its characters, e.g. because
    /// it was edited before that text was added.
    ///
    /// The narrator is the one of the file if that text has the character, or else the one found by rule.
    #[must_use]
    pub fn for_translation(&self, attribution: &Attribution) -> Option<Self> {
        let by_rule = Self::of(attribution);
        let keys_by_rule: BTreeSet<String> = by_rule.names().map(key).collect();
        let is_in_text = |person: &&KnownCharacter| person.forms().any(|form| keys_by_rule.contains(&key(form)));
        self.people.iter().find(is_in_text)?;
        let character_named =
            |name: &String| self.people.iter().find(|person| person.forms().any(|form| key(form) == key(name)));
        let listed_narrator =
            self.narrator.as_ref().filter(|name| character_named(name).as_ref().is_some_and(is_in_text));
        let narrator =
            listed_narrator.or(by_rule.narrator.as_ref().filter(|name| character_named(name).is_some())).cloned();
        Some(Self { narrator, ..self.clone() })
    }

    /// Returns the names of characters that the attribution made with this file did not find.
    #[must_use]
    pub fn missing<'a>(&self, attribution: &'a Attribution) -> Vec<&'a str> {
        let absent = attribution.people.iter().filter(|person| person.mentions == 0 && person.lines == 0);
        absent.map(|person| person.name.as_str()).collect()
    }
}

/// Returns the characters of an attribution that have a name of their own, each with its index.
fn named_people(attribution: &Attribution) -> impl Iterator<Item = (usize, KnownCharacter)> {
    let mut used_keys: BTreeSet<String> = BTreeSet::new();
    attribution.people.iter().enumerate().filter_map(move |(index, person)| {
        let forms = std::iter::once(&person.name).chain(&person.aliases);
        let mut names = forms
            .filter(|form| **form == person.name || !NARRATOR.contains(&form.as_str()))
            .filter(|form| used_keys.insert(key(form)))
            .cloned();
        let name = names.next()?;
        let gender = (person.gender != Gender::Unknown).then_some(person.gender);
        Some((index, KnownCharacter { name, aliases: Some(names.collect()), gender }))
    })
}

/// A character of the file, with its counts.
struct Entry {
    known: KnownCharacter,
    lines: u32,
    mentions: u32,
}

/// Merges the characters of several attributions of one book, the one in the book's own language first. A character
/// with the same name as an earlier one in another language is the same character.
fn entries(attributions: &[&Attribution]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    for attribution in attributions {
        let earlier_owners = owners.clone();
        for (person_index, known) in named_people(attribution) {
            let Person { lines, mentions, .. } = attribution.people[person_index];
            let known_entry = known.forms().find_map(|form| earlier_owners.get(&key(form)).copied());
            let index = known_entry.unwrap_or(entries.len());
            let new_names: Vec<String> =
                known.forms().filter(|form| !owners.contains_key(&key(form))).map(str::to_owned).collect();
            owners.extend(new_names.iter().map(|form| (key(form), index)));
            if known_entry.is_none() {
                entries.push(Entry { known, lines, mentions });
                continue;
            }
            let entry = &mut entries[index];
            entry.known.aliases.get_or_insert_default().extend(new_names);
            entry.known.gender = entry.known.gender.or(known.gender);
            entry.lines += lines;
            entry.mentions += mentions;
        }
    }
    // Characters who speak come first, also those from a second language.
    entries.sort_by_key(|entry| entry.lines == 0);
    entries
}

/// Returns the text of the file for a book's attributions, one per language, its own first. Deterministic.
#[must_use]
pub fn text(slug: &str, attributions: &[&Attribution]) -> String {
    let mut body = format!(
        "# The characters of `{slug}`, found by rule. Edit this file to correct them: an edited file is used and never overwritten.\n\
         # Rename: change `name` and add the old name to `aliases`. Merge two: move the name and the aliases of one to the other.\n\
         # Split one: move an alias to a new `[[people]]` table. Remove one: its quotations have no speaker.\n\
         # `gender` is \"female\", \"male\" or \"unknown\". ignore = [\"Heaven\"] lists names that are not characters; narrator = \"Jim\" is who says “I”.\n\n"
    );
    if let Some(narrator) = attributions.iter().find_map(|attribution| Aliases::of(attribution).narrator) {
        let _ = writeln!(body, "narrator = {}", toml_string(&narrator));
    }
    body.push_str("ignore = []\n");
    let mut past_speakers = false;
    for Entry { known, lines, mentions } in entries(attributions) {
        if lines == 0 && !past_speakers {
            past_speakers = true;
            body.push_str("\n# Characters without quotations.\n");
        }
        let lines = if lines == 1 { "1 quotation".to_owned() } else { format!("{lines} quotations") };
        let mentioned = if mentions == 1 { "once".to_owned() } else { format!("{mentions} times") };
        let _ = writeln!(body, "\n[[people]]\nname = {}  # {lines}, named {mentioned}", toml_string(&known.name));
        if let Some(gender) = known.gender {
            let _ = writeln!(body, "gender = \"{}\"", gender.word());
        }
        let others: Vec<String> = known.aliases.iter().flatten().map(|alias| toml_string(alias)).collect();
        let line = others.join(", ");
        if line.chars().count() > 100 {
            let _ = writeln!(body, "aliases = [\n  {},\n]", others.join(",\n  "));
        } else {
            let _ = writeln!(body, "aliases = [{line}]");
        }
    }
    format!("{HASH_PREFIX}{}\n{body}", content_hash(&body))
}

/// Whether the program wrote the text and nobody changed it since, so that it may be overwritten. Ignores line ends and
/// surrounding white space.
#[must_use]
pub fn is_as_written(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let Some((first, body)) = text.split_once('\n') else { return false };
    first.strip_prefix(HASH_PREFIX).is_some_and(|hash| hash.trim() == content_hash(body))
}

fn content_hash(body: &str) -> String {
    blake3::hash(body.trim().as_bytes()).to_hex()[..32].to_owned()
}

fn toml_string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Returns the key under which two spellings of a name are equal: ignores case, periods, kinds of apostrophe, white
/// space, and the difference between traditional and simplified characters.
pub(crate) fn key(form: &str) -> String {
    let mut key = String::with_capacity(form.len());
    // `the Rat` is `Rat` with an article; `the rat` is a common noun.
    let form = form.trim();
    let named = form.strip_prefix("the ").or_else(|| form.strip_prefix("The "));
    let form = named.filter(|rest| rest.starts_with(char::is_uppercase)).unwrap_or(form);
    for word in form.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        for c in word.chars() {
            match c {
                '.' => {}
                '’' | '‘' => key.push('\''),
                c => key.extend(folded(c).to_lowercase()),
            }
        }
    }
    if key.chars().any(char::is_alphanumeric) { key } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::attribute;
    use crate::schema::Language;

    const EN: &str =
        "“Is the tide out?” asked Mrs. Hallow.\n\n“It is,” said Mr. Hallow.\n\n“Late,” said Ruth. Ruth laughed.\n";
    const ZH: &str = "江守田道：“潮退了没有？”\n\n孟秋云说：“退了。”\n\n江守田又道：“走罢。”\n";

    fn person(name: &str, aliases: &[&str], gender: Gender, lines: u32) -> Person {
        let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
        Person { name: name.to_owned(), aliases, gender, mentions: lines * 2 + 1, lines }
    }

    fn known(name: &str, aliases: &[&str]) -> KnownCharacter {
        let aliases = Some(aliases.iter().map(|&alias| alias.to_owned()).collect());
        KnownCharacter { name: name.to_owned(), aliases, gender: None }
    }

    #[test]
    fn the_alias_file_lists_every_character_once() {
        let people = vec![
            person("the narrator", &["I", "Jim \"Owl\" Hale"], Gender::Male, 9),
            person("孟秋云", &["孟大嫂", "秋云"], Gender::Female, 1),
            person("Hale", &["Mr. Hale", "jim “Owl” hale", "孟大嫂"], Gender::Unknown, 0),
            person("mr hale", &["Old Hale"], Gender::Unknown, 0),
        ];
        let text = text("tide", &[&Attribution { people, ..Attribution::default() }]);
        let (first, body) = text.split_once('\n').expect("the file has several lines");
        assert!(first.starts_with("# As written: ") && first.len() == 46, "{first}");
        insta::assert_snapshot!(body, @r#"
        # The characters of `tide`, found by rule. Edit this file to correct them: an edited file is used and never overwritten.
        # Rename: change `name` and add the old name to `aliases`. Merge two: move the name and the aliases of one to the other.
        # Split one: move an alias to a new `[[people]]` table. Remove one: its quotations have no speaker.
        # `gender` is "female", "male" or "unknown". ignore = ["Heaven"] lists names that are not characters; narrator = "Jim" is who says “I”.

        narrator = "the narrator"
        ignore = []

        [[people]]
        name = "the narrator"  # 9 quotations, named 19 times
        gender = "male"
        aliases = ['Jim "Owl" Hale']

        [[people]]
        name = "孟秋云"  # 1 quotation, named 3 times
        gender = "female"
        aliases = ["孟大嫂", "秋云"]

        # Characters without quotations.

        [[people]]
        name = "Hale"  # 0 quotations, named once
        aliases = ["Mr. Hale", "jim “Owl” hale"]

        [[people]]
        name = "Old Hale"  # 0 quotations, named once
        aliases = []
        "#);
        let read: Aliases = toml::from_str(&text).expect("TOML");
        assert_eq!(read.faults(), [], "the file that the program writes is valid");
    }

    #[test]
    fn an_alias_file_holds_characters_of_both_languages() {
        let english = vec![person("Mrs. Hallow", &["Ruth"], Gender::Female, 2), person("Tom", &[], Gender::Unknown, 0)];
        let chinese = vec![
            person("孟秋云", &["秋云"], Gender::Unknown, 4),
            person("露丝", &["Ruth"], Gender::Female, 3),
            person("Ruth", &["Tom"], Gender::Unknown, 1),
        ];
        let attribution = |people| Attribution { people, ..Attribution::default() };
        let text = text("tide", &[&attribution(english), &attribution(chinese.clone())]);
        let read: Aliases = toml::from_str(&text).expect("TOML");
        assert_eq!(read.faults(), []);
        let people = read.people.iter().map(|known| known.forms().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
        assert_eq!(people, ["Mrs. Hallow Ruth 露丝", "Tom", "孟秋云 秋云"]);
        assert!(text.contains("name = \"Mrs. Hallow\"  # 5 quotations, named 12 times"), "{text}");

        // A file without any character of a text does not apply to it.
        let old = Aliases { people: vec![known("Mrs. Hallow", &[])], ..Aliases::default() };
        assert_eq!(old.for_translation(&attribution(chinese.clone())), None);
        let narrated = Aliases { narrator: Some("Tom".to_owned()), ..read.clone() };
        let applied = narrated
            .for_translation(&attribution(chinese[..1].to_vec()))
            .expect("the file names a character of the text");
        assert_eq!((applied.narrator, applied.people), (None, read.people), "Tom does not occur in that text");
    }

    #[test]
    fn an_edited_alias_file_differs_from_a_generated_one() {
        for (language, book) in [(Language::En, EN), (Language::Zh, ZH)] {
            let attribution = attribute(book, language, false);
            let text = text("tide", &[&attribution]);
            assert_eq!(toml::from_str::<Aliases>(&text).expect("TOML"), Aliases::of(&attribution));
            assert!(is_as_written(&text));
            // Changes that editors and operating systems make by themselves do not count.
            assert!(is_as_written(&format!("\u{feff}{}", text.replace('\n', "\r\n"))));
            assert!(is_as_written(text.trim_end()));
            assert!(!is_as_written(&text.replacen("name = ", "name =", 1)));
            assert!(!is_as_written(&(text.clone() + "# mine\n")));
            assert!(
                !is_as_written(text.split_once('\n').expect("the file has several lines").1),
                "the first line is missing"
            );
            assert!(!is_as_written(""));
        }
    }

    #[test]
    fn each_fault_names_its_key() {
        let faults = |aliases: Aliases| {
            let faults = aliases.faults().into_iter();
            faults.map(|fault| format!("{}: {}", fault.pointer, fault.message)).collect::<Vec<_>>().join("; ")
        };
        let people = vec![known("Ruth", &["Miss Hallow", " "]), known("孟秋云", &["miss  hallow", "秋雲", "秋云"])];
        let own = Aliases { people, ..Aliases::default() };
        assert_eq!(
            faults(own),
            "/people/0/aliases/1: this name has no letter; /people/1/aliases/0: `miss  hallow` is already a name of `Ruth`"
        );
        let ignore = vec!["Heaven".to_owned(), "the Ruth".to_owned(), "…".to_owned()];
        let nobody = Aliases { narrator: Some("Jim".to_owned()), ignore, people: vec![known("Ruth", &[])] };
        assert_eq!(
            faults(nobody),
            "/ignore/1: `the Ruth` is ignored and also a name of `Ruth`; /ignore/2: this name has no letter; \
             /narrator: the narrator `Jim` is not a character in this file"
        );
    }

    #[test]
    fn spelling_variants_of_a_name_have_the_same_key() {
        for (one, other) in
            [("Mrs. Hallow", "mrs  Hallow"), ("O’Brien", "O'BRIEN"), ("the Rat", "Rat"), ("劉姥姥", "刘姥姥")]
        {
            assert_eq!(key(one), key(other));
        }
        assert_ne!(key("the rat"), key("Rat"));
        assert_eq!(key("——"), "");
    }
}
