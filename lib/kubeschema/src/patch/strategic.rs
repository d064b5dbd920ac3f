//! Strategic merge patch, applied: a partial object whose lists join by the merge keys of the object's type.

use serde_json::{Map, Value};

use super::order::{arrange, same};
use super::{Error, go_text};
use crate::schema::{Field, Type};

pub(super) const DIRECTIVE: &str = "$patch";
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const ORDER: &str = "$setElementOrder/";
pub(super) const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Applies a patch to an object of the given type, in place. The object is unspecified after an error.
///
/// # Errors
/// For malformed directives, items without their merge key, and patches that are no objects.
pub fn apply(schema: &Type, document: &mut Value, patch: &Value) -> Result<(), Error> {
    let (Value::Object(map), Value::Object(changes)) = (document, patch) else {
        return Err(Error::Malformed("invalid JSON document".to_owned()));
    };
    merge_map(schema, map, changes)
}

/// How a field's list merges: `None` if it is replaced.
pub(super) fn merging(field: Option<&Field>) -> Option<Option<&str>> {
    let strategy = &field?.strategy;
    strategy.merge.then_some(strategy.merge_key.as_deref())
}

fn merge_map(schema: &Type, map: &mut Map<String, Value>, patch: &Map<String, Value>) -> Result<(), Error> {
    let mut patch = patch.clone();
    if let Some(directive) = patch.remove(DIRECTIVE) {
        match directive.as_str() {
            Some("replace") => {
                *map = patch;
                return Ok(());
            }
            Some("delete") => {
                map.clear();
                return Ok(());
            }
            Some("merge") => {}
            _ => {
                return Err(Error::Internal(format!(
                    "unknown patch type: {} in map: {}",
                    go_text(&directive),
                    go_text(&Value::Object(patch))
                )));
            }
        }
    }
    retain(map, &mut patch)?;
    order(schema, map, &mut patch)?;
    for (key, change) in patch {
        if let Some(name) = key.strip_prefix(DELETE_FROM) {
            let Value::Array(gone) = change else {
                return Err(Error::Malformed("invalid patch format of primitive list".to_owned()));
            };
            if let Some(Value::Array(items)) = map.get_mut(name) {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if change.is_null() {
            map.remove(&key);
            continue;
        }
        let field = schema.field(&key);
        match (map.get_mut(&key), change) {
            (Some(Value::Object(inner)), Value::Object(changes)) => {
                merge_map(schema.child(&key).unwrap_or(&Type::Any), inner, &changes)?;
            }
            (Some(Value::Array(items)), Value::Array(changes)) => match merging(field) {
                Some(merge_key) => {
                    let item = schema.child(&key).and_then(Type::item).unwrap_or(&Type::Any);
                    let before = items.clone();
                    let (merged, wanted) = merge_list(item, std::mem::take(items), changes, merge_key)?;
                    *items = arrange(merged, &wanted, &before, merge_key);
                }
                None => *items = changes,
            },
            (_, change) => {
                map.insert(key, plain(change)?);
            }
        }
    }
    Ok(())
}

/// `$retainKeys`: everything the list does not name goes.
fn retain(map: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Result<(), Error> {
    let Some(kept) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let Value::Array(kept) = kept else {
        return Err(Error::Malformed("invalid patch format of retainKeys".to_owned()));
    };
    let named = |key: &str| kept.iter().any(|name| name.as_str() == Some(key));
    for (key, change) in patch.iter() {
        let field = key
            .strip_prefix(ORDER)
            .or_else(|| key.strip_prefix(DELETE_FROM))
            .unwrap_or(key);
        if !named(field) && !change.is_null() {
            return Err(Error::Unprocessable(
                "patch content doesn't match retainKeys list".to_owned(),
            ));
        }
    }
    map.retain(|key, _| named(key));
    Ok(())
}

/// `$setElementOrder/…`: merges the list of the same name and puts it in the order given.
fn order(schema: &Type, map: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Result<(), Error> {
    let malformed = || Error::Malformed("invalid patch format of setElementOrder list".to_owned());
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for directive in directives {
        let Some(Value::Array(order)) = patch.remove(&directive) else {
            return Err(malformed());
        };
        let name = directive.trim_start_matches(ORDER);
        let merge_key = merging(schema.field(name)).flatten();
        let changes = match patch.remove(name) {
            None => None,
            Some(Value::Array(changes)) => Some(changes),
            Some(Value::Null) => {
                map.remove(name);
                continue;
            }
            Some(_) => return Err(malformed()),
        };
        in_order(changes.as_deref().unwrap_or_default(), &order, merge_key)?;
        let before = match map.get(name) {
            Some(Value::Array(items)) => items.clone(),
            None if changes.is_none() => continue,
            _ => Vec::new(),
        };
        let mut merged = before.clone();
        if let Some(gone) = patch.remove(&format!("{DELETE_FROM}{name}")) {
            let Value::Array(gone) = gone else {
                return Err(Error::Malformed("invalid patch format of primitive list".to_owned()));
            };
            merged.retain(|item| !gone.contains(item));
        }
        if let Some(changes) = changes {
            let item = schema.child(name).and_then(Type::item).unwrap_or(&Type::Any);
            merged = merge_list(item, merged, changes, merge_key)?.0;
        }
        map.insert(
            name.to_owned(),
            Value::Array(arrange(merged, &order, &before, merge_key)),
        );
    }
    Ok(())
}

/// A patch's list must not contradict the order it asks for.
fn in_order(changes: &[Value], order: &[Value], key: Option<&str>) -> Result<(), Error> {
    let mut from = 0;
    for change in changes.iter().filter(|change| change.get(DIRECTIVE).is_none()) {
        match order[from..].iter().position(|item| same(item, change, key)) {
            Some(found) => from += found + 1,
            None => {
                return Err(Error::Internal(format!(
                    "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                    go_text(&Value::Array(changes.to_vec())),
                    go_text(&Value::Array(order.to_vec()))
                )));
            }
        }
    }
    Ok(())
}

/// The merged items, unordered, and the patch's items without those that only carry directives.
fn merge_list(
    item_type: &Type,
    mut items: Vec<Value>,
    changes: Vec<Value>,
    key: Option<&str>,
) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let Some(key) = key else {
        for change in &changes {
            if change.is_object() {
                return Err(Error::Internal("cannot merge lists without merge key".to_owned()));
            }
            if !items.contains(change) {
                items.push(change.clone());
            }
        }
        return Ok((items, changes));
    };
    let mut wanted = Vec::new();
    let mut replace = false;
    for change in changes {
        let Some(directive) = change.get(DIRECTIVE) else {
            wanted.push(change);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                identity(&change, key)?;
                items.retain(|item| !same(item, &change, Some(key)));
            }
            Some("replace") => replace = true,
            Some("merge") => {
                return Err(Error::Internal(
                    "merging lists cannot yet be specified in the patch".to_owned(),
                ));
            }
            _ => {
                return Err(Error::Internal(format!(
                    "unknown patch type: {} in map: {}",
                    go_text(directive),
                    go_text(&change)
                )));
            }
        }
    }
    if replace {
        return Ok((wanted.clone(), wanted));
    }
    for change in &wanted {
        identity(change, key)?;
        match (items.iter_mut().find(|item| same(item, change, Some(key))), change) {
            (Some(Value::Object(item)), Value::Object(changes)) => merge_map(item_type, item, changes)?,
            _ => items.push(plain(change.clone())?),
        }
    }
    Ok((items, wanted))
}

fn identity(change: &Value, key: &str) -> Result<(), Error> {
    if change.get(key).is_some() {
        return Ok(());
    }
    Err(Error::Internal(format!(
        "map: {} does not contain declared merge key: {key}",
        go_text(change)
    )))
}

/// A patch's value as it stands where there was nothing: without nulls and directives.
fn plain(value: Value) -> Result<Value, Error> {
    Ok(match value {
        Value::Object(map) => {
            let mut kept = Map::new();
            if map.get(DIRECTIVE).and_then(Value::as_str) == Some("delete") {
                return Ok(Value::Object(kept));
            }
            for (key, value) in map {
                let directive =
                    key == DIRECTIVE || key == RETAIN_KEYS || key.starts_with(ORDER) || key.starts_with(DELETE_FROM);
                if !directive && !value.is_null() {
                    kept.insert(key, plain(value)?);
                }
            }
            Value::Object(kept)
        }
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .filter(|item| item.get(DIRECTIVE).and_then(Value::as_str) != Some("delete"))
                .filter(|item| {
                    // An item that is nothing but a directive adds nothing.
                    !item
                        .as_object()
                        .is_some_and(|map| map.len() == 1 && map.contains_key(DIRECTIVE))
                })
                .map(plain)
                .collect::<Result<_, _>>()?,
        ),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds;

    #[expect(clippy::needless_pass_by_value, reason = "fixtures read better by value")]
    fn patched(kind: &str, mut document: Value, patch: Value) -> Result<Value, Error> {
        let version = if kind == "Deployment" { "apps/v1" } else { "v1" };
        apply(kinds::schema_of(version, kind).unwrap(), &mut document, &patch).map(|()| document)
    }

    #[test]
    fn lists_join_by_merge_key_in_the_patchs_order() {
        let containers = json!([
            {"name": "c", "args": ["one"], "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
             "volumeMounts": [{"name": "v", "mountPath": "/v"}]},
            {"name": "d", "image": "j"},
        ]);
        let patch = json!({"spec": {
        "tolerations": [{"key": "b"}], "volumes": [{"name": "w"}],
        "containers": [
            {"name": "d", "image": "new"},
            {"name": "c", "args": ["two"], "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}],
             "volumeMounts": [{"name": "w", "mountPath": "/w"}]},
            {"name": "e"},
        ]}});
        let document =
            json!({"spec": {"containers": containers, "tolerations": [{"key": "a"}], "volumes": [{"name": "v"}]}});
        assert_eq!(
            patched("Pod", document, patch).unwrap()["spec"],
            json!({
                "tolerations": [{"key": "b"}],
                "volumes": [{"name": "w"}, {"name": "v"}],
                "containers": [
                    {"name": "d", "image": "new"},
                    {"name": "c", "args": ["two"],
                     "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}, {"name": "C", "value": "4"}],
                     "volumeMounts": [{"name": "w", "mountPath": "/w"}, {"name": "v", "mountPath": "/v"}]},
                    {"name": "e"},
                ],
            })
        );
    }

    #[test]
    fn directives_delete_replace_and_order() {
        let service = json!({"spec": {"ports": [{"port": 53, "name": "t"}, {"port": 53, "name": "u"}, {"port": 80}]}});
        let ports = |patch: Value| patched("Service", service.clone(), patch).unwrap()["spec"]["ports"].clone();
        assert_eq!(
            ports(json!({"spec": {"$setElementOrder/ports": [{"port": 90}, {"port": 80}],
                "ports": [{"port": 90}, {"port": 53, "$patch": "delete"}]}})),
            json!([{"port": 90}, {"port": 80}])
        );
        assert_eq!(
            ports(json!({"spec": {"ports": [{"$patch": "replace"}, {"port": 1}]}})),
            json!([{"port": 1}])
        );
        assert_eq!(
            ports(json!({"spec": {"$patch": "replace", "ports": [{"port": 2}]}})),
            json!([{"port": 2}])
        );
        assert_eq!(ports(json!({"spec": {"$patch": "delete"}})), Value::Null);
    }

    #[test]
    fn retained_keys_clear_the_others() {
        let deployment = json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}});
        let patch = json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}});
        assert_eq!(
            patched("Deployment", deployment.clone(), patch).unwrap()["spec"]["strategy"],
            json!({"type": "Recreate"})
        );
        let bad = json!({"spec": {"strategy": {"$retainKeys": ["x"], "type": "Recreate"}}});
        assert!(matches!(
            patched("Deployment", deployment, bad),
            Err(Error::Unprocessable(_))
        ));
    }

    #[test]
    fn lists_of_scalars_unite_or_shrink() {
        let document = json!({"metadata": {"finalizers": ["a", "b", "c"]}});
        let after = patched("Pod", document.clone(), json!({"metadata": {"finalizers": ["d", "a"]}})).unwrap();
        assert_eq!(after["metadata"]["finalizers"], json!(["d", "a", "b", "c"]));
        let after = patched(
            "Pod",
            document,
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["b"], "$setElementOrder/finalizers": ["c", "a"]}}),
        );
        assert_eq!(after.unwrap()["metadata"]["finalizers"], json!(["c", "a"]));
    }

    #[test]
    fn an_item_without_its_key_is_refused_in_upstreams_words() {
        let document = json!({"spec": {"containers": [{"name": "c"}]}});
        let error = patched("Pod", document, json!({"spec": {"containers": [{"image": "x"}]}})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "map: map[image:x] does not contain declared merge key: name"
        );
    }

    #[test]
    fn nulls_and_directives_vanish_where_nothing_was() {
        let after = patched(
            "Pod",
            json!({}),
            json!({"spec": {"a": null, "containers": [{"name": "c", "$patch": "delete"}]}}),
        );
        assert_eq!(after.unwrap(), json!({"spec": {"containers": []}}));
    }
}
