//! A request's body as an object of the resource it is sent to.
//!
//! Mirrors upstream's decoding: media type, apiVersion and kind, name and namespace against the URL, unknown fields.

use kubeschema::strict::{self, Scan};
use serde_json::{Map, Value};

use super::{Media, Request};
use crate::object::{metadata_mut, text};
use crate::registry::Resource;
use crate::status::{Cause, Result, Status};
use crate::{apply, defaulting, protobuf};

/// What to do about fields the schema does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strictness {
    Ignore,
    Warn,
    Strict,
}

/// A decoded body and what its text tells beyond its value.
#[derive(Default)]
pub(super) struct Given {
    pub(super) object: Value,
    pub(super) notes: Notes,
}

/// What a text tells beyond the value it stands for.
#[derive(Default)]
pub(super) struct Notes {
    /// Order and repetitions of the fields of a JSON text.
    scan: Scan,
    /// Complaints about repeated keys of a YAML text.
    repeated: Vec<String>,
}

/// Decodes a body.
///
/// # Errors
/// 415 for other media, 400 for bad text.
pub(super) fn given(request: &Request) -> Result<Given> {
    if request.media == Media::Yaml {
        return from_yaml(request);
    }
    let object = parse(request)?;
    let mut notes = Notes::default();
    if let (Media::Json, Ok(text)) = (request.media, std::str::from_utf8(&request.body)) {
        notes.scan = strict::scan(text);
    }
    Ok(Given { object, notes })
}

fn from_yaml(request: &Request) -> Result<Given> {
    let text = std::str::from_utf8(&request.body)
        .map_err(|_| Box::new(Status::bad_request("the body of the request is not UTF-8")))?;
    let (object, repeated) = goyaml::parse_with_repeated(text).map_err(|error| bad_body(&request.resource, &error))?;
    let repeated = repeated
        .iter()
        .map(|repeated| format!("line {}: key {} already set in map", repeated.line, repeated.key))
        .collect();
    let notes = Notes {
        repeated,
        ..Notes::default()
    };
    Ok(Given { object, notes })
}

/// Decodes JSON, YAML or protobuf.
///
/// # Errors
/// 415 for other media, 400 for bad text.
pub(super) fn parse(request: &Request) -> Result<Value> {
    let resource = &request.resource;
    if request.media == Media::Protobuf && resource.custom.is_none() {
        return protobuf::decode(&request.body).map_err(|error| Box::new(Status::bad_request(error.to_string())));
    }
    let text = std::str::from_utf8(&request.body)
        .map_err(|_| Box::new(Status::bad_request("the body of the request is not UTF-8")))?;
    match request.media {
        Media::Json => serde_json::from_str(text).or_else(|json| {
            // JSON is read as YAML when it is none, but a failure tells about the JSON.
            let json_meant = text.trim_start().starts_with('{');
            match goyaml::parse(text) {
                Ok(value) if value.is_object() && !json_meant => Ok(value),
                _ => Err(bad_body(resource, &json)),
            }
        }),
        Media::Yaml => goyaml::parse(text).map_err(|error| bad_body(resource, &error)),
        _ => Err(Box::new(unsupported())),
    }
}

/// 415 for bodies.
pub(super) fn unsupported() -> Status {
    Status::new(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    )
}

fn bad_body(resource: &Resource, error: &dyn std::fmt::Display) -> Box<Status> {
    Box::new(Status::bad_request(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: {error}",
        kind = resource.kind,
        version = resource.version
    )))
}

/// Checks apiVersion and kind, filling them in where upstream does.
pub(super) fn check_kind(request: &Request, object: &mut Value) -> Result<()> {
    let resource = &request.resource;
    let body = String::from_utf8_lossy(&request.body);
    let Some(fields) = object.as_object_mut() else {
        return Err(bad_body(resource, &"json: cannot unmarshal into an object"));
    };
    let found = |fields: &Map<String, Value>, name: &str| {
        fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let kind = found(fields, "kind");
    let version = found(fields, "apiVersion");
    for name in ["kind", "apiVersion"] {
        if fields
            .get(name)
            .is_some_and(|value| !value.is_string() && !value.is_null())
        {
            let why = format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal into Go struct field .{name} of type string"
            );
            return Err(bad_body(resource, &why));
        }
    }
    if fields
        .get("metadata")
        .is_some_and(|value| !value.is_object() && !value.is_null())
    {
        let why = format!(
            "json: cannot unmarshal into Go struct field {}.metadata of type v1.ObjectMeta",
            resource.kind
        );
        return Err(bad_body(resource, &why));
    }
    if resource.custom.is_some() && kind.is_empty() {
        return Err(Box::new(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{body}' ({body})",
            resource.kind
        ))));
    }
    if !version.is_empty() && version != resource.api_version() {
        return Err(Box::new(Status::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({})",
            resource.api_version()
        ))));
    }
    if !kind.is_empty() && kind != resource.kind && resource.custom.is_some() {
        let message = format!("Invalid value: \"{kind}\": must be {}", resource.kind);
        let name = fields
            .get("metadata")
            .and_then(|metadata| metadata["name"].as_str())
            .unwrap_or_default();
        let cause = Cause::new("FieldValueInvalid", "kind", message);
        return Err(Box::new(Status::invalid(&resource.group, &kind, name, vec![cause])));
    }
    if !kind.is_empty() && kind != resource.kind {
        return Err(Box::new(Status::bad_request(format!(
            "{kind} in version \"{}\" cannot be handled as a {}: no kind match",
            resource.version, resource.kind
        ))));
    }
    fields.insert("kind".to_owned(), resource.kind.as_str().into());
    fields.insert("apiVersion".to_owned(), resource.api_version().into());
    Ok(())
}

/// Fills in the URL's namespace and refuses another one.
pub(super) fn check_namespace(request: &Request, object: &mut Value) -> Result<()> {
    let metadata = metadata_mut(object);
    let namespace = metadata
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    if !request.resource.namespaced {
        // What lives in no namespace may say that it does; nobody listens.
        metadata.remove("namespace");
        return Ok(());
    }
    if namespace.is_empty() || namespace == request.namespace {
        metadata.insert("namespace".to_owned(), request.namespace.as_str().into());
        return Ok(());
    }
    let text = "the namespace of the provided object does not match the namespace sent on the request";
    Err(Box::new(Status::bad_request(text)))
}

/// Refuses a body about another object than the URL's.
pub(super) fn check_name(request: &Request, object: &Value) -> Result<()> {
    let (name, url) = (text(object, "/metadata/name"), &request.name);
    if name == url {
        return Ok(());
    }
    let message = if name.is_empty() {
        format!("the name of the object ({url} based on URL) was undeterminable: name must be provided")
    } else {
        format!("the name of the object ({name}) does not match the name on the URL ({url})")
    };
    Err(Box::new(Status::bad_request(message)))
}

/// Brings an object into the form of its schema: unknown fields removed, defaults filled in. Gives warnings; `notes`
/// are of the text that the object comes from.
///
/// # Errors
/// 400 for values of wrong types, and with `fieldValidation=Strict` for unknown fields.
pub(super) fn normalise(request: &Request, object: &mut Value, notes: &Notes) -> Result<Vec<String>> {
    let strictness = strictness(request);
    let resource = &request.resource;
    let decoded = match &resource.custom {
        Some(custom) => custom.schema.decode(object),
        None => defaulting::decode(resource, object),
    };
    let mut unknown = decoded.map_err(|error| bad_body(resource, &error))?;
    if resource.custom.is_none() {
        notes.scan.sort(&mut unknown);
    }
    let duplicates = duplicate_owners(object);
    let mut problems = notes.repeated.clone();
    problems.extend(unknown.into_iter().map(|path| format!("unknown field \"{path}\"")));
    problems.extend(
        notes
            .scan
            .duplicates
            .iter()
            .map(|path| format!("duplicate field \"{path}\"")),
    );
    if strictness == Strictness::Ignore {
        problems.clear();
    }
    match strictness {
        Strictness::Ignore | Strictness::Warn => Ok(problems.into_iter().chain(duplicates).collect()),
        Strictness::Strict if problems.is_empty() => Ok(duplicates.into_iter().collect()),
        Strictness::Strict => {
            let problems = problems.join(", ");
            Err(bad_body(resource, &format_args!("strict decoding error: {problems}")))
        }
    }
}

/// Drops owners that are named twice; the warning about it.
fn duplicate_owners(object: &mut Value) -> Option<String> {
    let list = object.pointer_mut("/metadata/ownerReferences")?.as_array_mut()?;
    let mut seen: Vec<Value> = Vec::new();
    let mut twice: Vec<String> = Vec::new();
    list.retain(|owner| {
        let new = !seen.contains(owner);
        if new {
            seen.push(owner.clone());
        } else {
            twice.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        }
        new
    });
    if twice.is_empty() {
        return None;
    }
    Some(format!(
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject \
         such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        twice.join(", ")
    ))
}

/// The strictness that is asked for; the options were judged before the body was read.
fn strictness(request: &Request) -> Strictness {
    match request.query.get("fieldValidation") {
        "Ignore" => Strictness::Ignore,
        "Strict" => Strictness::Strict,
        _ => Strictness::Warn,
    }
}

/// Records who wrote what.
pub(super) fn track(request: &Request, live: Option<&Value>, object: &mut Value, manager: &apply::Manager) {
    apply::update(&request.resource, live, object, manager);
}
