//! Tests of the ask about boundaries and of the pass that moves them, with scripted and offline answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use proptest::prelude::*;

use super::adjust::{apply_answer, move_boundary};
use super::ask::window;
use super::{Cut, FindBoundary, FoundBoundary, adjust_boundaries};
use crate::llm::{
    Answered, Ask as _, Budget, Journal, JournalError, Memory, Model, OfflineOptions, Record, Session, estimate_tokens,
};
use crate::prompt::Prompts;
use crate::schema::{Book, Chunk, Draw, Language, Reject};
use crate::stages::chunk::{PROMPTS, Params, chapters, chunk, read};
use crate::text::count_code_points;

/// A journal that replaces replies by draw: it stores each record with the scripted reply.
#[derive(Default)]
struct Script {
    replies: BTreeMap<&'static str, String>,
    memory: Memory,
}

impl Journal for Script {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        self.memory.find(key)
    }

    fn write(&self, mut record: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        if let Some(reply) = self.replies.get(record.draw.as_str()) {
            record.reply.text.clone_from(reply);
        }
        self.memory.write(record)
    }
}

fn model(script: &Arc<Script>) -> Model {
    let prompts = Prompts::new(PROMPTS.iter().copied(), &BTreeMap::new()).expect("the templates parse");
    let journal: Arc<dyn Journal> = Arc::clone(script) as _;
    let session = Session::new(7, prompts, journal, Budget::default(), false);
    Model::offline("rules", OfflineOptions::default(), Arc::new(session))
}

fn cut(text: &str, max_tokens: u32) -> (Book, Vec<Chunk>, Params) {
    let book = read("a_book.txt", text.as_bytes(), None).expect("reads");
    let params = Params { max_tokens, ..Params::default() };
    let chunks = chunk(&book, &chapters(&book), &params).0;
    (book, chunks, params)
}

/// Runs the pass twice; the second run reads the scripted replies.
async fn scripted(
    text: &str,
    max_tokens: u32,
    replies: &[(&'static str, String)],
) -> (Vec<Chunk>, Vec<Chunk>, Vec<Reject>) {
    let (book, planned, params) = cut(text, max_tokens);
    let script = Arc::new(Script { replies: replies.iter().cloned().collect(), ..Script::default() });
    let model = model(&script);
    adjust_boundaries(|_| &model, &params, &book, planned.clone()).await.expect("asks");
    let (chunks, rejects) = adjust_boundaries(|_| &model, &params, &book, planned.clone()).await.expect("asks");
    assert_text_is_preserved(&planned, &chunks, max_tokens);
    (planned, chunks, rejects)
}

/// Asserts that no text is lost or duplicated and that the limit holds.
fn assert_text_is_preserved(planned: &[Chunk], chunks: &[Chunk], max_tokens: u32) {
    let join = |chunks: &[Chunk]| chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>();
    assert_eq!(join(chunks), join(planned));
    assert!(chunks.windows(2).all(|pair| pair[0].end == pair[1].start));
    for chunk in chunks {
        assert_eq!(chunk.end - chunk.start, count_code_points(&chunk.text));
        assert_eq!(chunk.tokens, estimate_tokens(&chunk.text));
        assert!(chunk.tokens <= max_tokens, "{} > {max_tokens}", chunk.tokens);
    }
    let headings = |chunks: &[Chunk]| chunks.iter().flat_map(|chunk| chunk.headings.clone()).collect::<Vec<_>>();
    assert_eq!(headings(chunks), headings(planned));
    assert!(
        chunks
            .iter()
            .all(|chunk| { chunk.headings.iter().all(|(offset, _)| (chunk.start..chunk.end).contains(offset)) })
    );
}

fn reply(cuts: &str, opens_with: u32, continues: bool) -> String {
    serde_json::json!({ "reason": "", "cuts": cuts, "opens_with": opens_with, "continues": continues }).to_string()
}

/// Narration with an uninterrupted conversation in the middle.
fn story(language: Language) -> String {
    let (prose, talk) = match language {
        Language::En => (
            "The road went on by the river, and the mill came no nearer for all that they walked.\n\n",
            "“Is it far?” asked Ann.\n\n“It is as far as it was,” said Ben.\n\n",
        ),
        Language::Zh => (
            "路沿着河往前伸，走了半日，水车还是远远的，一点不见近。\n",
            "“还有多远？”安娘问。\n“方才多远，如今还是多远。”本叔说。\n",
        ),
    };
    format!("{}{}{}", prose.repeat(12), talk.repeat(6), prose.repeat(12))
}

#[tokio::test]
async fn a_boundary_moves_to_the_position_the_model_names() {
    for (language, max) in [(Language::En, 400), (Language::Zh, 500)] {
        let text = story(language);
        let (_, planned, _) = cut(&text, max);
        assert_eq!(planned.len(), 2, "{language}: {:?}", planned.iter().map(|chunk| chunk.tokens).collect::<Vec<_>>());
        let (book, ..) = cut(&text, max);
        let ask = FindBoundary::new(&book, &planned[0], &planned[1]).expect("neighbours");
        let opens_with = ask.before[ask.before.len() - 3].number;
        let offset = ask.position(opens_with).expect("shown");
        let answer = reply("conversation", opens_with, true);
        let (_, chunks, rejects) = scripted(&text, max, &[("a-book/0/border", answer)]).await;
        assert!(rejects.is_empty());
        assert_eq!((chunks[0].end, chunks[0].continues, chunks[1].continues), (offset, true, false), "{language}");
        assert_ne!(chunks[0].end, planned[0].end);
    }
}

#[tokio::test]
async fn a_scene_over_three_chunks_continues_over_two_boundaries() {
    for (language, talk) in [
        (Language::En, "“Is it far?” asked Ann.\n\n“It is as far as it was,” said Ben.\n\n"),
        (Language::Zh, "“还有多远？”安娘问。\n“方才多远，如今还是多远。”本叔说。\n"),
    ] {
        let text = talk.repeat(24);
        let tokens = cut(&text, 100_000).1[0].tokens;
        let max = tokens * 2 / 5;
        let (book, planned, _) = cut(&text, max);
        assert_eq!(planned.len(), 3, "{language}");
        let asks: Vec<FindBoundary> =
            planned.windows(2).map(|pair| FindBoundary::new(&book, &pair[0], &pair[1]).expect("neighbours")).collect();
        // The first boundary moves by one paragraph, the second stays, and the conversation continues across both.
        let replies = [
            ("a-book/0/border", reply("conversation", asks[0].planned - 1, true)),
            ("a-book/1/border", reply("storyline", asks[1].planned, true)),
        ];
        let (_, chunks, rejects) = scripted(&text, max, &replies).await;
        assert!(rejects.is_empty(), "{rejects:?}");
        assert_eq!(chunks.iter().map(|chunk| chunk.continues).collect::<Vec<_>>(), [true, true, false], "{language}");
        assert_eq!(Some(chunks[0].end), asks[0].position(asks[0].planned - 1), "{language}");
        assert_eq!((chunks[1].end, chunks[2].end), (planned[1].end, planned[2].end), "{language}");
        assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>(), text);
    }
}

#[test]
fn a_boundary_that_cannot_move_continues_the_scene() {
    for language in Language::ALL {
        let text = story(language);
        let (book, planned, mut params) = cut(&text, 500);
        let ask = FindBoundary::new(&book, &planned[0], &planned[1]).expect("neighbours");
        // The first chunk is full and cannot take another paragraph.
        params.max_tokens = planned[0].tokens;
        let mut chunks = planned.clone();
        let [before, after, ..] = &mut chunks[..] else { panic!("{chunks:?}") };
        let answer =
            FoundBoundary { reason: String::new(), cuts: Cut::Storyline, opens_with: ask.last, continues: false };
        apply_answer(before, after, &ask, &answer, &params);
        assert_eq!(chunks[0].end, planned[0].end, "{language}");
        assert!(chunks[0].continues, "{language}");
    }
}

#[tokio::test]
async fn a_failed_call_keeps_the_boundary_and_leaves_a_reject() {
    for language in Language::ALL {
        let bad = reply("conversation", 900, false);
        let (planned, chunks, rejects) = scripted(&story(language), 500, &[("a-book/0/border", bad)]).await;
        assert_eq!(chunks[0].end, planned[0].end);
        assert_eq!(
            (rejects[0].stage.name(), rejects[0].id.as_str(), rejects[0].reason.name()),
            ("chunk", "a-book/0", "bad_reply")
        );
        assert!(rejects[0].detail.contains("opens_with"), "{}", rejects[0].detail);
    }
}

/// Asks the offline rules about the boundary marked by `|`. Returns what it cuts, the first characters of the
/// paragraph that opens the next chunk, and whether the scene continues.
async fn by_rule(text: &str, headings: &[&str]) -> (Cut, String, bool) {
    let (first, second) = text.split_once('|').expect("a border");
    let text = format!("{first}{second}");
    let (book, mut chunks, _) = cut(&text, 100_000);
    let mut after = chunks[0].clone();
    let boundary = count_code_points(first);
    let mut headings: Vec<(u32, String)> = headings
        .iter()
        .map(|title| (count_code_points(&text[..text.find(title).expect("there")]), (*title).to_owned()))
        .collect();
    after.headings = headings.split_off(headings.partition_point(|(offset, _)| *offset < boundary));
    second.clone_into(&mut after.text);
    (after.start, after.index) = (boundary, 1);
    chunks[0].headings = headings;
    chunks[0].text = first.to_owned();
    (chunks[0].start, chunks[0].end) = (0, boundary);
    chunks.push(after);
    let ask = FindBoundary::new(&book, &chunks[0], &chunks[1]).expect("neighbours");
    let answer = model(&Arc::new(Script::default())).ask(&ask, &Draw::Other("x".to_owned())).await.expect("answers");
    ask.check(&answer).expect("its own check");
    let opens = ask.before.iter().chain(&ask.after).find(|paragraph| paragraph.number == answer.opens_with);
    (answer.cuts, opens.expect("shown").text.chars().take(6).collect(), answer.continues)
}

#[tokio::test]
async fn the_rules_recognize_what_a_boundary_cuts() {
    let prose = "The road went on by the river.\n\n";
    let talk = "“Is it far?” asked Ann.\n\n“It is,” said Ben.\n\n";
    let text = format!("{}{talk}|{talk}* * *\n\n{}", prose.repeat(9), prose.repeat(9));
    assert_eq!(by_rule(&text, &[]).await, (Cut::Conversation, "The ro".to_owned(), false));
    let text = format!("{}|{}", talk.repeat(30), talk.repeat(30));
    assert_eq!(by_rule(&text, &[]).await, (Cut::Conversation, "“Is it".to_owned(), true));
    let text = format!("{}Chapter 9\n\n|{}", prose.repeat(9), prose.repeat(9));
    assert_eq!(by_rule(&text, &["Chapter 9"]).await, (Cut::Trailing, "Chapte".to_owned(), false));
    let text = format!("{}|Chapter 9\n\n{}", prose.repeat(9), prose.repeat(9));
    assert_eq!(by_rule(&text, &["Chapter 9"]).await, (Cut::Nothing, "Chapte".to_owned(), false));
    let text = format!("{0}“It went on.\n\n|“And on,” said Ben.\n\n{0}", prose.repeat(9));
    assert_eq!(by_rule(&text, &[]).await.0, Cut::Conversation);
    assert_eq!(by_rule(&text, &[]).await.1, "“It we");

    let (prose, talk) = ("路沿着河往前伸，一点不见近。\n", "“还有多远？”安娘问。\n“还远。”本叔说。\n");
    let text = format!("{}{talk}|{talk}＊＊＊\n{}", prose.repeat(9), prose.repeat(9));
    assert_eq!(by_rule(&text, &[]).await, (Cut::Conversation, "路沿着河往前".to_owned(), false));
    let text = format!("{}|{}", talk.repeat(30), talk.repeat(30));
    assert_eq!(by_rule(&text, &[]).await, (Cut::Conversation, "“还有多远？".to_owned(), true));
    let text = format!("{}第九回　过河\n|{}", prose.repeat(9), prose.repeat(9));
    assert_eq!(by_rule(&text, &["第九回"]).await, (Cut::Trailing, "第九回 过河".to_owned(), false));
    let broken = "他一边走一边想着那年冬天在渡口遇见的那个撑伞的人和他说过的那一句没头没尾的";
    let text = format!("{}{broken}\n|话。\n{}", prose.repeat(9), prose.repeat(9));
    assert_eq!(by_rule(&text, &[]).await.0, Cut::Trailing);
}

#[tokio::test]
async fn the_prompt_shows_the_boundary() {
    for language in Language::ALL {
        let text = story(language);
        let (book, chunks, _) = cut(&text, 500);
        let ask = FindBoundary::new(&book, &chunks[0], &chunks[1]).expect("neighbours");
        let prompts = Prompts::new(PROMPTS.iter().copied(), &BTreeMap::new()).expect("the templates parse");
        let user = ask.messages(&prompts).expect("renders")[1].content.clone();
        let (above, below) = user
            .split_once(if language == Language::En { "planned border =" } else { "预定分界 =" })
            .expect("the border is shown");
        assert!(above.contains(&format!("[{}] ", ask.planned - 1)), "{user}");
        assert!(below.contains(&format!("[{}] ", ask.planned)), "{user}");
        let length = count_code_points(&user) as usize;
        assert!(length < 3 * window(language), "{length}");
    }
}

#[test]
fn headings_move_with_a_boundary() {
    let prose = "The road went on by the river, and the mill came no nearer.\n\n";
    let text = format!("Chapter 1\n\n{0}Chapter 2\n\n{0}", prose.repeat(30));
    let (_, mut chunks, params) = cut(&text, 600);
    let [before, after] = &mut chunks[..] else { panic!("{chunks:?}") };
    let boundary = before.end;
    assert_eq!((before.chapter.as_str(), after.chapter.as_str()), ("Chapter 1", "Chapter 2"));
    assert!(move_boundary(before, after, boundary - count_code_points(prose), &params));
    assert_eq!((after.chapter.as_str(), after.headings.len(), before.headings.len()), ("Chapter 1", 1, 1));
    assert!(move_boundary(before, after, boundary, &params));
    assert_eq!(after.chapter, "Chapter 2");
    assert!(move_boundary(before, after, boundary + count_code_points("Chapter 2\n\n"), &params));
    assert_eq!((after.chapter.as_str(), after.headings.len(), before.headings.len()), ("Chapter 2", 0, 2));
}

proptest! {
    #[test]
    fn moving_boundaries_loses_no_text(
        parts in proptest::collection::vec("[a-z“”河上。，\n ]{0,120}\n", 8..40),
        max in 60_u32..200,
        picks in proptest::collection::vec(0_u32..60, 40),
    ) {
        let Ok(book) = read("a_book.txt", parts.concat().as_bytes(), None) else { return Ok(()) };
        let params = Params { max_tokens: max, ..Params::default() };
        let planned = chunk(&book, &chapters(&book), &params).0;
        let asks: Vec<Option<FindBoundary>> =
            planned.windows(2).map(|pair| FindBoundary::new(&book, &pair[0], &pair[1])).collect();
        let mut chunks = planned.clone();
        for (at, ask) in asks.iter().enumerate() {
            let Some(ask) = ask else { continue };
            let opens_with = ask.first + picks[at % picks.len()] % (ask.last + 1 - ask.first);
            let answer =
                FoundBoundary { reason: String::new(), cuts: Cut::Storyline, opens_with, continues: false };
            let [before, after, ..] = &mut chunks[at..] else { unreachable!() };
            apply_answer(before, after, ask, &answer, &params);
        }
        assert_text_is_preserved(&planned, &chunks, max);
    }
}
