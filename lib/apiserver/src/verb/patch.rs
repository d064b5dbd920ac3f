//! JSON, merge and strategic patches as changes of the live object.

use kubeschema::{kinds, patch};
use serde_json::Value;

use super::{Media, Request};
use crate::registry::Resource;
use crate::status::{Cause, Details, Result, Status};

/// Refuses patches of a type that the resource does not take.
///
/// # Errors
/// 415 with the text that makes clients choose another type.
pub(super) fn check_media(request: &Request) -> Result<()> {
    let custom = request.resource.custom.is_some();
    match request.media {
        Media::JsonPatch | Media::MergePatch | Media::ApplyPatch => Ok(()),
        Media::StrategicPatch if !custom => Ok(()),
        _ if custom => {
            let message = "the body of the request was in an unknown format - accepted media types include: \
                           application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
            Err(Box::new(Status::new(415, "UnsupportedMediaType", message)))
        }
        _ => {
            let mut status = Status::new(415, "UnsupportedMediaType", "415: Unsupported Media Type");
            status.details = Some(Details::default());
            Err(Box::new(status))
        }
    }
}

/// A patch that was read once and may be applied to several states of the object.
///
/// # Errors
/// 400 for text that is no JSON.
pub(super) fn read(request: &Request) -> Result<Value> {
    serde_json::from_slice(&request.body)
        .map_err(|error| Box::new(Status::bad_request(format!("error decoding patch: {error}"))))
}

/// The live object after a patch.
///
/// # Errors
/// 400 or 422 for patches that do not fit the object.
pub(super) fn patched(request: &Request, live: &Value, patch: &Value) -> Result<Value> {
    let mut object = live.clone();
    match request.media {
        Media::JsonPatch => patch::json::apply(&mut object, patch).map_err(|error| refused(&error))?,
        Media::MergePatch => {
            if !patch.is_object() {
                return Err(Box::new(Status::bad_request(
                    "error decoding patch: a merge patch must be an object",
                )));
            }
            patch::merge::apply(&mut object, patch);
        }
        Media::StrategicPatch => {
            patch::strategic::apply(schema(&request.resource, request), &mut object, patch)
                .map_err(|error| refused(&error))?;
        }
        _ => {
            return Err(Box::new(Status::new(
                415,
                "UnsupportedMediaType",
                "415: Unsupported Media Type",
            )));
        }
    }
    Ok(object)
}

fn schema(resource: &Resource, request: &Request) -> &'static kubeschema::schema::Type {
    let found = if request.subresource == "scale" {
        kinds::schema("autoscaling", "v1", "Scale")
    } else {
        kinds::schema(&resource.group, &resource.version, &resource.kind)
    };
    found.unwrap_or_else(|| kubeschema::schema::Type::any())
}

/// A patch that cannot be applied.
fn refused(error: &patch::Error) -> Box<Status> {
    match error {
        patch::Error::Malformed(text) => Box::new(Status::bad_request(text.as_str())),
        patch::Error::Internal(text) => Box::new(Status::new(500, "", text.as_str())),
        patch::Error::Unprocessable(_) => {
            let mut status = Status::new(
                422,
                "Invalid",
                "the server rejected our request due to an error in our request",
            );
            status.details = Some(Details::default());
            Box::new(status)
        }
    }
}

/// The refusal of a patch whose result cannot be read: the patch is to blame, not the body's form.
pub(super) fn unreadable(why: &Status) -> Box<Status> {
    let why = why
        .message
        .split_once(": ")
        .map_or(why.message.as_str(), |(_, why)| why);
    let message = format!("Invalid value: {why}");
    let mut status = Status::invalid(
        "",
        "",
        "",
        vec![Cause::new("FieldValueInvalid", "patch", message.as_str())],
    );
    status.message = format!(" \"\" is invalid: patch: {message}");
    Box::new(status)
}

/// Refuses a result that became something else.
pub(super) fn check_result(request: &Request, object: &Value) -> Result<()> {
    let same = object["kind"] == request.resource.kind.as_str()
        && object["apiVersion"] == request.resource.api_version().as_str();
    if same || request.subresource == "scale" {
        return Ok(());
    }
    let message = "Invalid value: the patch changes the kind of the object: unknown conversion";
    let mut status = Status::invalid("", "", "", vec![Cause::new("FieldValueInvalid", "patch", message)]);
    status.message = format!(" \"\" is invalid: patch: {message}");
    Err(Box::new(status))
}
