//! Picks test characters from the scene pool: the main characters of a book.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::profile::{is_single, merged};
use crate::schema::{
    Attribute, Character, CharacterId, CharacterType, Grounded, Language, Reject, RejectReason, Scene, SceneCharacter,
    Stage, Utterance, slug,
};
use crate::text::letters_and_digits;

/// Minimum number of distinct lines of a character; fewer do not show a speech style.
pub const MIN_LINES: usize = 5;

/// Maximum number of lines of a picked character, spread over its book.
const MAX_LINES: usize = 48;

/// Preferred maximum length of a line, in characters; longer ones are used only if there is no other.
const PREFERRED_LINE_LENGTH: usize = 240;

/// The characters picked from a book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picked {
    /// The characters, in descending order of their number of lines.
    pub characters: Vec<Character>,
    /// Rejects with the reason `too_few_lines`, `no_profile`, `given` or `no_character`.
    pub rejects: Vec<Reject>,
}

/// Picks the main characters of a book from its scenes: at most `max_characters`, those with the most lines, then with the most
/// scenes.
///
/// Depends only on the scenes of the book and on `from_files`, the characters from files, which are not picked again. Lines
/// count unless they could not be found in the book; lines of custom scenes always count.
#[must_use]
pub fn pick(book: &str, scenes: &[Scene], max_characters: usize, from_files: &[Character]) -> Picked {
    let mut picked = Picked::default();
    let people = people(book, scenes);
    let reject = |id: &str, reason, detail: String| Reject::new(Stage::Synthesize, id, reason, detail);
    let mut ranked: Vec<&Person<'_>> = people.iter().collect();
    ranked.sort_by_key(|person| (Reverse(person.lines.len()), Reverse(person.scenes.len()), &person.name));
    for person in ranked {
        if picked.characters.len() >= max_characters {
            break;
        }
        let id = Character::picked_id(&person.name, book);
        let utterances = distinct(&person.lines);
        if utterances.len() < MIN_LINES {
            // All following characters have fewer lines.
            let lines = utterances.len();
            let detail = format!("`{}` has {lines} distinct lines; at least {MIN_LINES} are required", person.name);
            picked.rejects.push(reject(&id, RejectReason::TooFewLines, detail));
            break;
        }
        if let Some(other) = from_files.iter().find(|other| person.matches(other, book)) {
            let detail = format!("`{}` is already defined by a character file, as `{}`", person.name, other.id);
            picked.rejects.push(reject(&id, RejectReason::Given, detail));
            continue;
        }
        let character = person.character(id.clone(), book, &utterances, &people);
        if character.profile.iter().all(|attribute| is_single(&attribute.key)) {
            let detail = format!("the scenes have no attributes of `{}` other than name, age and similar", person.name);
            picked.rejects.push(reject(&id, RejectReason::NoProfile, detail));
            continue;
        }
        picked.characters.push(character);
    }
    if picked.characters.is_empty() && !picked.rejects.iter().any(|reject| reject.reason == RejectReason::Given) {
        let detail = format!(
            "none of its {} characters has a profile and at least {MIN_LINES} lines in the {} scenes of the pool",
            people.len(),
            scenes.iter().filter(|scene| scene.book == book).count()
        );
        picked.rejects.push(reject(book, RejectReason::NoCharacter, detail));
    }
    picked
}

/// Returns the character of a book with this name, alias or id, regardless of its number of lines.
#[must_use]
pub fn named(book: &str, scenes: &[Scene], name: &str) -> Option<Character> {
    let people = people(book, scenes);
    let key = slug(name);
    let by_name = people.iter().find(|person| slug(&person.name) == key);
    let called = |person: &&Person<'_>| person.names.contains(&key) || person.aliases().any(|alias| slug(alias) == key);
    let person = by_name
        .or_else(|| people.iter().find(called))
        .or_else(|| people.iter().find(|person| Character::picked_id(&person.name, book) == name))?;
    let id = Character::picked_id(&person.name, book);
    Some(person.character(id, book, &distinct(&person.lines), &people))
}

/// A character of a book.
#[derive(Debug, Default)]
struct Person<'a> {
    name: String,
    /// Slugs of its names in the scenes.
    names: BTreeSet<String>,
    /// Its cast entries, in the order of the book.
    casts: Vec<(Language, &'a SceneCharacter)>,
    /// Indices of the scenes with it in the cast.
    scenes: BTreeSet<usize>,
    lines: Vec<(Language, &'a str)>,
}

impl<'a> Person<'a> {
    fn aliases(&self) -> impl Iterator<Item = &'a String> {
        self.casts.iter().flat_map(|(_, member)| std::iter::once(&member.name).chain(&member.aliases))
    }

    /// Returns whether a character from a file is this one.
    fn matches(&self, other: &Character, book: &str) -> bool {
        let own = |name: &String| self.names.contains(&slug(name));
        other.book.as_deref() == Some(book) && std::iter::once(&other.name).chain(&other.aliases).any(own)
    }

    /// Merges another entry that is the same person.
    fn merge(&mut self, other: Person<'a>) {
        let is_main = (self.lines.len(), self.scenes.len()) >= (other.lines.len(), other.scenes.len());
        if !is_main {
            self.name.clone_from(&other.name);
        }
        self.names.extend(other.names);
        self.casts.extend(other.casts);
        self.scenes.extend(other.scenes);
        self.lines.extend(other.lines);
    }

    fn character(
        &self,
        id: CharacterId,
        book: &str,
        utterances: &[(Language, &str)],
        people: &[Person<'_>],
    ) -> Character {
        let chinese = utterances.iter().filter(|(language, _)| *language == Language::Zh).count();
        let casts = self.casts.iter().filter(|(language, _)| *language == Language::Zh).count();
        let is_chinese =
            if utterances.is_empty() { casts * 2 > self.casts.len() } else { chinese * 2 > utterances.len() };
        let language = if is_chinese { Language::Zh } else { Language::En };
        let own = self.casts.iter().filter(|(other, _)| *other == language);
        let profiles: Vec<&[Attribute]> = own.map(|(_, member)| member.profile.as_slice()).collect();
        // The name of another character is never an alias, even if the scenes confuse the two.
        let mut used: BTreeSet<String> = people.iter().flat_map(|person| person.names.iter().cloned()).collect();
        used.retain(|name| !self.names.contains(name));
        used.extend([slug(&self.name), "-".to_owned()]);
        let mut aliases: Vec<String> = Vec::new();
        for alias in self.aliases() {
            if used.insert(slug(alias)) {
                aliases.push(alias.trim().to_owned());
            }
        }
        let lines = utterances.iter().filter(|(other, _)| *other == language).map(|(_, line)| (*line).to_owned());
        Character {
            id,
            name: self.name.clone(),
            aliases,
            language,
            kind: CharacterType::Established,
            book: Some(book.to_owned()),
            worldview: None,
            profile: merged(profiles, language),
            lines: spread(lines.collect()),
            model: None,
        }
    }
}

/// Returns the characters of a book, sorted by the slugs of their names.
///
/// Two names are merged if one is an alias of exactly the other and the two never occur in the same scene. A form of
/// address shared by several characters therefore merges none.
fn people<'a>(book: &str, scenes: &'a [Scene]) -> Vec<Person<'a>> {
    let mut scenes: Vec<&Scene> = scenes.iter().filter(|scene| scene.book == book).collect();
    scenes.sort_by_key(|scene| (scene.start.is_none(), scene.start, &scene.id));
    let mut people: BTreeMap<String, Person<'a>> = BTreeMap::new();
    for (index, scene) in scenes.iter().enumerate() {
        for member in &scene.characters {
            let name = slug(&member.name);
            if name == "-" || member.name == Utterance::ENVIRONMENT {
                continue;
            }
            let person = people.entry(name.clone()).or_default();
            if person.names.insert(name) {
                member.name.trim().clone_into(&mut person.name);
            }
            person.scenes.insert(index);
            person.casts.push((scene.language, member));
        }
        for utterance in &scene.dialogue {
            let Some(speech) = utterance.speech.as_deref().map(str::trim).filter(|speech| !speech.is_empty()) else {
                continue;
            };
            let speaker = speaker(scene, &utterance.speaker).filter(|_| utterance.grounded != Some(Grounded::Absent));
            if let Some(person) = speaker.and_then(|name| people.get_mut(&name)) {
                person.lines.push((scene.language, speech));
            }
        }
    }
    let claims: Vec<(String, String)> = people
        .iter()
        .flat_map(|(owner, person)| person.aliases().map(|alias| (slug(alias), owner.clone())).collect::<BTreeSet<_>>())
        .filter(|(alias, owner)| alias != owner && people.contains_key(alias))
        .collect();
    let mut claimed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (alias, owner) in claims {
        claimed.entry(alias).or_default().insert(owner);
    }
    // Maps merged names to their new owners.
    let mut merged_into: BTreeMap<String, String> = BTreeMap::new();
    for (alias, owners) in claimed {
        let final_owner = |name: &String| {
            let mut name = name.clone();
            while let Some(next) = merged_into.get(&name) {
                name.clone_from(next);
            }
            name
        };
        let alias = final_owner(&alias);
        let owners: BTreeSet<String> = owners.iter().map(final_owner).filter(|owner| *owner != alias).collect();
        let (Some(owner), 1) = (owners.first(), owners.len()) else { continue };
        if people[owner].scenes.is_disjoint(&people[&alias].scenes) {
            let joined = people.remove(&alias).expect("a name is merged only once");
            people.get_mut(owner).expect("owners are keys of `people`").merge(joined);
            merged_into.insert(alias, owner.clone());
        }
    }
    people.into_values().collect()
}

/// Returns the slug of the cast name of a speaker, found by name, otherwise by alias.
fn speaker(scene: &Scene, name: &str) -> Option<String> {
    let key = slug(name);
    let by_name = scene.characters.iter().find(|member| slug(&member.name) == key);
    let by_alias = || scene.characters.iter().find(|member| member.aliases.iter().any(|alias| slug(alias) == key));
    by_name.or_else(by_alias).map(|member| slug(&member.name))
}

/// Returns the distinct lines, in order.
fn distinct<'a>(lines: &[(Language, &'a str)]) -> Vec<(Language, &'a str)> {
    let mut distinct = BTreeSet::new();
    lines
        .iter()
        .filter(|(_, line)| distinct.insert(letters_and_digits(line)) && !letters_and_digits(line).is_empty())
        .copied()
        .collect()
}

/// Returns at most [`MAX_LINES`] lines, in order: from each of equally long sections the longest line of at most
/// [`PREFERRED_LINE_LENGTH`] characters, or else the shortest one.
pub(super) fn spread(lines: Vec<String>) -> Vec<String> {
    if lines.len() <= MAX_LINES {
        return lines;
    }
    let preference = |line: &&String| {
        let length = line.chars().count();
        if length <= PREFERRED_LINE_LENGTH { (1, length) } else { (0, usize::MAX - length) }
    };
    (0..MAX_LINES)
        .filter_map(|at| {
            let section = &lines[at * lines.len() / MAX_LINES..(at + 1) * lines.len() / MAX_LINES];
            section.iter().rev().max_by_key(preference).cloned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Visibility;

    /// Returns a scene with cast entries `name: alias, alias` and lines `speaker: words`; words that begin with `?` are
    /// not in the book.
    fn scene(language: Language, start: u32, cast: &[&str], lines: &[&str]) -> Scene {
        let member = |text: &&str| {
            let (name, aliases) = text.split_once(": ").unwrap_or((text, ""));
            let aliases = aliases.split(", ").filter(|alias| !alias.is_empty()).map(str::to_owned).collect();
            let value = format!("{name} {}.", if start == 0 { "stood at the door" } else { "went on by night" });
            let profile = vec![Attribute { key: "persona".to_owned(), value, visibility: Visibility::Public }];
            SceneCharacter { name: name.to_owned(), aliases, profile }
        };
        let line = |text: &&str| {
            let (speaker, words) = text.split_once(": ").expect("lines have the form `speaker: words`");
            let grounded = if words.starts_with('?') { Grounded::Absent } else { Grounded::Exact };
            Utterance {
                speaker: speaker.to_owned(),
                thought: None,
                action: None,
                speech: Some(words.to_owned()),
                start: None,
                end: None,
                grounded: Some(grounded),
                similarity: None,
            }
        };
        Scene {
            id: format!("b@{start}").into(),
            book: "b".to_owned(),
            language,
            chapter: String::new(),
            start: Some(start),
            end: None,
            summary: String::new(),
            salience: None,
            worldview: String::new(),
            situation: String::new(),
            motivations: Vec::new(),
            characters: cast.iter().map(member).collect(),
            dialogue: lines.iter().map(line).collect(),
            grounding: None,
            model: Some("m".to_owned()),
        }
    }

    fn utterances(speaker: &str, words: std::ops::Range<usize>) -> Vec<String> {
        words.map(|n| format!("{speaker}: line {n}")).collect()
    }

    fn of(start: u32, cast: &[&str], lines: &[Vec<String>]) -> Scene {
        let lines: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
        scene(Language::En, start, cast, &lines)
    }

    fn names(picked: &Picked) -> Vec<&str> {
        picked.characters.iter().map(|character| character.name.as_str()).collect()
    }

    fn reasons(picked: &Picked) -> Vec<(&str, &str)> {
        picked.rejects.iter().map(|reject| (reject.id.as_str(), reject.reason.name())).collect()
    }

    #[test]
    fn the_characters_with_most_lines_are_picked_and_others_have_a_reason() {
        let scenes = [
            of(90, &["Ann", "Cid"], &[utterances("Ann", 20..26), utterances("Cid", 0..5)]),
            of(
                0,
                &["Ann: Annie", "Bob", "Dot"],
                &[utterances("Annie", 0..4), utterances("Bob", 0..7), utterances("Dot", 0..4)],
            ),
        ];
        let picked = pick("b", &scenes, 2, &[]);
        assert_eq!(names(&picked), ["Ann", "Bob"]);
        assert!(picked.rejects.is_empty(), "{:?}", picked.rejects);
        let ann = &picked.characters[0];
        assert_eq!((ann.id.as_str(), ann.book.as_deref(), ann.kind), ("ann@b", Some("b"), CharacterType::Established));
        assert!(ann.is_picked());
        assert_eq!(ann.aliases, ["Annie"]);
        assert_eq!(ann.profile[0].value, "Ann stood at the door. Ann went on by night.", "in the order of the book");
        assert_eq!((ann.lines[0].as_str(), ann.lines.last().map(String::as_str)), ("line 0", Some("line 25")));
        let picked = pick("b", &scenes, 9, &[]);
        assert_eq!((names(&picked), reasons(&picked)), (vec!["Ann", "Bob", "Cid"], vec![("dot@b", "too_few_lines")]));
        let from_files = [Character { aliases: vec!["ann".to_owned()], ..picked.characters[0].clone() }];
        let from_files = [Character { id: "annie".into(), name: "Annie Lamb".to_owned(), ..from_files[0].clone() }];
        let picked = pick("b", &scenes, 1, &from_files);
        assert_eq!((names(&picked), reasons(&picked)), (vec!["Bob"], vec![("ann@b", "given")]));
        assert_eq!(reasons(&pick("c", &scenes, 1, &[])), [("c", "no_character")]);
        assert_eq!(named("b", &scenes, "annie").map(|one| one.name), Some("Ann".to_owned()));
        assert_eq!(named("b", &scenes, "ann@b").map(|one| one.name), Some("Ann".to_owned()));
        assert_eq!(named("b", &scenes, "nobody"), None);
    }

    #[test]
    fn invented_and_repeated_lines_and_empty_profiles_do_not_count() {
        let mut scene =
            of(0, &["Ann", "Bob", "Cid"], &[utterances("Ann", 0..6), utterances("Bob", 0..4), utterances("Bob", 0..4)]);
        for line in scene.dialogue.iter_mut().filter(|line| line.speaker == "Ann").skip(4) {
            line.grounded = Some(Grounded::Absent);
        }
        let picked = pick("b", std::slice::from_ref(&scene), 2, &[]);
        // Bob has eight lines, four of which are repetitions.
        assert_eq!(reasons(&picked), [("bob@b", "too_few_lines"), ("b", "no_character")]);
        let mut scene = of(0, &["Ann", "Bob"], &[utterances("Ann", 0..6), utterances("Bob", 0..5)]);
        scene.characters[0].profile[0].key = "Gender".to_owned();
        let picked = pick("b", &[scene], 2, &[]);
        assert_eq!((names(&picked), reasons(&picked)), (vec!["Bob"], vec![("ann@b", "no_profile")]));
    }

    #[test]
    fn two_names_are_merged_only_without_counter_evidence() {
        let both = |second: &[&str]| {
            pick(
                "b",
                &[
                    of(0, &["Ann Lee: Miss Lee"], &[utterances("Ann Lee", 0..5)]),
                    of(9, second, &[utterances(second[0], 5..12)]),
                ],
                9,
                &[],
            )
        };
        let picked = both(&["Miss Lee"]);
        assert_eq!(names(&picked), ["Miss Lee"], "the name with the most lines is used");
        assert_eq!(
            (picked.characters[0].aliases.as_slice(), picked.characters[0].lines.len()),
            (["Ann Lee".to_owned()].as_slice(), 12)
        );
        // They occur in the same scene, so they are two characters.
        let picked = both(&["Miss Lee", "Ann Lee"]);
        assert_eq!(names(&picked), ["Miss Lee", "Ann Lee"]);
        assert!(
            picked.characters.iter().all(|one| one.aliases.is_empty()),
            "the name of another character is not an alias"
        );
        // A form of address shared by two sisters merges neither.
        let sisters = [
            of(0, &["Ann Lee: Miss Lee"], &[utterances("Ann Lee", 0..5)]),
            of(5, &["Eve Lee: Miss Lee"], &[utterances("Eve Lee", 0..6)]),
            of(9, &["Miss Lee"], &[utterances("Miss Lee", 10..17)]),
        ];
        assert_eq!(names(&pick("b", &sisters, 9, &[])), ["Miss Lee", "Eve Lee", "Ann Lee"]);
    }

    #[test]
    fn a_character_speaks_the_language_of_most_of_its_lines() {
        let lines = [
            "阿满: 油不多了。",
            "阿满: 灯要灭。",
            "阿满: 你先走。",
            "阿满: 我守着。",
            "阿满: 别回头。",
            "阿满: 走罢。",
        ];
        let scenes =
            [scene(Language::Zh, 0, &["阿满", "老周"], &lines), of(50, &["阿满"], &[utterances("阿满", 0..2)])];
        let picked = pick("b", &scenes, 1, &[]);
        let one = &picked.characters[0];
        assert_eq!((one.language, one.lines.len(), one.id.as_str()), (Language::Zh, 6, "阿满@b"));
        assert_eq!(one.profile[0].value, "阿满 stood at the door.");
    }

    #[test]
    fn lines_are_spread_over_the_book() {
        let lines: Vec<String> = (0..480).map(|n| format!("{n:03}{}", "x".repeat(n % 10))).collect();
        let chosen = spread(lines.clone());
        assert_eq!(chosen.len(), MAX_LINES);
        assert!(chosen.iter().all(|line| line.ends_with("xxxxxxxxx")), "{chosen:?}");
        assert!(chosen.is_sorted() && chosen[47].starts_with("479"));
        assert_eq!(spread(lines[..48].to_vec()), lines[..48]);
        let long: Vec<String> =
            (0..96).map(|n| if n % 2 == 0 { "y".repeat(300) } else { format!("short {n}") }).collect();
        assert!(spread(long).iter().all(|line| line.starts_with("short")));
    }
}
