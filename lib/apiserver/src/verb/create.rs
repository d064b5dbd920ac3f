//! POST: an object that was not there.

use std::sync::Arc;

use serde_json::Value;

use super::intake::{Given, Notes};
use super::{Answer, Request, class, intake, namespace, options, priority, service, strategy};
use crate::cluster::Cluster;
use crate::object::{metadata_mut, text};
use crate::registry::Resource;
use crate::status::{Cause, Result, Status};
use crate::store::{Entry, Expect};
use crate::{apply, defaulting, definition, object, validation};

/// Longest name that a prefix and five characters may make.
const LONGEST_PREFIX: usize = 58;

/// Longest name of most kinds.
const LONGEST_NAME: usize = 253;

/// How often a generated name is rolled again when it is taken.
const ROLLS: usize = 8;

/// Where a new object comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Its creator sent it whole.
    Posted,
    /// It was applied, and so already says who manages what.
    Applied,
}

/// Makes the object of the request's body.
pub(crate) async fn create(cluster: &Arc<Cluster>, request: &Request) -> Result<Answer> {
    let dry_run = options::read(request, "CreateOptions")?;
    let mut given = intake::given(request)?;
    intake::check_kind(request, &mut given.object)?;
    intake::check_namespace(request, &mut given.object)?;
    make(cluster, request, given, Origin::Posted, dry_run).await
}

/// Makes an object that was decoded and checked against the URL.
pub(super) async fn make(
    cluster: &Arc<Cluster>,
    request: &Request,
    given: Given,
    origin: Origin,
    dry_run: bool,
) -> Result<Answer> {
    let Given {
        object: mut given,
        notes,
    } = given;
    // Nothing is stored in a dry run, so nothing has a version.
    if !dry_run && !matches!(text(&given, "/metadata/resourceVersion"), "" | "0") {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(Box::new(Status::new(500, "", message)));
    }
    let unlabelled = given["metadata"]["labels"]
        .as_object()
        .is_none_or(serde_json::Map::is_empty);
    let warnings = intake::normalise(request, &mut given, &notes)?;
    strategy::clear(&request.resource, &mut given);
    if unlabelled && request.resource.is("batch", "jobs") {
        // Its labels will be the template's, and so become what the template's become.
        metadata_mut(&mut given).remove("labels");
    }
    priority::admit(cluster, request, &mut given)?;
    strategy::name(cluster, &request.resource, &mut given);
    let prefix = text(&given, "/metadata/generateName").to_owned();
    let generated = text(&given, "/metadata/name").is_empty() && !prefix.is_empty();
    let advised = if request.resource.custom.is_none() {
        validation::advice(&request.resource, &given, None)
    } else {
        Vec::new()
    };
    let made = |entry| {
        let mut answer = Answer::object(201, &request.resource, entry);
        answer.warnings.clone_from(&warnings);
        answer.warnings.extend(advised.iter().cloned());
        answer
    };
    if !generated {
        let name = text(&given, "/metadata/name").to_owned();
        let entry = attempt(cluster, request, given, origin, dry_run)
            .await
            .map_err(|status| status.warned(&warnings))?;
        return entry
            .map(made)
            .ok_or_else(|| already_exists(request, &name).warned(&warnings));
    }
    for _ in 0..ROLLS {
        let mut object = given.clone();
        let start: String = prefix.chars().take(LONGEST_PREFIX).collect();
        metadata_mut(&mut object).insert("name".to_owned(), format!("{start}{}", cluster.suffix()).into());
        let entry = attempt(cluster, request, object, origin, dry_run).await;
        if let Some(entry) = entry.map_err(|status| status.warned(&warnings))? {
            return Ok(made(entry));
        }
    }
    let why = "the server was not able to generate a unique name for the object";
    let mut status = already_exists(request, &prefix);
    status.message = format!("{}; {why}", status.message);
    Err(status)
}

/// Tries one name; none if it is taken.
async fn attempt(
    cluster: &Arc<Cluster>,
    request: &Request,
    mut object: Value,
    origin: Origin,
    dry_run: bool,
) -> Result<Option<Entry>> {
    let resource = &request.resource;
    let name = text(&object, "/metadata/name").to_owned();
    strategy::found(cluster, resource, &mut object);
    definition::prepare(resource, &mut object);
    namespace::check_exists(cluster, request, &object)?;
    let causes = problems(resource, &object, &name);
    if !causes.is_empty() {
        return Err(request.invalid(&name, causes));
    }
    defaulting::admitted(resource, &mut object);
    class::admit(cluster, request, &mut object)?;
    check_rights(cluster, request, &object, None)?;
    definition::check_accepting(request, &name)?;
    let granted = service::allocate(cluster, resource, None, &mut object)?;
    let grant = granted.map_err(|causes| request.invalid(&name, causes))?;
    if origin == Origin::Posted {
        intake::track(request, None, &mut object, &request.writer(cluster));
    }
    let key = resource.key(&request.namespace, &name);
    if dry_run {
        cluster.services.release(&grant);
        let taken = cluster.get(&key)?.is_some();
        return Ok((!taken).then(|| Entry {
            value: object::encode(resource, &object),
            created: 0,
            modified: 0,
        }));
    }
    let Ok(entry) = cluster.put(resource, &key, Expect::Absent, &object).await? else {
        cluster.services.release(&grant);
        return Ok(None);
    };
    definition::written(cluster, resource, &object, &entry).await?;
    Ok(Some(entry))
}

fn problems(resource: &Resource, object: &Value, name: &str) -> Vec<Cause> {
    let mut causes = match &resource.custom {
        Some(custom) => custom.schema.validate(object, None),
        None => validation::validate(resource, object, None),
    };
    if name.is_empty()
        && !causes
            .iter()
            .any(|cause| cause.field == "metadata.name" && cause.reason == "FieldValueRequired")
    {
        let text = "Required value: name or generateName is required";
        causes.insert(0, Cause::new("FieldValueRequired", "metadata.name", text));
    }
    // A name that was made out of a bad prefix is as bad as the prefix.
    let prefix = text(object, "/metadata/generateName");
    let bad = causes
        .iter()
        .find(|cause| cause.field == "metadata.name" && cause.reason == "FieldValueInvalid");
    if let Some(bad) = bad.filter(|_| !prefix.is_empty() && name.starts_with(prefix))
        && !causes.iter().any(|cause| cause.field == "metadata.generateName")
    {
        let cause = Cause::new(bad.reason, "metadata.generateName", bad.message.replace(name, prefix));
        causes.insert(0, cause);
    }
    if prefix.len() > LONGEST_NAME {
        let message = format!("Invalid value: \"{prefix}\": must be no more than {LONGEST_NAME} characters");
        causes.insert(0, Cause::new("FieldValueInvalid", "metadata.generateName", message));
    }
    causes
}

/// Nobody grants what they do not hold.
pub(super) fn check_rights(
    cluster: &Arc<Cluster>,
    request: &Request,
    object: &Value,
    live: Option<&Value>,
) -> Result<()> {
    if request.resource.group != "rbac.authorization.k8s.io" {
        return Ok(());
    }
    cluster.security.rbac.check_write(
        &request.user,
        &request.resource.plural,
        &request.namespace,
        object,
        live,
    )
}

fn already_exists(request: &Request, name: &str) -> Box<Status> {
    Box::new(Status::already_exists(
        &request.resource.group,
        &request.resource.plural,
        name,
    ))
}

/// Makes an object by applying it where there is none.
pub(super) async fn make_applied(
    cluster: &Arc<Cluster>,
    request: &Request,
    applied: &Value,
    notes: Notes,
    dry_run: bool,
) -> Result<Answer> {
    let force = request.query.flag("force");
    let mut object = apply::apply(&request.resource, None, applied, &request.writer(cluster), force)?;
    intake::check_namespace(request, &mut object)?;
    make(cluster, request, Given { object, notes }, Origin::Applied, dry_run).await
}
