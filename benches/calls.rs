//! What a call costs: time, requests, CPU and memory of many calls to a served model, journal and schema check on.
//!
//! `cargo bench --bench calls -- URL CALLS CONCURRENCY` asks a server, such as a mock with a latency or a limit of its own;
//! without a URL it starts one of its own that answers after 200 ms, in a process of its own.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dramaturg::llm::{Ask, Budget, Desk, Endpoint, Journal, Model, Offline, Sampling};
use dramaturg::prompt::{PromptError, Prompts};
use dramaturg::schema::Message;
use dramaturg::store::FileJournal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The latency of the server that the benchmark starts.
const LATENCY: Duration = Duration::from_millis(200);

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Rating {
    why: String,
    #[schemars(range(min = 1, max = 5))]
    score: u8,
}

struct Rate(u64);

impl Ask for Rate {
    const NAME: &'static str = "bench/rate";
    type Answer = Rating;

    fn messages(&self, _: &Prompts) -> Result<Vec<Message>, PromptError> {
        let line =
            format!("Line {}. {}", self.0, "“I have not seen it yet. I only tell what I have seen.” ".repeat(20));
        Ok(vec![Message::system("You rate lines of talk, from 1 to 5, and say why."), Message::user(line)])
    }

    fn offline(&self, _: &mut Offline<'_>) -> Rating {
        Rating { why: "so".to_owned(), score: 3 }
    }
}

fn main() {
    // Cargo passes `--bench` along.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    if arguments.first().is_some_and(|first| first == "serve") {
        runtime.block_on(serve());
        return;
    }
    let number = |at: usize, default: u64| arguments.get(at).map_or(default, |text| text.parse().expect("a number"));
    let (calls, concurrency) = (number(1, 20_000), number(2, 1024));
    let mut server = None;
    let url = arguments.first().cloned().unwrap_or_else(|| {
        let this = std::env::current_exe().expect("the benchmark has a path");
        let mut child = Command::new(this).arg("serve").stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
        server = Some(child);
        line.trim().to_owned()
    });
    runtime.block_on(measure(&url, calls, concurrency));
    if let Some(server) = &mut server {
        // It may have ended by itself.
        let _ = server.kill();
    }
}

async fn measure(url: &str, calls: u64, concurrency: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = FileJournal::open(&folder.path().join("journal.jsonl")).expect("a journal");
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let prompts = Prompts::new([], &BTreeMap::new()).expect("no templates");
    let desk = Arc::new(Desk::new(7, prompts, journal, Budget::default(), false));
    let concurrency = usize::try_from(concurrency).expect("it fits");
    let endpoint = Endpoint { concurrency, ..Endpoint::new(url, "mock") };
    let model = Model::served("mock", endpoint, &Sampling::default(), Value::Null, None, 2, Arc::clone(&desk));
    let model = Arc::new(model.expect("a client"));
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    let mut answered = 0;
    for call in 0..calls {
        // As in a run, what could be asked is made when it is soon to be asked.
        if tasks.len() >= 2 * concurrency {
            answered += u64::from(tasks.join_next().await.is_some_and(|is_answered| is_answered.expect("no panic")));
        }
        let model = Arc::clone(&model);
        tasks.spawn(async move { model.ask(&Rate(call), &format!("bench/{call}")).await.is_ok() });
    }
    while let Some(is_answered) = tasks.join_next().await {
        answered += u64::from(is_answered.expect("no panic"));
    }
    let wall = begun.elapsed().as_secs_f64();
    let requests = desk.ledger.totals().requests;
    let cpu = cpu_seconds();
    println!(
        "{answered} of {calls} answered in {wall:.2} s with {requests} requests; {:.0} µs CPU a call, {} MB at most",
        cpu * 1e6 / to_f64(calls),
        peak_megabytes()
    );
    for (_, kind, count) in desk.ledger.faults() {
        println!("  {kind}: {count}");
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
const fn to_f64(count: u64) -> f64 {
    count as f64
}

/// Returns the seconds of CPU that this process has taken, user and system; 0 where that cannot be known.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    to_f64(ticks(11) + ticks(12)) / 100.0
}

/// Returns the most memory that this process has held; 0 where that cannot be known.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}

/// Answers every request after the latency, until it is killed.
async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    println!("http://{}/v1", listener.local_addr().expect("a bound listener has an address"));
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream));
    }
}

async fn converse(mut stream: TcpStream) -> std::io::Result<()> {
    let reply = r#"{"model":"mock","choices":[{"message":{"content":"{\"why\":\"It is in his voice.\",\"score\":4}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":300,"completion_tokens":12}}"#;
    let answer =
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{reply}", reply.len());
    let mut bytes = Vec::new();
    loop {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let length = end.map(|end| {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            end + 4 + length.unwrap_or(0_usize)
        });
        match length {
            Some(length) if bytes.len() >= length => {
                bytes.drain(..length);
                tokio::time::sleep(LATENCY).await;
                stream.write_all(answer.as_bytes()).await?;
            }
            _ if stream.read_buf(&mut bytes).await? == 0 => return Ok(()),
            _ => {}
        }
    }
}
