//! A Helm 4 engine as a library: files of a chart become rendered manifests, manifests become a
//! recorded release. The way of the data is the order of the modules.
//!
//! It never talks to a cluster and never reads a file: what a chart asks the cluster for (`lookup`,
//! capabilities) is handed in.

mod archive;
pub mod chart;

mod dependency;
pub mod values;

pub mod schema;

pub mod capabilities;

mod data;
mod files;
mod function;
pub mod render;
mod toml;

pub mod release;

pub mod order;

pub mod step;
