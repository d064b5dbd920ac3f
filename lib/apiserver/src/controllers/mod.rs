//! Kubernetes' own housekeeping: garbage collection, emptying of namespaces, token secrets, default accounts, the root
//! CA and aggregated roles.
//!
//! Controllers are clients of the server's API in the same process ([`Api`]) and never see the store; what they do,
//! `kubectl` could do. One feed per resource reports changes of metadata; the reactor turns a change into pieces of work
//! that are due, workers do them. All work can be derived from the objects again, so it survives crashes anywhere.
//! Mirrors the controllers of kube-controller-manager with these names.

mod account;
mod aggregation;
pub(crate) mod api;
mod discovery;
pub(crate) mod feed;
mod garbage;
pub(crate) mod graph;
mod namespace;
pub(crate) mod object;
pub(crate) mod queue;
mod reactor;
mod token_secret;

pub use self::api::{Api, Error};
pub use self::reactor::Housekeeping;

/// Which controllers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// Deletes what its owners left behind, and lets go of owners that wait for it.
    pub garbage: bool,
    /// Empties namespaces that are being deleted.
    pub namespaces: bool,
    /// Fills secrets of type `kubernetes.io/service-account-token`, deletes those of deleted accounts.
    pub tokens: bool,
    /// Gives each namespace its default ServiceAccount and the ConfigMap `kube-root-ca.crt`.
    pub accounts: bool,
    /// Fills ClusterRoles that have an aggregation rule.
    pub aggregation: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            garbage: true,
            namespaces: true,
            tokens: true,
            accounts: true,
            aggregation: true,
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod world;
