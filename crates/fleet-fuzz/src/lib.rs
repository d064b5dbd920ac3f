//! What must hold for any input: one `check` per library that reads what strangers write.
//!
//! Turns bytes into calls of a library and asserts laws about the answers (what is written reads back, merging twice
//! is merging once, applying again changes nothing). The programs in `fuzz/` look for inputs that break one; this
//! crate's tests repeat all seeds and every input that ever did. Nothing here is used by the product.

#![expect(clippy::panic, reason = "a broken law is reported by panicking")]

mod call;
mod null;
mod section;

pub mod apply;
pub mod chart;
pub mod index;
pub mod kustomization;
pub mod patch;
pub mod selector;
pub mod template;
pub mod values;
pub mod yaml;

/// A law over any bytes.
pub type Check = fn(&[u8]);

/// Every target by name, in the order in which they are run.
pub const TARGETS: &[(&str, Check)] = &[
    ("yaml", yaml::check),
    ("template", template::check),
    ("values", values::check),
    ("chart", chart::check),
    ("index", index::check),
    ("kustomization", kustomization::check),
    ("patch", patch::check),
    ("apply", apply::check),
    ("selector", selector::check),
];
