//! Collects the book texts that rows could quote, for the quote limits of the export; the books are read a second time.

use crate::config::{Loaded, open_books};
use crate::schema::Character;
use crate::stages::export::QuoteLimits;
use crate::store::{PoolIndex, StoreError};

/// Collects all texts that rows could quote: the run's books and scripts, custom scenes, and the lines of characters in
/// files. A book that cannot be read is skipped, since no row can quote it.
pub(super) fn quote_limits(loaded: &Loaded, scenes: &PoolIndex) -> Result<QuoteLimits, StoreError> {
    let params = &loaded.file.export;
    if QuoteLimits::longest(params).is_none() {
        return Ok(QuoteLimits::new(params, 0));
    }
    let mut letters = 0;
    each(loaded, scenes, |text| letters += QuoteLimits::letters(text))?;
    let mut quote_limits = QuoteLimits::new(params, letters);
    each(loaded, scenes, |text| quote_limits.add(text))?;
    Ok(quote_limits)
}

/// Calls `see` with each text that rows could quote.
fn each(loaded: &Loaded, scenes: &PoolIndex, mut see: impl FnMut(&str)) -> Result<(), StoreError> {
    let encoding = loaded.file.chunk.encoding.as_deref();
    for path in loaded.book_paths.iter().map(|book| &book.path).chain(&loaded.scripts) {
        let Ok(books) = open_books(path, encoding) else { continue };
        for book in books.filter_map(Result::ok) {
            see(&book.text);
        }
    }
    for index in (0..scenes.len()).filter(|index| scenes.head(*index).is_custom) {
        let scene = scenes.scene(index)?;
        for line in &scene.dialogue {
            for text in [&line.thought, &line.action, &line.speech].into_iter().flatten() {
                see(text);
            }
        }
    }
    for line in loaded.characters.iter().chain(&loaded.roles).flat_map(|character: &Character| &character.lines) {
        see(line);
    }
    Ok(())
}
