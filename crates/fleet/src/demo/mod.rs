//! The demo: a manager, simulated clusters with real agents, a git repository, and a view of what happens.

pub(crate) mod downstream;
pub(crate) mod observe;
pub(crate) mod repository;
pub(crate) mod screen;
pub(crate) mod snapshot;
