//! The road through `instruct`: who the roles are, what is made about each, and the rows of them all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::books::open_books;
use super::super::records::Records;
use super::super::{RunError, Stage};
use super::chunk::UNREADABLE;
use super::{Road, Tasks, chain, cores};
use crate::event::Event;
use crate::schema::{Book, Character, CharacterType, Distinctness, Language, Reject, Scene, slug};
use crate::stages::export::RoleRows;
use crate::stages::extract;
use crate::stages::instruct::{self, Act, Role, Roles};
use crate::stages::synthesize::established;
use crate::store::PoolIndex;

/// The most people that one reject names.
const MOST_NAMED: usize = 20;

impl Road {
    /// Makes role data of whoever is a role.
    pub(super) async fn instruct(
        self: &Arc<Self>,
        books: &[Book],
        scenes: &Arc<PoolIndex>,
        records: &mut Records,
    ) -> Result<(), RunError> {
        let params = &self.loaded.file.instruct;
        let (Some(instructor), Some(player)) = (&self.models.instructor, &self.models.player) else {
            if self.options.until == Stage::Instruct {
                let note = "`[instruct]` names neither roles nor scripts, so that nothing is made";
                self.reporter.report(Event::Note(note.to_owned()));
            }
            return Ok(());
        };
        self.start(Stage::Instruct, None);
        let threads = NonZeroUsize::new(cores()).unwrap_or(NonZeroUsize::MIN);
        let seed = self.loaded.file.seed;
        let (found, rejects) = {
            let (road, books, scenes) = (Arc::clone(self), books.to_vec(), Arc::clone(scenes));
            let characters = records.characters.clone();
            self.blocking(move || road.roles(&books, &scenes, &characters)).await?
        };
        self.reject(records, rejects);
        let roles = self.graded(found, records).await?;
        let road = Arc::clone(self);
        let (general, rejects) = self
            .blocking(move || instruct::general(&road.loaded.file.instruct, &road.loaded.instructions, seed, threads))
            .await;
        self.reject(records, rejects);
        let general = Arc::new(general);
        let total = roles.iter().map(|(role, _)| instruct::calls(params, role, &general, seed)).sum();
        let done = Arc::new(AtomicU64::new(0));
        let mut tasks = Tasks::new(&self.desk);
        for (role, grade) in roles {
            let language = role.language;
            let work = instruct::Work {
                instructor: Arc::clone(instructor.get(language)),
                player: Arc::clone(player.get(language)),
                params: params.clone(),
                seed,
            };
            let (road, general, done) = (Arc::clone(self), Arc::clone(&general), Arc::clone(&done));
            tasks.spawn(async move {
                let step = || {
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    road.advance(Stage::Instruct, done.min(total), Some(total));
                };
                Ok(instruct::work(&work, &role, grade, &general, &step).await?)
            });
        }
        let mut made = Vec::new();
        for result in tasks.all().await {
            match result {
                Ok(one) => made.push(one),
                Err(reject) => self.reject(records, [reject]),
            }
        }
        tasks.ended()?;
        let road = Arc::clone(self);
        let harvest = self.blocking(move || instruct::harvest(&road.loaded.file.instruct, seed, made, threads)).await;
        self.reject(records, harvest.rejects);
        records.roles = RoleRows {
            profiles: harvest.roles,
            specific: harvest.specific,
            general: harvest.general,
            tallies: harvest.tallies,
        };
        let RoleRows { profiles, specific, general, .. } = &records.roles;
        let (roles, specific, general) = (profiles.len(), specific.len(), general.len());
        self.end(Stage::Instruct, format!("{specific} specific and {general} general rows of {roles} roles"));
        Ok(())
    }

    /// Gathers whoever may be a role: those of files, the run's characters, those of scripts, those of the pool. Whoever is
    /// given stays as given; of the others those with enough turns.
    fn roles(
        &self,
        books: &[Book],
        scenes: &PoolIndex,
        characters: &[Character],
    ) -> Result<(Vec<Role>, Vec<Reject>), RunError> {
        let params = &self.loaded.file.instruct;
        let mut given: Vec<Character> = self.loaded.roles.clone();
        if params.roles.has(Roles::CHARACTERS) {
            given.extend(
                characters.iter().filter(|one| !self.loaded.roles.iter().any(|role| role.id == one.id)).cloned(),
            );
        }
        let (mut roles, mut rejects) = (Vec::new(), Vec::new());
        let mut acts: BTreeMap<String, Vec<Act>> = BTreeMap::new();
        for character in &given {
            let source = match (&character.book, character.kind) {
                (Some(book), _) => book.clone(),
                (None, CharacterType::Synthesized) => "synthesized".to_owned(),
                (None, CharacterType::Established) => "file".to_owned(),
            };
            if let Some(book) = character.book.as_ref().filter(|book| !acts.contains_key(*book)) {
                acts.insert(book.clone(), acts_of(&scenes.of_book(book)?, None));
            }
            let acts = character.book.as_ref().and_then(|book| acts.get(book)).map_or(&[][..], Vec::as_slice);
            roles.push(Role::new(params, character, acts, &source, false));
        }
        let mut chosen = Vec::new();
        for path in &self.loaded.scripts {
            match open_books(path, self.loaded.file.chunk.encoding.as_deref()) {
                Ok(scripts) => {
                    for script in scripts {
                        match script {
                            Ok(script) => chosen.push(script_roles(params, &script, &mut rejects)),
                            Err(error) => rejects.push(unreadable(path, &error)),
                        }
                    }
                }
                Err(error) => rejects.push(unreadable(path, &error)),
            }
        }
        for book in books.iter().filter(|_| params.roles.has(Roles::POOL)) {
            let scenes = scenes.of_book(&book.slug)?;
            let picked = established::pick(&book.slug, &scenes, usize::MAX, &given);
            let mut found = Vec::new();
            for language in Language::ALL {
                let acts = acts_of(&scenes, Some(language));
                let own = picked.characters.iter().filter(|character| character.language == language);
                found.extend(own.map(|character| Role::new(params, character, &acts, &book.slug, true)));
            }
            chosen.push(enough(params, &book.slug, found, &mut rejects));
        }
        let mut known: BTreeSet<String> = roles.iter().map(|role| role.id.clone()).collect();
        for role in chosen.into_iter().flatten() {
            // A script that is a book of the run too is read once.
            if known.insert(role.id.clone()) {
                roles.push(role);
            }
        }
        Ok((roles, rejects))
    }

    /// Has chosen roles graded and keeps the best of each book; those that are given need no grade. With `--limit` the first
    /// of each language stay.
    async fn graded(
        self: &Arc<Self>,
        roles: Vec<Role>,
        records: &mut Records,
    ) -> Result<Vec<(Role, Option<Distinctness>)>, RunError> {
        let params = &self.loaded.file.instruct;
        let Some(instructor) = &self.models.instructor else { return Ok(Vec::new()) };
        let (chosen, given): (Vec<Role>, Vec<Role>) = roles.into_iter().partition(|role| role.is_chosen);
        let mut tasks = Tasks::new(&self.desk);
        for role in chosen {
            let model = Arc::clone(instructor.get(role.language));
            tasks.spawn(async move {
                let grade = instruct::grade(&model, &role).await?;
                Ok((role, grade))
            });
        }
        let mut by_book: BTreeMap<String, Vec<(Role, Distinctness)>> = BTreeMap::new();
        for (role, grade) in tasks.all().await {
            match grade {
                Ok(grade) if grade < params.min_distinctness => {
                    let (grade, least) = (grade.name(), params.min_distinctness.name());
                    let detail = format!("its way of speaking is `{grade}` distinct, and `{least}` is the least");
                    self.reject(records, [Reject::new("instruct", role.id, "indistinct", detail)]);
                }
                Ok(grade) => by_book.entry(role.source.clone()).or_default().push((role, grade)),
                Err(reject) => self.reject(records, [reject]),
            }
        }
        tasks.ended()?;
        let most = usize::try_from(params.roles_per_book).unwrap_or(usize::MAX);
        let mut kept: Vec<(Role, Option<Distinctness>)> = given.into_iter().map(|role| (role, None)).collect();
        for mut roles in by_book.into_values() {
            roles.sort_by_key(|(role, grade)| (Reverse(*grade), Reverse(role.own_turns), role.id.clone()));
            for (role, grade) in roles.split_off(most.min(roles.len())) {
                let detail = format!(
                    "its way of speaking is `{}` distinct and it has {} turns; {most} roles of its book go before it",
                    grade.name(),
                    role.own_turns
                );
                self.reject(records, [Reject::new("instruct", role.id, "not_among_best", detail)]);
            }
            kept.extend(roles.into_iter().map(|(role, grade)| (role, Some(grade))));
        }
        let limit = self.options.limit.map_or(usize::MAX, |limit| limit as usize);
        let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
        kept.retain(|(role, _)| {
            let count = counts.entry(role.language).or_default();
            *count += 1;
            *count <= limit
        });
        Ok(kept)
    }
}

/// Returns the acts of scenes, in the order of the book; those of one language, or all.
fn acts_of(scenes: &[Scene], language: Option<Language>) -> Vec<Act> {
    let mut scenes: Vec<&Scene> =
        scenes.iter().filter(|scene| language.is_none_or(|language| scene.language == language)).collect();
    scenes.sort_by_key(|scene| (scene.start.is_none(), scene.start, &scene.id));
    scenes.into_iter().map(Act::of).collect()
}

/// Reads the roles of a script.
fn script_roles(params: &instruct::Params, script: &Book, rejects: &mut Vec<Reject>) -> Vec<Role> {
    let reading = extract::reading::read(&script.text, script.language, true);
    let acts: Vec<Act> =
        extract::acts(&reading, &script.text).iter().map(|utterances| Act::new(utterances, str::to_owned)).collect();
    let character = |person: &extract::reading::Person| Character {
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
    let people = reading.people.iter().filter(|person| person.lines > 0).map(character);
    let roles = people.map(|person| Role::new(params, &person, &acts, &script.slug, true)).collect();
    enough(params, &script.slug, roles, rejects)
}

/// Returns the roles with enough turns, and names the others of a book in one reject.
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
        rejects.push(Reject::new("instruct", book, "too_few_turns", detail));
    }
    enough
}

fn unreadable(path: &std::path::Path, error: &dyn std::error::Error) -> Reject {
    Reject::new("instruct", path.display().to_string(), UNREADABLE, chain(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Book;

    /// A script in which two people talk in turn, and a third says little.
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
        assert_eq!(roles, [("mara@the-mill".to_owned(), 25), ("tobin@the-mill".to_owned(), 25)]);
        assert_eq!((rejects.len(), rejects[0].reason.as_str()), (1, "too_few_turns"));
        assert!(rejects[0].detail.contains("Eben (1)"), "{}", rejects[0].detail);
        let (roles, rejects) = named(24);
        assert!(roles.is_empty() && rejects[0].detail.contains("3 people have fewer than 25 turns"), "{rejects:?}");
    }
}
