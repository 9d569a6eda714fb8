//! The journal on disk: every answered call in append-only files of JSON Lines.
//!
//! Each line carries a checksum of its value. Long texts and schemas have lines of their own, written once per file,
//! and records refer to them by hash. A text is split into parts that other texts can share, so a conversation whose
//! prompts grow turn by turn stays small.
//!
//! A record is acknowledged when it is on disk; writes that wait at the same time share one sync. When the open file is
//! full it is closed, the next one is started and the closed one is compressed. A last line that a crash cut short is
//! removed when the journal is opened. Other damaged lines are skipped and counted, and their calls are made again.

mod frames;
mod line;
mod open;
mod record_reader;
mod scan;
mod segment;
mod view;
mod writer;

pub use view::JournalView;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use self::open::{OpenedFiles, open_files};
use self::record_reader::{RecordReader, Source};
use self::scan::UsageByModel;
use self::writer::{Job, Writer, acknowledge, compress};
use super::error::StoreError;
use crate::llm::{Answered, Journal, JournalError, Record, Usage};

/// How a journal stores its records. The options do not affect its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalOptions {
    /// The size in bytes at which a file is full.
    pub segment_bytes: u64,
    /// Whether to sync a record to disk before acknowledging it. Without it, a power failure may lose answers.
    pub sync: bool,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self { segment_bytes: 32 << 20, sync: true }
    }
}

/// The journal on disk.
#[derive(Debug)]
pub struct FileJournal {
    reader: Arc<RecordReader>,
    sender: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    paid: UsageByModel,
    damaged: u64,
    cut: u64,
}

impl FileJournal {
    /// Opens or creates a journal by the path of its open file. Fails if another process has it open. Checks every
    /// line.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, JournalOptions::default())
    }

    /// Opens a journal with the given options.
    pub fn open_with(path: &Path, options: JournalOptions) -> Result<Self, StoreError> {
        let OpenedFiles { file, segment, end, texts, uncompressed, mut sources, index, paid, damaged, cut } =
            open_files(path)?;
        let appended = file.try_clone().map_err(StoreError::io("open", path))?;
        sources.insert(segment, Source::Uncompressed(file));
        let reader = Arc::new(RecordReader::new(path, index, sources));
        let (full, numbers) = channel();
        for number in uncompressed {
            full.send(number).expect("the receiver is alive in this function");
        }
        let (sender, jobs) = channel();
        let (file, failed) = (Arc::new(appended), Arc::<OnceLock<_>>::default());
        let (written, synced) = channel();
        let acknowledged = (Arc::clone(&reader), Arc::clone(&failed), options.sync);
        let compressed = Arc::clone(&reader);
        let writer = Writer { reader: Arc::clone(&reader), file, segment, end, texts, options, failed, written, full };
        let thread = |work: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name("journal".to_owned()).spawn(work);
            thread.map_err(StoreError::io("start a thread for", path))
        };
        // Each thread ends after the one before it, because its channel is closed then.
        let threads = vec![
            thread(Box::new(move || writer.run(&jobs)))?,
            thread(Box::new(move || {
                let (reader, failed, sync) = acknowledged;
                acknowledge(&reader, &synced, &failed, sync);
            }))?,
            thread(Box::new(move || compress(&compressed, &numbers)))?,
        ];
        Ok(Self { reader, sender: Some(sender), threads, paid, damaged, cut })
    }

    /// Returns the number of records, counting each key once.
    #[must_use]
    pub fn len(&self) -> usize {
        self.reader.index().len()
    }

    /// Returns whether it holds no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of damaged places that were skipped when the journal was opened: lines, and compressed
    /// frames.
    #[must_use]
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Returns the number of bytes of an unfinished last line that were removed when the journal was opened.
    #[must_use]
    pub const fn cut(&self) -> u64 {
        self.cut
    }
}

impl Journal for FileJournal {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        self.reader.find(key)
    }

    fn paid(&self) -> BTreeMap<String, Usage> {
        self.paid.clone()
    }

    fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        async move {
            let (done, outcome) = oneshot::channel();
            let job = Job::new(record, done);
            let sender = self.sender.as_ref().expect("the sender is only removed on drop");
            let gone = || self.reader.error("write", io::Error::other("the writer thread has ended"));
            sender.send(job).map_err(|_| gone())?;
            let outcome = outcome.await.map_err(|_| gone())?;
            outcome.map_err(|(kind, cause)| self.reader.error("write", io::Error::new(kind, cause)))
        }
        .boxed()
    }
}

impl Drop for FileJournal {
    fn drop(&mut self) {
        drop(self.sender.take());
        for thread in self.threads.drain(..) {
            // If the writer panicked, its callers have received an error.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs::{self, File};
    use std::path::PathBuf;

    use serde_json::json;
    use tempfile::TempDir;

    use super::segment::SegmentForm;
    use super::*;
    use crate::llm::{Reply, Request};
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

    /// Writes records one after the other and returns the bytes of the file.
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

    /// Returns the records of a journal, in order.
    fn kept(path: &Path) -> Vec<Record> {
        JournalView::open(path).unwrap().records().map(|record| record.unwrap()).collect()
    }

    /// Asserts that a journal contains the records unchanged.
    fn expect(journal: &FileJournal, path: &Path, records: &[Record]) {
        let kept = kept(path);
        for record in records {
            assert_eq!(journal.find(&record.key).unwrap(), Some(Answered::from(record)));
            assert_eq!(kept.iter().find(|kept| kept.key == record.key), Some(record));
        }
    }

    fn lines(bytes: &[u8]) -> Vec<&[u8]> {
        bytes.split_inclusive(|byte| *byte == b'\n').collect()
    }

    #[test]
    fn records_are_found_before_and_after_reopening() {
        let (_folder, path) = folder();
        let records = [record("a", &[LONG]), record("b", &[LONG, "再见"])];
        let bytes = written(&path, &records);
        // Header, text, schema, two records: the text that both records share is written once.
        assert_eq!(lines(&bytes).len(), 5);
        let journal = FileJournal::open(&path).unwrap();
        expect(&journal, &path, &records);
        assert_eq!(journal.find("c").unwrap(), None);
        assert_eq!((journal.len(), journal.damaged(), journal.cut()), (2, 0, 0));
        write(&journal, &record("c", &[LONG])).unwrap();
        expect(&journal, &path, &[record("c", &[LONG])]);
        drop(journal);
        assert_eq!(lines(&fs::read(&path).unwrap()).len(), 6, "a reopened journal knows the texts it already has");
    }

    #[test]
    fn the_usage_of_earlier_processes_is_known_at_the_start() {
        let (_folder, path) = folder();
        let reply = Reply { text: "}},\"usage\":{\"prompt\":9},\"model\":\"x\"".to_owned(), ..Reply::default() };
        let other = Record { model: "作者“\"".to_owned(), reply, ..record("b", &[LONG]) };
        let options = JournalOptions { segment_bytes: 1, ..JournalOptions::default() };
        let journal = FileJournal::open_with(&path, options).unwrap();
        // A call that was made twice is paid for twice.
        for record in [record("a", &[LONG]), other.clone(), record("a", &[LONG])] {
            write(&journal, &record).unwrap();
        }
        assert!(journal.paid().is_empty(), "the journal was empty when it was opened");
        drop(journal);
        written(&path, &[record("c", &[])]);
        let usage = Usage { prompt: 30, cached: 15, completion: 9, reasoning: 6, estimated: true };
        let paid = BTreeMap::from([("writer".to_owned(), usage), (other.model, other.usage)]);
        assert_eq!(FileJournal::open(&path).unwrap().paid(), paid);
        assert_eq!(JournalView::open(&path).unwrap().paid(), &paid);
    }

    #[test]
    fn the_last_record_of_a_key_is_used() {
        let (_folder, path) = folder();
        let second = Record { latency_ms: 18, ..record("a", &[LONG]) };
        written(&path, &[record("a", &[LONG]), second.clone()]);
        expect(&FileJournal::open(&path).unwrap(), &path, &[second]);
    }

    #[test]
    fn an_incomplete_last_line_is_removed() {
        let (_folder, path) = folder();
        let bytes = written(&path, &[record("a", &[LONG]), record("b", &[LONG, &LONG.repeat(2)])]);
        let whole: usize = lines(&bytes)[..4].iter().map(|line| line.len()).sum();
        for end in whole..bytes.len() {
            fs::write(&path, &bytes[..end]).unwrap();
            let journal = FileJournal::open(&path).unwrap();
            assert_eq!(journal.damaged(), 0);
            expect(&journal, &path, &[record("a", &[LONG])]);
            assert_eq!(journal.find("b").unwrap(), None, "cut at {end}");
            // Each write waits for a sync, so only some of the truncated files are appended to.
            if end % 61 > 0 {
                continue;
            }
            write(&journal, &record("b", &["又来"])).unwrap();
            drop(journal);
            let journal = FileJournal::open(&path).unwrap();
            assert_eq!((journal.len(), journal.damaged(), journal.cut()), (2, 0, 0), "cut at {end}");
            expect(&journal, &path, &[record("a", &[LONG]), record("b", &["又来"])]);
        }
    }

    #[test]
    fn a_damaged_line_loses_only_the_records_that_need_it() {
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
            let kept = kept(&path);
            let missing: Vec<&Record> = records.iter().filter(|record| !kept.contains(record)).collect();
            assert_eq!(missing.iter().map(|record| record.key.as_str()).collect::<Vec<_>>(), lost, "line {line}");
            for record in &records {
                let is_lost = line > 2 && lost.contains(&record.key.as_str());
                let found = journal.find(&record.key).unwrap();
                assert_eq!(
                    found,
                    (!is_lost).then(|| Answered::from(record)),
                    "a damaged text does not affect the answer: line {line}"
                );
            }
            for record in missing {
                write(&journal, record).unwrap();
            }
            expect(&journal, &path, &records);
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
        assert_eq!(records.iter().map(|record| record.key.as_str()).collect::<Vec<_>>(), ["b", "a"], "in write order");
        assert_eq!(records[1].request, record("a", &[LONG]).request);
        assert_eq!(fs::metadata(&path).unwrap().len(), whole.len() as u64 + 14, "a view does not truncate the file");
        drop(journal);
        // A record cannot be restored without a text that its request refers to.
        let at = lines(&whole)[0].len() + 60;
        let mut damaged = whole;
        damaged[at] ^= 1;
        fs::write(&path, damaged).unwrap();
        let view = JournalView::open(&path).unwrap();
        assert_eq!((view.damaged(), view.records().count()), (1, 0));
    }

    #[test]
    fn headers_are_checked() {
        let (_folder, path) = folder();
        for (text, error) in [
            (
                "{\"dramaturg_journal\":3}\n",
                "format version 3 is newer than the latest supported version 2; update dramaturg",
            ),
            ("{\"name\":1}\n", "not a dramaturg journal"),
            ("what a book says, at length and at leisure", "not a dramaturg journal"),
            ("{\"dramaturg_journal\":1}\n", ""),
            ("{\"dramaturg_journal\":2,\"segment\":1}", ""),
            ("{\"dramat", ""),
            ("", ""),
        ] {
            fs::write(&path, text).unwrap();
            match FileJournal::open(&path) {
                Ok(journal) => assert!(error.is_empty() && journal.is_empty(), "{text}"),
                Err(found) => assert!(!error.is_empty() && found.to_string().ends_with(error), "{text}: {found}"),
            }
            assert!(error.is_empty() || fs::read_to_string(&path).unwrap() == text, "a rejected file is not modified");
        }
    }

    #[test]
    fn texts_share_their_parts() {
        let (_folder, path) = folder();
        let say = |n: usize| format!("第{n}句：{}\n", "你说的话我都记着。She keeps it all in mind.".repeat(n % 4 + 1));
        let history = |turns: usize| -> String { (0..turns).map(say).collect() };
        let ends = ["Who speaks next?", "谁接着说？\n", "", "\n"];
        let records: Vec<Record> = (0..40)
            .map(|n| record(&n.to_string(), &[&format!("{}{}", history(n), ends[n % 4]), "a\n", &"b".repeat(5000)]))
            .collect();
        let bytes = written(&path, &records);
        assert_eq!(kept(&path), records);
        let whole: usize = records.iter().map(|record| record.request.messages[1].content.len()).sum();
        assert!(bytes.len() - 5000 < whole / 2 + 40 * 1200, "{} bytes for {whole} in prompts", bytes.len());
    }

    #[test]
    fn a_journal_is_opened_by_one_process_at_a_time() {
        let (_folder, path) = folder();
        let journal = FileJournal::open(&path).unwrap();
        let error = FileJournal::open(&path).expect_err("the journal is locked");
        assert!(matches!(&error, StoreError::InUse { .. }), "{error}");
        drop(journal);
        FileJournal::open(&path).expect("the lock was released");
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
                    assert_eq!(journal.find(&record.key).unwrap(), Some(Answered::from(&record)));
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
        // `/dev/full` fails every write.
        let file = Arc::new(File::options().append(true).open("/dev/full").unwrap());
        let (sender, jobs) = channel();
        let ((written, _), (full, _), failed) = (channel(), channel(), Arc::default());
        let (reader, options) = (Arc::clone(&journal.reader), JournalOptions::default());
        let writer = Writer { reader, file, segment: 1, end: 0, texts: HashSet::new(), options, failed, written, full };
        journal.sender = Some(sender);
        journal.threads.push(std::thread::spawn(move || writer.run(&jobs)));
        for key in ["a", "b"] {
            let error = write(&journal, &record(key, &[])).expect_err("the device is full");
            assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
            assert!(error.to_string().starts_with("failed to write the journal `"), "{error}");
            assert_eq!(journal.find(key).unwrap(), None);
        }
    }

    /// Small segments of two or three records each.
    const SMALL: JournalOptions = JournalOptions { segment_bytes: 3000, sync: false };

    fn small(path: &Path) -> FileJournal {
        FileJournal::open_with(path, SMALL).unwrap()
    }

    /// Returns twenty records. Each has a text that all of them share, one of its own, and one of the record before.
    fn twenty() -> Vec<Record> {
        let own = |n: usize| format!("{n} {}", LONG.repeat(3));
        (0..20_usize).map(|n| record(&format!("key {n}"), &[LONG, &own(n), &own(n.max(1) - 1)])).collect()
    }

    fn names(path: &Path) -> Vec<String> {
        let entries = fs::read_dir(path.parent().unwrap()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn is(name: &str, extension: &str) -> bool {
        Path::new(name).extension().is_some_and(|its| its == extension)
    }

    fn expect_all(path: &Path, records: &[Record]) {
        let journal = small(path);
        assert_eq!((journal.len(), journal.damaged(), journal.cut()), (records.len(), 0, 0), "{:?}", names(path));
        expect(&journal, path, records);
        drop(journal);
        assert_eq!(kept(path), records, "in write order");
        let closed = names(path).into_iter().filter(|name| is(name, "zst")).count();
        assert_eq!(names(path).len(), closed + 1, "{:?}", names(path));
        let view = JournalView::open(path).unwrap();
        assert_eq!(view.segments(), closed + 1);
        let on_disk: u64 = names(path).iter().map(|name| fs::metadata(path.with_file_name(name)).unwrap().len()).sum();
        assert_eq!(view.bytes(), on_disk);
    }

    #[test]
    fn a_full_segment_is_closed_and_compressed() {
        let (_folder, path) = folder();
        let records = twenty();
        let journal = small(&path);
        for record in &records[..15] {
            write(&journal, record).unwrap();
            assert_eq!(journal.find(&record.key).unwrap(), Some(Answered::from(record)));
        }
        drop(journal);
        assert!(names(&path).len() > 4, "{:?}", names(&path));
        expect_all(&path, &records[..15]);
        let journal = small(&path);
        for record in &records {
            write(&journal, record).unwrap();
        }
        drop(journal);
        // A record that is written again is read where it was written last.
        assert_eq!(kept(&path), records);
        for name in names(&path) {
            let bytes = fs::read(path.with_file_name(&name)).unwrap();
            let bytes = if is(&name, "zst") { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
            assert!(bytes.starts_with(b"{\"dramaturg_journal\":2,\"segment\":"), "{name}");
            let found: Vec<serde_json::Value> =
                lines(&bytes)[1..].iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
            let texts: Vec<&str> = found.iter().filter_map(|line| line["text"]["hash"].as_str()).collect();
            for line in &found {
                let parts = line["text"]["parts"].as_array().into_iter().flatten();
                let messages = line["record"]["request"]["messages"].as_array().into_iter().flatten();
                for hash in parts.chain(messages.map(|message| &message["text"])).filter_map(|hash| hash.as_str()) {
                    assert_eq!(
                        texts.iter().filter(|text| **text == hash).count(),
                        1,
                        "{name}: once in the same segment"
                    );
                }
            }
        }
    }

    #[test]
    fn a_crash_while_closing_a_segment_loses_nothing() {
        let (_folder, path) = folder();
        let records = twenty();
        let options = JournalOptions { segment_bytes: u64::MAX, ..SMALL };
        let begin = || {
            for name in names(&path) {
                fs::remove_file(path.with_file_name(name)).unwrap();
            }
            let journal = FileJournal::open_with(&path, options).unwrap();
            for record in &records[..10] {
                write(&journal, record).unwrap();
            }
        };
        let closed = |form| segment::closed_path(&path, 1, form);
        let steps: [(&str, &dyn Fn()); 6] = [
            ("the next one is begun", &|| fs::write(segment::temporary_path(&path), &segment::header(2)[..9]).unwrap()),
            ("it has its number", &|| fs::rename(&path, closed(SegmentForm::Uncompressed)).unwrap()),
            ("the next one is there", &|| drop(segment::rotate(&path, 1).unwrap())),
            ("half of it is compressed", &|| {
                segment::rotate(&path, 1).unwrap();
                fs::write(segment::temporary_path(&closed(SegmentForm::Compressed)), "half").unwrap();
            }),
            ("it is compressed", &|| {
                segment::rotate(&path, 1).unwrap();
                frames::compress_file(&closed(SegmentForm::Uncompressed), &closed(SegmentForm::Compressed)).unwrap();
            }),
            ("the uncompressed one is gone", &|| {
                segment::rotate(&path, 1).unwrap();
                frames::compress_file(&closed(SegmentForm::Uncompressed), &closed(SegmentForm::Compressed)).unwrap();
                fs::remove_file(closed(SegmentForm::Uncompressed)).unwrap();
            }),
        ];
        for (step, crash) in steps {
            begin();
            crash();
            if path.exists() || closed(SegmentForm::Uncompressed).exists() {
                let view = JournalView::open(&path).unwrap();
                assert_eq!((view.len(), view.damaged()), (10, 0), "{step}");
            }
            let journal = small(&path);
            assert_eq!((journal.len(), journal.damaged(), journal.cut()), (10, 0, 0), "{step}");
            for record in &records[10..] {
                write(&journal, record).unwrap();
            }
            drop(journal);
            let left: Vec<String> = names(&path).into_iter().filter(|name| is(name, "new")).collect();
            assert!(left.is_empty(), "{step}: {left:?}");
            expect_all(&path, &records);
        }
    }

    #[test]
    fn damage_in_a_compressed_segment_loses_only_the_damaged_records() {
        let (_folder, path) = folder();
        let records = twenty();
        let journal = small(&path);
        for record in &records {
            write(&journal, record).unwrap();
        }
        drop(journal);
        let damaged = segment::closed_path(&path, 3, SegmentForm::Compressed);
        let mut bytes = fs::read(&damaged).unwrap();
        bytes[100] ^= 4;
        fs::write(&damaged, bytes).unwrap();
        assert_eq!(JournalView::open(&path).unwrap().damaged(), 1);
        let journal = small(&path);
        assert_eq!(journal.damaged(), 1);
        let lost: Vec<&Record> = records.iter().filter(|record| journal.find(&record.key).unwrap().is_none()).collect();
        assert!((1..5).contains(&lost.len()), "{}", lost.len());
        assert_eq!(kept(&path).len(), 20 - lost.len(), "no other segment refers to the damaged one");
        for record in lost {
            write(&journal, record).unwrap();
        }
        expect(&journal, &path, &records);
    }

    #[test]
    fn a_missing_segment_is_an_error() {
        let (_folder, path) = folder();
        let journal = small(&path);
        for record in twenty() {
            write(&journal, &record).unwrap();
        }
        drop(journal);
        let second = segment::closed_path(&path, 2, SegmentForm::Compressed);
        fs::remove_file(&second).unwrap();
        for error in [FileJournal::open(&path).expect_err("no"), JournalView::open(&path).expect_err("no")] {
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("failed to find `{}`: later journal segments exist", second.display()))
            );
        }
        fs::write(&second, "").unwrap();
        assert!(FileJournal::open(&path).unwrap().len() < 20, "an empty file accepts the loss of its records");
        fs::write(segment::closed_path(&path, 2, SegmentForm::Uncompressed), "{\"dramaturg_journal\":9}\n").unwrap();
        let error = FileJournal::open(&path).expect_err("the format is newer").to_string();
        assert!(
            error.ends_with("format version 9 is newer than the latest supported version 2; update dramaturg"),
            "{error}"
        );
    }

    #[test]
    fn a_single_file_journal_continues_in_segments() {
        let (_folder, path) = folder();
        let records = twenty();
        let bytes = written(&path, &records[..5]);
        let old = String::from_utf8(bytes).unwrap().replacen("2,\"segment\":1}", "1}", 1);
        fs::write(&path, &old).unwrap();
        let journal = small(&path);
        for record in &records[5..] {
            write(&journal, record).unwrap();
        }
        drop(journal);
        expect_all(&path, &records);
    }

    #[test]
    fn foreign_lines_are_kept_and_counted() {
        let (_folder, path) = folder();
        let records = twenty();
        written(&path, &records[..1]);
        for line in ["what somebody noted\n", "{\"check\":\"0123456789abcdef\",\"record\":{}}\n", "\0\u{ff}\n"] {
            let mut bytes = fs::read(&path).unwrap();
            bytes.extend_from_slice(line.as_bytes());
            fs::write(&path, bytes).unwrap();
        }
        let whole = fs::read(&path).unwrap();
        let journal = FileJournal::open(&path).unwrap();
        assert_eq!((journal.len(), journal.damaged(), journal.cut()), (1, 3, 0));
        write(&journal, &records[1]).unwrap();
        drop(journal);
        assert!(fs::read(&path).unwrap().starts_with(&whole), "lines of other programs are not removed");
        let journal = FileJournal::open(&path).unwrap();
        assert_eq!((journal.len(), journal.damaged(), journal.cut()), (2, 3, 0));
    }

    #[test]
    fn a_view_can_be_opened_while_segments_are_closed() {
        let (_folder, path) = folder();
        let journal = small(&path);
        write(&journal, &record("first", &[LONG])).unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (n, record) in twenty().iter().cycle().take(200).enumerate() {
                    write(&journal, &Record { key: format!("{n}"), ..record.clone() }).unwrap();
                }
                done.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            let mut most = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let view = JournalView::open(&path).unwrap();
                assert!(view.len() >= most && view.damaged() == 0, "{} after {most}", view.len());
                most = view.len();
                let last = view.records().last().expect("there is one").unwrap();
                assert_eq!(last.reply.text.get(..5), Some("reply"));
            }
        });
        assert_eq!(JournalView::open(&path).unwrap().len(), 201);
    }
}
