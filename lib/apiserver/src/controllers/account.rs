//! Gives each namespace its ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`, again if they are deleted
//! or changed.
//!
//! Mirrors upstream's service account controller and root CA publisher.

use serde_json::{Value, json};

use crate::controllers::api::{Error, OBJECT, optional};
use crate::controllers::feed::Change;
use crate::controllers::object::Meta;
use crate::controllers::reactor::{Context, Outcome, Work};

const ACCOUNT: &str = "default";
const AUTHORITY: &str = "kube-root-ca.crt";

/// Annotation of the ConfigMap, as users know it.
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
    endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
    distributions of Kubernetes clusters.";

pub(super) fn observe(change: &Change, due: &mut Vec<Work>) {
    match change {
        Change::Present(resource, object) if resource.is_core("namespaces") && !Meta(object).deleting() => {
            due.push(Work::Defaults(Meta(object).name().into()));
        }
        Change::Present(resource, object) if resource.is_core("configmaps") && Meta(object).name() == AUTHORITY => {
            due.push(Work::Defaults(Meta(object).namespace().into()));
        }
        Change::Gone(resource, object)
            if resource.is_core("configmaps") && Meta(object).name() == AUTHORITY
                || resource.is_core("serviceaccounts") && Meta(object).name() == ACCOUNT =>
        {
            due.push(Work::Defaults(Meta(object).namespace().into()));
        }
        _ => {}
    }
}

pub(super) async fn defaults(context: &Context, name: &str) -> Result<Outcome, Error> {
    let path = format!("/api/v1/namespaces/{name}");
    let namespace = optional(context.api.get(&path, OBJECT).await)?;
    if namespace.is_none_or(|namespace| Meta(&namespace).deleting()) {
        return Ok(Outcome::Done);
    }
    let account = format!("{path}/serviceaccounts");
    if optional(context.api.get(&format!("{account}/{ACCOUNT}"), OBJECT).await)?.is_none() {
        create(
            context,
            &account,
            &json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}}),
        )
        .await?;
    }
    let wanted = json!({"ca.crt": context.authority});
    let maps = format!("{path}/configmaps");
    match optional(context.api.get(&format!("{maps}/{AUTHORITY}"), OBJECT).await)? {
        None => {
            let map = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": AUTHORITY, "annotations": {"kubernetes.io/description": DESCRIPTION}},
                "data": wanted,
            });
            create(context, &maps, &map).await?;
        }
        Some(mut map) if map.get("data") != Some(&wanted) => {
            map["data"] = wanted;
            optional(context.api.replace(&format!("{maps}/{AUTHORITY}"), &map).await)?;
        }
        Some(_) => {}
    }
    Ok(Outcome::Done)
}

/// Creates what somebody else may just have created, in a namespace that somebody may just have deleted.
async fn create(context: &Context, path: &str, object: &Value) -> Result<(), Error> {
    match context.api.create(path, object).await {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.code(), 403 | 404 | 409) => Ok(()),
        Err(error) => Err(error),
    }
}
