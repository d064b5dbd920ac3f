//! Client certificates as users.
//!
//! A chain that was found good is remembered for a while, because a client shows the same one with every request of a
//! connection and with the next connection.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::CertificateDer;
use sha2::{Digest, Sha256};

use crate::access::User;
use crate::authn::{AUTHENTICATED, CREDENTIAL_ID, add_group};
use crate::options::Clock;
use crate::tls::{Error, Pki};

/// How late the end of a certificate may be noticed.
const TRUSTED: SignedDuration = SignedDuration::from_secs(60);

/// Chains remembered; certificates are for a few administrators, agents use tokens.
const REMEMBERED: usize = 1024;

/// The users behind certificates of one authority.
pub(super) struct Certificates {
    pki: Arc<Pki>,
    clock: Arc<dyn Clock>,
    seen: Mutex<HashMap<[u8; 32], (Timestamp, User)>>,
}

impl Certificates {
    pub(super) fn new(pki: Arc<Pki>, clock: Arc<dyn Clock>) -> Self {
        Self {
            pki,
            clock,
            seen: Mutex::default(),
        }
    }

    /// The user of a chain, the client's own certificate first; none without certificates.
    pub(super) fn user(&self, chain: &[CertificateDer<'static>]) -> Result<Option<User>, Error> {
        if chain.is_empty() {
            return Ok(None);
        }
        let now = self.clock.now();
        let mut digest = Sha256::new();
        for certificate in chain {
            digest.update(certificate.len().to_be_bytes());
            digest.update(certificate);
        }
        let digest: [u8; 32] = digest.finalize().into();
        let known = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&digest)
            .cloned();
        if let Some((at, user)) = known
            && now >= at
            && now.duration_since(at) < TRUSTED
        {
            return Ok(Some(user));
        }
        let subject = self.pki.verify_client(chain, now)?;
        let id = format!("X509SHA256={}", subject.fingerprint);
        let mut user = User {
            name: subject.common_name,
            groups: subject.organizations,
            extra: BTreeMap::from([(CREDENTIAL_ID.to_owned(), vec![id])]),
            ..User::default()
        };
        add_group(&mut user, AUTHENTICATED);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(digest, (now, user.clone()));
        Ok(Some(user))
    }
}
