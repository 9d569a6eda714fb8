//! Arguments of `pool`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::schema::Language;

pub(super) const POOL_EXAMPLES: &str = "\
Examples:
  dramaturg pool list                                 list the scenes of ./scene_pool
  dramaturg pool list mine.toml --language zh         list the pool of a pipeline file
  dramaturg pool show novel@1204                      show one scene
  dramaturg pool show novel@1204 --json >> scene_pool/edits/mine.jsonl
  dramaturg pool check                                list problems as FILE:LINE:COLUMN
  dramaturg pool add ferry.toml                       add a custom scene to scene_pool/custom/
  dramaturg pool stats --json | jq .books

If scenes share an id, a custom scene takes precedence over an edit, and an edit over an extracted scene.
`extract` fills a pool and never overwrites a file that was changed by hand. See docs/scene-pool.md.
";

/// Subcommands of `pool`.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum PoolCommand {
    /// List the scenes that are in use, one per line.
    List {
        #[command(flatten)]
        pool: PoolArguments,
        #[command(flatten)]
        filter: SceneFilter,
        /// List only scenes of this kind.
        #[arg(long)]
        kind: Option<KindFilter>,
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
}

/// The pool to use.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct PoolArguments {
    /// Pool folder, or a pipeline file that names it.
    #[arg(value_name = "POOL|PIPELINE", default_value = "scene_pool")]
    pub(in crate::cli) pool: PathBuf,
    /// Print only JSON on stdout; `list` prints one object per line.
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// Filter on the scenes of a pool.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct SceneFilter {
    /// Use only scenes in this language.
    #[arg(long, value_parser = language)]
    pub(in crate::cli) language: Option<Language>,
    /// Use only scenes of this book (repeatable).
    #[arg(long = "book", value_name = "SLUG")]
    pub(in crate::cli) books: Vec<String>,
}

/// Sort keys of `pool list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Sort {
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
pub(in crate::cli) enum KindFilter {
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
