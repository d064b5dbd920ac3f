//! Stretch two of Fleet: Bundle × clusters → BundleDeployments, how a change spreads, and how states add up again.
//!
//! [`State`] is a plain value that is fed with [`Event`]s and answers with [`Dirty`] keys, [`Plan`]s and roll-ups. It has
//! no clock, no client, no file system and no async runtime; every decision is total: bad input becomes part of the
//! answer (a [`Problem`], a [`Reason`]), never a panic.
//!
//! Reading order: [`key`], [`event`], `facts` (what is kept of objects), [`target`] (who gets what), [`template`]
//! (values from cluster labels), [`rollout`] (how fast), [`state`] and [`plan`] (the answer), [`rollup`], [`explain`].

pub mod deployment;
pub mod event;
pub mod explain;
pub(crate) mod facts;
pub mod key;
pub mod plan;
pub mod rollout;
pub mod rollup;
pub mod state;
pub mod target;
pub mod template;

pub use event::{Dirty, Event, NamespacePolicy};
pub use explain::{Explanation, Reason};
pub use key::{BundleKey, ClusterKey, DeploymentKey, GroupKey, MappingKey, SourceKey, SourceKind};
pub use plan::{DeploymentPlan, LeftOut, Pass, Plan, Problem, Release};
pub use rollup::{ClusterRollup, GroupRollup, SourceRollup};
pub use state::State;
