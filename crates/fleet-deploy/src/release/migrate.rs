//! Fields that a predecessor of this agent owns are taken over, so that they go when a release
//! drops them. Server-side apply removes a field only if nobody else owns it; `helm`, `kubectl`
//! and an agent that patched client-side leave entries in `managedFields` that would keep it for
//! ever. Moves exactly what the release had and no longer wants into this agent's entry; what
//! such a manager set besides (a key that a user added) stays that manager's. Mirrors Helm's
//! migration of client-side field managers, for every manager a release may have been made by.

use serde_json::{Map, Value, json};

use crate::cluster::{Cluster, FIELD_MANAGER, PatchKind};
use crate::release::Error;
use crate::release::item::Item;

type Fields = Map<String, Value>;

/// Managers that wrote for a release before; this agent's own entry of applied fields is none.
fn is_predecessor(entry: &Value) -> bool {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    if !text("subresource").is_empty() {
        return false;
    }
    match text("manager") {
        "helm" | "kubectl-client-side-apply" => true,
        FIELD_MANAGER => text("operation") == "Update",
        _ => false,
    }
}

fn is_ours(entry: &Value) -> bool {
    entry["manager"] == FIELD_MANAGER
        && entry["operation"] == "Apply"
        && entry["subresource"].as_str().unwrap_or_default().is_empty()
}

/// Takes over what `previous` had, `item` no longer wants and a predecessor still holds, and
/// applies again so that it goes. The object after that; `None` if there was nothing to take.
pub(super) async fn take_over(
    cluster: &Cluster,
    item: &Item,
    previous: &Value,
    live: &Value,
) -> Result<Option<Value>, Error> {
    let Some(entries) = moved(live, previous, &item.object) else {
        return Ok(None);
    };
    let failed = |source| Error::Migrate(Box::new(item.key.clone()), source);
    let patch = json!({"metadata": {
        "managedFields": entries,
        // Somebody else's write in between must not lose its entry.
        "resourceVersion": live["metadata"]["resourceVersion"],
    }});
    cluster
        .patch(&item.key, PatchKind::Merge, &patch)
        .await
        .map_err(failed)?;
    cluster.apply(&item.object).await.map(Some).map_err(failed)
}

/// The entries as they have to be; `None` if they are so already.
fn moved(live: &Value, previous: &Value, desired: &Value) -> Option<Vec<Value>> {
    let entries = live["metadata"]["managedFields"].as_array()?;
    let ours = entries.iter().position(is_ours)?;
    let mut result = entries.clone();
    let mut taken = Fields::new();
    for entry in result.iter_mut().filter(|entry| is_predecessor(entry)) {
        let Some(Value::Object(fields)) = entry.get_mut("fieldsV1") else {
            continue;
        };
        merge(&mut taken, take(fields, previous, Some(desired)));
    }
    if taken.is_empty() {
        return None;
    }
    if let Some(Value::Object(fields)) = result.get_mut(ours).and_then(|entry| entry.get_mut("fieldsV1")) {
        merge(fields, taken);
    }
    result.retain(|entry| !entry["fieldsV1"].as_object().is_some_and(Map::is_empty));
    Some(result)
}

/// Removes from `fields` what is in `previous` and not in `desired`, and returns it.
fn take(fields: &mut Fields, previous: &Value, desired: Option<&Value>) -> Fields {
    let mut taken = Fields::new();
    let steps: Vec<String> = fields.keys().filter(|step| *step != ".").cloned().collect();
    for step in steps {
        let Some(before) = child(previous, &step) else {
            continue;
        };
        let Some(now) = desired.and_then(|desired| child(desired, &step)) else {
            if let Some(all) = fields.remove(&step) {
                taken.insert(step, all);
            }
            continue;
        };
        if let Some(Value::Object(deeper)) = fields.get_mut(&step) {
            let part = take(deeper, before, Some(now));
            if deeper.is_empty() && !part.is_empty() {
                fields.remove(&step);
            }
            if !part.is_empty() {
                taken.insert(step, Value::Object(part));
            }
        }
    }
    taken
}

/// What a step of a field path leads to: `f:` a field, `k:` the item with these keys, `v:` the
/// item with this value.
fn child<'a>(value: &'a Value, step: &str) -> Option<&'a Value> {
    let (kind, rest) = step.split_once(':')?;
    match kind {
        "f" => value.get(rest),
        "k" => {
            let keys: Fields = serde_json::from_str(rest).ok()?;
            // A key that the manifest leaves out was filled in by the server.
            let fits = |item: &&Value| {
                keys.iter()
                    .all(|(key, wanted)| item.get(key).is_none_or(|found| found == wanted))
                    && keys.keys().any(|key| item.get(key).is_some())
            };
            value.as_array()?.iter().find(fits)
        }
        "v" => {
            let wanted: Value = serde_json::from_str(rest).ok()?;
            value.as_array()?.iter().find(|item| **item == wanted)
        }
        _ => None,
    }
}

fn merge(into: &mut Fields, from: Fields) {
    for (step, value) in from {
        match (into.get_mut(&step), value) {
            (Some(Value::Object(there)), Value::Object(more)) => merge(there, more),
            (Some(_), _) => {}
            (None, value) => {
                into.insert(step, value);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "fixtures read better by value")]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "fieldsV1": fields})
    }

    fn live(entries: Vec<Value>) -> Value {
        json!({"metadata": {"managedFields": entries}})
    }

    #[test]
    fn a_dropped_field_is_taken_from_who_made_the_release() {
        let live = live(vec![
            entry("helm", "Apply", json!({"f:data": {"f:k": {}, "f:old": {}}})),
            entry("fleetagent", "Apply", json!({"f:data": {"f:k": {}}})),
        ]);
        let entries = moved(
            &live,
            &json!({"data": {"k": "1", "old": "1"}}),
            &json!({"data": {"k": "2"}}),
        )
        .unwrap();
        assert_eq!(entries[0]["fieldsV1"], json!({"f:data": {"f:k": {}}}));
        assert_eq!(entries[1]["fieldsV1"], json!({"f:data": {"f:k": {}, "f:old": {}}}));
    }

    #[test]
    fn what_the_release_never_had_stays_with_its_manager() {
        let live = live(vec![
            entry(
                "kubectl-client-side-apply",
                "Update",
                json!({"f:data": {".": {}, "f:mine": {}}}),
            ),
            entry("kube-controller-manager", "Update", json!({"f:data": {"f:old": {}}})),
            entry("fleetagent", "Apply", json!({"f:data": {"f:k": {}}})),
        ]);
        let previous = json!({"data": {"k": "1", "old": "1"}});
        assert_eq!(moved(&live, &previous, &json!({"data": {"k": "1"}})), None);
    }

    #[test]
    fn items_of_lists_are_found_by_their_keys_and_an_emptied_entry_goes() {
        let ports = json!({"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}});
        let live = live(vec![
            entry("helm", "Update", ports.clone()),
            entry("fleetagent", "Apply", json!({"f:spec": {}})),
        ]);
        let previous = json!({"spec": {"ports": [{"port": 443}, {"port": 80}]}});
        let desired = json!({"spec": {"ports": [{"port": 443}]}});
        let entries = moved(&live, &previous, &desired).unwrap();
        assert_eq!(entries, [entry("fleetagent", "Apply", ports)]);
    }

    #[test]
    fn finalizers_are_found_by_value() {
        let live = live(vec![
            entry(
                "fleetagent",
                "Update",
                json!({"f:metadata": {"f:finalizers": {"v:\"a/b\"": {}, "v:\"c/d\"": {}}}}),
            ),
            entry("fleetagent", "Apply", json!({})),
        ]);
        let previous = json!({"metadata": {"finalizers": ["a/b"]}});
        let entries = moved(&live, &previous, &json!({"metadata": {"finalizers": []}})).unwrap();
        assert_eq!(
            entries[0]["fieldsV1"],
            json!({"f:metadata": {"f:finalizers": {"v:\"c/d\"": {}}}})
        );
    }
}
