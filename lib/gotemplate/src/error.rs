//! What can go wrong, with the place in Go's wording: `template: NAME:LINE:COL: executing "T" at <x>: why`.

/// A template that cannot be parsed, or an execution that stopped.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    message: String,
}
