//! The plan as a black box: case files with expected plans and explanations, and laws that hold for any world.

mod case;
mod fleet;
mod law;
