//! What a deleted request leaves behind where Kubernetes' garbage collector cannot follow owner
//! references: objects in other namespaces and cluster-scoped ones. Removing them revokes the
//! agent's credential. What is missed while no manager runs is found by the clean-up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fleet_api::{ClusterRegistration, labels, names};
use fleet_runtime::write::{self, Object, find};
use fleet_runtime::{Error, Key};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use kube::Api;

use crate::objectset::{ObjectSet, Owner, REGISTRATION};
use crate::shell::{Shell, label, name, namespace, uid};

/// Deleted requests by name; several of one name can follow each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Gone {
    requests: Arc<Mutex<BTreeMap<Key, Vec<Arc<ClusterRegistration>>>>>,
}

impl Gone {
    pub(super) fn note(&self, registration: Arc<ClusterRegistration>) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.entry(Key::of(&*registration)).or_default().push(registration);
    }

    fn first(&self, key: &Key) -> Option<Arc<ClusterRegistration>> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.get(key).and_then(|all| all.first()).cloned()
    }

    fn forget(&self, key: &Key, registration: &ClusterRegistration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = requests.get_mut(key) {
            all.retain(|each| uid(&**each) != uid(registration));
            if all.is_empty() {
                requests.remove(key);
            }
        }
    }
}

/// Removes the objects of deleted requests of this name.
pub(super) async fn remove(key: &Key, gone: &Gone, shell: &Shell) -> Result<(), Error> {
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

async fn drop_if_ours<K: Object>(set: &ObjectSet, api: &Api<K>, name: &str) -> Result<(), Error> {
    match find(api, name).await? {
        Some(object) if set.owns(&object) => write::delete(api, &object).await,
        _ => Ok(()),
    }
}
