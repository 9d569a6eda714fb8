//! Known characters: a supplied list of which names belong to which character.
//!
//! The language modules find and merge names as usual; this module then splits and merges them according to the list.
//! If no list is given, every function is a no-op.

use std::collections::{BTreeMap, BTreeSet};

use super::people::{CharacterDraft, compare_people};
use super::{Attribution, Gender, Person};
use crate::attribution::aliases::{Aliases, KnownCharacter, NARRATOR, key};
use crate::attribution::words::english::ENGLISH;
use crate::attribution::words::english::KIN;
use crate::attribution::words::english::ROLE;
use crate::attribution::words::english::TITLE;

/// The known characters, together with what the rules find without them.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownCharacters {
    pub(super) people: Vec<KnownCharacter>,
    pub(super) narrator: Option<usize>,
    /// Per character: whether its names differ from those the rules find by themselves.
    changed: Vec<bool>,
    /// Owner of each name, by normalised name.
    owners: BTreeMap<String, usize>,
    /// Names that are not characters.
    ignored: BTreeSet<String>,
    /// Names that the rules by themselves assign to a character.
    pub(super) found_by_rule: BTreeSet<String>,
    /// Names of characters that the rules find and the list leaves out.
    left_out: Vec<Vec<String>>,
}

impl KnownCharacters {
    /// Builds the list; `by_rule` is the attribution without it.
    pub(super) fn new(aliases: &Aliases, by_rule: &Attribution) -> Self {
        let mut owners = BTreeMap::new();
        for (index, person) in aliases.people.iter().enumerate() {
            for form in person.forms() {
                owners.entry(key(form)).or_insert(index);
            }
        }
        let narrator = aliases.narrator.as_ref().and_then(|name| owners.get(&key(name)).copied());
        if let Some(narrator) = narrator {
            for form in NARRATOR {
                owners.insert(key(form), narrator);
            }
        }
        let keys = |person: &KnownCharacter| person.forms().map(key).collect::<BTreeSet<String>>();
        let by_rule = Aliases::of(by_rule).people;
        let keys_by_rule: BTreeSet<BTreeSet<String>> = by_rule.iter().map(keys).collect();
        let ignored: BTreeSet<String> = aliases.ignore.iter().map(|form| key(form)).collect();
        // If the rules are to find a character's names, a noun such as `the clerk` may be one of them.
        let lists_all_aliases = aliases.people.iter().all(|person| person.aliases.is_some());
        let is_left_out = |person: &&KnownCharacter| {
            !keys(person).iter().any(|key| owners.contains_key(key) || ignored.contains(key))
        };
        let left_out = by_rule.iter().filter(|_| lists_all_aliases).filter(is_left_out);
        let left_out = left_out.map(|person| person.forms().map(str::to_owned).collect()).collect();
        let found_by_rule = by_rule.iter().flat_map(KnownCharacter::forms).map(key).collect();
        Self {
            people: aliases.people.clone(),
            narrator,
            changed: aliases.people.iter().map(|person| !keys_by_rule.contains(&keys(person))).collect(),
            owners,
            ignored,
            found_by_rule,
            left_out,
        }
    }

    fn is_empty(&self) -> bool {
        self.owners.is_empty() && self.ignored.is_empty() && self.found_by_rule.is_empty()
    }

    /// Returns the index of the known character with this name.
    pub(super) fn owner(&self, form: &str) -> Option<usize> {
        if self.is_empty() { None } else { self.owners.get(&key(form)).copied() }
    }

    /// Whether the list says that a name is not a character.
    pub(super) fn ignores(&self, form: &str) -> bool {
        !self.ignored.is_empty() && self.ignored.contains(&key(form))
    }

    /// Whether the rules may find further names of a character.
    fn accepts_aliases(&self, person: usize) -> bool {
        self.people[person].aliases.is_none()
    }

    /// Whether a name that the rules assign to a character may stay with it.
    pub(super) fn allows(&self, form: &str, person: &CharacterDraft) -> bool {
        if self.is_empty() {
            return true;
        }
        let key = key(form);
        match (self.owners.get(&key), person.known_character) {
            (Some(&owner), assigned) => assigned == Some(owner),
            (None, _) if self.ignored.contains(&key) => false,
            (None, Some(assigned)) => self.accepts_aliases(assigned) || !self.found_by_rule.contains(&key),
            (None, None) => true,
        }
    }

    /// Returns the listed names that must be searched for in the text: names that the rules miss, and names of
    /// characters whose names the list changes.
    pub(super) fn names_to_find(&self) -> impl Iterator<Item = &str> {
        let forms = self.people.iter().zip(&self.changed);
        let forms = forms.flat_map(|(person, changed)| person.forms().map(move |form| (form, *changed)));
        forms.filter(|(form, changed)| *changed || !self.found_by_rule.contains(&key(form))).map(|(form, _)| form)
    }

    /// Splits and merges names. `roots` holds for each name the index of the name that the rules merge it with; `names`
    /// holds the names and their counts.
    ///
    /// A name not in the list stays with the names it was merged with, unless these belong to a character whose names
    /// are all listed.
    pub(super) fn regroup(&self, roots: &mut [usize], names: &[(&str, u32)]) {
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        enum NameSet {
            Listed(usize),
            Unlisted(usize),
            Ignored(usize),
        }
        if self.is_empty() {
            return;
        }
        let owners: Vec<Option<usize>> = names.iter().map(|(form, _)| self.owner(form)).collect();
        let mut owner_counts: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        for (index, owner) in owners.iter().enumerate() {
            if let Some(owner) = owner.filter(|&owner| self.accepts_aliases(owner)) {
                *owner_counts.entry(roots[index]).or_default().entry(owner).or_default() += names[index].1;
            }
        }
        let mut first_of_set: BTreeMap<NameSet, usize> = BTreeMap::new();
        for (index, owner) in owners.into_iter().enumerate() {
            let owner_counts = owner_counts.get(&roots[index]).into_iter().flatten();
            let main_owner = owner_counts.max_by_key(|&(owner, count)| (*count, std::cmp::Reverse(*owner)));
            let set = match owner.or(main_owner.map(|(&owner, _)| owner)) {
                _ if self.ignores(names[index].0) => NameSet::Ignored(index),
                Some(owner) => NameSet::Listed(owner),
                None => NameSet::Unlisted(roots[index]),
            };
            roots[index] = *first_of_set.entry(set).or_insert(index);
        }
    }

    /// Links each draft to its known character, and sets listed genders.
    pub(super) fn link_drafts(&self, cast: &mut [CharacterDraft]) {
        for draft in cast {
            draft.known_character = draft.forms.keys().find_map(|form| self.owner(form));
            draft.exclusive = draft.known_character.is_some_and(|index| self.changed[index])
                || self.left_out.iter().flatten().any(|form| draft.forms.contains_key(form));
            if let Some(gender) = draft.known_character.and_then(|index| self.people[index].gender) {
                draft.known_gender = Some(gender);
            }
        }
    }

    /// Returns the index in `cast` for each phrase that refers to a known or left-out character. Adds to `cast` the
    /// characters that no name in the text has shown.
    pub(super) fn roles(&self, cast: &mut Vec<CharacterDraft>) -> BTreeMap<String, usize> {
        let mut roles = BTreeMap::new();
        for (index, person) in self.people.iter().enumerate() {
            let draft_index = cast.iter().position(|draft| draft.known_character == Some(index)).unwrap_or_else(|| {
                let (known_gender, exclusive) = (person.gender, self.changed[index]);
                cast.push(CharacterDraft {
                    role: true,
                    known_gender,
                    known_character: Some(index),
                    exclusive,
                    ..CharacterDraft::default()
                });
                cast.len() - 1
            });
            for form in person.forms().filter(|form| self.owner(form) == Some(index)) {
                let phrase = form.to_lowercase();
                if phrase.starts_with(|c: char| c.is_ascii_lowercase()) && !phrase.starts_with("the ") {
                    roles.entry(format!("the {phrase}")).or_insert(draft_index);
                }
                roles.insert(phrase, draft_index);
            }
            if self.narrator == Some(index) {
                roles.extend(NARRATOR.map(|form| (form.to_owned(), draft_index)));
            }
        }
        for forms in &self.left_out {
            let draft_index = cast.iter().position(|draft| forms.iter().any(|form| draft.forms.contains_key(form)));
            let draft_index = draft_index.unwrap_or_else(|| {
                cast.push(CharacterDraft { role: true, exclusive: true, ..CharacterDraft::default() });
                cast.len() - 1
            });
            roles.extend(forms.iter().map(|form| (form.clone(), draft_index)));
        }
        roles
    }

    /// Returns an attribution with exactly the known characters; quotations of others become unknown.
    pub(super) fn restrict(&self, mut attribution: Attribution) -> Attribution {
        let without_counts = |known: &KnownCharacter| Person {
            name: known.name.clone(),
            aliases: known.aliases.clone().unwrap_or_default(),
            gender: known.gender.unwrap_or(Gender::Unknown),
            mentions: 0,
            lines: 0,
        };
        let mut people: Vec<(usize, Person)> = self.people.iter().map(without_counts).enumerate().collect();
        let mut owners: Vec<Option<usize>> = Vec::with_capacity(attribution.people.len());
        for attributed in &attribution.people {
            let owner = std::iter::once(&attributed.name).chain(&attributed.aliases).find_map(|form| self.owner(form));
            owners.push(owner);
            let Some(owner) = owner else { continue };
            let person = &mut people[owner].1;
            person.mentions += attributed.mentions;
            person.lines += attributed.lines;
            if self.people[owner].gender.is_none() && person.gender == Gender::Unknown {
                person.gender = attributed.gender;
            }
            for form in std::iter::once(&attributed.name).chain(&attributed.aliases) {
                let is_narrator = NARRATOR.contains(&form.as_str());
                if (is_narrator || self.accepts_aliases(owner) && self.owner(form).is_none_or(|other| other == owner))
                    && key(form) != key(&person.name)
                    && !person.aliases.contains(form)
                {
                    person.aliases.push(form.clone());
                }
            }
        }
        people.sort_by(|(_, a), (_, b)| compare_people(a, b));
        let positions: BTreeMap<usize, usize> =
            people.iter().enumerate().map(|(position, &(index, _))| (index, position)).collect();
        for quotation in &mut attribution.quotations {
            quotation.speaker = quotation.speaker.and_then(|speaker| owners[speaker]).map(|owner| positions[&owner]);
            if quotation.speaker.is_none() {
                quotation.kind = None;
                quotation.confidence = 0.0;
                quotation.action = None;
            }
        }
        attribution.people = people.into_iter().map(|(_, person)| person).collect();
        attribution
    }
}

/// English names that the rules would not find, as word sequences.
#[derive(Debug, Default)]
pub(super) struct KnownPhrases {
    /// By first word: the words in lower case, each with whether it must be capitalised.
    pub(super) list: BTreeMap<String, Vec<Vec<(String, bool)>>>,
}

impl KnownPhrases {
    /// Collects the names to search for. Names that are role nouns are left to the role rules.
    pub(super) fn new(known_characters: &KnownCharacters) -> Self {
        let mut phrases = Self::default();
        for form in known_characters.names_to_find() {
            let words: Vec<(String, bool)> = form
                .split_whitespace()
                .map(|word| {
                    let word = word.trim_end_matches('.').replace(['’', '‘'], "'");
                    (word.to_lowercase(), word.starts_with(char::is_uppercase))
                })
                .collect();
            // `the Rat` is `Rat` with an article.
            let article = words.len() > 1 && words[0].0 == "the" && words[1].1;
            let words = &words[usize::from(article)..];
            let Some((last, capital)) = words.last() else { continue };
            if *capital || !ENGLISH.is(last, ROLE | KIN | TITLE) {
                phrases.list.entry(words[0].0.clone()).or_default().push(words.to_vec());
            }
        }
        phrases
    }

    /// Returns the length in words of the longest name that begins with `first`, 0 if none. `word` returns the
    /// lower-case word at an offset from there, with whether it is capitalised.
    pub(super) fn length<'a>(&self, first: &str, word: impl Fn(usize) -> Option<(&'a str, bool)>) -> usize {
        let matches = |words: &&Vec<(String, bool)>| {
            words.iter().enumerate().all(|(offset, (text, capital))| {
                word(offset).is_some_and(|(text_word, upper)| text_word == text && (upper || !capital))
            })
        };
        self.list.get(first).into_iter().flatten().filter(matches).map(Vec::len).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{QuotationKind, attribute, attribute_with};
    use crate::schema::Language;

    const EN: &str = "Captain Hale came in with Ruth Hallow. Hale sat down. Ruth smiled.\n\n“One,” said Captain Hale.\n\n\
                      “Two,” said Ruth.\n\n“Three,” said Hale.\n\n“Four,” said the innkeeper.\n\n“Five,” said Captain Hale.\n\n\
                      “Six,” said Ruth Hallow.\n\n“Seven,” said Tom Reed.\n\n“Eight,” said Tom Reed.\n\n“Nine,” said the innkeeper.\n";
    const ZH: &str = "江守田和孟秋云进了门。江守田道：“一。”\n\n孟秋云说：“二。”\n\n江守田又道：“三。”\n\n秋云道：“四。”\n\n\
                      老者道：“五。”\n\n江守田道：“六。”\n\n孟秋云说：“七。”\n\n灯花婆道：“八。”\n\n老者道：“九。”\n";

    fn known(name: &str, aliases: Option<&[&str]>) -> KnownCharacter {
        let aliases = aliases.map(|aliases| aliases.iter().map(|&alias| alias.to_owned()).collect());
        KnownCharacter { name: name.to_owned(), aliases, gender: None }
    }

    fn aliases(text: &str, language: Language) -> Aliases {
        Aliases::of(&attribute(text, language, false))
    }

    /// Returns what a character says in the corrected attribution; `-` for an unknown speaker.
    fn lines(text: &str, language: Language, aliases: &Aliases, name: &str) -> String {
        assert_eq!(aliases.faults(), []);
        let attribution = attribute_with(text, language, false, aliases);
        let mut names: Vec<&str> = attribution.people.iter().map(|person| person.name.as_str()).collect();
        let mut listed: Vec<&str> = aliases.people.iter().map(|person| person.name.as_str()).collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed, "only listed characters are reported");
        let mut lines = Vec::new();
        for quotation in &attribution.quotations {
            assert_eq!(quotation.speaker.is_none(), quotation.kind.is_none());
            if quotation.speaker.map_or("-", |speaker| &attribution.people[speaker].name) == name {
                lines.push(quotation.text.trim_end_matches([',', '。']));
            }
        }
        for person in attribution.people.iter().filter(|person| person.name == name) {
            assert_eq!(person.lines as usize, lines.len());
        }
        lines.join(" ")
    }

    /// Returns the character with a name.
    fn character_named<'a>(aliases: &'a mut Aliases, name: &str) -> &'a mut KnownCharacter {
        aliases
            .people
            .iter_mut()
            .find(|person| person.forms().any(|form| form == name))
            .expect("the list has this name")
    }

    #[test]
    fn applying_the_generated_aliases_changes_nothing() {
        for (language, text) in [(Language::En, EN), (Language::Zh, ZH)] {
            let by_rule = attribute(text, language, false);
            assert_eq!(attribute_with(text, language, false, &Aliases::of(&by_rule)), by_rule);
            // The order of the list makes no difference.
            let mut reversed = Aliases::of(&by_rule);
            reversed.people.reverse();
            assert_eq!(attribute_with(text, language, false, &reversed), by_rule);
        }
    }

    #[test]
    fn merged_characters_share_quotations() {
        for (language, text, one, other, name, expected) in [
            (Language::En, EN, "Tom Reed", "the innkeeper", "Mr. Reed of the Swan", "Four Seven Eight Nine"),
            (Language::Zh, ZH, "灯花婆", "老者", "灯花老妪", "五 八 九"),
            (Language::Zh, ZH, "灯花婆", "秋云", "灯花老妪", "四 八"),
        ] {
            let mut aliases = aliases(text, language);
            // An alias moves to another character; a character without aliases disappears.
            aliases.people.retain(|person| person.name != other);
            for person in &mut aliases.people {
                person.aliases.as_mut().expect("`Aliases::of` lists every alias").retain(|alias| alias != other);
            }
            *character_named(&mut aliases, one) = known(name, Some(&[one, other]));
            assert_eq!(lines(text, language, &aliases, name), expected);
        }
    }

    #[test]
    fn split_characters_divide_quotations() {
        for (language, text, full_name, short_name, lines_of) in [
            (Language::En, EN, "Captain Hale", "Hale", ["One Five", "Three"]),
            (Language::En, &EN.replace("the innkeeper", "Ann"), "Ruth Hallow", "Ruth", ["Six", "Two"]),
            (Language::Zh, ZH, "孟秋云", "秋云", ["二 七", "四"]),
        ] {
            let mut aliases = aliases(text, language);
            character_named(&mut aliases, full_name)
                .aliases
                .as_mut()
                .expect("`Aliases::of` lists every alias")
                .retain(|alias| alias != short_name);
            aliases.people.push(known(short_name, Some(&[])));
            for (name, expected) in [full_name, short_name].into_iter().zip(lines_of) {
                assert_eq!(lines(text, language, &aliases, name), expected, "{name}");
            }
        }
    }

    #[test]
    fn quotations_of_removed_characters_become_unknown() {
        let clerk = "“One,” said the clerk.\n\n“Two,” said Ruth.\n\n“Three,” said the clerk.\n\n“Four,” said Ruth.\n";
        for (language, text, name, expected, others) in [
            (
                Language::En,
                &*EN.replace("the innkeeper", "Ann"),
                "Ruth Hallow",
                "Two Six",
                ("Captain Hale", "One Three Five"),
            ),
            (Language::En, clerk, "the clerk", "One Three", ("Ruth", "Two Four")),
            (Language::Zh, ZH, "孟秋云", "二 四 七", ("江守田", "一 三 六")),
            (Language::Zh, ZH, "老者", "五 九", ("江守田", "一 三 六")),
        ] {
            let mut aliases = aliases(text, language);
            let lines_before = lines(text, language, &aliases, name);
            assert!(expected.split(' ').all(|line| lines_before.contains(line)), "{name}: {lines_before}; {aliases:?}");
            aliases.people.retain(|person| person.name != name);
            assert_eq!(lines(text, language, &aliases, "-"), lines_before);
            assert_eq!(lines(text, language, &aliases, others.0), others.1);
            // An alias can also be left out by itself.
            let mut aliases = crate::attribution::known_characters::tests::aliases(text, language);
            let Some(alias) = character_named(&mut aliases, others.0)
                .aliases
                .as_mut()
                .expect("`Aliases::of` lists every alias")
                .pop()
            else {
                continue;
            };
            assert_eq!(alias, "Hale");
            assert_eq!(lines(text, language, &aliases, others.0), "One Five");
        }
    }

    #[test]
    fn ignored_names_are_not_used_as_evidence() {
        for (language, text, name, line) in
            [(Language::En, EN, "Tom Reed", "Seven,"), (Language::Zh, ZH, "灯花婆", "八。")]
        {
            let mut aliases = aliases(text, language);
            aliases.people.retain(|person| person.name != name);
            aliases.ignore.push(name.to_owned());
            assert_eq!(aliases.faults(), []);
            let attribution = attribute_with(text, language, false, &aliases);
            let quotation = attribution
                .quotations
                .iter()
                .find(|quotation| quotation.text == line)
                .expect("the text contains this quotation");
            assert_ne!(quotation.kind, Some(QuotationKind::Explicit), "{quotation:?}");
            assert!(attribution.people.iter().all(|person| person.name != name));
        }
    }

    #[test]
    fn a_listed_name_that_the_rules_miss_is_found() {
        for (language, text, name, line) in [
            (Language::En, "“One,” said peg.\n\n“Two,” said Ruth.\n", "peg", "One"),
            (Language::Zh, "那灯花道：“一。”\n\n灯花道：“二。”\n", "那灯花", "一"),
        ] {
            let mut aliases = aliases(text, language);
            assert!(aliases.names().all(|other| other != name));
            aliases.people.push(known(name, Some(&[])));
            assert_eq!(lines(text, language, &aliases, name), line);
        }
    }

    #[test]
    fn the_rules_find_aliases_that_are_unset() {
        for (language, text, name, expected) in [
            (Language::En, &*EN.replace("the innkeeper", "Ann"), "Captain Hale", "One Three Five"),
            (Language::Zh, ZH, "孟秋云", "二 四 七"),
        ] {
            let unset = Aliases { people: vec![known(name, None)], ..Aliases::default() };
            assert_eq!(lines(text, language, &unset, name), expected);
            assert_eq!(attribute_with(text, language, false, &unset).people[0].aliases.len(), 1);
            let empty = Aliases { people: vec![known(name, Some(&[]))], ..Aliases::default() };
            assert_ne!(lines(text, language, &empty, name), expected);
            let with_unknown_name =
                Aliases { people: vec![known("Ishmael", None), known(name, None)], ..Aliases::default() };
            assert_eq!(
                with_unknown_name.missing(&attribute_with(text, language, false, &with_unknown_name)),
                ["Ishmael"]
            );
        }
    }

    #[test]
    fn a_corrected_gender_changes_pronoun_resolution() {
        let english = "Morgan and Casey came in.\n\n“One,” said Morgan.\n\n“Two,” said Casey.\n\nThe door was shut again.\n\n“Three,” she said.\n";
        let chinese = "她来了。她走了。她又来了。她坐下。她笑了。江守田和孟秋云进了门。\n\n江守田道：“一。”\n\n孟秋云说：“二。”\n\n门又关上了。\n\n她说：“三。”\n";
        for (language, text, names) in
            [(Language::En, english, ["Morgan", "Casey"]), (Language::Zh, chinese, ["江守田", "孟秋云"])]
        {
            for (she, he) in [(0, 1), (1, 0)] {
                let mut people = names.map(|name| known(name, Some(&[])));
                people[she].gender = Some(Gender::Female);
                people[he].gender = Some(Gender::Male);
                let aliases = Aliases { people: people.to_vec(), ..Aliases::default() };
                assert!(lines(text, language, &aliases, names[she]).contains(['T', '三']), "{}", names[she]);
                assert!(
                    attribute_with(text, language, false, &aliases)
                        .people
                        .iter()
                        .all(|person| person.gender != Gender::Unknown)
                );
            }
        }
    }

    #[test]
    fn the_list_can_name_the_narrator() {
        for (language, text, name, expected) in [
            (
                Language::En,
                "Ruth Hallow came in.\n\n“One,” said Ruth Hallow.\n\n“Two,” said I.\n\n“Three,” I said.\n",
                "Ruth Hallow",
                "One Two Three",
            ),
            (Language::Zh, "孟秋云道：“一。”\n\n我道：“二。”\n\n我说：“三。”\n", "孟秋云", "一 二 三"),
        ] {
            let mut aliases = Aliases { people: vec![known(name, Some(&[]))], ..Aliases::default() };
            assert_ne!(lines(text, language, &aliases, name), expected);
            aliases.narrator = Some(name.to_owned());
            assert_eq!(lines(text, language, &aliases, name), expected);
        }
    }

    #[test]
    fn corrections_apply_to_scripts() {
        let play = "INT. ROOM\n\nRUTH\nOne.\n\nMISS HALLOW\nTwo.\n\nCHORUS\nThree.\n";
        let mut aliases = Aliases::of(&attribute(play, Language::En, true));
        aliases.people.retain(|person| person.name == "Ruth");
        character_named(&mut aliases, "Ruth")
            .aliases
            .as_mut()
            .expect("`Aliases::of` lists every alias")
            .push("Miss Hallow".to_owned());
        let attribution = attribute_with(play, Language::En, true, &aliases);
        let kinds: Vec<Option<QuotationKind>> = attribution.quotations.iter().map(|quotation| quotation.kind).collect();
        assert_eq!(kinds, [Some(QuotationKind::Script), Some(QuotationKind::Script), None]);
        assert_eq!((attribution.people.len(), attribution.people[0].lines), (1, 2));
    }

    #[test]
    fn any_alias_list_is_accepted() {
        let odd = ["", " ", "the", "I", "我", "Hale Hale", "the Rat", "江", "老者", "。", "a.b"];
        let people = odd.map(|name| known(name, (name.len() % 2 == 0).then_some(&odd))).to_vec();
        let ignore = vec!["Hale".to_owned(), String::new()];
        let aliases = Aliases { narrator: Some("nobody".to_owned()), ignore, people };
        for language in Language::ALL {
            for (text, script) in [("", false), (EN, false), (ZH, false), (EN, true), ("我道：“一。”", false)]
            {
                let attribution = attribute_with(text, language, script, &aliases);
                assert_eq!(attribution.people.len(), odd.len());
            }
        }
    }
}
