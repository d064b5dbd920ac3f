//! Signs and verifies tokens with one P-256 key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use rustls::pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::token::{Claims, Error, Shape};

/// Tokens whose signature was seen to be good are remembered, because an agent shows the same one with every request
/// and verifying costs 0.1 ms. Two generations of this size bound the memory to some 10 MB.
const REMEMBERED: usize = 8192;

/// Clocks of one machine do not run backwards by more than this, in seconds.
const LEEWAY: i64 = 60;

/// One signing key and what is known about tokens signed with it.
pub struct Signer {
    key: EcdsaKeyPair,
    key_id: String,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    young: HashMap<[u8; 32], Arc<Claims>>,
    old: HashMap<[u8; 32], Arc<Claims>>,
}

impl Signer {
    /// A signer with a PKCS#8 PEM key on the curve P-256.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn new(key_pem: &str) -> Result<Signer, Error> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(key_pem.as_bytes()).map_err(|error| Error::Key {
            reason: error.to_string(),
        })?;
        let key =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.secret_pkcs8_der()).map_err(|error| {
                Error::Key {
                    reason: error.to_string(),
                }
            })?;
        let key_id = URL_SAFE_NO_PAD.encode(Sha256::digest(key.public_key().as_ref()));
        Ok(Signer {
            key,
            key_id,
            seen: Mutex::default(),
        })
    }

    /// The token that says `claims`.
    ///
    /// # Errors
    /// [`Error::Key`] if the key cannot sign.
    pub fn sign(&self, claims: &Claims) -> Result<String, Error> {
        let header = json!({"alg": "ES256", "kid": self.key_id});
        let mut token = URL_SAFE_NO_PAD.encode(header.to_string());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims.to_value().to_string(), &mut token);
        let signature = self
            .key
            .sign(&SystemRandom::new(), token.as_bytes())
            .map_err(|_| Error::Key {
                reason: "signing failed".to_owned(),
            })?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature.as_ref(), &mut token);
        Ok(token)
    }

    /// What a token says, if this key signed it and it is valid at `now`.
    ///
    /// # Errors
    /// Every other token.
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Arc<Claims>, Error> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let known = self.recall(&digest);
        let claims = match known {
            Some(claims) => claims,
            None => {
                let claims = Arc::new(self.check(token)?);
                self.remember(digest, Arc::clone(&claims));
                claims
            }
        };
        if let Shape::Bound(bound) = &claims.shape {
            let now = now.as_second();
            if now >= bound.expires || now + LEEWAY < bound.issued {
                return Err(Error::Time);
            }
        }
        Ok(claims)
    }

    fn check(&self, token: &str) -> Result<Claims, Error> {
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Error::Malformed);
        };
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| Error::Malformed);
        let json = |part: &str| serde_json::from_slice::<Value>(&decode(part)?).map_err(|_| Error::Malformed);
        if json(header)?.get("alg").and_then(Value::as_str) != Some("ES256") {
            return Err(Error::Signature);
        }
        let signed = &token.as_bytes()[..header.len() + 1 + payload.len()];
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.public_key().as_ref())
            .verify(signed, &decode(signature)?)
            .map_err(|_| Error::Signature)?;
        Claims::from_value(&json(payload)?)
    }

    fn recall(&self, digest: &[u8; 32]) -> Option<Arc<Claims>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(claims) = seen.young.get(digest) {
            return Some(Arc::clone(claims));
        }
        let claims = seen.old.remove(digest)?;
        seen.keep(*digest, Arc::clone(&claims));
        Some(claims)
    }

    fn remember(&self, digest: [u8; 32], claims: Arc<Claims>) {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .keep(digest, claims);
    }
}

impl Seen {
    fn keep(&mut self, digest: [u8; 32], claims: Arc<Claims>) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(digest, claims);
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}
