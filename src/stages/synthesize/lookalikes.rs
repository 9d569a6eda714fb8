//! Compares invented characters with the characters of books. Scenes are read one by one, so memory use does not depend
//! on their number.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::resemblance::{Bag, Likeness, MOST_LIKENESS, Resemblance, pairs};
use crate::schema::{Character, Language, Scene, SceneCharacter, Utterance, slug};
use crate::text::PlainName;
use crate::text::bm25::Terms;

/// At most one in this many scenes may have a character who shares a part of an invented character's name. Such scenes
/// are not played by it. A shared part alone is allowed, since a hundred novels contain nearly every first name.
const SCENES_PER_NAMESAKE: u64 = 20;

/// Searches books for characters that resemble invented characters too much.
#[derive(Default)]
pub struct Lookalikes {
    made: Vec<Made>,
    /// The word pairs of all invented profiles by language; other pairs of books are not stored.
    said: BTreeMap<Language, HashSet<String>>,
    /// Number of scenes read, by language.
    scenes: BTreeMap<Language, u64>,
    book: String,
    /// The characters of the current book.
    people: BTreeMap<(Language, String), Person>,
    cut: Terms,
}

/// An invented character with the matches found.
struct Made {
    language: Language,
    name: PlainName,
    profile: Bag,
    /// A character with the same name.
    same: Option<Of>,
    /// The first character who shares a part of its name, and the number of scenes with such characters.
    part: Option<(Of, u64)>,
    /// The character with the most similar profile, and the similarity.
    alike: Option<(Of, f64)>,
}

/// A character of a book.
#[derive(Clone)]
struct Of {
    name: String,
    book: String,
}

/// The profile of a character of a book.
#[derive(Default)]
struct Person {
    name: String,
    /// Hashes of the attribute values already counted.
    told: HashSet<u64>,
    pairs: HashMap<String, usize>,
    length: usize,
}

impl Lookalikes {
    /// Starts a search for these invented characters.
    #[must_use]
    pub fn new<'a>(made: impl IntoIterator<Item = &'a Character>) -> Self {
        let mut new = Self::default();
        for character in made {
            let profile = Bag::of(character);
            new.said.entry(character.language).or_default().extend(profile.pairs().cloned());
            new.made.push(Made {
                language: character.language,
                name: PlainName::new(&character.name),
                profile,
                same: None,
                part: None,
                alike: None,
            });
        }
        new
    }

    /// Processes a scene. Profiles are combined over consecutive scenes of the same book, so scenes must be grouped by
    /// book.
    pub fn read(&mut self, scene: &Scene) {
        if !self.said.contains_key(&scene.language) {
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
            self.learn(scene.language, member);
        }
    }

    /// Returns the resemblance found for each invented character, in the order given to [`Self::new`]. An equal name
    /// takes precedence over a similar profile, and that over a part of a name.
    #[must_use]
    pub fn found(mut self) -> Vec<Option<Resemblance>> {
        self.close();
        let resemblance = |Of { name, book }, likeness| Resemblance { other: name, book: Some(book), likeness };
        let found = |made: Made| {
            if let Some(same) = made.same {
                return Some(resemblance(same, Likeness::Name));
            }
            if let Some((other, share)) = made.alike.filter(|(_, share)| *share >= MOST_LIKENESS) {
                return Some(resemblance(other, Likeness::Profile(share)));
            }
            let of = self.scenes.get(&made.language).copied().unwrap_or_default();
            let (other, scenes) = made.part.filter(|(_, scenes)| scenes * SCENES_PER_NAMESAKE > of)?;
            Some(resemblance(other, Likeness::PartOfName { scenes, of }))
        };
        self.made.into_iter().map(found).collect()
    }

    fn compare_names(&mut self, scene: &Scene, cast: &[(&SceneCharacter, Vec<PlainName>)]) {
        for made in self.made.iter_mut().filter(|made| made.language == scene.language && made.same.is_none()) {
            let of = |(member, _): &(&SceneCharacter, _)| Of { name: member.name.clone(), book: scene.book.clone() };
            made.same = cast.iter().find(|(_, names)| names.contains(&made.name)).map(of);
            let shares = |(_, names): &&(_, Vec<PlainName>)| names.iter().any(|name| name.clashes(&made.name));
            if let Some(other) = cast.iter().find(shares) {
                made.part.get_or_insert_with(|| (of(other), 0)).1 += 1;
            }
        }
    }

    fn learn(&mut self, language: Language, member: &SceneCharacter) {
        let Self { said, people, cut, .. } = self;
        let said = &said[&language];
        let person = people.entry((language, slug(&member.name))).or_default();
        if person.name.is_empty() {
            member.name.trim().clone_into(&mut person.name);
        }
        for attribute in &member.profile {
            let mut hash = DefaultHasher::new();
            attribute.value.trim().hash(&mut hash);
            if !person.told.insert(hash.finish()) {
                continue;
            }
            pairs(cut, &attribute.value, language, |pair| {
                person.length += 1;
                if !said.contains(pair) {
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
            for made in self.made.iter_mut().filter(|made| made.language == language && !pairs.is_empty()) {
                let share = made.profile.share(length, |pair| pairs.get(pair).copied().unwrap_or_default());
                if made.alike.as_ref().is_none_or(|(_, most)| share > *most) {
                    made.alike = Some((Of { name: name.clone(), book: self.book.clone() }, share));
                }
            }
        }
    }
}

fn names(member: &SceneCharacter) -> Vec<PlainName> {
    let all = std::iter::once(&member.name).chain(&member.aliases);
    all.map(|name| PlainName::new(name)).filter(|name| !name.is_empty()).collect()
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

    fn found(made: &[Character], scenes: &[Scene]) -> Vec<Option<(String, String)>> {
        let mut lookalikes = Lookalikes::new(made);
        for scene in scenes {
            lookalikes.read(scene);
        }
        let found = lookalikes.found().into_iter();
        let told = |one: Resemblance| {
            let how = match one.likeness {
                Likeness::Name => "name",
                Likeness::PartOfName { .. } => "part",
                Likeness::Profile(_) => "profile",
            };
            (how.to_owned(), format!("{}@{}", one.other, one.book.expect("matches in books have a book")))
        };
        found.map(|one| one.map(told)).collect()
    }

    #[test]
    fn names_from_the_books_are_not_reused() {
        for (language, name, plain, namesakes, others) in [
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
            let made = [made_up(language, plain, &["x"]), made_up(language, name, &["y"])];
            // Further scenes of the language, so that a partial match is rare.
            let many: Vec<Scene> =
                (0..40).map(|n| scene(language, &format!("a@{n}"), &[("Cid/老周", &["z"])])).collect();
            let with = |cast: &str, language| {
                let one = scene(language, "forty@7", &[("Zed", &["z"]), (cast, &["w"])]);
                found(&made, &[&many[..], &[one]].concat())
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
            let made = [made_up(language, name, &["x"])];
            let of = |all: usize, with: usize| -> Vec<Scene> {
                let cast = |n| if n < with { part } else { "Zed/老周" };
                (0..all).map(|n| scene(language, &format!("b@{n}"), &[(cast(n), &["z"])])).collect()
            };
            assert_eq!(found(&made, &of(20, 1)), [None], "one of twenty scenes is allowed");
            assert_eq!(found(&made, &of(20, 2)), [Some(("part".to_owned(), format!("{part}@b")))]);
            assert_eq!(found(&made, &[]), [None]);
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
            let made = [made_up(language, "Ives Stope", &values), made_up(language, "Orrie Dace", &[other])];
            let told = |book: &str, n: usize, value: &str| {
                let place = format!("{book}@{n}");
                // Scenes of a book repeat the profile of a character.
                scene(language, &place, &[("Warden", &[value, other.get(..6).expect("letters")])])
            };
            let pieces: Vec<Scene> = (0..6).map(|n| told("gate", n, values[n % 3])).collect();
            let expected = Some(("profile".to_owned(), "Warden@gate".to_owned()));
            assert_eq!(found(&made, &pieces), [expected, None]);
            // Profiles of different books are not combined.
            let apart: Vec<Scene> = (0..3).map(|n| told(&format!("b{n}"), n, values[n])).collect();
            assert_eq!(found(&made, &apart), [None, None]);
        }
    }
}
