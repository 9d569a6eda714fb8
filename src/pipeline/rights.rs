//! What of the books may leave in a data set: their texts are read once more, where rows have to be held against them.

use super::Loaded;
use super::books::open_books;
use crate::schema::Book;
use crate::stages::export::Rights;

/// Takes in the books of a run. One that cannot be read has no row that could quote it.
pub(super) fn rights(loaded: &Loaded) -> Rights {
    let params = &loaded.file.export;
    if Rights::longest(params).is_none() {
        return Rights::new(params, 0);
    }
    let letters = books(loaded).map(|book| Rights::letters(&book.text)).sum();
    let mut rights = Rights::new(params, letters);
    for book in books(loaded) {
        rights.add(&book.text);
    }
    rights
}

fn books(loaded: &Loaded) -> impl Iterator<Item = Book> + '_ {
    let encoding = loaded.file.chunk.encoding.as_deref();
    let opened = loaded.book_paths.iter().filter_map(move |book| open_books(&book.path, encoding).ok());
    opened.flat_map(|books| books.filter_map(Result::ok))
}
