//! What the integration tests share: a scripted chat-completions server on loopback.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dramaturg::llm::Endpoint;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Scripted {
    /// Answers with a status, one more header line, and a body.
    Body(u16, &'static str, String),
    /// Announces a longer body than it sends.
    Truncated(String),
    /// Closes the connection without a word.
    Closed,
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

/// A server that follows a script, one entry per request in the order of their arrival, and keeps what it was sent.
pub(crate) struct ScriptedServer {
    port: u16,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
}

impl ScriptedServer {
    /// Starts a server. A request beyond the script is answered 418, which no client tries again.
    pub(crate) async fn start(script: impl IntoIterator<Item = Scripted>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound listener has an address").port();
        let script = Arc::new(Mutex::new(script.into_iter().collect::<VecDeque<_>>()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let server = Self { port, seen: Arc::clone(&seen) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&script), Arc::clone(&seen)));
            }
        });
        server
    }

    /// Returns an endpoint for this server, whose back-off is too short to be noticed.
    pub(crate) fn endpoint(&self) -> Endpoint {
        let endpoint = Endpoint::new(format!("http://127.0.0.1:{}/v1", self.port), "m");
        Endpoint { backoff: Duration::from_millis(1), max_tries: 3, ..endpoint }
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
    script: Arc<Mutex<VecDeque<Scripted>>>,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        if let Some(end) = text.find("\r\n\r\n") {
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
            break (end, length.trim().parse::<usize>().expect("a number"));
        }
    };
    while bytes.len() < head + 4 + length {
        stream.read_buf(&mut bytes).await?;
    }
    let body = serde_json::from_slice(&bytes[head + 4..]).expect("the client sends JSON");
    seen.lock().unwrap().push((String::from_utf8_lossy(&bytes[..head]).into_owned(), body));
    let next = script.lock().unwrap().pop_front();
    let (status, header, body, more) = match next {
        Some(Scripted::Body(status, header, body)) => (status, header, body, 0),
        Some(Scripted::Truncated(body)) => (200, "x-test: 1", body, 10),
        Some(Scripted::Closed) => return Ok(()),
        None => (418, "x-test: 1", "the script is at its end".to_owned(), 0),
    };
    let length = body.len() + more;
    let answer =
        format!("HTTP/1.1 {status} -\r\ncontent-length: {length}\r\nconnection: close\r\n{header}\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}
