//! The program contacts only the configured hosts, through the proxy and with the certificates that the environment names.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::support::{Scripted, ScriptedServer, TestRun};

/// A name that only the proxy knows.
const HOST: &str = "llm.test";
const KEY: &str = "sk-0123456789-abcdef";
const REPLY: &str = "(nods) I have heard that said before, and I do not hold with it.";

/// A proxy that forwards every connection to one server and records the requested hosts.
struct Proxy {
    port: u16,
    asked: Arc<Mutex<BTreeSet<String>>>,
    /// The certificate of the server's authority, as PEM.
    authority: String,
}

impl Proxy {
    async fn start(server: &ScriptedServer) -> Self {
        let (acceptor, authority) = certified();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let port = listener.local_addr().expect("a bound listener has an address").port();
        let asked = Arc::<Mutex<BTreeSet<String>>>::default();
        let (seen, url) = (Arc::clone(&asked), server.url());
        let address = url["http://".len()..].trim_end_matches("/v1").to_owned();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(lead(stream, acceptor.clone(), Arc::clone(&seen), address.clone()));
            }
        });
        Self { port, asked, authority }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().cloned().collect()
    }
}

/// Forwards one connection to the server.
async fn lead(
    mut stream: TcpStream,
    acceptor: TlsAcceptor,
    seen: Arc<Mutex<BTreeSet<String>>>,
    server: String,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let [method, target, ..] = text.split(' ').collect::<Vec<_>>()[..] else { return Ok(()) };
    seen.lock().unwrap().insert(target.to_owned());
    let mut server = TcpStream::connect(server).await?;
    if method == "CONNECT" {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
        let mut stream = acceptor.accept(stream).await?;
        tokio::io::copy_bidirectional(&mut stream, &mut server).await?;
    } else {
        server.write_all(&head).await?;
        tokio::io::copy_bidirectional(&mut stream, &mut server).await?;
    }
    Ok(())
}

/// Returns the server's side of TLS and the certificate of its private authority.
fn certified() -> (TlsAcceptor, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&key).expect("a certificate").pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![HOST.to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate").der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("the provider knows them")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("they belong together");
    (TlsAcceptor::from(Arc::new(config)), authority)
}

/// Returns a build with a served base model; its environment has only the key and the given variables.
///
/// Another seed causes other calls, so that the journal has no answers.
fn build(run: &TestRun, seed: u32, environment: &[(&str, &str)]) -> Command {
    let mut command = run.command(&["build", "small.toml", "--set", &format!("seed={seed}")]);
    command.env("OPENAI_API_KEY", KEY).envs(environment.iter().copied());
    command
}

fn run() -> TestRun {
    let run = TestRun::new();
    run.change("[cast]", "[models.served]\nprovider = \"openai\"\nmodel = \"m\"\nmax_tries = 1\n\n[cast]");
    run.change("base = \"reader\"", "base = \"served\"");
    run
}

/// Expects an exit code and returns stderr.
fn expect(mut command: Command, code: i32) -> String {
    let output = command.output().expect("it runs");
    let stderr = String::from_utf8(output.stderr).expect("the program prints UTF-8");
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(!stderr.contains(KEY), "{stderr}");
    stderr
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_contacts_only_the_configured_host_through_the_proxy() {
    let server = ScriptedServer::ruled(|_, _| Scripted::content(REPLY)).await;
    let proxy = Proxy::start(&server).await;
    let (run, url) = (run(), proxy.url());
    std::fs::write(run.path().join("authority.pem"), &proxy.authority).expect("a file");
    // Every request of this process goes to the proxy.
    let all = [("ALL_PROXY", url.as_str()), ("HTTP_PROXY", &url), ("HTTPS_PROXY", &url)];
    let secure = [("OPENAI_BASE_URL", "https://llm.test/v1"), ("SSL_CERT_FILE", "authority.pem")];
    expect(build(&run, 1, &[&all[..], &secure].concat()), 0);
    assert_eq!(proxy.asked(), ["llm.test:443"]);
    let heads = server.heads();
    assert!(heads.len() > 5, "{heads:?}");
    for head in heads {
        assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1") && head.contains("host: llm.test"), "{head}");
        assert!(head.contains(KEY), "{head}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_and_proxies_come_from_the_standard_variables() {
    let server = ScriptedServer::ruled(|_, _| Scripted::content(REPLY)).await;
    let proxy = Proxy::start(&server).await;
    let (run, url) = (run(), proxy.url());
    let folder = run.path().join("authorities");
    std::fs::create_dir(&folder).expect("a folder");
    // OpenSSL uses a hash as the name; this reader does not check it.
    std::fs::write(folder.join("0a1b2c3d.0"), &proxy.authority).expect("a file");
    let base = ("OPENAI_BASE_URL", "https://llm.test/v1");
    let through = ("https_proxy", url.as_str());
    // The server's authority is unknown.
    let (_, other) = certified();
    std::fs::write(run.path().join("other.pem"), other).expect("a file");
    let stderr = expect(build(&run, 1, &[base, through, ("SSL_CERT_FILE", "other.pem")]), 4);
    assert!(stderr.contains("certificate"), "{stderr}");
    assert!(server.heads().is_empty(), "no request is sent to a server with an unknown authority");
    expect(build(&run, 1, &[base, through, ("SSL_CERT_DIR", "authorities")]), 0);
    assert!(!server.heads().is_empty());
    // A host in NO_PROXY is contacted directly; this one has no address.
    let asked = server.heads().len();
    let direct = [base, through, ("NO_PROXY", HOST), ("SSL_CERT_DIR", "authorities")];
    expect(build(&run, 2, &direct), 4);
    assert_eq!(server.heads().len(), asked);
    // A server without TLS is contacted through the proxy of HTTP_PROXY.
    let plain = [("OPENAI_BASE_URL", "http://llm.test:8080/v1"), ("http_proxy", url.as_str())];
    expect(build(&run, 2, &plain), 0);
    let asked = proxy.asked();
    assert_eq!(asked, ["http://llm.test:8080/v1/chat/completions", "llm.test:443"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_follows_no_redirect() {
    for status in [301, 307, 308] {
        let moved = move |_, _: &_| Scripted::Body(status, "location: https://elsewhere.test/v1", String::new());
        let server = ScriptedServer::ruled(moved).await;
        let proxy = Proxy::start(&server).await;
        let (run, url) = (run(), proxy.url());
        let all = [("http_proxy", url.as_str()), ("https_proxy", &url), ("OPENAI_BASE_URL", "http://llm.test/v1")];
        let stderr = expect(build(&run, 1, &all), 4);
        assert!(stderr.contains(&format!("HTTP {status}")), "{stderr}");
        assert_eq!(proxy.asked(), ["http://llm.test/v1/chat/completions"]);
    }
}
