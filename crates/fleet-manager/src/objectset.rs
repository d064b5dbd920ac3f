//! Bookkeeping of objects that belong together, as upstream's apply engine writes it: a label with
//! the hash of set and owner, annotations that name both, and a shortened copy of the object as it
//! was applied. Agents and an upstream manager rely on all three.

use fleet_api::{labels, names};
use fleet_runtime::write::Object;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::Value;

/// Longest text kept in the copy of the applied object.
const KEPT: usize = 64;

/// The object that a set belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) uid: String,
}

impl Owner {
    pub(crate) fn of<K: k8s_openapi::Resource + kube::Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self {
            api_version: K::API_VERSION,
            kind: K::KIND,
            name: meta.name.clone().unwrap_or_default(),
            namespace: meta.namespace.clone().unwrap_or_default(),
            uid: meta.uid.clone().unwrap_or_default(),
        }
    }

    fn gvk(&self) -> String {
        let separator = if self.api_version.contains('/') { "" } else { "/" };
        format!("{separator}{}, Kind={}", self.api_version, self.kind)
    }

    fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.api_version.to_owned(),
            kind: self.kind.to_owned(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            controller: Some(false),
            block_owner_deletion: Some(false),
        }
    }
}

/// A named set of objects, possibly of an owner.
#[derive(Clone, Debug)]
pub(crate) struct ObjectSet {
    id: &'static str,
    owner: Option<Owner>,
}

/// The set that a token's objects belong to.
pub(crate) const TOKEN: &str = "cluster-group-token";
/// The set that a registration's objects belong to.
pub(crate) const REGISTRATION: &str = "cluster-registration";
/// The set of what is made at start.
pub(crate) const STARTUP: &str = "fleet-bootstrap-data";

impl ObjectSet {
    pub(crate) fn new(id: &'static str, owner: Option<Owner>) -> Self {
        Self { id, owner }
    }

    /// Value of the hash label.
    pub(crate) fn hash(&self) -> String {
        match &self.owner {
            None => names::object_set_hash(self.id, "", "", ""),
            Some(owner) => names::object_set_hash(self.id, &owner.gvk(), &owner.name, &owner.namespace),
        }
    }

    /// Marks an object as a member. An owner reference is added where it is legal: in the
    /// owner's own namespace.
    pub(crate) fn mark<K: Object>(&self, mut object: K) -> K {
        let meta = object.meta_mut();
        meta.labels
            .get_or_insert_default()
            .insert(labels::OBJECT_SET_HASH.to_owned(), self.hash());
        let annotations = meta.annotations.get_or_insert_default();
        annotations.insert(labels::OBJECT_SET_ID.to_owned(), self.id.to_owned());
        if let Some(owner) = &self.owner {
            annotations.insert(labels::OBJECT_SET_OWNER_GVK.to_owned(), owner.gvk());
            annotations.insert(labels::OBJECT_SET_OWNER_NAME.to_owned(), owner.name.clone());
            annotations.insert(labels::OBJECT_SET_OWNER_NAMESPACE.to_owned(), owner.namespace.clone());
            if meta.namespace.as_deref() == Some(owner.namespace.as_str()) {
                meta.owner_references = Some(vec![owner.reference()]);
            }
        }
        let applied = shortened(&object);
        object
            .meta_mut()
            .annotations
            .get_or_insert_default()
            .insert(labels::OBJECT_SET_APPLIED.to_owned(), applied);
        object
    }

    /// Whether an object carries this set's label.
    pub(crate) fn owns<K: kube::Resource>(&self, object: &K) -> bool {
        let label = object
            .meta()
            .labels
            .as_ref()
            .and_then(|all| all.get(labels::OBJECT_SET_HASH));
        label == Some(&self.hash())
    }
}

/// The object as it is applied: JSON without its type, long texts cut, gzip, base64 without padding.
fn shortened<K: Object>(object: &K) -> String {
    use base64::Engine as _;
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.remove("apiVersion");
        map.remove("kind");
    }
    cut(&mut value, "");
    let packed = fleet_api::content::pack(fleet_api::json::to_string(&value).as_bytes());
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(packed)
}

/// Texts that identify list entries in a merge stay whole.
const WHOLE: [&str; 7] = [
    "name",
    "containerPort",
    "port",
    "mountPath",
    "devicePath",
    "uid",
    "topologyKey",
];

fn cut(value: &mut Value, key: &str) {
    match value {
        Value::String(text) if text.len() > KEPT && !WHOLE.contains(&key) => {
            let end = (0..=KEPT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
        }
        Value::Object(map) => map.iter_mut().for_each(|(key, value)| cut(value, key)),
        Value::Array(list) => list.iter_mut().for_each(|value| cut(value, key)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};

    fn owner(namespace: &str) -> Owner {
        Owner {
            api_version: "fleet.cattle.io/v1alpha1",
            kind: "ClusterRegistrationToken",
            name: "tok".to_owned(),
            namespace: namespace.to_owned(),
            uid: "u".to_owned(),
        }
    }

    #[test]
    fn the_hash_is_that_of_set_and_owner() {
        let set = ObjectSet::new(TOKEN, Some(owner("token")));
        assert_eq!(set.hash(), "37909f8d1c5c72a6883d59415d12df5242ef167e");
        assert_eq!(
            ObjectSet::new(STARTUP, None).hash(),
            "4510303f19b6cbafc9031148b1866f16c2be7aaa"
        );
    }

    #[test]
    fn only_neighbours_get_an_owner_reference() {
        let set = ObjectSet::new(TOKEN, Some(owner("a")));
        let mut object = ServiceAccount::default();
        object.metadata.namespace = Some("a".to_owned());
        assert!(set.mark(object.clone()).metadata.owner_references.is_some());
        object.metadata.namespace = Some("b".to_owned());
        let marked = set.mark(object);
        assert!(marked.metadata.owner_references.is_none() && set.owns(&marked));
    }

    #[test]
    fn long_texts_are_cut_in_the_copy() {
        let object = ConfigMap {
            data: Some([("k".to_owned(), "é".repeat(80))].into()),
            ..ConfigMap::default()
        };
        use base64::Engine as _;
        let packed = base64::engine::general_purpose::STANDARD_NO_PAD
            .decode(shortened(&object))
            .unwrap();
        let text = String::from_utf8(fleet_api::content::unpack(&packed).unwrap()).unwrap();
        assert_eq!(
            text,
            format!(r#"{{"data":{{"k":"{}"}},"metadata":{{}}}}"#, "é".repeat(32))
        );
    }
}
