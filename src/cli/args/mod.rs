//! Command-line arguments and their help texts.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};

use crate::schema::Language;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  dramaturg init novels                               create a new project
  dramaturg build pipelines/demo.toml                 run the sample books offline, in seconds
  dramaturg check mine.toml --probe                   validate a pipeline file and its endpoints
  dramaturg build mine.toml --dry-run                 estimate calls, tokens and cost
  dramaturg build mine.toml --limit 1                 try a pipeline on a small sample
  dramaturg build mine.toml --set simulate.tau=3      override a key of the file
  dramaturg extract mine.toml                         run up to the scenes
  dramaturg split outputs/mine --test 0.2 --dev 0.1   split an existing data set again
  dramaturg status outputs/mine --watch               show progress and remaining work
  dramaturg journal stats outputs/mine                show calls, tokens and latency so far
  dramaturg diff outputs/mine outputs/mine-2          compare two runs

Exit codes:
  0  success                             4    model API error
  1  internal error                      5    budget reached
  2  invalid command or configuration    130  interrupted
  3  completed with failures, or `check` reported findings
";

const INIT_EXAMPLES: &str = "\
Examples:
  dramaturg init novels && cd novels && dramaturg build pipeline.toml
";

const RUN_EXAMPLES: &str = "\
Examples:
  dramaturg build pipelines/demo.toml
  dramaturg build mine.toml --limit 1 --set 'books.paths=[\"novels/*.txt\"]'
  dramaturg build mine.toml --set 'cast.judge=\"strong\"' --set models.strong.temperature=0
  dramaturg build mine.toml --json | jq .rows
  dramaturg build mine.toml --dry-run --latency 2

--dry-run runs the pipeline with the offline engine in place of every served model and counts the
requests it would send. It opens no connection, needs no key and writes no file. Calls that are
already in the run's journal are listed as paid. Reply lengths, latencies, token counts and schema
retries are taken from the journal where it has at least five calls of an ask; otherwise replies
are assumed to be as long as the offline engine's, or a typical length if that is longer. Cacheable
tokens are prompt tokens that extend an earlier prompt, in blocks of 16.

Run the same command again to resume a run: every answered call is in its journal and is not repeated.
";

const CHECK_EXAMPLES: &str = "\
Examples:
  dramaturg check mine.toml                           the file, its books and prompts
  dramaturg check mine.toml --probe                   also its endpoints
  dramaturg check mine.toml --probe --json | jq '.models[].addresses[].findings'
  dramaturg check outputs/mine                        the data set of a run
  dramaturg check downloads/benchmark --json | jq -c '.findings[]'
  dramaturg check scene_pool                          same as `pool check`

--probe requests the model list and sends one small request to every address of each served model
in the cast. It reports whether the server is reachable and accepts the key, whether the model is
known, whether the reply follows a JSON Schema, the context length if the server states it, and
whether the pipeline file has a price for the model. Keys are never printed.

For a data set it validates files and hashes, columns and types, the dataset card, ids and
references between tables, the balance of dimensions, leaks between splits, private attributes in
public text, keys and passwords, and text in a wrong encoding. Each finding names the file, row and
column, and what to do (see docs/check.md). The exit code is 3 if there are findings.
";

const STATUS_EXAMPLES: &str = "\
Examples:
  dramaturg status outputs/demo
  dramaturg status outputs/demo --watch               refresh until the run ends
  dramaturg status outputs/demo --json | jq .missing.usd

The remaining work is estimated like `build --dry-run`, from the configuration stored in the run and
its journal. Run the command in the folder where the run was started, so that the books are found.
It takes no lock. A running build updates its status every two seconds.
";

const CHUNK_EXAMPLES: &str = "\
Examples:
  dramaturg chunk novel.epub                          show the chunks and skipped parts of a book
  dramaturg chunk novels/ --chapters                  show the headings of every book in a folder
  dramaturg chunk old.txt --encoding big5             set the encoding if detection is wrong
  dramaturg chunk novel.txt --set chunk.max_tokens=4096 --json | jq '.chunks[0].text'
  dramaturg chunk mine.toml                           run a pipeline up to its chunks

The limit is 256 MB of text per book. A book that cannot be read is reported on stderr; the others are processed.
";

const JOURNAL_EXAMPLES: &str = "\
Examples:
  dramaturg journal stats outputs/demo
  dramaturg journal show outputs/demo 3fa29c                    one call, by key
  dramaturg journal show outputs/demo keziah-marl/vivid/0/4     all calls of a turn, by draw
  dramaturg journal export outputs/demo --ask select/judge | jq -r .reply.text
";

const POOL_EXAMPLES: &str = "\
Examples:
  dramaturg pool list                                 list the scenes of ./scene_pool
  dramaturg pool list mine.toml --language zh         list the pool of a pipeline file
  dramaturg pool show novel@1204                      show one scene
  dramaturg pool show novel@1204 --json >> scene_pool/edits/mine.jsonl
  dramaturg pool check                                list problems as FILE:LINE:COLUMN
  dramaturg pool add ferry.toml                       add a custom scene to scene_pool/custom/
  dramaturg pool stats --json | jq .books
  dramaturg pool card                                 print the main characters of every book as cards
  dramaturg pool card 'Keziah Marl' --out cards       write cards/keziah-marl@a-penny-either-way.json

If scenes share an id, a custom scene takes precedence over an edit, and an edit over an extracted scene.
`extract` fills a pool and never overwrites a file that was changed by hand. See docs/pool.md.
";

const CARD_EXAMPLES: &str = "\
Examples:
  dramaturg pool card                                 print the main characters of every book
  dramaturg pool card 薛嵩 'Keziah Marl' --out cards
  dramaturg pool card --book my-novel --pool novels/pool
  dramaturg pool card --pool outputs/mine --out cards all test characters of a run
  dramaturg pool card mara.png | jq .data.name        convert any card to V3
";

const EXPORT_EXAMPLES: &str = "\
Examples:
  dramaturg export mine.toml                          same as `build`
  dramaturg export outputs/mine --format rolebench    role data, to outputs/mine/rolebench
  dramaturg export outputs/mine --format messages --out train
  dramaturg export outputs/mine --format jsonl --config samples
  dramaturg export outputs/mine --format batch --model gpt-5 --out requests
  dramaturg export outputs/mine --format messages --config samples --out evaluation
";

const SELECT_EXAMPLES: &str = "\
Examples:
  dramaturg select outputs/mine --judge strong --dry-run      estimate calls and cost
  dramaturg select outputs/mine --judge strong
  dramaturg select outputs/demo --judge offline               the offline engine's simple judge
  dramaturg select outputs/mine --judge new --set 'models.new={provider=\"openai\", model=\"m\"}'
  dramaturg select outputs/mine --judge strong --json | jq .agreement

A run folder is judged with its own configuration and journal. Run the command in the folder where the run was
started, because it reads the books and character files again. To use a judge in later builds too, add it to the
pipeline file as `[cast] judges = [\"strong\"]`. See docs/review.md.
";

const DIFF_EXAMPLES: &str = "\
Examples:
  dramaturg diff outputs/mine outputs/mine-2
  dramaturg diff outputs/mine outputs/mine-2 --json | jq '.tables.samples.added'

Rows are matched by id; a row counts as changed if any of its columns differs. Both runs need a data set; the books
are not needed.
";

const EXTRACT_EXAMPLES: &str = "\
Examples:
  dramaturg extract mine.toml                         run a pipeline up to its scenes
  dramaturg extract novel.epub --quotes               show the characters and quotations of a book
  dramaturg extract 红楼梦.txt --quotes --json > quotes.jsonl
  dramaturg extract novel.txt --quotes --characters scene_pool/aliases/novel.toml

--json prints one line per character, {speaker_id, name, aliases}, then one per quotation,
{book, start, end, quote, speaker, speaker_id, kind}. Offsets are code points of the decoded text,
quotation marks excluded; kind is explicit, anaphoric, implicit or script; null means unknown.
--limit N shows the first N quotations. No model is called and no file is written.

FILE is TOML with one table [[people]] per character (name, aliases, gender), or the output of
--json. A run writes such a file for each book to scene_pool/aliases/ and uses it if you edit it.
";

const INSTRUCT_EXAMPLES: &str = "\
Examples:
  dramaturg instruct mine.toml                        run a pipeline up to its role data
  dramaturg instruct dedup questions.jsonl --field question --group role --json
";

const DEDUP_EXAMPLES: &str = "\
Examples:
  dramaturg instruct dedup questions.jsonl --field question --group role        summary by role
  dramaturg instruct dedup questions.jsonl --field question --threshold 0.5 --json | jq -c 'select(.kept)'
  dramaturg instruct dedup questions.jsonl --field question --keep 0.8 --scores

A question is removed if it is too similar to a kept question before it, so sort the file by preference.
`similarity` (0 to 1) is the highest similarity to another kept question of the group, and `nearest` is the line
number of that question, from 1. In groups of more than 50,000 questions both are null for kept questions unless
--scores is given; they are below the threshold. Other keys of a line are copied unchanged. If a line is not a JSON
object or lacks the text, the command exits with code 2 and prints nothing to stdout. See docs/duplicates.md.
";

/// Build role-play benchmarks for language models from books.
///
/// Reads a folder of books and writes a Parquet data set that `datasets.load_dataset` can load. Every model call is
/// recorded in a journal, so the same data set can be built again byte for byte without paying for the calls again.
#[derive(Debug, Parser)]
#[command(name = "dramaturg", version, styles = STYLES, after_help = EXAMPLES, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create a project with a commented pipeline file and two short sample books.
    #[command(after_help = INIT_EXAMPLES)]
    Init {
        /// Project folder, created if missing. Existing files are never overwritten: if one is in the way, nothing is
        /// written.
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
    /// Run the whole pipeline: turn books into a data set in `outputs/<name>/dataset`.
    #[command(after_help = RUN_EXAMPLES)]
    Build {
        #[command(flatten)]
        run: RunArguments,
        /// Build the data set from the journal alone, without model calls; fail at the first call missing from it.
        #[arg(long, help_heading = "Run options")]
        replay: bool,
        /// Print what the run would ask and cost, without calling a server or writing a file.
        #[arg(long, conflicts_with = "replay", help_heading = "Run options")]
        dry_run: bool,
        /// Assumed latency of a call to a served model, for the wall time of `--dry-run`. Default: as measured in the
        /// journal, else 3.
        #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "dry_run", help_heading = "Run options")]
        latency: Option<Duration>,
    },
    /// Validate a pipeline file (with `--probe` also its endpoints), a data set or a scene pool.
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// Pipeline file, run folder, data set folder or scene pool.
        #[arg(value_name = "PIPELINE|DATASET|POOL")]
        path: PathBuf,
        /// Also send one small request to every address of each served model.
        #[arg(long)]
        probe: bool,
        /// Override a key of the pipeline file, as in `build` (repeatable).
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Show the progress of a run: calls, rows, cost and remaining work.
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        /// Run folder.
        run: PathBuf,
        /// Refresh every two seconds until the run ends.
        #[arg(long, short)]
        watch: bool,
        /// Print one JSON object; with `--watch` one per line.
        #[arg(long)]
        json: bool,
        /// Skip the estimate of the remaining work.
        #[arg(long)]
        no_estimate: bool,
    },
    /// Split books into chunks that fit a model's context.
    ///
    /// Given a pipeline file, runs it up to the chunks. Given books, prints the encoding, the language, the skipped
    /// parts with the reasons, and the chunks of each (or its chapters with `--chapters`).
    #[command(after_help = CHUNK_EXAMPLES)]
    Chunk(ChunkArguments),
    /// Extract scenes from books into the scene pool.
    ///
    /// Given a pipeline file, runs it up to the scenes. Given books and `--quotes`, prints the characters and every
    /// quotation with its speaker, as found by rules.
    #[command(after_help = EXTRACT_EXAMPLES)]
    Extract(ExtractArguments),
    /// Run up to the test characters: load those from files and synthesize the others.
    Synthesize(RunArguments),
    /// Run up to the conversations: test characters play scenes, and a judge selects replies.
    Simulate(RunArguments),
    /// Judge the replies of a run again with additional judges.
    ///
    /// Each additional judge sees the same pairs of replies with the same history; the conversations do not change. Its
    /// verdicts are stored in the column `verdicts` of `samples` and of the turns of `conversations`, and its agreement
    /// with the first judge is printed. Calls are recorded in the run's journal; rerun the command to resume it.
    #[command(after_help = SELECT_EXAMPLES)]
    Select(SelectArguments),
    /// Run up to the role data: questions about roles, and instructions answered in character.
    ///
    /// Role data needs no conversations, so none are simulated. The subcommand `dedup` removes similar questions from
    /// any JSON Lines file.
    #[command(after_help = INSTRUCT_EXAMPLES, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
    Instruct(InstructArguments),
    /// Write the data set (same as `build`), or convert an existing one.
    ///
    /// With `--format` and a run folder, converts the existing data set to JSON Lines, CSV, batch requests or `CoSER`
    /// scenes, or its role data to a training format.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArguments),
    /// Compare two runs.
    ///
    /// Compares configuration, books, prompts, models, row counts, balance and cost, and the rows of every config by
    /// id.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff {
        /// Folder of the first run.
        #[arg(value_name = "RUN")]
        before: PathBuf,
        /// Folder of the second run.
        #[arg(value_name = "RUN")]
        after: PathBuf,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Split a data set again by share, character, book, source model or role.
    #[command(after_help = super::commands::split::EXAMPLES)]
    Split(super::commands::split::SplitArguments),
    /// Inspect a run's journal, the record of all answered model calls.
    ///
    /// Read-only, so it can be used while the run is in progress.
    #[command(subcommand, after_help = JOURNAL_EXAMPLES)]
    Journal(JournalCommand),
    /// Inspect, validate and extend a scene pool.
    ///
    /// A pool is a folder; a pipeline file may be given in place of the pool that it names.
    #[command(subcommand, after_help = POOL_EXAMPLES)]
    Pool(PoolCommand),
    /// Write the JSON Schemas of files, rows and model answers.
    ///
    /// With `#:schema ../schemas/pipeline.schema.json` as the first line of a pipeline file, editors that support TOML
    /// schemas offer completion and validation.
    Schema {
        /// Output folder.
        #[arg(default_value = "schemas")]
        dir: PathBuf,
        /// Write nothing; exit with code 3 if the files in the folder are not up to date.
        #[arg(long)]
        check: bool,
    },
}

/// Arguments of `select`.
#[derive(Debug, Clone, Args)]
pub(super) struct SelectArguments {
    /// Run folder, or the run's pipeline file. Only the judges are read from the file; everything else is as the data
    /// set was built.
    #[arg(value_name = "RUN|PIPELINE", help_heading = "Arguments")]
    pub(super) run: PathBuf,
    /// A model of the run's pipeline file, or `offline` (repeatable).
    #[arg(long = "judge", value_name = "MODEL", required = true, help_heading = "Run options")]
    pub(super) judges: Vec<String>,
    /// Print what the verdicts would ask and cost, without calling a server or writing a file.
    #[arg(long, help_heading = "Run options")]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// Arguments of `export`.
#[derive(Debug, Clone, Args)]
pub(super) struct ExportArguments {
    #[command(flatten)]
    pub(super) run: RunArguments,
    /// Convert an existing data set to this format, in `--out` or else `<run>/<format>`. PIPELINE is then the run
    /// folder or the data set folder.
    #[arg(long)]
    pub(super) format: Option<OtherFormat>,
    /// Config to convert (repeatable); `jsonl` and `csv` convert all by default. With `samples`, `messages` writes the
    /// format for evaluation harnesses.
    #[arg(long = "config", value_name = "CONFIG", requires = "format", help_heading = "Options for --format")]
    pub(super) configs: Vec<String>,
    /// Model name in `batch` requests.
    #[arg(long, value_name = "MODEL", requires = "format", help_heading = "Options for --format")]
    pub(super) model: Option<String>,
    /// Maximum size of an output file; further lines go to a new one. Default: 500MB, or 200MB and 50,000 requests for
    /// `batch`.
    #[arg(long, value_name = "SIZE", value_parser = super::commands::split::bytes, requires = "format", help_heading = "Options for --format")]
    pub(super) shard_size: Option<u64>,
}

/// Output format of a converted data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OtherFormat {
    /// All configs as JSON Lines, one object per row.
    Jsonl,
    /// All configs as CSV, with lists as JSON in their cells.
    Csv,
    /// Samples as requests for `OpenAI`'s batch endpoint.
    Batch,
    /// Scenes in the format of `CoSER`'s test set.
    Coser,
    /// Role data in `RoleBench`'s layout: descriptions, dialogues and both splits.
    Rolebench,
    /// Role data in Alpaca format: instruction, input, output, system.
    Alpaca,
    /// Role data in `ShareGPT` format: conversations of from and value.
    Sharegpt,
    /// Role data as chat messages of role and content.
    Messages,
}

/// Subcommands of `pool`.
#[derive(Debug, Subcommand)]
pub(super) enum PoolCommand {
    /// List the scenes that are in use, one per line.
    List {
        #[command(flatten)]
        pool: PoolArguments,
        #[command(flatten)]
        filter: SceneFilter,
        /// List only scenes of this kind.
        #[arg(long)]
        kind: Option<Kind>,
        /// Sort key; ties are sorted by id.
        #[arg(long, value_name = "BY", default_value = "id")]
        sort: Sort,
    },
    /// Show one scene in full.
    Show {
        /// Scene id, such as `novel@1204`.
        id: String,
        #[command(flatten)]
        pool: PoolArguments,
    },
    /// Validate every file of the pool against the schema and for consistency. Exits with code 3 if there are problems.
    Check {
        #[command(flatten)]
        pool: PoolArguments,
    },
    /// Add custom scenes to `custom/`, one file each.
    ///
    /// Nothing is written unless all scenes are valid. A scene with the id of an existing custom scene is refused.
    Add {
        /// A scene in TOML or JSON, a list of scenes in JSON, or JSON Lines.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        pool: PoolArguments,
        /// Replace custom scenes with the same ids.
        #[arg(long)]
        replace: bool,
    },
    /// Count scenes, utterances, characters and grounding by book and language.
    Stats {
        #[command(flatten)]
        pool: PoolArguments,
        #[command(flatten)]
        filter: SceneFilter,
    },
    /// Write characters as Tavern cards (V3, JSON).
    ///
    /// Sources are the scenes of a pool, the test characters of a run, or character files: our own, Tavern cards of any
    /// version in JSON, PNG or `.charx`, and files of `CoSER` and `PingPong`. A card keeps every key it has; one
    /// written here loads as the character it was made from.
    #[command(after_help = CARD_EXAMPLES)]
    Card(CardArguments),
}

/// Arguments of `pool card`.
#[derive(Debug, Clone, Args)]
pub(super) struct CardArguments {
    /// Names of characters in the pool or run, or paths of character files. Default: the two main characters of each
    /// book of a pool, or all test characters of a run.
    #[arg(value_name = "CHARACTER")]
    pub(super) characters: Vec<String>,
    /// Write all characters of the pool that say and reveal enough to be played.
    #[arg(long, conflicts_with = "characters")]
    pub(super) all: bool,
    /// Folder of the pool or run.
    #[arg(long, value_name = "POOL|RUN", default_value = "scene_pool")]
    pub(super) pool: PathBuf,
    /// Use only this book (repeatable).
    #[arg(long = "book", value_name = "SLUG")]
    pub(super) books: Vec<String>,
    /// Write each card to a file in this folder, named after its character. Default: stdout, one card per line.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Overwrite files with different content.
    #[arg(long, requires = "out")]
    pub(super) force: bool,
}

/// The pool to use.
#[derive(Debug, Clone, Args)]
pub(super) struct PoolArguments {
    /// Pool folder, or a pipeline file that names it.
    #[arg(value_name = "POOL|PIPELINE", default_value = "scene_pool")]
    pub(super) pool: PathBuf,
    /// Print only JSON on stdout; `list` prints one object per line.
    #[arg(long)]
    pub(super) json: bool,
}

/// Filter on the scenes of a pool.
#[derive(Debug, Clone, Args)]
pub(super) struct SceneFilter {
    /// Use only scenes in this language.
    #[arg(long, value_parser = language)]
    pub(super) language: Option<Language>,
    /// Use only scenes of this book (repeatable).
    #[arg(long = "book", value_name = "SLUG")]
    pub(super) books: Vec<String>,
}

/// Sort keys of `pool list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Sort {
    /// By id.
    Id,
    /// Most important to its book first, unrated scenes last.
    Salience,
    /// Least grounded first, manually written scenes last.
    Grounding,
    /// Longest first.
    Lines,
}

/// Kinds of scenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// Extracted from a book.
    Book,
    /// Edited by hand.
    Edit,
    /// Written by hand.
    Custom,
}

fn language(code: &str) -> Result<Language, String> {
    Language::ALL.into_iter().find(|language| language.code() == code).ok_or_else(|| "expected `en` or `zh`".to_owned())
}

/// Subcommands of `journal`.
#[derive(Debug, Subcommand)]
pub(super) enum JournalCommand {
    /// Print record counts, requests, tokens and latency by ask and model.
    Stats {
        /// Run folder, or its `journal.jsonl`.
        run: PathBuf,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Show calls in full: messages, reply, tokens and latency.
    Show {
        /// Run folder, or its `journal.jsonl`.
        run: PathBuf,
        /// A key or its prefix, or a draw such as `<conversation>/<turn>/source`. A prefix of a draw selects all calls
        /// below it.
        #[arg(value_name = "KEY|DRAW")]
        key: String,
        /// Print one JSON object per call.
        #[arg(long)]
        json: bool,
    },
    /// Write calls as JSON Lines, each with its full texts.
    Export {
        /// Run folder, or its `journal.jsonl`.
        run: PathBuf,
        /// Only calls of this ask, such as `simulate/reply`.
        #[arg(long)]
        ask: Option<String>,
        /// Only calls of this model, named as in the pipeline file.
        #[arg(long)]
        model: Option<String>,
    },
}

/// Arguments of `chunk`.
#[derive(Debug, Clone, Args)]
pub(super) struct ChunkArguments {
    /// Books (files, folders or globs of plain text, Markdown, HTML, EPUB, Fountain or JSON Lines), or one pipeline
    /// file.
    #[arg(value_name = "BOOK|PIPELINE", required = true, help_heading = "Arguments")]
    pub(super) paths: Vec<PathBuf>,
    /// Show the headings instead of the chunks.
    #[arg(long, help_heading = "Book options")]
    pub(super) chapters: bool,
    /// Encoding of the books, as a WHATWG label such as `gb18030`. Default: detected.
    #[arg(long, value_name = "LABEL", help_heading = "Book options")]
    pub(super) encoding: Option<String>,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// Arguments of `extract`.
#[derive(Debug, Clone, Args)]
pub(super) struct ExtractArguments {
    /// A pipeline file; or, with `--quotes`, books: files, folders or globs, as in `chunk`.
    #[arg(value_name = "BOOK|PIPELINE", required = true, help_heading = "Arguments")]
    pub(super) paths: Vec<PathBuf>,
    /// Print the characters and quotations of books, as found by rules.
    #[arg(long, help_heading = "Book options")]
    pub(super) quotes: bool,
    /// Use exactly the characters of this file.
    #[arg(long, value_name = "FILE", help_heading = "Book options")]
    pub(super) characters: Option<PathBuf>,
    /// Encoding of the books, as a WHATWG label such as `gb18030`. Default: detected.
    #[arg(long, value_name = "LABEL", help_heading = "Book options")]
    pub(super) encoding: Option<String>,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// Arguments of `instruct`.
#[derive(Debug, Clone, Args)]
pub(super) struct InstructArguments {
    #[command(subcommand)]
    pub(super) command: Option<InstructCommand>,
    /// Pipeline file, such as `pipelines/demo.toml`.
    #[arg(value_name = "PIPELINE", help_heading = "Arguments", required = true)]
    pub(super) pipeline: Option<PathBuf>,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// Subcommands of `instruct`.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum InstructCommand {
    /// Find near-duplicate questions in a JSON Lines file.
    #[command(after_help = DEDUP_EXAMPLES)]
    Dedup(DedupArguments),
}

/// Arguments of `instruct dedup`.
#[derive(Debug, Clone, Args)]
pub(super) struct DedupArguments {
    /// File with one JSON object per line, preferred questions first.
    pub(super) file: PathBuf,
    /// Key of the question, a text in English, Chinese or both.
    #[arg(long, value_name = "KEY")]
    pub(super) field: String,
    /// Key of the group, such as `role`; only questions of the same group are compared. Default: one group. The text
    /// "1" and the number 1 are different groups.
    #[arg(long, value_name = "KEY")]
    pub(super) group: Option<String>,
    /// Remove questions with at least this similarity to a kept one, above 0 and at most 1.
    #[arg(long, value_name = "T", value_parser = positive_share, conflicts_with = "keep")]
    pub(super) threshold: Option<f64>,
    /// Keep this fraction of each group, above 0 and at most 1, by choosing the threshold accordingly. Default: 0.34.
    #[arg(long, value_name = "SHARE", value_parser = positive_share)]
    pub(super) keep: Option<f64>,
    /// Print one line per question instead of the table. Also measures the kept questions in groups of more than
    /// 50,000, which takes most of the time; otherwise their `similarity` and `nearest` are null.
    #[arg(long)]
    pub(super) scores: bool,
    /// Print every line with `kept`, `similarity` and `nearest` added. The last two are null for kept questions in
    /// groups of more than 50,000 unless `--scores` is given.
    #[arg(long)]
    pub(super) json: bool,
}

/// Arguments of every command that runs a pipeline.
#[derive(Debug, Clone, Args)]
pub(super) struct RunArguments {
    /// Pipeline file, such as `pipelines/demo.toml`.
    #[arg(value_name = "PIPELINE", help_heading = "Arguments")]
    pub(super) pipeline: PathBuf,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// Options of every command that runs a pipeline.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run options")]
pub(super) struct RunOptions {
    /// Override a key of the pipeline file (repeatable). VALUE is TOML: quote strings, and protect the quotes from the
    /// shell, as in 'cast.judge="strong"'.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// Run folder. Default: `outputs/<name>`.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Run on a small sample: the first N chunks per book, N picked or given and N synthesized characters per language,
    /// and N conversations per lane. A later full run reuses these calls (all of them with N = 1) unless it picks other
    /// characters, since it has read more of the books.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,
    /// Print only the summary on stdout, as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// Parses a fraction above 0 and at most 1.
pub(super) fn positive_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0 and at most 1".to_owned()),
    }
}

/// Parses a duration in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "the duration is negative or too large".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
