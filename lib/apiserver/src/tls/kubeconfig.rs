//! Turns credentials into the text of a kubeconfig with everything inline, so that it can be
//! copied to another machine. It never refers to files.

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::tls::authority::Issued;

/// A kubeconfig for `user` at `server` (an `https://` URL) that authenticates with a certificate.
pub(super) fn text(server: &str, authority_pem: &str, user: &str, credentials: &Issued) -> String {
    let server = serde_json::Value::from(server);
    let authority = STANDARD.encode(authority_pem);
    let certificate = STANDARD.encode(&credentials.certificate_pem);
    let key = STANDARD.encode(&credentials.key_pem);
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: default
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: {user}
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: default
  context:
    cluster: default
    user: {user}
current-context: default
"
    )
}
