//! What deleted owners left behind while no manager ran: objects of registrations and tokens, and
//! namespaces of clusters. Upstream's concept: the `cleanup` process. Looks once at start; while
//! it runs, the other controllers clean up after themselves. Only objects that carry the label
//! of this program and name an owner that does not exist are touched.

mod decide;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use fleet_api::{Cluster, ClusterRegistration, ClusterRegistrationToken, labels};
use fleet_runtime::write::{Object, find};
use fleet_runtime::{Context, Error, ResultExt, Services, chain};
use k8s_openapi::api::core::v1::{Namespace, Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use kube::Api;
use kube::api::ListParams;

use crate::shell::Shell;

/// Objects per page.
const PAGE: u32 = 500;
/// Time between two attempts after a failure.
const AGAIN: Duration = Duration::from_secs(60);

/// Starts the pass.
pub(crate) fn start(shell: &Arc<Shell>, services: &mut Services) {
    let (cx, shutdown) = (shell.cx.clone(), services.shutdown());
    services.spawn("cleanup", async move {
        while let Err(error) = pass(&cx).await {
            tracing::warn!(error = chain(&error), "clean-up failed");
            tokio::select! {
                () = shutdown.cancelled() => return Ok::<(), Infallible>(()),
                () = tokio::time::sleep(AGAIN) => {}
            }
        }
        shutdown.cancelled().await;
        Ok(())
    });
}

async fn pass(cx: &Context) -> Result<(), Error> {
    sweep::<Secret>(cx).await?;
    sweep::<ServiceAccount>(cx).await?;
    sweep::<RoleBinding>(cx).await?;
    sweep::<Role>(cx).await?;
    sweep::<ClusterRoleBinding>(cx).await?;
    sweep::<Namespace>(cx).await
}

/// Goes through the objects of one kind, page by page.
async fn sweep<K: Object>(cx: &Context) -> Result<(), Error> {
    let api: Api<K> = cx.all();
    let mut params = ListParams::default()
        .labels(&format!("{}=true", labels::MANAGED))
        .limit(PAGE);
    loop {
        let page = api.list_metadata(&params).await.doing("list", || K::plural(&()))?;
        for object in &page.items {
            if let Some(owner) = decide::owner(object)
                && !exists(&owner, cx).await?
            {
                remove::<K>(
                    object.metadata.namespace.as_deref(),
                    object.metadata.name.as_deref(),
                    cx,
                )
                .await?;
            }
        }
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params.continue_token = Some(token),
            None => return Ok(()),
        }
    }
}

async fn exists(owner: &decide::Owner, cx: &Context) -> Result<bool, Error> {
    use decide::Owner;
    Ok(match owner {
        Owner::Registration(key) => find(&cx.namespaced::<ClusterRegistration>(&key.namespace), &key.name)
            .await?
            .is_some(),
        Owner::Token(key) => find(&cx.namespaced::<ClusterRegistrationToken>(&key.namespace), &key.name)
            .await?
            .is_some(),
        Owner::Cluster(key) => find(&cx.namespaced::<Cluster>(&key.namespace), &key.name)
            .await?
            .is_some(),
    })
}

async fn remove<K: Object>(space: Option<&str>, name: Option<&str>, cx: &Context) -> Result<(), Error> {
    let dynamic = kube::api::ApiResource::erase::<K>(&());
    let api: Api<kube::api::DynamicObject> = match space {
        Some(space) => Api::namespaced_with(cx.client.clone(), space, &dynamic),
        None => Api::all_with(cx.client.clone(), &dynamic),
    };
    let name = name.unwrap_or_default();
    tracing::info!(kind = %K::kind(&()), namespace = space, name, "removing an object whose owner is gone");
    match api
        .delete(name, &kube::api::DeleteParams::background())
        .await
        .doing("delete", || name)
    {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}
