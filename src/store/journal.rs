//! The journal on disk: every answered call in one append-only file of JSON Lines.
//!
//! Each line carries a checksum over the value behind it. Texts and schemas stand in lines of their own, once each, and records
//! name them by hash; so a conversation whose prompts grow turn by turn stays small. A record is acknowledged when it is on the
//! disk; writes that wait at the same time share one sync. A line that a crash cut short is removed when the file is opened; a
//! line damaged otherwise is passed over and counted, and its call is made anew.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use self::pages::Pages;
use self::scan::{Scan, begin, scan};
use self::writer::{Job, Writer};
use super::{StoreError, atomic};
use crate::llm::{Journal, JournalError, Record};

mod line;
mod pages;
mod scan;
mod writer;

pub use pages::JournalView;

/// The journal on disk.
#[derive(Debug)]
pub struct FileJournal {
    pages: Pages,
    sender: Option<Sender<Job>>,
    writer: Option<JoinHandle<()>>,
    damaged: u64,
    cut: u64,
}

impl FileJournal {
    /// Opens a journal, or begins one; nobody else may have it open. Every line is checked, at about a second for a million records.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let open = || OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = open().map_err(StoreError::io("open", path))?;
        if !atomic::lock(&file, path)? {
            return Err(StoreError::InUse { path: path.to_owned(), by: "another process".to_owned() });
        }
        begin(&mut file, path)?;
        let Scan { index, end, length, damaged } = scan(&file, path)?;
        if end < length {
            file.set_len(end).and_then(|()| file.sync_all()).map_err(StoreError::io("cut", path))?;
        }
        let index = Arc::new(RwLock::new(index));
        let appended = file.try_clone().map_err(StoreError::io("open", path))?;
        let (sender, receiver) = channel();
        let writer = Writer { file: appended, end, index: Arc::clone(&index), failed: None };
        let writer = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(StoreError::io("start a thread for", path))?;
        let (sender, writer) = (Some(sender), Some(writer));
        Ok(Self { pages: Pages { path: path.to_owned(), file, index }, sender, writer, damaged, cut: length - end })
    }

    /// Returns how many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.index().records.len()
    }

    /// Says whether it holds no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many damaged lines were passed over when it was opened.
    #[must_use]
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Returns how many bytes of an unfinished line were cut off when it was opened.
    #[must_use]
    pub const fn cut(&self) -> u64 {
        self.cut
    }

    fn error(&self, tried: &str, source: io::Error) -> JournalError {
        self.pages.error(tried, source)
    }
}

impl Journal for FileJournal {
    fn find(&self, key: &str) -> Result<Option<Record>, JournalError> {
        self.pages.find(key)
    }

    fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        async move {
            let (done, outcome) = oneshot::channel();
            let job = Job::new(record, done);
            let sender = self.sender.as_ref().expect("there is a sender until the journal is dropped");
            let gone = || self.error("write", io::Error::other("its thread has ended"));
            sender.send(job).map_err(|_| gone())?;
            let outcome = outcome.await.map_err(|_| gone())?;
            outcome.map_err(|(kind, cause)| self.error("write", io::Error::new(kind, cause)))
        }
        .boxed()
    }
}

impl Drop for FileJournal {
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has told its callers so.
            let _ = writer.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::path::PathBuf;

    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::llm::{Reply, Request, Usage};
    use crate::schema::Message;

    const LONG: &str = "He said:\n\t“I am the one who has lived here, and nobody else has.”\n\u{2028}\0 她说：“你好。”";

    fn record(key: &str, texts: &[&str]) -> Record {
        let mut messages = vec![Message::system("short \"薛嵩\"\n")];
        messages.extend(texts.iter().map(|text| Message::user(*text)));
        Record {
            key: key.to_owned(),
            parent: Some("p".to_owned()),
            ask: "simulate/reply".to_owned(),
            model: "writer".to_owned(),
            draw: "lane/1/2".to_owned(),
            request: Request {
                model: "m".to_owned(),
                messages,
                sampling: json!({"temperature": 0.7}),
                schema: json!({"type": "object", "properties": {"z": {"enum": ["名", "a"]}, "a": {}}}),
                extra_body: json!(null),
            },
            reply: Reply {
                text: format!("reply {key}\r\n“好”"), finish: Some("stop".to_owned()), ..Reply::default()
            },
            usage: Usage { prompt: 10, cached: 5, completion: 3, reasoning: 2, estimated: true },
            requests: 2,
            latency_ms: 17,
        }
    }

    fn folder() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        (folder, path)
    }

    /// Writes records, one after the other, and returns the file's bytes.
    fn written(path: &Path, records: &[Record]) -> Vec<u8> {
        let journal = FileJournal::open(path).unwrap();
        for record in records {
            write(&journal, record).unwrap();
        }
        drop(journal);
        fs::read(path).unwrap()
    }

    fn write(journal: &FileJournal, record: &Record) -> Result<(), JournalError> {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(journal.write(record.clone()))
    }

    fn lines(bytes: &[u8]) -> Vec<&[u8]> {
        bytes.split_inclusive(|byte| *byte == b'\n').collect()
    }

    #[test]
    fn records_are_found_as_they_were_now_and_later() {
        let (_folder, path) = folder();
        let records = [record("a", &[LONG]), record("b", &[LONG, "再见"])];
        let bytes = written(&path, &records);
        // Header, text, schema, two records: what both say stands there once.
        assert_eq!(lines(&bytes).len(), 5);
        let journal = FileJournal::open(&path).unwrap();
        for record in &records {
            assert_eq!(journal.find(&record.key).unwrap().as_ref(), Some(record));
        }
        assert_eq!(journal.find("c").unwrap(), None);
        assert_eq!((journal.len(), journal.damaged(), journal.cut()), (2, 0, 0));
        write(&journal, &record("c", &[LONG])).unwrap();
        assert_eq!(journal.find("c").unwrap(), Some(record("c", &[LONG])));
        drop(journal);
        assert_eq!(lines(&fs::read(&path).unwrap()).len(), 6, "a reopened journal knows its texts");
    }

    #[test]
    fn the_last_record_of_a_key_counts() {
        let (_folder, path) = folder();
        let second = Record { latency_ms: 18, ..record("a", &[LONG]) };
        written(&path, &[record("a", &[LONG]), second.clone()]);
        assert_eq!(FileJournal::open(&path).unwrap().find("a").unwrap(), Some(second));
    }

    #[test]
    fn a_torn_tail_is_cut_wherever_it_tore() {
        let (_folder, path) = folder();
        let bytes = written(&path, &[record("a", &[LONG]), record("b", &[LONG, &LONG.repeat(2)])]);
        let whole: usize = lines(&bytes)[..4].iter().map(|line| line.len()).sum();
        for end in whole..bytes.len() {
            fs::write(&path, &bytes[..end]).unwrap();
            let journal = FileJournal::open(&path).unwrap();
            assert_eq!(journal.damaged(), 0);
            assert_eq!(journal.find("a").unwrap(), Some(record("a", &[LONG])));
            assert_eq!(journal.find("b").unwrap(), None, "cut at {end}");
            // Each write waits for the disk, so that only some cuts are written over.
            if end % 61 > 0 {
                continue;
            }
            write(&journal, &record("b", &["又来"])).unwrap();
            drop(journal);
            let journal = FileJournal::open(&path).unwrap();
            assert_eq!((journal.len(), journal.damaged(), journal.cut()), (2, 0, 0), "cut at {end}");
            assert_eq!(journal.find("b").unwrap(), Some(record("b", &["又来"])));
        }
    }

    #[test]
    fn a_damaged_line_costs_the_records_that_need_it() {
        let (_folder, path) = folder();
        let records = [record("a", &[LONG]), record("b", &["short"]), record("c", &[LONG])];
        let bytes = written(&path, &records);
        let kinds: Vec<String> =
            lines(&bytes).iter().map(|line| String::from_utf8_lossy(line).chars().skip(29).take(6).collect()).collect();
        assert_eq!(kinds[1..], ["text\":", "text\":", "record", "record", "record"]);
        for (line, lost) in [(1, &["a", "c"][..]), (2, &["a", "b", "c"]), (3, &["a"]), (4, &["b"])] {
            let mut damaged = bytes.clone();
            let at: usize = lines(&bytes)[..line].iter().map(|line| line.len()).sum();
            damaged[at + 60] ^= 1;
            fs::write(&path, &damaged).unwrap();
            let journal = FileJournal::open(&path).unwrap();
            assert_eq!((journal.damaged(), journal.cut()), (1, 0), "line {line}");
            let missing: Vec<&Record> =
                records.iter().filter(|record| journal.find(&record.key).unwrap().is_none()).collect();
            assert_eq!(missing.iter().map(|record| record.key.as_str()).collect::<Vec<_>>(), lost, "line {line}");
            for record in missing {
                write(&journal, record).unwrap();
            }
            drop(journal);
            let journal = FileJournal::open(&path).unwrap();
            for record in &records {
                assert_eq!(journal.find(&record.key).unwrap().as_ref(), Some(record), "line {line}");
            }
        }
    }

    #[test]
    fn a_view_reads_what_another_process_writes() {
        let (_folder, path) = folder();
        let journal = FileJournal::open(&path).unwrap();
        for (key, draw) in [("b", "lane/1/3"), ("a", "lane/1/2")] {
            write(&journal, &Record { draw: draw.to_owned(), ..record(key, &[LONG]) }).unwrap();
        }
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [whole.as_slice(), b"{\"check\":\"torn"].concat()).unwrap();
        let view = JournalView::open(&path).unwrap();
        assert_eq!((view.len(), view.damaged()), (2, 0));
        let records: Vec<Record> = view.records().map(|record| record.unwrap()).collect();
        assert_eq!(records.iter().map(|record| record.key.as_str()).collect::<Vec<_>>(), ["b", "a"], "in their order");
        assert_eq!(records[1].request, record("a", &[LONG]).request);
        assert_eq!(fs::metadata(&path).unwrap().len(), whole.len() as u64 + 14, "nothing is cut off");
        drop(journal);
        // Without a text that its request names, a record cannot be told.
        let at = lines(&whole)[0].len() + 60;
        let mut damaged = whole;
        damaged[at] ^= 1;
        fs::write(&path, damaged).unwrap();
        let view = JournalView::open(&path).unwrap();
        assert_eq!((view.damaged(), view.records().count()), (1, 0));
    }

    #[test]
    fn headers_are_minded() {
        let (_folder, path) = folder();
        for (text, error) in [
            ("{\"dramaturg_journal\":2}\n", "its format has version 2, this program knows up to 1"),
            ("{\"name\":1}\n", "it is no journal"),
            ("what a book says, at length and at leisure", "it is no journal"),
            ("{\"dramaturg_journal\":1}", ""),
            ("{\"dramat", ""),
            ("", ""),
        ] {
            fs::write(&path, text).unwrap();
            match FileJournal::open(&path) {
                Ok(journal) => assert!(error.is_empty() && journal.is_empty(), "{text}"),
                Err(found) => assert!(!error.is_empty() && found.to_string().ends_with(error), "{text}: {found}"),
            }
            assert!(error.is_empty() || fs::read_to_string(&path).unwrap() == text, "a refused file stays as it is");
        }
    }

    #[test]
    fn a_second_opener_is_refused() {
        let (_folder, path) = folder();
        let journal = FileJournal::open(&path).unwrap();
        let error = FileJournal::open(&path).expect_err("it is open");
        assert!(matches!(&error, StoreError::InUse { .. }), "{error}");
        drop(journal);
        FileJournal::open(&path).expect("it is free again");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn many_writers_share_one_file() {
        let (_folder, path) = folder();
        let journal = Arc::new(FileJournal::open(&path).unwrap());
        let mut writers = tokio::task::JoinSet::new();
        for writer in 0..64 {
            let journal = Arc::clone(&journal);
            writers.spawn(async move {
                for n in 0..8 {
                    let own = format!("{LONG} {writer}");
                    let record = record(&format!("{writer}/{n}"), &[LONG, &own]);
                    journal.write(record.clone()).await.unwrap();
                    assert_eq!(journal.find(&record.key).unwrap(), Some(record));
                }
            });
        }
        while let Some(ended) = writers.join_next().await {
            ended.unwrap();
        }
        drop(journal);
        let journal = FileJournal::open(&path).unwrap();
        assert_eq!((journal.len(), journal.damaged()), (64 * 8, 0));
        assert_eq!(lines(&fs::read(&path).unwrap()).len(), 1 + 64 * 8 + 64 + 2);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn after_a_failed_write_all_writes_fail() {
        let (_folder, path) = folder();
        let mut journal = FileJournal::open(&path).unwrap();
        // A device that is always full stands in for the file.
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let (sender, receiver) = channel();
        let writer = Writer { file, end: 0, index: Arc::clone(&journal.pages.index), failed: None };
        journal.sender = Some(sender);
        journal.writer = Some(std::thread::spawn(move || writer.run(&receiver)));
        for key in ["a", "b"] {
            let error = write(&journal, &record(key, &[])).expect_err("the device is full");
            assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
            assert!(error.to_string().starts_with("write the journal `"), "{error}");
            assert_eq!(journal.find(key).unwrap(), None);
        }
    }
}
