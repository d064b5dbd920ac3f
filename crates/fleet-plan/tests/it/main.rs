//! The plan as a black box: case files with expected plans and explanations, and laws that hold for any world.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod case;
mod fleet;
mod law;
