//! Stretch 3 of the data's way: a BundleDeployment and its content become a chart, the chart
//! becomes manifests, the manifests become a release and live objects; and the live objects
//! are looked at again for readiness and drift. Knows one cluster and one deployment at a time;
//! knows nothing of managers, queues or watches.

pub mod object;

pub mod cluster;

pub mod content;

pub mod assemble;
mod overlay;
mod patch;

mod kustomization;
pub mod postrender;

pub mod render;
pub mod values;

mod ownership;
pub mod write;

pub mod kstatus;

pub mod release;
pub mod store;

pub mod deploy;

pub mod correct;
pub mod drift;
pub mod monitor;
pub mod summary;
