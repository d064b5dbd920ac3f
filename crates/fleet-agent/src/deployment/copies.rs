//! Secrets and config maps that are copied from the management cluster into the target
//! namespace. A copy that was changed makes the deployment run again.

use fleet_api::{BundleDeployment, BundleDeploymentOptions, labels};
use fleet_deploy::cluster::Cluster;
use fleet_deploy::deploy::release_namespace;
use fleet_deploy::object::{self, ObjectKey};
use fleet_runtime::chain;
use serde_json::{Map, Value, json};

use crate::context::Context;

/// Copies; true if one that existed was changed.
///
/// # Errors
/// What cannot be copied.
pub(crate) async fn copy(
    deployment: &BundleDeployment,
    options: &BundleDeploymentOptions,
    cx: &Context,
) -> Result<bool, String> {
    if options.downstream_resources.is_empty() {
        return Ok(false);
    }
    let namespace = release_namespace(options);
    ensure_namespace(&cx.local, namespace).await?;
    let manager = Cluster::new(cx.upstream.client.clone());
    let name = deployment.metadata.name.as_deref().unwrap_or_default();
    let mut changed = false;
    for resource in &options.downstream_resources {
        let kind = match resource.kind.to_lowercase().as_str() {
            "secret" => "Secret",
            "configmap" => "ConfigMap",
            _ => {
                return Err(format!(
                    "unsupported kind '{}' of downstream resource '{}'",
                    resource.kind, resource.name
                ));
            }
        };
        let source = ObjectKey {
            api_version: "v1".into(),
            kind: kind.into(),
            namespace: cx.upstream.namespace.clone(),
            name: resource.name.clone(),
        };
        let original = read(&manager, &source).await?;
        changed |= write(&cx.local, &original, kind, namespace, name).await?;
    }
    Ok(changed)
}

async fn read(manager: &Cluster, key: &ObjectKey) -> Result<Value, String> {
    // The account may read these kinds but not ask which kinds there are.
    let plural = if key.kind == "Secret" { "secrets" } else { "configmaps" };
    let request = http::Request::get(format!("/api/v1/namespaces/{}/{plural}/{}", key.namespace, key.name))
        .body(Vec::new())
        .map_err(|error| error.to_string())?;
    manager
        .client()
        .request::<Value>(request)
        .await
        .map_err(|error| format!("downstream resource {}/{}: {}", key.namespace, key.name, message(error)))
}

fn message(error: kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message,
        other => other.to_string(),
    }
}

async fn ensure_namespace(local: &Cluster, name: &str) -> Result<(), String> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    match local.get(&ObjectKey::of(&namespace)).await {
        Ok(None) => match local.create(&namespace).await {
            Err(error) if !error.is_already_exists() => Err(chain(&error)),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

async fn write(local: &Cluster, original: &Value, kind: &str, namespace: &str, owner: &str) -> Result<bool, String> {
    let mut copy = json!({
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {
            "name": object::name(original),
            "namespace": namespace,
            "labels": original["metadata"]["labels"],
            "annotations": original["metadata"]["annotations"],
        },
    });
    object::set_label(&mut copy, labels::BUNDLE_DEPLOYMENT, owner);
    for field in ["data", "binaryData", "type", "immutable"] {
        if let Some(value) = original.get(field).filter(|value| !value.is_null()) {
            copy[field] = value.clone();
        }
    }
    if let Some(metadata) = copy["metadata"].as_object_mut() {
        metadata.retain(|_, value| !value.is_null());
    }
    let key = ObjectKey::of(&copy);
    let failed = |error| format!("copy {}: {}", key.display(), chain(&error));
    let Some(live) = local.get(&key).await.map_err(failed)? else {
        local.create(&copy).await.map_err(failed)?;
        return Ok(false);
    };
    let empty = Value::Object(Map::new());
    let part = |object: &Value, pointer: &str| {
        object
            .pointer(pointer)
            .filter(|value| !value.is_null())
            .unwrap_or(&empty)
            .clone()
    };
    let same = ["/data", "/binaryData", "/metadata/labels", "/metadata/annotations"]
        .iter()
        .all(|pointer| part(&copy, pointer) == part(&live, pointer))
        && (kind != "Secret" || copy["type"] == live["type"]);
    if same {
        return Ok(false);
    }
    copy["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    local.replace(&copy).await.map_err(failed)?;
    Ok(true)
}

/// Removes all copies made for a deployment.
///
/// # Errors
/// What cannot be removed.
pub(crate) async fn remove(local: &Cluster, owner: &str) -> Result<(), String> {
    let selector = format!("{}={owner}", labels::BUNDLE_DEPLOYMENT);
    for kind in ["Secret", "ConfigMap"] {
        for copy in local
            .list("v1", kind, "", &selector)
            .await
            .map_err(|error| chain(&error))?
        {
            local
                .delete(&ObjectKey::of(&copy))
                .await
                .map_err(|error| chain(&error))?;
        }
    }
    Ok(())
}
