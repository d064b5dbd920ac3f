//! A Helm 4 engine as a library: files of a chart become rendered manifests, manifests become a
//! recorded release. The way of the data is the order of the modules.

pub mod release;

pub mod order;

pub mod step;
