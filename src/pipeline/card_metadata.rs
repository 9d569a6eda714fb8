//! Metadata of a run for the data card.

use std::collections::BTreeMap;

use super::models::Models;
use crate::config::Loaded;
use crate::config::redact::redact;
use crate::llm::Session;
use crate::schema::{Book, Language, RoleTally};
use crate::stages::export::{AskCost, BookMetadata, CardMetadata, CastMetadata};

/// Collects the metadata of a run for the data card.
pub(super) fn card_metadata(
    loaded: &Loaded,
    limit: Option<u32>,
    books: &[Book],
    models: &Models,
    session: &Session,
    charges: Vec<AskCost>,
    roles: BTreeMap<Language, RoleTally>,
) -> CardMetadata {
    let file = &loaded.file;
    CardMetadata {
        name: file.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: file.seed,
        // The text is published with its comments.
        pipeline: redact(&loaded.source),
        // Shown as a comment, since no key of the file sets it.
        overrides: limit
            .map(|limit| format!("# --limit {limit}"))
            .into_iter()
            .chain(loaded.overrides.iter().map(|change| redact(change)))
            .collect(),
        books: books.iter().map(|book| book_metadata(loaded, book)).collect(),
        parts: models
            .parts()
            .into_iter()
            .map(|(part, model)| CastMetadata { part, name: model.name().to_owned(), model: model.id().to_owned() })
            .collect(),
        dimensions: loaded.dimensions.clone(),
        prompts: session.prompts.hashes().clone(),
        charges,
        tau: file.simulate.tau,
        target_probability: file.simulate.target_probability,
        batch_size: file.simulate.batch_size,
        keep_source: file.select.keep_source,
        sample_threshold: file.select.sample_threshold,
        roles,
    }
}

fn book_metadata(loaded: &Loaded, book: &Book) -> BookMetadata {
    let path = loaded.book_paths.iter().find(|known| known.path.as_os_str() == book.path.as_str());
    BookMetadata {
        slug: book.slug.clone(),
        title: book.title.clone(),
        language: book.language,
        license: path.and_then(|path| path.license.clone()),
        source: path.and_then(|path| path.source.clone()),
    }
}
