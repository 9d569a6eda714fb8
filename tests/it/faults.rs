//! A server with every kind of fault: the result of a run does not depend on them, and no answered call is repeated.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dramaturg::llm::{Ask, Budget, Model, Offline, OfflineAnswer, Sampling};
use dramaturg::prompt::{PromptError, Prompts};
use dramaturg::schema::{Draw, Message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Scripted, ScriptedServer, TestRun, session};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Line {
    speaker: String,
    words: String,
}

struct Continue(usize);

impl Ask for Continue {
    const NAME: &'static str = "test/continue";
    type Answer = Line;

    fn messages(&self, _: &Prompts) -> Result<Vec<Message>, PromptError> {
        Ok(vec![Message::system("You go on with a play."), Message::user(format!("第{}场。Go on.", self.0))])
    }
}

impl OfflineAnswer for Continue {
    fn answer_offline(&self, _: &mut Offline<'_>) -> Line {
        Line { speaker: "文仲仇".to_owned(), words: "嗯。".to_owned() }
    }
}

/// Faults of a request; `date` is the server's clock.
const FAULTS: [&str; 20] = [
    "429 in seconds",
    "429 with a date",
    "500",
    "502",
    "503",
    "reset before the headers",
    "reset amid the body",
    "stall",
    "truncated JSON",
    "HTML",
    "an error with 200",
    "no choices",
    "prose around JSON",
    "a trailing comma",
    "a broken schema",
    "a thought",
    "empty",
    "cut",
    "half a surrogate pair",
    "no usage",
];

/// Returns the reply to a request, and whether it is an answer that must not be requested again.
fn faulty_reply(fault: &str, good: &str) -> (Scripted, bool) {
    let body = |text: String| Scripted::Body(200, "x-test: 1", text);
    let limited = |header| Scripted::Body(429, header, json!({"error": {"message": "slow down"}}).to_string());
    match fault {
        "429 in seconds" => (limited("retry-after: 0"), false),
        "429 with a date" => {
            let header = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT";
            (limited(header), false)
        }
        "500" => (Scripted::error(500, "out of luck"), false),
        "502" => (Scripted::error(502, ""), false),
        "503" => (Scripted::Body(503, "retry-after: 0", String::new()), false),
        "reset before the headers" => (Scripted::Closed, false),
        "reset amid the body" => (Scripted::Truncated("{\"choices\": [{\"mess".to_owned()), false),
        "stall" => (Scripted::Stalled, false),
        "truncated JSON" => (body("{\"choices\": [{\"message\": {".to_owned()), false),
        "HTML" => (body("<html><body>Bad gateway</body></html>".to_owned()), false),
        "an error with 200" => (Scripted::json(200, &json!({"error": {"message": "upstream", "code": 502}})), false),
        "no choices" => (Scripted::json(200, &json!({"choices": []})), false),
        "prose around JSON" => (Scripted::content(&format!("Here you are:\n```json\n{good}\n```\nMore?")), true),
        "a trailing comma" => (Scripted::content(&good.replace('}', ",}")), true),
        "a broken schema" => (Scripted::content("{\"speaker\": 3}"), false),
        "a thought" => (Scripted::content(&format!("<think>谁说话？{{</think>{good}")), true),
        "empty" => (Scripted::content(""), false),
        "cut" => (Scripted::message(&json!({"content": &good[..10]}), "length"), false),
        "half a surrogate pair" => {
            let thought = json!({"content": good, "reasoning_content": "@"});
            let whole = json!({"choices": [{"message": thought, "finish_reason": ""}]});
            (body(whole.to_string().replace('@', "\\ud83d")), true)
        }
        "no usage" => (Scripted::json(200, &json!({"choices": [{"message": {"content": good}}]})), true),
        _ => (Scripted::content(good), true),
    }
}

/// The server's counts: how often each question was received and answered.
#[derive(Default)]
struct Seen {
    asked: BTreeMap<String, usize>,
    answered: BTreeMap<String, usize>,
}

/// Sends many questions to a faulty server and returns the answers.
///
/// `fault` returns the fault of the n-th request for a question. Answers depend only on the question.
async fn lines(fault: impl Fn(&str, usize) -> &'static str + Send + Sync + 'static) -> Vec<String> {
    const QUESTIONS: usize = 48;
    let seen = Arc::new(Mutex::new(Seen::default()));
    let books = Arc::clone(&seen);
    let server = ScriptedServer::ruled(move |_, body: &Value| {
        let question = body["messages"][1]["content"].as_str().unwrap_or_default().to_owned();
        let good = json!({"speaker": "温仲丑", "words": format!("{question} “Not now.”")}).to_string();
        let mut seen = books.lock().unwrap();
        let asked = seen.asked.entry(question.clone()).or_default();
        *asked += 1;
        let (reply, is_answer) = faulty_reply(fault(&question, *asked - 1), &good);
        *seen.answered.entry(question).or_default() += usize::from(is_answer);
        reply
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), Budget::default(), false);
    let endpoint = server.endpoint_with(|options| (options.max_tries, options.timeout_s) = (8, 2));
    let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
    let model = Model::served("writer", endpoint, &sampling, Value::Null, None, 3, Arc::clone(&session)).unwrap();
    let asks = (0..QUESTIONS).map(|n| {
        let model = &model;
        async move { model.ask(&Continue(n), &Draw::Other(format!("play/{n}"))).await }
    });
    let answers = futures::future::join_all(asks).await;
    let answered = seen.lock().unwrap().answered.clone();
    let twice: Vec<_> = answered.iter().filter(|(_, count)| **count != 1).collect();
    assert!(twice.is_empty(), "asked again though answered, or never: {twice:?}");
    assert_eq!(session.usage_tracker.totals().made, QUESTIONS as u64);
    answers.into_iter().map(|line| serde_json::to_string(&line.expect("an answer")).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_fault_alone_changes_nothing() {
    let whole = lines(|_, _| "none").await;
    for fault in FAULTS {
        let faulty = lines(move |question, asked| if asked == 0 && draws(question, 4) == 0 { fault } else { "none" });
        assert_eq!(faulty.await, whole, "{fault}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_faults_mixed_change_nothing() {
    let whole = lines(|_, _| "none").await;
    for round in 0..3 {
        let faulty = lines(move |question, asked| {
            let key = format!("{round}{question}{asked}");
            if draws(&key, 10) == 0 { FAULTS[draws(&key, FAULTS.len() * 10) / 10] } else { "none" }
        });
        assert_eq!(faulty.await, whole);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outage_of_two_seconds_changes_nothing() {
    let whole = lines(|_, _| "none").await;
    let away = Mutex::new((0, None::<Instant>));
    let faulty = lines(move |_, _| {
        let mut away = away.lock().unwrap();
        away.0 += 1;
        let is_away = away.0 > 10 && away.1.get_or_insert_with(Instant::now).elapsed() < Duration::from_secs(2);
        if is_away { "reset before the headers" } else { "none" }
    });
    assert_eq!(faulty.await, whole);
}

/// Faults that plain-text replies can have.
fn applies_to_text(fault: &str) -> bool {
    !matches!(fault, "prose around JSON" | "a trailing comma" | "a broken schema" | "stall")
}

/// Returns a value that matches a schema, for the keywords that asks use; lists have one item.
fn instance(schema: &Value, root: &Value, word: &str) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#')) {
        return instance(root.pointer(name).expect("what is referred to"), root, word);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[draws(word, words.len())].clone();
    }
    if let Some(word) = schema.get("const") {
        return word.clone();
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return instance(&choices[draws(word, choices.len())], root, word);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let keys = schema["properties"].as_object().into_iter().flatten();
            Value::Object(
                keys.map(|(key, schema)| (key.clone(), instance(schema, root, &format!("{word}/{key}")))).collect(),
            )
        }
        Some("array") => json!([instance(&schema["items"], root, word)]),
        Some("integer") => json!(1 + draws(word, 5)),
        _ => json!("He has said so twice, and means it."),
    }
}

/// Builds the small data set with a base model and a judge that a server plays, and returns its tables, with what `--json`
/// says. `fault` says what happens to the n-th request for a question; some questions are refused in every build.
async fn tables(
    fault: impl Fn(&str, usize) -> &'static str + Send + Sync + 'static,
) -> (BTreeMap<PathBuf, Vec<u8>>, Value) {
    let seen = Arc::new(Mutex::new((BTreeMap::<String, usize>::new(), BTreeSet::<String>::new())));
    let (books, twice) = (Arc::clone(&seen), Arc::new(Mutex::new(Vec::new())));
    let again = Arc::clone(&twice);
    let server = ScriptedServer::ruled(move |_, body: &Value| {
        let question = json!([body["messages"][0], body["messages"][1]]).to_string();
        let schema = &body["response_format"]["json_schema"]["schema"];
        if schema.is_null() {
            match draws(&question, 12) {
                0 => return Scripted::message(&json!({"content": null, "refusal": "I would rather not."}), "stop"),
                1 => return Scripted::error(400, "the prompt triggered the content_filter"),
                2 => return Scripted::error(400, "maximum context length is 10 tokens"),
                _ => {}
            }
        }
        let good = if schema.is_null() {
            format!("(nods) That is {} times now that I hear it.", draws(&question, 90) + 2)
        } else {
            instance(schema, schema, &question).to_string()
        };
        let (asked, answered) = &mut *books.lock().unwrap();
        if answered.contains(&body.to_string()) {
            again.lock().unwrap().push(question.clone());
        }
        let asked = asked.entry(question.clone()).or_default();
        *asked += 1;
        let fault = fault(&question, *asked - 1);
        let fault = if schema.is_null() && !applies_to_text(fault) { "none" } else { fault };
        let (reply, is_answer) = faulty_reply(fault, &good);
        if is_answer {
            answered.insert(body.to_string());
        }
        reply
    })
    .await;
    let run = TestRun::new();
    let model = format!(
        "[models.served]\nprovider = \"openai\"\nmodel = \"m\"\ntimeout_s = 10\nbase_url = \"{}\"\n\n[cast]",
        server.url()
    );
    run.change("[cast]", &model);
    run.change("base = \"reader\"", "base = \"served\"");
    run.change("judge = \"reader\"", "judge = \"served\"");
    let summary = run.build(&[], 3);
    assert_eq!(*twice.lock().unwrap(), Vec::<String>::new(), "requested again although answered");
    (run.tables(), summary)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_with_every_fault_writes_the_same_bytes() {
    let (whole, summary) = tables(|_, _| "none").await;
    assert!(summary["calls"]["made"].as_u64() > Some(20) && summary["calls"]["failed"].as_u64() > Some(0), "{summary}");
    let (faulty, faulty_summary) = tables(|question, asked| {
        let key = format!("{question}{asked}");
        // More than a tenth, since there are few calls; no call fails at every try.
        if asked < 3 && draws(&key, 4) == 0 { FAULTS[draws(&key, FAULTS.len() * 4) / 4] } else { "none" }
    })
    .await;
    assert!(faulty_summary["requests"].as_u64() > summary["requests"].as_u64(), "{faulty_summary}");
    for count in ["made", "failed"] {
        assert_eq!(faulty_summary["calls"][count], summary["calls"][count], "{faulty_summary}");
    }
    assert!(faulty == whole, "the data sets differ");
}

/// Returns a number below a bound, derived from a text.
fn draws(word: &str, bound: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    usize::try_from(hasher.finish() % bound as u64).expect("it is below the bound")
}
