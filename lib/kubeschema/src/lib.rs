//! What Kubernetes' schemas mean, for programs that are no Kubernetes API server but must agree with one: selectors,
//! quantities, names, kubectl's JSONPath, the facts of the built-in kinds, patches and typed merges.
//!
//! Everything here is a pure function on [`serde_json::Value`]. Nothing reads a clock, a file or the network.

pub mod defaulting;
pub mod field;
pub mod generate;
pub mod jsonpath;
pub mod kinds;
pub mod name;
pub mod openapi;
pub mod patch;
pub mod quantity;
pub mod schema;
pub mod selector;
pub mod smd;
pub mod strict;
