//! What tests of the whole program share: our binaries as processes, git repositories, clients, and waiting
//! for objects without polling.
//!
//! Tests assert on objects in the API, never on calls. Nothing here is part of the product.

mod cluster;
mod object;
mod program;
mod repository;

pub use cluster::{FLEET_NAMESPACE, SYSTEM_NAMESPACE, bootstrap_agent, install_kinds, registration_values};
pub use object::{PATIENCE, apply, client, eventually, kubeconfig_client};
pub use program::{Program, binary, free_address};
pub use repository::Repository;
