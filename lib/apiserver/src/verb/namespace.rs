//! Namespaces as a condition for creating things in them, and the ones that may not go.

use serde_json::Value;

use super::Request;
use super::access::terminating;
use crate::cluster::Cluster;
use crate::object;
use crate::status::{Cause, Result, Status};

/// Namespaces that may not be deleted.
const PROTECTED: &[&str] = &["default", "kube-public", "kube-system"];

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
    // Every create asks this; few namespaces hold the word at all, and only those have to be read.
    if memchr::memmem::find(&entry.value, b"\"deletionTimestamp\"").is_none()
        || !terminating(&object::decode(&resource, &entry)?)
    {
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
