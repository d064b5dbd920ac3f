//! DELETE of one object and of collections: options, grace, finalizers.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::access::{finalizers, may_vanish, terminating};
use super::{Answer, Content, Media, Request, intake, list, namespace, options, service};
use crate::access::User;
use crate::cluster::Cluster;
use crate::definition;
use crate::object::{self, metadata_mut, text};
use crate::query::Query;
use crate::registry::Resource;
use crate::status::{Cause, Result, Status};
use crate::store::{Entry, Expect};

/// Kinds that answer a deletion with the object instead of a Status.
const ANSWER_OBJECT: &[&str] = &[
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ResourceQuota",
    "Service",
    "ServiceAccount",
    "StorageClass",
    "VolumeAttachment",
];

/// What is told about the pods of a job that was deleted without wishes.
const ORPHANED: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background \
                        to remove them or set propagationPolicy=Orphan to suppress this warning";

/// Whether dependents are left alone by default: two kinds do so from of old.
fn orphans(resource: &Resource) -> bool {
    resource.is("batch", "jobs") || resource.is("", "replicationcontrollers")
}

/// What becomes of an object's dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Propagation {
    Unset,
    Background,
    Foreground,
    Orphan,
}

/// A deletion's options.
#[derive(Debug, Clone)]
struct Options {
    propagation: Propagation,
    grace: Option<i64>,
    uid: String,
    version: String,
    dry_run: bool,
    /// Whether it was said in so many words that dependents go.
    adopts: bool,
}

/// Deletes the object of the request.
pub(crate) async fn delete(cluster: &Arc<Cluster>, request: &Request) -> Result<Answer> {
    let mut options = read_options(request)?;
    namespace::check_protected(request)?;
    let key = request.key();
    let mut warnings = Vec::new();
    if options.propagation == Propagation::Unset && orphans(&request.resource) {
        options.propagation = Propagation::Orphan;
        if request.resource.kind == "Job" {
            warnings.push(ORPHANED.to_owned());
        }
    }
    loop {
        let Some(entry) = cluster.get(&key)? else {
            return Err(request.not_found());
        };
        let live = object::decode(&request.resource, &entry)?;
        check_preconditions(request, &live, &options)?;
        if let Some(answer) = step(cluster, request, &key, (&live, &entry), &options).await? {
            // A deletion that has only begun is told so to those who asked for its end.
            let waits = options.adopts && matches!(answer.content, Content::Object(..)) && terminating(&live);
            let code = if waits { 202 } else { answer.code };
            return Ok(Answer {
                code,
                warnings,
                ..answer
            });
        }
        if !options.version.is_empty() {
            return Err(request.modified());
        }
    }
}

/// Deletes an object as if a client without wishes had asked for it.
pub(crate) async fn remove(
    cluster: &Arc<Cluster>,
    resource: &Arc<Resource>,
    namespace: &str,
    name: &str,
) -> Result<()> {
    let request = Request {
        user: User::admin(),
        resource: Arc::clone(resource),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        subresource: String::new(),
        query: Query::default(),
        media: Media::Json,
        body: Bytes::new(),
        agent: String::new(),
    };
    match delete(cluster, &request).await {
        Ok(_) => Ok(()),
        Err(status) if status.code == 404 => Ok(()),
        Err(status) => Err(status),
    }
}

/// Evicts the pod of the request: a deletion that disruption budgets may one day refuse.
pub(crate) async fn evict(cluster: &Arc<Cluster>, request: &Request) -> Result<Answer> {
    let eviction = intake::parse(request)?;
    if text(&eviction, "/metadata/name") != request.name {
        let why = "name in URL does not match name in Eviction object";
        return Err(Box::new(Status::bad_request(why)));
    }
    let body = match eviction.get("deleteOptions") {
        Some(options) if options.is_object() => Bytes::from(options.to_string()),
        _ => Bytes::new(),
    };
    if body.is_empty() {
        disrupt(cluster, request).await?;
    }
    let deletion = Request {
        subresource: String::new(),
        media: Media::Json,
        body,
        ..request.clone()
    };
    delete(cluster, &deletion).await?;
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Answer::new(201, Content::Value(status)))
}

/// Says in a pod's status that it goes because somebody evicted it.
async fn disrupt(cluster: &Arc<Cluster>, request: &Request) -> Result<()> {
    let key = request.key();
    while let Some(entry) = cluster.get(&key)? {
        let mut pod = object::decode(&request.resource, &entry)?;
        if terminating(&pod) || text(&pod, "/spec/nodeName").is_empty() {
            return Ok(());
        }
        let condition = json!({
            "type": "DisruptionTarget", "status": "True", "lastProbeTime": null, "lastTransitionTime": cluster.timestamp(),
            "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
        });
        let list = &mut pod["status"]["conditions"];
        match list.as_array_mut() {
            Some(list) => {
                list.retain(|other| other["type"] != "DisruptionTarget");
                list.push(condition);
            }
            None => *list = json!([condition]),
        }
        if cluster
            .put(&request.resource, &key, Expect::Revision(entry.modified), &pod)
            .await?
            .is_ok()
        {
            return Ok(());
        }
    }
    Err(request.not_found())
}

/// Deletes everything a list with the same query would show.
pub(crate) async fn delete_collection(cluster: &Arc<Cluster>, request: &Request) -> Result<Answer> {
    let options = read_options(request)?;
    let mut answer = list::list(cluster, request)?;
    if let Content::List(shown) = &mut answer.content {
        for entry in &shown.entries {
            let metadata = object::metadata(entry);
            let key = request.resource.key(&metadata.namespace, &metadata.name);
            let single = Request {
                name: metadata.name,
                namespace: metadata.namespace,
                ..request.clone()
            };
            while let Some(entry) = cluster.get(&key)? {
                let live = object::decode(&request.resource, &entry)?;
                check_preconditions(&single, &live, &options)?;
                if step(cluster, &single, &key, (&live, &entry), &options).await?.is_some() {
                    break;
                }
            }
        }
    }
    Ok(answer)
}

/// One try to delete; none if someone else wrote in between.
async fn step(
    cluster: &Arc<Cluster>,
    request: &Request,
    key: &Arc<str>,
    (live, entry): (&Value, &Entry),
    options: &Options,
) -> Result<Option<Answer>> {
    let resource = &request.resource;
    let mut object = marked(cluster, request, live, options);
    definition::mark(cluster, resource, &mut object);
    let vanishes = may_vanish(&object);
    let value = object::encode(resource, &object);
    let written = Entry { value, ..entry.clone() };
    if vanishes {
        if !options.dry_run {
            let Ok(revision) = cluster.remove(key, entry.modified).await? else {
                return Ok(None);
            };
            definition::removed(cluster, resource, live, revision).await?;
            if resource.is("", "services") {
                cluster.services.release(&service::held(live));
            }
        }
        let shown = if resource.kind == "Pod" { written } else { entry.clone() };
        return Ok(Some(gone(resource, live, shown)));
    }
    if written.value == entry.value || options.dry_run {
        return Ok(Some(Answer::object(200, resource, written)));
    }
    let Ok(entry) = cluster
        .put(resource, key, Expect::Revision(entry.modified), &object)
        .await?
    else {
        return Ok(None);
    };
    definition::marked(cluster, resource, &object, &entry);
    Ok(Some(Answer::object(200, resource, entry)))
}

/// The object as deletion leaves it: timestamp, grace, finalizers of the propagation.
fn marked(cluster: &Arc<Cluster>, request: &Request, live: &Value, options: &Options) -> Value {
    let mut object = live.clone();
    let grace = grace(&request.resource, live, options.grace);
    let wanted = propagated(live, options.propagation);
    let begun = terminating(live);
    let now = cluster.clock.now();
    let metadata = metadata_mut(&mut object);
    if wanted.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), json!(wanted));
    }
    if begun {
        let left = metadata.get("deletionGracePeriodSeconds").and_then(Value::as_i64);
        if left.is_some_and(|left| grace < left) {
            metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
        }
        return object;
    }
    let at = now.checked_add(jiff::SignedDuration::from_secs(grace)).unwrap_or(now);
    metadata.insert("deletionTimestamp".to_owned(), crate::cluster::timestamp(at).into());
    if request.resource.is("", "namespaces") {
        object["status"]["phase"] = "Terminating".into();
        return object;
    }
    if definition::is_definition(&request.resource) {
        return object;
    }
    metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
    if let Some(generation) = metadata
        .get("generation")
        .and_then(Value::as_i64)
        .filter(|generation| *generation > 0)
    {
        metadata.insert("generation".to_owned(), (generation + 1).into());
    }
    object
}

/// Seconds an object may take to end; only pods that run somewhere need any.
fn grace(resource: &Resource, live: &Value, asked: Option<i64>) -> i64 {
    if !resource.is("", "pods") {
        return 0;
    }
    let over = matches!(text(live, "/status/phase"), "Succeeded" | "Failed");
    if text(live, "/spec/nodeName").is_empty() || over {
        return 0;
    }
    match asked
        .or_else(|| live["spec"]["terminationGracePeriodSeconds"].as_i64())
        .unwrap_or(30)
    {
        negative if negative < 0 => 1,
        seconds => seconds,
    }
}

/// Finalizers after the propagation was chosen.
fn propagated(live: &Value, propagation: Propagation) -> Vec<String> {
    let mut names: Vec<String> = finalizers(live).into_iter().map(str::to_owned).collect();
    if propagation != Propagation::Unset {
        names.retain(|name| name != "orphan" && name != "foregroundDeletion");
    }
    match propagation {
        Propagation::Orphan => names.push("orphan".to_owned()),
        Propagation::Foreground => names.push("foregroundDeletion".to_owned()),
        Propagation::Unset | Propagation::Background => {}
    }
    names
}

/// The answer when the object is gone.
fn gone(resource: &Arc<Resource>, live: &Value, entry: Entry) -> Answer {
    if resource.custom.is_none() && ANSWER_OBJECT.contains(&resource.kind.as_str()) {
        return Answer::object(200, resource, entry);
    }
    let mut details = json!({
        "name": live["metadata"]["name"], "kind": resource.plural, "uid": live["metadata"]["uid"],
    });
    if !resource.group.is_empty() {
        details["group"] = resource.group.as_str().into();
    }
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    Answer::new(200, Content::Value(status))
}

fn check_preconditions(request: &Request, live: &Value, options: &Options) -> Result<()> {
    let (uid, version) = (text(live, "/metadata/uid"), text(live, "/metadata/resourceVersion"));
    let conflict = |what: &str, given: &str, actual: &str, hint: &str| {
        let why = format!(
            "the {what} in the precondition ({given}) does not match the {what} in record ({actual}). The object might have been {hint}"
        );
        Box::new(Status::conflict(
            &request.resource.group,
            &request.resource.kind,
            &request.name,
            &why,
        ))
    };
    if !options.uid.is_empty() && options.uid != uid {
        return Err(conflict("UID", &options.uid, uid, "deleted and then recreated"));
    }
    if !options.version.is_empty() && options.version != version {
        return Err(conflict("ResourceVersion", &options.version, version, "modified"));
    }
    Ok(())
}

/// Options from the body, or from the query when there is none.
fn read_options(request: &Request) -> Result<Options> {
    let query = &request.query;
    let body = if request.body.is_empty() {
        Value::Null
    } else {
        read_body(request)?
    };
    if let Some(given) = Some(query.get("gracePeriodSeconds")).filter(|given| !given.is_empty())
        && given.parse::<i64>().is_err()
    {
        let message = format!("strconv.ParseInt: parsing {given:?}: invalid syntax");
        return Err(Box::new(Status::bad_request(message)));
    }
    let policy = pick(&body, "propagationPolicy", query.get("propagationPolicy"));
    let orphan = match &body["orphanDependents"] {
        Value::Bool(orphan) => Some(*orphan),
        _ => query.has("orphanDependents").then(|| query.flag("orphanDependents")),
    };
    let refused = |reason, message: String| {
        let cause = Cause::new(reason, "propagationPolicy", message);
        Box::new(Status::invalid("meta.k8s.io", "DeleteOptions", "", vec![cause]))
    };
    if orphan.is_some() && !policy.is_empty() {
        let message =
            format!("Invalid value: \"{policy}\": orphanDependents and deletionPropagation cannot be both set");
        return Err(refused("FieldValueInvalid", message));
    }
    let propagation = match (policy.as_str(), orphan) {
        ("", None) => Propagation::Unset,
        ("", Some(true)) | ("Orphan", _) => Propagation::Orphan,
        ("", Some(false)) | ("Background", _) => Propagation::Background,
        ("Foreground", _) => Propagation::Foreground,
        _ => {
            let choices = "\"Foreground\", \"Background\", \"Orphan\", \"nil\"";
            let message = format!("Unsupported value: \"{policy}\": supported values: {choices}");
            return Err(refused("FieldValueNotSupported", message));
        }
    };
    let mut dry_run: Vec<&str> = body["dryRun"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    dry_run.extend(query.all("dryRun").filter(|value| !value.is_empty()));
    if let Some(cause) = options::not_all(&dry_run) {
        return Err(Box::new(Status::invalid(
            "meta.k8s.io",
            "DeleteOptions",
            "",
            vec![cause],
        )));
    }
    Ok(Options {
        propagation,
        grace: body["gracePeriodSeconds"]
            .as_i64()
            .or_else(|| query.number("gracePeriodSeconds")),
        uid: text(&body, "/preconditions/uid").to_owned(),
        version: text(&body, "/preconditions/resourceVersion").to_owned(),
        dry_run: !dry_run.is_empty(),
        adopts: orphan == Some(false),
    })
}

fn pick(body: &Value, field: &str, query: &str) -> String {
    body[field]
        .as_str()
        .filter(|value| !value.is_empty())
        .unwrap_or(query)
        .to_owned()
}

fn read_body(request: &Request) -> Result<Value> {
    let body = intake::parse(request)?;
    if !body.is_object() {
        return Err(Box::new(Status::bad_request(
            "couldn't get version/kind; json parse error: json: cannot unmarshal into Go value",
        )));
    }
    let grace = &body["gracePeriodSeconds"];
    if !grace.is_null() && !grace.is_i64() {
        let message = "json: cannot unmarshal into Go struct field DeleteOptions.gracePeriodSeconds of type int64";
        return Err(Box::new(Status::bad_request(message)));
    }
    let kind = text(&body, "/kind");
    if !kind.is_empty() && kind != "DeleteOptions" {
        let message = format!(
            "no kind \"{kind}\" is registered for version \"{}\"",
            text(&body, "/apiVersion")
        );
        return Err(Box::new(Status::bad_request(message)));
    }
    Ok(body)
}
