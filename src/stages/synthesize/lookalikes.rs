//! Compares invented characters with the characters of books. Scenes are read one by one, so memory use does not depend
//! on their number.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::resemblance::{MIN_PROFILE_SIMILARITY, ProfilePairs, Resemblance, ResemblanceKind, pairs};
use crate::schema::{Character, Language, Scene, SceneCharacter, Utterance, slug};
use crate::text::ComparableName;
use crate::text::bm25::Terms;

/// At most one in this many scenes may have a character who shares a part of an invented character's name. Such scenes
/// are not played by it. A shared part alone is allowed, since a hundred novels contain nearly every first name.
const SCENES_PER_NAMESAKE: u64 = 20;

/// Searches books for characters that resemble invented characters too much.
#[derive(Default)]
pub struct Lookalikes {
    invented: Vec<InventedCharacter>,
    /// The word pairs of all invented profiles by language; other pairs of books are not stored.
    invented_pairs: BTreeMap<Language, HashSet<String>>,
    /// Number of scenes read, by language.
    scenes: BTreeMap<Language, u64>,
    book: String,
    /// The characters of the current book.
    people: BTreeMap<(Language, String), Person>,
    tokenizer: Terms,
}

/// An invented character with the matches found.
struct InventedCharacter {
    language: Language,
    name: ComparableName,
    profile: ProfilePairs,
    /// A character with the same name.
    same_name: Option<BookCharacter>,
    /// The first character who shares a part of its name, and the number of scenes with such characters.
    shared_part: Option<(BookCharacter, u64)>,
    /// The character with the most similar profile, and the similarity.
    most_similar: Option<(BookCharacter, f64)>,
}

/// A character of a book.
#[derive(Clone)]
struct BookCharacter {
    name: String,
    book: String,
}

/// The profile of a character of a book.
#[derive(Default)]
struct Person {
    name: String,
    /// Hashes of the attribute values already counted.
    counted_values: HashSet<u64>,
    pairs: HashMap<String, usize>,
    length: usize,
}

impl Lookalikes {
    /// Starts a search for these invented characters.
    #[must_use]
    pub fn new<'a>(invented: impl IntoIterator<Item = &'a Character>) -> Self {
        let mut new = Self::default();
        for character in invented {
            let profile = ProfilePairs::of(character);
            new.invented_pairs.entry(character.language).or_default().extend(profile.pairs().cloned());
            new.invented.push(InventedCharacter {
                language: character.language,
                name: ComparableName::new(&character.name),
                profile,
                same_name: None,
                shared_part: None,
                most_similar: None,
            });
        }
        new
    }

    /// Processes a scene. Profiles are combined over consecutive scenes of the same book, so scenes must be grouped by
    /// book.
    pub fn read(&mut self, scene: &Scene) {
        if !self.invented_pairs.contains_key(&scene.language) {
            return;
        }
        if self.book != scene.book {
            self.close();
            self.book.clone_from(&scene.book);
        }
        *self.scenes.entry(scene.language).or_default() += 1;
        let cast = || scene.characters.iter().filter(|member| member.name != Utterance::ENVIRONMENT);
        self.compare_names(scene, &cast().map(|member| (member, names(member))).collect::<Vec<_>>());
        for member in cast() {
            self.add_profile(scene.language, member);
        }
    }

    /// Returns the resemblance found for each invented character, in the order given to [`Self::new`]. An equal name
    /// takes precedence over a similar profile, and that over a part of a name.
    #[must_use]
    pub fn found(mut self) -> Vec<Option<Resemblance>> {
        self.close();
        let resemblance = |BookCharacter { name, book }, kind| Resemblance { other: name, book: Some(book), kind };
        let found = |invented: InventedCharacter| {
            if let Some(same_name) = invented.same_name {
                return Some(resemblance(same_name, ResemblanceKind::Name));
            }
            if let Some((other, similarity)) =
                invented.most_similar.filter(|(_, similarity)| *similarity >= MIN_PROFILE_SIMILARITY)
            {
                return Some(resemblance(other, ResemblanceKind::Profile(similarity)));
            }
            let total = self.scenes.get(&invented.language).copied().unwrap_or_default();
            let (other, scenes) = invented.shared_part.filter(|(_, scenes)| scenes * SCENES_PER_NAMESAKE > total)?;
            Some(resemblance(other, ResemblanceKind::PartOfName { scenes, total }))
        };
        self.invented.into_iter().map(found).collect()
    }

    fn compare_names(&mut self, scene: &Scene, cast: &[(&SceneCharacter, Vec<ComparableName>)]) {
        for invented in self
            .invented
            .iter_mut()
            .filter(|invented| invented.language == scene.language && invented.same_name.is_none())
        {
            let book_character = |(member, _): &(&SceneCharacter, _)| BookCharacter {
                name: member.name.clone(),
                book: scene.book.clone(),
            };
            invented.same_name = cast.iter().find(|(_, names)| names.contains(&invented.name)).map(book_character);
            let shares = |(_, names): &&(_, Vec<ComparableName>)| names.iter().any(|name| name.clashes(&invented.name));
            if let Some(other) = cast.iter().find(shares) {
                invented.shared_part.get_or_insert_with(|| (book_character(other), 0)).1 += 1;
            }
        }
    }

    fn add_profile(&mut self, language: Language, member: &SceneCharacter) {
        let Self { invented_pairs, people, tokenizer, .. } = self;
        let invented_pairs = &invented_pairs[&language];
        let person = people.entry((language, slug(&member.name))).or_default();
        if person.name.is_empty() {
            member.name.trim().clone_into(&mut person.name);
        }
        for attribute in &member.profile {
            let mut hash = DefaultHasher::new();
            attribute.value.trim().hash(&mut hash);
            if !person.counted_values.insert(hash.finish()) {
                continue;
            }
            pairs(tokenizer, &attribute.value, language, |pair| {
                person.length += 1;
                if !invented_pairs.contains(pair) {
                    return;
                }
                if let Some(count) = person.pairs.get_mut(pair) {
                    *count += 1;
                } else {
                    person.pairs.insert(pair.to_owned(), 1);
                }
            });
        }
    }

    /// Compares the profiles of the book just read.
    fn close(&mut self) {
        for ((language, _), person) in std::mem::take(&mut self.people) {
            let Person { name, pairs, length, .. } = person;
            for invented in
                self.invented.iter_mut().filter(|invented| invented.language == language && !pairs.is_empty())
            {
                let similarity =
                    invented.profile.similarity(length, |pair| pairs.get(pair).copied().unwrap_or_default());
                if invented.most_similar.as_ref().is_none_or(|(_, highest)| similarity > *highest) {
                    invented.most_similar =
                        Some((BookCharacter { name: name.clone(), book: self.book.clone() }, similarity));
                }
            }
        }
    }
}

fn names(member: &SceneCharacter) -> Vec<ComparableName> {
    let all = std::iter::once(&member.name).chain(&member.aliases);
    all.map(|name| ComparableName::new(name)).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Attribute, CharacterType, Visibility};

    fn profile(values: &[&str]) -> Vec<Attribute> {
        let attribute = |value: &&str| Attribute {
            key: "k".to_owned(),
            value: (*value).to_owned(),
            visibility: Visibility::Private,
        };
        values.iter().map(attribute).collect()
    }

    fn made_up(language: Language, name: &str, values: &[&str]) -> Character {
        Character {
            id: slug(name).into(),
            name: name.to_owned(),
            aliases: Vec::new(),
            language,
            kind: CharacterType::Synthesized,
            book: None,
            worldview: None,
            profile: profile(values),
            lines: Vec::new(),
            model: None,
        }
    }

    /// Returns a scene whose cast is given as `name/alias`, each with profile values.
    fn scene(language: Language, id: &str, cast: &[(&str, &[&str])]) -> Scene {
        let member = |(names, values): &(&str, &[&str])| {
            let mut names = names.split('/').map(str::to_owned);
            let name = names.next().expect("`split` yields at least one part");
            SceneCharacter { name, aliases: names.collect(), profile: profile(values) }
        };
        let written = serde_json::json!({"id": id, "book": id.split('@').next(), "language": language,
            "situation": "s", "characters": cast.iter().map(member).collect::<Vec<_>>()});
        serde_json::from_value(written).expect("the JSON is a valid scene")
    }

    fn found(invented: &[Character], scenes: &[Scene]) -> Vec<Option<(String, String)>> {
        let mut lookalikes = Lookalikes::new(invented);
        for scene in scenes {
            lookalikes.read(scene);
        }
        let found = lookalikes.found().into_iter();
        let summary = |one: Resemblance| {
            let kind = match one.kind {
                ResemblanceKind::Name => "name",
                ResemblanceKind::PartOfName { .. } => "part",
                ResemblanceKind::Profile(_) => "profile",
            };
            (kind.to_owned(), format!("{}@{}", one.other, one.book.expect("matches in books have a book")))
        };
        found.map(|one| one.map(summary)).collect()
    }

    #[test]
    fn names_from_the_books_are_not_reused() {
        for (language, name, unrelated, namesakes, others) in [
            (
                Language::En,
                "Dorcas",
                "Gander Weft",
                ["Dorcas", "dorcas", "Mrs. Dorcas", "The Cook/Dorcas"],
                ["Ann", "Dora", "Environment/Dorcas", "Ann/Dolly"],
            ),
            (
                Language::Zh,
                "沐知微",
                "晏东篱",
                ["沐知微", "沐知微姑娘", "小姐/沐知微", "沐知微小姐"],
                ["沐知", "沐知远", "Environment/沐知微", "阿微"],
            ),
        ] {
            let invented = [made_up(language, unrelated, &["x"]), made_up(language, name, &["y"])];
            // Further scenes of the language, so that a partial match is rare.
            let many: Vec<Scene> =
                (0..40).map(|n| scene(language, &format!("a@{n}"), &[("Cid/老周", &["z"])])).collect();
            let with = |cast: &str, language| {
                let one = scene(language, "forty@7", &[("Zed", &["z"]), (cast, &["w"])]);
                found(&invented, &[&many[..], &[one]].concat())
            };
            for cast in namesakes {
                let other = cast.split('/').next().expect("`split` yields at least one part");
                assert_eq!(with(cast, language), [None, Some(("name".to_owned(), format!("{other}@forty")))]);
            }
            for cast in others {
                assert_eq!(with(cast, language), [None, None], "{cast}");
            }
            let foreign = if language == Language::En { Language::Zh } else { Language::En };
            assert_eq!(with(name, foreign), [None, None], "characters of different languages are not compared");
        }
    }

    #[test]
    fn a_partly_shared_name_is_rejected_if_it_excludes_many_scenes() {
        for (language, name, part) in [(Language::En, "Hester Quill", "Hester"), (Language::Zh, "贾宝玉", "宝玉")]
        {
            let invented = [made_up(language, name, &["x"])];
            let of = |all: usize, with: usize| -> Vec<Scene> {
                let cast = |n| if n < with { part } else { "Zed/老周" };
                (0..all).map(|n| scene(language, &format!("b@{n}"), &[(cast(n), &["z"])])).collect()
            };
            assert_eq!(found(&invented, &of(20, 1)), [None], "one of twenty scenes is allowed");
            assert_eq!(found(&invented, &of(20, 2)), [Some(("part".to_owned(), format!("{part}@b")))]);
            assert_eq!(found(&invented, &[]), [None]);
        }
    }

    #[test]
    fn a_profile_spread_over_scenes_is_matched() {
        for (language, values, other) in [
            (
                Language::En,
                [
                    "He keeps the east gate and never sleeps before dawn.",
                    "He owes the miller for eleven sacks, and will not say why.",
                    "As a boy he drowned a bell, and he still hears it ring.",
                ],
                "She sells eels by the weir, loudly, and owes everyone.",
            ),
            (
                Language::Zh,
                [
                    "他守东门多年，天不亮不合眼。",
                    "他欠磨坊十一袋面，死也不说为何。",
                    "小时候他把一口钟沉了河，至今还听见它响。",
                ],
                "她在堰边卖鳝鱼，嗓门极大，人人都欠。",
            ),
        ] {
            let invented = [made_up(language, "Ives Stope", &values), made_up(language, "Orrie Dace", &[other])];
            let book_scene = |book: &str, n: usize, value: &str| {
                let id = format!("{book}@{n}");
                // Scenes of a book repeat the profile of a character.
                scene(language, &id, &[("Warden", &[value, other.get(..6).expect("letters")])])
            };
            let pieces: Vec<Scene> = (0..6).map(|n| book_scene("gate", n, values[n % 3])).collect();
            let expected = Some(("profile".to_owned(), "Warden@gate".to_owned()));
            assert_eq!(found(&invented, &pieces), [expected, None]);
            // Profiles of different books are not combined.
            let apart: Vec<Scene> = (0..3).map(|n| book_scene(&format!("b{n}"), n, values[n])).collect();
            assert_eq!(found(&invented, &apart), [None, None]);
        }
    }
}
