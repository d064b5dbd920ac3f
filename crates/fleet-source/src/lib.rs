//! Stretch 1: git, charts and files → Bundles. Reads directories and repositories, writes
//! nothing but temporary directories (and, in [`store`], bundles through a client it is given).
//! Knows nothing of controllers.

pub mod assemble;
pub mod conform;
pub mod dependency;
pub mod env;
pub mod http;
pub mod ignore;
mod overwrite;
pub mod path;
pub mod pattern;
pub mod resources;
pub mod values_file;

pub mod chart;
pub mod child;
pub mod fleetyaml;
pub mod git;
pub mod options;
pub mod scan;
pub mod store;
