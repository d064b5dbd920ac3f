//! GET of one object and of collections: versions, pages, selectors.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::selection::{self, Selection};
use super::{Answer, Content, List, Request, scale};
use crate::cluster::{Cluster, failure};
use crate::query::Query;
use crate::status::{Cause, Details, Result, Status};
use crate::store::{Error, Scan};

/// Pages of a scan that looks for matches of a selector.
const CHUNK: usize = 500;

/// Reads one object.
pub(crate) fn get(cluster: &Cluster, request: &Request) -> Result<Answer> {
    not_from_the_future(cluster, version(request)?)?;
    let Some(entry) = cluster.get(&request.key())? else {
        return Err(request.not_found());
    };
    if request.subresource == "scale" {
        return scale::get(request, &entry);
    }
    Ok(Answer::object(200, &request.resource, entry))
}

/// Reads a collection.
pub(crate) fn list(cluster: &Cluster, request: &Request) -> Result<Answer> {
    let selection = Selection::read(request)?;
    check_numbers(&request.query)?;
    let position = position(cluster, request)?;
    let limit = request
        .query
        .number("limit")
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or_default();
    let scope = selection.scope(&request.namespace);
    let mut list = List {
        resource: Arc::clone(&request.resource),
        entries: Vec::new(),
        revision: cluster.store.revision(),
        next: String::new(),
        remaining: None,
    };
    let plain = selection.is_everything();
    let mut scan = Scan {
        scope: &scope,
        at: position.at,
        // Whoever selects is not told how much is left, and what does not match is not held.
        limit: if plain { limit } else { limit.max(CHUNK) },
        after: None,
        left: if plain { position.left } else { u64::MAX },
    };
    let mut behind = position.after;
    loop {
        let page = cluster
            .scan(&Scan {
                after: behind.as_deref(),
                ..scan.clone()
            })
            .map_err(|error| expired(&error, &request.query))?;
        list.revision = page.revision;
        // Later pages show the state of the first.
        scan.at = Some(page.revision);
        let more = page.more;
        let mut last = None;
        for (key, entry) in page.entries {
            if limit > 0 && list.entries.len() == limit {
                list.next = continue_token(list.revision, behind.as_deref().unwrap_or_default(), 0);
                return Ok(Answer::new(200, Content::List(list)));
            }
            if plain || selection.matches(&entry) {
                list.entries.push(entry);
                behind = Some(Arc::clone(&key));
            }
            last = Some(key);
        }
        if !more {
            break;
        }
        if limit > 0 && list.entries.len() >= limit && plain {
            let token = behind.as_deref().unwrap_or_default();
            list.next = continue_token(list.revision, token, page.remaining);
            list.remaining = (!selection::given(&request.query)).then_some(page.remaining);
            break;
        }
        behind = last;
    }
    Ok(Answer::new(200, Content::List(list)))
}

/// Refuses options that must be numbers and are not.
pub(super) fn check_numbers(query: &Query) -> Result<()> {
    for name in ["limit", "timeoutSeconds"] {
        let text = query.get(name);
        if !text.is_empty() && text.parse::<i64>().is_err() {
            let message = format!("strconv.ParseInt: parsing {text:?}: invalid syntax");
            return Err(Box::new(Status::bad_request(message)));
        }
    }
    Ok(())
}

/// Where a list starts and which state it shows.
#[derive(Debug, Default)]
struct Position {
    /// This revision instead of now.
    at: Option<u64>,
    /// Behind this key.
    after: Option<Arc<str>>,
    /// What is known to follow.
    left: u64,
}

fn position(cluster: &Cluster, request: &Request) -> Result<Position> {
    let query = &request.query;
    let (version_text, matching) = (query.get("resourceVersion"), query.get("resourceVersionMatch"));
    let token = query.get("continue");
    check_match(query.get("resourceVersionMatch"), version_text, !token.is_empty())?;
    if !token.is_empty() {
        if !version_text.is_empty() && version_text != "0" {
            return Err(Box::new(Status::bad_request(
                "specifying resource version is not allowed when using continue",
            )));
        }
        return read_token(token);
    }
    let version = version(request)?;
    not_from_the_future(cluster, version)?;
    Ok(Position {
        at: version.filter(|revision| *revision > 0 && matching == "Exact"),
        ..Position::default()
    })
}

fn check_match(matching: &str, version: &str, continued: bool) -> Result<()> {
    let forbidden = |why: String| {
        Cause::new(
            "FieldValueForbidden",
            "resourceVersionMatch",
            format!("Forbidden: {why}"),
        )
    };
    let cause = match matching {
        "" => return Ok(()),
        _ if continued => forbidden("resourceVersionMatch is forbidden for continue".to_owned()),
        _ if version.is_empty() => {
            forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided".to_owned())
        }
        "Exact" if version == "0" => {
            forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"".to_owned())
        }
        "Exact" | "NotOlderThan" => return Ok(()),
        other => {
            let message =
                format!("Unsupported value: \"{other}\": supported values: \"Exact\", \"NotOlderThan\", \"\"");
            Cause::new("FieldValueNotSupported", "resourceVersionMatch", message)
        }
    };
    Err(Box::new(Status::invalid("meta.k8s.io", "ListOptions", "", vec![cause])))
}

/// The query's `resourceVersion`.
pub(super) fn version(request: &Request) -> Result<Option<u64>> {
    let text = request.query.get("resourceVersion");
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let why = format!("Invalid value: \"{text}\": strconv.ParseUint: parsing \"{text}\": invalid syntax");
        Box::new(Status::bad_request(format!(
            "invalid resource version: resourceVersion: {why}"
        )))
    })
}

/// Refuses a version that does not exist yet.
pub(super) fn not_from_the_future(cluster: &Cluster, version: Option<u64>) -> Result<()> {
    let current = cluster.store.revision();
    match version {
        Some(version) if version > current => {
            let message = format!("Timeout: Too large resource version: {version}, current: {current}");
            let mut status = Status::new(504, "Timeout", message);
            let cause = Cause::new("ResourceVersionTooLarge", "", "Too large resource version");
            status.details = Some(Details {
                causes: vec![cause],
                retry_after: Some(1),
                ..Details::default()
            });
            Err(Box::new(status))
        }
        _ => Ok(()),
    }
}

fn expired(error: &Error, query: &Query) -> Box<Status> {
    match error {
        Error::Expired { .. } if query.get("continue").is_empty() => {
            Box::new(Status::expired("The resourceVersion for the provided list is too old."))
        }
        Error::Expired { .. } => Box::new(Status::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.",
        )),
        other => failure(other),
    }
}

fn continue_token(revision: u64, key: &str, left: u64) -> String {
    URL_SAFE_NO_PAD.encode(json!({"v": "meta.k8s.io/v1", "rv": revision, "start": key, "left": left}).to_string())
}

fn read_token(token: &str) -> Result<Position> {
    let read = || {
        let bytes = URL_SAFE_NO_PAD.decode(token.trim_end_matches('=')).ok()?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        Some(Position {
            at: Some(value["rv"].as_u64()?),
            after: Some(value["start"].as_str()?.into()),
            left: value["left"].as_u64().unwrap_or_default(),
        })
    };
    read().ok_or_else(|| {
        Box::new(Status::bad_request(
            "invalid continue token: continue key is not valid: illegal base64 data or JSON",
        ))
    })
}
