//! What a deleted request leaves behind where Kubernetes' garbage collector cannot follow owner
//! references: objects in other namespaces and cluster-scoped ones. Removing them revokes the
//! agent's credential. What is missed while no manager runs is found by the clean-up.

use fleet_api::{ClusterRegistration, labels, names};
use fleet_runtime::write::find;
use fleet_runtime::{Error, Key};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};

use crate::gone::{Gone, drop_if_ours};
use crate::objectset::{ObjectSet, Owner, REGISTRATION};
use crate::shell::{Shell, label, name, namespace, uid};

/// Removes the objects of deleted requests of this name.
pub(super) async fn remove(key: &Key, gone: &Gone<ClusterRegistration>, shell: &Shell) -> Result<(), Error> {
    while let Some(registration) = gone.first(key) {
        remove_one(&registration, shell).await?;
        gone.forget(key, &registration);
    }
    Ok(())
}

async fn remove_one(registration: &ClusterRegistration, shell: &Shell) -> Result<(), Error> {
    if !label(registration, labels::CLUSTER_MANAGEMENT).is_empty() {
        return Ok(());
    }
    let set = ObjectSet::new(REGISTRATION, Some(Owner::of(registration)));
    let (cx, reg, space) = (&shell.cx, name(registration), namespace(registration));
    let account = names::service_account(reg, uid(registration));
    let registrations = shell.settings.registration_namespace();
    let secret = names::credential_secret(&registration.spec.client_id, &registration.spec.client_random);
    // The credential first: from here on nobody can fetch it any more.
    drop_if_ours(&set, &cx.namespaced::<Secret>(&registrations), &secret).await?;
    if let Some(cluster) = registration
        .status
        .as_ref()
        .map(|status| &status.cluster_name)
        .filter(|name| !name.is_empty())
    {
        let known = shell.world.clusters.mirror().find(space, cluster);
        let cluster_space = known
            .and_then(|cluster| cluster.status.as_ref().map(|status| status.namespace.clone()))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| names::cluster_namespace(space, cluster));
        drop_if_ours(&set, &cx.namespaced::<ServiceAccount>(&cluster_space), &account).await?;
        drop_if_ours(&set, &cx.namespaced::<RoleBinding>(&cluster_space), reg).await?;
    }
    drop_if_ours(
        &set,
        &cx.cluster::<ClusterRoleBinding>(),
        &names::content_role_binding(reg),
    )
    .await?;
    drop_pair(&set, shell, space, reg).await?;
    for base in readers(registration, shell).await? {
        drop_pair(&set, shell, &registrations, &names::credential_role(&base)).await?;
    }
    Ok(())
}

/// The names under which the right to read the credential may have been given.
async fn readers(registration: &ClusterRegistration, shell: &Shell) -> Result<Vec<String>, Error> {
    let mut bases = vec![name(registration).to_owned()];
    if let Some(status) = &registration.status {
        let import = names::import_token(&status.cluster_name);
        let tokens = shell
            .cx
            .namespaced::<fleet_api::ClusterRegistrationToken>(namespace(registration));
        if let Some(token) = find(&tokens, &import).await? {
            bases.push(names::service_account(&import, uid(&token)));
        }
    }
    Ok(bases)
}

async fn drop_pair(set: &ObjectSet, shell: &Shell, namespace: &str, name: &str) -> Result<(), Error> {
    drop_if_ours(set, &shell.cx.namespaced::<RoleBinding>(namespace), name).await?;
    drop_if_ours(set, &shell.cx.namespaced::<Role>(namespace), name).await
}
