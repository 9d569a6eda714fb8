//! Run folders, the journal, the scene pool and data set files.
//!
//! The only module that writes files. Whole files are replaced by writing a temporary file, syncing and renaming it.
//! The journal is appended to and synced before an answer is used. After a crash at any point, the next open finds
//! everything that was acknowledged.

mod atomic;
mod characters;
mod digests;
mod error;
mod journal;
mod json;
mod lines;
mod new_dataset;
mod new_folder;
mod parquet;
mod pool;
mod run;
mod spool;
mod tables;

pub use atomic::write;
pub use characters::{characters, characters_path, is_run, write_characters};
pub use digests::{Digests, RowDigest, digests, each_texts};
pub use error::StoreError;
pub use journal::{FileJournal, JournalOptions, JournalView};
pub use json::{rename, write_json, write_text};
pub use lines::{LineFiles, LineLimits};
pub use new_dataset::{NewDataset, hash_of};
pub use new_folder::NewFolder;
pub use parquet::{SHARD_BYTES, TableFile};
pub use pool::{
    AddedScene, BookWrite, CustomScene, LocatedScene, Pool, PoolFile, PoolIndex, SceneKind, ScenePosition,
    SceneReadError,
};
pub use run::{RunFolder, lock};
pub use spool::Spool;
pub use tables::{Dataset, DatasetLocation, RowReader, Table, broken_columns, columns, groups, read_card};
