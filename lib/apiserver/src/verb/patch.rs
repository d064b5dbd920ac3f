//! JSON, merge and strategic patches as changes of the live object.

use serde_json::Value;

use super::{Media, Request};
use crate::status::{Result, Status};

/// A patch that was read once and may be applied to several states of the object.
pub(super) fn read(request: &Request) -> Result<Value> {
    serde_json::from_slice(&request.body)
        .map_err(|error| Box::new(Status::bad_request(format!("error decoding patch: {error}"))))
}

/// The live object after a patch.
pub(super) fn patched(request: &Request, live: &Value, patch: &Value) -> Result<Value> {
    match request.media {
        Media::MergePatch | Media::StrategicPatch => {
            let mut object = live.clone();
            merge(&mut object, patch);
            Ok(object)
        }
        _ => Err(Box::new(Status::new(
            415,
            "UnsupportedMediaType",
            "415: Unsupported Media Type",
        ))),
    }
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    if let Some(fields) = target.as_object_mut() {
        for (name, value) in patch {
            if value.is_null() {
                fields.remove(name);
            } else {
                merge(fields.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
    }
}
