//! Who asks and for what: the vocabulary between the HTTP shell, authentication and authorization.
//!
//! Mirrors upstream's `user.Info`, `authorizer.Attributes` and the two interfaces around them. No policy lives here.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rustls_pki_types::CertificateDer;

use crate::status::Status;

/// An authenticated identity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// For example `system:serviceaccount:NAMESPACE:NAME` or a certificate's common name.
    pub name: String,
    /// Unique id behind the name, empty if unknown.
    pub uid: String,
    /// Groups, `system:authenticated` included.
    pub groups: Vec<String>,
    /// Further facts, for example `authentication.kubernetes.io/credential-id`.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// The administrator: member of `system:masters`, which every [`Authorizer`] lets do everything.
    #[must_use]
    pub fn admin() -> Self {
        Self {
            name: "kubernetes-admin".to_owned(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
            ..Self::default()
        }
    }

    /// What a request without credentials is.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            name: "system:anonymous".to_owned(),
            groups: vec!["system:unauthenticated".to_owned()],
            ..Self::default()
        }
    }
}

/// What the connection itself says about the caller.
#[derive(Debug, Clone, Default)]
pub struct Peer {
    /// Remote address; none in process.
    pub address: Option<SocketAddr>,
    /// The client's certificate chain, leaf first; empty without one. Not verified beyond what TLS did.
    pub certificates: Vec<CertificateDer<'static>>,
}

/// What a request wants to do, as rules see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or the lower-case HTTP method
    /// for paths that are no resources.
    pub verb: String,
    /// API group, empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural name; empty for a path that is no resource.
    pub resource: String,
    /// For example `status`; empty for the resource itself.
    pub subresource: String,
    /// Empty for cluster scope or all namespaces.
    pub namespace: String,
    /// Empty for collections.
    pub name: String,
    /// The URL's path, always set.
    pub path: String,
}

/// An authorizer's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether the request may go on.
    pub allowed: bool,
    /// Why, for reviews; may be empty.
    pub reason: String,
}

/// Says whether a user may do something. Must be a look-up: it runs for every request.
pub trait Authorizer: Send + Sync + 'static {
    /// Decides about one request.
    fn authorize(&self, user: &User, attributes: &Attributes) -> Decision;
}

/// Finds out who sends a request.
pub trait Authenticator: Send + Sync + 'static {
    /// The caller, impersonation not yet applied.
    ///
    /// # Errors
    /// The 401 to answer when credentials are present and not good.
    fn authenticate(&self, request: &http::request::Parts, peer: &Peer) -> Result<User, Box<Status>>;
}
