//! Fields of a live object that are as this agent wrote them. Whoever changes a field through
//! the API takes it over, so a field that the agent still owns was changed by nobody: where it
//! reads differently, the server brought it into its own form, or an admission webhook changed
//! the agent's own write. Neither is drift. Must never call a field ours that somebody else may
//! have written.

use kubeschema::schema::{ListKind, Type};
use kubeschema::smd::{self, Operation, Set};
use serde_json::Value;

use super::list;
use crate::cluster::FIELD_MANAGER;
use crate::object;

/// What an object's managed fields say.
#[derive(Debug, Default)]
pub(super) struct Owned {
    /// Paths this agent owns.
    fields: Set,
    /// Paths anybody owns: they show how lists of unknown kinds are made up.
    pub(super) shape: Set,
    /// Whether the agent owned every field it sets when it wrote last: only a server-side apply
    /// makes it so.
    pub(super) applied: bool,
}

impl Owned {
    /// Reads the managed fields. Entries in another version's spelling, or malformed ones, tell
    /// nothing.
    pub(super) fn of(live: &Value) -> Self {
        let version = object::api_version(live);
        let mut owned = Self::default();
        for entry in smd::read_entries(live).unwrap_or_default() {
            if entry.api_version != version {
                continue;
            }
            owned.shape = owned.shape.union(&entry.set);
            if entry.manager == FIELD_MANAGER && entry.subresource.is_empty() {
                owned.fields = owned.fields.union(&entry.set);
                owned.applied |= entry.operation == Operation::Apply;
            }
        }
        owned
    }

    /// Puts the live values of owned fields in place of the wanted ones.
    pub(super) fn adopt(&self, schema: &Type, wanted: &mut Value, live: &Value) {
        adopt(&self.fields, Some(&self.shape), schema, wanted, live);
    }
}

fn adopt(owned: &Set, shape: Option<&Set>, schema: &Type, wanted: &mut Value, live: &Value) {
    match (wanted, live) {
        (Value::Object(map), Value::Object(there)) => {
            for (element, member, below) in owned.elements() {
                let Some(key) = element.strip_prefix("f:") else {
                    continue;
                };
                let Some(slot) = map.get_mut(key) else { continue };
                let deeper = shape.and_then(|shape| child(shape, element));
                let inner = schema.child(key).unwrap_or(&Type::Any);
                match there.get(key) {
                    Some(now) if member && below.is_empty() && is_one(inner, deeper, slot, now) => {
                        slot.clone_from(now);
                    }
                    Some(now) => adopt(below, deeper, inner, slot, now),
                    // Taken away by the server itself: a removal by others would have taken the path too.
                    None if member && is_plain(slot) => {
                        map.remove(key);
                    }
                    None => {}
                }
            }
        }
        (Value::Array(items), Value::Array(there)) => {
            let item_type = schema.item().unwrap_or(&Type::Any);
            for (element, _, below) in owned.elements() {
                let Some(keys) = list::keys(element) else { continue };
                let named = |item: &&mut Value| is_named(&keys, item_type, item);
                let found = there.iter().find(|item| is_named(&keys, item_type, item));
                if let (Some(item), Some(now)) = (items.iter_mut().find(named), found) {
                    let deeper = shape.and_then(|shape| child(shape, element));
                    adopt(below, deeper, item_type, item, now);
                }
            }
        }
        _ => {}
    }
}

fn is_named(keys: &serde_json::Map<String, Value>, item_type: &Type, item: &Value) -> bool {
    list::same(
        keys.keys(),
        item_type,
        |key| keys.get(key).cloned(),
        |key| item.get(key).cloned(),
    )
}

fn child<'a>(set: &'a Set, element: &str) -> Option<&'a Set> {
    set.elements()
        .find(|(known, ..)| *known == element)
        .map(|(_, _, below)| below)
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array() || is_empty(value)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Whether owning this path means owning the whole value. A map whose keys others took over one
/// by one also leaves nothing but its own path.
fn is_one(schema: &Type, shape: Option<&Set>, wanted: &Value, live: &Value) -> bool {
    if is_plain(wanted) {
        return true;
    }
    match schema.resolve() {
        Type::Object(object) => object.atomic,
        Type::List(list) => list.kind == ListKind::Atomic,
        Type::Scalar(_) => true,
        _ => shape.is_none_or(Set::is_empty) && !is_empty(live),
    }
}

#[cfg(test)]
mod tests {
    use kubeschema::kinds;
    use serde_json::json;

    use super::*;

    fn live(object: &Value, fields: &Value) -> Value {
        let mut live = object.clone();
        live["metadata"]["managedFields"] = json!([{"manager": "fleetagent", "operation": "Apply", "fieldsType": "FieldsV1",
            "apiVersion": object["apiVersion"], "fieldsV1": fields}]);
        live
    }

    fn adopted(wanted: &Value, live: &Value) -> Value {
        let mut wanted = wanted.clone();
        let schema = kinds::schema_of(object::api_version(live), object::kind(live)).unwrap_or(&Type::Any);
        Owned::of(live).adopt(schema, &mut wanted, live);
        wanted
    }

    fn map(data: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": data})
    }

    #[test]
    fn owned_values_are_adopted_and_others_are_not() {
        let live = live(
            &map(&json!({"a": "rewritten", "b": "foreign"})),
            &json!({"f:data": {"f:a": {}}}),
        );
        let wanted = adopted(&map(&json!({"a": "1", "b": "2"})), &live);
        assert_eq!(wanted["data"], json!({"a": "rewritten", "b": "2"}));
    }

    #[test]
    fn a_map_whose_keys_were_taken_is_not_owned() {
        let live = live(&map(&json!({"a": "foreign"})), &json!({"f:data": {}}));
        assert_eq!(adopted(&map(&json!({"a": "1"})), &live)["data"], json!({"a": "1"}));
        let thing = |spec: Value| json!({"apiVersion": "a.b/v1", "kind": "Thing", "metadata": {}, "spec": spec});
        let mut other = super::tests::live(&thing(json!({"a": 2})), &json!({"f:spec": {}}));
        other["metadata"]["managedFields"].as_array_mut().unwrap().push(
            json!({"manager": "o", "operation": "Update", "fieldsType": "FieldsV1", "apiVersion": "a.b/v1",
                "fieldsV1": {"f:spec": {"f:a": {}}}}),
        );
        assert_eq!(adopted(&thing(json!({"a": 1})), &other)["spec"], json!({"a": 1}));
    }

    #[test]
    fn items_are_found_by_their_keys_and_whole_lists_as_one() {
        let service =
            |ports: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": {"ports": ports}});
        let seen = live(
            &service(
                json!([{"port": 1, "name": "foreign", "protocol": "TCP"}, {"port": 2, "protocol": "TCP", "targetPort": 9}]),
            ),
            &json!({"f:spec": {"f:ports": {"k:{\"port\":2,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:targetPort": {}}}}}),
        );
        let wanted = adopted(
            &service(json!([{"port": 2, "targetPort": "x"}, {"port": 1, "name": "a"}])),
            &seen,
        );
        assert_eq!(
            wanted["spec"]["ports"],
            json!([{"port": 2, "targetPort": 9}, {"port": 1, "name": "a"}])
        );
        let thing =
            |list: Value| json!({"apiVersion": "a.b/v1", "kind": "Thing", "metadata": {}, "spec": {"list": list}});
        let seen = live(&thing(json!([{"x": 1, "y": 2}])), &json!({"f:spec": {"f:list": {}}}));
        assert_eq!(
            adopted(&thing(json!([{"x": 1}])), &seen)["spec"]["list"],
            json!([{"x": 1, "y": 2}])
        );
    }

    #[test]
    fn fields_in_another_versions_spelling_tell_nothing() {
        let mut seen = live(&map(&json!({"a": "2"})), &json!({"f:data": {"f:a": {}}}));
        seen["metadata"]["managedFields"][0]["apiVersion"] = "v0".into();
        assert_eq!(adopted(&map(&json!({"a": "1"})), &seen)["data"]["a"], "1");
        assert!(!Owned::of(&seen).applied);
    }
}
