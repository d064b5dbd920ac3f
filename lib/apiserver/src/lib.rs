//! An embedded Kubernetes API server: requests over HTTP (or in process) become objects in a revisioned store and back.
//!
//! It stores and serves, as kube-apiserver does; it knows no controllers. Housekeeping and workload simulation stand
//! beside it ([`controllers`], [`workloads`]) as clients of its own API, and nothing here may know what they do.
//! The only inputs besides requests are the clock and the randomness in [`Options`].

pub mod access;
pub mod options;
pub mod server;
pub mod status;
pub mod store;

pub mod registry;

mod cluster;
mod definition;
mod discovery;
mod event;
mod object;
mod openapi;
mod protobuf;
mod query;
mod scaler;
mod security;
mod shell;
mod table;
mod verb;

pub mod apply;
pub mod crd;
pub mod defaulting;
pub mod validation;

pub mod authn;
pub mod authz;
pub mod controllers;
pub mod tls;
pub mod token;
pub mod workloads;

pub use access::User;
pub use options::Options;
pub use server::Server;
