//! Typed merges with owners: which manager set which field, what an apply changes, where it conflicts, what it removes.
//!
//! Mirrors upstream's structured merge as an API server uses it: [`update`] after a write of any kind, [`apply`] for
//! server-side apply, both keeping `metadata.managedFields`. Never writes, never asks the clock.

mod compare;
mod conflict;
mod fields;
mod last_applied;
mod manager;
mod merge;
mod operation;
mod path;
mod prune;
mod set;

pub use self::compare::{Comparison, compare};
pub use self::conflict::Conflict;
pub use self::fields::{field_set, validate};
pub use self::manager::{Entry, Operation, keep_times, read_entries};
pub use self::merge::merge;
pub use self::operation::{Request, apply, update};
pub use self::set::Set;

/// Why an apply fails.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Fields are owned by others.
    #[error("{}", conflict::message(.0))]
    Conflict(Vec<Conflict>),
    /// The request is malformed.
    #[error("{0}")]
    BadRequest(String),
    /// The configuration does not fit the type; the reference answers with an internal error.
    #[error("{0}")]
    Internal(String),
}
