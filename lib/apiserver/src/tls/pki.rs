//! The server's keys and certificates, in a data directory or only in memory.
//!
//! The authorities and the account key are made once and kept; the serving certificate and the
//! administrator's credentials are made anew at every start, so they follow the address and never
//! run out.

use std::{
    fs, io,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use rcgen::KeyPair;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, UnixTime},
    server::danger::ClientCertVerifier,
};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::tls::{Error, acceptor, authority::Authority, kubeconfig};

/// File in the data directory: the authority whose certificates authenticate clients.
pub const CLIENT_CA_CERTIFICATE: &str = "client-ca.crt";
/// File in the data directory: its key; who has it can be anybody.
pub const CLIENT_CA_KEY: &str = "client-ca.key";
/// File in the data directory: the administrator's kubeconfig.
pub const ADMIN_KUBECONFIG: &str = "admin.kubeconfig";

const SERVER_CA_CERTIFICATE: &str = "server-ca.crt";
const SERVER_CA_KEY: &str = "server-ca.key";
const ACCOUNT_KEY: &str = "account.key";

const SERVER_CA: &str = "server authority";
const CLIENT_CA: &str = "client authority";

/// Only the owner may read keys; certificates are public.
const PRIVATE: u32 = 0o600;
const PUBLIC: u32 = 0o644;

/// Names under which every API server is reached from inside a cluster or on its own machine.
const OWN_NAMES: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// All key material of one server.
pub struct Pki {
    directory: Option<PathBuf>,
    server_ca: Authority,
    client_ca: Authority,
    account_key_pem: String,
    server_config: Arc<ServerConfig>,
    verifier: Arc<dyn ClientCertVerifier>,
    now: Timestamp,
}

/// A client's certificate that was found to be good, as far as authentication needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSubject {
    /// The common name, which is the user's name.
    pub common_name: String,
    /// The organisations, which are the user's groups, in the certificate's order.
    pub organizations: Vec<String>,
    /// Hex SHA-256 of the certificate.
    pub fingerprint: String,
}

impl Pki {
    /// Takes up the material in `directory`, making what is missing; without a directory
    /// everything is made anew and forgotten at the end. `names` are host names or IP addresses
    /// that the serving certificate must hold besides localhost and the in-cluster names.
    ///
    /// # Errors
    /// Files that cannot be read or written, or hold something else than their name says.
    pub fn open(directory: Option<&Path>, names: &[String], now: Timestamp) -> Result<Pki, Error> {
        if let Some(directory) = directory {
            fs::create_dir_all(directory).map_err(|source| Error::Write {
                path: directory.to_path_buf(),
                source,
            })?;
        }
        let server_ca = authority(directory, SERVER_CA, [SERVER_CA_CERTIFICATE, SERVER_CA_KEY], now)?;
        let client_ca = authority(directory, CLIENT_CA, [CLIENT_CA_CERTIFICATE, CLIENT_CA_KEY], now)?;
        let account_key_pem = account_key(directory)?;

        let mut all_names: Vec<String> = OWN_NAMES.iter().map(ToString::to_string).collect();
        all_names.extend(names.iter().filter(|name| !OWN_NAMES.contains(&name.as_str())).cloned());
        let serving = server_ca.issue_server(&all_names, now)?;
        let verifier = acceptor::client_verifier(client_ca.certificate_pem())?;
        let server_config = acceptor::server_config(&serving.certificate_pem, &serving.key_pem, verifier.clone())?;
        Ok(Pki {
            directory: directory.map(Path::to_path_buf),
            server_ca,
            client_ca,
            account_key_pem,
            server_config,
            verifier,
            now,
        })
    }

    /// What a TLS acceptor needs: HTTP/2 and HTTP/1.1, optional client certificates, resumption.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        self.server_config.clone()
    }

    /// The certificate, PEM, by which clients recognise this server.
    pub fn server_ca_pem(&self) -> &str {
        self.server_ca.certificate_pem()
    }

    /// The PKCS#8 PEM of the P-256 key that signs account tokens.
    pub fn account_key_pem(&self) -> &str {
        &self.account_key_pem
    }

    /// A kubeconfig with a fresh certificate for `user` in `group` at `server` (an https URL).
    ///
    /// # Errors
    /// A certificate cannot be signed.
    pub fn kubeconfig(&self, server: &str, user: &str, group: Option<&str>) -> Result<String, Error> {
        let issued = self.client_ca.issue_client(user, group, self.now)?;
        Ok(kubeconfig::text(
            server,
            self.server_ca.certificate_pem(),
            user,
            &issued,
        ))
    }

    /// A kubeconfig of group system:masters at `server`; written to [`ADMIN_KUBECONFIG`] with mode
    /// 0600 if there is a data directory.
    ///
    /// # Errors
    /// A certificate cannot be signed, the file cannot be written.
    pub fn admin_kubeconfig(&self, server: &str) -> Result<String, Error> {
        let text = self.kubeconfig(server, "admin", Some("system:masters"))?;
        if let Some(directory) = &self.directory {
            write(&directory.join(ADMIN_KUBECONFIG), &text, PRIVATE)?;
        }
        Ok(text)
    }

    /// Who the client of a connection is, given the certificates it showed (its own first).
    ///
    /// # Errors
    /// The certificate is not from the client authority, not valid at `now`, or has no common name.
    pub fn verify_client(&self, chain: &[CertificateDer<'_>], now: Timestamp) -> Result<CertificateSubject, Error> {
        let Some((own, intermediates)) = chain.split_first() else {
            return Err(Error::ReadClient {
                reason: "no certificate".to_owned(),
            });
        };
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        self.verifier
            .verify_client_cert(own, intermediates, now)
            .map_err(|source| Error::VerifyClient { source })?;
        subject(own)
    }
}

fn subject(certificate: &CertificateDer<'_>) -> Result<CertificateSubject, Error> {
    use sha2::{Digest, Sha256};
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|error| Error::ReadClient {
        reason: error.to_string(),
    })?;
    let subject = parsed.subject();
    let common_name = subject
        .iter_common_name()
        .filter_map(|name| name.as_str().ok())
        .last()
        .filter(|name| !name.is_empty())
        .ok_or_else(|| Error::ReadClient {
            reason: "no common name".to_owned(),
        })?
        .to_owned();
    let organizations = subject
        .iter_organization()
        .filter_map(|name| name.as_str().ok())
        .map(str::to_owned)
        .collect();
    let fingerprint = hex::encode(Sha256::digest(certificate.as_ref()));
    Ok(CertificateSubject {
        common_name,
        organizations,
        fingerprint,
    })
}

fn authority(
    directory: Option<&Path>,
    what: &'static str,
    [certificate, key]: [&str; 2],
    now: Timestamp,
) -> Result<Authority, Error> {
    let Some(directory) = directory else {
        return Ok(Authority::create(what, now)?.0);
    };
    let (certificate, key) = (directory.join(certificate), directory.join(key));
    if let (Some(certificate_pem), Some(key_pem)) = (read(&certificate)?, read(&key)?) {
        return Authority::load(what, certificate_pem, &key_pem, now);
    }
    let (authority, key_pem) = Authority::create(what, now)?;
    write(&key, &key_pem, PRIVATE)?;
    write(&certificate, authority.certificate_pem(), PUBLIC)?;
    Ok(authority)
}

fn account_key(directory: Option<&Path>) -> Result<String, Error> {
    let path = directory.map(|directory| directory.join(ACCOUNT_KEY));
    if let Some(path) = &path
        && let Some(pem) = read(path)?
    {
        return Ok(pem);
    }
    let key = KeyPair::generate().map_err(|source| Error::Issue {
        what: "account key",
        source,
    })?;
    let pem = key.serialize_pem();
    if let Some(path) = &path {
        write(path, &pem, PRIVATE)?;
    }
    Ok(pem)
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Read {
            path: path.to_path_buf(),
            source,
        }),
    }
}

/// Writes all or nothing: a crash in the middle must not leave half a key.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let new = path.with_file_name(name);
    let attempt = || -> io::Result<()> {
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    attempt().map_err(|source| Error::Write {
        path: path.to_path_buf(),
        source,
    })
}
