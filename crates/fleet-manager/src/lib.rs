//! The manager: controllers of the management cluster. Turns GitRepos into Bundles, Bundles into
//! BundleDeployments, what agents report into statuses, and requests to register into accounts.
//! Decisions about bundles are made in `fleet-plan`; this crate moves data in and out of
//! Kubernetes. Every controller is a folder of `observe` (reads), `decide` (pure), `act`
//! (writes) and `report` (status).

mod account;
mod bundle;
mod bundledeployment;
mod chart;
mod cleanup;
mod cluster;
mod clustergroup;
mod clusternamespace;
pub mod config;
mod content;
pub mod env;
mod gitrepo;
mod gitrepostatus;
mod gone;
mod objectset;
mod planner;
mod policy;
mod registration;
mod run;
pub mod settings;
mod shell;
mod startup;
mod token;
mod world;

pub use config::Config;
pub use run::{Error, Part, run, run_parts};
pub use settings::Settings;
