//! Command-line arguments and their help texts.

mod books;
mod character;
mod dataset;
mod instruct;
mod journal;
mod pool;
mod run;
mod sizes;
mod split;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

pub(super) use books::{ChunkArguments, ExtractArguments};
pub(super) use character::{CharacterCommand, CharacterExportArguments};
pub(super) use dataset::{ExportArguments, OtherFormat, SelectArguments};
pub(super) use instruct::{DedupArguments, InstructArguments, InstructCommand};
pub(super) use journal::JournalCommand;
pub(super) use pool::{KindFilter, PoolArguments, PoolCommand, SceneFilter, Sort};
pub(super) use run::{RunArguments, RunOptions};
pub(super) use sizes::parse_hold_out;
pub(super) use split::SplitArguments;

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

const DIFF_EXAMPLES: &str = "\
Examples:
  dramaturg diff outputs/mine outputs/mine-2
  dramaturg diff outputs/mine outputs/mine-2 --json | jq '.tables.samples.added'

Rows are matched by id; a row counts as changed if any of its columns differs. Both runs need a data set; the books
are not needed.
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
    #[command(after_help = run::RUN_EXAMPLES)]
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
        #[arg(long, value_name = "SECONDS", value_parser = run::seconds, requires = "dry_run", help_heading = "Run options")]
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
    #[command(after_help = books::CHUNK_EXAMPLES)]
    Chunk(ChunkArguments),
    /// Extract scenes from books into the scene pool.
    ///
    /// Given a pipeline file, runs it up to the scenes. Given books and `--quotes`, prints the characters and every
    /// quotation with its speaker, as found by rules.
    #[command(after_help = books::EXTRACT_EXAMPLES)]
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
    #[command(after_help = dataset::SELECT_EXAMPLES)]
    Select(SelectArguments),
    /// Run up to the role data: questions about roles, and instructions answered in character.
    ///
    /// Role data needs no conversations, so none are simulated. The subcommand `dedup` removes similar questions from
    /// any JSON Lines file.
    #[command(after_help = instruct::INSTRUCT_EXAMPLES, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
    Instruct(InstructArguments),
    /// Write the data set (same as `build`), or convert an existing one.
    ///
    /// With `--format` and a run folder, converts the existing data set to JSON Lines, CSV, batch requests or `CoSER`
    /// scenes, or its role data to a training format.
    #[command(after_help = dataset::EXPORT_EXAMPLES)]
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
    #[command(after_help = split::EXAMPLES)]
    Split(SplitArguments),
    /// Inspect a run's journal, the record of all answered model calls.
    ///
    /// Read-only, so it can be used while the run is in progress.
    #[command(subcommand, after_help = journal::JOURNAL_EXAMPLES)]
    Journal(JournalCommand),
    /// Inspect, validate and extend a scene pool.
    ///
    /// A pool is a folder; a pipeline file may be given in place of the pool that it names.
    #[command(subcommand, after_help = pool::POOL_EXAMPLES)]
    Pool(PoolCommand),
    /// Export characters of a pool, a run or files.
    #[command(subcommand)]
    Character(CharacterCommand),
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Arguments;

    #[test]
    fn the_command_line_is_valid() {
        Arguments::command().debug_assert();
    }
}
