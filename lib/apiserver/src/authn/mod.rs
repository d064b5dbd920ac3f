//! Turns a request's credentials into a [`User`]: client certificates, tokens of service accounts, or nobody.
//!
//! It never decides what a user may do. Account, secret and bound object are looked up for every request, so a token
//! dies with them at once; the signature alone is remembered. Mirrors upstream's authenticator union (x509, bearer
//! token, anonymous) and its impersonation filter.

mod certificate;
mod impersonation;
mod tokens;

pub use self::impersonation::impersonate;
pub use self::tokens::{Error, Request, Tokens, Verified};

use std::sync::Arc;

use http::header::AUTHORIZATION;

use crate::access::{Authenticator, Peer, User};
use crate::authn::certificate::Certificates;
use crate::options::Clock;
use crate::status::Status;
use crate::tls::Pki;

/// Key of [`User::extra`] that names the credential used.
pub(crate) const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
pub(crate) const AUTHENTICATED: &str = "system:authenticated";
pub(crate) const UNAUTHENTICATED: &str = "system:unauthenticated";
pub(crate) const ANONYMOUS: &str = "system:anonymous";
pub(crate) const ACCOUNTS: &str = "system:serviceaccounts";
pub(crate) const ACCOUNT_PREFIX: &str = "system:serviceaccount:";

/// The server's authenticator.
pub struct Credentials {
    certificates: Certificates,
    tokens: Arc<Tokens>,
}

impl Credentials {
    /// An authenticator for certificates of `pki`'s client authority and tokens known to `tokens`.
    #[must_use]
    pub fn new(pki: Arc<Pki>, tokens: Arc<Tokens>, clock: Arc<dyn Clock>) -> Self {
        Self {
            certificates: Certificates::new(pki, clock),
            tokens,
        }
    }
}

impl Authenticator for Credentials {
    fn authenticate(&self, request: &http::request::Parts, peer: &Peer) -> Result<User, Box<Status>> {
        let certificate = self.certificates.user(&peer.certificates);
        if let Ok(Some(user)) = certificate {
            return Ok(user);
        }
        let token = bearer(&request.headers);
        if let Some(token) = token {
            return match self.tokens.verify(token, None) {
                Ok(verified) => Ok(verified.user),
                Err(error) => {
                    tracing::debug!(error = %error, "token refused");
                    Err(Box::new(Status::unauthorized()))
                }
            };
        }
        match certificate {
            Ok(_) => Ok(User::anonymous()),
            Err(error) => {
                tracing::debug!(error = %error, "client certificate refused");
                Err(Box::new(Status::unauthorized()))
            }
        }
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// The token of an `Authorization` header; other schemes are as good as no header.
fn bearer(headers: &http::HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let mut parts = text.splitn(3, ' ');
    let scheme = parts.next()?;
    let token = parts.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Makes sure a user is in a group.
pub(crate) fn add_group(user: &mut User, group: &str) {
    if !user.groups.iter().any(|other| other == group) {
        user.groups.push(group.to_owned());
    }
}

/// The groups of every service account of a namespace.
pub(crate) fn account_groups(namespace: &str) -> Vec<String> {
    vec![ACCOUNTS.to_owned(), format!("{ACCOUNTS}:{namespace}")]
}

/// Namespace and name of an account from its user name.
pub(crate) fn account_of(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(ACCOUNT_PREFIX)?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

#[cfg(test)]
mod tests;
