//! Selects and orders the scenes of a lane. Scenes are read through [`Scenes`].

use std::collections::BTreeMap;

use rand::Rng as _;

use crate::llm::AskError;
use crate::schema::{Character, CharacterType, Scene, SceneHead, SceneId, Utterance, slug};
use crate::seed::seeded;
use crate::stages::simulate::Params;
use crate::text::ComparableName;

/// The source of scenes. Heads are in memory; a full scene is read when a conversation needs it.
pub trait Scenes: Sync {
    /// The error type; an error ends the lane.
    type Error: From<AskError>;

    /// Returns the heads of all scenes; their ids are unique.
    fn heads(&self) -> impl ExactSizeIterator<Item = &SceneHead> + Clone;

    /// Reads a scene by its index in [`Self::heads`].
    fn scene(&self, index: usize) -> Result<Scene, Self::Error>;
}

/// The books whose scenes lanes play: those that match `simulate.books`, or all if it is empty.
#[derive(Debug)]
pub struct SelectedBooks<'a>(Vec<(&'a str, BookFilter)>);

/// An entry of `simulate.books`.
#[derive(Debug)]
enum BookFilter {
    /// A book slug.
    Book(String),
    /// A glob pattern of book slugs.
    Books(glob::Pattern),
}

impl BookFilter {
    fn has(&self, book: &str) -> bool {
        match self {
            Self::Book(slug) => slug == book,
            Self::Books(pattern) => pattern.matches(book),
        }
    }
}

impl<'a> SelectedBooks<'a> {
    /// Parses `simulate.books`. Titles are converted to slugs, including the parts between wildcards.
    #[must_use]
    pub fn new(params: &'a Params) -> Self {
        let filter = |entry: &'a String| {
            let is_pattern = entry.contains(WILDCARDS) && glob::Pattern::new(entry).is_ok();
            let pattern = is_pattern.then(|| glob::Pattern::new(&slug_pattern(entry)).ok()).flatten();
            (entry.as_str(), pattern.map_or_else(|| BookFilter::Book(slug(entry)), BookFilter::Books))
        };
        Self(params.books.iter().map(filter).collect())
    }

    /// Returns whether lanes play scenes of the book with this slug.
    #[must_use]
    pub fn has(&self, book: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|(_, filter)| filter.has(book))
    }

    /// Returns the entries that match no book of these scenes.
    #[must_use]
    pub fn missing<'b>(&self, heads: &(impl Iterator<Item = &'b SceneHead> + Clone)) -> Vec<&'a str> {
        let is_missing = |(_, filter): &&(&str, BookFilter)| !heads.clone().any(|head| filter.has(&head.book));
        self.0.iter().filter(is_missing).map(|(entry, _)| *entry).collect()
    }
}

/// Characters that make an entry of `simulate.books` a pattern.
const WILDCARDS: [char; 3] = ['*', '?', '['];

/// Returns a pattern in which the text between wildcards is converted to slug form.
fn slug_pattern(pattern: &str) -> String {
    let (mut slug_pattern, mut rest) = (String::new(), pattern);
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.find(WILDCARDS).unwrap_or(rest.len()));
        let is_separator = |c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’');
        let words = slug(part);
        // A slug neither begins nor ends with a separator, but a part of one may.
        if part.starts_with(is_separator) && !slug_pattern.is_empty() && !(words == "-" && after.is_empty()) {
            slug_pattern.push('-');
        }
        if words != "-" {
            slug_pattern.push_str(&words);
            if part.ends_with(is_separator) && !after.is_empty() {
                slug_pattern.push('-');
            }
        }
        // The first character of a class is a member of it, even if it is a bracket.
        let class = after.strip_prefix('[').map(|inside| inside.strip_prefix('!').unwrap_or(inside));
        let end = class.and_then(|class| {
            let others = class.chars().next().map(|first| &class[first.len_utf8()..])?;
            Some(after.len() - others.len() + others.find(']')? + 1)
        });
        let wildcard = end.unwrap_or_else(|| after.len().min(1));
        slug_pattern.push_str(&after[..wildcard].to_lowercase());
        rest = &after[wildcard..];
    }
    slug_pattern
}

/// Returns whether the name of a synthesized character could be confused with a name or alias in a scene's cast.
///
/// False for established characters: one that shares a name with a scene character *is* that character and replaces it.
pub(crate) fn has_similar_name(scene: &Scene, character: &Character) -> bool {
    if character.kind == CharacterType::Established {
        return false;
    }
    let own = ComparableName::new(&character.name);
    let cast = scene.characters.iter().filter(|member| member.name != Utterance::ENVIRONMENT);
    let mut names = cast.flat_map(|member| std::iter::once(&member.name).chain(&member.aliases));
    names.any(|name| own.clashes(&ComparableName::new(name)))
}

/// Returns whether a character plays scenes of its own book.
///
/// This is `simulate.own_book` if set. Otherwise it is true for a character picked from the scene pool if no other book
/// that lanes play has scenes in its language.
#[must_use]
pub fn plays_own_book<'a>(
    params: &Params,
    character: &Character,
    heads: impl IntoIterator<Item = &'a SceneHead>,
) -> bool {
    let books = SelectedBooks::new(params);
    let is_other = |head: &SceneHead| {
        head.language == character.language && character.book.as_ref() != Some(&head.book) && books.has(&head.book)
    };
    params.own_book.unwrap_or_else(|| character.is_picked() && !heads.into_iter().any(is_other))
}

/// Returns the indices of the scenes that a lane plays, in its order.
///
/// Scenes are filtered by language, `books` and own book, then sorted by a hash of seed, lane and scene id, so that
/// adding or removing a scene does not reorder the others. Scene ids are unique in a pool and break ties. With
/// `custom_first`, custom scenes come before the others, each group in hash order.
///
/// Unless a custom scene comes first that way, the first one in this order that opens its book is moved to the front. A
/// run that covers only the beginnings of the books (`--limit 1`) then plays the same first conversations as a full
/// run.
#[must_use]
pub fn scene_order<'a>(
    seed: u64,
    lane: &str,
    character: &Character,
    heads: impl Iterator<Item = &'a SceneHead> + Clone,
    params: &Params,
) -> Vec<u32> {
    let own_book = plays_own_book(params, character, heads.clone());
    let books = SelectedBooks::new(params);
    let mut order: Vec<(u64, &SceneHead, u32)> = (0..)
        .zip(heads)
        .filter(|(_, head)| head.language == character.language)
        .filter(|(_, head)| books.has(&head.book))
        .filter(|(_, head)| own_book || character.book.as_ref() != Some(&head.book))
        .map(|(index, head)| (seeded(seed, &["simulate", "scenes", lane, &head.id]).next_u64(), head, index))
        .collect();
    order.sort_by(|(one, a, _), (other, b, _)| one.cmp(other).then_with(|| a.id.cmp(&b.id)));
    if params.custom_first {
        order.sort_by_key(|(_, head, _)| !head.is_custom);
    }
    let custom = params.custom_first && order.first().is_some_and(|(_, head, _)| head.is_custom);
    let mut openings: BTreeMap<&str, (Option<u32>, &SceneId)> = BTreeMap::new();
    for (_, head, _) in order.iter().filter(|(_, head, _)| head.start.is_some()) {
        let opening = openings.entry(&head.book).or_insert((head.start, &head.id));
        *opening = (*opening).min((head.start, &head.id));
    }
    let opens = |head: &SceneHead| openings.get(head.book.as_str()).is_some_and(|(_, id)| **id == head.id);
    if let Some(first) = order.iter().position(|(_, head, _)| opens(head)).filter(|_| !custom) {
        order[..=first].rotate_right(1);
    }
    order.into_iter().map(|(_, _, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::schema::Language;
    use crate::stages::simulate::fixtures::{MemoryScenes, character, pool, scene};

    #[test]
    fn custom_scenes_come_first_if_configured() {
        for language in Language::ALL {
            let (scenes, tess) = (pool(language, 20), character(language));
            let heads: Vec<SceneHead> = scenes
                .iter()
                .enumerate()
                .map(|(n, scene)| SceneHead { is_custom: n % 5 == 0, ..Scene::clone(scene).into() })
                .collect();
            let order = |custom_first| -> Vec<u32> {
                let params = Params { custom_first, ..Params::default() };
                scene_order(7, "tess/source", &tess, heads.iter(), &params)
            };
            let is_custom = |index: &u32| heads[*index as usize].is_custom;
            let (mixed, asked) = (order(false), order(true));
            assert!(asked[..4].iter().all(is_custom) && !mixed[..4].iter().all(is_custom), "{mixed:?} {asked:?}");
            // Each group keeps its order, except that the opening scene of the book comes first unless a custom scene
            // does.
            for custom in [true, false] {
                let part = |order: &[u32]| -> Vec<u32> {
                    order.iter().copied().filter(|index| *index != mixed[0] && is_custom(index) == custom).collect()
                };
                assert_eq!(part(&asked), part(&mixed));
            }
            assert_eq!(asked.len(), mixed.len());
        }
    }

    #[test]
    fn an_added_scene_does_not_reorder_others() {
        let (scenes, tess, params) = (pool(Language::En, 20), character(Language::En), Params::default());
        let ids = |scenes: &[Arc<Scene>]| -> Vec<SceneId> {
            let memory_scenes = MemoryScenes::new(scenes);
            let order = scene_order(7, "tess/source", &tess, memory_scenes.heads(), &params);
            order.into_iter().map(|index| scenes[index as usize].id.clone()).collect()
        };
        let mut without = ids(&scenes);
        without.retain(|id| id != "book@11");
        assert_eq!(ids(&[&scenes[..11], &scenes[12..]].concat()), without);
        let other = scene_order(7, "tess/other", &tess, MemoryScenes::new(&scenes).heads(), &params);
        let other: Vec<SceneId> = other.into_iter().map(|index| scenes[index as usize].id.clone()).collect();
        assert_ne!(ids(&scenes), other, "each lane has its own order");
    }

    #[test]
    fn lanes_play_only_the_configured_books() {
        for language in Language::ALL {
            let from_file = Character { book: Some("home".to_owned()), ..character(language) };
            let picked = Character { id: Character::picked_id(&from_file.name, "home"), ..from_file };
            let head = |(n, book): (usize, &str)| {
                let name = if language == Language::En { "Ann" } else { "安" };
                let scene = scene(language, &format!("{book}@{n}"), &[name]);
                SceneHead::from(Scene { book: book.to_owned(), ..scene })
            };
            let heads: Vec<SceneHead> =
                ["home", "home", "红楼梦", "a-book", "a-play"].into_iter().enumerate().map(head).collect();
            let books_of = |character: &Character, heads: &[SceneHead], books: &[&str]| -> Vec<String> {
                let books = books.iter().map(|&book| book.to_owned()).collect();
                let params = Params { books, ..Params::default() };
                let order = scene_order(7, "lane", character, heads.iter(), &params);
                let mut books: Vec<String> =
                    order.into_iter().map(|index| heads[index as usize].book.clone()).collect();
                books.sort();
                books
            };
            let visitor = Character { book: None, ..character(language) };
            for (pin, expected) in [
                (&[][..], &["a-book", "a-play", "home", "home", "红楼梦"][..]),
                (&["home"], &["home", "home"]),
                (&["A Book", "红楼梦"], &["a-book", "红楼梦"]),
                (&["a-*"], &["a-book", "a-play"]),
                (&["A *"], &["a-book", "a-play"]),
                (&["A_B??k"], &["a-book"]),
                (&["[A-B] P*"], &["a-play"]),
                (&["* Book"], &["a-book"]),
                (&["《红楼*》"], &["红楼梦"]),
                (&["Hom*"], &["home", "home"]),
                (&["a book", "nobody-s"], &["a-book"]),
            ] {
                assert_eq!(books_of(&visitor, &heads, pin), expected, "{pin:?}");
            }
            // With `books` set, adding books does not change whether a character picked from the only book plays its
            // scenes.
            assert_eq!(books_of(&picked, &heads[..2], &[]), ["home", "home"]);
            assert_eq!(books_of(&picked, &heads, &[]), ["a-book", "a-play", "红楼梦"]);
            assert_eq!(books_of(&picked, &heads[..2], &["home"]), ["home", "home"]);
            assert_eq!(books_of(&picked, &heads, &["home"]), ["home", "home"]);
            let params = Params { books: vec!["a-*".to_owned(), "b-*".to_owned()], ..Params::default() };
            assert_eq!(SelectedBooks::new(&params).missing(&heads.iter()), ["b-*"]);
        }
    }

    #[test]
    fn a_synthesized_character_meets_no_namesake() {
        for (language, name, namesakes, others) in [
            (
                Language::En,
                "Hester Quill",
                ["Hester", "Mrs. Quill", "hester quill"],
                ["Hester Prynne", "Bob", "Esther"],
            ),
            (Language::Zh, "贾宝玉", ["宝玉", "贾宝玉", "宝玉少爷"], ["玉儿", "宝钗", "贾政"]),
        ] {
            let established = Character { name: name.to_owned(), ..character(language) };
            let made_up = Character { kind: CharacterType::Synthesized, ..established.clone() };
            for (names, expected) in [(namesakes, true), (others, false)] {
                for other in names {
                    let by_name = scene(language, "b@0", &["Cid", other]);
                    let mut by_alias = scene(language, "b@0", &["Cid", "Dot"]);
                    by_alias.characters[1].aliases.push(other.to_owned());
                    for scene in [by_name, by_alias] {
                        assert_eq!(has_similar_name(&scene, &made_up), expected, "{name} {other}");
                        assert!(!has_similar_name(&scene, &established));
                    }
                }
            }
        }
    }

    #[test]
    fn only_a_pool_character_of_a_single_book_plays_its_own_scenes() {
        let from_file = Character { book: Some("home".to_owned()), ..character(Language::En) };
        let picked = Character { id: Character::picked_id(&from_file.name, "home"), ..from_file.clone() };
        let own = scene(Language::En, "home@0", &["Ann"]);
        let own = Scene { book: "home".to_owned(), ..own };
        let other = scene(Language::En, "book@0", &["Ann"]);
        let chinese = scene(Language::Zh, "zh@0", &["安"]);
        let [own, other, chinese] = [own, other, chinese].map(SceneHead::from);
        let alone = [&own, &chinese];
        let with_other = [&own, &other];
        for (own_book, character, scenes, expected) in [
            (None, &picked, alone, true),
            (None, &picked, with_other, false),
            (None, &from_file, alone, false),
            (Some(false), &picked, alone, false),
            (Some(true), &from_file, with_other, true),
        ] {
            let params = Params { own_book, ..Params::default() };
            assert_eq!(plays_own_book(&params, character, scenes), expected, "{own_book:?} {}", character.id);
        }
    }
}
