//! Differences between what a release wants and what is there: compares only fields that the
//! bundle sets, after both sides were brought into one form, and leaves out what the user said
//! is no difference. Pure. No false positive is more important than any finding.

use fleet_api::{ComparePatch, DiffOptions};
use regex::Regex;
use serde_json::Value;

use crate::normal;
use crate::object::{self, ObjectKey};
use crate::patch;

/// The merge patch that would make `live` right again, or `None` if it is right.
#[must_use]
pub fn difference(desired: &Value, live: &Value, options: Option<&DiffOptions>) -> Option<Value> {
    let (mut desired, mut live) = (desired.clone(), live.clone());
    let original = normal::last_applied(&live);
    normal::normalize(&mut desired, &mut live);
    let key = ObjectKey::of(&live);
    for patch in options
        .map(|options| options.compare_patches.as_slice())
        .unwrap_or_default()
    {
        ignore(patch, &key, &mut desired);
        ignore(patch, &key, &mut live);
    }
    // kubectl's memory of a field only counts once something else differs.
    let (plain, filled) = patch::predicted(&key, &desired, &live, None);
    patch::changes(&filled, &plain)?;
    let (predicted, live) = patch::predicted(&key, &desired, &live, original.as_ref());
    let mut change = patch::changes(&live, &predicted)?;
    normal::drop_bookkeeping(&mut change);
    normal::drop_injected(&desired, &live, &mut change);
    change.as_object().is_some_and(|map| !map.is_empty()).then_some(change)
}

fn glob(pattern: &str, text: &str) -> bool {
    let mut expression = String::from("^");
    for character in pattern.chars() {
        match character {
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            other => expression.push_str(&regex::escape(&other.to_string())),
        }
    }
    expression.push('$');
    Regex::new(&expression).is_ok_and(|expression| expression.is_match(text))
}

fn empty_or(wanted: &str, found: &str) -> bool {
    wanted.is_empty() || wanted == found
}

/// Takes out of one side what the user said is no difference.
fn ignore(patch: &ComparePatch, key: &ObjectKey, side: &mut Value) {
    let group = key.group_version().0;
    let wanted_group = object::split_api_version(&patch.api_version).0;
    if glob(wanted_group, group)
        && glob(&patch.kind, &key.kind)
        && empty_or(&patch.namespace, &key.namespace)
        && empty_or(&patch.name, &key.name)
    {
        for pointer in &patch.json_pointers {
            patch::remove_at(side, pointer);
        }
    }
    let exact = patch.api_version == key.api_version
        && patch.kind == key.kind
        && patch.namespace == key.namespace
        && patch.name == key.name;
    if !exact || patch.operations.iter().all(|operation| operation.op == "ignore") {
        return;
    }
    // One operation that fails takes the others of this object with it.
    let mut changed = side.clone();
    let all = patch
        .operations
        .iter()
        .filter(|operation| operation.op != "ignore")
        .all(|operation| patch::operate(&mut changed, &operation.op, &operation.path, &operation.value));
    if all {
        *side = changed;
    }
}

/// Whether the absence of an object is no difference.
#[must_use]
pub fn absence_is_ignored(key: &ObjectKey, options: Option<&DiffOptions>) -> bool {
    options
        .map(|options| options.compare_patches.as_slice())
        .unwrap_or_default()
        .iter()
        .any(|patch| {
            patch.operations.iter().any(|operation| operation.op == "ignore")
                && patch.api_version == key.api_version
                && patch.kind == key.kind
                && patch.namespace == key.namespace
                && (patch.name.is_empty()
                    || patch.name == key.name
                    || Regex::new(&patch.name).is_ok_and(|expression| expression.is_match(&key.name)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_api::Operation;
    use serde_json::json;

    fn map(data: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "data": data})
    }

    #[test]
    fn only_fields_of_the_bundle_count() {
        let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n", "uid": "u",
            "labels": {"foreign": "1"}}, "data": {"k": "changed", "more": "1"}});
        assert_eq!(
            difference(&map(&json!({"k": "v"})), &live, None),
            Some(json!({"data": {"k": "v"}}))
        );
        assert_eq!(difference(&map(&json!({"k": "changed"})), &live, None), None);
    }

    #[test]
    fn what_the_user_ignores_is_no_difference() {
        let live = map(&json!({"k": "changed"}));
        let pointer = DiffOptions {
            compare_patches: vec![ComparePatch {
                api_version: "v1".into(),
                kind: "Config*".into(),
                json_pointers: vec!["/data/k".into(), "/nothing/there".into()],
                ..ComparePatch::default()
            }],
        };
        assert_eq!(difference(&map(&json!({"k": "v"})), &live, Some(&pointer)), None);
        let mut operation = ComparePatch {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            name: "a".into(),
            namespace: "n".into(),
            operations: vec![Operation {
                op: "remove".into(),
                path: "/data/k".into(),
                value: String::new(),
            }],
            ..ComparePatch::default()
        };
        let options = |patch: &ComparePatch| DiffOptions {
            compare_patches: vec![patch.clone()],
        };
        assert_eq!(
            difference(&map(&json!({"k": "v"})), &live, Some(&options(&operation))),
            None
        );
        operation.namespace = String::new();
        assert!(difference(&map(&json!({"k": "v"})), &live, Some(&options(&operation))).is_some());
    }

    #[test]
    fn absence_is_ignored_by_name_or_pattern() {
        let mut patch = ComparePatch {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            namespace: "n".into(),
            name: "^a.$".into(),
            operations: vec![Operation {
                op: "ignore".into(),
                ..Operation::default()
            }],
            ..ComparePatch::default()
        };
        let key = ObjectKey {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            namespace: "n".into(),
            name: "ab".into(),
        };
        let ignored = |patch: &ComparePatch| {
            absence_is_ignored(
                &key,
                Some(&DiffOptions {
                    compare_patches: vec![patch.clone()],
                }),
            )
        };
        assert!(ignored(&patch));
        patch.name = "[".into();
        assert!(!ignored(&patch));
    }
}
