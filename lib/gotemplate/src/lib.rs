//! Go's `text/template` as a library: template text and a tree of values become text, with Go's typing, Go's
//! printing and Go's error messages.
//!
//! It never reads a file, a clock-independent environment or the network, and it is bounded: steps, output and
//! nesting have limits, because the template may come from somebody who means harm.

pub mod engine;
pub mod error;
pub mod sprig;

pub use engine::Engine;
pub use error::Error;
