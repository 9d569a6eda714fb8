//! Arguments of `split`.

use std::path::PathBuf;

use clap::Args;

use super::sizes::{bytes, part, positive_share, size, split_name};
use crate::dataset::split::{Part, Size};

/// Examples and details below the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  dramaturg split outputs/mine --test 0.2 --dev 0.1             fractions of the rows; the rest is `train`
  dramaturg split outputs/mine --test 500 --seed 11             number of rows, other seed
  dramaturg split outputs/mine --test 0.2 --by book             whole books; also character, source_model
  dramaturg split outputs/mine --hold-out 'character=Keziah Marl' --dev 0.1
  dramaturg split outputs/mine --test 0.2 --out splits/a        write a copy, keep the run as it is
  dramaturg split outputs/mine --config role_general --test 0.2 --by role
  dramaturg split outputs/mine --split hard=0.1 --split easy=0.1 --remainder other
  dramaturg split outputs/mine --test 0.2 --dry-run --json | jq .rows

SIZE is a fraction (0.2, 20%) or a number of rows (500). Rows that share a scene or a conversation, or are similar,
form a group, and a group is never divided between splits. The seed determines the order in which groups are assigned,
such that an additional row moves few others. With --by and --hold-out the values decide: a row that is related to a
row of a split with higher priority (`test`, then `dev`, then the rest) moves to the split `unused`, and returns with
the next `split`. Splitting `samples` splits `conversations` along with them; a custom set derived from these has to be
split separately. splits.json beside the dataset card lists every row that had to move. The data set is replaced as a
whole, the run's manifest is updated, and the same command writes the same bytes. No model
is called. See docs/splits.md.
";

/// Arguments of `split`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct SplitArguments {
    /// Run folder or data set folder.
    #[arg(value_name = "RUN|DATASET")]
    pub(in crate::cli) path: PathBuf,
    /// Config to split: samples, conversations, `role_specific` or `role_general`.
    #[arg(long, default_value = "samples")]
    pub(in crate::cli) config: String,
    /// Size of `test`.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(in crate::cli) test: Option<Size>,
    /// Size of `dev`.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(in crate::cli) dev: Option<Size>,
    /// An additional split (repeatable). Earlier splits have higher priority.
    #[arg(long = "split", value_name = "NAME=SIZE", value_parser = part)]
    pub(in crate::cli) splits: Vec<Part>,
    /// Name of the split for all remaining rows.
    #[arg(long, value_name = "NAME", default_value = "train", value_parser = split_name)]
    pub(in crate::cli) remainder: String,
    /// Keep all rows with the same value of this column in one split: `book`, `character`, `source_model`, `role`,
    /// `instruction` or any column of strings, numbers or dates.
    #[arg(long, value_name = "COLUMN")]
    pub(in crate::cli) by: Option<String>,
    /// Reserve the rows with this value for one split, by default `test` (repeatable).
    #[arg(long, value_name = "[SPLIT:]COLUMN=VALUE")]
    pub(in crate::cli) hold_out: Vec<String>,
    /// Columns whose distribution is the same in all splits, or `none`. Default: dimension, language and
    /// `character_type` for samples, the role for role data.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(in crate::cli) stratify: Option<Vec<String>>,
    /// Relations that must not cross splits: `scene`, `conversation`, `instruction`, `similarity`, or `none`. Default:
    /// all.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(in crate::cli) group_by: Option<Vec<String>>,
    /// Similarity from which two texts are related, above 0 and at most 1. Default: 0.6 in English, 0.5 in Chinese.
    #[arg(long, value_name = "T", value_parser = positive_share)]
    pub(in crate::cli) similarity: Option<f64>,
    /// Random seed.
    #[arg(long, default_value_t = 7)]
    pub(in crate::cli) seed: u64,
    /// Write the split data set to this folder and leave the original unchanged.
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Maximum size of an output file; further rows go to a new one.
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "500MB")]
    pub(in crate::cli) shard_size: u64,
    /// Print the result without writing anything.
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Print only errors.
    #[arg(long, short)]
    pub(in crate::cli) quiet: bool,
}
