//! Small questions about an object's metadata that several verbs ask.

use serde_json::Value;

use crate::object::text;

/// Names in `metadata.finalizers`.
pub(super) fn finalizers(object: &Value) -> Vec<&str> {
    object["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Whether deletion has begun.
pub(super) fn terminating(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// Whether nothing holds an object whose deletion has begun any more.
pub(super) fn may_vanish(object: &Value) -> bool {
    let grace = object["metadata"]["deletionGracePeriodSeconds"]
        .as_i64()
        .unwrap_or_default();
    let held = object["kind"] == "Namespace"
        && object["spec"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
    terminating(object) && finalizers(object).is_empty() && grace == 0 && !held
}
