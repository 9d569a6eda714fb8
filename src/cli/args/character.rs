//! Arguments of `character`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const EXPORT_EXAMPLES: &str = "\
Examples:
  dramaturg character export                          print the main characters of every book of ./scene_pool
  dramaturg character export 薛嵩 'Keziah Marl' --out cards
  dramaturg character export --book my-novel --pool novels/pool
  dramaturg character export --pool outputs/mine --out cards
                                                      all test characters of a run
  dramaturg character export mara.png | jq .data.name convert any card to V3
";

/// Subcommands of `character`.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CharacterCommand {
    /// Write characters as Tavern cards (V3, JSON).
    ///
    /// Sources are the scenes of a pool, the test characters of a run, or character files: our own, Tavern cards of any
    /// version in JSON, PNG or `.charx`, and files of `CoSER` and `PingPong`. A card keeps every key it has; one
    /// written here loads as the character it was made from.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(CharacterExportArguments),
}

/// Arguments of `character export`.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct CharacterExportArguments {
    /// Names of characters in the pool or run, or paths of character files. Default: the two main characters of each
    /// book of a pool, or all test characters of a run.
    #[arg(value_name = "CHARACTER")]
    pub(in crate::cli) characters: Vec<String>,
    /// Write all characters of the pool that say and reveal enough to be played.
    #[arg(long, conflicts_with = "characters")]
    pub(in crate::cli) all: bool,
    /// Folder of the pool or run.
    #[arg(long, value_name = "POOL|RUN", default_value = "scene_pool")]
    pub(in crate::cli) pool: PathBuf,
    /// Use only this book (repeatable).
    #[arg(long = "book", value_name = "SLUG")]
    pub(in crate::cli) books: Vec<String>,
    /// Write each card to a file in this folder, named after its character. Default: stdout, one card per line.
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Overwrite files with different content.
    #[arg(long, requires = "out")]
    pub(in crate::cli) force: bool,
}
