//! One file per command: settings from arguments and environment, then the work, then the printing.

pub(crate) mod apiserver;
pub(crate) mod apply;
pub(crate) mod build;
pub(crate) mod demo;
pub(crate) mod deploy;
pub(crate) mod git_work;
pub(crate) mod serve;
pub(crate) mod target;
pub(crate) mod template;
