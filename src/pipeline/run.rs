//! The road of a run: books, chunks, scenes, characters, conversations, data set.
//!
//! Order, concurrency, resume and failures are decided here, once for all stages. A stage gives records; this file hands
//! them to `store` and tells a [`Reporter`] what happens. It knows no prompt and no rule of any stage.

mod instruct;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::about::about;
use super::error::Cause;
use super::manifest::Manifest;
use super::models::Models;
use super::records::{PlayedRecords, Records};
use super::shelf::{self, Listed, ReadBook, Rereader, Shelf};
use super::status::{Watch, spent};
use super::{Loaded, ModelEntry, RunError, RunOptions, Stage, Summary};
use crate::event::{Event, Reporter};
use crate::llm::{AskError, Desk, Model, Rehearsal};
use crate::prompt::Prompts;
use crate::schema::{Book, Character, CharacterType, Chunk, Language, Reject, Scene, SceneHead};
use crate::stages::export;
use crate::stages::synthesize::established;
use crate::stages::{self, chunk, extract, simulate, synthesize};
use crate::store::{self, Pool, PoolIndex, RunFolder, Written};

/// Runs a pipeline up to and including a stage, and returns what it left.
///
/// What an earlier run in the same folder asked is read back from its journal, so that running again is how a run is
/// resumed. On an error that ends the run, calls in flight are finished and kept first.
pub async fn run(loaded: Loaded, options: RunOptions, reporter: Arc<dyn Reporter>) -> Result<Summary, RunError> {
    let begun = Instant::now();
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("outputs").join(&loaded.file.name));
    let folder = RunFolder::open(&out)?;
    let journal = Arc::clone(folder.journal());
    if journal.damaged() > 0 {
        let damaged = journal.damaged();
        reporter.report(Event::Note(format!(
            "{damaged} damaged places in the journal left out; the calls that stood there are made again"
        )));
    }
    let prompts = Prompts::new(stages::prompts(), &loaded.prompts)?;
    let (seed, budget) = (loaded.file.seed, loaded.file.budget.clone());
    let desk = Arc::new(Desk::new(seed, prompts, journal, budget, options.replay));
    let listener = Arc::clone(&reporter);
    desk.on_news(move |news| listener.report(Event::Note(news)));
    let models = Models::new(&loaded, &desk)?;
    let stopping = tokio::spawn(stopping(options.stop.clone(), Arc::clone(&desk)));
    let watch = Arc::new(Watch::new(&loaded, &options, reporter, Arc::clone(&desk)));
    let beating = tokio::spawn(Arc::clone(&watch).beat(folder.path().to_owned()));
    let road = Road::new(Arc::new(loaded), options, watch.clone(), desk, models);
    let ended = go(&road, &folder, begun).await;
    stopping.abort();
    beating.abort();
    watch.end(&folder, &ended);
    ended
}

/// Goes the road, and writes what it yields.
async fn go(road: &Arc<Road>, folder: &RunFolder, begun: Instant) -> Result<Summary, RunError> {
    let mut records = Records::new(folder)?;
    let walked = road.walk(&mut records).await;
    records.take_rejects();
    records.rejects.sort();
    records.rejects.dedup();
    folder.write_rejected(&records.rejects)?;
    let Walked { books, pool } = walked?;
    if !matches!(road.options.until, Stage::Chunk | Stage::Extract) {
        store::write_characters(folder.path(), &records.characters)?;
    }

    let mut summary = Summary::new(folder.path(), &road.desk.ledger, &records.rejects);
    summary.short.clone_from(&records.short);
    summary.role_data.clone_from(records.roles.sides.tallies());
    if road.options.until == Stage::Export {
        road.start(Stage::Export, None);
        let (index, pool_hash) = pool.expect("who exports has extracted");
        let mut dataset = folder.new_dataset()?;
        let tables = records.write(&index, &mut dataset)?;
        let about =
            about(&road.loaded, road.options.limit, &books, &road.models, records.roles.sides.tallies().clone());
        let card = export::card(&road.loaded.file.export, &about, &tables);
        summary.count(&tables);
        let files = dataset.finish(&card)?;
        let limit = road.options.limit;
        let manifest =
            Manifest::new(&road.loaded, limit, &books, &road.models, &road.desk, Some(pool_hash), &summary, files);
        folder.write_manifest(&manifest)?;
        summary.dataset = Some(folder.dataset());
        road.end(Stage::Export, format!("{} rows in {}", summary.total_rows(), folder.dataset().display()));
    }
    summary.wall_s = begun.elapsed().as_secs_f64();
    failures(summary, books.len(), &records.rejects)
}

/// Goes the road of a run up to the data set without a server and without writing anything, and returns what the offline
/// engine makes of it: rows by config. What was asked, and how long it would take, stands at the desk.
pub(super) async fn rehearse(
    loaded: Arc<Loaded>,
    options: RunOptions,
    reporter: Arc<dyn Reporter>,
    desk: Arc<Desk>,
) -> Result<BTreeMap<&'static str, u64>, RunError> {
    let models = Models::new(&loaded, &desk)?;
    let road = Road::new(loaded, options, reporter, desk, models);
    let mut records = Records::counting();
    let walked = road.walk(&mut records).await?;
    let [roles, role_specific, role_general] = records.roles.counts();
    Ok(BTreeMap::from([
        ("scenes", walked.pool.map_or(0, |(index, _)| index.len() as u64)),
        ("characters", records.characters.len() as u64),
        ("conversations", records.played.conversations()),
        ("samples", records.played.samples()),
        ("roles", roles),
        ("role_specific", role_specific),
        ("role_general", role_general),
    ]))
}

/// Stops the desk when the run is asked to stop.
async fn stopping(mut stop: watch::Receiver<bool>, desk: Arc<Desk>) {
    // Whoever could ask for it may be gone.
    if stop.wait_for(|stop| *stop).await.is_ok() {
        desk.stop();
    }
}

/// Tells a run that did all that it was asked from one with calls that have no answer, or books that cannot be read.
fn failures(summary: Summary, books: usize, rejects: &[Reject]) -> Result<Summary, RunError> {
    let calls = summary.calls;
    let unread = rejects.iter().filter(|reject| is_unread(reject)).count() as u64;
    // Where the director named nobody a lot did, and nothing is missing.
    let by_lot = rejects.iter().filter(|reject| reject.reason == simulate::BY_LOT).count() as u64;
    let (what, failed, total) = match (calls.failed.saturating_sub(by_lot), unread) {
        (0, 0) => return Ok(summary),
        (0, unread) => ("books", unread, books as u64 + unread),
        (failed, _) => ("calls", failed, calls.made + calls.journal + failed),
    };
    let is_failed = |reject: &&Reject| {
        if what == "books" { is_unread(reject) } else { AskError::REASONS.contains(&reject.reason.as_str()) }
    };
    let first = rejects.iter().find(is_failed);
    // What a model said is in the journal, and would be read back.
    let is_kept = rejects.iter().filter(is_failed).all(|reject| AskError::KEPT.contains(&reject.reason.as_str()));
    Err(RunError::Failures {
        what,
        failed,
        total,
        is_kept,
        stage: first.map_or_else(String::new, |reject| reject.stage.clone()),
        first: first.map_or_else(String::new, |reject| reject.id.clone()),
        cause: Cause(first.map_or_else(String::new, |reject| reject.detail.clone())),
        summary: Box::new(summary),
    })
}

/// The reason of a book that cannot be read.
const UNREADABLE: &str = "unreadable";
/// The reason of a book that is another one's equal.
const DUPLICATE: &str = "duplicate";
/// The reason of a book that cannot be told from another one.
const SAME_SLUG: &str = "same_slug";

/// Whether a reject is a book that is missing.
fn is_unread(reject: &Reject) -> bool {
    reject.stage == Stage::Chunk.verb() && matches!(reject.reason.as_str(), UNREADABLE | SAME_SLUG)
}

/// What all stages of a run share.
struct Road {
    loaded: Arc<Loaded>,
    options: RunOptions,
    reporter: Arc<dyn Reporter>,
    desk: Arc<Desk>,
    models: Models,
    shelf: Arc<Shelf>,
}

impl Road {
    fn new(
        loaded: Arc<Loaded>,
        options: RunOptions,
        reporter: Arc<dyn Reporter>,
        desk: Arc<Desk>,
        models: Models,
    ) -> Arc<Self> {
        let shelf = Shelf::new(loaded.book_paths.clone(), loaded.file.chunk.clone(), options.limit);
        Arc::new(Self { loaded, options, reporter, desk, models, shelf: Arc::new(shelf) })
    }

    /// Goes from stage to stage; what is made goes into `records` even when a later stage fails.
    async fn walk(self: &Arc<Self>, records: &mut Records) -> Result<Walked, RunError> {
        let listed = self.chunk(records).await?;
        let books: Vec<Book> = listed.iter().map(|listed| listed.book.clone()).collect();
        if self.options.until == Stage::Chunk {
            return Ok(Walked { books, pool: None });
        }
        let (index, hash) = self.extract(listed, records).await?;
        let index = Arc::new(index);
        let walked = Walked { books, pool: Some((Arc::clone(&index), hash)) };
        if self.options.until == Stage::Extract {
            return Ok(walked);
        }
        self.synthesize(&walked.books, &index, records).await?;
        if self.options.until == Stage::Synthesize {
            return Ok(walked);
        }
        // Roles need no conversation.
        if self.options.until != Stage::Instruct {
            self.simulate(records, &index).await?;
        }
        if self.options.until >= Stage::Instruct {
            self.instruct(&walked.books, &index, records).await?;
        }
        Ok(walked)
    }

    /// Reads the books and counts their chunks. A book that cannot be read is left out and named; the others go on.
    async fn chunk(self: &Arc<Self>, records: &mut Records) -> Result<Vec<Listed>, RunError> {
        let total = self.shelf.files() as u64;
        self.start(Stage::Chunk, Some(total));
        let mut reading = JoinSet::new();
        // As many files at once as there are cores: more would only fill the memory.
        let places = Arc::new(Semaphore::new(cores()));
        for file in 0..self.shelf.files() {
            let (road, places) = (Arc::clone(self), Arc::clone(&places));
            reading.spawn(async move {
                let _place = places.acquire_owned().await.expect("nobody closes it");
                (file, Arc::clone(&road).blocking(move || road.shelf.list(file)).await)
            });
        }
        let (mut listed, mut failed, mut done) = (BTreeMap::new(), BTreeMap::new(), 0);
        while let Some(joined) = reading.join_next().await {
            let (file, books) = joined.expect("reading a book does not panic");
            for (place, book) in books.into_iter().enumerate() {
                match book {
                    Ok(book) => drop(listed.insert((file, place), book)),
                    Err(source) => {
                        let id = self.shelf.path(file).display().to_string();
                        self.reject(records, [Reject::new("chunk", id, UNREADABLE, chain(&source))]);
                        failed.insert((file, place), source);
                    }
                }
            }
            done += 1;
            self.advance(Stage::Chunk, done, Some(total));
        }
        if let (true, Some(((file, _), source))) = (listed.is_empty(), failed.pop_first()) {
            return Err(RunError::Books { path: self.shelf.path(file).to_owned(), source });
        }
        let mut books: Vec<Listed> = Vec::new();
        let mut hashes: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (book, rejects) in listed.into_values() {
            // A slug is part of every scene's id, so that of two books with one slug only the first can be told.
            let Book { slug, hash, path, title, .. } = &book.book;
            if let Some((first, same)) = hashes.get(slug) {
                let reason = if hash == same { DUPLICATE } else { SAME_SLUG };
                let detail = format!("“{title}” of `{path}` has the slug `{slug}`, as a book of `{first}` has");
                self.reject(records, [Reject::new("chunk", slug, reason, detail)]);
                continue;
            }
            if let Some(other) = book.book.other_language {
                let note = format!("`{path}` seems to be in {other}; it is read by the rules of English and Chinese");
                self.reporter.report(Event::Note(note));
            }
            hashes.insert(slug.clone(), (path.clone(), hash.clone()));
            self.reject(records, rejects);
            books.push(book);
        }
        let chunks: u64 = books.iter().map(|book| book.chunks).sum();
        self.end(Stage::Chunk, format!("{chunks} chunks of {} books", books.len()));
        Ok(books)
    }

    /// Makes scenes of the chunks, each book's in order, the books side by side; fills the pool and looks what is in it, with
    /// what people added to it. Returns that, and the pool's hash.
    async fn extract(
        self: &Arc<Self>,
        books: Vec<Listed>,
        records: &mut Records,
    ) -> Result<(PoolIndex, String), RunError> {
        let total = books.iter().map(|book| book.chunks).sum();
        self.start(Stage::Extract, Some(total));
        let mut pool = Filling {
            pool: Arc::new(match self.desk.rehearsal() {
                Some(_) => Pool::rehearse(self.loaded.file.extract.pool.as_ref()),
                None => Pool::open(self.loaded.file.extract.pool.as_ref())?,
            }),
            slugs: Vec::new(),
            fault: None,
        };
        let done = Arc::new(AtomicU64::new(0));
        let mut rereader = Rereader::new(Arc::clone(&self.shelf));
        let mut folds = Tasks::new(&self.desk);
        let most = self.books_at_once();
        for listed in books {
            // A book waits for its place unread: what is in memory does not grow with the number of books.
            while folds.len() >= most
                && let Some(folded) = folds.next().await
            {
                self.folded(records, &mut pool, folded);
            }
            if folds.failed() || pool.fault.is_some() {
                break;
            }
            let path = listed.book.path.clone();
            let reread = move || {
                let found = rereader.read(&listed);
                (rereader, found)
            };
            let (back, found) = self.blocking(reread).await;
            rereader = back;
            match found {
                Ok(book) => {
                    let (road, done, pool) = (Arc::clone(self), Arc::clone(&done), Arc::clone(&pool.pool));
                    folds.spawn(async move { road.fold(book, pool, &done, total).await });
                }
                Err(error) => self.reject(records, [Reject::new("chunk", path, UNREADABLE, chain(&error))]),
            }
        }
        while let Some(folded) = folds.next().await {
            self.folded(records, &mut pool, folded);
        }
        let Filling { pool, slugs, fault } = pool;
        fault.map_or(Ok(()), Err)?;
        folds.ended()?;
        let found = self.blocking(move || Ok::<_, RunError>((pool.index(&slugs)?, pool.hash(&slugs)?))).await?;
        let books: BTreeSet<&str> = found.0.heads().map(|head| head.book.as_str()).collect();
        self.end(Stage::Extract, format!("{} scenes of {} books", found.0.len(), books.len()));
        Ok(found)
    }

    /// Puts a book's scenes into the pool. When that cannot be done nothing new begins.
    fn folded(&self, records: &mut Records, pool: &mut Filling, folded: Folded) {
        self.reject(records, folded.rejects);
        match pool.pool.write_book(&folded.slug, &folded.scenes) {
            Ok(Written::AsGiven) => {}
            Ok(Written::Kept) => self.reporter.report(Event::Note(format!(
                "`{}` is not as the program left it and is kept; delete it to have the {} scenes of this run there",
                pool.pool.book(&folded.slug).display(),
                folded.scenes.len()
            ))),
            Err(fault) => {
                self.desk.stop();
                pool.fault.get_or_insert(fault.into());
            }
        }
        pool.slugs.push(folded.slug);
    }

    /// Returns how many books are extracted side by side: enough to fill the extractor, whose calls for one book come one
    /// after the other.
    fn books_at_once(&self) -> usize {
        let of = |language: Language| match &self.loaded.file.models[self.loaded.file.cast.extractor.get(language)] {
            ModelEntry::OpenAi(served) => served.concurrency as usize,
            ModelEntry::Offline(_) => cores(),
        };
        Language::ALL.into_iter().map(of).max().unwrap_or(1).max(1)
    }

    /// Extracts the scenes of a book, chunk after chunk.
    async fn fold(&self, read: ReadBook, pool: Arc<Pool>, done: &AtomicU64, total: u64) -> Result<Folded, RunError> {
        let mut read = read;
        let (facts, read) = self.blocking(move || (shelf::facts(&mut read, &pool), read)).await;
        let (facts, note) = facts?;
        if let Some(note) = note {
            self.reporter.report(Event::Note(note));
        }
        let ReadBook { book, mut chunks, next } = read;
        let count = chunks.len();
        chunks.extend(next);
        let (mut scenes, mut rejects) = (Vec::new(), Vec::new());
        let model = |language: Language| &**self.models.extractor.get(language);
        if self.loaded.file.chunk.plot_aware {
            (chunks, rejects) = chunk::borders(model, &self.loaded.file.chunk, &book, chunks).await?;
        }
        let params = &self.loaded.file.extract;
        // What is carried from chunk to chunk is told in the language that it was found in.
        let mut carries: BTreeMap<Language, extract::Carry> = BTreeMap::new();
        for (at, chunk) in chunks[..count].iter().enumerate() {
            let language = chunk.language;
            let (model, facts) = (model(language), &facts[&language]);
            let carry = carries.remove(&language).unwrap_or_default();
            let mut extracted = extract::extract(model, params, facts, chunk, carry).await?;
            scenes.append(&mut extracted.scenes);
            rejects.append(&mut extracted.rejects);
            // A scene that goes on behind a limit is not asked about: the run without the limit asks about the whole of it.
            // Over what was left out of the book no scene goes on.
            let goes_on = |next: &Chunk| next.language == language && next.start == chunk.end;
            if !chunks.get(at + 1).is_some_and(goes_on) {
                extracted = extract::finish(model, params, facts, extracted.carry).await?;
                scenes.append(&mut extracted.scenes);
                rejects.append(&mut extracted.rejects);
            }
            carries.insert(language, extracted.carry);
            self.advance(Stage::Extract, done.fetch_add(1, Ordering::Relaxed) + 1, Some(total));
        }
        Ok(Folded { slug: book.slug, scenes, rejects })
    }

    /// Returns the established characters: those of files first, then those picked out of the pool, book by book.
    fn established(
        &self,
        books: &[Book],
        scenes: &PoolIndex,
        records: &mut Records,
    ) -> Result<Vec<Character>, RunError> {
        let params = &self.loaded.file.synthesize;
        for note in &self.loaded.notes {
            self.reporter.report(Event::Note(note.clone()));
        }
        let mut characters = self.loaded.characters.clone();
        for book in books.iter().filter(|_| params.established.has_pool()) {
            let most = params.established_per_book as usize;
            let picked = established::pick(&book.slug, &scenes.of_book(&book.slug)?, most, &self.loaded.characters);
            self.reject(records, picked.rejects);
            for character in picked.characters {
                let simulate = &self.loaded.file.simulate;
                if simulate.own_book.is_none() && simulate::meets_own_book(simulate, &character, scenes.heads()) {
                    let Character { name, book, .. } = &character;
                    self.reporter.report(Event::Note(format!(
                        "`{name}` meets scenes of its own book `{}`, as no other has one of its language; \
                         `simulate.own_book = false` forbids it",
                        book.as_deref().unwrap_or_default()
                    )));
                }
                characters.push(character);
            }
        }
        Ok(characters)
    }

    /// Takes the established characters and makes up the others.
    async fn synthesize(
        self: &Arc<Self>,
        books: &[Book],
        scenes: &PoolIndex,
        records: &mut Records,
    ) -> Result<(), RunError> {
        let params = &self.loaded.file.synthesize;
        let limit = self.options.limit.unwrap_or(u32::MAX);
        let mut characters: Vec<Character> = Vec::new();
        for character in self.established(books, scenes, records)? {
            let same = |other: &&Character| other.language == character.language;
            if characters.iter().filter(same).count() < limit as usize {
                characters.push(character);
            }
        }
        let wanted = |language: Language| {
            if self.models.synthesizers.get(language).is_empty() { 0 } else { (*params.count.get(language)).min(limit) }
        };
        let total: u64 = Language::ALL.iter().map(|&language| u64::from(wanted(language))).sum();
        self.start(Stage::Synthesize, Some(total));
        let done = Arc::new(AtomicU64::new(0));
        let mut made = Tasks::new(&self.desk);
        for language in Language::ALL {
            let mut left = wanted(language);
            for world in 0.. {
                if left == 0 {
                    break;
                }
                let count = left.min(params.characters_per_world.max(1));
                left -= count;
                let (road, done) = (Arc::clone(self), Arc::clone(&done));
                made.spawn(async move {
                    let models = road.models.synthesizers.get(language);
                    let (params, seed) = (&road.loaded.file.synthesize, road.loaded.file.seed);
                    // No name is forbidden beforehand: a further book or character must not change those made up so far.
                    let made = synthesize::synthesize(models, params, seed, language, world, count, &[]).await?;
                    let done = done.fetch_add(count.into(), Ordering::Relaxed) + u64::from(count);
                    road.advance(Stage::Synthesize, done, Some(total));
                    Ok((language, world, made))
                });
            }
        }
        let mut results = made.all().await;
        results.sort_by_key(|(language, world, _)| (*language, *world));
        for (_, _, made) in results {
            self.reject(records, made.rejects);
            for character in made.characters {
                match synthesize::resembles(&character, &characters) {
                    Some(resemblance) => self.reject(records, [resemblance.reject(&character)]),
                    None => characters.push(character),
                }
            }
        }
        made.ended()?;
        characters.sort_by(|a, b| a.id.cmp(&b.id));
        let count = |kind| characters.iter().filter(|character| character.kind == kind).count();
        let (established, synthesized) = (count(CharacterType::Established), count(CharacterType::Synthesized));
        self.end(Stage::Synthesize, format!("{synthesized} made-up and {established} established characters"));
        records.characters = characters;
        Ok(())
    }

    /// Plays every lane, side by side.
    async fn simulate(self: &Arc<Self>, records: &mut Records, scenes: &Arc<PoolIndex>) -> Result<(), RunError> {
        let params = &self.loaded.file.simulate;
        let sets = |character: &Character| match (params.scope, self.models.sources.get(character.language).len()) {
            (simulate::Scope::Character, sources) => sources.min(1),
            (simulate::Scope::Lane, sources) => sources,
        };
        // Each set of counts goes to τ for each dimension.
        let sets: usize = records.characters.iter().map(sets).sum();
        let total = sets as u64 * u64::from(params.tau) * self.loaded.dimensions.len() as u64;
        self.start(Stage::Simulate, Some(total));
        let done = Arc::new(AtomicU64::new(0));
        let places = Arc::new(simulate::Places::new(self.conversations_at_once()));
        let mut plays = Tasks::new(&self.desk);
        for character in &records.characters {
            let sources = self.models.sources.get(character.language).clone();
            let groups: Vec<Vec<_>> = match params.scope {
                simulate::Scope::Lane => sources.into_iter().map(|source| vec![source]).collect(),
                simulate::Scope::Character => vec![sources],
            };
            for group in groups {
                let (road, done) = (Arc::clone(self), Arc::clone(&done));
                let lanes = Lanes { character: character.clone(), sources: group, scenes: Arc::clone(scenes) };
                let (played, places) = (Arc::clone(&records.played), Arc::clone(&places));
                plays.spawn(async move { road.play(&lanes, &played, &places, &done, total).await });
            }
        }
        for short in plays.all().await {
            for (reject, dimensions) in short {
                self.reject(records, [reject]);
                for dimension in dimensions {
                    *records.short.entry(dimension).or_default() += 1;
                }
            }
        }
        plays.ended()?;
        let (samples, conversations) = (records.played.samples(), records.played.conversations());
        self.end(Stage::Simulate, format!("{samples} samples of {conversations} conversations"));
        Ok(())
    }

    /// Returns how many conversations play at once, over all lanes: four times as many as there can be requests in flight, so that
    /// there is always one for whichever model has nothing to do, also while answers wait for the journal.
    fn conversations_at_once(&self) -> u32 {
        let names: BTreeSet<&str> = self.models.players().map(|model| model.name()).collect();
        let of = |name: &str| match &self.loaded.file.models[name] {
            ModelEntry::OpenAi(served) => served.concurrency as usize,
            ModelEntry::Offline(_) => cores(),
        };
        let most = names.into_iter().map(of).sum::<usize>().saturating_mul(4).min(MOST_CONVERSATIONS);
        u32::try_from(most).unwrap_or(u32::MAX)
    }

    /// Plays lanes that share one set of counts, one after the other, and returns the entries of those that fell short, each
    /// with the dimensions that have less than τ.
    async fn play(
        &self,
        Lanes { character, sources, scenes }: &Lanes,
        records: &PlayedRecords,
        places: &simulate::Places,
        done: &AtomicU64,
        total: u64,
    ) -> Result<Vec<(Reject, Vec<String>)>, RunError> {
        let language = character.language;
        let (mut counts, mut short) = (simulate::Counts::new(&self.loaded.dimensions), Vec::new());
        let behind = AtomicU64::new(0);
        for (place, source) in sources.iter().enumerate() {
            let mut params = self.loaded.file.simulate.clone();
            // Sources that share counts share τ too, else the first would leave nothing to the others.
            let share = u64::from(params.tau) * (place as u64 + 1);
            params.tau = u32::try_from(share.div_ceil(sources.len() as u64)).unwrap_or(params.tau);
            let stage = simulate::Stage {
                director: self.models.director.get(language),
                scene: self.models.scene.get(language),
                base: self.models.base.get(language),
                judge: self.models.judge.get(language),
                params: &params,
                select: &self.loaded.file.select,
                dimensions: &self.loaded.dimensions,
                seed: self.loaded.file.seed,
                limit: self.options.limit,
                places,
            };
            let keep = |played: simulate::Played| {
                for reject in &played.rejects {
                    self.reporter.report(Event::Rejected(reject.clone()));
                }
                Ok(records.add(played)?)
            };
            let progress = |progress: simulate::Progress| {
                let counted = u64::from(progress.counted);
                let step = counted.saturating_sub(behind.fetch_max(counted, Ordering::Relaxed));
                self.advance(Stage::Simulate, done.fetch_add(step, Ordering::Relaxed) + step, Some(total));
            };
            let end = simulate::play_lane(&stage, character, source, &**scenes, counts, &keep, &progress).await?;
            counts = end.counts;
            let below = counts.iter().filter(|(_, count)| *count < params.tau).map(|(code, _)| code.to_owned());
            short.extend(end.short.map(|reject| (reject, below.collect())));
        }
        Ok(short)
    }

    /// Does work that fills a core, where it keeps no other task waiting.
    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let _busy = self.desk.rehearsal().map(Rehearsal::busy);
        tokio::task::spawn_blocking(work).await.expect("reading a book does not panic")
    }

    fn start(&self, stage: Stage, total: Option<u64>) {
        self.reporter.report(Event::Started { stage: stage.verb(), total });
    }

    fn advance(&self, stage: Stage, done: u64, total: Option<u64>) {
        self.spent();
        self.reporter.report(Event::Advanced { stage: stage.verb(), done, total });
    }

    fn end(&self, stage: Stage, outcome: String) {
        self.spent();
        self.reporter.report(Event::Ended { stage: stage.verb(), outcome });
    }

    fn spent(&self) {
        self.reporter.report(spent(&self.desk));
    }

    fn reject(&self, records: &mut Records, rejects: impl IntoIterator<Item = Reject>) {
        for reject in rejects {
            self.reporter.report(Event::Rejected(reject.clone()));
            records.rejects.push(reject);
        }
    }
}

impl simulate::Scenes for PoolIndex {
    type Error = RunError;

    fn heads(&self) -> impl ExactSizeIterator<Item = &SceneHead> + Clone {
        Self::heads(self)
    }

    fn scene(&self, place: usize) -> Result<Scene, RunError> {
        Ok(Self::scene(self, place)?)
    }
}

/// So many conversations take some hundred megabytes of memory, and keep thousands of requests in flight.
const MOST_CONVERSATIONS: usize = 4096;

/// Lanes that share one set of counts.
struct Lanes {
    character: Character,
    sources: Vec<Arc<Model>>,
    scenes: Arc<PoolIndex>,
}

/// What a run went through.
struct Walked {
    /// The books that it read.
    books: Vec<Book>,
    /// What the pool holds of them, with its hash; none before it was filled.
    pool: Option<(Arc<PoolIndex>, String)>,
}

/// Tasks of a stage that may ask. After the first error that ends the run nothing new begins, and calls in flight are
/// finished and kept.
struct Tasks<'a, T> {
    running: JoinSet<Result<T, RunError>>,
    desk: &'a Desk,
    worst: Option<RunError>,
}

impl<'a, T: Send + 'static> Tasks<'a, T> {
    fn new(desk: &'a Desk) -> Self {
        Self { running: JoinSet::new(), desk, worst: None }
    }

    fn spawn(&mut self, task: impl Future<Output = Result<T, RunError>> + Send + 'static) {
        self.running.spawn(task);
    }

    fn len(&self) -> usize {
        self.running.len()
    }

    const fn failed(&self) -> bool {
        self.worst.is_some()
    }

    /// Waits for the next result; none when all tasks have ended.
    async fn next(&mut self) -> Option<T> {
        while let Some(joined) = self.running.join_next().await {
            match joined.expect("a stage does not panic") {
                Ok(result) => return Some(result),
                Err(error) => {
                    self.desk.stop();
                    // An interruption tells less than what caused it.
                    if matches!(self.worst, None | Some(RunError::Ask(AskError::Interrupted))) {
                        self.worst = Some(error);
                    }
                }
            }
        }
        None
    }

    /// Returns all results, in the order in which they came.
    async fn all(&mut self) -> Vec<T> {
        let mut results = Vec::new();
        while let Some(result) = self.next().await {
            results.push(result);
        }
        results
    }

    /// Returns the error that ended the run: an interruption only when nothing worse happened.
    fn ended(self) -> Result<(), RunError> {
        self.worst.map_or(Ok(()), Err)
    }
}

/// The pool while books come in.
struct Filling {
    pool: Arc<Pool>,
    /// The books that came.
    slugs: Vec<String>,
    /// Why one could not be read by its aliases, or not be kept.
    fault: Option<RunError>,
}

/// What a book yielded.
struct Folded {
    slug: String,
    scenes: Vec<Scene>,
    rejects: Vec<Reject>,
}

/// Returns how many cores there are.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Returns an error with its causes in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
