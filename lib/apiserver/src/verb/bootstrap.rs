//! What every cluster has from the start: namespaces, priority classes, roles and bindings.

use serde_json::{Value, json};

use super::strategy;
use crate::authz;
use crate::cluster::Cluster;
use crate::defaulting;
use crate::object::text;
use crate::status::Result;
use crate::store::Expect;

/// Namespaces that a server makes by itself.
const NAMESPACES: &[&str] = &["default", "kube-node-lease", "kube-public", "kube-system"];

/// Makes what is missing.
pub(crate) async fn ensure_defaults(cluster: &Cluster) -> Result<()> {
    let named = |name: &&str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    for namespace in NAMESPACES.iter().map(named) {
        ensure(cluster, "", "namespaces", namespace).await?;
    }
    for (name, value) in super::priority::BUILT_IN {
        let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
            "value": value, "description": "Used for what a cluster cannot do without."});
        ensure(cluster, "scheduling.k8s.io", "priorityclasses", class).await?;
    }
    let group = "rbac.authorization.k8s.io";
    for role in authz::default_roles() {
        ensure(cluster, group, "clusterroles", role).await?;
    }
    for binding in authz::default_bindings() {
        ensure(cluster, group, "clusterrolebindings", binding).await?;
    }
    Ok(())
}

async fn ensure(cluster: &Cluster, group: &str, plural: &str, mut object: Value) -> Result<()> {
    let resource = cluster.builtin(group, "v1", plural)?;
    let key = resource.key("", text(&object, "/metadata/name"));
    if cluster.get(&key)?.is_none() {
        defaulting::apply(&resource, &mut object);
        strategy::found(cluster, &resource, &mut object);
        // Someone else may have been faster.
        let _ = cluster.put(&resource, &key, Expect::Absent, &object).await?;
    }
    Ok(())
}
