//! `manifest.json`: everything needed to reproduce and verify a data set.

use std::collections::BTreeMap;

use serde::Serialize;

use super::models::Models;
use super::summary::{FaultCounts, PerSample, Summary, by_model};
use crate::config::Loaded;
use crate::config::redact::redact;
use crate::llm::{Session, Usage};
use crate::schema::{Book, Language, RejectReason, RoleTally};

/// The inputs and statistics of a data set. Nothing in it depends on time, speed, or the share of journaled answers.
#[derive(Debug, Serialize)]
pub(super) struct Manifest {
    format: u32,
    name: String,
    version: &'static str,
    seed: u64,
    /// The effective configuration as TOML: `--set` and defaults applied, variables not expanded.
    configuration: String,
    /// The pipeline file as written, with keys masked, and the command line's changes to it.
    pipeline: ManifestPipeline,
    /// The `--limit` of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    books: Vec<ManifestBook>,
    /// Names and ids of the models, by part.
    cast: Vec<ManifestPart>,
    /// blake3 of each prompt template.
    prompts: BTreeMap<String, String>,
    /// blake3 of the dimensions.
    dimensions: String,
    /// The codes of the dimensions, in order.
    dimension_codes: Vec<String>,
    /// blake3 of the vetoes file.
    #[serde(skip_serializing_if = "Option::is_none")]
    vetoes: Option<String>,
    /// blake3 of the roles' character files and the general instructions; absent if `[instruct]` is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<String>,
    /// blake3 of each script, by path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    scripts: BTreeMap<String, String>,
    /// blake3 of the scenes read from the pool.
    pool: Option<String>,
    calls: u64,
    requests: u64,
    /// Invalid replies that were asked for again.
    reasks: u64,
    /// Invalid replies and prompts too long to send, by model and kind. Failed requests are not in the journal and not
    /// counted.
    faults: FaultCounts,
    tokens: Usage,
    /// Prompt tokens that extend an earlier prompt of the same ask to the same model.
    cacheable: u64,
    usd: Option<f64>,
    /// The same counts by model and ask.
    asks: Vec<ManifestAsk>,
    rows: BTreeMap<String, BTreeMap<String, u64>>,
    /// Calls and tokens per sample.
    per_sample: Option<PerSample>,
    /// Number of lanes that ended before a dimension reached τ counts, by dimension.
    dimensions_below_target: BTreeMap<String, u64>,
    /// Number of lanes that reached τ counts of a dimension without a sample of it, by dimension.
    dimensions_without_samples: BTreeMap<String, u64>,
    /// Statistics of roles and their questions, by language, and similarity of test rows to training rows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    role_data: BTreeMap<Language, RoleTally>,
    rejected: BTreeMap<String, BTreeMap<String, u64>>,
    /// SHA-256 of each file of the data set, by relative path.
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
    /// Version of the manifest format, raised when a key changes its meaning.
    const FORMAT: u32 = 1;

    /// Collects the manifest of a data set.
    #[expect(clippy::too_many_arguments, reason = "each is a part of the manifest")]
    pub(super) fn new(
        loaded: &Loaded,
        limit: Option<u32>,
        books: &[Book],
        models: &Models,
        session: &Session,
        pool: Option<String>,
        summary: &Summary,
        files: BTreeMap<String, String>,
    ) -> Self {
        let totals = session.usage_tracker.totals();
        let asks = session.usage_tracker.accounts().into_iter().map(|account| ManifestAsk {
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
        let replies = session.usage_tracker.unusable_replies().into_iter();
        let faults = replies
            .filter(|(_, reason, _)| reason.is_journaled_failure() || *reason == RejectReason::ContextTooLong)
            .map(|(model, reason, count)| (model, reason.name(), count))
            .collect();
        let dimensions = serde_json::to_vec(&loaded.dimensions).expect("dimensions serialize to JSON");
        Self {
            format: Self::FORMAT,
            name: loaded.file.name.clone(),
            version: env!("CARGO_PKG_VERSION"),
            seed: loaded.file.seed,
            configuration: loaded.effective.clone(),
            pipeline: ManifestPipeline {
                text: redact(&loaded.source),
                changes: loaded.overrides.iter().map(|change| redact(change)).collect(),
            },
            limit,
            books: books.iter().map(ManifestBook::new).collect(),
            cast: models.parts().into_iter().map(|(part, model)| ManifestPart::new(part, &model)).collect(),
            prompts: session.prompts.hashes().clone(),
            dimensions: blake3::hash(&dimensions).to_hex().to_string(),
            dimension_codes: loaded.dimensions.iter().map(|dimension| dimension.code.clone()).collect(),
            vetoes: loaded.vetoes.as_ref().map(crate::config::Vetoes::hash),
            roles: loaded.file.instruct.is_on().then(|| {
                let roles = serde_json::to_vec(&(&loaded.roles, &loaded.instructions))
                    .expect("characters and instructions serialize to JSON");
                blake3::hash(&roles).to_hex().to_string()
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
            dimensions_below_target: summary.dimensions_below_target.clone(),
            dimensions_without_samples: summary.dimensions_without_samples.clone(),
            role_data: summary.role_data.clone(),
            rejected: summary.rejected.clone(),
            files,
        }
    }
}

/// Returns the blake3 hash of a file, or `None` if it no longer exists; such a file was rejected as unreadable.
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
