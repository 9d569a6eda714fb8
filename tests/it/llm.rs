//! Calls to a scripted server: retries, errors, budgets and journal records.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dramaturg::llm::{
    Ask, AskError, Budget, Endpoint, Model, Offline, OfflineAnswer, Price, Sampling, Secret, ServedOptions, Shape,
};
use dramaturg::prompt::{PromptError, Prompts};
use dramaturg::schema::{Draw, Message, RejectReason};
use dramaturg::store::FileJournal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Scripted, ScriptedServer, session};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Rating {
    why: String,
    #[schemars(range(min = 1, max = 5))]
    score: u8,
}

struct Rate(&'static str);

impl Ask for Rate {
    const NAME: &'static str = "test/rate";
    type Answer = Rating;

    fn messages(&self, _: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![Message::system("You rate lines of talk, from 1 to 5, and say why."), Message::user(self.0)])
    }

    fn check(&self, answer: &Rating) -> Result<(), String> {
        if answer.why.is_empty() { Err("`why` is empty".to_owned()) } else { Ok(()) }
    }
}

impl OfflineAnswer for Rate {
    fn answer_offline(&self, _: &mut Offline<'_>) -> Rating {
        Rating { why: "so".to_owned(), score: 3 }
    }
}

struct Say;

impl Ask for Say {
    const NAME: &'static str = "test/say";
    type Answer = String;

    fn messages(&self, _: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![Message::user("说点什么吧。")])
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }
}

impl OfflineAnswer for Say {
    fn answer_offline(&self, _: &mut Offline<'_>) -> String {
        "嗯。".to_owned()
    }
}

const GOOD: &str = r#"{"why": "It is in his voice.", "score": 4}"#;

fn good() -> Rating {
    Rating { why: "It is in his voice.".to_owned(), score: 4 }
}

/// A model with a journal of its own.
struct Run {
    model: Arc<Model>,
    _folder: Option<TempDir>,
}

impl Run {
    fn new(endpoint: Endpoint) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = Self::at(folder.path(), endpoint, Budget::default(), false);
        Self { _folder: Some(folder), ..run }
    }

    fn at(folder: &Path, endpoint: Endpoint, budget: Budget, replay: bool) -> Self {
        let session = session(folder, budget, replay);
        let sampling = Sampling { temperature: Some(0.5), max_tokens: Some(100), ..Sampling::default() };
        let price = Some(Price { input: 1.0, cached_input: None, output: 1.0 });
        let model = Model::served("writer", endpoint, &sampling, Value::Null, price, 2, session).unwrap();
        Self { model: Arc::new(model), _folder: None }
    }

    async fn rate(&self) -> Result<Rating, AskError> {
        self.model.ask(&Rate("“Be seated,” he said."), &draw("lane/1")).await
    }

    /// Returns (made, journal, failed, requests).
    fn counts(&self) -> (u64, u64, u64, u64) {
        let totals = self.model.session().usage_tracker.totals();
        (totals.made, totals.journal, totals.failed, totals.requests)
    }
}

fn draw(text: impl std::fmt::Display) -> Draw {
    Draw::Other(text.to_string())
}

fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).map(|error| format!("{error}; ")).collect()
}

#[tokio::test]
async fn transient_errors_are_retried() {
    for fault in [
        Scripted::Body(429, "retry-after: 0", "{}".to_owned()),
        Scripted::error(500, "out of luck"),
        Scripted::error(503, ""),
        Scripted::error(408, ""),
        Scripted::Closed,
        Scripted::Truncated("{\"choices\": [".to_owned()),
        Scripted::Body(200, "content-type: text/html", "<html>Bad gateway</html>".to_owned()),
        Scripted::Body(200, "x-test: 1", "{\"choices\": [".to_owned()),
        Scripted::json(200, &json!({"error": {"message": "upstream", "code": 502}})),
        Scripted::json(200, &json!({"choices": []})),
    ] {
        let server = ScriptedServer::start([fault.clone(), Scripted::content(GOOD)]).await;
        let run = Run::new(server.endpoint());
        assert_eq!(run.rate().await.unwrap_or_else(|error| panic!("{fault:?}: {}", chain(&error))), good());
        assert_eq!(run.counts(), (1, 0, 0, 2), "{fault:?}");
        let [first, second] = &server.bodies()[..] else { panic!("two requests") };
        assert_eq!(first, second, "the same request is sent again");
    }
}

#[tokio::test]
async fn a_lasting_error_fails_the_call_and_is_counted() {
    let server = ScriptedServer::start(vec![Scripted::error(503, "busy"); 3]).await;
    let run = Run::new(server.endpoint());
    let error = run.rate().await.expect_err("three tries");
    assert!(matches!(error, AskError::Transient { tries: 3, .. }) && !error.ends_the_run(), "{error:?}");
    assert!(chain(&error).contains("HTTP 503 from `http://127.0.0.1:"), "{}", chain(&error));
    assert_eq!(run.counts(), (0, 0, 1, 3));
    assert_eq!(run.model.session().usage_tracker.totals().usd, Some(0.0));
}

#[tokio::test]
async fn an_address_that_never_answers_ends_the_run() {
    let server = ScriptedServer::start(vec![Scripted::Closed; 3]).await;
    let run = Run::new(server.endpoint());
    let error = run.rate().await.expect_err("nobody answers");
    assert!(matches!(error, AskError::Unusable { .. }) && error.ends_the_run(), "{error:?}");
    assert_eq!(run.counts(), (0, 0, 1, 3));
    // A server that has answered before may be unavailable for a while.
    let script = [Scripted::content(GOOD), Scripted::Closed, Scripted::Closed, Scripted::Closed];
    let server = ScriptedServer::start(script).await;
    let run = Run::new(server.endpoint());
    run.rate().await.expect("a reply");
    let error = run.model.ask(&Say, &draw("1")).await.expect_err("three tries");
    assert!(matches!(error, AskError::Transient { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_reported_early_and_given_up() {
    let server = ScriptedServer::ruled(|_, _| Scripted::Stalled).await;
    // The paused clock advances faster than connections are opened.
    let endpoint = Endpoint {
        options: ServedOptions { connect_timeout_s: 9 * 3600, ..ServedOptions::default() },
        ..Endpoint::new(server.url(), "some-model")
    };
    let run = Run::new(endpoint);
    let messages = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (listener, begun) = (Arc::clone(&messages), tokio::time::Instant::now());
    run.model
        .session()
        .on_address_message(move |text| listener.lock().unwrap().push((begun.elapsed().as_secs(), text)));
    let draws: Vec<Draw> = (0..12).map(draw).collect();
    let replies = futures::future::join_all(draws.iter().map(|draw| run.model.ask(&Say, draw))).await;
    assert!(replies.iter().all(|reply| matches!(reply, Err(AskError::Unusable { .. }))), "{replies:?}");
    assert!((600..1000).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    let requests = run.model.session().usage_tracker.totals().requests;
    assert!(requests < 30, "{requests}");
    let messages = messages.lock().unwrap();
    let is_reported = |at, text: &str| {
        messages.iter().any(|(second, message)| (at..at + 5).contains(second) && message.contains(text))
    };
    assert!(is_reported(30, "has not responded for 30 s; 12 calls waiting, with a timeout of 300 s"), "{messages:?}");
    assert!(
        is_reported(60, "has not responded for 60 s") && is_reported(240, "has not responded for 240 s"),
        "{messages:?}"
    );
    assert!(is_reported(300, "is not responding (") && is_reported(300, "is failing repeatedly ("), "{messages:?}");
}

#[tokio::test]
async fn max_calls_counts_calls_in_flight_and_no_retries() {
    let bad = Scripted::content("I cannot say.");
    let script = [bad.clone(), Scripted::error(503, ""), Scripted::content(GOOD), bad.clone(), Scripted::content(GOOD)];
    let server = ScriptedServer::start(script).await;
    let folder = tempfile::tempdir().unwrap();
    let budget = Budget { max_calls: Some(2), ..Budget::default() };
    let run = Run::at(folder.path(), server.endpoint(), budget, false);
    run.rate().await.expect("a re-ask and a retry are no further calls");
    let draws = ["1", "2", "3"].map(draw);
    let replies = futures::future::join_all(draws.iter().map(|draw| run.model.ask(&Say, draw))).await;
    let over = replies
        .iter()
        .filter(|reply| matches!(reply, Err(AskError::Budget(limit)) if limit.to_string() == "max_calls = 2"));
    assert_eq!(over.count(), 2, "{replies:?}");
    assert_eq!(server.bodies().len(), 4);
}

#[tokio::test]
async fn token_and_cost_limits_hold_with_many_requests_in_flight() {
    for budget in
        [Budget { max_tokens: Some(1000), ..Budget::default() }, Budget { max_usd: Some(0.001), ..Budget::default() }]
    {
        let server = ScriptedServer::ruled(|_, _| Scripted::content("好。")).await;
        let folder = tempfile::tempdir().unwrap();
        let run = Run::at(folder.path(), server.endpoint(), budget, false);
        let draws: Vec<Draw> = (0..150).map(draw).collect();
        let replies = futures::future::join_all(draws.iter().map(|draw| run.model.ask(&Say, draw))).await;
        let over = replies.iter().filter(|reply| matches!(reply, Err(AskError::Budget(_)))).count();
        let totals = run.model.session().usage_tracker.totals();
        // A reply may have 100 tokens and has 2; its prompt has 10. The last call that may begin leaves room for a long reply.
        assert!(totals.usage.prompt + totals.usage.completion <= 1000, "{totals:?}");
        assert!(totals.made >= 70, "those in flight are waited for: {totals:?}");
        assert_eq!(replies.len(), over + usize::try_from(totals.made).unwrap());
    }
}

#[tokio::test]
async fn budgets_include_the_usage_of_earlier_processes() {
    let server = ScriptedServer::ruled(|_, _| Scripted::content("好。")).await;
    let folder = tempfile::tempdir().unwrap();
    let run = Run::at(folder.path(), server.endpoint(), Budget::default(), false);
    for draw in 0..10 {
        run.model.ask(&Say, &self::draw(draw)).await.expect("twelve tokens");
    }
    drop(run);
    for budget in
        [Budget { max_tokens: Some(200), ..Budget::default() }, Budget { max_usd: Some(0.0002), ..Budget::default() }]
    {
        let run = Run::at(folder.path(), server.endpoint(), budget, false);
        let error = run.model.ask(&Say, &draw("another")).await.expect_err("120 are used, and a reply may have 100");
        assert!(matches!(error, AskError::Budget(_)), "{error:?}");
        run.model.ask(&Say, &draw("3")).await.expect("it is in the journal");
    }
    assert_eq!(server.bodies().len(), 10);
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    for (fault, ends_the_run) in [
        (Scripted::error(401, "no"), true),
        (Scripted::error(404, "model `m` does not exist"), true),
        (Scripted::Body(429, "x-test: 1", json!({"error": {"code": "insufficient_quota"}}).to_string()), true),
        (Scripted::error(400, "maximum context length is 10 tokens, lower max_tokens"), false),
        (Scripted::error(402, "insufficient credits, see billing"), true),
        (Scripted::error(400, "/chat/completions: Invalid model name passed in model=m"), true),
        (Scripted::error(400, "litellm.ContextWindowExceededError: 10 tokens"), false),
        (Scripted::error(403, "this key may not"), true),
        (Scripted::error(422, "no"), false),
        (Scripted::json(200, &json!({"error": {"message": "no", "code": 401}})), true),
    ] {
        let server = ScriptedServer::start([fault.clone(), Scripted::content(GOOD)]).await;
        let run = Run::new(server.endpoint());
        let error = run.rate().await.expect_err("hopeless");
        assert_eq!(error.ends_the_run(), ends_the_run, "{fault:?}: {error:?}");
        assert_eq!(run.counts(), (0, 0, 1, 1), "{fault:?}");
    }
}

#[tokio::test]
async fn damaged_replies_are_parsed() {
    for message in [
        json!({"content": GOOD}),
        json!({"content": format!("Sure!\n```json\n{GOOD}\n```")}),
        json!({"content": GOOD.replace('}', ",}")}),
        json!({"content": GOOD.replace('"', "'")}),
        json!({"content": format!("<think>{{\"score\": 1}}?</think>{GOOD}")}),
        json!({"content": [{"type": "text", "text": GOOD}], "reasoning_content": "Hm."}),
    ] {
        let server = ScriptedServer::start([Scripted::message(&message, "stop")]).await;
        let run = Run::new(server.endpoint());
        assert_eq!(run.rate().await.expect("a reply"), good(), "{message}");
        assert_eq!(run.counts(), (1, 0, 0, 1));
    }
}

#[tokio::test]
async fn half_a_surrogate_pair_is_replaced() {
    let body = r#"{"choices": [{"message": {"content": "好\ud83d。"}}]}"#;
    let server = ScriptedServer::start([Scripted::Body(200, "x-test: 1", body.to_owned())]).await;
    let run = Run::new(server.endpoint());
    assert_eq!(run.model.ask(&Say, &draw("1")).await.expect("a reply"), "好\u{fffd}。");
    let totals = run.model.session().usage_tracker.totals();
    assert!(totals.usage.estimated && totals.usage.prompt > 0 && totals.usage.completion > 0, "{totals:?}");
}

#[tokio::test]
async fn a_bad_reply_is_asked_again_and_both_are_in_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let bad = r#"{"why": "", "score": 9}"#;
    let empty = r#"{"why": "", "score": 4}"#;
    let server = ScriptedServer::start([bad, empty, GOOD].map(Scripted::content)).await;
    let run = Run::at(folder.path(), server.endpoint(), Budget::default(), false);
    assert_eq!(run.rate().await.expect("the third reply is good"), good());
    assert_eq!(run.counts(), (1, 0, 0, 3));
    assert_eq!(run.model.session().usage_tracker.totals().usage.prompt, 30);
    let bodies = server.bodies();
    assert_eq!(bodies[1]["messages"][2], json!({"role": "assistant", "content": bad}));
    let feedback = bodies[1]["messages"][3]["content"].as_str().unwrap();
    assert!(feedback.contains("at `/score`") && feedback.contains("maximum of 5"), "{feedback}");
    assert!(bodies[2]["messages"][5]["content"].as_str().unwrap().contains("`why` is empty"));
    assert_ne!(bodies[0]["seed"], bodies[1]["seed"]);
    drop(run);
    // No server is needed any more, not even by a replay.
    for replay in [false, true] {
        let run = Run::at(folder.path(), Endpoint::new("http://127.0.0.1:1/v1", "m"), Budget::default(), replay);
        assert_eq!(run.rate().await.expect("it is in the journal"), good());
        assert_eq!(run.counts(), (0, 1, 0, 3));
        if replay {
            let error = run.model.ask(&Rate("“Be seated,” he said."), &draw("lane/2")).await.expect_err("another draw");
            assert!(matches!(&error, AskError::Missing { draw, .. } if draw == "lane/2") && error.ends_the_run());
        }
    }
    let journal = FileJournal::open(&folder.path().join("journal.jsonl")).unwrap();
    assert_eq!(journal.len(), 3);
}

#[tokio::test]
async fn repeated_bad_replies_fail_the_call() {
    let script = ["", "I would say so.", "I cannot say."].map(Scripted::content);
    let server = ScriptedServer::start(script).await;
    let run = Run::new(server.endpoint());
    let error = run.rate().await.expect_err("no reply was good");
    assert!(matches!(&error, AskError::BadReply { tries: 3, fault, .. } if fault.contains("not JSON")), "{error:?}");
    let bodies = server.bodies();
    assert_eq!(bodies[0]["messages"], bodies[1]["messages"], "nothing is said about an empty reply");
    assert_ne!(bodies[0]["seed"], bodies[1]["seed"]);
    let feedback = bodies[2]["messages"][3]["content"].as_str().unwrap();
    assert!(feedback.contains("not JSON") && feedback.contains("\"maximum\":5"), "the schema is spelt out: {feedback}");
    assert_eq!(run.counts(), (0, 0, 1, 3));
    let faults = run.model.session().usage_tracker.faults();
    assert_eq!(faults, [("writer".to_owned(), "bad_reply", 2), ("writer".to_owned(), "empty_reply", 1)]);
}

#[tokio::test]
async fn plain_text_is_trimmed_and_must_be_complete() {
    let cut = Scripted::message(&json!({"content": "我想说"}), "length");
    let server = ScriptedServer::start([cut, Scripted::content("<think>想</think>\n\n 好。\n")]).await;
    let run = Run::new(server.endpoint());
    assert_eq!(run.model.ask(&Say, &draw("1")).await.expect("a reply"), "好。");
    let bodies = server.bodies();
    assert_eq!(bodies[0].get("response_format"), None);
    assert_eq!((&bodies[0]["max_tokens"], &bodies[1]["max_tokens"]), (&json!(100), &json!(200)));
    assert_eq!(bodies[0]["messages"], bodies[1]["messages"]);
}

#[tokio::test]
async fn a_reply_cut_by_length_is_asked_again_with_more_room_once() {
    let cut = Scripted::message(&json!({"content": "我想说"}), "MAX_TOKENS");
    let script = [cut.clone(), cut.clone(), Scripted::content("好。")];
    let server = ScriptedServer::start(script).await;
    let run = Run::new(server.endpoint());
    assert_eq!(run.model.ask(&Say, &draw("1")).await.expect("a reply"), "好。");
    let bodies = server.bodies();
    let room: Vec<&Value> = bodies.iter().map(|body| &body["max_tokens"]).collect();
    assert_eq!(room, [100, 200, 200]);
    let feedback = bodies[2]["messages"][2]["content"].as_str().unwrap();
    assert!(feedback.starts_with("上面的回复无法使用"), "the last request asks for a shorter reply: {feedback}");
    let server = ScriptedServer::start(vec![cut; 4]).await;
    let error = Run::new(server.endpoint()).model.ask(&Say, &draw("1")).await.expect_err("it stays cut");
    assert_eq!((error.reason().name(), server.bodies().len()), ("cut_reply", 4));
}

#[tokio::test]
async fn refusals_are_journaled_and_not_asked_again() {
    for (refusal, outcome) in [
        (Scripted::message(&json!({"content": null, "refusal": "I would rather not."}), "stop"), "model_refused"),
        (Scripted::message(&json!({"content": ""}), "content_filter"), "content_filter"),
        (Scripted::message(&json!({"content": "He took the"}), "SAFETY"), "content_filter"),
        (Scripted::error(400, "the prompt triggered the content_filter"), "content_filter"),
    ] {
        let server = ScriptedServer::start([refusal.clone()]).await;
        let folder = tempfile::tempdir().unwrap();
        let run = Run::at(folder.path(), server.endpoint(), Budget::default(), false);
        for _ in 0..2 {
            let error = run.rate().await.expect_err("a refusal");
            assert!(matches!(&error, AskError::Refused { reason, .. } if !reason.is_empty()), "{refusal:?}: {error:?}");
            assert_eq!(error.reason().name(), outcome);
            assert!(!error.detail().contains("127.0.0.1"), "{}", error.detail());
        }
        let journal = std::fs::read_to_string(folder.path().join("journal.jsonl")).unwrap();
        assert!(!journal.contains("127.0.0.1"), "{journal}");
        assert_eq!(server.bodies().len(), 1);
    }
}

#[tokio::test]
async fn a_server_without_schemas_gets_the_schema_in_the_prompt_from_then_on() {
    let refused = Scripted::error(400, "'response_format' of type 'json_schema' is unsupported with this model.");
    let unknown = Scripted::error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
    let script = [refused, unknown, Scripted::content(GOOD), Scripted::content(GOOD)];
    let server = ScriptedServer::start(script).await;
    let run = Run::new(server.endpoint());
    run.rate().await.expect("a reply");
    run.model.ask(&Rate("“Stay.”"), &draw("lane/1")).await.expect("a reply");
    let bodies = server.bodies();
    let formats: Vec<&Value> = bodies.iter().map(|body| &body["response_format"]["type"]).collect();
    assert_eq!(formats, ["json_schema", "json_object", "json_object", "json_object"]);
    assert_eq!(bodies[0]["response_format"]["json_schema"]["name"], "test_rate");
    assert_eq!((&bodies[1]["max_tokens"], &bodies[3]["max_completion_tokens"]), (&json!(100), &json!(100)));
    assert!(bodies[3]["messages"][1]["content"].as_str().unwrap().contains("\"maximum\":5"));
    assert_eq!(run.counts(), (2, 0, 0, 4));
}

#[tokio::test]
async fn reasoning_is_returned_to_the_server_that_requires_it() {
    let wanted = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    let thought = Scripted::content("<think>五分吧。</think>I would say five.");
    let script = [thought, Scripted::error(400, wanted), Scripted::content(GOOD)];
    let server = ScriptedServer::start(script).await;
    let run = Run::new(server.endpoint());
    run.rate().await.expect("a reply");
    let bodies = server.bodies();
    let answers = [&bodies[1]["messages"][2], &bodies[2]["messages"][2]];
    assert_eq!(answers.map(|answer| answer["content"].as_str()), [Some("I would say five."); 2]);
    assert_eq!(answers.map(|answer| answer["reasoning_content"].as_str()), [None, Some("五分吧。")]);
}

#[tokio::test]
async fn a_key_is_sent_and_never_printed() {
    let key = "sk-secret-0123456789";
    let unauthorized = Scripted::error(401, &format!("Incorrect API key provided: {key}"));
    let echo = Scripted::content(&format!("你的密钥是 {key}。"));
    let server = ScriptedServer::start([echo, unauthorized]).await;
    let endpoint = Endpoint {
        api_key: Some(Secret::new(key)),
        headers: vec![("x-team".to_owned(), Secret::new("team-secret"))],
        ..server.endpoint()
    };
    let base_url = endpoint.base_urls[0].replace("http://", &format!("http://user:{key}@"));
    let folder = tempfile::tempdir().unwrap();
    let run = Run::at(folder.path(), Endpoint { base_urls: vec![base_url], ..endpoint }, Budget::default(), false);
    assert_eq!(run.model.ask(&Say, &draw("1")).await.expect("a reply"), "你的密钥是 (secret)。");
    let error = run.rate().await.expect_err("a wrong key");
    let journal = std::fs::read_to_string(folder.path().join("journal.jsonl")).unwrap();
    let usage_tracker = format!("{:?}", run.model.session().usage_tracker);
    for shown in
        [chain(&error), error.detail(), format!("{error:?}"), format!("{:?}", run.model), journal, usage_tracker]
    {
        assert!(!shown.contains("secret-0123") && !shown.contains("team-secret"), "{shown}");
    }
    let model = &run.model;
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| panic!("{model:?}: {error:?}")));
    let message = panicked.unwrap_err().downcast::<String>().expect("a message");
    assert!(message.contains("(secret)") && !message.contains("secret-0123"), "{message}");
    let head = &server.heads()[1];
    assert!(head.contains(&format!("authorization: Bearer {key}")) && head.contains("x-team: team-secret"), "{head}");
}

#[tokio::test]
async fn waiting_calls_hold_no_permit_and_end_on_stop() {
    let busy = Scripted::Body(503, "retry-after: 3600", "{}".to_owned());
    let server = ScriptedServer::start([busy, Scripted::content("好。")]).await;
    let run = Run::new(Endpoint {
        backoff: Duration::from_hours(1),
        ..server.endpoint_with(|options| options.concurrency = 1)
    });
    let model = Arc::clone(&run.model);
    let waiting = tokio::spawn(async move { model.ask(&Rate("“Be seated,” he said."), &draw("lane/1")).await });
    while server.bodies().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(run.model.ask(&Say, &draw("1")).await.expect("the only permit is free"), "好。");
    run.model.session().stop();
    let error = waiting.await.unwrap().expect_err("it was told to stop");
    assert!(matches!(error, AskError::Interrupted), "{error:?}");
    assert!(matches!(run.model.ask(&Say, &draw("2")).await, Err(AskError::Interrupted)));
    assert_eq!(run.model.ask(&Say, &draw("1")).await.expect("it is in the journal"), "好。");
}

#[tokio::test]
async fn concurrent_calls_with_the_same_key_send_one_request() {
    let server = ScriptedServer::start([Scripted::content(GOOD)]).await;
    let run = Run::new(server.endpoint());
    let answers = futures::future::join_all((0..8).map(|_| run.rate())).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|answer| *answer == good())), "{answers:?}");
    assert_eq!(run.counts(), (1, 7, 0, 8), "one request, spent by each call that read it");
    assert_eq!(server.bodies().len(), 1);
}

#[tokio::test]
async fn a_spent_budget_still_allows_journaled_calls() {
    let server = ScriptedServer::start([Scripted::content(GOOD), Scripted::content("好。")]).await;
    let folder = tempfile::tempdir().unwrap();
    let budget = Budget { max_calls: Some(1), ..Budget::default() };
    let run = Run::at(folder.path(), server.endpoint(), budget, false);
    run.rate().await.expect("the first call");
    let error = run.model.ask(&Say, &draw("1")).await.expect_err("the second call");
    assert!(matches!(&error, AskError::Budget(limit) if limit.to_string() == "max_calls = 1"), "{error:?}");
    run.rate().await.expect("it is in the journal");
    assert_eq!(server.bodies().len(), 1);
}

#[tokio::test]
async fn a_rate_limited_request_does_not_count_as_a_try() {
    let limited = Scripted::Body(429, "retry-after: 0", "{}".to_owned());
    let mut script = vec![Scripted::content("好。")];
    script.extend(vec![limited; 5]);
    script.push(Scripted::content(GOOD));
    let server = ScriptedServer::start(script).await;
    let run = Run::new(server.endpoint());
    run.model.ask(&Say, &draw("1")).await.expect("a reply");
    assert_eq!(run.rate().await.expect("max_tries is 3, and it was refused five times"), good());
    assert_eq!(run.model.session().usage_tracker.faults(), [("writer".to_owned(), "rate_limited", 5)]);
}

#[tokio::test]
async fn several_addresses_share_the_calls_and_a_dead_one_is_skipped() {
    let dead = ScriptedServer::ruled(|_, _| Scripted::Closed).await;
    let (one, two) = (
        ScriptedServer::ruled(|_, _| Scripted::content("一。")).await,
        ScriptedServer::ruled(|_, _| Scripted::content("一。")).await,
    );
    let endpoint = Endpoint {
        base_urls: vec![dead.url(), one.url(), two.url()],
        ..one.endpoint_with(|options| options.max_tries = 6)
    };
    let run = Run::new(endpoint);
    let messages = Arc::new(std::sync::Mutex::new(Vec::new()));
    let listener = Arc::clone(&messages);
    run.model.session().on_address_message(move |text| listener.lock().unwrap().push(text));
    let draws: Vec<Draw> = (0..60).map(draw).collect();
    let replies = futures::future::join_all(draws.iter().map(|draw| run.model.ask(&Say, draw))).await;
    assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    let counts = [&dead, &one, &two].map(|server| server.bodies().len());
    assert!((8..40).contains(&counts[0]) && counts[1] > 10 && counts[2] > 10, "{counts:?}");
    let messages = messages.lock().unwrap();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(
        messages[0].contains("is failing repeatedly (no complete reply)") && messages[0].contains(&dead.url()),
        "{messages:?}"
    );
}

#[tokio::test]
async fn a_dead_address_does_not_end_the_run_while_another_answers() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let dead = format!("http://{}/v1", free.local_addr().expect("it is bound"));
    drop(free);
    let alive = ScriptedServer::ruled(|_, _| Scripted::content("一。")).await;
    let run = Run::new(Endpoint { base_urls: vec![dead, alive.url()], ..alive.endpoint() });
    for draw in 0..12 {
        run.model.ask(&Say, &self::draw(draw)).await.expect("the other address answers");
    }
    assert_eq!(alive.bodies().len(), 12);
}

#[tokio::test]
async fn a_long_retry_after_is_reported() {
    let limited = Scripted::Body(429, "retry-after: 30", json!({"error": {"message": "slow down"}}).to_string());
    let server = ScriptedServer::start([limited]).await;
    let run = Run::new(server.endpoint());
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    run.model
        .session()
        .on_address_message(move |text| drop(sender.lock().unwrap().take().map(|sender| sender.send(text))));
    let model = Arc::clone(&run.model);
    let waiting = tokio::spawn(async move { model.ask(&Say, &draw("1")).await });
    let messages = receiver.await.expect("a message is reported");
    assert!(messages.contains("is rate limited (HTTP 429: slow down); 1 call waiting, next try in 30 s"), "{messages}");
    run.model.session().stop();
    assert!(matches!(waiting.await.unwrap(), Err(AskError::Interrupted)), "waiting calls are cancelled");
    assert_eq!(run.model.session().in_flight(), 0);
}

#[tokio::test]
async fn a_prompt_that_is_certainly_too_long_is_not_sent() {
    let server = ScriptedServer::start([Scripted::content(GOOD)]).await;
    let run = Run::new(server.endpoint_with(|options| options.context_window = Some(110)));
    let error = run.rate().await.expect_err("the reply alone may have 100 tokens");
    assert!(!error.ends_the_run() && error.reason() == RejectReason::ContextTooLong, "{error:?}");
    assert!(error.to_string().contains("exceed the context window of 110"), "{error}");
    assert!(server.bodies().is_empty());
    let run = Run::new(server.endpoint_with(|options| options.context_window = Some(1000)));
    run.rate().await.expect("there is room");
}

#[tokio::test]
async fn a_server_without_a_system_role_gets_no_system_message_from_then_on() {
    let refused = Scripted::error(400, "'messages[0].role' does not support 'system' with this model.");
    let server = ScriptedServer::start([refused, Scripted::content(GOOD), Scripted::content(GOOD)]).await;
    let run = Run::new(server.endpoint());
    run.rate().await.expect("a reply");
    run.model.ask(&Rate("“Stay.”"), &draw("lane/1")).await.expect("a reply");
    let bodies = server.bodies();
    let roles =
        |body: &Value| body["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect::<Vec<_>>();
    assert_eq!(roles(&bodies[0]), ["system", "user"]);
    for body in &bodies[1..] {
        assert_eq!(roles(body), ["user"]);
        assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("You rate lines of talk"));
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = ScriptedServer::ruled(|_, _| Scripted::content(GOOD)).await;
    let location: &'static str = Box::leak(format!("location: {}/chat/completions", other.url()).into_boxed_str());
    for status in [301, 302, 307, 308] {
        let server = ScriptedServer::start([Scripted::Body(status, location, String::new())]).await;
        let error = Run::new(server.endpoint()).rate().await.expect_err("redirects are not followed");
        assert!(matches!(error, AskError::Unusable { .. }), "{error:?}");
    }
    assert!(other.heads().is_empty());
}

#[test]
fn a_base_url_is_validated_before_any_request() {
    for base_url in ["", "localhost:8000/v1", "ftp://localhost/v1", "http:///v1 x"] {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path(), Budget::default(), false);
        let endpoint = Endpoint::new(base_url, "m");
        let model = Model::served("writer", endpoint, &Sampling::default(), Value::Null, None, 2, session);
        assert!(matches!(model, Err(AskError::Unusable { .. })), "{base_url}");
    }
}
