//! Holds on to a cluster by a finalizer, or removes what it had: agent bundle first, then its
//! namespace with everything in it, then the finalizer.

use fleet_api::{Bundle, Cluster, ClusterStatus};
use fleet_runtime::write::{self, find};
use fleet_runtime::{Action, Context, Error};
use k8s_openapi::api::core::v1::Namespace;
use serde_json::json;

use super::decide::Plan;
use crate::shell::{name, namespace};

/// What came of it.
#[derive(Debug)]
pub(super) struct Done {
    /// What the status has to say.
    pub(super) status: Option<Box<ClusterStatus>>,
    /// The cluster as stored now, if it was written.
    pub(super) stored: Option<Cluster>,
    failure: Option<Error>,
}

impl Done {
    pub(super) fn into_action(self) -> Result<Action, Error> {
        self.failure.map_or(Ok(Action::AwaitChange), Err)
    }
}

pub(super) async fn act(cluster: &Cluster, plan: Plan, cx: &Context) -> Done {
    match plan {
        Plan::Nothing => Done {
            status: None,
            stored: None,
            failure: None,
        },
        Plan::Remove {
            bundle,
            namespace,
            remaining,
        } => {
            let failure = remove(cluster, &bundle, namespace.as_deref(), &remaining, cx)
                .await
                .err();
            Done {
                status: None,
                stored: None,
                failure,
            }
        }
        Plan::Keep {
            finalizers,
            drop_scheduling,
            status,
        } => match keep(cluster, finalizers.as_deref(), drop_scheduling, cx).await {
            Ok(stored) => Done {
                status,
                stored,
                failure: None,
            },
            Err(error) => Done {
                status,
                stored: None,
                failure: Some(error),
            },
        },
    }
}

async fn remove(
    cluster: &Cluster,
    bundle: &str,
    space: Option<&str>,
    remaining: &[String],
    cx: &Context,
) -> Result<(), Error> {
    let bundles = cx.namespaced::<Bundle>(namespace(cluster));
    if let Some(bundle) = find(&bundles, bundle).await? {
        write::delete(&bundles, &bundle).await?;
    }
    if let Some(space) = space {
        let namespaces = cx.cluster::<Namespace>();
        if let Some(space) = find(&namespaces, space).await? {
            write::delete(&namespaces, &space).await?;
        }
    }
    let body = json!({"metadata": {"finalizers": remaining, "resourceVersion": cluster.metadata.resource_version}});
    match write::patch(&cx.namespaced::<Cluster>(namespace(cluster)), name(cluster), &body).await {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}

async fn keep(
    cluster: &Cluster,
    finalizers: Option<&[String]>,
    drop_scheduling: bool,
    cx: &Context,
) -> Result<Option<Cluster>, Error> {
    let mut body = json!({});
    if let Some(finalizers) = finalizers {
        body["metadata"] = json!({"finalizers": finalizers, "resourceVersion": cluster.metadata.resource_version});
    }
    if drop_scheduling {
        body["spec"] = json!({"agentSchedulingCustomization": null});
    }
    if body == json!({}) {
        return Ok(None);
    }
    let api = cx.namespaced::<Cluster>(namespace(cluster));
    write::patch(&api, name(cluster), &body).await.map(Some)
}
