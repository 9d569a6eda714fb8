//! `manifest.json`: what made a data set, so that it can be made again and checked.

use std::collections::BTreeMap;

use serde::Serialize;

use super::conceal::conceal;
use super::models::Models;
use super::summary::{FaultCounts, PerSample, by_model};
use super::{Loaded, Summary};
use crate::llm::{AskError, Desk, Usage};
use crate::schema::{Book, Language, RoleTally};

/// What made a data set. Nothing in it depends on when the run was, how fast, or how much came from the journal.
#[derive(Debug, Serialize)]
pub(super) struct Manifest {
    format: u32,
    name: String,
    version: &'static str,
    seed: u64,
    /// The whole configuration as TOML: `--set` and defaults in place, variables by name only.
    configuration: String,
    /// The pipeline file as it was written, keys struck out, and what the command line changed in it.
    pipeline: ManifestPipeline,
    /// How small `--limit` kept the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    books: Vec<ManifestBook>,
    /// Part of the cast → name and id of its models.
    cast: Vec<ManifestPart>,
    /// blake3 of each prompt template.
    prompts: BTreeMap<String, String>,
    /// blake3 of the table of dimensions.
    dimensions: String,
    /// The codes of the dimensions, in their order.
    dimension_codes: Vec<String>,
    /// blake3 of the file of vetoes.
    #[serde(skip_serializing_if = "Option::is_none")]
    vetoes: Option<String>,
    /// blake3 of the roles' character files and the general instructions; none where no role is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<String>,
    /// blake3 of each script whose roles are taken, by its path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    scripts: BTreeMap<String, String>,
    /// blake3 of the scenes that were read from the pool.
    pool: Option<String>,
    calls: u64,
    requests: u64,
    /// Replies of no use that were asked for again.
    reasks: u64,
    /// Replies of no use, and requests too long to be sent, by model and kind. What servers refused or lost is in no
    /// journal and not counted here.
    faults: FaultCounts,
    tokens: Usage,
    /// Prompt tokens that extend an earlier prompt of the ask to the model.
    cacheable: u64,
    usd: Option<f64>,
    /// The same by model and ask.
    asks: Vec<ManifestAsk>,
    rows: BTreeMap<String, BTreeMap<String, u64>>,
    /// What conversations took for each sample that came of them.
    per_sample: Option<PerSample>,
    /// How many lanes ended before a dimension had its τ counts, by dimension.
    short: BTreeMap<String, u64>,
    /// How many lanes had τ counts of a dimension and no sample of it, by dimension.
    barren: BTreeMap<String, u64>,
    /// What became of roles and their questions, by language, and how alike test rows are to training rows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    role_data: BTreeMap<Language, RoleTally>,
    rejected: BTreeMap<String, BTreeMap<String, u64>>,
    /// SHA-256 of each file of the data set, by its path in there.
    files: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
struct ManifestPipeline {
    text: String,
    changes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ManifestBook {
    slug: String,
    title: String,
    path: String,
    language: Language,
    encoding: String,
    blake3: String,
}

#[derive(Debug, Serialize)]
struct ManifestPart {
    part: String,
    model: String,
    id: String,
}

#[derive(Debug, Serialize)]
struct ManifestAsk {
    ask: &'static str,
    model: String,
    calls: u64,
    failed: u64,
    requests: u64,
    reasks: u64,
    tokens: Usage,
    cacheable: u64,
    usd: Option<f64>,
}

impl Manifest {
    /// The form's version: raised when a key changes its meaning.
    const FORMAT: u32 = 1;

    /// Gathers what made a data set.
    #[expect(clippy::too_many_arguments, reason = "each is one of the things that a manifest tells")]
    pub(super) fn new(
        loaded: &Loaded,
        limit: Option<u32>,
        books: &[Book],
        models: &Models,
        desk: &Desk,
        pool: Option<String>,
        summary: &Summary,
        files: BTreeMap<String, String>,
    ) -> Self {
        let totals = desk.ledger.totals();
        let asks = desk.ledger.accounts().into_iter().map(|account| ManifestAsk {
            cacheable: account.cacheable(),
            ask: account.ask,
            model: account.model,
            calls: account.totals.made + account.totals.journal,
            failed: account.totals.failed,
            requests: account.totals.requests,
            reasks: account.totals.reasks,
            tokens: account.totals.usage,
            usd: account.totals.usd,
        });
        let mut faults = desk.ledger.all_faults();
        faults.retain(|(_, kind, _)| AskError::KEPT.contains(kind) || *kind == "context_too_long");
        let dimensions = serde_json::to_vec(&loaded.dimensions).expect("dimensions are plain data");
        Self {
            format: Self::FORMAT,
            name: loaded.file.name.clone(),
            version: env!("CARGO_PKG_VERSION"),
            seed: loaded.file.seed,
            configuration: loaded.effective.clone(),
            pipeline: ManifestPipeline {
                text: conceal(&loaded.source),
                changes: loaded.overrides.iter().map(|change| conceal(change)).collect(),
            },
            limit,
            books: books.iter().map(ManifestBook::new).collect(),
            cast: models.parts().into_iter().map(|(part, model)| ManifestPart::new(part, &model)).collect(),
            prompts: desk.prompts.hashes().clone(),
            dimensions: blake3::hash(&dimensions).to_hex().to_string(),
            dimension_codes: loaded.dimensions.iter().map(|dimension| dimension.code.clone()).collect(),
            vetoes: loaded.vetoes.as_ref().map(super::Vetoes::hash),
            roles: loaded.file.instruct.is_on().then(|| {
                let given = serde_json::to_vec(&(&loaded.roles, &loaded.instructions)).expect("plain data is JSON");
                blake3::hash(&given).to_hex().to_string()
            }),
            scripts: loaded
                .scripts
                .iter()
                .filter_map(|path| Some((path.display().to_string(), hash_of(path)?)))
                .collect(),
            pool,
            calls: totals.made + totals.journal,
            requests: totals.requests,
            reasks: totals.reasks,
            faults: by_model(faults),
            tokens: totals.usage,
            cacheable: summary.tokens.cacheable,
            usd: totals.usd,
            asks: asks.collect(),
            rows: summary.rows.clone(),
            per_sample: summary.per_sample,
            short: summary.short.clone(),
            barren: summary.barren.clone(),
            role_data: summary.role_data.clone(),
            rejected: summary.rejected.clone(),
            files,
        }
    }
}

/// Returns the hash of a file's bytes; none of one that is not there any more, which has been rejected as unreadable.
fn hash_of(path: &std::path::Path) -> Option<String> {
    Some(blake3::hash(&std::fs::read(path).ok()?).to_hex().to_string())
}

impl ManifestBook {
    fn new(book: &Book) -> Self {
        Self {
            slug: book.slug.clone(),
            title: book.title.clone(),
            path: book.path.clone(),
            language: book.language,
            encoding: book.encoding.clone(),
            blake3: book.hash.clone(),
        }
    }
}

impl ManifestPart {
    fn new(part: String, model: &crate::llm::Model) -> Self {
        Self { part, model: model.name().to_owned(), id: model.id().to_owned() }
    }
}
