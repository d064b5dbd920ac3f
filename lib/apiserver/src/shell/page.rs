//! Everything that is no object: discovery, versions, health.

use http::{Method, Response, request};
use serde_json::{Value, json};

use super::negotiate::{self, Encoding, Shape};
use super::respond::{self, Body};
use super::route;
use crate::cluster::Cluster;
use crate::query::Query;
use crate::registry::{Registry, Resource};
use crate::status::{Result, Status};
use crate::{discovery, openapi};

/// Content type of aggregated discovery.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Answers a path without an object behind it.
pub(super) fn answer(
    _cluster: &Cluster,
    registry: &Registry,
    head: &request::Parts,
    query: &Query,
) -> Result<Response<Body>> {
    let path = head.uri.path().trim_end_matches('/');
    if let Some(health) = health(path, query) {
        return Ok(health);
    }
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let served = match segments.as_slice() {
        ["apis", group, version, ..] => registry.serves(group, version),
        ["api", "v1", ..] => true,
        _ => false,
    };
    let reading = head.method == Method::GET || head.method == Method::HEAD;
    if let ["apis", group, version, ..] = segments.as_slice()
        && segments.len() > 3
        && registry.serves(group, version)
        && !registry.builtin_group(group)
    {
        return unknown_custom(registry, path);
    }
    if served
        && let Some(parts) = route::split(path)
        && registry
            .find(&parts.group, &parts.version, &parts.resource)
            .is_some_and(|resource| {
                let known = |sub: &str| resource.subresources.iter().any(|other| other.name == sub);
                !parts.subresource.is_empty() && !known(&parts.subresource)
            })
    {
        return Err(Box::new(Status::no_such_path()));
    }
    if (served || path == "/version") && !reading {
        return Err(Box::new(Status::method_not_allowed()));
    }
    let shape = negotiate::form(&head.headers)?;
    let aggregated = matches!(&shape.shape, Shape::Other { version, .. } if version == "v2" || version == "v2beta1");
    match segments.as_slice() {
        ["api"] if aggregated => Ok(aggregate(head, &discovery::aggregated(registry, true))),
        ["apis"] if aggregated => Ok(aggregate(head, &discovery::aggregated(registry, false))),
        ["api"] => Ok(value(&discovery::core_versions(), shape.encoding)),
        ["apis"] => Ok(value(&discovery::groups(registry), shape.encoding)),
        ["api", version] if registry.serves("", version) => {
            Ok(value(&discovery::resources(registry, "", version), shape.encoding))
        }
        ["apis", group] => match discovery::group(registry, group) {
            Some(found) => Ok(value(&found, shape.encoding)),
            None => Ok(respond::bytes(404, "text/plain; charset=utf-8", "404 page not found\n")),
        },
        ["apis", group, version] if registry.serves(group, version) => {
            Ok(value(&discovery::resources(registry, group, version), shape.encoding))
        }
        ["openapi", "v2"] => Ok(value(&openapi::v2::document(registry), shape.encoding)),
        ["openapi", "v3", rest @ ..] => Ok(openapi(registry, rest, shape.encoding)),
        [""] | [] => Ok(value(&discovery::paths(registry), shape.encoding)),
        ["version"] => Ok(value(&version(), shape.encoding)),
        // Groups of custom resources are another server's, which has a page for what it does not know.
        ["apis", group, _, ..] if registry.builtin_group(group) => Err(Box::new(Status::no_such_path())),
        ["api", ..] => Err(Box::new(Status::no_such_path())),
        _ => Ok(respond::bytes(404, "text/plain; charset=utf-8", "404 page not found\n")),
    }
}

/// The warning that comes with every answer about a deprecated kind.
pub(super) fn deprecation(resource: &Resource) -> Option<String> {
    if resource.is("", "endpoints") {
        return Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned());
    }
    if resource.is("", "componentstatuses") {
        return Some("v1 ComponentStatus is deprecated in v1.19+".to_owned());
    }
    let version = &resource.custom.as_ref()?.version;
    if version["deprecated"] != true {
        return None;
    }
    let standard = || format!("{} {} is deprecated", resource.api_version(), resource.kind);
    Some(
        version["deprecationWarning"]
            .as_str()
            .map_or_else(standard, str::to_owned),
    )
}

fn openapi(registry: &Registry, rest: &[&str], encoding: Encoding) -> Response<Body> {
    let found = match rest {
        [] => Some(openapi::index(registry)),
        ["api", version] => openapi::document(registry, "", version),
        ["apis", group, version] => openapi::document(registry, group, version),
        _ => None,
    };
    match found {
        Some(document) => value(&document, encoding),
        None => respond::empty(404),
    }
}

/// The answer to a path below the group of a custom resource that names nothing: a subresource that is not turned on is
/// told as an object that is not there, the rest is a page.
fn unknown_custom(registry: &Registry, path: &str) -> Result<Response<Body>> {
    if let Some(parts) = route::split(path)
        && let Some(resource) = registry.find(&parts.group, &parts.version, &parts.resource)
        && matches!(parts.subresource.as_str(), "status" | "scale")
        && resource.namespaced != parts.namespace.is_empty()
    {
        return Err(Box::new(Status::not_found(&parts.group, &parts.resource, &parts.name)));
    }
    Ok(respond::bytes(404, "text/plain; charset=utf-8", "404 page not found\n"))
}

fn value(value: &Value, encoding: Encoding) -> Response<Body> {
    respond::json(200, value.to_string().into_bytes(), encoding)
}

/// Aggregated discovery with an ETag, so that clients need not read it again.
fn aggregate(head: &request::Parts, document: &Value) -> Response<Body> {
    use sha2::Digest;
    let body = document.to_string();
    let tag = format!("\"{}\"", hex::encode_upper(sha2::Sha512::digest(body.as_bytes())));
    let known = head
        .headers
        .get(http::header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    let mut response = if known.is_some_and(|known| known == tag) {
        respond::empty(304)
    } else {
        respond::bytes(200, AGGREGATED, body)
    };
    respond::header(&mut response, "cache-control", "public");
    respond::header(&mut response, "etag", &tag);
    respond::header(&mut response, "vary", "Accept");
    response
}

fn health(path: &str, query: &Query) -> Option<Response<Body>> {
    let (check, name) = match path.trim_start_matches('/').split_once('/') {
        Some((check, name)) => (check, name),
        None => (path.trim_start_matches('/'), ""),
    };
    if !matches!(check, "healthz" | "livez" | "readyz") {
        return None;
    }
    let plain = "text/plain; charset=utf-8";
    Some(match name {
        "" if query.has("verbose") => respond::bytes(
            200,
            plain,
            format!("[+]ping ok\n[+]log ok\n[+]etcd ok\n{check} check passed\n"),
        ),
        "" | "ping" | "log" | "etcd" => respond::bytes(200, plain, "ok"),
        _ => respond::bytes(404, plain, "404 page not found\n"),
    })
}

/// What the server says it is.
fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.3", "gitCommit": "", "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "", "compiler": "rustc", "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}
