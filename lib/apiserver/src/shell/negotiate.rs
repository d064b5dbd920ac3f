//! `Accept` and `Content-Type`: which form an answer takes and how a body is to be read.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};

use crate::status::{Details, Result, Status};
use crate::verb::Media;

/// How an answer is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) encoding: Encoding,
    pub(super) shape: Shape,
}

/// Text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Yaml,
}

/// What of the objects is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// Everything.
    Whole,
    /// `Table` of a version of meta.k8s.io.
    Table(String),
    /// `PartialObjectMetadata` and its list, of a version of meta.k8s.io.
    Metadata(String),
    /// Another kind that only some pages know, such as aggregated discovery.
    Other { kind: String, version: String },
}

/// One element of an `Accept` header.
struct Clause<'a> {
    media: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

/// Picks the form of the answer.
///
/// # Errors
/// 406 when nothing that is asked for can be written.
pub(super) fn form(headers: &HeaderMap) -> Result<Form> {
    let text = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect::<Vec<_>>()
        .join(",");
    if text.trim().is_empty() {
        return Ok(Form {
            encoding: Encoding::Json,
            shape: Shape::Whole,
        });
    }
    let mut clauses: Vec<Clause<'_>> = text.split(',').map(clause).collect();
    clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    clauses.iter().find_map(accepted).ok_or_else(|| {
        if !clauses.iter().any(|clause| WRITTEN.contains(&clause.media)) {
            let message = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
                           application/vnd.kubernetes.protobuf";
            let mut status = Status::new(406, "NotAcceptable", message);
            status.details = Some(Details::default());
            return Box::new(status);
        }
        Box::new(Status::new(
            406,
            "NotAcceptable",
            "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
        ))
    })
}

/// A refusal of forms where things can be watched: there are two more.
pub(super) fn streamed(mut status: Box<Status>) -> Box<Status> {
    if status.message.starts_with("406: ") {
        status.message += ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
    }
    status
}

/// Media types that the reference writes; for others it has other words than for shapes that it does not know.
const WRITTEN: [&str; 4] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "*/*",
];

fn clause(text: &str) -> Clause<'_> {
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
    let quality = parameters
        .iter()
        .find(|(name, _)| *name == "q")
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(1.0);
    Clause {
        media,
        parameters,
        quality,
    }
}

fn accepted(clause: &Clause<'_>) -> Option<Form> {
    let encoding = match clause.media {
        "application/json" | "*/*" => Encoding::Json,
        "application/yaml" => Encoding::Yaml,
        _ => return None,
    };
    let parameter = |name: &str| {
        clause
            .parameters
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| *value)
    };
    let version = parameter("v").unwrap_or_default().to_owned();
    let shape = match (parameter("as"), parameter("g")) {
        (None, _) => Shape::Whole,
        (Some("Table"), Some("meta.k8s.io")) if known(&version) => Shape::Table(version),
        (Some("PartialObjectMetadata" | "PartialObjectMetadataList"), Some("meta.k8s.io")) if known(&version) => {
            Shape::Metadata(version)
        }
        (Some(kind @ "APIGroupDiscoveryList"), Some("apidiscovery.k8s.io")) => Shape::Other {
            kind: kind.to_owned(),
            version,
        },
        _ => return None,
    };
    Some(Form { encoding, shape })
}

fn known(version: &str) -> bool {
    matches!(version, "v1" | "v1beta1")
}

/// How a body is written, by its `Content-Type`; none means JSON.
pub(super) fn media(headers: &HeaderMap) -> Media {
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Media::Json;
    };
    let Ok(text) = value.to_str() else {
        return Media::Unknown;
    };
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    if parts.any(|part| part.split_once('=').is_none_or(|(name, _)| name.is_empty())) {
        return Media::Unknown;
    }
    match media.to_ascii_lowercase().as_str() {
        "" | "application/json" => Media::Json,
        "application/yaml" => Media::Yaml,
        "application/vnd.kubernetes.protobuf" => Media::Protobuf,
        "application/json-patch+json" => Media::JsonPatch,
        "application/merge-patch+json" => Media::MergePatch,
        "application/strategic-merge-patch+json" => Media::StrategicPatch,
        "application/apply-patch+yaml" => Media::ApplyPatch,
        _ => Media::Unknown,
    }
}
