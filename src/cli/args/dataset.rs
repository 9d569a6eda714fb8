//! Arguments of `export` and `select`.

use std::path::PathBuf;

use clap::Args;

use super::run::{RunArguments, RunOptions};
use super::sizes::bytes;

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  dramaturg export mine.toml                          same as `build`
  dramaturg export outputs/mine --format rolebench    role data, to outputs/mine/rolebench
  dramaturg export outputs/mine --format messages --out train
  dramaturg export outputs/mine --format jsonl --config samples
  dramaturg export outputs/mine --format batch --model gpt-5 --out requests
  dramaturg export outputs/mine --format messages --config samples --out evaluation
";

pub(super) const SELECT_EXAMPLES: &str = "\
Examples:
  dramaturg select outputs/mine --judge strong --dry-run      estimate calls and cost
  dramaturg select outputs/mine --judge strong
  dramaturg select outputs/demo --judge offline               the offline engine's simple judge
  dramaturg select outputs/mine --judge new --set 'models.new={provider=\"openai\", model=\"m\"}'
  dramaturg select outputs/mine --judge strong --json | jq .agreement

A run folder is judged with its own configuration and journal. Run the command in the folder where the run was
started, because it reads the books and character files again. To use a judge in later builds too, add it to the
pipeline file as `[cast] judges = [\"strong\"]`. See docs/judges.md.
";

/// Arguments of `select`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct SelectArguments {
    /// Run folder, or the run's pipeline file. Only the judges are read from the file; everything else is as the data
    /// set was built.
    #[arg(value_name = "RUN|PIPELINE", help_heading = "Arguments")]
    pub(in crate::cli) run: PathBuf,
    /// A model of the run's pipeline file, or `offline` (repeatable).
    #[arg(long = "judge", value_name = "MODEL", required = true, help_heading = "Run options")]
    pub(in crate::cli) judges: Vec<String>,
    /// Print what the verdicts would ask and cost, without calling a server or writing a file.
    #[arg(long, help_heading = "Run options")]
    pub(in crate::cli) dry_run: bool,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
}

/// Arguments of `export`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct ExportArguments {
    #[command(flatten)]
    pub(in crate::cli) run: RunArguments,
    /// Convert an existing data set to this format, in `--out` or else `<run>/<format>`. PIPELINE is then the run
    /// folder or the data set folder.
    #[arg(long)]
    pub(in crate::cli) format: Option<OtherFormat>,
    /// Config to convert (repeatable); `jsonl` and `csv` convert all by default. With `samples`, `messages` writes the
    /// format for evaluation harnesses.
    #[arg(long = "config", value_name = "CONFIG", requires = "format", help_heading = "Options for --format")]
    pub(in crate::cli) configs: Vec<String>,
    /// Model name in `batch` requests.
    #[arg(long, value_name = "MODEL", requires = "format", help_heading = "Options for --format")]
    pub(in crate::cli) model: Option<String>,
    /// Maximum size of an output file; further lines go to a new one. Default: 500MB, or 200MB and 50,000 requests for
    /// `batch`.
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "format", help_heading = "Options for --format")]
    pub(in crate::cli) shard_size: Option<u64>,
}

/// Output format of a converted data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum OtherFormat {
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
