//! Scenes of a scripted model, in both languages: a worldview that grows with the book, text in another language, salience, short
//! lines on both sides of a chunk boundary.

use std::sync::Arc;

use dramaturg::schema::{Chunk, Language};
use dramaturg::stages::extract;
use dramaturg::stages::extract::{FoundScene, FoundScenes};
use serde_json::{Value, json};

use crate::support::scripted_extraction::{IndexedBook, found_scene, reasons};
use crate::support::{Lines, conversation, paragraph};

/// Reads the book that consists of these lines, cut into chunks before the lines with the indexes `cuts`.
fn book_of(language: Language, lines: &Lines, cuts: &[usize]) -> IndexedBook {
    let pieces: Vec<String> = lines.iter().map(|line| paragraph(language, line)).collect();
    let mut book = IndexedBook::read("a_book.txt", pieces.concat().as_bytes(), None);
    assert_eq!((book.language, book.chunks.len()), (language, 1));
    let only = book.chunks.remove(0);
    let mut start = only.start;
    for (index, (from, to)) in (0..).zip([&[0], cuts].concat().into_iter().zip([cuts, &[lines.len()]].concat())) {
        let text = pieces[from..to].concat();
        let end = start + u32::try_from(text.chars().count()).expect("short");
        book.chunks.push(Chunk { index, start, end: end.min(only.end), text, ..only.clone() });
        start = end;
    }
    book
}

/// Returns the index of the chunk that a draw is about.
fn chunk_index(book: &IndexedBook, draw: &str) -> usize {
    let ids = book.chunks.iter().map(Chunk::id);
    ids.into_iter().position(|id| draw == format!("{id}/scenes")).expect("a chunk of the book, asked once")
}

#[tokio::test]
async fn a_short_line_on_both_sides_of_a_chunk_boundary_is_kept_twice() {
    for language in Language::ALL {
        for (speakers, overlap, says_so) in
            [(2, 0, true), (1, 0, true), (2, 1, true), (1, 1, false), (2, 1, false), (1, 2, true), (2, 3, false)]
        {
            let (mut lines, _) = conversation(language, 24);
            let yes = if language == Language::En { "Yes." } else { "是的。" };
            let names = [lines[0].0.clone(), lines[1].0.clone()];
            lines[11] = (names[speakers - 1].clone(), yes.to_owned());
            lines[12] = (names[0].clone(), yes.to_owned());
            let book = Arc::new(book_of(language, &lines, &[12]));
            let (script, all) = (Arc::clone(&book), lines.clone());
            let rule = move |ask: &str, draw: &str, reply: Value| {
                if ask != "extract/scenes" {
                    return reply;
                }
                let mut scene = if chunk_index(&script, draw) == 0 {
                    found_scene(&all[..12])
                } else {
                    found_scene(&all[12 - overlap..])
                };
                scene.unfinished = chunk_index(&script, draw) == 0;
                scene.continues = says_so && !scene.unfinished;
                json!(FoundScenes { scenes: vec![scene] })
            };
            let (scenes, rejects, _) = book.extract(&extract::Params::default(), rule).await;
            let case = format!("{language}, {speakers} speakers, {overlap} repeated lines");
            let [scene] = &scenes[..] else { panic!("{case}: {} scenes, {rejects:?}", scenes.len()) };
            let found =
                scene.dialogue.iter().map(|line| (line.speaker.clone(), line.speech.clone().unwrap_or_default()));
            assert_eq!(found.collect::<Lines>(), lines, "{case}");
            assert!(rejects.is_empty() && scene.dialogue.is_sorted_by_key(|line| line.start), "{case}: {rejects:?}");
        }
    }
}

#[tokio::test]
async fn the_worldview_is_extended_chunk_by_chunk() {
    for language in Language::ALL {
        let (lines, _) = conversation(language, 40);
        let book = Arc::new(book_of(language, &lines, &[8, 16, 24, 32]));
        let en = language == Language::En;
        let [first, more, foreign] = if en {
            ["A town by a weir.", " Every stone there has an owner.", "坝边小镇，每块石头都有主人，谁也不肯让谁。"]
        } else {
            ["坝边一座小镇。", "镇上每块石头都有主人。", "A town by a weir, where every stone has an owner of its own."]
        };
        let long = more.repeat(30);
        let answers = [first.to_owned(), foreign.to_owned(), format!("{first}{more}"), String::new(), long];
        let (script, worldviews) = (Arc::clone(&book), answers.clone());
        let rule = move |ask: &str, draw: &str, mut reply: Value| {
            if ask == "extract/scenes" {
                let at = chunk_index(&script, draw);
                return json!(FoundScenes { scenes: vec![found_scene(&lines[at * 8..at * 8 + 8])] });
            }
            let (_, start) = draw.strip_suffix("/describe").and_then(|id| id.split_once('@')).expect("a scene");
            let start: u32 = start.parse().expect("an offset");
            let at = script.chunks.iter().position(|chunk| start < chunk.end).expect("of a chunk");
            reply["worldview"] = json!(worldviews[at]);
            reply
        };
        let (scenes, rejects, records) = book.extract(&extract::Params::default(), rule).await;
        let worlds: Vec<&str> = scenes.iter().map(|scene| scene.worldview.as_str()).collect();
        assert_eq!(worlds[..4], [&answers[0], &answers[0], &answers[2], &answers[2]], "{language}");
        assert_eq!(
            worlds[4].matches(more.trim()).count(),
            12,
            "the worldview is limited to 12 sentences: {}",
            worlds[4]
        );
        assert_eq!(reasons(&rejects), ["other_language"], "{rejects:?}");
        assert!(scenes[1].id == rejects[0].id.as_str() && rejects[0].detail.contains("the worldview"), "{rejects:?}");
        // The prompt of each scene has the worldview after the previous one.
        for (at, scene) in scenes.iter().enumerate() {
            let record = records.iter().find(|record| record.draw == format!("{}/describe", scene.id)).expect("asked");
            let prompt = &record.request.messages[1].content;
            let so_far = if en { "Worldview so far: " } else { "已知的世界观：" };
            match at {
                0 => assert!(!prompt.contains(so_far), "{prompt}"),
                _ => assert!(prompt.contains(&format!("{so_far}{}\n", worlds[at - 1])), "{prompt}"),
            }
        }
    }
}

#[tokio::test]
async fn text_in_another_language_is_rejected() {
    for language in Language::ALL {
        let (lines, _) = conversation(language, 12);
        let book = Arc::new(book_of(language, &lines, &[]));
        let en = language == Language::En;
        let (own, foreign) =
            ("Keeps count of every stone that she has seen.", "凡是见过的石头，她都记着数，一块也不肯少。");
        let (own, foreign) = if en { (own, foreign) } else { (foreign, own) };
        let (action, foreign_action) = if en { ("nods", "点了点头") } else { ("点了点头", "nods") };
        let [persona, hobbies] = if en { ["persona", "hobbies"] } else { ["性格", "爱好"] };
        let name = lines[0].0.clone();
        let mut found = found_scene(&lines);
        found.dialogue[0].action = Some(foreign_action.to_owned());
        found.dialogue[1].action = Some(action.to_owned());
        found.dialogue[2].thought = Some(foreign.to_owned());
        for situation in [own, foreign] {
            let (found, name, situation) = (found.clone(), name.clone(), situation.to_owned());
            let asked = situation.clone();
            let rule = move |ask: &str, _: &str, mut reply: Value| {
                if ask == "extract/scenes" {
                    return json!(FoundScenes { scenes: vec![found.clone()] });
                }
                let attribute = |key: &str, value: &str| json!({"key": key, "value": value, "visibility": "public"});
                reply["situation"] = json!(asked);
                reply["motivations"] = json!([{"character": name, "motivation": foreign}]);
                let attributes = [attribute(persona, own), attribute(hobbies, foreign)];
                reply["profiles"] = json!([{"character": name, "attributes": attributes}]);
                reply
            };
            let (scenes, rejects, _) = book.extract(&extract::Params::default(), rule).await;
            if situation == foreign {
                // A scene needs a situation.
                let last = rejects.last().expect("the scene is entered");
                assert!(scenes.is_empty() && last.detail.contains("`situation` is not in "), "{rejects:?}");
                continue;
            }
            let [scene] = &scenes[..] else { panic!("{language}: {rejects:?}") };
            assert_eq!(reasons(&rejects), ["other_language"; 2], "{rejects:?}");
            assert!(rejects[0].detail.starts_with("2 actions and thoughts"), "{}", rejects[0].detail);
            for part in [format!("the motivation of {}", lines[0].0), format!("1 of {}’s attributes", lines[0].0)] {
                assert!(rejects[1].detail.contains(&part), "{}", rejects[1].detail);
            }
            let actions: Vec<Option<&str>> = scene.dialogue[..3].iter().map(|line| line.action.as_deref()).collect();
            assert_eq!((actions, scene.dialogue[2].thought.as_deref()), (vec![None, Some(action), None], None));
            let profile = &scene.characters.iter().find(|one| one.name == lines[0].0).expect("of the cast").profile;
            assert!(profile.iter().any(|one| one.key == persona && one.value == own), "{profile:?}");
            assert!(profile.iter().all(|one| one.value != foreign) && scene.motivations.is_empty(), "{scene:?}");
        }
    }
}

#[tokio::test]
async fn a_joined_scene_has_the_highest_salience_of_its_parts() {
    for language in Language::ALL {
        let (lines, _) = conversation(language, 24);
        let book = Arc::new(book_of(language, &lines, &[12]));
        for (first, second, expected) in
            [(Some(30), Some(80), Some(80)), (Some(30), None, Some(30)), (None, None, None)]
        {
            let (script, lines) = (Arc::clone(&book), lines.clone());
            let rule = move |ask: &str, draw: &str, reply: Value| {
                if ask != "extract/scenes" {
                    return reply;
                }
                let (continues, prominence) =
                    if chunk_index(&script, draw) == 0 { (false, first) } else { (true, second) };
                let part = if continues { &lines[12..] } else { &lines[..12] };
                let scene = FoundScene { continues, unfinished: !continues, prominence, ..found_scene(part) };
                json!(FoundScenes { scenes: vec![scene] })
            };
            let (scenes, rejects, records) = book.extract(&extract::Params::default(), rule).await;
            assert_eq!((scenes.len(), scenes[0].salience), (1, expected), "{language}: {rejects:?}");
            let asked = records.iter().find(|record| record.ask == "extract/scenes").expect("asked");
            let schema = &asked.request.schema["properties"]["scenes"]["items"]["properties"]["prominence"];
            assert_eq!((&schema["minimum"], &schema["maximum"]), (&json!(1), &json!(100)), "{schema}");
            let system = &asked.request.messages[0].content;
            assert!(system.contains(if language == Language::En { "81 to 100" } else { "81到100" }), "{system}");
        }
    }
}
