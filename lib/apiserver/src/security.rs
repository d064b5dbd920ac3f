//! Who may come in and what they may do, put together for one server.

use std::path::Path;
use std::sync::Arc;

use crate::authn::{Credentials, Tokens};
use crate::authz::{Rbac, Reviews};
use crate::options::{Clock, Random};
use crate::store::Store;
use crate::tls::Pki;
use crate::token::Signer;

/// Keys, tokens, rights.
pub(crate) struct Security {
    pub(crate) pki: Arc<Pki>,
    pub(crate) authenticator: Credentials,
    pub(crate) rbac: Arc<Rbac>,
    pub(crate) reviews: Reviews,
    pub(crate) tokens: Arc<Tokens>,
}

/// Why the security of a server could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Keys and certificates.
    #[error("cannot prepare keys and certificates")]
    Pki(#[source] crate::tls::Error),
    /// The key that signs tokens.
    #[error("cannot use the key of account tokens")]
    Token(#[source] crate::token::Error),
    /// Roles and bindings.
    #[error("cannot read roles and bindings")]
    Rbac(#[source] crate::store::Error),
}

impl Security {
    /// Takes up the keys in a directory, or makes new ones.
    pub(crate) fn open(
        directory: Option<&Path>,
        names: &[String],
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        random: &Arc<dyn Random>,
    ) -> Result<Self, Error> {
        let pki = Arc::new(Pki::open(directory, names, clock.now()).map_err(Error::Pki)?);
        let signer = Signer::new(pki.account_key_pem()).map_err(Error::Token)?;
        let tokens = Arc::new(Tokens::new(
            signer,
            Arc::clone(store),
            Arc::clone(clock),
            Arc::clone(random),
        ));
        let rbac = Arc::new(Rbac::new(Arc::clone(store)).map_err(Error::Rbac)?);
        Ok(Self {
            authenticator: Credentials::new(Arc::clone(&pki), Arc::clone(&tokens), Arc::clone(clock)),
            reviews: Reviews::new(Arc::clone(&tokens), Arc::clone(&rbac), Arc::clone(clock)),
            pki,
            rbac,
            tokens,
        })
    }
}
