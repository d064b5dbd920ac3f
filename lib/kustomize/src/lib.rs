//! Kustomize as a library: files with a `kustomization.yaml` → the objects it makes of them.
//!
//! Works on files in memory or below a directory, executes nothing, fetches nothing. Files may be read from the
//! directory of the kustomization that names them and below; other directories may be used as bases. What is not
//! supported (remote resources, charts, programs) is an error that names the field, never silently different objects.
//! The oracle is `kubectl kustomize` of kubectl 1.36 (kustomize v5.8).

mod accumulate;
mod bound;
mod config;
mod crd;
mod document;
mod element;
mod error;
mod field;
mod files;
mod finish;
mod generator;
mod hash;
mod id;
mod kustomization;
mod merge;
mod node;
mod order;
mod origin;
mod patch;
mod path;
mod plugin;
mod reference;
mod replacement;
mod resource;
mod schema;
mod select;
mod spelling;
mod step;
mod table;
mod transform;
mod value;
mod variable;

use std::path::Path;

use serde_json::Value;

pub use crate::error::Error;
pub use crate::files::{Disk, Files, Found};

/// The order of objects where `sortOptions` says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// That of the resources; what kustomize as a library does.
    #[default]
    Given,
    /// By kind: namespaces, definitions and accounts first, webhooks last; what `kubectl kustomize` prints.
    Legacy,
}

/// Builds the kustomization in `dir` (`""` for the root). Paths of `files` are relative to the root, with `/`.
///
/// Guarantees: the same files give the same objects in the same order; objects come in the order of resources unless
/// `sortOptions` says otherwise. The work is bounded whatever the files say.
///
/// # Errors
/// What is wrong, with the file and the field.
pub fn build(files: &dyn Files, dir: &str) -> Result<Vec<Value>, Error> {
    finish::build(files, dir, Order::Given)
}

/// [`build`] with another order where `sortOptions` says nothing.
///
/// # Errors
/// As [`build`].
pub fn build_in_order(files: &dyn Files, dir: &str, order: Order) -> Result<Vec<Value>, Error> {
    finish::build(files, dir, order)
}

/// Builds the kustomization in a directory of this machine; its bases may lie anywhere. Files of errors are absolute.
///
/// # Errors
/// As [`build`].
pub fn build_directory(dir: &Path, order: Order) -> Result<Vec<Value>, Error> {
    let shown = dir.display().to_string();
    let failed = |error: std::io::Error| Error::file(&shown, error.to_string());
    let disk = Disk::new(Path::new("/")).map_err(failed)?;
    let full = dir.canonicalize().map_err(failed)?;
    let Some(path) = full.to_str() else {
        return Err(Error::file(&shown, "the path is no text"));
    };
    finish::build(&disk, path, order).map_err(|error| Error {
        file: format!("/{}", error.file.trim_start_matches('/')),
        ..error
    })
}

/// Objects as `kubectl kustomize` prints them: one document each, keys sorted.
///
/// # Errors
/// Text that YAML cannot carry.
pub fn to_yaml(objects: &[Value]) -> Result<String, goyaml::Error> {
    let mut text = String::new();
    for object in objects {
        if !text.is_empty() {
            text.push_str("---\n");
        }
        text.push_str(&goyaml::to_yaml(object)?);
    }
    Ok(text)
}
