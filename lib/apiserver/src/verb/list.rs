//! GET of one object and of collections: versions, pages, selectors.

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

/// Which state of the world a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Now,
    At(u64),
}

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
    let (when, after) = position(cluster, request)?;
    let limit = request
        .query
        .number("limit")
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or_default();
    let scope = selection.scope(&request.namespace);
    let mut list = List {
        resource: std::sync::Arc::clone(&request.resource),
        entries: Vec::new(),
        revision: cluster.store.revision(),
        next: String::new(),
        remaining: None,
    };
    let mut scan = Scan {
        scope: &scope,
        at: None,
        limit,
        after: None,
    };
    if let When::At(revision) = when {
        list.revision = revision;
        scan.at = (revision != cluster.store.revision()).then_some(revision);
    }
    let mut behind = after;
    loop {
        if limit > 0 && !selection.is_everything() {
            scan.limit = CHUNK.max(limit);
        }
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
        let remaining = page.remaining;
        let mut last = None;
        for (key, entry) in page.entries {
            if limit > 0 && list.entries.len() == limit {
                let token = behind.as_deref().unwrap_or_default();
                list.next = continue_token(list.revision, token);
                return Ok(Answer::new(200, Content::List(list)));
            }
            if selection.matches(&entry) {
                list.entries.push(entry);
                behind = Some(key.to_string());
            }
            last = Some(key);
        }
        if !more {
            break;
        }
        if limit > 0 && list.entries.len() >= limit && selection.is_everything() {
            list.next = continue_token(list.revision, behind.as_deref().unwrap_or_default());
            list.remaining = (!selection::given(&request.query)).then_some(remaining);
            break;
        }
        behind = last.map(|key| key.to_string());
    }
    Ok(Answer::new(200, Content::List(list)))
}

/// Where a list starts and which state it shows.
fn position(cluster: &Cluster, request: &Request) -> Result<(When, Option<String>)> {
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
        let (revision, key) = read_token(token)?;
        return Ok((When::At(revision), Some(key)));
    }
    let version = version(request)?;
    not_from_the_future(cluster, version)?;
    Ok(match version {
        Some(revision) if revision > 0 && matching == "Exact" => (When::At(revision), None),
        _ => (When::Now, None),
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

fn continue_token(revision: u64, key: &str) -> String {
    URL_SAFE_NO_PAD.encode(json!({"v": "meta.k8s.io/v1", "rv": revision, "start": key}).to_string())
}

fn read_token(token: &str) -> Result<(u64, String)> {
    let read = || {
        let bytes = URL_SAFE_NO_PAD.decode(token.trim_end_matches('=')).ok()?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        Some((value["rv"].as_u64()?, value["start"].as_str()?.to_owned()))
    };
    read().ok_or_else(|| {
        Box::new(Status::bad_request(
            "continue key is not valid: illegal base64 data or JSON",
        ))
    })
}
