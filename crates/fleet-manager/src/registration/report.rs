//! Says in a request's status which cluster it became and that it is granted.

use fleet_api::ClusterRegistration;
use fleet_runtime::{Context, Error, write};

use super::act::Done;
use crate::shell::namespace;

pub(super) async fn report(registration: &ClusterRegistration, done: &Done, cx: &Context) -> Result<(), Error> {
    let mut status = registration.status.clone().unwrap_or_default();
    if let Some(cluster) = &done.cluster {
        status.cluster_name.clone_from(cluster);
    }
    status.granted |= done.granted;
    let api = cx.namespaced::<ClusterRegistration>(namespace(registration));
    write::status(&api, registration, registration.status.as_ref(), &status)
        .await
        .map(drop)
}
