//! The books of a run. Each is read twice: once to list it and count its chunks, and again when it is extracted, so
//! that memory does not grow with the number of books.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use super::error::RunError;
use crate::books;
use crate::config::BookError;
use crate::config::referenced::aliases;
use crate::config::{BookPath, open_books};
use crate::schema::{Book, Chunk, Language, Reject, RejectReason, Stage};
use crate::stages::{chunk, extract};
use crate::store::Pool;

/// The book files of a run and how to split them.
#[derive(Debug)]
pub(super) struct BookSource {
    files: Vec<BookPath>,
    params: chunk::Params,
    /// Maximum number of chunks per book.
    limit: usize,
}

/// A book that was listed; its text is not kept.
#[derive(Debug)]
pub(super) struct ListedBook {
    /// The book's metadata, without text.
    pub(super) book: Book,
    /// Number of chunks, within the limit.
    pub(super) chunks: u64,
    /// Index of its file, and its index in the file.
    at: (usize, usize),
}

/// A book with its chunks.
#[derive(Debug)]
pub(super) struct ReadBook {
    pub(super) book: Book,
    /// The chunks, within the limit.
    pub(super) chunks: Vec<Chunk>,
    /// The chunk after the limit, whose beginning the plot-aware boundary may move into the last chunk.
    pub(super) next: Option<Chunk>,
}

impl BookSource {
    pub(super) fn new(files: Vec<BookPath>, params: chunk::Params, limit: Option<u32>) -> Self {
        Self { files, params, limit: limit.map_or(usize::MAX, |limit| limit as usize) }
    }

    /// Returns the number of files.
    pub(super) const fn files(&self) -> usize {
        self.files.len()
    }

    pub(super) fn path(&self, file: usize) -> &std::path::Path {
        &self.files[file].path
    }

    /// Lists the books of a file, each with what is skipped in it. An unreadable book does not affect the others.
    pub(super) fn list(&self, file: usize) -> Vec<Result<(ListedBook, Vec<Reject>), BookError>> {
        let books = match self.open(file) {
            Ok(books) => books,
            Err(error) => return vec![Err(error)],
        };
        let list = |(position, book): (usize, Result<Book, books::ReadError>)| {
            let (ReadBook { book, chunks, .. }, rejects) = self.cut(file, book?)?;
            let book = Book { text: String::new(), marked_headings: Vec::new(), boilerplate: Vec::new(), ..book };
            Ok((ListedBook { book, chunks: chunks.len() as u64, at: (file, position) }, rejects))
        };
        books.enumerate().map(list).collect()
    }

    fn open(&self, file: usize) -> Result<chunk::Books<BufReader<File>>, BookError> {
        open_books(&self.files[file].path, self.params.encoding.as_deref())
    }

    fn cut(&self, file: usize, mut book: Book) -> Result<(ReadBook, Vec<Reject>), BookError> {
        let chapters = chunk::chapters(&book);
        if let Some(filter) = &self.files[file].chapters {
            filter.apply(&mut book, &chapters)?;
        }
        let (mut chunks, mut rejects) = chunk::chunk(&book, &chapters, &self.params);
        if chunks.is_empty() {
            let detail = "all of its text was skipped, so it has no chunks".to_owned();
            rejects.push(Reject::new(Stage::Chunk, &book.slug, RejectReason::NoStory, detail));
        }
        let next = chunks.get(self.limit).cloned();
        chunks.truncate(self.limit);
        Ok((ReadBook { book, chunks, next }, rejects))
    }
}

/// Reads listed books again, in listed order.
#[derive(Debug)]
pub(super) struct Rereader {
    book_source: Arc<BookSource>,
    /// The open file, with the index of its next book.
    open: Option<(usize, usize, chunk::Books<BufReader<File>>)>,
}

impl Rereader {
    pub(super) const fn new(book_source: Arc<BookSource>) -> Self {
        Self { book_source, open: None }
    }

    /// Reads a book again. Fails if it has changed.
    pub(super) fn read(&mut self, listed: &ListedBook) -> Result<ReadBook, BookError> {
        let (file, position) = listed.at;
        let (mut next, mut books) = match self.open.take() {
            Some((open, next, books)) if open == file && next <= position => (next, books),
            _ => (0, self.book_source.open(file)?),
        };
        let changed = || BookError::Changed { path: self.book_source.path(file).to_owned() };
        let book = loop {
            let book = books.next().ok_or_else(changed)?;
            next += 1;
            if next > position {
                break book?;
            }
        };
        self.open = Some((file, next, books));
        if (&book.slug, &book.hash) != (&listed.book.slug, &listed.book.hash) {
            return Err(changed());
        }
        Ok(self.book_source.cut(file, book)?.0)
    }
}

/// The indexes of a book, by language of its chunks.
pub(super) type BookIndexes = BTreeMap<Language, extract::BookIndex>;

/// Attributes a book by rule in each language of its chunks, using its aliases file if that was edited by hand. Moves
/// the text from the book into the indexes. Also returns a note about the aliases file, if any.
pub(super) fn index_book(read: &mut ReadBook, pool: &Pool) -> Result<(BookIndexes, Option<String>), RunError> {
    let text: Arc<str> = Arc::from(std::mem::take(&mut read.book.text));
    let languages: BTreeSet<Language> = read.chunks.iter().map(|chunk| chunk.language).collect();
    let (attributions, note) = aliases::read_book(pool, &read.book, &text, &languages)?;
    let indexes = attributions.into_iter().map(|(language, attribution)| {
        (language, extract::BookIndex::new(&read.book, language, Arc::clone(&text), attribution))
    });
    let indexes = indexes.collect();
    Ok((indexes, note))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book_source(folder: &std::path::Path, names: &[&str], chapters: Option<&str>) -> Arc<BookSource> {
        let chapters = chapters.map(|chapters| chapters.parse::<chunk::ChapterFilter>().unwrap());
        let file =
            |name: &&str| BookPath { path: folder.join(name), chapters: chapters.clone(), ..BookPath::default() };
        Arc::new(BookSource::new(names.iter().map(file).collect(), chunk::Params::default(), None))
    }

    fn listed(book_source: &BookSource) -> Vec<ListedBook> {
        let files = (0..book_source.files()).flat_map(|file| book_source.list(file));
        files.filter_map(Result::ok).map(|(listed, _)| listed).collect()
    }

    #[test]
    fn books_are_reread_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let line = |title: &str, content: &str| serde_json::json!({"title": title, "content": content}).to_string();
        let lines = [line("Rain", "It rained."), "nonsense".to_owned(), line("河灯", "河上无风。")].join("\n");
        std::fs::write(folder.path().join("a.jsonl"), lines).unwrap();
        std::fs::write(folder.path().join("b.txt"), "Chapter 1\n\nMud.\n\nChapter 2\n\nSun.\n").unwrap();
        let book_source = book_source(folder.path(), &["a.jsonl", "b.txt"], None);
        let listed = listed(&book_source);
        assert!(listed.iter().all(|listed| listed.book.text.is_empty()));
        let mut rereader = Rereader::new(Arc::clone(&book_source));
        let mut read = |listed: &ListedBook| rereader.read(listed).map(|read| read.chunks[0].text.clone());
        let texts: Vec<String> = listed.iter().map(|listed| read(listed).unwrap()).collect();
        assert_eq!(texts, ["It rained.", "河上无风。", "Chapter 1\n\nMud.\n\nChapter 2\n\nSun.\n"]);
        assert_eq!(read(&listed[0]).unwrap(), texts[0], "in any order");

        std::fs::write(folder.path().join("b.txt"), "Another book.").unwrap();
        std::fs::write(folder.path().join("a.jsonl"), line("Rain", "It rained.")).unwrap();
        let mut rereader = Rereader::new(book_source);
        for (listed, name) in listed.iter().zip(["", "a.jsonl", "b.txt"]).skip(1) {
            let error = rereader.read(listed).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("changed"), "{error}");
        }
    }

    #[test]
    fn a_bilingual_book_is_indexed_in_each_language() {
        let folder = tempfile::tempdir().unwrap();
        let (en, zh) = ("“Come in,” said Anna. It rained. ".repeat(400), "“进来。”老周说。河上无风。".repeat(400));
        std::fs::write(folder.path().join("mixed.txt"), format!("Chapter 1\n\n{en}\n\nChapter 2\n\n{zh}\n")).unwrap();
        let book_source = book_source(folder.path(), &["mixed.txt"], None);
        let mut read = Rereader::new(Arc::clone(&book_source)).read(&listed(&book_source)[0]).unwrap();
        let pool = Pool::open(folder.path()).unwrap();
        let (indexes, note) = index_book(&mut read, &pool).unwrap();
        assert_eq!(indexes.into_keys().collect::<Vec<_>>(), [Language::En, Language::Zh]);
        assert_eq!(note, None);
        // Errors in an edited aliases file are reported before any model is asked.
        std::fs::write(pool.aliases_path("mixed"), "[[person]]\nname = 7\n").unwrap();
        let mut read = Rereader::new(Arc::clone(&book_source)).read(&listed(&book_source)[0]).unwrap();
        assert!(matches!(super::index_book(&mut read, &pool), Err(RunError::Aliases(_))));
    }

    #[test]
    fn a_chapter_selection_applies_to_every_matched_book() {
        let folder = tempfile::tempdir().unwrap();
        let book = |count: usize| (1..=count).map(|n| format!("Chapter {n}\n\nMud {n}.\n\n")).collect::<Vec<_>>();
        std::fs::write(folder.path().join("long.txt"), book(4).concat()).unwrap();
        std::fs::write(folder.path().join("short.txt"), book(2).concat()).unwrap();
        let book_source = book_source(folder.path(), &["long.txt", "short.txt"], Some("3-9"));
        let listed: Vec<_> = (0..2).flat_map(|file| book_source.list(file)).collect();
        let (long, rejects) = listed[0].as_ref().unwrap();
        assert_eq!((long.chunks, rejects.len(), rejects[0].reason.name()), (1, 1, "not_chosen"));
        let error = listed[1].as_ref().unwrap_err().to_string();
        assert!(error.contains("short.txt") && error.contains("it has 2"), "{error}");
    }
}
