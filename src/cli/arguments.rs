//! The command line.

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
  dramaturg init novels                               a project of your own to start from
  dramaturg build pipelines/demo.toml                 the shipped books, offline, in seconds
  dramaturg check mine.toml --probe                   whether its models answer as a run needs it
  dramaturg build mine.toml --dry-run                 what it will ask and cost
  dramaturg build mine.toml --limit 1                 a first look at a run of your own
  dramaturg build mine.toml --set simulate.tau=3      override a figure of the file
  dramaturg extract mine.toml                         the road up to the scenes
  dramaturg split outputs/mine --test 0.2 --dev 0.1   other splits of a data set that is there
  dramaturg status outputs/mine --watch               how it stands, and what is still missing
  dramaturg journal stats outputs/mine                what was asked so far, and what it took
  dramaturg diff outputs/mine outputs/mine-2          what changed from one run to another

Exit codes:
  0  done                            4    the model API
  1  our fault                       5    budget reached
  2  bad command or configuration    130  interrupted
  3  done with failures; `check` has findings
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

--dry-run goes the whole road with the offline engine in place of every served model, and
counts what is rendered. It opens no connection, needs no key and writes no file. Calls that
the run's journal has are shown as paid. What the journal tells of a model (how long its
replies are, how long they take, how its server counts tokens, how often it is asked again) is
taken for the rest; where there are fewer than five calls of an ask, replies are taken to be
as long as the offline engine's, and no shorter than usual. Cacheable are prompt tokens that
extend an earlier prompt, in blocks of 16.

Run the same command again to resume a run: every answered call is in the run's journal and is not made twice.
";

const CHECK_EXAMPLES: &str = "\
Examples:
  dramaturg check mine.toml                           the file, its books, its prompts
  dramaturg check mine.toml --probe                   its endpoints too
  dramaturg check mine.toml --probe --json | jq '.models[].addresses[].findings'
  dramaturg check outputs/mine                        the data set that a run has made
  dramaturg check downloads/benchmark --json | jq -c '.findings[]'
  dramaturg check scene_pool                          the same as `pool check`

--probe asks for the list of models and makes one tiny call at each address of each served
model of the cast: whether somebody answers and takes the key, whether the model is known,
whether its reply keeps to a JSON Schema, how many tokens it takes where the server tells, and
whether the file has its price. Keys are never shown.

Of a data set it checks the files and their hashes, the columns and their types, the card, ids
and what rows name in other tables, the balance of dimensions, rows that belong together and
stand in two splits, private attributes where others read them, keys and passwords, and text
of a wrong encoding. Each finding names file, row and column, and what to do. docs/check.md
tells more. The exit code is 3 when there are findings.
";

const STATUS_EXAMPLES: &str = "\
Examples:
  dramaturg status outputs/demo
  dramaturg status outputs/demo --watch               again and again, until the run ends
  dramaturg status outputs/demo --json | jq .missing.usd

What is missing is estimated as `build --dry-run` does it, from the configuration that the run
has noted and its journal: run it where the run was started, so that the books are found. It
takes no lock; a run at work tells of itself every other second.
";

const CHUNK_EXAMPLES: &str = "\
Examples:
  dramaturg chunk novel.epub                          what is in a book, and what is left out
  dramaturg chunk novels/ --chapters                  the headings of every book of a folder
  dramaturg chunk old.txt --encoding big5             when the encoding is not what the bytes show
  dramaturg chunk novel.txt --set chunk.max_tokens=4096 --json | jq '.chunks[0].text'
  dramaturg chunk mine.toml                           a run up to its chunks

A book may have 256 MB of text. One that cannot be read is named on stderr and does not keep the others back.
";

const JOURNAL_EXAMPLES: &str = "\
Examples:
  dramaturg journal stats outputs/demo
  dramaturg journal show outputs/demo 3fa29c                    one call, by its key
  dramaturg journal show outputs/demo keziah-marl/vivid/0/4     all calls of a turn, by their draws
  dramaturg journal export outputs/demo --ask select/judge | jq -r .reply.text
";

const POOL_EXAMPLES: &str = "\
Examples:
  dramaturg pool list                                 the scenes of ./scene_pool, a line each
  dramaturg pool list mine.toml --language zh         those of the pool that a pipeline file names
  dramaturg pool show novel@1204                      one scene, to read
  dramaturg pool show novel@1204 --json >> scene_pool/edits/mine.jsonl
  dramaturg pool check                                what is wrong, as FILE:LINE:COLUMN
  dramaturg pool add ferry.toml                       a scene of your own, to scene_pool/custom/
  dramaturg pool stats --json | jq .books
  dramaturg pool card                                 the main characters of every book, as cards
  dramaturg pool card 'Keziah Marl' --out cards       cards/keziah-marl@a-penny-either-way.json

Where scenes share an id, a custom one wins over an edit and an edit over what was extracted. `extract`
fills a pool and keeps every file that somebody has changed. docs/pool.md tells more.
";

const CARD_EXAMPLES: &str = "\
Examples:
  dramaturg pool card                                 the main characters of every book
  dramaturg pool card 薛嵩 'Keziah Marl' --out cards
  dramaturg pool card --book my-novel --pool novels/pool
  dramaturg pool card --pool outputs/mine --out cards all test characters of a run, made-up ones too
  dramaturg pool card mara.png | jq .data.name        any card as V3
";

const EXPORT_EXAMPLES: &str = "\
Examples:
  dramaturg export mine.toml                          the same as `build`
  dramaturg export outputs/mine --format rolebench    its role data, to outputs/mine/rolebench
  dramaturg export outputs/mine --format messages --out train
  dramaturg export outputs/mine --format jsonl --config samples
  dramaturg export outputs/mine --format batch --model gpt-5 --out requests
  dramaturg export outputs/mine --format messages --config samples --out evaluation
";

const SELECT_EXAMPLES: &str = "\
Examples:
  dramaturg select outputs/mine --judge strong --dry-run      what it will ask and cost
  dramaturg select outputs/mine --judge strong
  dramaturg select outputs/demo --judge offline               the offline engine's plain judge
  dramaturg select outputs/mine --judge new --set 'models.new={provider=\"openai\", model=\"m\"}'
  dramaturg select outputs/mine --judge strong --json | jq .agreement

Given a run's folder it goes the road again with the run's own configuration and journal, so run it where the run was
started: books and character files have to be there. To keep a judge in later builds, put it into the pipeline file as
`[cast] judges = [\"strong\"]`. docs/review.md tells more.
";

const DIFF_EXAMPLES: &str = "\
Examples:
  dramaturg diff outputs/mine outputs/mine-2
  dramaturg diff outputs/mine outputs/mine-2 --json | jq '.tables.samples.added'

Rows are the same when their ids are; a row has changed when any of its columns has. Both runs need a data set, and neither
its books.
";

const EXTRACT_EXAMPLES: &str = "\
Examples:
  dramaturg extract mine.toml                         a run up to its scenes
  dramaturg extract novel.epub --quotes               who there is in a book, and who says what
  dramaturg extract 红楼梦.txt --quotes --json > quotes.jsonl
  dramaturg extract novel.txt --quotes --characters scene_pool/aliases/novel.toml

--json prints a line for each character, {speaker_id, name, aliases}, then one for each quotation,
{book, start, end, quote, speaker, speaker_id, kind}. Offsets are code points of the decoded text,
marks not included; kind is explicit, anaphoric, implicit or script; null is unknown. With --limit N
the first N quotations are shown. No model is asked, and nothing is written.

FILE is TOML, with a table [[people]] for each person (name, aliases, gender), or what --json has
printed. A run writes one for each of its books to scene_pool/aliases/, and obeys it once changed.
";

const INSTRUCT_EXAMPLES: &str = "\
Examples:
  dramaturg instruct mine.toml                        a run up to its role data
  dramaturg instruct dedup questions.jsonl --field question --group role --json
";

const DEDUP_EXAMPLES: &str = "\
Examples:
  dramaturg instruct dedup questions.jsonl --field question --group role        what would go, by role
  dramaturg instruct dedup questions.jsonl --field question --threshold 0.5 --json | jq -c 'select(.kept)'
  dramaturg instruct dedup questions.jsonl --field question --keep 0.8 --scores

A question is removed when a kept one before it is too much like it, so put the better ones first. `similarity`
is that to the most alike of the other kept ones of its group, 0 to 1, and `nearest` is that one's line, from 1.
Kept ones of groups beyond 50,000 have null there without --scores: they are below the threshold. A line with
other keys keeps them as they are. A line that is no object or has no such text ends the command with 2, and
nothing is printed on stdout. docs/duplicates.md tells more.
";

/// Turns books into role-play benchmarks for language models.
///
/// A folder of books goes in, a Parquet data set that `datasets.load_dataset` reads comes out, and every model call that
/// made it is kept, so that the same data set can be made again, for nothing, byte for byte.
#[derive(Debug, Parser)]
#[command(name = "dramaturg", version, styles = STYLES, after_help = EXAMPLES, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Begins a project: writes a commented pipeline file, and two short books that it runs on as it stands.
    #[command(after_help = INIT_EXAMPLES)]
    Init {
        /// The project's folder, made when it is missing. Files that are there stay: if one is in the way, nothing is written.
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
    /// Goes the whole road: books become a data set under `outputs/<name>/dataset`.
    #[command(after_help = RUN_EXAMPLES)]
    Build {
        #[command(flatten)]
        run: RunArguments,
        /// Makes the data set from the journal alone, without any model call; fails on the first call that it lacks.
        #[arg(long, help_heading = "Options of the run")]
        replay: bool,
        /// Asks no server and writes nothing: plays the road offline and prints what the run will ask and cost.
        #[arg(long, conflicts_with = "replay", help_heading = "Options of the run")]
        dry_run: bool,
        /// How long a call to a served model takes, for the wall time of `--dry-run`; when silent what the journal
        /// tells, else 3.
        #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "dry_run", help_heading = "Options of the run")]
        latency: Option<Duration>,
    },
    /// Checks a pipeline file before a run (with `--probe` its endpoints too), a data set, or a scene pool.
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// A pipeline file, the folder of a run or a data set, or a scene pool.
        #[arg(value_name = "PIPELINE|DATASET|POOL")]
        path: PathBuf,
        /// Asks each endpoint of the cast: one tiny call each.
        #[arg(long)]
        probe: bool,
        /// Overrides a key of the pipeline file, as `build` does; can be given again.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Shows how a run stands: what it has asked and made, and what is still missing.
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        /// The run's folder.
        run: PathBuf,
        /// Shows it again every two seconds, until the run ends.
        #[arg(long, short)]
        watch: bool,
        /// Prints one JSON object; with `--watch` one a line.
        #[arg(long)]
        json: bool,
        /// Estimates nothing: what is missing is left out.
        #[arg(long)]
        no_estimate: bool,
    },
    /// Reads books and cuts them into chunks that fit a model's context.
    ///
    /// Given books, it shows each: encoding, language, what is left out and why, and the chunks, or the chapters with
    /// `--chapters`. Given a pipeline file, it goes the road of a run up to the chunks.
    #[command(after_help = CHUNK_EXAMPLES)]
    Chunk(ChunkArguments),
    /// Goes on to the scenes: fills the scene pool.
    ///
    /// Given books and `--quotes`, it shows what the rules read in each: its people, and every quotation with its speaker.
    #[command(after_help = EXTRACT_EXAMPLES)]
    Extract(ExtractArguments),
    /// Goes on to the test characters: takes those of files and makes up others.
    Synthesize(RunArguments),
    /// Goes on to the conversations: test characters meet scenes, and a judge picks replies.
    Simulate(RunArguments),
    /// Judges the replies of a run again, with another model of its pipeline file, or offline.
    ///
    /// Each further judge is shown the same pairs of replies with the same history, and changes nothing in them. What it says
    /// stands in the column `verdicts` of `samples` and of the turns of `conversations`; how far it agrees with the first
    /// judge is printed. Calls are in the run's journal, so that running again is how it is resumed.
    #[command(after_help = SELECT_EXAMPLES)]
    Select(SelectArguments),
    /// Goes on to role data: roles are asked about themselves, and carry out instructions.
    ///
    /// Roles need no conversation, so that none is played. `dedup` judges the questions of any file of JSON Lines.
    #[command(after_help = INSTRUCT_EXAMPLES, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
    Instruct(InstructArguments),
    /// Goes on to the data set; the same as `build`.
    ///
    /// Given `--format` and a run's folder, it writes the data set there in another form: JSON Lines, CSV, batch requests or
    /// scenes, or its role data as others train on it.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(ExportArguments),
    /// Says what changed from one run to another.
    ///
    /// It compares configuration, books, prompts, models, rows, balance and cost, and the rows of every config by their ids.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff {
        /// The folder of the one run.
        #[arg(value_name = "RUN")]
        before: PathBuf,
        /// The folder of the other.
        #[arg(value_name = "RUN")]
        after: PathBuf,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Divides the rows of a data set into splits anew: by share, character, book, source model, role. No model is asked.
    #[command(after_help = super::split::EXAMPLES)]
    Split(super::split::SplitArguments),
    /// Looks into a run's journal, where every answered call stands.
    ///
    /// It only reads, so that a run may be at work.
    #[command(subcommand, after_help = JOURNAL_EXAMPLES)]
    Journal(JournalCommand),
    /// Looks into the scene pool, checks it and adds to it.
    ///
    /// A pool is a folder; a pipeline file stands for the pool that it names.
    #[command(subcommand, after_help = POOL_EXAMPLES)]
    Pool(PoolCommand),
    /// Writes the JSON Schemas of files, rows and model answers.
    ///
    /// With `#:schema ../schemas/pipeline.schema.json` as its first line, a pipeline file has completion and checks in
    /// editors that know TOML schemas.
    Schema {
        /// The folder that they are written to.
        #[arg(default_value = "schemas")]
        dir: PathBuf,
        /// Writes nothing; exits with 3 when the files in the folder are not what this version would write.
        #[arg(long)]
        check: bool,
    },
}

/// What `select` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct SelectArguments {
    /// The run's folder, or its pipeline file, of which the judges are taken; all else is as the data set was made.
    #[arg(value_name = "RUN|PIPELINE", help_heading = "Arguments")]
    pub(super) run: PathBuf,
    /// A model of the run's pipeline file, or `offline`; can be given again.
    #[arg(long = "judge", value_name = "MODEL", required = true, help_heading = "Options of the run")]
    pub(super) judges: Vec<String>,
    /// Asks no server and writes nothing: prints what the verdicts will ask and cost.
    #[arg(long, help_heading = "Options of the run")]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// What `export` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct ExportArguments {
    #[command(flatten)]
    pub(super) run: RunArguments,
    /// Writes a data set that is there in this form to `--out`, else to `<run>/<form>`. PIPELINE is the run's folder, or that
    /// of its data set.
    #[arg(long)]
    pub(super) format: Option<OtherFormat>,
    /// The config that is written; can be given again. `jsonl` and `csv` write all when silent. With `samples` the form
    /// `messages` is one for evaluators.
    #[arg(long = "config", value_name = "CONFIG", requires = "format", help_heading = "Options of --format")]
    pub(super) configs: Vec<String>,
    /// The model that the requests of `batch` name.
    #[arg(long, value_name = "MODEL", requires = "format", help_heading = "Options of --format")]
    pub(super) model: Option<String>,
    /// How large a file of lines may grow before another follows it; 500MB when silent, 200MB and 50,000 requests for `batch`.
    #[arg(long, value_name = "SIZE", value_parser = super::split::bytes, requires = "format", help_heading = "Options of --format")]
    pub(super) shard_size: Option<u64>,
}

/// A form of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OtherFormat {
    /// Every config as JSON Lines, an object a row.
    Jsonl,
    /// Every config as CSV, lists as JSON in their cells.
    Csv,
    /// Samples as requests of `OpenAI`'s batch endpoint.
    Batch,
    /// Scenes as `CoSER`'s test set has them.
    Coser,
    /// `RoleBench`'s: descriptions, dialogues and both splits.
    Rolebench,
    /// Alpaca's: instruction, input, output, system.
    Alpaca,
    /// `ShareGPT`'s: conversations of from and value.
    Sharegpt,
    /// Chat messages of role and content.
    Messages,
}

/// What is done with a scene pool.
#[derive(Debug, Subcommand)]
pub(super) enum PoolCommand {
    /// Shows a line for each scene that counts.
    List {
        #[command(flatten)]
        pool: PoolArguments,
        #[command(flatten)]
        filter: SceneFilter,
        /// Shows scenes of this kind alone.
        #[arg(long)]
        kind: Option<Kind>,
        /// What comes first; scenes that are equal in it are sorted by id.
        #[arg(long, value_name = "BY", default_value = "id")]
        sort: Sort,
    },
    /// Shows one scene whole.
    Show {
        /// The scene's id, such as `novel@1204`.
        id: String,
        #[command(flatten)]
        pool: PoolArguments,
    },
    /// Checks every file: what the schema does not take, and what makes no sense. Exits with 3 when something is wrong.
    Check {
        #[command(flatten)]
        pool: PoolArguments,
    },
    /// Adds scenes of your own to `custom/`, one file for each.
    ///
    /// Nothing is written unless all of them are sound. A scene whose id another custom one has is refused.
    Add {
        /// A scene in TOML or JSON, a list of them in JSON, or JSON Lines.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        pool: PoolArguments,
        /// Takes the place of custom scenes with the same ids.
        #[arg(long)]
        replace: bool,
    },
    /// Sums scenes, lines, casts and grounding by book and language.
    Stats {
        #[command(flatten)]
        pool: PoolArguments,
        #[command(flatten)]
        filter: SceneFilter,
    },
    /// Writes characters as Tavern cards (V3, JSON).
    ///
    /// They are people of the pool, as its scenes show them, test characters of a run, picked or made up, or those of character
    /// files: ours, Tavern cards of any version in JSON, PNG or `.charx`, files of CoSER and `PingPong`. A card keeps every key
    /// that it has, and one of ours comes back in as the character that it was made of.
    #[command(after_help = CARD_EXAMPLES)]
    Card(CardArguments),
}

/// What `pool card` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct CardArguments {
    /// Names of people in the pool or the run, or paths of character files. When silent, the two main characters of each book
    /// of a pool, and all of a run.
    #[arg(value_name = "CHARACTER")]
    pub(super) characters: Vec<String>,
    /// Everybody: of a pool all who say and show enough to play.
    #[arg(long, conflicts_with = "characters")]
    pub(super) all: bool,
    /// The folder of the pool, or of a run.
    #[arg(long, value_name = "POOL|RUN", default_value = "scene_pool")]
    pub(super) pool: PathBuf,
    /// Looks into this book alone; can be given again.
    #[arg(long = "book", value_name = "SLUG")]
    pub(super) books: Vec<String>,
    /// Writes each card to a file of this folder, named by its character; to stdout when silent, a card a line.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Writes over files that hold something else.
    #[arg(long, requires = "out")]
    pub(super) force: bool,
}

/// Which pool.
#[derive(Debug, Clone, Args)]
pub(super) struct PoolArguments {
    /// The pool's folder, or a pipeline file that names it.
    #[arg(value_name = "POOL|PIPELINE", default_value = "scene_pool")]
    pub(super) pool: PathBuf,
    /// Prints JSON on stdout and nothing else there; `list` prints an object a line.
    #[arg(long)]
    pub(super) json: bool,
}

/// Which scenes of a pool.
#[derive(Debug, Clone, Args)]
pub(super) struct SceneFilter {
    /// Takes scenes of this language alone.
    #[arg(long, value_parser = language)]
    pub(super) language: Option<Language>,
    /// Takes scenes of this book alone; can be given again.
    #[arg(long = "book", value_name = "SLUG")]
    pub(super) books: Vec<String>,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Sort {
    /// By id.
    Id,
    /// What matters most to its book first, what nobody has judged last.
    Prominence,
    /// The least grounded first, those by hand last.
    Grounding,
    /// The longest first.
    Lines,
}

/// A kind of scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// Extracted from a book.
    Book,
    /// Changed by somebody.
    Edit,
    /// Somebody's own.
    Custom,
}

fn language(code: &str) -> Result<Language, String> {
    Language::ALL.into_iter().find(|language| language.code() == code).ok_or_else(|| "it is `en` or `zh`".to_owned())
}

/// What is shown of a journal.
#[derive(Debug, Subcommand)]
pub(super) enum JournalCommand {
    /// Sums of records, requests, tokens and time, by ask and model.
    Stats {
        /// The run's folder, or its `journal.jsonl`.
        run: PathBuf,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Shows calls whole: the messages, the reply, what they cost.
    Show {
        /// The run's folder, or its `journal.jsonl`.
        run: PathBuf,
        /// A key or its beginning, or a draw such as `<conversation>/<turn>/source`; the beginning of a draw shows all
        /// calls below it.
        #[arg(value_name = "KEY|DRAW")]
        key: String,
        /// Prints one JSON object for each call.
        #[arg(long)]
        json: bool,
    },
    /// Writes calls as JSON Lines, each with all its texts.
    Export {
        /// The run's folder, or its `journal.jsonl`.
        run: PathBuf,
        /// Only calls of this ask, such as `simulate/reply`.
        #[arg(long)]
        ask: Option<String>,
        /// Only calls of this model, by its name in the pipeline file.
        #[arg(long)]
        model: Option<String>,
    },
}

/// What `chunk` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct ChunkArguments {
    /// Books: files, folders or globs of plain text, Markdown, HTML, EPUB, Fountain or JSON Lines; or one pipeline file.
    #[arg(value_name = "BOOK|PIPELINE", required = true, help_heading = "Arguments")]
    pub(super) paths: Vec<PathBuf>,
    /// Shows the headings in place of the chunks.
    #[arg(long, help_heading = "Options for books")]
    pub(super) chapters: bool,
    /// The books' encoding, as a WHATWG label such as `gb18030`; found from the bytes when silent.
    #[arg(long, value_name = "LABEL", help_heading = "Options for books")]
    pub(super) encoding: Option<String>,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// What `extract` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct ExtractArguments {
    /// A pipeline file; or, with `--quotes`, books: files, folders or globs, as `chunk` takes them.
    #[arg(value_name = "BOOK|PIPELINE", required = true, help_heading = "Arguments")]
    pub(super) paths: Vec<PathBuf>,
    /// Shows the people and the quotations of books, read by rule.
    #[arg(long, help_heading = "Options for books")]
    pub(super) quotes: bool,
    /// Takes the people from a file: they and nobody else are characters of the books.
    #[arg(long, value_name = "FILE", help_heading = "Options for books")]
    pub(super) characters: Option<PathBuf>,
    /// The books' encoding, as a WHATWG label such as `gb18030`; found from the bytes when silent.
    #[arg(long, value_name = "LABEL", help_heading = "Options for books")]
    pub(super) encoding: Option<String>,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// What `instruct` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct InstructArguments {
    #[command(subcommand)]
    pub(super) command: Option<InstructCommand>,
    /// The pipeline file, as `pipelines/demo.toml`.
    #[arg(value_name = "PIPELINE", help_heading = "Arguments", required = true)]
    pub(super) pipeline: Option<PathBuf>,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// What is done beside the road.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum InstructCommand {
    /// Tells which questions of a file say again what one before them has said.
    #[command(after_help = DEDUP_EXAMPLES)]
    Dedup(DedupArguments),
}

/// What `instruct dedup` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct DedupArguments {
    /// The file: a JSON object a line, the preferred first.
    pub(super) file: PathBuf,
    /// The key of the question, a text in English, Chinese or both.
    #[arg(long, value_name = "KEY")]
    pub(super) field: String,
    /// The key of the group, such as `role`: only questions of a group are compared. All are one group when silent. The
    /// text "1" and the number 1 are two groups.
    #[arg(long, value_name = "KEY")]
    pub(super) group: Option<String>,
    /// Removes what is at least so alike to a kept one, above 0 to 1.
    #[arg(long, value_name = "T", value_parser = positive_share, conflicts_with = "keep")]
    pub(super) threshold: Option<f64>,
    /// Keeps this share of each group, above 0 to 1, by the threshold that it takes; 0.34 when silent.
    #[arg(long, value_name = "SHARE", value_parser = positive_share)]
    pub(super) keep: Option<f64>,
    /// Shows a line for each question in place of the table. Measures the kept ones of groups beyond 50,000 too, which takes
    /// most of the time: without it their `similarity` and `nearest` are null.
    #[arg(long)]
    pub(super) scores: bool,
    /// Prints each line again, with `kept`, `similarity` and `nearest`; the latter two are null for kept lines of groups beyond
    /// 50,000, unless `--scores` is given too.
    #[arg(long)]
    pub(super) json: bool,
}

/// What every command that runs a pipeline takes.
#[derive(Debug, Clone, Args)]
pub(super) struct RunArguments {
    /// The pipeline file, as `pipelines/demo.toml`.
    #[arg(value_name = "PIPELINE", help_heading = "Arguments")]
    pub(super) pipeline: PathBuf,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// How a run is done.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of the run")]
pub(super) struct RunOptions {
    /// Overrides a key of the pipeline file; can be given again. VALUE is TOML: strings need quotes, which the shell
    /// takes away unless the whole stands in single quotes, as 'cast.judge="strong"'.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// The run's folder; `outputs/<name>` when silent.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Keeps every stage small: the first N chunks per book, N given or picked and N made-up characters per language,
    /// and N conversations per lane. A later full run uses its calls again, with 1 all of them, unless it picks other
    /// characters: it knows more of the books.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,
    /// Prints what the run left as one JSON object on stdout, and nothing else there.
    #[arg(long)]
    pub(super) json: bool,
    /// Prints errors and nothing else.
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// Reads a share that is more than nothing.
pub(super) fn positive_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("it is no number above 0 and up to 1".to_owned()),
    }
}

/// Reads a length of time in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is no number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "it is no length of time".to_owned())
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
