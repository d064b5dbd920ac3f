//! Carries a request one step further. The credential is written last of all objects, and
//! `granted` after it, so that whoever sees either finds everything else in place.

use std::time::Duration;

use fleet_api::{Cluster, ClusterRegistration};
use fleet_runtime::write::{self, ensure};
use fleet_runtime::{Action, Context, Error};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::json;

use super::decide::{Grant, Plan, Prepare};
use crate::account;
use crate::shell::{name, namespace};

/// Time until a token that was asked for is looked for again.
const TOKEN_WAIT: Duration = Duration::from_millis(300);

/// What came of it.
#[derive(Debug)]
pub(super) struct Done {
    /// The cluster of the request, if it is known.
    pub(super) cluster: Option<String>,
    /// Everything is in place.
    pub(super) granted: bool,
    result: Result<Action, Error>,
}

impl Done {
    pub(super) fn into_action(self) -> Result<Action, Error> {
        self.result
    }
}

pub(super) async fn act(registration: &ClusterRegistration, plan: Plan, cx: &Context) -> Done {
    match plan {
        Plan::Refuse { cluster } => {
            let message = format!("the name '{cluster}' belongs to another client");
            let error = Error::new(
                "register",
                format!("cluster for request '{}'", name(registration)),
                message,
            );
            Done {
                cluster: None,
                granted: false,
                result: Err(error),
            }
        }
        Plan::Register(cluster) => {
            let written = ensure(&cx.namespaced::<Cluster>(namespace(registration)), None, &cluster).await;
            let made = written.is_ok().then(|| name(&*cluster).to_owned());
            Done {
                cluster: made,
                granted: false,
                result: written.map(|_| Action::AwaitChange),
            }
        }
        Plan::Wait { cluster } => Done {
            cluster: Some(cluster),
            granted: false,
            result: Ok(Action::AwaitChange),
        },
        Plan::Prepare(prepare) => {
            let cluster = Some(prepare.cluster.clone());
            Done {
                cluster,
                granted: false,
                result: self::prepare(registration, *prepare, cx).await,
            }
        }
        Plan::Grant(grant) => {
            let cluster = Some(grant.cluster.clone());
            let result = self::grant(registration, *grant, cx).await;
            Done {
                cluster,
                granted: result.is_ok(),
                result,
            }
        }
    }
}

async fn own(
    registration: &ClusterRegistration,
    owners: Option<Vec<OwnerReference>>,
    cx: &Context,
) -> Result<(), Error> {
    let Some(owners) = owners else { return Ok(()) };
    let api = cx.namespaced::<ClusterRegistration>(namespace(registration));
    let mut body = json!({"metadata": {"ownerReferences": owners}});
    if registration.spec.cluster_labels.is_empty() {
        // Go leaves an empty map out; so that both managers store the same object, it goes here too.
        body["spec"] = json!({"clusterLabels": null});
    }
    write::patch(&api, name(registration), &body).await.map(drop)
}

async fn prepare(registration: &ClusterRegistration, prepare: Prepare, cx: &Context) -> Result<Action, Error> {
    let Prepare {
        cluster: _,
        owners,
        account,
        stored,
        ask,
    } = prepare;
    own(registration, owners, cx).await?;
    let api = cx.namespaced::<ServiceAccount>(namespace(&account));
    let written = ensure(&api, stored.as_ref(), &account).await?.object();
    if ask && let Some(account) = written.as_ref().or(stored.as_ref()) {
        account::ask(account, cx).await?;
    }
    Ok(Action::After(TOKEN_WAIT))
}

async fn grant(registration: &ClusterRegistration, grant: Grant, cx: &Context) -> Result<Action, Error> {
    let Grant {
        cluster,
        owners,
        older,
        roles,
        bindings,
        content,
        credential,
        unreadable,
    } = grant;
    own(registration, owners, cx).await?;
    for other in older {
        write::delete(&cx.namespaced::<ClusterRegistration>(namespace(&*other)), &*other).await?;
    }
    for role in roles {
        ensure(&cx.namespaced::<Role>(namespace(&role)), None, &role).await?;
    }
    for binding in bindings {
        ensure(&cx.namespaced::<RoleBinding>(namespace(&binding)), None, &binding).await?;
    }
    ensure(&cx.cluster::<ClusterRoleBinding>(), None, &content).await?;
    ensure(&cx.namespaced::<Secret>(namespace(&credential)), None, &credential).await?;
    if let Some(why) = unreadable {
        tracing::warn!(
            registration = name(registration),
            cluster,
            why,
            "nobody may read the agent's credential"
        );
    }
    Ok(Action::AwaitChange)
}
