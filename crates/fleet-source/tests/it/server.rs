//! A small HTTP(S) server on loopback: one request per connection, each given to a function and
//! remembered. [`backend`] turns a request into what `git http-backend` answers, so that the
//! client under test talks to git's own server. Never reachable from outside.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error, Read, Result, Seek as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// How long a silent client holds a connection.
const PATIENCE: Duration = Duration::from_secs(20);

/// An authority that nobody trusts by default.
pub(crate) struct Authority {
    /// Its certificate.
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    /// TLS with a certificate for the loopback address.
    fn config(&self) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            );
        Arc::new(config.unwrap())
    }
}

/// What a client asked. Header names are in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Whether user and password came along.
    pub(crate) fn is_from(&self, user: &str, password: &str) -> bool {
        self.header("authorization") == basic(user, password)
    }
}

/// The header with which basic authentication speaks.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// What a client is told.
pub(crate) struct Response {
    status: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    /// Asks for user and password; says `text`, which git shows to the user.
    pub(crate) fn unauthorized(text: &str) -> Self {
        Self {
            status: "401 Unauthorized".to_owned(),
            headers: vec![
                ("WWW-Authenticate".to_owned(), "Basic realm=\"git\"".to_owned()),
                ("Content-Type".to_owned(), "text/plain".to_owned()),
            ],
            body: text.as_bytes().to_vec(),
        }
    }

    /// Sends the same request to another server.
    pub(crate) fn redirect(request: &Request, base: &str) -> Self {
        let location = format!("{base}{}?{}", request.path, request.query);
        Self {
            status: "302 Found".to_owned(),
            headers: vec![("Location".to_owned(), location)],
            body: Vec::new(),
        }
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    /// `https://127.0.0.1:1234`
    pub(crate) base: String,
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers with `answer`; speaks TLS if there is an authority.
    pub(crate) fn start(
        authority: Option<&Authority>,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let config = authority.map(Authority::config);
        let scheme = if config.is_some() { "https" } else { "http" };
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stopped = Arc::new(AtomicBool::new(false));
        let (seen, stop) = (Arc::clone(&requests), Arc::clone(&stopped));
        let thread = std::thread::spawn(move || {
            std::thread::scope(|scope| {
                for stream in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let (config, seen, answer) = (config.clone(), &seen, &answer);
                    // A client that goes away (it does not trust us) is no failure of the server.
                    scope.spawn(move || stream.and_then(|stream| serve(stream, config, seen, answer)));
                }
            });
        });
        Self {
            base: format!("{scheme}://{address}"),
            address,
            requests,
            stopped,
            thread: Some(thread),
        }
    }

    /// Everything that was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    stream: TcpStream,
    config: Option<Arc<ServerConfig>>,
    seen: &Mutex<Vec<Request>>,
    answer: &impl Fn(&Request) -> Response,
) -> Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(config) = config else {
        return exchange(stream, seen, answer);
    };
    let mut stream = StreamOwned::new(ServerConnection::new(config).map_err(Error::other)?, stream);
    exchange(&mut stream, seen, answer)?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn exchange(
    stream: impl Read + Write,
    seen: &Mutex<Vec<Request>>,
    answer: &impl Fn(&Request) -> Response,
) -> Result<()> {
    let mut stream = BufReader::new(stream);
    let request = read_request(&mut stream)?;
    seen.lock().unwrap().push(request.clone());
    let response = answer(&request);
    let mut head = format!("HTTP/1.1 {}\r\nConnection: close\r\n", response.status);
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", response.body.len()));
    let stream = stream.get_mut();
    stream.write_all(head.as_bytes())?;
    stream.write_all(&response.body)?;
    stream.flush()
}

fn read_request(stream: &mut impl BufRead) -> Result<Request> {
    let first = line(stream)?;
    let mut words = first.split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        headers: BTreeMap::new(),
        body: Vec::new(),
    };
    while let Some((name, value)) = line(stream)?.split_once(':') {
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        request.headers.insert(name, value);
    }
    if request.header("transfer-encoding") == "chunked" {
        loop {
            let size = u64::from_str_radix(&line(stream)?, 16).map_err(Error::other)?;
            stream.by_ref().take(size).read_to_end(&mut request.body)?;
            line(stream)?;
            if size == 0 {
                return Ok(request);
            }
        }
    }
    let length = request.header("content-length").parse().unwrap_or(0);
    stream.by_ref().take(length).read_to_end(&mut request.body)?;
    Ok(request)
}

/// One line without its end.
fn line(stream: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(Error::other("the client went away"));
    }
    Ok(line.trim_end().to_owned())
}

/// What git's own server program answers for the repositories below `root`.
pub(crate) fn backend(root: &Path, request: &Request, user: &str) -> Response {
    let mut body = tempfile::tempfile().unwrap();
    body.write_all(&request.body).unwrap();
    body.rewind().unwrap();
    let output = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", &request.path)
        .env("QUERY_STRING", &request.query)
        .env("CONTENT_TYPE", request.header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", request.header("content-encoding"))
        .env("HTTP_GIT_PROTOCOL", request.header("git-protocol"))
        .env("REMOTE_USER", user)
        .env("REMOTE_ADDR", "127.0.0.1")
        .stdin(Stdio::from(body))
        .stderr(Stdio::null())
        .output()
        .unwrap()
        .stdout;
    let end = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let mut response = Response {
        status: "200 OK".to_owned(),
        headers: Vec::new(),
        body: output[end + 4..].to_vec(),
    };
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        match line.split_once(": ") {
            Some(("Status", status)) => status.clone_into(&mut response.status),
            Some((name, value)) => response.headers.push((name.to_owned(), value.to_owned())),
            None => {}
        }
    }
    response
}
