//! A Helm 4 engine as a library: files of a chart become rendered manifests, manifests become a
//! recorded release. The way of the data is the order of the modules.
//!
//! It never talks to a cluster: what a chart asks the cluster for (`lookup`, capabilities) is handed in. It reads no
//! files except in [`folder`], for whoever has a chart on disk.

mod archive;
pub mod cache;
pub mod chart;
mod file;
mod go;
mod metadata;

pub mod folder;
pub mod ignore;
mod pattern;

mod dependency;
mod overlay;
pub mod set;
pub mod values;

pub mod schema;

pub mod capabilities;

mod ahead;
mod data;
mod files;
mod function;
mod method;
pub mod render;
mod toml;

pub mod document;
pub mod template;

pub mod release;

pub mod order;

pub mod step;
