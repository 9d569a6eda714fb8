//! A mock server in another process. The benchmark supplies the answers.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A mock server in another process. Dropping it ends the process.
pub(super) struct Server {
    pub(super) url: String,
    process: Child,
}

impl Server {
    /// Starts this benchmark again with arguments that make it a server.
    pub(super) fn start(arguments: &[&str]) -> Self {
        let this = std::env::current_exe().expect("the executable has a path");
        let mut process =
            Command::new(this).args(arguments).stdout(Stdio::piped()).spawn().expect("the process starts");
        let mut url = String::new();
        BufReader::new(process.stdout.take().expect("stdout is piped"))
            .read_line(&mut url)
            .expect("the server prints its address");
        Self { url: url.trim().to_owned(), process }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    /// The status, such as `200 OK`, followed by header lines.
    pub(super) head: &'static str,
    /// The body, a JSON object.
    pub(super) body: String,
}

/// Prints the server's address and answers requests until the process is killed.
pub(super) async fn serve<F>(answer: impl Fn(Vec<u8>) -> F + Send + Sync + 'static)
where
    F: Future<Output = Answer> + Send + 'static,
{
    let answer = Arc::new(answer);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    println!("http://{}/v1", listener.local_addr().expect("a bound listener has an address"));
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, Arc::clone(&answer)));
    }
}

async fn converse<F>(mut stream: TcpStream, answer: Arc<impl Fn(Vec<u8>) -> F>) -> std::io::Result<()>
where
    F: Future<Output = Answer>,
{
    let mut bytes = Vec::new();
    loop {
        let head = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|end| end + 4);
        let length = head.map(|head| {
            let head = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            length.unwrap_or(0_usize)
        });
        match head.zip(length) {
            Some((head, length)) if bytes.len() >= head + length => {
                let body = bytes[head..head + length].to_vec();
                bytes.drain(..head + length);
                let Answer { head, body } = answer(body).await;
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {head}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
                stream.write_all((head + &body).as_bytes()).await?;
            }
            _ if stream.read_buf(&mut bytes).await? == 0 => return Ok(()),
            _ => {}
        }
    }
}
