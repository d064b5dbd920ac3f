//! The `scale` subresource: one number of an object, in the shape all scalable kinds share.

use std::sync::Arc;

use serde_json::{Value, json};

use kubeschema::selector::LabelSelector;

use super::update::uid_mismatch;
use super::{Answer, Content, Media, Request, intake, patch, strategy};
use crate::apply;
use crate::cluster::Cluster;
use crate::object::{self, text};
use crate::registry::Resource;
use crate::status::{Cause, Result, Status};
use crate::store::{Entry, Expect};

/// Where a kind keeps its replicas and its selector, as JSON pointers.
struct Paths {
    replicas: String,
    status: String,
    selector: Option<String>,
}

impl Paths {
    fn of(resource: &Resource) -> Self {
        let Some(custom) = &resource.custom else {
            return Self {
                replicas: "/spec/replicas".into(),
                status: "/status/replicas".into(),
                selector: None,
            };
        };
        let scale = &custom.version["subresources"]["scale"];
        let pointer = |field: &str| scale[field].as_str().map(|path| path.replace('.', "/"));
        Self {
            replicas: pointer("specReplicasPath").unwrap_or_else(|| "/spec/replicas".into()),
            status: pointer("statusReplicasPath").unwrap_or_else(|| "/status/replicas".into()),
            selector: Some(pointer("labelSelectorPath").unwrap_or_default()),
        }
    }
}

/// Reads an object's scale.
pub(super) fn get(request: &Request, entry: &Entry) -> Result<Answer> {
    let live = object::decode(&request.resource, entry)?;
    let paths = Paths::of(&request.resource);
    if request.resource.custom.is_some() && live.pointer(&paths.replicas).is_none() {
        let path = paths.replicas.replace('/', ".");
        return Err(Box::new(Status::internal(format!(
            "the spec replicas field \"{path}\" does not exist"
        ))));
    }
    Ok(Answer::new(
        200,
        Content::Value(scale(&request.resource, &live, entry.modified)),
    ))
}

/// Writes an object's scale.
pub(super) async fn update(cluster: &Arc<Cluster>, request: &Request, patching: bool, dry_run: bool) -> Result<Answer> {
    let applying = request.media == Media::ApplyPatch;
    let given = if applying {
        intake::parse(&Request {
            media: Media::Yaml,
            ..request.clone()
        })?
    } else if patching {
        patch::read(request)?
    } else {
        intake::parse(request)?
    };
    let kind = text(&given, "/kind");
    if (applying || !patching) && !matches!(kind, "" | "Scale") {
        let message = format!("{kind} cannot be handled as a Scale: unknown conversion");
        return Err(Box::new(Status::bad_request(message)));
    }
    let resource = &request.resource;
    let paths = Paths::of(resource);
    let key = request.key();
    loop {
        let Some(entry) = cluster.get(&key)? else {
            return Err(request.not_found());
        };
        let live = object::decode(resource, &entry)?;
        let now = scale(resource, &live, entry.modified);
        let next = if patching && !applying {
            patch::patched(request, &now, &given)?
        } else {
            given.clone()
        };
        intake::check_name(request, &next)?;
        let version = text(&next, "/metadata/resourceVersion");
        if !matches!(version, "" | "0") && version != entry.modified.to_string() {
            return Err(request.modified());
        }
        let (uid, actual) = (text(&next, "/metadata/uid"), text(&live, "/metadata/uid"));
        if !uid.is_empty() && uid != actual {
            let why = uid_mismatch(resource, &request.namespace, &request.name, uid, actual);
            return Err(request.conflict(&why));
        }
        let replicas = next["spec"]["replicas"].as_i64().unwrap_or_default();
        if replicas < 0 {
            let message = format!("Invalid value: {replicas}: must be greater than or equal to 0");
            if resource.custom.is_some() {
                let field = paths.replicas.replace('/', ".");
                let message = format!("Invalid value: {replicas}: should be a non-negative integer");
                return Err(request.invalid(&request.name, vec![Cause::new("FieldValueInvalid", field, message)]));
            }
            let cause = Cause::new("FieldValueInvalid", "spec.replicas", message);
            return Err(Box::new(Status::invalid(
                "autoscaling",
                "Scale",
                &request.name,
                vec![cause],
            )));
        }
        let mut object = if applying {
            // What is applied to the scale is applied to the one field of the object that it shows.
            let mut applied = json!({"apiVersion": resource.api_version(), "kind": resource.kind, "metadata": {"name": request.name}});
            if next["spec"]["replicas"].is_i64() {
                set(&mut applied, &paths.replicas, replicas.into());
            }
            let force = request.query.flag("force");
            apply::apply(resource, Some(&live), &applied, &request.writer(cluster), force)
                .map_err(|status| as_scale(resource, status))?
        } else {
            let mut object = live.clone();
            set(&mut object, &paths.replicas, replicas.into());
            object
        };
        strategy::settle(resource, &live, &mut object, "scale");
        if let Some(custom) = &resource.custom {
            let causes = custom.schema.validate(&object, Some(&live));
            if !causes.is_empty() {
                return Err(request.invalid(&request.name, causes));
            }
        }
        if !applying {
            intake::track(request, Some(&live), &mut object, &request.writer(cluster));
        }
        if dry_run || object::encode(resource, &object) == entry.value {
            return Ok(Answer::new(
                200,
                Content::Value(scale(resource, &object, entry.modified)),
            ));
        }
        match cluster
            .put(resource, &key, Expect::Revision(entry.modified), &object)
            .await?
        {
            Ok(entry) => {
                return Ok(Answer::new(
                    200,
                    Content::Value(scale(resource, &object, entry.modified)),
                ));
            }
            Err(_) if version.is_empty() || patching => {}
            Err(_) => return Err(request.modified()),
        }
    }
}

/// A conflict over a scale: managers are told as if they had written one.
fn as_scale(resource: &Resource, mut status: Box<Status>) -> Box<Status> {
    let (own, shown) = (format!(" using {}", resource.api_version()), " using autoscaling/v1");
    status.message = status.message.replace(&own, shown);
    for cause in status.details.iter_mut().flat_map(|details| &mut details.causes) {
        cause.message = cause.message.replace(&own, shown);
    }
    status
}

fn scale(resource: &Resource, object: &Value, revision: u64) -> Value {
    let paths = Paths::of(resource);
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default();
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    for field in ["name", "namespace", "uid", "creationTimestamp"] {
        if let Some(value) = object["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    let mut spec = json!({});
    if number(&paths.replicas) != 0 {
        spec["replicas"] = number(&paths.replicas).into();
    }
    let mut status = json!({"replicas": number(&paths.status)});
    let selector = match &paths.selector {
        None => selector_text(&object["spec"]["selector"]),
        Some(pointer) if pointer.is_empty() => String::new(),
        Some(pointer) => text(object, pointer).to_owned(),
    };
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status})
}

fn selector_text(selector: &Value) -> String {
    // A ReplicationController's selector is the labels themselves.
    let wrapped = if selector["matchLabels"].is_null() && selector["matchExpressions"].is_null() {
        json!({ "matchLabels": selector })
    } else {
        selector.clone()
    };
    LabelSelector::from_json(&wrapped)
        .map(|selector| selector.to_string())
        .unwrap_or_default()
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut at = object;
    for part in pointer.split('/').skip(1) {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[part];
    }
    *at = value;
}
