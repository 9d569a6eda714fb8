//! An in-memory journal for tests.

use std::collections::BTreeMap;
use std::sync::Mutex;

use futures::future::BoxFuture;

use super::record::{Answered, Journal, JournalError, Record};

/// Keeps records by key.
#[derive(Default)]
pub(crate) struct Memory(pub(crate) Mutex<BTreeMap<String, Record>>);

impl Journal for Memory {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        Ok(self.0.lock().expect("no test panics while holding the lock").get(key).map(Answered::from))
    }

    fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        self.0.lock().expect("no test panics while holding the lock").insert(record.key.clone(), record);
        Box::pin(async { Ok(()) })
    }
}
