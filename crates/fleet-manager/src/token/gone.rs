//! The objects of a deleted token go at once: with the account, every registration under way loses
//! its rights.

use fleet_api::{ClusterRegistrationToken, names};
use fleet_runtime::{Error, Key};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};

use crate::gone::{Gone, drop_if_ours};
use crate::objectset::{ObjectSet, Owner, TOKEN};
use crate::shell::{Shell, name, namespace, uid};

/// Removes the objects of deleted tokens of this name.
pub(super) async fn remove(key: &Key, gone: &Gone<ClusterRegistrationToken>, shell: &Shell) -> Result<(), Error> {
    while let Some(token) = gone.first(key) {
        let set = ObjectSet::new(TOKEN, Some(Owner::of(&*token)));
        let (cx, space) = (&shell.cx, namespace(&*token));
        let account = names::service_account(name(&*token), uid(&*token));
        drop_if_ours(&set, &cx.namespaced::<ServiceAccount>(space), &account).await?;
        drop_if_ours(
            &set,
            &cx.namespaced::<RoleBinding>(space),
            &names::token_role_binding(&account),
        )
        .await?;
        drop_if_ours(&set, &cx.namespaced::<Role>(space), &names::token_role(&account)).await?;
        // A new token of the same name writes a secret of the same name.
        if shell.world.tokens.mirror().at(key).is_none() {
            drop_if_ours(&set, &cx.namespaced::<Secret>(space), name(&*token)).await?;
        }
        gone.forget(key, &token);
    }
    Ok(())
}
