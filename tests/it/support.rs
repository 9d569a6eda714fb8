//! Shared by the integration tests: a working directory for the program, and a chat completions server on loopback.

pub(crate) mod scripted_extraction;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dramaturg::llm::{Budget, Endpoint, Journal, ServedOptions, Session};
use dramaturg::prompt::Prompts;
use dramaturg::schema::Language;
use dramaturg::store::FileJournal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Returns the program with arguments, in a folder and with an empty environment.
pub(crate) fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("dramaturg"));
    command.current_dir(folder).env_clear().args(arguments);
    command
}

/// Returns a session with seed 7, without prompt templates, whose journal is in a folder.
pub(crate) fn session(folder: &Path, budget: Budget, replay: bool) -> Arc<Session> {
    let journal: Arc<dyn Journal> =
        Arc::new(FileJournal::open(&folder.join("journal.jsonl")).expect("the journal opens"));
    let prompts = Prompts::new([], &BTreeMap::new()).expect("there are no templates to parse");
    Arc::new(Session::new(7, prompts, journal, budget, replay))
}

/// A temporary working directory, and the program run in it.
pub(crate) struct TestRun {
    folder: TempDir,
}

impl TestRun {
    /// Makes an empty working directory.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().expect("the temporary folder is writable") }
    }

    /// Makes a working directory with `small.toml`, an offline pipeline with two of the included books.
    pub(crate) fn new() -> Self {
        let run = Self::empty();
        let pipeline = include_str!("../fixtures/small.toml").replace("$ROOT", env!("CARGO_MANIFEST_DIR"));
        run.write("small.toml", &pipeline);
        run
    }

    /// Writes a file, and makes its folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder is writable");
        std::fs::write(path, text).expect("the file is writable");
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    /// Returns the program with arguments, in the working directory and with an empty environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        program(self.folder.path(), arguments)
    }

    /// Runs the program 100 columns wide, and returns exit code, stdout and stderr in one text.
    pub(crate) fn transcript(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).env("COLUMNS", "100").output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the program prints UTF-8");
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let code = output.status.code().unwrap_or(-1);
        let whole = format!(
            "exit {code:?}
-- stdout
{stdout}-- stderr
{stderr}"
        );
        let lines: Vec<&str> = whole.lines().map(str::trim_end).collect();
        lines
            .join(
                "
",
            )
            .replace(env!("CARGO_PKG_VERSION"), "VERSION")
    }

    /// Changes the pipeline file.
    pub(crate) fn change(&self, from: &str, to: &str) {
        let path = self.folder.path().join("small.toml");
        let text = std::fs::read_to_string(&path).expect("the pipeline file");
        let changed = text.replacen(from, to, 1);
        assert_ne!(text, changed, "`{from}` stands in the pipeline file");
        std::fs::write(path, changed).expect("the pipeline file");
    }

    /// Returns the working directory.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Builds, expects an exit code, and returns the `--json` output.
    pub(crate) fn build(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(&[&["build", "small.toml", "--json", "--quiet"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{errors}");
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    /// Returns the path of the journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.path().join("outputs/small/journal.jsonl")
    }

    /// Returns the bytes of every Parquet file by its path.
    pub(crate) fn tables(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let dataset = self.folder.path().join("outputs/small/dataset");
        let mut tables = BTreeMap::new();
        for config in std::fs::read_dir(&dataset).expect("a data set") {
            let config = config.expect("an entry").path();
            if config.is_dir() {
                for table in std::fs::read_dir(config).expect("a config") {
                    let table = table.expect("an entry").path();
                    let bytes = std::fs::read(&table).expect("a table");
                    tables.insert(table.strip_prefix(&dataset).expect("below the data set").to_owned(), bytes);
                }
            }
        }
        tables
    }
}

/// How the server responds to a request.
#[derive(Debug, Clone)]
pub(crate) enum Scripted {
    /// Answers with a status, one more header line, and a body.
    Body(u16, &'static str, String),
    /// Announces a longer body than it sends.
    Truncated(String),
    /// Closes the connection without a response.
    Closed,
    /// Accepts the request and never responds.
    Stalled,
}

impl Scripted {
    /// Answers with a chat completion that has this content.
    pub(crate) fn content(content: &str) -> Self {
        Self::message(&json!({"content": content}), "stop")
    }

    /// Answers with a chat completion that has this message.
    pub(crate) fn message(message: &Value, finish: &str) -> Self {
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 2});
        let choices = json!([{"message": message, "finish_reason": finish}]);
        Self::json(200, &json!({"model": "served-1", "choices": choices, "usage": usage}))
    }

    /// Answers with a status and JSON.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Body(status, "x-test: 1", body.to_string())
    }

    /// Answers with a status and an error's message.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::json(status, &json!({"error": {"message": message}}))
    }
}

/// Returns the response to the n-th request, counted from 0; the body of a request without one is null.
type Rule = dyn Fn(usize, &Value) -> Scripted + Send + Sync;

/// A server that follows a script or a rule and records its requests.
pub(crate) struct ScriptedServer {
    port: u16,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
    answers: watch::Sender<bool>,
}

impl ScriptedServer {
    /// Starts a server that follows a script, one entry per request in the order of their arrival. A request beyond the script
    /// is answered with 418, which is not retried.
    pub(crate) async fn start(script: impl IntoIterator<Item = Scripted>) -> Self {
        let script = Mutex::new(script.into_iter().collect::<VecDeque<_>>());
        let end = || Scripted::Body(418, "x-test: 1", "the script is at its end".to_owned());
        Self::ruled(move |_, _| script.lock().unwrap().pop_front().unwrap_or_else(end)).await
    }

    /// Starts a server that follows a rule.
    pub(crate) async fn ruled(rule: impl Fn(usize, &Value) -> Scripted + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound listener has an address").port();
        let rule: Arc<Rule> = Arc::new(rule);
        let server = Self { port, seen: Arc::default(), answers: watch::Sender::new(true) };
        let (seen, answers) = (Arc::clone(&server.seen), server.answers.subscribe());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&rule), Arc::clone(&seen), answers.clone()));
            }
        });
        server
    }

    /// Sets whether requests are answered; otherwise they wait.
    pub(crate) fn answer(&self, answers: bool) {
        self.answers.send_replace(answers);
    }

    /// Returns the URL up to and with `/v1`.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Returns an endpoint for this server with a negligible backoff.
    pub(crate) fn endpoint(&self) -> Endpoint {
        self.endpoint_with(|_| ())
    }

    /// Returns [`ScriptedServer::endpoint`] with changed settings.
    pub(crate) fn endpoint_with(&self, change: impl FnOnce(&mut ServedOptions)) -> Endpoint {
        let mut options = ServedOptions { max_tries: 3, ..ServedOptions::default() };
        change(&mut options);
        Endpoint { backoff: Duration::from_millis(1), options, ..Endpoint::new(self.url(), "m") }
    }

    /// Returns the heads of the requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|(head, _)| head.clone()).collect()
    }

    /// Returns the bodies of the requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.seen.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    rule: Arc<Rule>,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
    mut answers: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        if let Some(end) = text.find("\r\n\r\n") {
            // A GET has no body.
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            break (end, length.trim().parse::<usize>().expect("a number"));
        }
    };
    while bytes.len() < head + 4 + length {
        stream.read_buf(&mut bytes).await?;
    }
    let body = match &bytes[head + 4..] {
        [] => Value::Null,
        body => serde_json::from_slice(body).expect("the client sends JSON"),
    };
    let head = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let scripted = {
        let mut seen = seen.lock().unwrap();
        seen.push((head, body));
        let (_, body) = seen.last().expect("just pushed");
        rule(seen.len() - 1, body)
    };
    let _ = answers.wait_for(|answers| *answers).await;
    let (status, header, body, more) = match scripted {
        Scripted::Body(status, header, body) => (status, header, body, 0),
        Scripted::Truncated(body) => (200, "x-test: 1", body, 10),
        Scripted::Closed => {
            // The client reads earlier responses first, even on a busy machine.
            tokio::time::sleep(Duration::from_millis(100)).await;
            return Ok(());
        }
        // Until the client hangs up.
        Scripted::Stalled => return stream.read_buf(&mut bytes).await.map(drop),
    };
    let length = body.len() + more;
    let answer =
        format!("HTTP/1.1 {status} -\r\ncontent-length: {length}\r\nconnection: close\r\n{header}\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Lines of dialogue as (speaker, speech).
pub(crate) type Lines = Vec<(String, String)>;

/// Returns an uninterrupted conversation of two people, and the text of a book that consists of it.
pub(crate) fn conversation(language: Language, count: usize) -> (Lines, String) {
    let lines: Lines = (0..count)
        .map(|at| match language {
            Language::En => {
                let speaker = if at % 2 == 0 { "Anna" } else { "Boris" };
                (speaker, format!("I counted {} stones by the weir, and not one of them was yours.", at + 20))
            }
            Language::Zh => {
                let speaker = if at % 2 == 0 { "陆平" } else { "周七" };
                (speaker, format!("我在坝上数过{}块石头，没有一块是你家的。", at + 20))
            }
        })
        .map(|(speaker, speech)| (speaker.to_owned(), speech))
        .collect();
    let text = lines.iter().map(|line| paragraph(language, line)).collect();
    (lines, text)
}

/// Returns the paragraph of a book with a line of dialogue and its speaker.
pub(crate) fn paragraph(language: Language, (speaker, speech): &(String, String)) -> String {
    match language {
        Language::En => format!("“{speech}” said {speaker}.\n\n"),
        Language::Zh => format!("{speaker}道：“{speech}”\n"),
    }
}
