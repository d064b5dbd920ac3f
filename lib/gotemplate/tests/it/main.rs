//! The engine as other crates use it: one call, Go's words for errors, and limits that hold.

mod binary;
mod certificates;
mod limits;
mod one_call;
mod parsed;
