//! A client that costs as little as a client can: one HTTP/1.1 connection over TLS, prepared bodies, raw answers.
//!
//! The same for both sides, so that what is compared is the servers.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How to reach a server and who to be.
#[derive(Clone)]
pub(crate) struct Access {
    address: String,
    tls: TlsConnector,
    token: Option<Arc<str>>,
}

/// One connection.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    access: Access,
}

impl Access {
    /// The administrator of a kubeconfig.
    pub(crate) fn administrator(kubeconfig: &str) -> Result<Self> {
        let config = goyaml::parse(kubeconfig).context("read the kubeconfig")?;
        let (cluster, user) = (&config["clusters"][0]["cluster"], &config["users"][0]["user"]);
        let certificate = pem(user, "client-certificate-data")?;
        let key = pem(user, "client-key-data")?;
        let builder = rustls::ClientConfig::builder().with_root_certificates(roots(cluster)?);
        let chain = CertificateDer::pem_slice_iter(&certificate).collect::<Result<Vec<_>, _>>()?;
        let tls = builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(&key)?)?;
        Ok(Self {
            address: address(cluster)?,
            tls: TlsConnector::from(Arc::new(tls)),
            token: None,
        })
    }

    /// The holder of a token, at the server of a kubeconfig.
    pub(crate) fn bearer(kubeconfig: &str, token: &str) -> Result<Self> {
        let config = goyaml::parse(kubeconfig).context("read the kubeconfig")?;
        let cluster = &config["clusters"][0]["cluster"];
        let builder = rustls::ClientConfig::builder().with_root_certificates(roots(cluster)?);
        Ok(Self {
            address: address(cluster)?,
            tls: TlsConnector::from(Arc::new(builder.with_no_client_auth())),
            token: Some(format!("Bearer {token}").into()),
        })
    }

    /// Connects.
    pub(crate) async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(&self.address).await.context("connect")?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("127.0.0.1")?;
        let stream = self.tls.connect(name, stream).await.context("shake hands")?;
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // It ends with the sender; an error shows where the sender is used.
        tokio::spawn(connection);
        Ok(Connection {
            sender,
            access: self.clone(),
        })
    }
}

impl Connection {
    /// Sends a request and gives the answer's head; the body follows as it comes.
    pub(crate) async fn send(&mut self, request: Asked<'_>) -> Result<Response<Incoming>> {
        let mut builder = Request::builder()
            .method(request.method)
            .uri(request.path)
            .header("host", &self.access.address)
            .header("user-agent", "bench/v1")
            .header("accept", "application/json");
        if let Some(token) = &self.access.token {
            builder = builder.header("authorization", &**token);
        }
        if request.gzip {
            builder = builder.header("accept-encoding", "gzip");
        }
        if !request.body.is_empty() {
            builder = builder.header("content-type", request.media);
        }
        self.sender.ready().await?;
        Ok(self.sender.send_request(builder.body(Full::new(request.body))?).await?)
    }

    /// Sends a request and reads the whole answer, as it came.
    pub(crate) async fn read(&mut self, request: Asked<'_>) -> Result<(StatusCode, Bytes)> {
        let response = self.send(request).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }

    /// Sends a request that must succeed.
    pub(crate) async fn must(&mut self, request: Asked<'_>) -> Result<Bytes> {
        let asked = format!("{} {}", request.method, request.path);
        let (status, body) = self.read(request).await?;
        if !status.is_success() {
            bail!("{asked}: {status}: {}", String::from_utf8_lossy(&body));
        }
        Ok(body)
    }

    /// Makes an object.
    pub(crate) async fn create(&mut self, path: &str, body: impl Into<Bytes>) -> Result<Bytes> {
        self.must(Asked {
            body: body.into(),
            ..Asked::of(Method::POST, path)
        })
        .await
    }
}

/// A request.
pub(crate) struct Asked<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) body: Bytes,
    pub(crate) media: &'static str,
    pub(crate) gzip: bool,
}

impl<'a> Asked<'a> {
    /// A request without a body.
    pub(crate) fn of(method: Method, path: &'a str) -> Self {
        Self {
            method,
            path,
            body: Bytes::new(),
            media: "application/json",
            gzip: false,
        }
    }

    pub(crate) fn get(path: &'a str) -> Self {
        Self::of(Method::GET, path)
    }
}

fn address(cluster: &Value) -> Result<String> {
    let server = cluster["server"].as_str().context("the kubeconfig names no server")?;
    Ok(server.trim_start_matches("https://").trim_end_matches('/').to_owned())
}

fn roots(cluster: &Value) -> Result<rustls::RootCertStore> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem(cluster, "certificate-authority-data")?) {
        roots.add(certificate?)?;
    }
    Ok(roots)
}

fn pem(value: &Value, field: &str) -> Result<Vec<u8>> {
    let text = value[field]
        .as_str()
        .with_context(|| format!("the kubeconfig has no {field}"))?;
    STANDARD.decode(text).with_context(|| format!("decode {field}"))
}
