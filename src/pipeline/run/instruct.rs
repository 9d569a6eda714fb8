//! The `instruct` stage of a run: selects roles, asks about each, and collects the rows of all roles.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Runner, Tasks, cores};
use crate::attribution;
use crate::config::error::chain;
use crate::config::open_books;
use crate::event::Event;
use crate::pipeline::error::RunError;
use crate::pipeline::records::Records;
use crate::schema::Stage;
use crate::schema::{Book, Character, CharacterType, Distinctness, Language, Reject, RejectReason, Scene, slug};
use crate::stages::extract;
use crate::stages::instruct::{self, Act, Role, Roles};
use crate::stages::synthesize::established;
use crate::store::PoolIndex;

/// Maximum number of people named in one reject.
const MOST_NAMED: usize = 20;
/// Minimum number of roles or sources processed in parallel.
const LEAST_AT_ONCE: usize = 8;
/// Maximum number processed in parallel, since each holds its dialogue in memory.
const MOST_AT_ONCE: usize = 64;
/// Number of characters without a book that form one source.
const GIVEN_AT_ONCE: usize = 16;

/// A source of roles.
#[derive(Debug, Clone)]
enum Source {
    /// Given characters, all of the same book or of none.
    Given(Vec<Character>),
    /// A file with scripts.
    Script(PathBuf),
    /// A book of the pool, by its slug.
    Book(String),
}

/// A selected role.
#[derive(Debug, Clone)]
struct Taken {
    /// Index of its source.
    source: usize,
    id: String,
    language: Language,
    /// The slug of its book or script.
    book: String,
    own_turns: u32,
    /// `None` for given characters, which are not graded.
    grade: Option<Distinctness>,
    calls: u64,
}

/// Inputs shared by all roles of a run.
struct Cast {
    given: Vec<Character>,
    sources: Vec<Source>,
    scenes: Arc<PoolIndex>,
    /// The general instructions.
    general: Vec<instruct::GeneralInstruction>,
}

impl Runner {
    /// Creates role data: selects roles source by source, then reads each source again and processes its roles. Only
    /// roles in progress are in memory.
    pub(super) async fn instruct(
        self: &Arc<Self>,
        books: &[Book],
        scenes: &Arc<PoolIndex>,
        records: &mut Records,
    ) -> Result<(), RunError> {
        let params = &self.loaded.file.instruct;
        if self.models.instructor.is_none() || self.models.role_player.is_none() {
            if self.options.until == Stage::Instruct {
                let note = "`[instruct]` names no roles or scripts, so there is nothing to do";
                self.reporter.report(Event::Note(note.to_owned()));
            }
            return Ok(());
        }
        self.start(Stage::Instruct, None);
        let threads = NonZeroUsize::new(cores()).unwrap_or(NonZeroUsize::MIN);
        let seed = self.loaded.file.seed;
        let runner = Arc::clone(self);
        let (general, rejects) = self
            .blocking(move || {
                instruct::select_instructions(&runner.loaded.file.instruct, &runner.loaded.instructions, seed, threads)
            })
            .await;
        self.reject(records, rejects);
        let cast = Arc::new(Cast { general, ..self.cast(books, scenes, &records.characters) });
        let taken = self.taken(&cast, records).await?;
        let harvest = instruct::SplitPlanner::new(params.clone(), seed, threads);
        let harvest = self.worked(&cast, taken, harvest, records).await?;
        records.roles.splits = self.blocking(move || harvest.assign_splits()).await;
        self.reject(records, records.roles.splits.rejects().to_vec());
        let [roles, specific, general] = records.roles.counts();
        self.end(Stage::Instruct, format!("{specific} specific and {general} general rows of {roles} roles"));
        Ok(())
    }

    /// Lists the sources of roles: characters of files and of the run, scripts, books of the pool.
    fn cast(&self, books: &[Book], scenes: &Arc<PoolIndex>, characters: &[Character]) -> Cast {
        let params = &self.loaded.file.instruct;
        let mut given: Vec<Character> = self.loaded.roles.clone();
        if params.roles.has(Roles::CHARACTERS) {
            let is_new = |one: &&Character| !self.loaded.roles.iter().any(|role| role.id == one.id);
            given.extend(characters.iter().filter(is_new).cloned());
        }
        let mut by_book: BTreeMap<&str, Vec<Character>> = BTreeMap::new();
        for character in &given {
            by_book.entry(character.book.as_deref().unwrap_or_default()).or_default().push(character.clone());
        }
        let of_one = |(book, given): (&str, Vec<Character>)| {
            let size = if book.is_empty() { GIVEN_AT_ONCE } else { given.len() };
            given.chunks(size).map(|given| Source::Given(given.to_vec())).collect::<Vec<_>>()
        };
        let mut sources: Vec<Source> = by_book.into_iter().flat_map(of_one).collect();
        sources.extend(self.loaded.scripts.iter().cloned().map(Source::Script));
        if params.roles.has(Roles::POOL) {
            sources.extend(books.iter().map(|book| Source::Book(book.slug.clone())));
        }
        Cast { given, sources, scenes: Arc::clone(scenes), general: Vec::new() }
    }

    /// Returns how many sources or roles are processed in parallel.
    fn roles_at_once(&self) -> usize {
        (self.conversations_at_once() as usize / 8).clamp(LEAST_AT_ONCE, MOST_AT_ONCE)
    }

    /// Selects roles: all given ones, and the best of each book. With `--limit`, only the first per language; sources
    /// are then read sequentially, and only as many as needed.
    async fn taken(self: &Arc<Self>, cast: &Arc<Cast>, records: &mut Records) -> Result<Vec<Taken>, RunError> {
        let limit = self.options.limit.map_or(usize::MAX, |limit| limit as usize);
        let at_once = if limit == usize::MAX { self.roles_at_once() } else { 1 };
        let mut tasks = Tasks::new(&self.session);
        let mut found: Vec<Taken> = Vec::new();
        let mut next = 0;
        loop {
            while next < cast.sources.len() && tasks.len() < at_once && !tasks.failed() {
                let best = self.best(&found).0;
                let is_full =
                    |language: Language| best.iter().filter(|role| role.language == language).count() >= limit;
                let wanted: Vec<Language> = Language::ALL.into_iter().filter(|language| !is_full(*language)).collect();
                let (runner, cast) = (Arc::clone(self), Arc::clone(cast));
                if !wanted.is_empty() {
                    let source = next;
                    tasks.spawn(async move { runner.picked(&cast, source, &wanted).await });
                }
                next += 1;
            }
            let Some((taken, rejects)) = tasks.next().await else { break };
            self.reject(records, rejects);
            found.extend(taken);
            found.sort_by_key(|role| role.source);
        }
        tasks.ended()?;
        let (mut best, rejects) = self.best(&found);
        self.reject(records, rejects);
        let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
        best.retain(|role| {
            let count = counts.entry(role.language).or_default();
            *count += 1;
            *count <= limit
        });
        Ok(best)
    }

    /// Selects among the roles found so far, in the order of their sources, and rejects the others. A role found in two
    /// sources, such as a script that is also a book of the run, belongs to the first.
    fn best(&self, found: &[Taken]) -> (Vec<Taken>, Vec<Reject>) {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let (given, chosen): (Vec<&Taken>, Vec<&Taken>) =
            found.iter().filter(|role| known.insert(&role.id)).partition(|role| role.grade.is_none());
        let mut by_book: BTreeMap<&str, Vec<&Taken>> = BTreeMap::new();
        for role in chosen {
            by_book.entry(&role.book).or_default().push(role);
        }
        let most = usize::try_from(self.loaded.file.instruct.roles_per_book).unwrap_or(usize::MAX);
        let mut best: Vec<Taken> = given.into_iter().cloned().collect();
        let mut rejects = Vec::new();
        let mut books: Vec<Vec<&Taken>> = by_book.into_values().collect();
        books.sort_by_key(|roles| roles[0].source);
        for mut roles in books {
            roles.sort_by_key(|role| (Reverse(role.grade), Reverse(role.own_turns), &role.id));
            for role in roles.split_off(most.min(roles.len())) {
                let detail = format!(
                    "its speech style is `{}` distinct and it has {} turns; {most} roles of its book rank higher",
                    role.grade.map_or("", Distinctness::name),
                    role.own_turns
                );
                rejects.push(Reject::new(Stage::Instruct, &role.id, RejectReason::NotAmongBest, detail));
            }
            best.extend(roles.into_iter().cloned());
        }
        (best, rejects)
    }

    /// Grades the candidates of a source in some languages; given characters are not graded.
    async fn picked(
        self: &Arc<Self>,
        cast: &Arc<Cast>,
        source: usize,
        wanted: &[Language],
    ) -> Result<(Vec<Taken>, Vec<Reject>), RunError> {
        let params = &self.loaded.file.instruct;
        let instructor = self.models.instructor.as_ref().expect("role data is only made with an instructor");
        let (roles, mut rejects) = self.roles(cast, source).await?;
        let graded = roles.into_iter().filter(|role| wanted.contains(&role.language)).map(|role| async move {
            let grade = if role.is_chosen {
                Some(instruct::grade_speech(instructor.get(role.language), &role).await?)
            } else {
                None
            };
            let calls = instruct::min_calls(params, &role, &cast.general, self.loaded.file.seed);
            let Role { id, language, source: book, own_turns, .. } = role;
            Ok::<_, RunError>((Taken { source, id, language, book, own_turns, grade: None, calls }, grade))
        });
        let mut taken = Vec::new();
        for graded in futures::future::join_all(graded).await {
            let (role, grade) = graded?;
            match grade {
                None => taken.push(role),
                Some(Ok(grade)) if grade < params.min_distinctness => {
                    let (grade, least) = (grade.name(), params.min_distinctness.name());
                    let detail = format!("its speech style is `{grade}` distinct, but `{least}` is required");
                    rejects.push(Reject::new(Stage::Instruct, role.id, RejectReason::Indistinct, detail));
                }
                Some(Ok(grade)) => taken.push(Taken { grade: Some(grade), ..role }),
                Some(Err(reject)) => rejects.push(reject),
            }
        }
        Ok((taken, rejects))
    }

    /// Processes the selected roles, source by source, and stores their results.
    async fn worked(
        self: &Arc<Self>,
        cast: &Arc<Cast>,
        taken: Vec<Taken>,
        mut harvest: instruct::SplitPlanner,
        records: &mut Records,
    ) -> Result<instruct::SplitPlanner, RunError> {
        let total = taken.iter().map(|role| role.calls).sum();
        let done = Arc::new(AtomicU64::new(0));
        let mut by_source: BTreeMap<usize, BTreeMap<String, Option<Distinctness>>> = BTreeMap::new();
        for role in taken {
            by_source.entry(role.source).or_default().insert(role.id, role.grade);
        }
        let mut tasks = Tasks::new(&self.session);
        let begun: Result<(), RunError> = async {
            for (source, mut grades) in by_source {
                if tasks.failed() {
                    break;
                }
                for role in self.roles(cast, source).await?.0 {
                    let Some(grade) = grades.remove(&role.id) else { continue };
                    while tasks.len() >= self.roles_at_once()
                        && let Some(worked) = tasks.next().await
                    {
                        self.keep(&mut harvest, records, worked)?;
                    }
                    if tasks.failed() {
                        break;
                    }
                    let (runner, cast, done) = (Arc::clone(self), Arc::clone(cast), Arc::clone(&done));
                    tasks.spawn(async move { runner.work(role, grade, &cast.general, (&done, total)).await });
                }
                for id in grades.into_keys().filter(|_| !tasks.failed()) {
                    let detail = "its book or script has changed since the role was selected".to_owned();
                    self.reject(records, [Reject::new(Stage::Instruct, id, RejectReason::Unreadable, detail)]);
                }
            }
            Ok(())
        }
        .await;
        // Calls in flight are paid for, so they are saved in the journal even after an error.
        let mut fault = begun.inspect_err(|_| self.session.stop()).err();
        while let Some(worked) = tasks.next().await {
            if let Err(error) = self.keep(&mut harvest, records, worked) {
                fault.get_or_insert(error);
            }
        }
        fault.map_or_else(|| tasks.ended(), Err)?;
        Ok(harvest)
    }

    /// Makes all calls about a role and selects its rows. `done` and `total` are the numbers of calls of all roles, the
    /// total being a minimum.
    async fn work(
        self: &Arc<Self>,
        role: Role,
        grade: Option<Distinctness>,
        general: &[instruct::GeneralInstruction],
        (done, total): (&AtomicU64, u64),
    ) -> Result<Result<instruct::SelectedRows, Reject>, RunError> {
        let (params, seed) = (self.loaded.file.instruct.clone(), self.loaded.file.seed);
        let part = "role data is only made with an instructor and a player";
        let work = instruct::RoleContext {
            instructor: Arc::clone(self.models.instructor.as_ref().expect(part).get(role.language)),
            role_player: Arc::clone(self.models.role_player.as_ref().expect(part).get(role.language)),
            params: params.clone(),
            seed,
        };
        let step = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            self.advance(Stage::Instruct, done.min(total), Some(total));
        };
        Ok(match instruct::process_role(&work, &role, grade, general, &step).await? {
            Ok(made) => Ok(self.blocking(move || instruct::select_rows(&params, made, NonZeroUsize::MIN)).await),
            Err(reject) => Err(reject),
        })
    }

    /// Stores the results of a role: rows on disk, and what compares roles with each other.
    fn keep(
        &self,
        harvest: &mut instruct::SplitPlanner,
        records: &mut Records,
        worked: Result<instruct::SelectedRows, Reject>,
    ) -> Result<(), RunError> {
        match worked {
            Ok(mut gleaned) => {
                self.reject(records, std::mem::take(&mut gleaned.rejects));
                harvest.add(&gleaned);
                records.roles.add(&gleaned).inspect_err(|_| self.session.stop())?;
            }
            Err(reject) => self.reject(records, [reject]),
        }
        Ok(())
    }

    /// Reads the roles of a source.
    async fn roles(self: &Arc<Self>, cast: &Arc<Cast>, source: usize) -> Result<(Vec<Role>, Vec<Reject>), RunError> {
        let (runner, cast) = (Arc::clone(self), Arc::clone(cast));
        self.blocking(move || runner.read_roles(&cast, &cast.sources[source])).await
    }

    fn read_roles(&self, cast: &Cast, source: &Source) -> Result<(Vec<Role>, Vec<Reject>), RunError> {
        let params = &self.loaded.file.instruct;
        let (mut roles, mut rejects) = (Vec::new(), Vec::new());
        match source {
            Source::Given(given) => {
                // All are of the same book.
                let book = given.first().and_then(|character| character.book.as_ref());
                let acts = match book {
                    Some(book) => acts_of(&cast.scenes.of_book(book)?, None),
                    None => Vec::new(),
                };
                for character in given {
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
                let picked = established::pick(slug, &scenes, usize::MAX, &cast.given);
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
fn acts_of(scenes: &[Scene], language: Option<Language>) -> Vec<Act> {
    let mut scenes: Vec<&Scene> =
        scenes.iter().filter(|scene| language.is_none_or(|language| scene.language == language)).collect();
    scenes.sort_by_key(|scene| (scene.start.is_none(), scene.start, &scene.id));
    scenes.into_iter().map(Act::of).collect()
}

/// Reads the roles of a script.
fn script_roles(params: &instruct::Params, script: &Book, rejects: &mut Vec<Reject>) -> Vec<Role> {
    let attribution = attribution::attribute(&script.text, script.language, true);
    let acts: Vec<Act> = extract::acts(&attribution, &script.text)
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
        assert_eq!(roles, [("mara@the-mill".to_owned(), 25), ("tobin@the-mill".to_owned(), 25)]);
        assert_eq!((rejects.len(), rejects[0].reason.name()), (1, "too_few_turns"));
        assert!(rejects[0].detail.contains("Eben (1)"), "{}", rejects[0].detail);
        let (roles, rejects) = named(24);
        assert!(roles.is_empty() && rejects[0].detail.contains("3 people have fewer than 25 turns"), "{rejects:?}");
    }
}
