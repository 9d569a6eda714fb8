//! Extraction of a book by a scripted model: the offline engine answers, and a rule rewrites each reply in the journal.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dramaturg::attribution;
use dramaturg::llm::{Answered, Budget, Journal, JournalError, Model, OfflineOptions, Record, Session};
use dramaturg::prompt::Prompts;
use dramaturg::schema::{Chunk, Language, Reject, Scene};
use dramaturg::stages::extract::{self, BookIndex, FoundLine, FoundScene};
use dramaturg::stages::{chunk, prompts};
use futures::future::BoxFuture;
use serde_json::Value;

use super::{Lines, conversation};

/// Returns what the scripted model replies instead of the offline engine: (ask, draw, offline reply).
pub(crate) type Rule = dyn Fn(&str, &str, Value) -> Value + Send + Sync;

/// A journal that stores each reply as rewritten by a rule. The call itself still returns the offline reply, so the same calls
/// are made again until no new one comes.
pub(crate) struct ScriptedJournal {
    rule: Box<Rule>,
    records: Mutex<BTreeMap<String, Record>>,
}

impl Journal for ScriptedJournal {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        Ok(self.records.lock().expect("not poisoned").get(key).map(Answered::from))
    }

    fn write(&self, mut record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        let reply = serde_json::from_str(&record.reply.text).unwrap_or(Value::Null);
        record.reply.text = (self.rule)(&record.ask, &record.draw, reply).to_string();
        self.records.lock().expect("not poisoned").insert(record.key.clone(), record);
        Box::pin(async { Ok(()) })
    }
}

impl ScriptedJournal {
    pub(crate) fn new(rule: impl Fn(&str, &str, Value) -> Value + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { rule: Box::new(rule), records: Mutex::default() })
    }

    /// Returns the model that answers from this journal.
    pub(crate) fn model(self: &Arc<Self>) -> Model {
        let templates = Prompts::new(prompts(), &BTreeMap::new()).expect("the templates parse");
        let journal: Arc<dyn Journal> = Arc::clone(self) as _;
        let session = Arc::new(Session::new(7, templates, journal, Budget::default(), false));
        Model::offline("rules", OfflineOptions::default(), session)
    }

    /// Returns the number of calls so far.
    pub(crate) fn len(&self) -> usize {
        self.records.lock().expect("not poisoned").len()
    }

    /// Returns the records of all calls, by key.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.records.lock().expect("not poisoned").values().cloned().collect()
    }
}

/// A book with its chunks and index.
pub(crate) struct IndexedBook {
    pub(crate) language: Language,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) index: BookIndex,
    pub(crate) text: String,
}

impl IndexedBook {
    /// Reads a book, and cuts it into chunks of the default size or of at most `max_tokens`.
    pub(crate) fn read(name: &str, bytes: &[u8], max_tokens: Option<u32>) -> Self {
        let book = chunk::read(name, bytes, None).expect("reads");
        let mut params = chunk::Params::default();
        if let Some(max_tokens) = max_tokens {
            params.max_tokens = max_tokens;
        }
        let (chunks, _) = chunk::chunk(&book, &chunk::chapters(&book), &params);
        let language = book.language;
        let attribution = attribution::attribute(&book.text, language, book.script);
        let index = BookIndex::new(&book, language, book.text.as_str().into(), attribution);
        Self { language, chunks, index, text: book.text.clone() }
    }

    /// Reads the book of a [`conversation`], in three chunks if it has more than 30 lines.
    pub(crate) fn of_conversation(language: Language, count: usize) -> (Lines, Arc<Self>) {
        let (lines, text) = conversation(language, count);
        let tokens = dramaturg::llm::estimate_tokens(&text);
        let book = Self::read("a_book.txt", text.as_bytes(), (count > 30).then_some(tokens * 2 / 5));
        assert_eq!(book.language, language);
        (lines, Arc::new(book))
    }

    /// Extracts the scenes with the model that the rule scripts. Returns scenes, rejects and all calls.
    pub(crate) async fn extract(
        &self,
        params: &extract::Params,
        rule: impl Fn(&str, &str, Value) -> Value + Send + Sync + 'static,
    ) -> (Vec<Scene>, Vec<Reject>, Vec<Record>) {
        let journal = ScriptedJournal::new(rule);
        let model = journal.model();
        let (mut scenes, mut rejects) = (Vec::new(), Vec::new());
        let mut carry = extract::Carry::default();
        for (at, chunk) in self.chunks.iter().enumerate() {
            // A reply depends only on the calls before it, so a chunk is complete when no new call comes.
            let mut last = None;
            for _ in 0..200 {
                let calls = journal.len();
                let mut extracted = extract::extract(&model, params, &self.index, chunk, carry.clone())
                    .await
                    .expect("no call ends the run");
                if self.chunks.get(at + 1).is_none_or(|next| next.start != chunk.end) {
                    let finished = extract::finish(&model, params, &self.index, extracted.carry.clone())
                        .await
                        .expect("no call ends the run");
                    extracted.scenes.extend(finished.scenes);
                    extracted.rejects.extend(finished.rejects);
                    extracted.carry = finished.carry;
                }
                last = Some(extracted);
                if journal.len() == calls {
                    break;
                }
            }
            let last = last.expect("extracted at least once");
            scenes.extend(last.scenes);
            rejects.extend(last.rejects);
            carry = last.carry;
        }
        (scenes, rejects, journal.records())
    }
}

/// Returns a scene of these lines, as a model finds it.
pub(crate) fn found_scene(lines: &[(String, String)]) -> FoundScene {
    let line = |(speaker, speech): &(String, String)| FoundLine {
        speaker: speaker.clone(),
        speech: Some(speech.clone()),
        ..FoundLine::default()
    };
    FoundScene {
        first_words: lines[0].1.clone(),
        last_words: lines[lines.len() - 1].1.clone(),
        characters: vec![lines[0].0.clone(), lines[1].0.clone()],
        dialogue: lines.iter().map(line).collect(),
        ..FoundScene::default()
    }
}

/// Returns the names of the reject reasons.
pub(crate) fn reasons(rejects: &[Reject]) -> Vec<&str> {
    rejects.iter().map(|reject| reject.reason.name()).collect()
}
