//! Writes a cluster's status against the version it was decided on: conditions are one list that
//! several controllers write.

use fleet_api::Cluster;
use fleet_runtime::{Context, Error, write};

use super::act::Done;
use crate::shell::namespace;

pub(super) async fn report(cluster: &Cluster, done: &Done, cx: &Context) -> Result<(), Error> {
    let Some(status) = &done.status else { return Ok(()) };
    let api = cx.namespaced::<Cluster>(namespace(cluster));
    let current = done.stored.as_ref().unwrap_or(cluster);
    write::status_at(&api, current, cluster.status.as_ref(), &**status)
        .await
        .map(drop)
}
