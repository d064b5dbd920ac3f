//! HTTP around the verbs: a request's bytes in, an answer's bytes out.
//!
//! Routing, content negotiation, authorization and output forms live here; what happens to objects does not.

mod listen;
mod metrics;
mod negotiate;
mod output;
mod page;
mod respond;
mod route;
mod serve;

pub(crate) use listen::Listener;
pub use respond::Body;
pub(crate) use serve::Shell;
