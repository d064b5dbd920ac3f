//! Namespaces as a condition for creating things in them, and the ones that always exist.

use serde_json::{Value, json};

use super::Request;
use super::access::terminating;
use super::strategy;
use crate::cluster::Cluster;
use crate::object;
use crate::status::{Cause, Result, Status};
use crate::store::Expect;

/// Namespaces that a server makes by itself.
const DEFAULTS: &[&str] = &["default", "kube-node-lease", "kube-public", "kube-system"];

/// Namespaces that may not be deleted.
const PROTECTED: &[&str] = &["default", "kube-public", "kube-system"];

/// Makes the namespaces that every cluster has.
pub(crate) async fn ensure_defaults(cluster: &Cluster) -> Result<()> {
    let resource = cluster.builtin("", "v1", "namespaces")?;
    for name in DEFAULTS {
        let mut namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        strategy::found(cluster, &resource, &mut namespace);
        // Being there already is fine.
        let _ = cluster.put(&resource.key("", name), Expect::Absent, &namespace).await?;
    }
    Ok(())
}

/// Refuses to delete what the cluster cannot do without.
pub(super) fn check_protected(request: &Request) -> Result<()> {
    if request.resource.is("", "namespaces") && PROTECTED.contains(&request.name.as_str()) {
        return Err(request.forbidden(&request.name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// Refuses to create in a namespace that is missing or going away.
pub(super) fn check_exists(cluster: &Cluster, request: &Request, object: &Value) -> Result<()> {
    if !request.resource.namespaced {
        return Ok(());
    }
    let resource = cluster.builtin("", "v1", "namespaces")?;
    let namespace = &request.namespace;
    let Some(entry) = cluster.get(&resource.key("", namespace))? else {
        return Err(Box::new(Status::not_found("", "namespaces", namespace)));
    };
    if !terminating(&object::decode(&resource, &entry)?) {
        return Ok(());
    }
    let name = object::text(object, "/metadata/name");
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut status = request.forbidden(name, &why);
    if let Some(details) = &mut status.details {
        let message = format!("namespace {namespace} is being terminated");
        details.causes = vec![Cause::new("NamespaceTerminating", "metadata.namespace", message)];
    }
    Err(status)
}
