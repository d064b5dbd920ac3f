//! Who an object belongs to, by its annotations. Pure.

use fleet_api::labels;
use fleet_runtime::Key;

use crate::shell::annotation;

/// The owner of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Registration(Key),
    Token(Key),
    Cluster(Key),
}

/// The owner that an object names; `None` if it names none that this program knows.
pub(super) fn owner<K: kube::Resource>(object: &K) -> Option<Owner> {
    let kind = annotation(object, labels::OBJECT_SET_OWNER_GVK);
    let named = |space, name| {
        let key = Key::new(annotation(object, space), annotation(object, name));
        (!key.name.is_empty() && !key.namespace.is_empty()).then_some(key)
    };
    let owned = || named(labels::OBJECT_SET_OWNER_NAMESPACE, labels::OBJECT_SET_OWNER_NAME);
    match kind.rsplit_once("Kind=").map(|(_, kind)| kind) {
        Some("ClusterRegistration") => owned().map(Owner::Registration),
        Some("ClusterRegistrationToken") => owned().map(Owner::Token),
        Some(_) => None,
        None if object.meta().namespace.is_none() => {
            named(labels::CLUSTER_NAMESPACE, labels::CLUSTER).map(Owner::Cluster)
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Namespace;

    #[test]
    fn owners_are_read_from_annotations() {
        let with = |pairs: &[(&str, &str)]| {
            let mut object = Namespace::default();
            object.metadata.annotations = Some(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect());
            owner(&object)
        };
        assert_eq!(
            with(&[(labels::CLUSTER_NAMESPACE, "n"), (labels::CLUSTER, "c")]),
            Some(Owner::Cluster(Key::new("n", "c")))
        );
        assert_eq!(
            with(&[
                (
                    labels::OBJECT_SET_OWNER_GVK,
                    "fleet.cattle.io/v1alpha1, Kind=ClusterRegistration"
                ),
                (labels::OBJECT_SET_OWNER_NAMESPACE, "n"),
                (labels::OBJECT_SET_OWNER_NAME, "r"),
            ]),
            Some(Owner::Registration(Key::new("n", "r")))
        );
        assert_eq!(with(&[]), None);
    }
}
