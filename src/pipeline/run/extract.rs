//! The `extract` stage of a run: fills the scene pool book by book.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Runner, Tasks, cores};
use crate::config::ModelEntry;
use crate::event::Event;
use crate::llm::chain;
use crate::pipeline::book_source::{self, ListedBook, ReadBook, Rereader};
use crate::pipeline::error::RunError;
use crate::pipeline::records::Records;
use crate::schema::Stage;
use crate::schema::{Chunk, Language, Reject, RejectReason, Scene};
use crate::stages::{chunk, extract};
use crate::store::{BookWrite, Pool, PoolIndex};

/// State while the pool is filled.
struct PoolProgress {
    pool: Arc<Pool>,
    /// Slugs of the finished books.
    slugs: Vec<String>,
    /// The first error in an aliases file or in writing the pool.
    fault: Option<RunError>,
}

/// The result of a book.
struct ExtractedBook {
    slug: String,
    scenes: Vec<Scene>,
    rejects: Vec<Reject>,
}

impl Runner {
    /// Extracts scenes from the chunks, in order within a book and with books in parallel, and writes them to the pool.
    /// Returns the index of the pool, including custom scenes, and the pool's hash.
    pub(super) async fn extract(
        self: &Arc<Self>,
        books: Vec<ListedBook>,
        records: &mut Records,
    ) -> Result<(PoolIndex, String), RunError> {
        let total = books.iter().map(|book| book.chunks).sum();
        self.start(Stage::Extract, Some(total));
        let mut pool = PoolProgress {
            // Adding verdicts changes no scenes.
            pool: Arc::new(if self.session.dry_run().is_some() || !self.options.judges.is_empty() {
                Pool::in_memory(self.loaded.file.extract.pool.as_ref())
            } else {
                Pool::open(self.loaded.file.extract.pool.as_ref())?
            }),
            slugs: Vec::new(),
            fault: None,
        };
        let done = Arc::new(AtomicU64::new(0));
        let mut rereader = Rereader::new(Arc::clone(&self.book_source));
        let mut tasks = Tasks::new(&self.session);
        let most = self.books_at_once();
        for listed in books {
            // A book is read only when a slot is free, so memory does not grow with the number of books.
            while tasks.len() >= most
                && let Some(extracted_book) = tasks.next().await
            {
                self.store_book(records, &mut pool, extracted_book);
            }
            if tasks.failed() || pool.fault.is_some() {
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
                    let (runner, done, pool) = (Arc::clone(self), Arc::clone(&done), Arc::clone(&pool.pool));
                    tasks.spawn(async move { runner.extract_book(book, pool, &done, total).await });
                }
                Err(error) => {
                    self.reject(records, [Reject::new(Stage::Chunk, path, RejectReason::Unreadable, chain(&error))]);
                }
            }
        }
        while let Some(extracted_book) = tasks.next().await {
            self.store_book(records, &mut pool, extracted_book);
        }
        let PoolProgress { pool, slugs, fault } = pool;
        fault.map_or(Ok(()), Err)?;
        tasks.ended()?;
        let found = self.blocking(move || Ok::<_, RunError>((pool.index(&slugs)?, pool.hash(&slugs)?))).await?;
        let books: BTreeSet<&str> = found.0.heads().map(|head| head.book.as_str()).collect();
        self.end(Stage::Extract, format!("{} scenes of {} books", found.0.len(), books.len()));
        Ok(found)
    }

    /// Writes a book's scenes to the pool. If that fails, no new calls are started.
    fn store_book(&self, records: &mut Records, pool: &mut PoolProgress, extracted_book: ExtractedBook) {
        self.reject(records, extracted_book.rejects);
        match pool.pool.write_book(&extracted_book.slug, &extracted_book.scenes) {
            Ok(BookWrite::AsGiven) => {}
            Ok(BookWrite::Kept) => self.reporter.report(Event::Note(format!(
                "`{}` was edited and is kept; delete it to replace it with the {} scenes of this run",
                pool.pool.book(&extracted_book.slug).display(),
                extracted_book.scenes.len()
            ))),
            Err(fault) => {
                self.session.stop();
                pool.fault.get_or_insert(fault.into());
            }
        }
        pool.slugs.push(extracted_book.slug);
    }

    /// Returns how many books to extract in parallel: enough to use the extractor's concurrency, since the calls for
    /// one book are sequential.
    fn books_at_once(&self) -> usize {
        let of = |language: Language| match &self.loaded.file.models[self.loaded.file.cast.extractor.get(language)] {
            ModelEntry::OpenAi(served) => served.concurrency as usize,
            ModelEntry::Offline(_) => cores(),
        };
        Language::ALL.into_iter().map(of).max().unwrap_or(1).max(1)
    }

    /// Extracts the scenes of a book, chunk by chunk.
    async fn extract_book(
        &self,
        read: ReadBook,
        pool: Arc<Pool>,
        done: &AtomicU64,
        total: u64,
    ) -> Result<ExtractedBook, RunError> {
        let mut read = read;
        let (indexes, read) = self.blocking(move || (book_source::index_book(&mut read, &pool), read)).await;
        let (indexes, note) = indexes?;
        if let Some(note) = note {
            self.reporter.report(Event::Note(note));
        }
        let ReadBook { book, mut chunks, next } = read;
        let count = chunks.len();
        chunks.extend(next);
        let (mut scenes, mut rejects) = (Vec::new(), Vec::new());
        let model = |language: Language| &**self.models.extractor.get(language);
        if self.loaded.file.chunk.plot_aware {
            (chunks, rejects) = chunk::adjust_boundaries(model, &self.loaded.file.chunk, &book, chunks).await?;
        }
        let params = &self.loaded.file.extract;
        // State carried from chunk to chunk is kept per language.
        let mut carries: BTreeMap<Language, extract::Carry> = BTreeMap::new();
        for (at, chunk) in chunks[..count].iter().enumerate() {
            let language = chunk.language;
            let (model, index) = (model(language), &indexes[&language]);
            let carry = carries.remove(&language).unwrap_or_default();
            let mut extracted = extract::extract(model, params, index, chunk, carry).await?;
            scenes.append(&mut extracted.scenes);
            rejects.append(&mut extracted.rejects);
            // An unfinished scene at a limit is not asked about, since a run without the limit asks about the whole
            // scene. Scenes do not continue across skipped parts of the book.
            let continues = |next: &Chunk| next.language == language && next.start == chunk.end;
            if !chunks.get(at + 1).is_some_and(continues) {
                extracted = extract::finish(model, params, index, extracted.carry).await?;
                scenes.append(&mut extracted.scenes);
                rejects.append(&mut extracted.rejects);
            }
            carries.insert(language, extracted.carry);
            self.advance(Stage::Extract, done.fetch_add(1, Ordering::Relaxed) + 1, Some(total));
        }
        Ok(ExtractedBook { slug: book.slug, scenes, rejects })
    }
}
