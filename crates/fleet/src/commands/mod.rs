//! One file per command: settings from arguments and environment, then the work, then the printing.

pub(crate) mod apiserver;
pub(crate) mod apply;
pub(crate) mod deploy;
pub(crate) mod target;
