//! Arguments of the commands that run a pipeline.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

pub(super) const RUN_EXAMPLES: &str = "\
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

/// Arguments of every command that runs a pipeline.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct RunArguments {
    /// Pipeline file, such as `pipelines/demo.toml`.
    #[arg(value_name = "PIPELINE", help_heading = "Arguments")]
    pub(in crate::cli) pipeline: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
}

/// Options of every command that runs a pipeline.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run options")]
pub(in crate::cli) struct RunOptions {
    /// Override a key of the pipeline file (repeatable). VALUE is TOML: quote strings, and protect the quotes from the
    /// shell, as in 'cast.judge="strong"'.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
    /// Run folder. Default: `outputs/<name>`.
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Run on a small sample: the first N chunks per book, N picked or given and N synthesized characters per language,
    /// and N conversations per lane. A later full run reuses these calls (all of them with N = 1) unless it picks other
    /// characters, since it has read more of the books.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: Option<u32>,
    /// Print only the summary on stdout, as one JSON object.
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub(in crate::cli) quiet: bool,
}

/// Parses a duration in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "the duration is negative or too large".to_owned())
}
