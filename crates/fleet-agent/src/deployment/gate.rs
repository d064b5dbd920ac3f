//! What may hold a deployment back: a namespace that policy does not allow, and bundles that
//! have to be ready first.

use fleet_api::state::{BundleState, deployment_state};
use fleet_api::{BundleDeployment, BundleDeploymentOptions, BundleRef, condition, labels};
use fleet_deploy::cluster::Cluster;
use fleet_deploy::deploy::release_namespace;
use fleet_deploy::object::ObjectKey;
use kubeschema::selector::LabelSelector;
use serde_json::Value;

use super::observe::Obstacle;
use crate::context::Context;

/// Whether policy allows the target namespace.
///
/// # Errors
/// Why not.
pub(crate) async fn namespace(local: &Cluster, options: &BundleDeploymentOptions) -> Result<(), String> {
    let Some(wanted) = &options.allowed_target_namespace_selector else {
        return Ok(());
    };
    let name = release_namespace(options);
    let key = ObjectKey {
        api_version: "v1".into(),
        kind: "Namespace".into(),
        namespace: String::new(),
        name: name.into(),
    };
    let live = local.get(&key).await.map_err(|error| fleet_runtime::chain(&error))?;
    let Some(live) = live else {
        return Err(format!("target namespace {name} does not exist on downstream cluster"));
    };
    let json = serde_json::to_value(wanted).unwrap_or_default();
    let selector =
        LabelSelector::from_json(&json).map_err(|error| format!("invalid AllowedTargetNamespaceSelector: {error}"))?;
    let found: std::collections::BTreeMap<String, String> = live["metadata"]["labels"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect();
    if selector.matches(&found) {
        return Ok(());
    }
    let shown: Vec<String> = found.iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Err(format!(
        "target namespace {name} does not match AllowedTargetNamespaceSelector ({selector}); namespace labels map[{}]",
        shown.join(" ")
    ))
}

/// Whether all bundles this one depends on are far enough.
///
/// # Errors
/// Which are not.
pub(crate) fn dependencies(deployment: &BundleDeployment, cx: &Context) -> Result<(), Obstacle> {
    let mut unready: Vec<String> = Vec::new();
    for wanted in &deployment.spec.depends_on {
        let selector = selector(deployment, wanted).map_err(Obstacle::Other)?;
        let Some(selector) = selector else { continue };
        let found: Vec<_> = cx
            .deployments
            .within(&cx.upstream.namespace)
            .into_iter()
            .filter(|other| selector.matches(&other.metadata.labels.clone().unwrap_or_default()))
            .collect();
        if found.is_empty() {
            let namespace = bundle_namespace(deployment);
            return Err(Obstacle::Other(format!(
                "list bundledeployments: no bundles matching labels {selector} in namespace {namespace}"
            )));
        }
        for other in found {
            let state = deployment_state(&other.spec, &other.status.clone().unwrap_or_default());
            let accepted = if wanted.accepted_states.is_empty() {
                state == BundleState::Ready
            } else {
                wanted.accepted_states.iter().any(|accepted| accepted == state.as_str())
            };
            if !accepted {
                unready.push(other.metadata.name.clone().unwrap_or_default());
            }
        }
    }
    if unready.is_empty() {
        return Ok(());
    }
    Err(Obstacle::Dependencies(format!(
        "dependent bundle(s) are not ready: [{}]",
        unready.join(" ")
    )))
}

fn bundle_namespace(deployment: &BundleDeployment) -> &str {
    deployment
        .metadata
        .labels
        .as_ref()
        .and_then(|all| all.get(labels::BUNDLE_NAMESPACE))
        .map(String::as_str)
        .unwrap_or_default()
}

fn selector(deployment: &BundleDeployment, wanted: &BundleRef) -> Result<Option<LabelSelector>, String> {
    if wanted.name.is_empty() && wanted.selector.is_none() {
        return Ok(None);
    }
    let mut json = match &wanted.selector {
        Some(selector) => serde_json::to_value(selector).unwrap_or_default(),
        None => Value::Object(serde_json::Map::new()),
    };
    if !wanted.name.is_empty() {
        json["matchLabels"][labels::BUNDLE_NAME] = wanted.name.clone().into();
        json["matchLabels"][labels::BUNDLE_NAMESPACE] = bundle_namespace(deployment).into();
    }
    LabelSelector::from_json(&json)
        .map(Some)
        .map_err(|error| format!("invalid selector in dependsOn: {error}"))
}

/// Whether a change of another deployment may free this one. One that is deployed stays so.
pub(crate) fn may_wait_for(deployment: &BundleDeployment) -> bool {
    let waits = |status: &fleet_api::BundleDeploymentStatus| {
        status.applied_deployment_id != deployment.spec.deployment_id
            || condition::is_false(&status.conditions, condition::DEPLOYED)
    };
    !deployment.spec.depends_on.is_empty() && deployment.status.as_ref().is_none_or(waits)
}
