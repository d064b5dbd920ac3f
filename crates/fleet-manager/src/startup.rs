//! What has to exist before any cluster can register: two cluster roles for agents, and the two
//! system namespaces. Written once at start; equal ones are left alone.

use fleet_api::labels;
use fleet_runtime::write::{ensure, find};
use fleet_runtime::{Context, Error};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use kube::api::ObjectMeta;

use crate::objectset::{ObjectSet, STARTUP};
use crate::settings::Settings;

/// Writes the cluster roles and namespaces.
///
/// # Errors
/// The server's refusal.
pub(crate) async fn prepare(settings: &Settings, cx: &Context) -> Result<(), Error> {
    let set = ObjectSet::new(STARTUP, None);
    for role in [deployment_role(), content_role()] {
        let api = cx.cluster::<ClusterRole>();
        let live = find(&api, role.metadata.name.as_deref().unwrap_or_default()).await?;
        ensure(&api, live.as_ref(), &set.mark(role)).await?;
    }
    for name in [settings.namespace.clone(), settings.registration_namespace()] {
        let api = cx.cluster::<Namespace>();
        let live = find(&api, &name).await?;
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(name);
        // Upstream's copy of the applied object has both, empty.
        namespace.spec = Some(Default::default());
        namespace.status = Some(Default::default());
        let mut marked = set.mark(namespace);
        marked.spec = None;
        marked.status = None;
        ensure(&api, live.as_ref(), &marked).await?;
    }
    Ok(())
}

/// What an agent may do in its own namespace.
fn deployment_role() -> ClusterRole {
    role(
        labels::ROLE_BUNDLE_DEPLOYMENT,
        vec![
            rule(fleet_api::GROUP, &["bundledeployments"], &["get", "list", "watch"]),
            rule(fleet_api::GROUP, &["bundledeployments/status"], &["update", "patch"]),
            rule("", &["secrets", "configmaps"], &["get"]),
        ],
    )
}

/// Contents can be read by whoever knows their names, which are digests.
fn content_role() -> ClusterRole {
    role(
        labels::ROLE_CONTENT,
        vec![rule(fleet_api::GROUP, &["contents"], &["get"])],
    )
}

fn role(name: &str, rules: Vec<PolicyRule>) -> ClusterRole {
    ClusterRole {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        rules: Some(rules),
        aggregation_rule: None,
    }
}

/// A rule over resources of one group.
pub(crate) fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}
