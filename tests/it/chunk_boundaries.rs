//! A scene that spans three chunks, from the chunk boundaries to the scene record, with scripted replies in both languages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dramaturg::attribution;
use dramaturg::llm::{Answered, Budget, Journal, JournalError, Model, OfflineOptions, Record, Session};
use dramaturg::prompt::Prompts;
use dramaturg::schema::{Chunk, Language, Scene};
use dramaturg::stages::{chunk, extract};
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// A journal that stores scripted replies by draw instead of those it is given.
#[derive(Default)]
struct Script {
    replies: Mutex<BTreeMap<String, Value>>,
    records: Mutex<BTreeMap<String, Record>>,
}

impl Journal for Script {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        Ok(self.records.lock().expect("one thread").get(key).map(Answered::from))
    }

    fn write(&self, mut record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        if let Some(reply) = self.replies.lock().expect("one thread").get(&record.draw) {
            record.reply.text = reply.to_string();
        }
        self.records.lock().expect("one thread").insert(record.key.clone(), record);
        Box::pin(async { Ok(()) })
    }
}

fn scenes(chunk: &Chunk, lines: &[(String, String)], continues: bool, unfinished: bool) -> Value {
    let dialogue: Vec<Value> = lines
        .iter()
        .filter(|(_, speech)| chunk.text.contains(speech.as_str()))
        .map(|(speaker, speech)| json!({ "speaker": speaker, "thought": null, "action": null, "speech": speech }))
        .collect();
    let words = |line: Option<&(String, String)>| line.map_or("", |line| line.1.as_str()).to_owned();
    let mut within = lines.iter().filter(|(_, speech)| chunk.text.contains(speech.as_str()));
    json!({ "scenes": [{
        "continues": continues,
        "first_words": words(within.next()),
        "summary": format!("{}", chunk.index),
        "prominence": null,
        "characters": [lines[0].0, lines[1].0],
        "dialogue": dialogue,
        "last_words": words(within.next_back()),
        "unfinished": unfinished,
    }] })
}

/// Cuts and extracts a book; `unfinished` is whether the model says that a chunk cuts off its scene.
async fn scenes_of(language: Language, border: Value, unfinished: bool) -> (Vec<Chunk>, Vec<Scene>) {
    let (lines, told) = crate::support::talk(language, 36);
    let book = chunk::read("a_book.txt", told.as_bytes(), None).expect("reads");
    assert_eq!(book.language, language);
    let max_tokens = dramaturg::llm::estimate_tokens(&told) * 2 / 5;
    let params = chunk::Params { max_tokens, ..chunk::Params::default() };
    let (planned, _) = chunk::chunk(&book, &chunk::chapters(&book), &params);
    assert_eq!(planned.len(), 3, "{language}: {} tokens", planned.iter().map(|chunk| chunk.tokens).sum::<u32>());
    let script = Arc::new(Script::default());
    let prompts = Prompts::new(dramaturg::stages::prompts(), &BTreeMap::new()).expect("the templates parse");
    let journal: Arc<dyn Journal> = Arc::clone(&script) as _;
    let session = Arc::new(Session::new(7, prompts, journal, Budget::default(), false));
    let model = Model::offline("rules", OfflineOptions::default(), session);
    for chunk in &planned[..2] {
        script.replies.lock().expect("one thread").insert(format!("{}/border", chunk.id()), border.clone());
    }
    let attribution = attribution::attribute(&book.text, language, book.script);
    let facts = extract::BookIndex::new(&book, language, book.text.as_str().into(), attribution);
    let extract_params = extract::Params::default();
    // Each round reads the replies that the script wrote in the previous one; prompts show what was carried over.
    let mut last = (Vec::new(), Vec::new());
    for _ in 0..6 {
        let (chunks, rejects) = chunk::adjust_boundaries(|_| &model, &params, &book, planned.clone())
            .await
            .expect("the borders are asked about");
        assert!(rejects.is_empty(), "{rejects:?}");
        for chunk in &chunks {
            let draw = format!("{}/scenes", chunk.id());
            let reply = scenes(chunk, &lines, chunk.index > 0, unfinished && chunk.index < 2);
            script.replies.lock().expect("one thread").insert(draw, reply);
        }
        let (mut carry, mut scenes) = (extract::Carry::default(), Vec::new());
        for chunk in &chunks {
            let extracted = extract::extract(&model, &extract_params, &facts, chunk, carry).await.expect("extracts");
            assert!(extracted.rejects.is_empty(), "{:?}", extracted.rejects);
            scenes.extend(extracted.scenes);
            carry = extracted.carry;
        }
        scenes.extend(extract::finish(&model, &extract_params, &facts, carry).await.expect("finishes").scenes);
        last = (chunks, scenes);
    }
    last
}

#[tokio::test]
async fn a_scene_that_spans_three_chunks_is_one_scene() {
    for language in Language::ALL {
        // The boundary stays where it is; only its answer says that the scene continues.
        for (unfinished, cuts) in [(true, "conversation"), (false, "conversation"), (false, "storyline")] {
            let (lines, told) = crate::support::talk(language, 36);
            let planned = planned_border(language);
            let border = json!({ "reason": "", "cuts": cuts, "opens_with": planned, "continues": true });
            let (chunks, scenes) = scenes_of(language, border, unfinished).await;
            assert!(chunks[0].continues && chunks[1].continues && !chunks[2].continues);
            assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>(), told);
            let [scene] = &scenes[..] else { panic!("{language}: {} scenes", scenes.len()) };
            assert_eq!(scene.dialogue.len(), lines.len(), "{language}");
            assert!(scene.dialogue.iter().all(|line| line.start.is_some()), "{language}");
            assert!(scene.dialogue[0].start < Some(chunks[0].end));
            assert!(scene.dialogue[lines.len() - 1].start > Some(chunks[2].start));
        }
    }
}

/// The paragraph number at which the boundary is planned.
fn planned_border(language: Language) -> u32 {
    let (_, told) = crate::support::talk(language, 36);
    let paragraphs = told.lines().filter(|line| !line.is_empty()).count();
    // An ask shows at most half of each chunk.
    u32::try_from(paragraphs / 3 / 2 + 1).expect("few")
}
