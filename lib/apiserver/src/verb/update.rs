//! PUT and PATCH: an object's next state.
//!
//! A patch without a version is repeated on the newest state when someone else writes in between; a PUT or a patch
//! with a version fails with a conflict.

use std::sync::Arc;

use serde_json::Value;

use super::access::may_vanish;
use super::intake::{Given, Notes};
use super::{Answer, Media, Request, create, intake, options, patch, scale, service, strategy};
use crate::access::Attributes;
use crate::authz;
use crate::cluster::Cluster;
use crate::object::{metadata_mut, text};
use crate::registry::Resource;
use crate::status::{Cause, Result, Status};
use crate::store::{Entry, Expect};
use crate::{apply, definition, object, validation};

/// How the next state is given.
enum Change {
    Whole(Given),
    Patch(Value),
    Apply(Given),
}

/// Replaces the object of the request.
pub(crate) async fn replace(cluster: &Arc<Cluster>, request: &Request) -> Result<Answer> {
    update(cluster, request, false).await
}

/// Patches or applies the object of the request.
pub(crate) async fn patch(cluster: &Arc<Cluster>, request: &Request) -> Result<Answer> {
    patch::check_media(request)?;
    update(cluster, request, true).await
}

async fn update(cluster: &Arc<Cluster>, request: &Request, patching: bool) -> Result<Answer> {
    let kind = if patching { "PatchOptions" } else { "UpdateOptions" };
    let dry_run = options::read(request, kind)?;
    if request.subresource == "scale" {
        return scale::update(cluster, request, patching, dry_run).await;
    }
    let change = read(request)?;
    let key = request.key();
    let none = Notes::default();
    loop {
        let notes = match &change {
            Change::Whole(given) | Change::Apply(given) => &given.notes,
            Change::Patch(_) => &none,
        };
        let Some(entry) = cluster.get(&key)? else {
            return absent(cluster, request, change, dry_run).await;
        };
        let live = object::decode(&request.resource, &entry)?;
        let mut object = next(cluster, request, &live, &change)?;
        service::keep(&request.resource, &live, &mut object);
        let mut warnings = intake::normalise(request, &mut object, notes).map_err(|status| match &change {
            Change::Patch(_) if status.code == 400 => patch::unreadable(&status),
            _ => status,
        })?;
        let versioned = check_version(request, &live, &object, entry.modified, patching)?;
        check_uid(request, &live, &object, &change)?;
        if request.resource.custom.is_none() && request.subresource.is_empty() {
            warnings.extend(validation::advice(&request.resource, &object, Some(&live)));
        }
        let stored = store(cluster, request, (&live, &entry), object, dry_run, &change).await;
        if let Some(answer) = stored.map_err(|status| status.warned(&warnings))? {
            return Ok(Answer { warnings, ..answer });
        }
        if versioned {
            return Err(request.modified());
        }
    }
}

fn read(request: &Request) -> Result<Change> {
    match request.media {
        Media::ApplyPatch => {
            let yaml = Request {
                media: Media::Yaml,
                ..request.clone()
            };
            Ok(Change::Apply(intake::given(&yaml)?))
        }
        Media::JsonPatch | Media::MergePatch | Media::StrategicPatch => Ok(Change::Patch(patch::read(request)?)),
        _ => {
            let mut given = intake::given(request)?;
            intake::check_kind(request, &mut given.object)?;
            intake::check_namespace(request, &mut given.object)?;
            intake::check_name(request, &given.object)?;
            Ok(Change::Whole(given))
        }
    }
}

/// What to do about an object that is not there.
async fn absent(cluster: &Arc<Cluster>, request: &Request, change: Change, dry_run: bool) -> Result<Answer> {
    match change {
        Change::Whole(object) if request.subresource.is_empty() && strategy::made_by_put(&request.resource) => {
            may_create(cluster, request)?;
            create::make(cluster, request, object, create::Origin::Posted, dry_run).await
        }
        Change::Apply(Given {
            object: mut applied,
            notes,
        }) if request.subresource.is_empty() => {
            prepare_applied(request, &mut applied)?;
            may_create(cluster, request)?;
            if let Some(uid) = metadata_mut(&mut applied).remove("uid") {
                let uid = uid.as_str().unwrap_or_default();
                let why =
                    format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
                return Err(request.conflict(&why));
            }
            metadata_mut(&mut applied).remove("resourceVersion");
            create::make_applied(cluster, request, &applied, notes, dry_run).await
        }
        _ => Err(request.not_found()),
    }
}

/// A write that makes the object needs the right to make it, too.
fn may_create(cluster: &Cluster, request: &Request) -> Result<()> {
    let attributes = Attributes {
        verb: "create".to_owned(),
        group: request.resource.group.clone(),
        version: request.resource.version.clone(),
        resource: request.resource.plural.clone(),
        namespace: request.namespace.clone(),
        name: request.name.clone(),
        ..Attributes::default()
    };
    let decision = cluster.authorize(&request.user, &attributes);
    if decision.allowed {
        return Ok(());
    }
    Err(Box::new(authz::forbidden(&request.user, &attributes, &decision.reason)))
}

/// Fills in what an applied object may leave out and checks the rest against the URL.
fn prepare_applied(request: &Request, applied: &mut Value) -> Result<()> {
    for field in ["kind", "apiVersion"] {
        if applied[field].as_str().is_none_or(str::is_empty) {
            return Err(Box::new(Status::bad_request("invalid object type: /, Kind=")));
        }
    }
    if request.resource.custom.is_some() && applied["kind"] != request.resource.kind.as_str() {
        let kind = text(applied, "/kind");
        let version = text(applied, "/apiVersion");
        let message = format!("invalid object type: {version}, Kind={kind}");
        return Err(Box::new(Status::bad_request(message)));
    }
    intake::check_kind(request, applied)?;
    // Only what was given is applied, so the namespace is not filled in.
    intake::check_namespace(request, &mut applied.clone())?;
    intake::check_name(request, applied)
}

fn next(cluster: &Arc<Cluster>, request: &Request, live: &Value, change: &Change) -> Result<Value> {
    match change {
        Change::Whole(given) => Ok(given.object.clone()),
        Change::Patch(patch) => {
            let mut object = patch::patched(request, live, patch)?;
            patch::check_result(request, &object)?;
            intake::check_namespace(request, &mut object)?;
            intake::check_name(request, &object)?;
            Ok(object)
        }
        Change::Apply(applied) => {
            let mut applied = applied.object.clone();
            prepare_applied(request, &mut applied)?;
            let force = request.query.flag("force");
            apply::apply(&request.resource, Some(live), &applied, &request.writer(cluster), force)
        }
    }
}

/// Whether the change insists on a version; refuses one that is not the live one.
fn check_version(request: &Request, live: &Value, object: &Value, modified: u64, patching: bool) -> Result<bool> {
    let given = text(object, "/metadata/resourceVersion");
    let current = text(live, "/metadata/resourceVersion");
    if given.is_empty() || given == "0" {
        if !patching && !strategy::unconditional(&request.resource) {
            // It is the store that refuses, and it knows resources, not kinds.
            let message = "Invalid value: 0: must be specified for an update";
            let cause = Cause::new("FieldValueInvalid", "metadata.resourceVersion", message);
            let Resource { group, plural, .. } = &*request.resource;
            return Err(Box::new(Status::invalid(group, plural, &request.name, vec![cause])));
        }
        return Ok(false);
    }
    let Ok(version) = given.parse::<u64>() else {
        let message = format!("strconv.ParseUint: parsing \"{given}\": invalid syntax");
        return Err(Box::new(Status::new(500, "", message)));
    };
    if version != modified {
        return Err(request.modified());
    }
    Ok(!patching || given != current)
}

fn check_uid(request: &Request, live: &Value, object: &Value, change: &Change) -> Result<()> {
    let (given, actual) = (text(object, "/metadata/uid"), text(live, "/metadata/uid"));
    if given.is_empty() || given == actual {
        return Ok(());
    }
    if !matches!(change, Change::Whole(_)) {
        return Err(other_uid(request, given));
    }
    Err(request.conflict(&uid_mismatch(
        &request.resource,
        &request.namespace,
        &request.name,
        given,
        actual,
    )))
}

/// An applied object is another one.
fn other_uid(request: &Request, given: &str) -> Box<Status> {
    let message = format!("Invalid value: {given:?}: field is immutable");
    let cause = Cause::new("FieldValueInvalid", "metadata.uid", message);
    request.invalid(&request.name, vec![cause])
}

/// Upstream's words for a uid that is not the object's.
pub(super) fn uid_mismatch(resource: &Resource, namespace: &str, name: &str, given: &str, actual: &str) -> String {
    let group = if resource.custom.is_some() {
        format!("{}/", resource.group)
    } else {
        String::new()
    };
    let namespace = if resource.namespaced {
        format!("{namespace}/")
    } else {
        String::new()
    };
    format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{group}{}/{namespace}{name}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, UID in object meta: {actual}",
        resource.plural
    )
}

/// Stores the next state; none if someone else wrote in between.
async fn store(
    cluster: &Arc<Cluster>,
    request: &Request,
    (live, entry): (&Value, &Entry),
    mut object: Value,
    dry_run: bool,
    change: &Change,
) -> Result<Option<Answer>> {
    let resource = &request.resource;
    strategy::settle(resource, live, &mut object, &request.subresource);
    definition::adjust(resource, &mut object);
    let causes = match &resource.custom {
        Some(custom) => custom.schema.validate(&object, Some(live)),
        None => {
            let compared = strategy::compared(live, &object, &request.subresource);
            validation::validate(resource, &object, Some(&compared))
        }
    };
    if !causes.is_empty() {
        return Err(request.invalid(&request.name, causes));
    }
    create::check_rights(cluster, request, &object, Some(live))?;
    let granted = service::allocate(cluster, resource, Some(live), &mut object)?;
    let grant = granted.map_err(|causes| request.invalid(&request.name, causes))?;
    if !matches!(change, Change::Apply(_)) {
        intake::track(request, Some(live), &mut object, &request.writer(cluster));
    }
    let value = object::encode(resource, &object);
    if value == entry.value {
        return Ok(Some(Answer::object(200, resource, entry.clone())));
    }
    let written = Entry { value, ..entry.clone() };
    if dry_run {
        cluster.services.release(&grant);
        return Ok(Some(Answer::object(200, resource, written)));
    }
    let key = request.key();
    if may_vanish(&object) {
        return Ok(match cluster.remove(&key, entry.modified).await? {
            Ok(revision) => {
                definition::removed(cluster, resource, &object, revision).await?;
                Some(Answer::object(200, resource, written))
            }
            Err(_) => None,
        });
    }
    let answer = finish(cluster, resource, &key, entry.modified, &object).await?;
    if answer.is_none() {
        cluster.services.release(&grant);
    }
    Ok(answer)
}

async fn finish(
    cluster: &Arc<Cluster>,
    resource: &Arc<Resource>,
    key: &Arc<str>,
    modified: u64,
    object: &Value,
) -> Result<Option<Answer>> {
    let Ok(entry) = cluster.put(resource, key, Expect::Revision(modified), object).await? else {
        return Ok(None);
    };
    definition::written(cluster, resource, object, &entry).await?;
    Ok(Some(Answer::object(200, resource, entry)))
}
