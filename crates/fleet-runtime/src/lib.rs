//! What the shells (manager and agent) are made of: a client and a clock in one context, errors
//! that say when to try again, watches that project objects into small mirrors, keyed work
//! queues, writes that leave equal things alone, leader election. Knows Kubernetes; knows
//! nothing of bundles.

pub mod clock;
pub mod context;
pub mod controller;
pub mod disposition;
pub mod env;
pub mod error;
pub mod lease;
pub mod mirror;
pub mod queue;
pub mod service;
pub mod write;

pub use clock::{Clock, SystemClock};
pub use context::Context;
pub use controller::Action;
pub use disposition::{Disposition, Failure};
pub use error::{Error, ResultExt};
pub use fleet_api::chain::chain;
pub use mirror::{Change, Key, Mirror};
pub use queue::Queue;
pub use service::Services;
