//! Events have two faces, `v1` and `events.k8s.io/v1`: one stored form, two sets of field names.
//!
//! Stored is the `v1` form. Mirrors upstream's conversion between the two versions.

use serde_json::{Map, Value};

use crate::registry::Resource;

/// Field names of `v1` and of `events.k8s.io/v1`.
const NAMES: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Whether the resource is the newer face.
pub(crate) fn is_newer(resource: &Resource) -> bool {
    resource.is("events.k8s.io", "events")
}

/// Renames the fields of a stored event as the newer face shows them.
pub(crate) fn to_newer(event: &mut Value) {
    rename(event, |(old, new)| (*old, *new));
    if let Some(fields) = event.as_object_mut() {
        fields.retain(|name, value| {
            !matches!(name.as_str(), "reportingController" | "reportingInstance") || *value != ""
        });
    }
}

/// Renames the fields of an event of the newer face as they are stored.
pub(crate) fn to_stored(event: &mut Value) {
    rename(event, |(old, new)| (*new, *old));
}

fn rename(event: &mut Value, names: impl Fn(&(&'static str, &'static str)) -> (&'static str, &'static str)) {
    let Some(fields) = event.as_object_mut() else { return };
    let moved: Map<String, Value> = NAMES
        .iter()
        .map(names)
        .filter_map(|(from, to)| fields.remove(from).map(|value| (to.to_owned(), value)))
        .collect();
    fields.extend(moved);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn there_and_back_is_the_same() {
        let stored = json!({"involvedObject": {"name": "p"}, "message": "m", "count": 3, "reason": "r"});
        let mut event = stored.clone();
        to_newer(&mut event);
        assert_eq!(
            event,
            json!({"regarding": {"name": "p"}, "note": "m", "deprecatedCount": 3, "reason": "r"})
        );
        to_stored(&mut event);
        assert_eq!(event, stored);
    }
}
