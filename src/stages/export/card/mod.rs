//! The data set card: front matter, a description, how to load the data, and how it was made.
//!
//! The card has only content that is the same when the run is replayed from its journal: no time, no count that depends
//! on the source of an answer, no server address.

pub(crate) mod front_matter;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use self::front_matter::{configs, front, languages, own_licence};
use super::amounts::{dollars, percent, row_counts, thousands};
use super::features::notes;
use super::markers::{self, marked};
use super::quote_limits::QuoteLimits;
use super::report::AskCost;
use super::tally::{Table, TableCounts};
use super::{Params, role_tables};
use crate::schema::{Dimension, Language, RoleTally};

/// The facts about a run that the card shows in addition to its tables.
#[derive(Debug, Clone, Default)]
pub struct CardMetadata {
    /// The run's name in the pipeline file.
    pub name: String,
    /// The version of dramaturg.
    pub version: String,
    /// The run's seed.
    pub seed: u64,
    /// The text of the pipeline file. The card omits values of `base_url`.
    pub pipeline: String,
    /// The changes to it from the command line, each as `KEY=VALUE`. Only include those that can affect rows.
    pub overrides: Vec<String>,
    /// The books, in the order of the run.
    pub books: Vec<BookMetadata>,
    /// The models of the cast, in the order of the cast.
    pub parts: Vec<CastMetadata>,
    /// The dimensions, in order.
    pub dimensions: Vec<Dimension>,
    /// τ: how many times a lane counts each dimension before it ends.
    pub tau: u32,
    /// The probability that the turns before a test turn target a dimension, 0 to 1.
    pub emphasis: f64,
    /// The number of conversations of a lane that are played at the same time.
    pub batch_size: u32,
    /// The maximum σ at which the source model's reply stays in the history.
    pub keep_source: u8,
    /// The maximum σ at which a turn becomes a sample.
    pub sample: u8,
    /// The BLAKE3 hash of each prompt template, by name.
    pub prompts: BTreeMap<String, String>,
    /// The usage by ask and model.
    pub charges: Vec<AskCost>,
    /// The counts of roles and questions by language; empty if no roles were made.
    pub roles: BTreeMap<Language, RoleTally>,
}

/// A book of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookMetadata {
    /// Its slug, the value of the column `book`.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// Its language.
    pub language: Language,
    /// Its licence as stated in the pipeline file.
    pub license: Option<String>,
    /// Its source as stated in the pipeline file.
    pub source: Option<String>,
}

/// A part of the cast and the model that fills it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CastMetadata {
    /// The part, such as `judge` or `extractor (zh)`.
    pub part: String,
    /// The model's name in the pipeline file, the value of columns such as `judge_model`.
    pub name: String,
    /// The model's full id, such as `offline:plain`.
    pub model: String,
}

/// Returns the text of the card, the `README.md` of the data set.
#[must_use]
pub fn card(params: &Params, about: &CardMetadata, tables: &[Table]) -> String {
    let name = params.pretty_name.as_deref().unwrap_or(&about.name);
    let mut card = front(params, about, tables);
    let _ = write!(card, "\n# {}\n\n{}", cell(name), what(tables));
    if let Some(licence) = own_licence(params) {
        let _ = write!(card, "Licence as stated by the authors of this data set: {}\n\n", cell(licence));
    }
    if let Some(table) = tables.first() {
        card.push_str(&load(table));
        card.push_str(&columns(tables));
        let _ = writeln!(card, "{}", marked(markers::SPLITS, ""));
    }
    card.push_str(&made(about, tables));
    card.push_str(&cost(&about.charges));
    card.push_str(&limits(params, about));
    card.push_str(&pipeline(about));
    card
}

fn what(tables: &[Table]) -> String {
    let rows =
        |config: &str| -> usize { tables.iter().filter(|table| table.config == config).map(|table| table.rows).sum() };
    let mut text = "A role-play benchmark generated from books. Each row of `samples` is one turn of a test character \
        in a group chat with the characters of a scene. `messages` is the prompt for the model under evaluation, \
        `baseline` is the reply that its reply is compared with, and `criteria` describes what to compare. The other \
        configs contain the data that the samples were made from.\n\n"
        .to_owned();
    if tables.is_empty() {
        text.push_str("This run produced no rows.\n\n");
        return text;
    }
    let counts: Vec<String> =
        configs(tables).into_iter().map(|(config, _)| format!("{} `{config}`", rows(config))).collect();
    let languages: Vec<&str> = languages(tables).into_iter().collect();
    let _ = writeln!(text, "Rows: {}. Languages: {}.\n", counts.join(", "), languages.join(", "));
    text
}

fn load(table: &Table) -> String {
    let (config, split) = (table.config, table.split);
    let code = format!(
        "\n```python\n\
         import datasets; rows = datasets.load_dataset(\".\", \"{config}\", split=\"{split}\")\n\
         import polars; rows = polars.read_parquet(\"{config}/{split}-*.parquet\")\n\
         import duckdb; rows = duckdb.sql(\"select * from '{config}/{split}-*.parquet'\")\n```\n\n"
    );
    let head = "## Loading the data\n\nWith this folder as the working directory:\n\n";
    format!("{head}{}\n", marked(markers::READING, &code))
}

fn columns(tables: &[Table]) -> String {
    let mut text =
        "## Columns\n\nAll columns are nullable. `column[].field` is a field of the structs in a list.\n".to_owned();
    for (config, splits) in configs(tables) {
        let counts = row_counts(splits.iter().map(|table| (table.split, table.rows)));
        let counts = marked(&markers::counts_place(config), &format!("\n{counts}\n\n"));
        let _ = write!(text, "\n### `{config}`\n\n{counts}\n");
        text.push_str("| column | type | meaning |\n|---|---|---|\n");
        for note in notes(config, &splits[0].columns) {
            let _ = writeln!(text, "| `{}` | `{}` | {} |", note.path, note.kind, noted(&note.description));
        }
    }
    text.push('\n');
    text
}

fn made(about: &CardMetadata, tables: &[Table]) -> String {
    let mut text = format!("## How it was made\n\nBy dramaturg {}, with seed {}.\n\n", about.version, about.seed);
    if !about.books.is_empty() {
        text.push_str("| book | title | language | licence | source |\n|---|---|---|---|---|\n");
        for book in &about.books {
            let license = cell(book.license.as_deref().unwrap_or("not stated"));
            let source = cell(book.source.as_deref().unwrap_or(""));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {license} | {source} |",
                cell(&book.slug),
                cell(&book.title),
                book.language
            );
        }
        text.push('\n');
    }
    if !about.parts.is_empty() {
        text.push_str("| part | name | model |\n|---|---|---|\n");
        for part in &about.parts {
            let _ = writeln!(text, "| {} | {} | {} |", cell(&part.part), cell(&part.name), cell(&part.model));
        }
        text.push('\n');
    }
    let _ = write!(
        text,
        "Each test character plays conversations with each source model until every dimension has been counted τ = {} \
         times. The turns before each of its test turns target a dimension with probability {}, and conversations are \
         played in batches of {}. At each test turn the source model and the base model both reply, and the judge \
         names the dimension that fits and gives a score σ, from 1 (source much better) to 5 (base much better). The \
         source model's reply stays in the history at σ ≤ {}. A turn with σ ≤ {} in a conversation that passed every \
         filter becomes a sample.\n\n",
        about.tau, about.emphasis, about.batch_size, about.keep_source, about.sample
    );
    text.push_str(&dimensions(about));
    text.push_str(&role_tables::section(&about.roles));
    for table in tables {
        match table.config {
            "samples" => text.push_str(&marked(markers::BALANCE, &format!("\n{}", balance(about, table)))),
            "conversations" => text.push_str(&scores(&table.tally)),
            "rejected" => text.push_str(&rejects(&table.tally)),
            _ => {}
        }
    }
    text.push_str(&prompts(about));
    text
}

/// Returns the usage by stage.
fn cost(charges: &[AskCost]) -> String {
    if charges.is_empty() {
        return String::new();
    }
    let head = "| stage | calls | prompt tokens | completion tokens | cost |\n|---|---:|---:|---:|---:|\n";
    let mut text = format!("## Cost\n\n{head}");
    let all = AskCost::sum(charges);
    let stages = AskCost::by_stage(charges);
    for (stage, charge) in stages.iter().map(|(stage, charge)| (*stage, charge)).chain([("all", &all)]) {
        let (calls, cost) = (thousands(charge.calls), dollars(charge.usd));
        let (prompt, completion) = (thousands(charge.prompt), thousands(charge.completion));
        let _ = writeln!(text, "| {stage} | {calls} | {prompt} | {completion} | {cost} |");
    }
    if all.estimated > 0 {
        let share = percent(all.estimated, all.prompt + all.completion);
        let _ = write!(text, "\n{share} of the tokens are estimates, because the servers did not report counts.\n");
    }
    text.push('\n');
    text
}

/// Lists the prompt templates and their hashes in a collapsed section.
fn prompts(about: &CardMetadata) -> String {
    if about.prompts.is_empty() {
        return String::new();
    }
    let mut text = "<details><summary>Prompt templates and their BLAKE3 hashes</summary>\n\n".to_owned();
    text.push_str("| template | BLAKE3 |\n|---|---|\n");
    for (name, hash) in &about.prompts {
        let _ = writeln!(text, "| {} | `{hash}` |", cell(name));
    }
    text.push_str("\n</details>\n\n");
    text
}

fn dimensions(about: &CardMetadata) -> String {
    if about.dimensions.is_empty() {
        return String::new();
    }
    let mut text = "| dimension | name | 名称 |\n|---|---|---|\n".to_owned();
    for dimension in &about.dimensions {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            cell(&dimension.code),
            cell(&dimension.name.en),
            cell(&dimension.name.zh)
        );
    }
    text.push('\n');
    text
}

/// Counts samples by dimension, language and character type.
fn balance(about: &CardMetadata, table: &Table) -> String {
    let counts = &table.tally.samples;
    let mut groups: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (group, count) in counts.values().flatten() {
        *groups.entry(*group).or_default() += count;
    }
    // Dimensions without samples are shown too, in the order of their table. Codes that are not in the table come last.
    let mut codes: Vec<String> = about.dimensions.iter().map(|dimension| dimension.code.clone()).collect();
    codes.extend(counts.keys().filter(|code| !about.dimensions.iter().any(|known| known.code == **code)).cloned());
    let mut text =
        format!("Samples of split `{}` by dimension, language and character type:\n\n| dimension |", table.split);
    for (language, kind) in groups.keys() {
        let _ = write!(text, " {language}, {kind} |");
    }
    let _ = writeln!(text, " all |\n|---|{}---:|", "---:|".repeat(groups.len()));
    for code in codes {
        let row = counts.get(&code);
        let _ = write!(text, "| {} |", cell(&code));
        for group in groups.keys() {
            let _ = write!(text, " {} |", row.and_then(|row| row.get(group)).unwrap_or(&0));
        }
        let _ = writeln!(text, " {} |", row.map_or(0, |row| row.values().sum::<usize>()));
    }
    text.push_str("| all |");
    for count in groups.values() {
        let _ = write!(text, " {count} |");
    }
    let _ = writeln!(text, " {} |\n", groups.values().sum::<usize>());
    if table.tally.edited > 0 {
        let _ = writeln!(
            text,
            "{} of them have a reference that was edited by hand; the column `edit_reason` gives the reason.\n",
            table.tally.edited
        );
    }
    text
}

/// Counts σ over all judged turns, including those of conversations that were filtered out.
fn scores(tally: &TableCounts) -> String {
    let scores: Vec<u8> = (1..=5).collect();
    let head: Vec<String> = scores.iter().map(u8::to_string).collect();
    let row: Vec<String> = scores.iter().map(|score| tally.scores.get(score).unwrap_or(&0).to_string()).collect();
    format!(
        "σ over all judged turns of `conversations`:\n\n| σ | {} |\n|---|{}\n| turns | {} |\n\n",
        head.join(" | "),
        "---:|".repeat(head.len()),
        row.join(" | ")
    )
}

/// Counts rejects by stage and reason.
fn rejects(tally: &TableCounts) -> String {
    let mut text =
        "Rejected items (details in the config `rejected`):\n\n| stage | reason | count |\n|---|---|---:|\n".to_owned();
    for ((stage, reason), count) in &tally.rejects {
        let _ = writeln!(text, "| {} | {} | {count} |", cell(stage), cell(reason));
    }
    text.push('\n');
    text
}

fn limits(params: &Params, about: &CardMetadata) -> String {
    let mut text = "## Limitations\n\n".to_owned();
    let offline: Vec<String> = about
        .parts
        .iter()
        .filter(|part| part.model.starts_with("offline:"))
        .map(|part| format!("{} ({})", cell(&part.part), cell(&part.model)))
        .collect();
    if !offline.is_empty() {
        let _ = writeln!(
            text,
            "- These parts were filled by the rule-based offline engine, not by a language model: {}. What it wrote \
             and judged shows the format of the benchmark and does not measure role-play.",
            offline.join(", ")
        );
    }
    text.push_str(&own_text(params, about));
    text.push_str(
        "- `dimension`, `score` and `rationale` are verdicts of a model and have its biases, for example towards \
         longer replies or its own style.\n\
         - The profiles, motivations and situations of `scenes` are each derived from one passage of a book, and may \
         contradict other passages.\n\n",
    );
    text
}

/// Describes how much of the books' own text the rows contain, and under which licences.
fn own_text(params: &Params, about: &CardMetadata) -> String {
    let mut text = String::from("- ");
    if !params.text {
        text.push_str(
            "The books' own text was left out: the words of `scenes.dialogue`, `characters.lines`, `roles.dialogue` \
             and `roles.catchphrases` are null. `start` and `end` of an utterance are its offsets, in code points of \
             the decoded book, so anyone who has the book can restore the text. ",
        );
    }
    match QuoteLimits::longest(params) {
        Some(longest) => {
            let _ = write!(
                text,
                "No row contains a passage of more than {longest} code points of a book; `[…]` marks where a longer \
                 one was cut. "
            );
        }
        None => text.push_str("`scenes` and other tables contain quotations from the books. "),
    }
    if about.books.iter().any(|book| book.license.is_none()) {
        text.push_str("Not all licences are stated: check that you have the right to publish this data set.\n");
    } else {
        text.push_str("The licences are those stated in the pipeline file.\n");
    }
    if let Some(canary) = &params.canary {
        let _ = writeln!(
            text,
            "- This data set is for evaluation and should not be in training corpora. Each row contains the canary \
             `{}`.",
            canary.replace(['`', '\n', '\r'], " ")
        );
    }
    text
}

fn pipeline(about: &CardMetadata) -> String {
    let mut text = "## Pipeline file\n\n".to_owned();
    if !about.overrides.is_empty() {
        let list: Vec<String> = about.overrides.iter().map(|change| without_urls(change)).collect();
        let _ = write!(text, "Changes from the command line:\n\n{}\n", fenced("toml", &list.join("\n")));
    }
    text.push_str(&fenced("toml", &without_urls(&about.pipeline)));
    text
}

/// Replaces every value of `base_url` and every address in a comment of a TOML text, because the card may be published
/// and server addresses must not be.
fn without_urls(toml: &str) -> String {
    static URL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(\bbase_url["']?\s*=\s*)("""(?s:.*?)"""|'''(?s:.*?)'''|\[(?:[^\]"'#]|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')*\]|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"',}\]#]+)"#,
        )
        .expect("the pattern is constant and tested")
    });
    static COMMENT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)(?:^|\s)#.*$").expect("the pattern is constant and tested"));
    static ADDRESS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"https?://[^\s"'`]+"#).expect("the pattern is constant and tested"));
    let left = URL.replace_all(toml, r#"${1}"(left out)""#);
    let comment = |comment: &Captures<'_>| ADDRESS.replace_all(&comment[0], "(left out)").into_owned();
    COMMENT.replace_all(&left, comment).into_owned()
}

/// Returns a fenced code block whose fence is longer than any run of backticks in the code.
fn fenced(language: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if code.is_empty() || code.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{code}{end}{fence}\n")
}

/// Escapes a user's text for a table cell or a heading, so that it contains no Markdown.
fn cell(text: &str) -> String {
    escaped(text, false)
}

/// Escapes a description for a table cell but keeps its code spans.
fn noted(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, spans: bool) -> String {
    let mut within_code = false;
    let mut cell = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '`' if spans => {
                within_code = !within_code;
                cell.push(c);
            }
            '|' => cell.push_str("\\|"),
            c if c.is_whitespace() || c.is_control() => cell.push(' '),
            c if within_code => cell.push(c),
            '`' | '*' | '[' | ']' | '\\' => cell.extend(['\\', c]),
            '<' => cell.push_str("&lt;"),
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::{card, cell, fenced, noted, without_urls};
    use crate::stages::export::Params;
    use crate::stages::export::card::CardMetadata;
    use crate::stages::export::fixture::{about, records, tables};

    fn whole() -> String {
        card(&Params::default(), &about(), &tables(&records()))
    }

    #[track_caller]
    fn assert_has(card: &str, parts: &[&str]) {
        for part in parts {
            assert!(card.contains(part), "no `{part}` in:\n{card}");
        }
    }

    #[test]
    fn the_card_tells_how_to_read_every_column() {
        assert_has(
            &whole(),
            &[
                "\n# fixture\n",
                "Rows: 3 `samples`, 2 `conversations`, 2 `scenes`, 2 `characters`, 3 `rejected`. Languages: en, zh.",
                "datasets.load_dataset(\".\", \"samples\", split=\"test\")",
                "polars.read_parquet(\"samples/test-*.parquet\")",
                "select * from 'samples/test-*.parquet'",
                "\n### `scenes`\n\n<!-- dramaturg:counts:scenes -->\n\n`train` 2 rows\n\n<!-- /dramaturg:counts:scenes -->\n\n| column | type | meaning |\n",
                "\n| `id` | `string` | `<conversation id>#<turn>`. |\n",
                "\n| `scene_characters[].profile[].key` | `string` | What it is about, such as `persona` or `性格`; any key. |\n",
                "\n| `turns[].faults` | `list<string>` |",
            ],
        );
    }

    #[test]
    fn the_card_tells_how_it_was_made() {
        assert_has(
            &whole(),
            &[
                "By dramaturg 0.1.0, with seed 7.",
                "| harbour | The Harbour \\| A Tale | en | cc0-1.0 | https://example.org/harbour |\n| 渡口 | 渡口 | zh | not stated |  |\n",
                "| judge | strong | vendor/strong-1 |\n",
                "τ = 2 times",
                "probability 0.7, and conversations are played in batches of 4",
                "stays in the history at σ ≤ 3. A turn with σ ≤ 2",
                "| FR | Factual recall | 事实记忆 |\n",
                "| dimension | en, established | zh, synthesized | all |\n|---|---:|---:|---:|\n\
                 | CR | 2 | 0 | 2 |\n| FR | 0 | 0 | 0 |\n| PA | 0 | 1 | 1 |\n| all | 2 | 1 | 3 |\n",
                "| σ | 1 | 2 | 3 | 4 | 5 |\n|---|---:|---:|---:|---:|---:|\n| turns | 0 | 1 | 0 | 0 | 0 |\n",
                "1 of them have a reference that was edited by hand",
                "| extract | no_dialogue | 2 |\n| simulate | quality | 1 |\n",
                "simulate.tau=2\n",
                "## Cost\n\n| stage | calls | prompt tokens | completion tokens | cost |\n|---|---:|---:|---:|---:|\n\
                 | extract | 2 | 700 | 90 | unpriced |\n| select | 1,009 | 4,000 | 500 | $0.50 |\n\
                 | all | 1,011 | 4,700 | 590 | unpriced |\n\n50 % of the tokens are estimates",
                "| select/judge.en | `0123abcd` |\n\n</details>\n",
            ],
        );
    }

    #[test]
    fn offline_parts_are_named_as_such() {
        let mut about = about();
        let tables = tables(&records());
        assert_has(
            &card(&Params::default(), &about, &tables),
            &["by the rule-based offline engine, not by a language model: extractor (offline:plain)."],
        );
        about.parts.remove(0);
        assert!(!card(&Params::default(), &about, &tables).contains("offline engine"));
    }

    #[test]
    fn no_address_of_a_server_reaches_the_card() {
        let card = whole();
        assert!(!card.contains("10.0.0.7"), "{card}");
        assert_has(&card, &["base_url = \"(left out)\" # ours\n"]);
        for (toml, expected) in [
            ("base_url='http://h'", "base_url=\"(left out)\""),
            (
                "m = { base_url = \"http://h/\\\"x\", model = \"q\" }",
                "m = { base_url = \"(left out)\", model = \"q\" }",
            ),
            ("\"base_url\" = \"\"\"http://h\"\"\"", "\"base_url\" = \"(left out)\""),
            ("models.a.base_url=http://h", "models.a.base_url=\"(left out)\""),
            ("model = \"base_url\"", "model = \"base_url\""),
            ("base_url = [\"http://a/v1\", 'http://[::1]']\nseed = 1", "base_url = \"(left out)\"\nseed = 1"),
            ("base_url = [\n  \"http://a\", # it's ours\n  \"http://b\",\n]\n", "base_url = \"(left out)\"\n"),
            ("# base_url = \"http://me:pw@h/v1\"", "# base_url = \"(left out)\""),
            ("seed = 1 # asked at https://me:pw@10.9.9.9/v1, once", "seed = 1 # asked at (left out) once"),
            ("source = \"https://example.org/#one\"", "source = \"https://example.org/#one\""),
        ] {
            assert_eq!(without_urls(toml), expected);
        }
    }

    #[test]
    fn a_run_without_rows_has_a_card_too() {
        let card = card(&Params::default(), &CardMetadata { name: "empty".into(), ..CardMetadata::default() }, &[]);
        assert_has(&card, &["pretty_name: \"empty\"", "This run produced no rows.", "## Limitations"]);
        assert!(!card.contains("## Columns") && !card.contains("## Loading the data"));
    }

    #[test]
    fn users_text_cannot_break_the_markdown() {
        for (text, expected) in [
            ("a | b\nc", "a \\| b c"),
            ("*x* [y](z) <b>", "\\*x\\* \\[y\\](z) &lt;b>"),
            ("`` <img src=x>", "\\`\\` &lt;img src=x>"),
            ("one ` tick", "one \\` tick"),
        ] {
            assert_eq!(cell(text), expected);
        }
        assert_eq!(noted("`<a>*` | b*"), "`<a>*` \\| b\\*");
        assert_eq!(fenced("toml", "a = \"```\""), "````toml\na = \"```\"\n````\n");
    }
}
