//! The values that the template of the page prints, in the order of the page.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::conversation_view::ConversationView;
use super::cost::AskCost;
use super::figures::{Agreement, CharacterCounts, LanguageCounts, ReportStatistics, Scores, mean};
use super::manual_edits::ManualEdits;
use super::plots::{self, AMOUNT, SCORES, TOKENS};
use super::sanitize::{DisplayBudget, DisplayText, line};
use super::splits_section::splits_table;
use super::{CardMetadata, QuoteLimits, Report};
use crate::schema::{Language, Reject, RoleTally};
use crate::stages::export::amounts::{dollars, percent, thousands};

/// The maximum number of rows in a table of characters, sources or reasons.
const ROWS: usize = 100;
/// The maximum number of bars in a plot.
const BARS: usize = 24;
/// The maximum number of dimensions with a column.
const COLUMNS: usize = 30;
/// The maximum length of a name.
const NAME: usize = 60;
/// The maximum length of all details of rejects, and of one of them.
const DETAILS: usize = 60_000;
const DETAIL: usize = 1_000;

/// The data of the template.
#[derive(Debug, Serialize)]
pub(super) struct Page<'a> {
    name: String,
    /// The rows by config and split, as HTML.
    splits_table: String,
    version: &'a str,
    seed: u64,
    languages: Vec<&'static str>,
    tiles: Vec<SummaryTile>,
    offline: Vec<String>,
    offline_more: usize,
    steps: Vec<StageRow>,
    turns: Option<String>,
    questions: Option<String>,
    left_out: Vec<RejectRow>,
    left_out_more: usize,
    dimensions_below_target: Vec<(String, u64)>,
    dimensions_below_target_more: usize,
    dimensions_without_samples: Vec<(String, u64)>,
    dimensions_without_samples_more: usize,
    dimensions: Vec<DimensionName>,
    dimensions_more: usize,
    balance: Balance,
    targets: Balance,
    language_balance: Balance,
    sources: Vec<Source>,
    sources_more: usize,
    source_plot: Option<String>,
    score_plot: Option<String>,
    dimension_plot: Option<String>,
    scores: Vec<ScoreRow>,
    scores_more: usize,
    lengths: Option<String>,
    mean_length: String,
    ends: Vec<(String, u64)>,
    qualities: Vec<(String, u64)>,
    faults: Vec<(String, u64)>,
    orders: OrderEffect,
    judges: Vec<Judge>,
    judges_more: usize,
    grounding: Vec<Grounding>,
    stages: Vec<CostRow>,
    asks: Vec<CostRow>,
    asks_more: usize,
    total: Option<CostRow>,
    token_plot: Option<String>,
    by_hand: ManualEdits,
    readings: &'a [ConversationView],
    parts: Vec<(String, String, String)>,
    parts_more: usize,
    books: Vec<(String, String, &'static str)>,
    books_more: usize,
    keep_source: u8,
    sample: u8,
    tau: u32,
}

#[derive(Debug, Serialize)]
struct SummaryTile {
    value: String,
    label: &'static str,
    note: String,
}

/// The output and the rejects of a stage.
#[derive(Debug, Serialize)]
struct StageRow {
    stage: &'static str,
    made: String,
    left_out: Vec<(String, u64)>,
}

#[derive(Debug, Serialize)]
struct RejectRow {
    stage: String,
    reason: String,
    count: u64,
    id: String,
    detail: DisplayText,
}

#[derive(Debug, Serialize)]
struct DimensionName {
    code: String,
    en: String,
    zh: String,
}

/// Counts by dimension.
#[derive(Debug, Default, Serialize)]
struct Balance {
    codes: Vec<String>,
    codes_more: usize,
    rows: Vec<BalanceRow>,
    more: usize,
}

#[derive(Debug, Serialize)]
struct BalanceRow {
    name: String,
    language: &'static str,
    kind: &'static str,
    cells: Vec<BalanceCell>,
    all: u64,
}

/// A count, and the intensity of its background, 0 to 100.
#[derive(Debug, Serialize)]
struct BalanceCell {
    count: u64,
    shade: u64,
}

#[derive(Debug, Serialize)]
struct Source {
    name: String,
    conversations: u64,
    kept: u64,
    turns: u64,
    samples: u64,
    share: String,
    mean: String,
}

#[derive(Debug, Serialize)]
struct ScoreRow {
    name: String,
    scores: Scores,
    all: u64,
    mean: String,
}

/// The effect on σ of the order in which a judge sees two replies.
#[derive(Debug, Serialize)]
struct OrderEffect {
    rows: Vec<ScoreRow>,
    lean: String,
    both: u64,
    same: String,
    opposite: String,
    equal: u64,
}

#[derive(Debug, Serialize)]
struct Judge {
    name: String,
    turns: u64,
    same_dimension: String,
    kappa: String,
}

#[derive(Debug, Serialize)]
struct Grounding {
    language: &'static str,
    scenes: u64,
    lines: Vec<(&'static str, u64)>,
    plot: String,
}

#[derive(Debug, Serialize)]
struct CostRow {
    what: String,
    model: String,
    calls: u64,
    failed: u64,
    reasks: u64,
    prompt: u64,
    cached: String,
    cacheable: String,
    completion: u64,
    usd: String,
}

impl<'a> Page<'a> {
    pub(super) fn new(report: &Report<'a>) -> Self {
        let Report { about, figures, .. } = report;
        let codes = codes(about, figures);
        let every = |of: fn(&CharacterCounts) -> &BTreeMap<String, u64>| by_character(figures, &codes, of);
        let (sources, sources_more) = sources(figures);
        let (left_out, left_out_more) = left_out(report.rejects, report.rights);
        let all: Scores = figures.dimensions.values().fold([0; 5], |sum, scores| plus(&sum, scores));
        let by_dimension: Vec<(String, Vec<u64>)> = codes
            .iter()
            .filter_map(|code| Some((code.clone(), figures.dimensions.get(code)?.to_vec())))
            .take(BARS)
            .collect();
        let by_source: Vec<(String, Vec<u64>)> =
            figures.sources.iter().map(|(name, of)| (name.clone(), of.scores.to_vec())).take(BARS).collect();
        let any = |rows: &[(String, Vec<u64>)]| rows.iter().any(|(_, parts)| parts.iter().any(|count| *count > 0));
        Self {
            name: line(report.params.pretty_name.as_deref().unwrap_or(&about.name), NAME),
            splits_table: splits_table(report.tables),
            version: &about.version,
            seed: about.seed,
            languages: crate::stages::export::card::front_matter::languages(report.tables).into_iter().collect(),
            tiles: tiles(report),
            offline: offline(about).take(ROWS).collect(),
            offline_more: offline(about).count().saturating_sub(ROWS),
            steps: steps(report),
            turns: turns(figures, about.sample),
            questions: questions(&about.roles),
            left_out,
            left_out_more,
            dimensions_below_target: report
                .dimensions_below_target
                .iter()
                .take(ROWS)
                .map(|(code, lanes)| (line(code, NAME), *lanes))
                .collect(),
            dimensions_below_target_more: report.dimensions_below_target.len().saturating_sub(ROWS),
            dimensions_without_samples: report
                .dimensions_without_samples
                .iter()
                .take(ROWS)
                .map(|(code, lanes)| (line(code, NAME), *lanes))
                .collect(),
            dimensions_without_samples_more: report.dimensions_without_samples.len().saturating_sub(ROWS),
            dimensions_more: about.dimensions.len().saturating_sub(ROWS),
            dimensions: about
                .dimensions
                .iter()
                .take(ROWS)
                .map(|dimension| DimensionName {
                    code: line(&dimension.code, NAME),
                    en: line(&dimension.name.en, NAME),
                    zh: line(&dimension.name.zh, NAME),
                })
                .collect(),
            balance: every(|own| &own.samples),
            targets: every(|own| &own.targets),
            language_balance: by_language(figures, &codes),
            sources,
            sources_more,
            source_plot: any(&by_source).then(|| plots::stacks(&by_source, SCORES, true)),
            score_plot: (all.iter().sum::<u64>() > 0).then(|| {
                let bars: Vec<(String, u64)> =
                    (1..).zip(all).map(|(score, count): (u8, u64)| (score.to_string(), count)).collect();
                plots::columns(&bars, "σ: 1 source much better, 3 alike, 5 base much better", "turns")
            }),
            dimension_plot: any(&by_dimension).then(|| plots::stacks(&by_dimension, SCORES, true)),
            scores: std::iter::once(ScoreRow::new("all", &all))
                .chain(figures.dimensions.iter().map(|(code, scores)| ScoreRow::new(code, scores)).take(ROWS))
                .collect(),
            scores_more: figures.dimensions.len().saturating_sub(ROWS),
            lengths: lengths(&figures.lengths),
            mean_length: mean_length(&figures.lengths),
            ends: told(figures.ends.iter().map(|(name, count)| (*name, *count))),
            qualities: told(figures.qualities.iter().map(|(name, count)| (*name, *count))),
            faults: told(figures.faults.iter().map(|(name, count)| (name.as_str(), *count)).take(ROWS)),
            orders: OrderEffect::new(figures),
            judges_more: figures.judges.len().saturating_sub(ROWS),
            judges: figures.judges.iter().take(ROWS).map(|(name, agreement)| Judge::new(name, agreement)).collect(),
            grounding: figures.languages.iter().filter_map(|(language, of)| Grounding::new(*language, of)).collect(),
            stages: by_stage(&about.charges),
            asks_more: about.charges.len().saturating_sub(ROWS),
            asks: about.charges.iter().take(ROWS).map(|charge| CostRow::new(&charge.ask, charge)).collect(),
            total: (!about.charges.is_empty()).then(|| CostRow::new("all", &AskCost::sum(&about.charges))),
            token_plot: token_plot(&about.charges),
            by_hand: ManualEdits::new(report),
            readings: report.readings,
            parts_more: about.parts.len().saturating_sub(ROWS),
            parts: about
                .parts
                .iter()
                .take(ROWS)
                .map(|part| (line(&part.part, NAME), line(&part.name, NAME), line(&part.model, NAME)))
                .collect(),
            books: about
                .books
                .iter()
                .take(ROWS)
                .map(|book| (line(&book.slug, NAME), line(&book.title, NAME), book.language.code()))
                .collect(),
            books_more: about.books.len().saturating_sub(ROWS),
            keep_source: about.keep_source,
            sample: about.sample,
            tau: about.tau,
        }
    }
}

/// Returns the codes of the dimensions in the order of their table; codes that are not in it come last.
fn codes(about: &CardMetadata, figures: &ReportStatistics) -> Vec<String> {
    let mut codes: Vec<String> = about.dimensions.iter().map(|dimension| dimension.code.clone()).collect();
    let known: BTreeSet<&String> = about.dimensions.iter().map(|dimension| &dimension.code).collect();
    let found = figures.characters.values().flat_map(|own| own.samples.keys().chain(own.targets.keys()));
    let others: BTreeSet<&String> =
        found.chain(figures.dimensions.keys()).filter(|code| !known.contains(code)).collect();
    codes.extend(others.into_iter().cloned());
    codes
}

fn tiles(report: &Report<'_>) -> Vec<SummaryTile> {
    let Report { about, figures, .. } = report;
    let rows = |config: &str| {
        report.tables.iter().filter(|table| table.config == config).map(|table| table.rows as u64).sum::<u64>()
    };
    let sum = |of: fn(&LanguageCounts) -> u64| figures.languages.values().map(of).sum::<u64>();
    let by_language = |of: fn(&LanguageCounts) -> u64| {
        let counts =
            figures.languages.iter().map(|(language, own)| (language, of(own))).filter(|(_, count)| *count > 0);
        counts.map(|(language, count)| format!("{} {language}", thousands(count))).collect::<Vec<_>>().join(", ")
    };
    let tile = |value: u64, label, note: String| SummaryTile { value: thousands(value), label, note };
    let mut tiles = vec![
        tile(rows("samples"), "samples", by_language(|own| own.samples.values().sum())),
        tile(rows("conversations"), "conversations", format!("{} passed every filter", thousands(sum(|own| own.kept)))),
        tile(sum(|own| own.turns), "judged turns", by_language(|own| own.turns)),
        tile(rows("characters"), "test characters", by_language(|own| own.characters)),
        tile(rows("scenes"), "scenes", by_language(|own| own.scenes)),
        tile(about.books.len() as u64, "books", format!("{} chunks", thousands(report.chunks))),
    ];
    if rows("roles") > 0 {
        let note =
            format!("{} specific, {} general rows", thousands(rows("role_specific")), thousands(rows("role_general")));
        tiles.push(tile(rows("roles"), "roles", note));
    }
    let all = AskCost::sum(&about.charges);
    tiles.push(tile(
        all.calls,
        "calls",
        match report.each_sample {
            Some([calls, ..]) => format!("{calls:.1} per sample in conversations"),
            None => String::new(),
        },
    ));
    let tokens = all.prompt + all.completion;
    let estimated =
        if all.estimated > 0 { format!("; {} estimated", percent(all.estimated, tokens)) } else { String::new() };
    let note = format!("{} of prompts cacheable{estimated}", percent(all.cacheable, all.prompt));
    tiles.push(tile(tokens, "tokens billed", note));
    let each = report.each_sample.map_or(String::new(), |[_, billed, cacheable]| {
        format!("{billed:.0} tokens per sample, {cacheable:.0} of them cacheable")
    });
    tiles.push(SummaryTile { value: dollars(all.usd), label: "cost", note: each });
    tiles
}

/// Returns the parts of the cast that the offline engine fills.
fn offline(about: &CardMetadata) -> impl Iterator<Item = String> {
    let offline = about.parts.iter().filter(|part| part.model.starts_with("offline:"));
    offline.map(|part| format!("{} ({})", line(&part.part, NAME), line(&part.model, NAME)))
}

fn steps(report: &Report<'_>) -> Vec<StageRow> {
    let Report { about, figures, .. } = report;
    let sum = |of: fn(&LanguageCounts) -> u64| figures.languages.values().map(of).sum::<u64>();
    let counted = |count: u64, word: &str| format!("{} {word}{}", thousands(count), if count == 1 { "" } else { "s" });
    let mut reasons: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for reject in report.rejects {
        *reasons.entry(reject.stage.name()).or_default().entry(reject.reason.name()).or_default() += 1;
    }
    let step = |stage: &'static str, made: String| StageRow {
        stage,
        made,
        left_out: reasons
            .get(stage)
            .map_or_else(Vec::new, |of| told(of.iter().map(|(reason, count)| (*reason, *count)).take(ROWS))),
    };
    let samples: u64 = sum(|own| own.samples.values().sum());
    let mut steps = vec![
        step("chunk", format!("{} of {}", counted(report.chunks, "chunk"), counted(about.books.len() as u64, "book"))),
        step("extract", counted(sum(|own| own.scenes), "scene")),
        step("synthesize", counted(sum(|own| own.characters), "test character")),
        step(
            "simulate",
            format!(
                "{} with {}, {} passed every filter",
                counted(sum(|own| own.conversations), "conversation"),
                counted(sum(|own| own.turns), "judged turn"),
                thousands(sum(|own| own.kept))
            ),
        ),
    ];
    if reasons.contains_key("select") {
        let verdicts = figures.judges.values().map(|agreement| agreement.turns).sum();
        steps.push(step("select", counted(verdicts, "further verdict")));
    }
    if !about.roles.is_empty() {
        let sum = |of: fn(&RoleTally) -> u64| about.roles.values().map(of).sum::<u64>();
        let rows = |config: &str| {
            report.tables.iter().filter(|table| table.config == config).map(|table| table.rows as u64).sum::<u64>()
        };
        let made = format!(
            "{} with {} and {}",
            counted(sum(|tally| tally.roles), "role"),
            counted(rows("role_specific"), "specific row"),
            counted(rows("role_general"), "general row")
        );
        steps.push(step("instruct", made));
    }
    steps.push(step("export", counted(samples, "sample")));
    steps
}

/// Draws how many test turns became samples.
fn turns(figures: &ReportStatistics, sample: u8) -> Option<String> {
    let sum = |of: &dyn Fn(&LanguageCounts) -> u64| figures.languages.values().map(of).sum::<u64>();
    let better = |own: &LanguageCounts| own.kept_scores.iter().take(sample.into()).sum::<u64>();
    let rows = [
        ("judged".to_owned(), vec![sum(&|own| own.turns)]),
        ("conversation kept".to_owned(), vec![sum(&|own| own.kept_scores.iter().sum())]),
        (format!("σ ≤ {sample}"), vec![sum(&better)]),
        ("samples".to_owned(), vec![sum(&|own| own.samples.values().sum())]),
    ];
    (rows[0].1[0] > 0).then(|| plots::stacks(&rows, AMOUNT, false))
}

/// Draws how many questions to roles were kept.
fn questions(roles: &BTreeMap<Language, RoleTally>) -> Option<String> {
    let sum = |of: fn(&RoleTally) -> u64| roles.values().map(of).sum::<u64>();
    let made = sum(|tally| tally.candidates);
    let passed = made.saturating_sub(sum(|tally| tally.filtered));
    let kept = passed.saturating_sub(sum(|tally| tally.removed));
    let rows = [("questions", made), ("passed", passed), ("deduplicated", kept)];
    let rows: Vec<(String, Vec<u64>)> = rows.map(|(name, count)| (name.to_owned(), vec![count])).into();
    (made > 0).then(|| plots::stacks(&rows, AMOUNT, false))
}

/// Counts rejects by stage and reason, each with its first entry.
fn left_out(rejects: &[Reject], rights: &QuoteLimits) -> (Vec<RejectRow>, usize) {
    let mut reasons: BTreeMap<(&str, &str), (u64, &Reject)> = BTreeMap::new();
    for reject in rejects {
        reasons.entry((reject.stage.name(), reject.reason.name())).or_insert((0, reject)).0 += 1;
    }
    let more = reasons.len().saturating_sub(ROWS);
    let mut room = DisplayBudget::new(DETAILS, rights).each(DETAIL);
    let rows = reasons.into_iter().take(ROWS).map(|((stage, reason), (count, first))| RejectRow {
        stage: line(stage, NAME),
        reason: line(reason, NAME),
        count,
        id: line(&first.id, NAME),
        detail: room.show(&first.detail),
    });
    (rows.collect(), more)
}

fn by_character(
    figures: &ReportStatistics,
    codes: &[String],
    of: fn(&CharacterCounts) -> &BTreeMap<String, u64>,
) -> Balance {
    let rows = figures.characters.values().map(|own| {
        let language = own.language.map_or("", Language::code);
        (own.name.as_str(), language, own.kind.map_or("", crate::schema::CharacterType::name), of(own))
    });
    Balance::new(codes, rows)
}

fn by_language(figures: &ReportStatistics, codes: &[String]) -> Balance {
    let rows = figures.languages.iter().map(|(language, own)| (language.code(), language.code(), "", &own.samples));
    Balance::new(codes, rows)
}

impl Balance {
    fn new<'a>(
        codes: &[String],
        rows: impl Iterator<Item = (&'a str, &'static str, &'static str, &'a BTreeMap<String, u64>)>,
    ) -> Self {
        let rows: Vec<_> = rows.collect();
        let most = rows.iter().flat_map(|(.., counts)| counts.values()).max().copied().unwrap_or(0).max(1);
        let more = rows.len().saturating_sub(ROWS);
        let row =
            |(name, language, kind, counts): (&str, &'static str, &'static str, &BTreeMap<String, u64>)| BalanceRow {
                name: line(name, NAME),
                language,
                kind,
                cells: codes
                    .iter()
                    .take(COLUMNS)
                    .map(|code| counts.get(code).copied().unwrap_or_default())
                    .map(|count| BalanceCell { count, shade: count * 100 / most })
                    .collect(),
                all: counts.values().sum(),
            };
        let rows = rows.into_iter().take(ROWS).map(row).collect();
        let codes_more = codes.len().saturating_sub(COLUMNS);
        Self { codes: codes.iter().take(COLUMNS).map(|code| line(code, NAME)).collect(), codes_more, rows, more }
    }
}

fn sources(figures: &ReportStatistics) -> (Vec<Source>, usize) {
    let samples: u64 = figures.sources.values().map(|own| own.samples).sum();
    let rows = figures.sources.iter().take(ROWS).map(|(name, own)| Source {
        name: line(name, NAME),
        conversations: own.conversations,
        kept: own.kept,
        turns: own.scores.iter().sum(),
        samples: own.samples,
        share: percent(own.samples, samples),
        mean: mean_told(&own.scores),
    });
    (rows.collect(), figures.sources.len().saturating_sub(ROWS))
}

impl ScoreRow {
    fn new(name: &str, scores: &Scores) -> Self {
        Self { name: line(name, NAME), scores: *scores, all: scores.iter().sum(), mean: mean_told(scores) }
    }
}

impl OrderEffect {
    fn new(figures: &ReportStatistics) -> Self {
        let orders = &figures.orders;
        let rows = [("source first", &orders.source_first), ("base first", &orders.base_first)];
        let rows = rows.into_iter().filter(|(_, scores)| scores.iter().any(|count| *count > 0));
        let lean = mean(&orders.base_first).zip(mean(&orders.source_first)).map(|(base, source)| base - source);
        let lean = match lean {
            None => String::new(),
            Some(lean) if lean.abs() < 0.1 => "The order makes no visible difference to the mean.".to_owned(),
            Some(lean) => {
                let place = if lean > 0.0 { "first" } else { "second" };
                format!(
                    "On average the reply that is shown {place} gains {:.2} of σ by its position.",
                    lean.abs() / 2.0
                )
            }
        };
        Self {
            rows: rows.map(|(name, scores)| ScoreRow::new(name, scores)).collect(),
            lean,
            both: orders.both,
            same: percent(orders.same, orders.both),
            opposite: percent(orders.opposite, orders.both),
            equal: orders.equal,
        }
    }
}

impl Judge {
    fn new(name: &str, agreement: &Agreement) -> Self {
        Self {
            name: line(name, NAME),
            turns: agreement.turns,
            same_dimension: percent(agreement.same_dimension, agreement.turns),
            kappa: agreement.kappa().map_or_else(|| "–".to_owned(), |kappa| format!("{kappa:.2}")),
        }
    }
}

impl Grounding {
    fn new(language: Language, own: &LanguageCounts) -> Option<Self> {
        let scenes: u64 = own.grounding.iter().sum();
        let label = |at: usize| if at == 9 { "90–100".to_owned() } else { format!("{}–", at * 10) };
        let bars: Vec<(String, u64)> =
            own.grounding.iter().enumerate().map(|(at, count)| (label(at), *count)).collect();
        (scenes > 0).then(|| Self {
            language: language.code(),
            scenes,
            lines: own.lines.iter().map(|(name, count)| (*name, *count)).collect(),
            plot: plots::columns(&bars, "per cent of a scene's utterances found in the book", "scenes"),
        })
    }
}

impl CostRow {
    fn new(what: &str, charge: &AskCost) -> Self {
        Self {
            what: line(what, NAME),
            model: line(&charge.model, NAME),
            calls: charge.calls,
            failed: charge.failed,
            reasks: charge.reasks,
            prompt: charge.prompt,
            cached: percent(charge.cached, charge.prompt),
            cacheable: percent(charge.cacheable, charge.prompt),
            completion: charge.completion,
            usd: dollars(charge.usd),
        }
    }
}

fn by_stage(charges: &[AskCost]) -> Vec<CostRow> {
    AskCost::by_stage(charges).iter().map(|(stage, charge)| CostRow::new(stage, charge)).collect()
}

fn token_plot(charges: &[AskCost]) -> Option<String> {
    let row = |(stage, charge): &(&str, AskCost)| {
        let fresh = charge.prompt.saturating_sub(charge.cacheable);
        ((*stage).to_owned(), vec![charge.cacheable, fresh, charge.completion])
    };
    let rows: Vec<(String, Vec<u64>)> = AskCost::by_stage(charges).iter().map(row).collect();
    (!rows.is_empty()).then(|| plots::stacks(&rows, TOKENS, false))
}

/// Draws the distribution of the number of turns; many different lengths are grouped.
fn lengths(lengths: &BTreeMap<u64, u64>) -> Option<String> {
    let (first, last) = (*lengths.keys().next()?, *lengths.keys().next_back()?);
    let step = (last - first + 1).div_ceil(BARS as u64);
    let bars: Vec<(String, u64)> = (first..=last)
        .step_by(usize::try_from(step).unwrap_or(usize::MAX))
        .map(|from| (from.to_string(), lengths.range(from..from + step).map(|(_, count)| count).sum()))
        .collect();
    let axis = if step == 1 { "turns".to_owned() } else { format!("turns, in groups of {step}") };
    Some(plots::columns(&bars, &axis, "conversations"))
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn mean_length(lengths: &BTreeMap<u64, u64>) -> String {
    let count: u64 = lengths.values().sum();
    let turns: u64 = lengths.iter().map(|(length, count)| length * count).sum();
    format!("{:.1}", turns as f64 / count.max(1) as f64)
}

fn mean_told(scores: &Scores) -> String {
    mean(scores).map_or_else(|| "–".to_owned(), |mean| format!("{mean:.2}"))
}

fn plus(one: &Scores, other: &Scores) -> Scores {
    std::array::from_fn(|at| one[at] + other[at])
}

/// Returns counts by name, the largest first.
fn told<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> Vec<(String, u64)> {
    let mut told: Vec<(String, u64)> = counts.map(|(name, count)| (line(name, NAME), count)).collect();
    told.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    told
}
