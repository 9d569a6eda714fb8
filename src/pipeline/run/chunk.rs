//! The `chunk` stage of a run: finds the books, counts their chunks and rejects duplicates.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{Runner, cores};
use crate::event::Event;
use crate::llm::chain;
use crate::pipeline::book_source::ListedBook;
use crate::pipeline::error::RunError;
use crate::pipeline::records::Records;
use crate::schema::Stage;
use crate::schema::{Book, Reject, RejectReason};

/// Returns whether a reject is about a missing book.
pub(super) fn is_unread(reject: &Reject) -> bool {
    reject.stage == Stage::Chunk && matches!(reject.reason, RejectReason::Unreadable | RejectReason::SameSlug)
}

impl Runner {
    /// Reads the books and counts their chunks. Books that cannot be read are rejected; the others are used.
    pub(super) async fn chunk(self: &Arc<Self>, records: &mut Records) -> Result<Vec<ListedBook>, RunError> {
        let total = self.book_source.files() as u64;
        self.start(Stage::Chunk, Some(total));
        let mut readers = JoinSet::new();
        // As many files at a time as there are cores; more would only use more memory.
        let permits = Arc::new(Semaphore::new(cores()));
        for file in 0..self.book_source.files() {
            let (runner, permits) = (Arc::clone(self), Arc::clone(&permits));
            readers.spawn(async move {
                let _permit = permits.acquire_owned().await.expect("the semaphore is never closed");
                (file, Arc::clone(&runner).blocking(move || runner.book_source.list(file)).await)
            });
        }
        let (mut listed, mut failed, mut done) = (BTreeMap::new(), BTreeMap::new(), 0);
        while let Some(joined) = readers.join_next().await {
            let (file, books) = joined.expect("reading a book does not panic");
            for (position, book) in books.into_iter().enumerate() {
                match book {
                    Ok(book) => drop(listed.insert((file, position), book)),
                    Err(source) => {
                        let id = self.book_source.path(file).display().to_string();
                        self.reject(records, [Reject::new(Stage::Chunk, id, RejectReason::Unreadable, chain(&source))]);
                        failed.insert((file, position), source);
                    }
                }
            }
            done += 1;
            self.advance(Stage::Chunk, done, Some(total));
        }
        if let (true, Some(((file, _), source))) = (listed.is_empty(), failed.pop_first()) {
            return Err(RunError::Books { path: self.book_source.path(file).to_owned(), source });
        }
        let mut books: Vec<ListedBook> = Vec::new();
        let mut hashes: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (book, rejects) in listed.into_values() {
            // A slug is part of every scene's id, so only the first of two books with the same slug can be used.
            let Book { slug, hash, path, title, .. } = &book.book;
            if let Some((first, same)) = hashes.get(slug) {
                let reason = if hash == same { RejectReason::Duplicate } else { RejectReason::SameSlug };
                let detail = format!("“{title}” in `{path}` has the same slug `{slug}` as a book in `{first}`");
                self.reject(records, [Reject::new(Stage::Chunk, slug, reason, detail)]);
                continue;
            }
            if let Some(other) = book.book.other_language {
                let note =
                    format!("`{path}` seems to be in {other}; it is processed with the rules for English and Chinese");
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
}
