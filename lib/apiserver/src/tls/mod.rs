//! Turns a data directory into everything TLS needs: two certificate authorities (one signs the
//! server's certificate, one signs clients'), the serving certificate, the key that signs account
//! tokens, and an administrator's kubeconfig.
//!
//! Private keys are written with mode 0600 and never leave this module except through
//! [`Pki::account_key_pem`] and the administrator's kubeconfig. A client certificate is judged
//! after the handshake ([`Pki::verify_client`]), so that an untrusted one is answered 401 like any
//! other bad credential instead of breaking the connection.
//!
//! Mirrors kube-apiserver's `--tls-cert-file`, `--client-ca-file` and
//! `--service-account-signing-key-file`.

mod acceptor;
mod authority;
mod kubeconfig;
mod pki;

pub use self::pki::{ADMIN_KUBECONFIG, CLIENT_CA_CERTIFICATE, CLIENT_CA_KEY, CertificateSubject, Pki};

use std::path::PathBuf;

/// What can go wrong while keys and certificates are made, read or used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the data directory cannot be read.
    #[error("read {path:?}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file of the data directory cannot be written.
    #[error("write {path:?}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A stored key or certificate is not what its name says.
    #[error("parse the stored {what}")]
    ParseStored {
        /// Which key or certificate.
        what: &'static str,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A key cannot be made or a certificate cannot be signed.
    #[error("issue the {what}")]
    Issue {
        /// Which key or certificate.
        what: &'static str,
        /// The cause.
        source: rcgen::Error,
    },
    /// The TLS stack refuses the material.
    #[error("configure TLS with the {what}")]
    Configure {
        /// Which part.
        what: &'static str,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A client's certificate is not trusted.
    #[error("verify the client's certificate")]
    VerifyClient {
        /// The cause.
        source: rustls::Error,
    },
    /// A client's certificate cannot be read.
    #[error("read the client's certificate: {reason}")]
    ReadClient {
        /// Why.
        reason: String,
    },
}

#[cfg(test)]
mod tests;
