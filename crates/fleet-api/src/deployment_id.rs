//! Options → deployment id, `<manifest id>:<sha256 of the options>`. A new id makes agents deploy
//! again, so the text that is hashed must be upstream's to the byte: field order of
//! [`BundleDeploymentOptions`], Go's JSON, a final newline, without `diff` and `correctDrift`
//! (they change what counts as drift, not what is deployed).

use crate::json;
use crate::names::sha256_hex;
use crate::options::BundleDeploymentOptions;

/// Hex sha256 of merged and templated options.
#[must_use]
pub fn options_hash(options: &BundleDeploymentOptions) -> String {
    let mut options = options.clone();
    options.diff = None;
    options.correct_drift = None;
    sha256_hex(json::encode(&options).as_bytes())
}

/// The id of these files with these options. `manifest_id` is the Content's name, the contents
/// id of OCI content, or empty for a HelmOp.
#[must_use]
pub fn deployment_id(manifest_id: &str, options: &BundleDeploymentOptions) -> String {
    format!("{manifest_id}:{}", options_hash(options))
}

/// The manifest id of a deployment id.
#[must_use]
pub fn manifest_id(deployment_id: &str) -> &str {
    deployment_id
        .split_once(':')
        .map_or(deployment_id, |(manifest, _)| manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(json: serde_json::Value) -> String {
        options_hash(&serde_json::from_value(json).unwrap())
    }

    #[test]
    fn options_hash_as_upstream_hashes_them() {
        let empty = "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356";
        assert_eq!(hash(serde_json::json!({})), empty);
        assert_eq!(
            hash(serde_json::json!({"diff": {"comparePatches": []}, "correctDrift": {"enabled": true}})),
            empty
        );
        assert_eq!(
            hash(serde_json::json!({"helm": {}})),
            "2b3eb1c0044dd55963b580c402f9703533c40396e53a2aa27a2ba991ec15d145"
        );
        assert_eq!(
            hash(
                serde_json::json!({"defaultNamespace": "ns1", "helm": {"chart": "c", "values": {"n": 1.0, "a": "<b>"}}})
            ),
            "3476f932840e243b224a8f78807a2abe8931c0c3ba7a996311b51d8d1a72ea8c"
        );
    }

    #[test]
    fn a_selector_is_written_in_gos_order() {
        let options: BundleDeploymentOptions = serde_json::from_value(serde_json::json!({
            "allowedTargetNamespaceSelector": {"matchExpressions": [{"key": "k", "operator": "Exists"}], "matchLabels": {"a": "b"}}
        }))
        .unwrap();
        assert_eq!(
            json::to_string(&options),
            r#"{"allowedTargetNamespaceSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"Exists"}]}}"#
        );
    }
}
