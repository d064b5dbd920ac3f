//! Kustomize as a library: a set of files with a `kustomization.yaml` → the objects it makes of them.
//!
//! Works on files in memory, executes nothing, fetches nothing. Files may be read from the directory of the
//! kustomization that names them and below; other directories may be used as bases. What is not supported is an error
//! that names the field, never silently different objects. The oracle is `kubectl kustomize`.

mod accumulate;
mod error;
mod field;
mod file;
mod generator;
mod hash;
mod kustomization;
mod merge;
mod order;
mod patch;
mod reference;
mod replacement;
mod resource;
mod table;
mod transform;

use std::collections::BTreeMap;

use serde_json::Value;

pub use crate::error::Error;

/// Builds the kustomization in `dir` (`""` for the root). Paths of `files` are relative to the root, with `/`.
///
/// Guarantees: the same files give the same objects in the same order; objects come in the order of resources unless
/// `sortOptions` says otherwise.
///
/// # Errors
/// What is wrong, with the file and the field.
pub fn build(files: &BTreeMap<String, Vec<u8>>, dir: &str) -> Result<Vec<Value>, Error> {
    accumulate::build(&file::Tree::new(files), dir)
}
