//! The sources of roles, and the roles in each.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::Runner;
use crate::attribution;
use crate::config::open_books;
use crate::llm::chain;
use crate::pipeline::error::RunError;
use crate::schema::{Book, Character, CharacterType, Language, Reject, RejectReason, Scene, Stage, slug};
use crate::stages::extract;
use crate::stages::instruct::{self, Act, Acts, Role, Roles};
use crate::stages::synthesize::established;
use crate::store::PoolIndex;

/// Maximum number of people named in one reject.
const MOST_NAMED: usize = 20;
/// Number of characters without a book that form one source.
const CHARACTERS_AT_ONCE: usize = 16;

/// A source of roles.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Characters of files and of the run, all of the same book or of none.
    Characters(Vec<Character>),
    /// A file with scripts.
    Script(PathBuf),
    /// A book of the pool, by its slug.
    Book(String),
}

/// Inputs shared by all roles of a run.
pub(super) struct Cast {
    /// The characters of files and of the run.
    pub(super) characters: Vec<Character>,
    pub(super) sources: Vec<Source>,
    pub(super) scenes: Arc<PoolIndex>,
    /// The general instructions.
    pub(super) general: Vec<instruct::GeneralInstruction>,
}

impl Runner {
    /// Lists the sources of roles: characters of files and of the run, scripts, books of the pool.
    pub(super) fn cast(&self, books: &[Book], scenes: &Arc<PoolIndex>, characters: &[Character]) -> Cast {
        let params = &self.loaded.file.instruct;
        let mut all: Vec<Character> = self.loaded.roles.clone();
        if params.roles.has(Roles::CHARACTERS) {
            let is_new = |one: &&Character| !self.loaded.roles.iter().any(|role| role.id == one.id);
            all.extend(characters.iter().filter(is_new).cloned());
        }
        let mut by_book: BTreeMap<&str, Vec<Character>> = BTreeMap::new();
        for character in &all {
            by_book.entry(character.book.as_deref().unwrap_or_default()).or_default().push(character.clone());
        }
        let of_one = |(book, characters): (&str, Vec<Character>)| {
            let size = if book.is_empty() { CHARACTERS_AT_ONCE } else { characters.len() };
            characters.chunks(size).map(|part| Source::Characters(part.to_vec())).collect::<Vec<_>>()
        };
        let mut sources: Vec<Source> = by_book.into_iter().flat_map(of_one).collect();
        sources.extend(self.loaded.scripts.iter().cloned().map(Source::Script));
        if params.roles.has(Roles::POOL) {
            sources.extend(books.iter().map(|book| Source::Book(book.slug.clone())));
        }
        Cast { characters: all, sources, scenes: Arc::clone(scenes), general: Vec::new() }
    }

    /// Reads the roles of a source.
    pub(super) async fn roles(
        self: &Arc<Self>,
        cast: &Arc<Cast>,
        source: usize,
    ) -> Result<(Vec<Role>, Vec<Reject>), RunError> {
        let (runner, cast) = (Arc::clone(self), Arc::clone(cast));
        self.blocking(move || runner.read_roles(&cast, &cast.sources[source])).await
    }

    fn read_roles(&self, cast: &Cast, source: &Source) -> Result<(Vec<Role>, Vec<Reject>), RunError> {
        let params = &self.loaded.file.instruct;
        let (mut roles, mut rejects) = (Vec::new(), Vec::new());
        match source {
            Source::Characters(characters) => {
                // All are of the same book.
                let book = characters.first().and_then(|character| character.book.as_ref());
                let acts = match book {
                    Some(book) => acts_of(&cast.scenes.of_book(book)?, None),
                    None => Acts::default(),
                };
                for character in characters {
                    let source = match (&character.book, character.kind) {
                        (Some(book), _) => book,
                        (None, CharacterType::Synthesized) => "synthesized",
                        (None, CharacterType::Established) => "file",
                    };
                    roles.push(Role::new(params, character, &acts, source, false));
                }
            }
            Source::Script(path) => match open_books(path, self.loaded.file.chunk.encoding.as_deref()) {
                Ok(scripts) => {
                    for script in scripts {
                        match script {
                            Ok(script) => roles.extend(script_roles(params, &script, &mut rejects)),
                            Err(error) => rejects.push(unreadable(path, &error)),
                        }
                    }
                }
                Err(error) => rejects.push(unreadable(path, &error)),
            },
            Source::Book(slug) => {
                let scenes = cast.scenes.of_book(slug)?;
                let picked = established::pick(slug, &scenes, usize::MAX, &cast.characters);
                let mut found = Vec::new();
                for language in Language::ALL {
                    let acts = acts_of(&scenes, Some(language));
                    let own = picked.characters.iter().filter(|character| character.language == language);
                    found.extend(own.map(|character| Role::new(params, character, &acts, slug, true)));
                }
                roles = enough(params, slug, found, &mut rejects);
            }
        }
        Ok((roles, rejects))
    }
}

/// Returns the acts of scenes in book order, in one language or all.
fn acts_of(scenes: &[Scene], language: Option<Language>) -> Acts {
    let mut scenes: Vec<&Scene> =
        scenes.iter().filter(|scene| language.is_none_or(|language| scene.language == language)).collect();
    scenes.sort_by_key(|scene| (scene.start.is_none(), scene.start, &scene.id));
    scenes.into_iter().map(Act::of).collect()
}

/// Reads the roles of a script.
fn script_roles(params: &instruct::Params, script: &Book, rejects: &mut Vec<Reject>) -> Vec<Role> {
    let attribution = attribution::attribute(&script.text, script.language, true);
    let acts: Acts = extract::acts(&attribution, &script.text)
        .iter()
        .map(|utterances| Act::new(utterances, str::to_owned))
        .collect();
    let character = |person: &attribution::Person| Character {
        id: Character::picked_id(&person.name, &script.slug),
        name: person.name.clone(),
        aliases: person.aliases.iter().filter(|alias| slug(alias) != slug(&person.name)).cloned().collect(),
        language: script.language,
        kind: CharacterType::Established,
        book: Some(script.slug.clone()),
        worldview: None,
        profile: Vec::new(),
        lines: Vec::new(),
        model: None,
    };
    let people = attribution.people.iter().filter(|person| person.lines > 0).map(character);
    let roles = people.map(|person| Role::new(params, &person, &acts, &script.slug, true)).collect();
    enough(params, &script.slug, roles, rejects)
}

/// Returns the roles with enough turns; rejects the others of a book in a single reject.
fn enough(params: &instruct::Params, book: &str, roles: Vec<Role>, rejects: &mut Vec<Reject>) -> Vec<Role> {
    let (mut enough, mut few): (Vec<Role>, Vec<Role>) =
        roles.into_iter().partition(|role| role.own_turns >= params.min_turns);
    enough.sort_by_key(|role| (Reverse(role.own_turns), role.id.clone()));
    if !few.is_empty() {
        few.sort_by_key(|role| (Reverse(role.own_turns), role.id.clone()));
        let named: Vec<String> =
            few.iter().take(MOST_NAMED).map(|role| format!("{} ({})", role.name, role.own_turns)).collect();
        let more = if few.len() > MOST_NAMED { " and others" } else { "" };
        let detail = format!(
            "{} people have fewer than {} turns in the scenes of the pool or the script: {}{more}",
            few.len(),
            params.min_turns,
            named.join(", ")
        );
        rejects.push(Reject::new(Stage::Instruct, book, RejectReason::TooFewTurns, detail));
    }
    enough
}

fn unreadable(path: &std::path::Path, error: &dyn std::error::Error) -> Reject {
    Reject::new(Stage::Instruct, path.display().to_string(), RejectReason::Unreadable, chain(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Book;

    /// A script in which two characters alternate, and a third says little.
    fn script(turns: usize) -> Book {
        let both = |n: usize| {
            let mara = format!("MARA: The wheel has stood still since day {n}, and I say so.");
            [mara, format!("TOBIN: Then oil it, count {n} drops, and be done.")]
        };
        let mut lines: Vec<String> = (0..turns).flat_map(both).collect();
        lines.push("EBEN: Goodnight to you both, then.\n".to_owned());
        let text = lines.join("\n");
        Book { slug: "the-mill".to_owned(), text, script: true, ..Book::default() }
    }

    #[test]
    fn appendix_d_a_role_has_at_least_25_turns() {
        let params = instruct::Params::default();
        let named = |turns| {
            let mut rejects = Vec::new();
            let roles = script_roles(&params, &script(turns), &mut rejects);
            (roles.into_iter().map(|role| (role.id, role.own_turns)).collect::<Vec<_>>(), rejects)
        };
        let (roles, rejects) = named(25);
        assert_eq!(roles, [("mara@the-mill".into(), 25), ("tobin@the-mill".into(), 25)]);
        assert_eq!((rejects.len(), rejects[0].reason.name()), (1, "too_few_turns"));
        assert!(rejects[0].detail.contains("Eben (1)"), "{}", rejects[0].detail);
        let (roles, rejects) = named(24);
        assert!(roles.is_empty() && rejects[0].detail.contains("3 people have fewer than 25 turns"), "{rejects:?}");
    }
}
