//! Server-side apply and managedFields: a write of a resource becomes ownership of fields.
//!
//! Glue between the server's resources and `kubeschema::smd`, which decides everything; mirrors upstream's field
//! manager. Never stores anything.

use kubeschema::kinds;
use kubeschema::schema::Type;
use kubeschema::smd::{self, Request, Set};
use serde_json::Value;

use crate::defaulting;
use crate::registry::Resource;
use crate::status::{Cause, Details, Status};

/// Who writes.
#[derive(Debug, Clone)]
pub struct Manager {
    /// Field manager's name.
    pub name: String,
    /// Subresource written through, empty for none.
    pub subresource: String,
    /// Time of the write, `2026-01-02T03:04:05Z`.
    pub time: String,
}

/// Sets `new.metadata.managedFields` after an update (anything but apply) that made `new` out of `live`.
///
/// A write that changes nothing but the times of managers is given the old times, so that it equals what is stored.
pub fn update(resource: &Resource, live: Option<&Value>, new: &mut Value, manager: &Manager) {
    let version = resource.api_version();
    let lookup = |version: &str| schema_of(resource, version);
    smd::update(&request(resource, &version, manager, &lookup), live, new);
    if let Some(live) = live {
        smd::keep_times(live, new);
    }
}

/// The object that applying `applied` over `live` gives, managedFields included.
///
/// # Errors
/// 409 with one cause per conflicting field unless forced; 400 and 422 for bad input.
pub fn apply(
    resource: &Resource,
    live: Option<&Value>,
    applied: &Value,
    manager: &Manager,
    force: bool,
) -> Result<Value, Box<Status>> {
    let version = resource.api_version();
    let lookup = |version: &str| schema_of(resource, version);
    let request = request(resource, &version, manager, &lookup);
    let mut object = smd::apply(&request, live, applied, force).map_err(|error| refused(&error))?;
    if let Some(live) = live {
        // What differs only in its spelling, or by defaults that come back, is no change.
        let mut settled = object.clone();
        match &resource.custom {
            Some(custom) => {
                custom.schema.prune(&mut settled);
                custom.schema.default(&mut settled);
            }
            None => {
                defaulting::apply(resource, &mut settled);
            }
        }
        smd::keep_times(live, &mut settled);
        object["metadata"]["managedFields"] = settled["metadata"]["managedFields"].take();
        if let (Some(metadata), true) = (
            object["metadata"].as_object_mut(),
            settled["metadata"].get("managedFields").is_none(),
        ) {
            metadata.remove("managedFields");
        }
    }
    Ok(object)
}

fn request<'a>(
    resource: &'a Resource,
    version: &'a str,
    manager: &'a Manager,
    versions: &'a dyn Fn(&str) -> Option<&'a Type>,
) -> Request<'a> {
    Request {
        schema: schema_of(resource, version).unwrap_or_else(|| Type::any()),
        api_version: version,
        kind: &resource.kind,
        manager: &manager.name,
        subresource: &manager.subresource,
        now: (manager.subresource != "scale").then_some(manager.time.as_str()),
        reset: ignored(resource, &manager.subresource),
        versions,
    }
}

/// The type of the resource's objects in one of its versions.
fn schema_of<'a>(resource: &'a Resource, api_version: &str) -> Option<&'a Type> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if group != resource.group {
        return None;
    }
    match &resource.custom {
        None => kinds::schema(group, version, &resource.kind),
        Some(custom) if version == resource.version => Some(custom.schema.structure()),
        Some(custom) => custom.schema.structure_of(version),
    }
}

/// The fields that a write to the object or to a subresource does not touch, whatever it sends.
fn ignored(resource: &Resource, subresource: &str) -> Set {
    match subresource {
        "status" if resource.custom.is_some() => Set::of_fields(&[&["metadata"], &["spec"]]),
        "status" => Set::of_fields(&[&["spec"]]),
        "" if resource.status => Set::of_fields(&[&["status"]]),
        _ => Set::default(),
    }
}

fn refused(error: &smd::Error) -> Box<Status> {
    Box::new(match error {
        smd::Error::BadRequest(text) => Status::bad_request(text.as_str()),
        smd::Error::Internal(text) => Status::new(500, "", text.as_str()),
        smd::Error::Conflict(conflicts) => {
            let causes = conflicts
                .iter()
                .map(|conflict| Cause::new("FieldManagerConflict", conflict.field.as_str(), conflict.cause()))
                .collect();
            let mut status = Status::new(409, "Conflict", error.to_string());
            status.details = Some(Details {
                causes,
                ..Details::default()
            });
            status
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::Registry;

    fn manager(name: &str, time: &str) -> Manager {
        Manager {
            name: name.to_owned(),
            subresource: String::new(),
            time: time.to_owned(),
        }
    }

    fn pod_limits(cpu: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": cpu}}}]}})
    }

    #[test]
    fn another_spelling_of_a_quantity_is_no_change() {
        let registry = Registry::builtin();
        let pods = registry.find("", "v1", "pods").unwrap();
        let mut live = apply(
            pods,
            None,
            &pod_limits("1000m"),
            &manager("one", "2026-01-01T00:00:00Z"),
            false,
        )
        .unwrap();
        defaulting::apply(pods, &mut live);
        let mut again = apply(
            pods,
            Some(&live),
            &pod_limits("1000m"),
            &manager("one", "2026-01-02T00:00:00Z"),
            false,
        )
        .unwrap();
        defaulting::apply(pods, &mut again);
        assert_eq!(again, live);
    }

    #[test]
    fn a_conflict_names_owner_and_field() {
        let registry = Registry::builtin();
        let pods = registry.find("", "v1", "pods").unwrap();
        let mut live = pod_limits("1");
        update(pods, None, &mut live, &manager("creator", "2026-01-01T00:00:00Z"));
        let status = apply(
            pods,
            Some(&live),
            &pod_limits("2"),
            &manager("one", "2026-01-02T00:00:00Z"),
            false,
        )
        .unwrap_err();
        assert_eq!(status.code, 409);
        assert_eq!(
            status.message,
            "Apply failed with 1 conflict: conflict with \"creator\" using v1: .spec.containers[name=\"c\"].resources.limits.cpu"
        );
        assert_eq!(status.details.unwrap().causes[0].reason, "FieldManagerConflict");
    }
}
