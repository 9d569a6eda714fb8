//! Arguments of `instruct`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::run::RunOptions;
use super::sizes::positive_share;

pub(super) const INSTRUCT_EXAMPLES: &str = "\
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
object or lacks the text, the command exits with code 2 and prints nothing to stdout. See docs/dedup.md.
";

/// Arguments of `instruct`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct InstructArguments {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<InstructCommand>,
    /// Pipeline file, such as `pipelines/demo.toml`.
    #[arg(value_name = "PIPELINE", help_heading = "Arguments", required = true)]
    pub(in crate::cli) pipeline: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) options: RunOptions,
}

/// Subcommands of `instruct`.
#[derive(Debug, Clone, Subcommand)]
pub(in crate::cli) enum InstructCommand {
    /// Find near-duplicate questions in a JSON Lines file.
    #[command(after_help = DEDUP_EXAMPLES)]
    Dedup(DedupArguments),
}

/// Arguments of `instruct dedup`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct DedupArguments {
    /// File with one JSON object per line, preferred questions first.
    pub(in crate::cli) file: PathBuf,
    /// Key of the question, a text in English, Chinese or both.
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) field: String,
    /// Key of the group, such as `role`; only questions of the same group are compared. Default: one group. The text
    /// "1" and the number 1 are different groups.
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) group: Option<String>,
    /// Remove questions with at least this similarity to a kept one, above 0 and at most 1.
    #[arg(long, value_name = "T", value_parser = positive_share, conflicts_with = "keep")]
    pub(in crate::cli) threshold: Option<f64>,
    /// Keep this fraction of each group, above 0 and at most 1, by choosing the threshold accordingly. Default: 0.34.
    #[arg(long, value_name = "SHARE", value_parser = positive_share)]
    pub(in crate::cli) keep: Option<f64>,
    /// Print one line per question instead of the table. Also measures the kept questions in groups of more than
    /// 50,000, which takes most of the time; otherwise their `similarity` and `nearest` are null.
    #[arg(long)]
    pub(in crate::cli) scores: bool,
    /// Print every line with `kept`, `similarity` and `nearest` added. The last two are null for kept questions in
    /// groups of more than 50,000 unless `--scores` is given.
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
