//! Go's `text/template` as a library: template text and a tree of values become text, with Go's typing, Go's
//! printing and Go's error messages; and the functions of the sprig library.
//!
//! It never reads a file or talks to the network, and it is bounded: steps, output and nesting have limits, because
//! the template may come from somebody who means harm.

pub mod bytes;
mod lex;
mod quote;

mod ast;
mod clause;
mod literal;
mod parse;
mod size;

mod template;

pub mod budget;
mod eval;
pub mod machine;
mod turn;

mod builtin;
mod compare;
pub mod failure;
pub mod function;
pub mod number;
mod print;

mod container;
mod entries;
pub mod json;
pub mod object;
mod part;
pub mod value;
pub mod yaml;

pub mod engine;
pub mod error;

pub mod semver;
pub mod sprig;

pub use crate::ast::Parsed;
pub use crate::engine::Engine;
pub use crate::error::Error;
pub use crate::failure::Failure;
pub use crate::function::{Functions, Signature};
pub use crate::machine::{Machine, MissingKey};
pub use crate::object::GoObject;
pub use crate::value::{List, Map, Text, Value};

/// The text without what a missing value prints as.
pub fn without_missing(text: String) -> String {
    const MISSING: &str = "<no value>";
    if memchr::memmem::find(text.as_bytes(), MISSING.as_bytes()).is_some() {
        text.replace(MISSING, "")
    } else {
        text
    }
}

/// The text as a quoted Go string, as `%q` prints it.
pub fn quoted(text: &str) -> String {
    quote::quote(text)
}
