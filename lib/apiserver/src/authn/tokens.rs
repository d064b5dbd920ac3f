//! Tokens against what is stored: whose a token is, and whether that account still exists.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

use crate::access::User;
use crate::authn::{AUTHENTICATED, CREDENTIAL_ID, account_groups};
use crate::options::{Clock, Random, uuid};
use crate::store::Store;
use crate::token::{self, Bound, Claims, ISSUER, Kind, ObjectRef, Shape, Signer};

/// Why a token does not authenticate anybody.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The token by itself is no good.
    #[error("verify the token")]
    Verify(#[source] token::Error),
    /// It is for somebody else.
    #[error("token audiences {found:?} is invalid for the target audiences {wanted:?}")]
    Audience {
        /// The token's.
        found: Vec<String>,
        /// The acceptable ones.
        wanted: Vec<String>,
    },
    /// What it belongs to was deleted, or is another object of the same name.
    #[error("the {what} of the token is gone")]
    Gone {
        /// Account, secret or bound object.
        what: &'static str,
    },
    /// The store failed.
    #[error("look up the account")]
    Store(#[source] crate::store::Error),
}

/// Whose a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The account as a user.
    pub user: User,
    /// Those of the wanted audiences that the token is for.
    pub audiences: Vec<String>,
}

/// Makes and checks tokens of the accounts in a store.
pub struct Tokens {
    signer: Signer,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl Tokens {
    /// Tokens signed by `signer` for the accounts in `store`.
    #[must_use]
    pub fn new(signer: Signer, store: Arc<dyn Store>, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self {
            signer,
            store,
            clock,
            random,
        }
    }

    /// Whose a token is. `audiences` are those acceptable, none stands for this server's own.
    ///
    /// # Errors
    /// The token is bad, for somebody else, or what it belongs to does not exist any more.
    pub fn verify(&self, token: &str, audiences: Option<&[String]>) -> Result<Verified, Error> {
        let claims = self.signer.verify(token, self.clock.now()).map_err(Error::Verify)?;
        let own = [ISSUER.to_owned()];
        let wanted = audiences.filter(|wanted| !wanted.is_empty()).unwrap_or(&own);
        let found: &[String] = match &claims.shape {
            Shape::Legacy(_) => &own,
            Shape::Bound(bound) => &bound.audiences,
        };
        let audiences: Vec<String> = wanted.iter().filter(|one| found.contains(one)).cloned().collect();
        if audiences.is_empty() {
            return Err(Error::Audience {
                found: found.to_vec(),
                wanted: wanted.to_vec(),
            });
        }
        self.check_alive(token, &claims)?;
        Ok(Verified {
            user: user(&claims),
            audiences,
        })
    }

    /// A bound token of an account for `seconds`, and when it ends (seconds since 1970).
    ///
    /// # Errors
    /// The key cannot sign.
    pub fn issue(&self, request: Request<'_>) -> Result<(String, i64), token::Error> {
        let issued = self.clock.now().as_second();
        let expires = issued.saturating_add(request.seconds);
        let claims = Claims {
            namespace: request.namespace.to_owned(),
            account: request.account,
            shape: Shape::Bound(Bound {
                audiences: request.audiences,
                issued,
                expires,
                id: uuid(&*self.random),
                object: request.object,
            }),
        };
        Ok((self.signer.sign(&claims)?, expires))
    }

    /// The token to keep in the secret `secret` of an account.
    ///
    /// # Errors
    /// The key cannot sign.
    pub fn issue_legacy(&self, namespace: &str, account: ObjectRef, secret: &str) -> Result<String, token::Error> {
        let shape = Shape::Legacy(secret.to_owned());
        self.signer.sign(&Claims {
            namespace: namespace.to_owned(),
            account,
            shape,
        })
    }

    fn check_alive(&self, token: &str, claims: &Claims) -> Result<(), Error> {
        let Claims { namespace, account, .. } = claims;
        let key = format!("/core/serviceaccounts/{namespace}/{}", account.name);
        let stored = self.store.get(&key).map_err(Error::Store)?;
        if !stored.is_some_and(|stored| is(&stored.value, &account.uid)) {
            return Err(Error::Gone { what: "account" });
        }
        match &claims.shape {
            Shape::Legacy(secret) => {
                let secret = self.object("secrets", &claims.namespace, secret)?;
                let kept = secret
                    .as_ref()
                    .and_then(|secret| secret.pointer("/data/token"))
                    .and_then(Value::as_str)
                    .and_then(|data| STANDARD.decode(data).ok());
                let kept = kept.is_some_and(|kept| kept == token.as_bytes());
                let deleted = secret.is_some_and(|secret| secret.pointer("/metadata/deletionTimestamp").is_some());
                if kept && !deleted {
                    Ok(())
                } else {
                    Err(Error::Gone { what: "secret" })
                }
            }
            Shape::Bound(Bound { object: None, .. }) => Ok(()),
            Shape::Bound(Bound {
                object: Some((kind, object)),
                ..
            }) => {
                let found = match kind {
                    Kind::Pod => self.object("pods", &claims.namespace, &object.name)?,
                    Kind::Secret => self.object("secrets", &claims.namespace, &object.name)?,
                    Kind::Node => self.read(&format!("/core/nodes/{}", object.name))?,
                };
                if alive(found.as_ref(), &object.uid) {
                    Ok(())
                } else {
                    Err(Error::Gone { what: "bound object" })
                }
            }
        }
    }

    /// A core object of a namespace.
    pub(crate) fn object(&self, resource: &str, namespace: &str, name: &str) -> Result<Option<Value>, Error> {
        self.read(&format!("/core/{resource}/{namespace}/{name}"))
    }

    fn read(&self, key: &str) -> Result<Option<Value>, Error> {
        let entry = self.store.get(key).map_err(Error::Store)?;
        Ok(entry.and_then(|entry| serde_json::from_slice(&entry.value).ok()))
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

/// What a bound token shall say.
#[derive(Debug)]
pub struct Request<'a> {
    /// The account's namespace.
    pub namespace: &'a str,
    /// The account.
    pub account: ObjectRef,
    /// For whom.
    pub audiences: Vec<String>,
    /// How long.
    pub seconds: i64,
    /// The object it lives with.
    pub object: Option<(Kind, ObjectRef)>,
}

/// Whether a stored object has this uid. Every request asks, so nothing else of it is read.
fn is(stored: &[u8], uid: &str) -> bool {
    #[derive(Deserialize)]
    struct Stored {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        uid: String,
    }
    serde_json::from_slice::<Stored>(stored).is_ok_and(|stored| stored.metadata.uid == uid)
}

/// An object that is being deleted still authenticates until it is gone, as its finalizers may need it to.
fn alive(object: Option<&Value>, uid: &str) -> bool {
    object
        .and_then(|object| object.pointer("/metadata/uid"))
        .and_then(Value::as_str)
        == Some(uid)
}

fn user(claims: &Claims) -> User {
    let mut extra = BTreeMap::new();
    if let Shape::Bound(bound) = &claims.shape {
        extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={}", bound.id)]);
        if let Some((kind @ (Kind::Pod | Kind::Node), object)) = &bound.object {
            let kind = kind.claim();
            extra.insert(
                format!("authentication.kubernetes.io/{kind}-name"),
                vec![object.name.clone()],
            );
            extra.insert(
                format!("authentication.kubernetes.io/{kind}-uid"),
                vec![object.uid.clone()],
            );
        }
    }
    let mut groups = account_groups(&claims.namespace);
    groups.push(AUTHENTICATED.to_owned());
    User {
        name: claims.subject(),
        uid: claims.account.uid.clone(),
        groups,
        extra,
    }
}
