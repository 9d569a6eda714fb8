//! Arguments of `journal`.

use std::path::PathBuf;

use clap::Subcommand;

pub(super) const JOURNAL_EXAMPLES: &str = "\
Examples:
  dramaturg journal stats outputs/demo
  dramaturg journal show outputs/demo 3fa29c                    one call, by key
  dramaturg journal show outputs/demo keziah-marl/vivid/0/4     all calls of a turn, by draw
  dramaturg journal export outputs/demo --ask select/judge | jq -r .reply.text
";

/// Subcommands of `journal`.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum JournalCommand {
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
        /// Only calls of this ask, such as `simulate/test_reply`.
        #[arg(long)]
        ask: Option<String>,
        /// Only calls of this model, named as in the pipeline file.
        #[arg(long)]
        model: Option<String>,
    },
}
