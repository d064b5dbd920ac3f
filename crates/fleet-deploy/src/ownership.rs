//! Who an object belongs to, in Helm's terms: one label and two annotations that are written
//! with every apply and checked before an object that exists is taken over.

use serde_json::Value;

use crate::object;

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const RELEASE_NAME: &str = "meta.helm.sh/release-name";
const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";

/// The object as it is applied: marked as the release's, its namespace filled in.
#[must_use]
pub(crate) fn marked(object: &Value, release: &str, namespace: &str) -> Value {
    let mut object = object.clone();
    object::set_label(&mut object, MANAGED_BY, "Helm");
    object::set_annotation(&mut object, RELEASE_NAME, release);
    object::set_annotation(&mut object, RELEASE_NAMESPACE, namespace);
    object
}

/// What speaks against taking a live object into the release; empty if nothing does.
#[must_use]
pub(crate) fn objections(live: &Value, release: &str, namespace: &str) -> Vec<String> {
    let check = |what: &str, key: &str, found: Option<&str>, wanted: &str| match found {
        Some(found) if found == wanted => None,
        Some(found) => Some(format!(
            "{what} validation error: key \"{key}\" must equal \"{wanted}\": current value is \"{found}\""
        )),
        None => Some(format!(
            "{what} validation error: missing key \"{key}\": must be set to \"{wanted}\""
        )),
    };
    [
        check("label", MANAGED_BY, object::label(live, MANAGED_BY), "Helm"),
        check(
            "annotation",
            RELEASE_NAME,
            object::annotation(live, RELEASE_NAME),
            release,
        ),
        check(
            "annotation",
            RELEASE_NAMESPACE,
            object::annotation(live, RELEASE_NAMESPACE),
            namespace,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_marked_object_has_no_objections() {
        let object = json!({"metadata": {"name": "a"}});
        assert_eq!(objections(&object, "r", "n").len(), 3);
        assert!(objections(&marked(&object, "r", "n"), "r", "n").is_empty());
        assert_eq!(
            objections(&marked(&object, "other", "n"), "r", "n"),
            [
                "annotation validation error: key \"meta.helm.sh/release-name\" must equal \"r\": current value is \"other\""
            ]
        );
    }
}
