//! Turns an account into a signed token and a token back into the account's claims.
//!
//! A token is a JWT signed with ES256. Two shapes exist: *bound* tokens (from TokenRequest: audience, expiry, perhaps an
//! object they live and die with) and *legacy* ones (stored in a secret of type
//! `kubernetes.io/service-account-token`, without expiry). Checking a token here says only that this server signed it
//! and that its time has not passed; whether account, secret and bound object still exist is for [`crate::authn`].
//! Mirrors upstream's `serviceaccount` package.

mod claims;
mod signer;

pub use self::claims::{Bound, Claims, Kind, ObjectRef, Shape};
pub use self::signer::Signer;

/// The audience of tokens meant for this server, and the issuer of bound ones.
pub const ISSUER: &str = "https://kubernetes.default.svc";

/// The issuer of tokens that are kept in secrets.
pub const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";

/// Why a token is not accepted, or cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not three dot-separated base64url parts with the header and claims expected.
    #[error("the token is malformed")]
    Malformed,
    /// Signed by somebody else, or changed.
    #[error("the token's signature is not ours")]
    Signature,
    /// Its time has not come or is over.
    #[error("the token is not valid at this time")]
    Time,
    /// The signing key cannot be used.
    #[error("use the signing key: {reason}")]
    Key {
        /// Why.
        reason: String,
    },
}

#[cfg(test)]
mod tests;
