//! Stretch 1: git, charts and files → Bundles. Reads directories and repositories, writes
//! nothing but temporary directories (and, in [`store`], bundles through a client it is given).
//! Knows nothing of controllers.

pub mod child;
pub mod git;
pub mod options;
