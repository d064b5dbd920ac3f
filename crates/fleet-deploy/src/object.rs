//! Reading and writing the few fields of an object that everything here needs. Objects are
//! plain JSON: they came from a user's YAML or from the API server, and no type of ours may
//! drop a field of them.

use serde_json::{Map, Value};

/// What names an object: kind and place.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// `group/version`, or `version` of the core group.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Empty for cluster-scoped objects and where the manifest leaves it out.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ObjectKey {
    /// The key an object carries itself.
    #[must_use]
    pub fn of(object: &Value) -> Self {
        Self {
            api_version: api_version(object).to_owned(),
            kind: kind(object).to_owned(),
            namespace: namespace(object).to_owned(),
            name: name(object).to_owned(),
        }
    }

    /// Group and version, the group empty for core.
    #[must_use]
    pub fn group_version(&self) -> (&str, &str) {
        split_api_version(&self.api_version)
    }

    /// `group/version, Kind=Kind`, as Kubernetes' own messages spell it.
    #[must_use]
    pub fn gvk(&self) -> String {
        let (group, version) = self.group_version();
        format!("{group}/{version}, Kind={}", self.kind)
    }

    /// `kind.group namespace/name`, as status messages spell it.
    #[must_use]
    pub fn display(&self) -> String {
        let group = self.api_version.split('/').next().unwrap_or_default();
        let mut text = self.kind.to_lowercase();
        if !group.is_empty() {
            text.push('.');
            text.push_str(group);
        }
        text.push(' ');
        if !self.namespace.is_empty() {
            text.push_str(&self.namespace);
            text.push('/');
        }
        text.push_str(&self.name);
        text
    }
}

/// Group and version of an `apiVersion`.
#[must_use]
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    let mut at = object;
    for key in path {
        match at.get(key) {
            Some(next) => at = next,
            None => return "",
        }
    }
    at.as_str().unwrap_or_default()
}

/// `apiVersion`, or empty.
#[must_use]
pub fn api_version(object: &Value) -> &str {
    text(object, &["apiVersion"])
}

/// `kind`, or empty.
#[must_use]
pub fn kind(object: &Value) -> &str {
    text(object, &["kind"])
}

/// `metadata.name`, or empty.
#[must_use]
pub fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

/// `metadata.namespace`, or empty.
#[must_use]
pub fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

/// `metadata.uid`, or empty.
#[must_use]
pub fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

/// A label's value.
#[must_use]
pub fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}

/// An annotation's value.
#[must_use]
pub fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

/// The map below `key`, made if it is missing or something else.
fn map_at<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let slot = map.entry(key).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(map) => map,
        _ => unreachable!("it was made an object above"),
    }
}

/// Sets `metadata.<section>.<key>`; does nothing to what is not an object. A section with a
/// value that is no text is no section: it is begun anew, as upstream does.
fn set_meta(object: &mut Value, section: &str, key: &str, value: &str) {
    if let Value::Object(map) = object {
        let section = map_at(map_at(map, "metadata"), section);
        if section.values().any(|value| !value.is_string()) {
            section.clear();
        }
        section.insert(key.to_owned(), value.into());
    }
}

/// Sets a label.
pub fn set_label(object: &mut Value, key: &str, value: &str) {
    set_meta(object, "labels", key, value);
}

/// Sets an annotation.
pub fn set_annotation(object: &mut Value, key: &str, value: &str) {
    set_meta(object, "annotations", key, value);
}

/// Removes an annotation; an annotations map that becomes empty goes too.
pub fn remove_annotation(object: &mut Value, key: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove(key);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

/// Sets `metadata.namespace`.
pub fn set_namespace(object: &mut Value, namespace: &str) {
    if let Value::Object(map) = object {
        map_at(map, "metadata").insert("namespace".to_owned(), namespace.into());
    }
}

/// The items of a list object (`kind` ending in `List` with `items`), each with its own kind;
/// any other object is itself. Lists in lists are opened too.
#[must_use]
pub fn flatten(object: Value) -> Vec<Value> {
    let is_list = kind(&object).ends_with("List") && object.get("items").is_some_and(Value::is_array);
    match object {
        Value::Object(mut map) if is_list => match map.remove("items") {
            Some(Value::Array(items)) => items.into_iter().flat_map(flatten).collect(),
            _ => Vec::new(),
        },
        other => vec![other],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_spelled_as_status_messages_spell_them() {
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "ns", "name": "a"}});
        assert_eq!(ObjectKey::of(&service).display(), "service.v1 ns/a");
        assert_eq!(ObjectKey::of(&service).gvk(), "/v1, Kind=Service");
        let role =
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a"}});
        assert_eq!(
            ObjectKey::of(&role).display(),
            "clusterrole.rbac.authorization.k8s.io a"
        );
    }

    #[test]
    fn odd_objects_are_read_as_empty_and_repaired_when_written() {
        let mut odd = json!({"metadata": {"labels": null, "name": 7}});
        assert_eq!(name(&odd), "");
        set_label(&mut odd, "a", "b");
        assert_eq!(label(&odd, "a"), Some("b"));
        remove_annotation(&mut odd, "x");
        set_label(&mut Value::Null, "a", "b");
    }

    #[test]
    fn lists_are_opened() {
        let list = json!({"kind": "List", "items": [{"kind": "A"}, {"kind": "BList", "items": [{"kind": "B"}]}]});
        assert_eq!(flatten(list), [json!({"kind": "A"}), json!({"kind": "B"})]);
    }
}
