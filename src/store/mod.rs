//! The run folder, the journal and the scene pool: the only room that writes files.
//!
//! Whole files are replaced by a temporary file, a sync and a rename; the journal is appended to and synced before an answer
//! is used. After a crash at any point, opening again finds what was acknowledged. This room decides nothing about the work.

mod atomic;
mod characters;
mod dataset;
mod error;
mod journal;
mod parquet;
mod pool;
mod run;
mod spool;

pub use atomic::write;
pub use characters::{characters, characters_path, is_run, write_characters};
pub use dataset::{NewFolder, StoredTable, tables};
pub use error::StoreError;
pub use journal::{FileJournal, JournalOptions, JournalView};
pub use parquet::TableFile;
pub use pool::{Added, OwnScene, PieceFault, Place, Placed, Pool, PoolFile, PoolIndex, SceneKind, Written};
pub use run::{NewDataset, RunFolder};
pub use spool::Spool;
