//! Notes the namespace in the cluster's status, after it exists. Owns `status.namespace` and the
//! conditions `Imported`, `Processed` and `Reconciled`; all other parts belong to the cluster controller,
//! which is why conditions are written against a version.

use fleet_api::{Cluster, condition};
use fleet_runtime::{Error, write};

use super::act::Done;
use crate::shell::{Shell, namespace};

pub(super) async fn report(cluster: &Cluster, done: &Done, shell: &Shell) -> Result<(), Error> {
    let mut status = cluster.status.clone().unwrap_or_default();
    if let Some(space) = &done.namespace {
        status.namespace.clone_from(space);
    }
    let now = shell.cx.now();
    let failure = done.failure.as_ref().map(|error| fleet_runtime::chain(error));
    condition::set_error(
        &mut status.conditions,
        condition::PROCESSED,
        "",
        failure.as_deref(),
        now,
    );
    let import = (!cluster.spec.kube_config_secret.is_empty())
        .then_some("this manager does not install agents from a kubeconfig secret; install the fleet-agent chart");
    condition::set_error(&mut status.conditions, condition::IMPORTED, "", import, now);
    condition::set_error(&mut status.conditions, condition::RECONCILED, "", None, now);
    let api = shell.cx.namespaced::<Cluster>(namespace(cluster));
    if cluster.status.is_none() {
        // An agent's first check-in replaces `status.agent`, which therefore has to be there.
        return write::status_first(&api, cluster, &status).await.map(drop);
    }
    write::status_at(&api, cluster, cluster.status.as_ref(), &status)
        .await
        .map(drop)
}
