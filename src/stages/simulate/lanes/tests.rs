//! Tests of whole lanes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::llm::{Ask as _, Record};
use crate::schema::{
    Candidate, Conversation, EndedBy, Language, Quality, RejectReason, Sample, SampleId, Scene, TurnKind,
};
use crate::stages::simulate::asks::{SceneNames, TestReply};
use crate::stages::simulate::conversation::line;
use crate::stages::simulate::fixtures::{MemoryJournal, MemoryScenes, TestModels, character, pool, prompts, scene};

fn params() -> Params {
    Params { tau: 4, batch_size: 3, min_turns: 6, max_turns: 12, test_every: 3, ..Params::default() }
}

/// Everything that a lane produces, in conversation order.
#[derive(Debug, Clone, PartialEq)]
struct PlayedLane {
    conversations: Vec<Conversation>,
    samples: Vec<Sample>,
    rejects: Vec<Reject>,
    counts: Counts,
}

async fn played(
    models: &TestModels,
    context: &Context<'_>,
    language: Language,
    scenes: &[Arc<Scene>],
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<PlayedLane, AskError> {
    let kept = Mutex::new(Vec::new());
    let keep = |played| {
        kept.lock().unwrap().push(played);
        Ok(())
    };
    let memory_scenes = MemoryScenes::new(scenes);
    let end = play_lanes(context, &character(language), &[&models.source], &memory_scenes, &keep, progress).await?;
    let (mut conversations, mut samples, mut rejects) = (Vec::new(), Vec::new(), Vec::new());
    for played in kept.into_inner().unwrap() {
        conversations.extend(played.conversation);
        samples.extend(played.samples);
        rejects.extend(played.rejects);
    }
    let number = |id: &str| -> u32 { id.split(['/', '#']).nth(2).unwrap().parse().unwrap() };
    conversations.sort_by_key(|conversation| number(&conversation.id));
    samples.sort_by_key(|sample: &Sample| (number(&sample.conversation_id), sample.turn));
    rejects.sort_by_key(|reject: &Reject| number(&reject.id));
    rejects.extend(end.rejects);
    Ok(PlayedLane { conversations, samples, rejects, counts: end.counts })
}

async fn lane(models: &TestModels, context: &Context<'_>, language: Language, scenes: &[Arc<Scene>]) -> PlayedLane {
    played(models, context, language, scenes, &|_| {}).await.expect("the lane finishes")
}

fn models() -> TestModels {
    TestModels::new(Arc::default(), false)
}

fn by_code(counts: &Counts) -> BTreeMap<String, u32> {
    counts.iter().map(|(code, count)| (code.to_owned(), count)).collect()
}

#[test]
fn a_lane_can_run_on_any_thread() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let (models, params, tess) = (models(), params(), character(Language::En));
    let context = models.context(&params);
    let memory_scenes = MemoryScenes::new(&[]);
    let sources = [&models.source];
    drop(is_send(play_lanes(&context, &tess, &sources, &memory_scenes, &|_| Ok(()), &|_| {})));
}

#[tokio::test]
async fn a_lane_reaches_tau_and_reports_it() {
    for language in Language::ALL {
        let (models, params) = (models(), params());
        let context = models.context(&params);
        let reports = Mutex::new(Vec::new());
        let report = |progress: Progress| reports.lock().unwrap().push(progress);
        let played =
            played(&models, &context, language, &pool(language, 40), &report).await.expect("the lane finishes");
        assert!(played.counts.all_reached(4), "{:?}", played.counts);
        let fell_short = |reject: &Reject| reject.id == "tess/source" && reject.reason != RejectReason::NoSample;
        assert!(!played.rejects.iter().any(fell_short), "{:?}", played.rejects);
        let reports = reports.into_inner().unwrap();
        let last = reports.last().expect("at least one report");
        assert_eq!((last.counted, last.required), (20, 20));
        assert_eq!(last.conversations as usize, played.conversations.len());
        assert!(reports.windows(2).all(|pair| pair[0].counted <= pair[1].counted));
    }
}

/// Planned but unused targets are not counted: counts equal the targets of the test turns that took place.
#[tokio::test]
async fn counts_match_the_played_turns() {
    for (count, language) in
        [(BalanceOn::Targeted, Language::En), (BalanceOn::Judged, Language::Zh), (BalanceOn::Accepted, Language::En)]
    {
        let (models, params) = (models(), Params { balance_on: count, ..params() });
        let played = lane(&models, &models.context(&params), language, &pool(language, 60)).await;
        let mut expected: BTreeMap<String, u32> =
            models.dimensions.iter().map(|dimension| (dimension.code.clone(), 0)).collect();
        let turns = played.conversations.iter().flat_map(|conversation| &conversation.turns);
        let codes: Vec<String> = match count {
            BalanceOn::Targeted => {
                turns.filter(|turn| turn.kind == TurnKind::Test).filter_map(|turn| turn.target.clone()).collect()
            }
            BalanceOn::Judged => turns.filter_map(|turn| turn.dimension.clone()).collect(),
            BalanceOn::Accepted => played.samples.iter().map(|sample| sample.dimension.clone()).collect(),
        };
        for code in codes {
            *expected.get_mut(&code).expect("targets are codes of the dimension table") += 1;
        }
        assert_eq!(by_code(&played.counts), expected, "{count:?}");
    }
}

#[tokio::test]
async fn targets_stay_balanced_at_any_batch_size() {
    for batch in [1, 4, 9] {
        let (models, params) = (models(), Params { batch_size: batch, tau: 10, ..params() });
        let played = lane(&models, &models.context(&params), Language::En, &pool(Language::En, 60)).await;
        let counts: Vec<u32> = played.counts.iter().map(|(_, count)| count).collect();
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        // Counts differ by at most one, plus what follows from conversations of a batch having different lengths.
        let most_apart = if batch == 1 { 1 } else { 3 };
        assert!(most - least <= most_apart, "batch size {batch}: {counts:?}");
    }
}

/// Sources that share counts take turns; unused sources are reported as rejects.
#[tokio::test]
async fn sources_that_share_counts_take_turns() {
    let (models, params) = (models(), Params { tau: 3, batch_size: 3, ..params() });
    let sources = [&models.source, &models.base, &models.scene, &models.judge, &models.director];
    for language in Language::ALL {
        let mut first = BTreeMap::new();
        for name in ["tess", "ann", "wen", "lu"] {
            let character = Character { id: name.into(), ..character(language) };
            let kept = Mutex::new(Vec::new());
            let keep = |played: PlayedConversation| {
                kept.lock().unwrap().extend(played.conversation.map(|talk| (talk.source_model, talk.id)));
                Ok::<(), AskError>(())
            };
            let memory_scenes = MemoryScenes::new(&pool(language, 40));
            let context = models.context(&params);
            let end = play_lanes(&context, &character, &sources, &memory_scenes, &keep, &|_| {})
                .await
                .expect("the lanes finish");
            assert!(end.counts.all_reached(3) && end.dimensions_below_target.is_empty(), "{end:?}");
            let kept = kept.into_inner().unwrap();
            let mut counts: BTreeMap<&str, usize> = sources.iter().map(|source| (source.name(), 0)).collect();
            for (source, id) in &kept {
                assert!(id.starts_with(&format!("{name}/{source}/")), "{id}");
                *counts.get_mut(source.as_str()).unwrap() += 1;
            }
            let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
            assert!(most - least <= 1, "{counts:?}");
            // The conversations of each source are numbered from 0, regardless of the other sources.
            let ids: Vec<&str> = kept.iter().map(|(_, id)| id.as_str()).collect();
            assert!(
                sources
                    .iter()
                    .filter(|source| counts[source.name()] > 0)
                    .all(|source| { ids.contains(&format!("{name}/{}/0", source.name()).as_str()) })
            );
            let idle: Vec<&str> = end
                .rejects
                .iter()
                .filter(|one| one.reason == RejectReason::NothingLeft)
                .map(|one| one.id.as_str())
                .collect();
            let expected: Vec<String> = sources
                .iter()
                .filter(|source| counts[source.name()] == 0)
                .map(|source| format!("{name}/{}", source.name()))
                .collect();
            assert_eq!(idle, expected);
            if !idle.is_empty() {
                first.insert(idle.join(" ").replace(name, ""), name);
            }
        }
        assert_ne!(first.len(), 1, "the first source varies with the character: {first:?}");
    }
}

#[tokio::test]
async fn turns_keep_the_rules() {
    let (models, params) = (models(), params());
    let played = lane(&models, &models.context(&params), Language::En, &pool(Language::En, 40)).await;
    for conversation in &played.conversations {
        let length = u32::try_from(conversation.turns.len()).unwrap();
        assert!((params.min_turns..=params.max_turns).contains(&length));
        assert_eq!(conversation.ended_by == EndedBy::MaxTurns, length == params.max_turns);
        let mut target = &conversation.turns[0].target;
        for (turn, next) in conversation.turns.iter().zip(conversation.turns.iter().skip(1)) {
            assert_eq!(&turn.target, target, "a target stays the same until the next test turn");
            if turn.kind == TurnKind::Test {
                target = &next.target;
            }
        }
        for turn in conversation.turns.iter().filter(|turn| turn.kind == TurnKind::Test) {
            let kept = if turn.score.unwrap() <= 3 { &turn.source_reply } else { &turn.base_reply };
            assert_eq!(kept.as_ref(), Some(&turn.content));
            assert_eq!(turn.kept_reply == Some(Candidate::Source), turn.score.unwrap() <= 3);
        }
    }
    let targets: Vec<_> =
        played.conversations.iter().flat_map(|conversation| &conversation.turns).map(|turn| &turn.target).collect();
    assert!(targets.iter().any(|target| target.is_some()) && targets.iter().any(|target| target.is_none()));
}

#[tokio::test]
async fn messages_of_samples_are_the_prompts_of_the_source() {
    for language in Language::ALL {
        let (models, params) = (models(), params());
        let played = lane(&models, &models.context(&params), language, &pool(language, 40)).await;
        let conversations: BTreeMap<_, _> =
            played.conversations.iter().map(|conversation| (&conversation.id, conversation)).collect();
        let better = played
            .conversations
            .iter()
            .filter(|conversation| conversation.kept)
            .flat_map(|conversation| &conversation.turns)
            .filter(|turn| turn.score.is_some_and(|score| score <= 2));
        let faulty = played.rejects.iter().filter(|reject| reject.id.contains('#'));
        assert_eq!(better.count(), played.samples.len() + faulty.count());
        for sample in &played.samples {
            let conversation = conversations[&sample.conversation_id];
            let turn = &conversation.turns[sample.turn as usize];
            assert_eq!(sample.id, SampleId::new(&conversation.id, turn.index));
            assert_eq!(conversation.quality, Some(Quality::High));
            assert_eq!((Some(&sample.dimension), &sample.target), (turn.dimension.as_ref(), &turn.target));
            assert_eq!((Some(sample.score), Some(&sample.reference)), (turn.score, turn.source_reply.as_ref()));
            let history: Vec<_> = conversation.turns[..sample.turn as usize].iter().map(line).collect();
            assert_eq!(sample.history, history);
            let dimension = models.dimensions.iter().find(|dimension| dimension.code == sample.dimension).unwrap();
            assert_eq!(&sample.strategy, dimension.strategy.get(language));
            assert_eq!(&sample.criteria, dimension.definition.get(language));
            let ask = TestReply {
                language,
                worldview: sample.worldview.clone(),
                situation: sample.situation.clone(),
                name: sample.test_character.clone(),
                profile: sample.profile.clone(),
                lines: vec!["Tess-line".to_owned()],
                others: sample.scene_characters.clone(),
                history,
                dimension: Some(sample.dimension.clone()),
                strategy: Some(sample.strategy.clone()),
                max_sentences: params.max_sentences,
                scene_names: SceneNames::default(),
            };
            assert_eq!(sample.messages, ask.messages(&prompts()).expect("renders"));
            assert!(sample.messages.last().unwrap().content.contains(&sample.strategy));
        }
    }
}

/// Runs give equal results if calls finish in a different order and the pool is in a different order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_order_of_events_does_not_change_the_result() {
    for language in Language::ALL {
        let params = Params { tau: 8, ..params() };
        let mut played = Vec::new();
        for unrest in [0, 1, 5] {
            let models = TestModels::new(Arc::new(MemoryJournal { unrest, ..MemoryJournal::default() }), false);
            let mut scenes = pool(language, 30);
            scenes.rotate_left(unrest * 5);
            if unrest == 5 {
                scenes.reverse();
            }
            let lane = lane(&models, &models.context(&params), language, &scenes).await;
            played.push((lane, models.journal.by_draw().into_iter().map(timeless).collect::<Vec<_>>()));
        }
        assert!(played[0].0.conversations.len() > 3, "more than one batch");
        assert_eq!(played[0], played[1]);
        assert_eq!(played[0], played[2]);
    }
}

#[tokio::test]
async fn concurrency_does_not_change_the_result() {
    let (models, params) = (models(), params());
    let scenes = pool(Language::Zh, 30);
    let all = lane(&models, &models.context(&params), Language::Zh, &scenes).await;
    assert!(all.conversations.len() > params.batch_size as usize);
    for most in [0, 1, 2, 50] {
        let admission = Admission::new(most);
        let context = Context { admission: &admission, ..models.context(&params) };
        assert_eq!(lane(&models, &context, Language::Zh, &scenes).await, all, "{most}");
        assert_eq!(admission.free(), most.max(1), "all permits are returned");
    }
}

fn timeless(record: Record) -> Record {
    Record { latency_ms: 0, ..record }
}

#[tokio::test]
async fn every_draw_is_used_once() {
    let (models, params) = (models(), params());
    lane(&models, &models.context(&params), Language::En, &pool(Language::En, 30)).await;
    let draws: Vec<String> = models.journal.by_draw().into_iter().map(|record| record.draw).collect();
    assert!(draws.windows(2).all(|pair| pair[0] != pair[1]), "draws are unique per call");
    for draw in ["tess/source/0/rate", "tess/source/0/0/director"] {
        assert!(draws.iter().any(|known| known == draw), "{draw}");
    }
    for part in ["scene", "source", "base", "judge"] {
        assert!(draws.iter().any(|draw| draw.starts_with("tess/source/0/") && draw.ends_with(part)), "{part}");
    }
}

#[tokio::test]
async fn a_limited_lane_is_a_prefix_of_the_full_lane() {
    let (models, params) = (models(), Params { tau: 20, ..params() });
    let scenes = pool(Language::En, 30);
    let full = lane(&models, &models.context(&params), Language::En, &scenes).await;
    for limit in [1, 2, 4] {
        let context = Context { limit: Some(limit), ..models.context(&params) };
        let limited = lane(&models, &context, Language::En, &scenes).await;
        assert_eq!(limited.conversations, full.conversations[..limit as usize]);
        let last = limited.rejects.last().expect("the lane ended below τ");
        assert_eq!((last.id.as_str(), last.reason.name()), ("tess/source", "conversations_exhausted"));
        assert!(last.detail.contains(" of 20"), "{}", last.detail);
    }
}

#[tokio::test]
async fn a_lane_plays_each_suitable_scene_once() {
    let (models, params) = (models(), Params { tau: 1000, ..params() });
    let mut scenes = pool(Language::En, 3);
    scenes.push(Arc::new(scene(Language::Zh, "zh@0", &["Ann"])));
    scenes.push(Arc::new(scene(Language::En, "home@0", &["Ann"])));
    scenes.push(Arc::new(scene(Language::En, "alone@0", &["Tess"])));
    let played = lane(&models, &models.context(&params), Language::En, &scenes).await;
    let mut used: Vec<&str> = played.conversations.iter().map(|conversation| conversation.scene_id.as_str()).collect();
    used.sort_unstable();
    assert_eq!(used, ["book@0", "book@1", "book@2"]);
    assert_eq!(played.rejects.last().map(|reject| reject.reason.name()), Some("scenes_exhausted"));
    let own = Params { own_book: Some(true), ..params };
    let played = lane(&models, &models.context(&own), Language::En, &scenes).await;
    assert!(played.conversations.iter().any(|conversation| conversation.scene_id == "home@0"));
    let played = lane(&models, &models.context(&own), Language::Zh, &scenes[..3]).await;
    assert_eq!(played.rejects.len(), 1);
    let reject = &played.rejects[0];
    assert_eq!((reject.id.as_str(), reject.reason.name()), ("tess/source", "no_scene"));
    for dimension in &models.dimensions {
        assert!(reject.detail.contains(&format!("{} has 0 of 1000", dimension.code)), "{}", reject.detail);
    }
}

#[tokio::test]
async fn a_failed_call_drops_only_its_conversation() {
    let (models, params) = (models(), params());
    let scenes = pool(Language::En, 30);
    let before = lane(&models, &models.context(&params), Language::En, &scenes).await;
    let turn = before.conversations[1].turns.iter().find(|turn| turn.kind == TurnKind::Test).unwrap().index;
    models.journal.change(&format!("tess/source/1/{turn}/base"), |record| {
        record.reply.finish = Some("content_filter".to_owned());
    });
    let after = lane(&models, &models.context(&params), Language::En, &scenes).await;
    assert_eq!(after.conversations[0], before.conversations[0]);
    assert_eq!(after.conversations[1], before.conversations[2], "the rest of the batch is played");
    let rejects: Vec<_> = after.rejects.iter().filter(|reject| reject.reason == RejectReason::ContentFilter).collect();
    assert_eq!(rejects.iter().map(|reject| reject.id.as_str()).collect::<Vec<_>>(), ["tess/source/1"]);
    assert!(after.counts.all_reached(4), "other conversations provide the missing counts");
}

#[tokio::test]
async fn a_random_speaker_is_counted_even_if_the_conversation_fails() {
    let (models, params) = (models(), params());
    let (context, scenes) = (models.context(&params), pool(Language::En, 30));
    let play = || lane(&models, &context, Language::En, &scenes);
    play().await;
    models.journal.change("tess/source/1/0/director", |record| record.reply.text = "whoever".to_owned());
    // The later calls are repeated with the changed history; then every base reply is blocked.
    play().await;
    for record in models.journal.records.lock().unwrap().values_mut() {
        if record.draw.starts_with("tess/source/1/") && record.draw.ends_with("/base") {
            record.reply.finish = Some("content_filter".to_owned());
        }
    }
    let played = play().await;
    let of_it = |id: &str| id == "tess/source/1" || id.starts_with("tess/source/1/");
    let rejects = played.rejects.iter().filter(|reject| of_it(&reject.id));
    let rejects: Vec<(&str, &str)> = rejects.map(|reject| (reject.id.as_str(), reject.reason.name())).collect();
    assert_eq!(rejects, [("tess/source/1/0/director", "director:by_lot"), ("tess/source/1", "content_filter")]);
}

#[tokio::test]
async fn a_failed_rating_keeps_the_conversation_but_not_its_samples() {
    let (models, params) = (models(), params());
    let scenes = pool(Language::En, 30);
    lane(&models, &models.context(&params), Language::En, &scenes).await;
    models.journal.change("tess/source/0/rate", |record| record.reply.text = "no idea".to_owned());
    set(&models.journal, "tess/source/1/rate", "quality", "moderate");
    set(&models.journal, "tess/source/2/rate", "quality", "high");
    let played = lane(&models, &models.context(&params), Language::En, &scenes).await;
    let reasons: BTreeMap<&str, &str> =
        played.rejects.iter().map(|reject| (reject.id.as_str(), reject.reason.name())).collect();
    assert_eq!(reasons["tess/source/0"], "bad_reply");
    assert_eq!(reasons["tess/source/1"], "quality:moderate");
    assert!(!reasons.contains_key("tess/source/2"));
    let verdicts: Vec<_> =
        played.conversations.iter().take(3).map(|conversation| (conversation.quality, conversation.kept)).collect();
    assert_eq!(verdicts, [(None, false), (Some(Quality::Moderate), false), (Some(Quality::High), true)]);
    let dropped = ["tess/source/0", "tess/source/1"];
    assert!(played.samples.iter().all(|sample| !dropped.contains(&sample.conversation_id.as_str())));
}

/// Sets a key of the answer in all records of a draw.
fn set(journal: &MemoryJournal, draw: &str, key: &str, value: impl Into<serde_json::Value>) {
    let value = value.into();
    for record in journal.records.lock().unwrap().values_mut().filter(|record| record.draw == draw) {
        let mut answer: serde_json::Value = serde_json::from_str(&record.reply.text).unwrap();
        answer[key] = value.clone();
        record.reply.text = answer.to_string();
    }
}

#[tokio::test]
async fn a_format_fault_excludes_a_turn_or_a_conversation() {
    const ID: &str = "tess/source/0";
    let params = Params { tau: 1000, max_conversations: 1, ..params() };
    let scenes = pool(Language::En, 3);
    let mut tried = [0, 0];
    for (reply, drops_conversation, reason) in [
        ("I was just about to", false, "format:cut_ending"),
        ("As a language model I cannot.", true, "format:reveals_ai"),
    ] {
        for score in [1, 5] {
            let models = models();
            let context = models.context(&params);
            let play = || lane(&models, &context, Language::En, &scenes);
            let before = play().await;
            let mut turns = before.conversations[0].turns.iter();
            let turn =
                turns.rfind(|turn| turn.kind == TurnKind::Test).expect("every conversation has a test turn").index;
            models.journal.change(&format!("{ID}/{turn}/source"), |record| record.reply.text = reply.to_owned());
            // The later calls are repeated with the changed history; their answers are set in turn.
            play().await;
            set(&models.journal, &format!("{ID}/{turn}/judge"), "score", score);
            play().await;
            set(&models.journal, &format!("{ID}/rate"), "quality", "high");
            let played = play().await;
            let conversation = &played.conversations[0];
            let turn = &conversation.turns[turn as usize];
            assert_eq!(turn.source_reply.as_deref(), Some(reply));
            let id = if drops_conversation { ID.to_owned() } else { format!("{ID}#{}", turn.index) };
            let reject = played.rejects.iter().find(|reject| reject.id == id);
            if turn.kept_reply == Some(Candidate::Source) {
                assert_eq!(reject.map(|reject| reject.reason.name()), Some(reason));
                assert_eq!(conversation.kept, !drops_conversation);
                tried[0] += 1;
            } else {
                assert_eq!(reject, None);
                assert!(conversation.kept);
                tried[1] += 1;
            }
            assert!(played.samples.iter().all(|sample| sample.reference != reply));
        }
    }
    assert_eq!(tried, [2, 2], "one score keeps the source reply, the other the base reply");
}

#[tokio::test]
async fn an_error_that_ends_the_run_ends_the_lane() {
    let (models, params) = (models(), params());
    let scenes = pool(Language::En, 30);
    let full = lane(&models, &models.context(&params), Language::En, &scenes).await;
    let records = models.journal.records.lock().unwrap().clone();
    let replay = TestModels::new(Arc::new(MemoryJournal { records: Mutex::new(records), unrest: 0 }), true);
    assert_eq!(lane(&replay, &replay.context(&params), Language::En, &scenes).await, full);
    replay.journal.records.lock().unwrap().retain(|_, record| record.draw != "tess/source/1/rate");
    let context = replay.context(&params);
    let error = played(&replay, &context, Language::En, &scenes, &|_| {})
        .await
        .expect_err("a call is missing from the journal");
    assert!(matches!(&error, AskError::Missing { draw, .. } if draw == "tess/source/1/rate"), "{error}");
}

#[test]
fn the_last_batch_is_no_larger_than_needed() {
    let params =
        Params { tau: 10, batch_size: 8, max_turns: 20, test_every: 4, target_probability: 0.8, ..Params::default() };
    let models = models();
    let mut counts = Counts::new(&models.dimensions);
    assert_eq!(conversations_needed(&params, &counts, 0), 8);
    for dimension in &models.dimensions {
        (0..9).for_each(|_| counts.add(&dimension.code));
    }
    assert_eq!(
        conversations_needed(&params, &counts, 0),
        2,
        "five counts are missing and one conversation is expected to yield four"
    );
    let normal = Params { target_probability: 0.0, ..params.clone() };
    assert_eq!(conversations_needed(&normal, &counts, 0), 5);
    // With finished conversations, their mean yield decides: 45 counts over `ended` conversations.
    for (ended, required) in [(4, 1), (7, 1), (8, 2), (30, 5), (60, 8)] {
        assert_eq!(conversations_needed(&params, &counts, ended), required, "{ended}");
    }
    assert_eq!(
        conversations_needed(&params, &Counts::new(&models.dimensions), 8),
        8,
        "eight conversations yielded no count"
    );
}
