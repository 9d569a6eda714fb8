//! A scene that spans three chunks, from the boundaries to the extracted scene, with scripted replies in both languages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dramaturg::schema::{Chunk, Language, Scene};
use dramaturg::stages::{chunk, extract};
use serde_json::{Value, json};

use crate::support::conversation;
use crate::support::scripted_extraction::{IndexedBook, ScriptedJournal};

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

/// Cuts and extracts a conversation in three chunks. `unfinished` is whether the model says that a chunk cuts its scene
/// off.
async fn scenes_of(language: Language, boundary: Value, unfinished: bool) -> (Vec<Chunk>, Vec<Scene>) {
    let (lines, planned) = IndexedBook::of_conversation(language, 36);
    assert_eq!(planned.chunks.len(), 3, "{language}");
    let book = chunk::read("a_book.txt", planned.text.as_bytes(), None).expect("reads");
    let tokens = dramaturg::llm::estimate_tokens(&planned.text);
    let params = chunk::Params { max_tokens: tokens * 2 / 5, ..chunk::Params::default() };
    let replies: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
    for chunk in &planned.chunks[..2] {
        replies.lock().expect("one thread").insert(format!("{}/border", chunk.id()), boundary.clone());
    }
    let script = Arc::clone(&replies);
    let journal = ScriptedJournal::new(move |_, draw, reply| {
        script.lock().expect("one thread").get(draw).cloned().unwrap_or(reply)
    });
    let model = journal.model();
    let extract_params = extract::Params::default();
    // A call returns the scripted reply from the second round on, and a scene's prompt depends on the replies before it.
    let mut last = (Vec::new(), Vec::new());
    for _ in 0..6 {
        let (chunks, rejects) = chunk::adjust_boundaries(|_| &model, &params, &book, planned.chunks.clone())
            .await
            .expect("no call ends the run");
        assert!(rejects.is_empty(), "{rejects:?}");
        for chunk in &chunks {
            let draw = format!("{}/scenes", chunk.id());
            let reply = scenes(chunk, &lines, chunk.index > 0, unfinished && chunk.index < 2);
            replies.lock().expect("one thread").insert(draw, reply);
        }
        let (mut carry, mut scenes) = (extract::Carry::default(), Vec::new());
        for chunk in &chunks {
            let extracted =
                extract::extract(&model, &extract_params, &planned.index, chunk, carry).await.expect("extracts");
            assert!(extracted.rejects.is_empty(), "{:?}", extracted.rejects);
            scenes.extend(extracted.scenes);
            carry = extracted.carry;
        }
        scenes.extend(extract::finish(&model, &extract_params, &planned.index, carry).await.expect("finishes").scenes);
        last = (chunks, scenes);
    }
    last
}

#[tokio::test]
async fn a_scene_that_spans_three_chunks_is_one_scene() {
    for language in Language::ALL {
        // The boundaries do not move; if `unfinished` is false, only the boundary says that the scene continues.
        for (unfinished, cuts) in [(true, "conversation"), (false, "conversation"), (false, "storyline")] {
            let (lines, text) = conversation(language, 36);
            let planned = planned_paragraph(language);
            let boundary = json!({ "reason": "", "cuts": cuts, "opens_with": planned, "continues": true });
            let (chunks, scenes) = scenes_of(language, boundary, unfinished).await;
            assert!(chunks[0].continues && chunks[1].continues && !chunks[2].continues);
            assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>(), text);
            let [scene] = &scenes[..] else { panic!("{language}: {} scenes", scenes.len()) };
            assert_eq!(scene.dialogue.len(), lines.len(), "{language}");
            assert!(scene.dialogue.iter().all(|line| line.start.is_some()), "{language}");
            assert!(scene.dialogue[0].start < Some(chunks[0].end));
            assert!(scene.dialogue[lines.len() - 1].start > Some(chunks[2].start));
        }
    }
}

/// Returns the number of the paragraph that opens the next chunk as planned; all paragraphs have the same length.
fn planned_paragraph(language: Language) -> u32 {
    let (_, text) = conversation(language, 36);
    let paragraphs = text.lines().filter(|line| !line.is_empty()).count();
    // An ask shows at most half of each chunk.
    u32::try_from(paragraphs / 3 / 2 + 1).expect("few")
}
