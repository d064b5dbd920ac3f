//! YAML and JSON exactly as Go programs read and write them.
//!
//! Turns YAML text into JSON values with the rules of `sigs.k8s.io/yaml` over go-yaml (what Kubernetes, Helm and
//! Fleet read), and JSON values into the bytes that go-yaml and `encoding/json` write. Hashes and rendered manifests
//! depend on those bytes, so a convenient deviation is a defect here.
//!
//! It never reads files, never panics on input and bounds the work that a hostile document can cause
//! (nesting depth, alias expansion).

mod decode;
mod emit;
mod error;
mod fold;
pub mod json;
pub mod number;
mod order;
mod parse;
mod resolve;
mod style;
mod tape;
mod timestamp;
pub mod tree;

pub use crate::decode::{
    Build, Document, Repeated, parse, parse_as, parse_documents, parse_documents_with, parse_keys, parse_with,
    parse_with_repeated,
};
pub use crate::emit::{Emit, Part, to_yaml, to_yaml_of, to_yaml_with};
pub use crate::error::Error;

/// Whose rules decide what a plain scalar means and how text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// go-yaml v2 as used by `sigs.k8s.io/yaml`: YAML 1.1 words (`yes`, `on`, `y`) are booleans, also as keys; a
    /// repeated key silently wins; a merge key acts where it stands.
    #[default]
    V2,
    /// go-yaml v3 as used by kustomize: only `true` and `false` are booleans; a repeated key is an error; an explicit
    /// key wins over a merged one wherever it stands.
    V3,
}
