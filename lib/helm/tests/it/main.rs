//! Differences between this engine and Helm itself, counted on tables of recorded answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod charts;
mod hostile;
mod schemas;
mod snippets;
mod templates;

use std::path::PathBuf;

/// A file of `tests/data`.
fn data(name: &str) -> serde_json::Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
