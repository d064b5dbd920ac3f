//! Stretch 1: git, charts and files → Bundles. Reads directories and repositories, writes
//! nothing but temporary directories (and, in [`store`], bundles through a client it is given).
//! Knows nothing of controllers.

mod assemble;
mod conform;
mod dependency;
pub mod env;
mod http;
mod ignore;
mod overwrite;
mod path;
mod pattern;
mod resources;
mod values_file;

pub mod chart;
pub mod child;
pub mod fleetyaml;
pub mod git;
pub mod options;
pub mod scan;
pub mod store;

pub use child::chain;
