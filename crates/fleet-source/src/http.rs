//! Downloads over HTTP(S) for charts: one place for authorities, proxies, credentials, time and
//! size limits. Credentials are dropped on redirects. Blocking: called from worker threads.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};

use crate::git;
use crate::options::ChartAuth;

/// Time limit of one download.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Time limit for reaching a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer, or not all of it.
    #[error("failed to fetch {url:?}")]
    Fetch {
        /// Without credentials.
        url: String,
        /// The cause.
        source: Box<ureq::Error>,
    },
    /// An answer, but not the thing.
    #[error("failed to read from {url}, error code: {code}")]
    Answer {
        /// Without credentials.
        url: String,
        /// HTTP status.
        code: u16,
    },
    /// Authorities that are no PEM certificates.
    #[error("read authorities (cacerts): {why}")]
    ReadAuthorities {
        /// What is wrong.
        why: String,
    },
}

/// A client with one set of credentials.
pub struct Client {
    agent: ureq::Agent,
    authorization: Option<String>,
}

impl Client {
    /// A client that trusts the system's authorities and those given, and sends user and password
    /// if both are given.
    ///
    /// # Errors
    /// Authorities that are no certificates.
    pub fn new(auth: &ChartAuth) -> Result<Self, Error> {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .root_certs(RootCerts::new_with_certs(&authorities(&auth.ca_bundle)?))
            .disable_verification(auth.insecure_skip_verify)
            .build();
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(TIMEOUT))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .http_status_as_error(false)
            .user_agent("fleet")
            .build();
        let authorization = (!auth.username.is_empty() && !auth.password.is_empty()).then(|| {
            format!(
                "Basic {}",
                STANDARD.encode(format!("{}:{}", auth.username, auth.password))
            )
        });
        Ok(Self {
            agent: config.new_agent(),
            authorization,
        })
    }

    /// What is at an address, at most `limit` bytes. `trusted`: credentials may go there.
    ///
    /// # Errors
    /// No answer, another status than 200, too much.
    pub fn get(&self, url: &str, trusted: bool, limit: u64) -> Result<Vec<u8>, Error> {
        let shown = git::shown(url);
        let fetch = |source: ureq::Error| Error::Fetch {
            url: shown.clone(),
            source: Box::new(source),
        };
        let mut request = self.agent.get(url);
        if let Some(authorization) = self.authorization.as_ref().filter(|_| trusted) {
            request = request.header("Authorization", authorization);
        }
        let mut response = request.call().map_err(fetch)?;
        let code = response.status().as_u16();
        if code != 200 {
            return Err(Error::Answer { url: shown, code });
        }
        response
            .body_mut()
            .with_config()
            .limit(limit)
            .read_to_vec()
            .map_err(fetch)
    }
}

fn authorities(more: &str) -> Result<Vec<Certificate<'static>>, Error> {
    let mut certificates = Vec::new();
    // A broken certificate among the system's is not the user's mistake.
    for item in parse_pem(git::system_authorities().as_bytes()).flatten() {
        if let PemItem::Certificate(certificate) = item {
            certificates.push(certificate);
        }
    }
    for item in parse_pem(more.as_bytes()) {
        match item.map_err(|error| Error::ReadAuthorities { why: error.to_string() })? {
            PemItem::Certificate(certificate) => certificates.push(certificate),
            _ => {
                return Err(Error::ReadAuthorities {
                    why: "there is something else than certificates".to_owned(),
                });
            }
        }
    }
    Ok(certificates)
}
