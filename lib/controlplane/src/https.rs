//! Just enough of an HTTPS client to see whether the API server is ready, to make one node and to read documents:
//! one HTTP/1.0 request per connection (so that answers are never chunked), the administrator's certificate.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use serde_json::{Value, json};

use crate::{Error, io};

pub(crate) struct Client {
    address: String,
    config: Arc<ClientConfig>,
}

impl Client {
    pub(crate) fn new(server: &str, directory: &Path) -> Result<Self, Error> {
        let broken = |what: &'static str| {
            move |error| Error::Io {
                what: what.to_owned(),
                source: std::io::Error::other(error),
            }
        };
        let ca = CertificateDer::from_pem_file(directory.join("ca.crt"))
            .map_err(|e| broken("read the CA")(e.to_string()))?;
        let certificate = CertificateDer::from_pem_file(directory.join("admin.crt"))
            .map_err(|e| broken("read admin.crt")(e.to_string()))?;
        let key = PrivateKeyDer::from_pem_file(directory.join("admin.key"))
            .map_err(|e| broken("read admin.key")(e.to_string()))?;
        let mut roots = RootCertStore::empty();
        roots.add(ca).map_err(|e| broken("trust the CA")(e.to_string()))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| broken("choose TLS versions")(e.to_string()))?
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate], key)
            .map_err(|e| broken("use admin.crt")(e.to_string()))?;
        Ok(Self {
            address: server.trim_start_matches("https://").to_owned(),
            config: Arc::new(config),
        })
    }

    /// Status code of a GET.
    pub(crate) fn get(&self, path: &str) -> std::io::Result<u16> {
        Ok(self.request("GET", path, None)?.0)
    }

    /// The JSON document at a path.
    pub(crate) fn document(&self, path: &str) -> std::io::Result<Value> {
        let (status, body) = self.request("GET", path, None)?;
        if status != 200 {
            return Err(std::io::Error::other(format!("GET {path} was answered with {status}")));
        }
        serde_json::from_slice(&body).map_err(std::io::Error::other)
    }

    /// The node that kwok pretends to run pods on.
    pub(crate) fn create_node(&self) -> Result<(), Error> {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": "node", "labels": {"kubernetes.io/hostname": "node", "kubernetes.io/os": "linux"}}});
        let (status, _) = self
            .request("POST", "/api/v1/nodes", Some(&node))
            .map_err(io("create the simulated node"))?;
        // The taint that a node starts with is removed by a controller that does not run here.
        let ready = json!({"spec": {"taints": null}});
        let (patched, _) = self
            .request("PATCH", "/api/v1/nodes/node", Some(&ready))
            .map_err(io("ready the simulated node"))?;
        if status >= 300 || patched >= 300 {
            let source = std::io::Error::other(format!("the API server answered {status} and {patched}"));
            return Err(Error::Io {
                what: "create the simulated node".to_owned(),
                source,
            });
        }
        Ok(())
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> std::io::Result<(u16, Vec<u8>)> {
        let name = ServerName::try_from("localhost").map_err(std::io::Error::other)?;
        let connection = ClientConnection::new(self.config.clone(), name).map_err(std::io::Error::other)?;
        let socket = TcpStream::connect(&self.address)?;
        socket.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut stream = StreamOwned::new(connection, socket);
        let body = body.map(Value::to_string).unwrap_or_default();
        let kind = if method == "PATCH" {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        stream.flush()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .ok_or_else(|| std::io::Error::other(format!("no HTTP answer: {line:?}")))?;
        while !line.trim_end().is_empty() {
            line.clear();
            reader.read_line(&mut line)?;
        }
        let mut body = Vec::new();
        match reader.read_to_end(&mut body) {
            Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => Err(error),
            // A server that closes without saying goodbye in TLS has still sent everything.
            _ => Ok((status, body)),
        }
    }
}
