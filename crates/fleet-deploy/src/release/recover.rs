//! Recover: what a dead agent left under way is ended, so that the next action may begin.

use helm::release::Status;

use crate::release::{Error, Ports, record};
use crate::store::History;

/// Writes `failed` over a pending record that has nothing to go back to.
pub(crate) async fn mark_failed(ports: &Ports, history: &History, revision: i64) -> Result<(), Error> {
    let pending = history.find(revision).ok_or(Error::Gone(revision))?;
    record::set(ports, &mut pending.clone(), Status::Failed).await
}
