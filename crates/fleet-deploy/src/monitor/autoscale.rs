//! Replicas that an autoscaler of the same release may set are no difference.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Difference, Seen};
use crate::object::{self, ObjectKey};

/// Takes the Deployment and StatefulSet replicas that an autoscaler of the same release may set
/// out of the differences.
pub fn allow_autoscaling(seen: &mut Seen) {
    let scalers: Vec<&Value> = seen
        .live
        .iter()
        .filter(|object| {
            object::kind(object) == "HorizontalPodAutoscaler" && object::api_version(object).starts_with("autoscaling/")
        })
        .collect();
    let mut allowed: BTreeSet<ObjectKey> = BTreeSet::new();
    for live in &seen.live {
        let key = ObjectKey::of(live);
        if key.group_version().0 != "apps" || !matches!(key.kind.as_str(), "Deployment" | "StatefulSet") {
            continue;
        }
        let replicas = live.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
        let scaled = scalers.iter().any(|scaler| {
            let target = &scaler["spec"]["scaleTargetRef"];
            let version = target["apiVersion"].as_str().unwrap_or_default();
            let least = scaler.pointer("/spec/minReplicas").and_then(Value::as_i64).unwrap_or(1);
            let most = scaler.pointer("/spec/maxReplicas").and_then(Value::as_i64).unwrap_or(0);
            object::namespace(scaler) == key.namespace
                && target["kind"] == key.kind.as_str()
                && target["name"] == key.name.as_str()
                && (version.is_empty() || version == key.api_version)
                && (least..=most).contains(&replicas)
        });
        if scaled {
            allowed.insert(key);
        }
    }
    seen.differences.retain_mut(|(key, difference)| {
        let Difference::Modified(patch) = difference else {
            return true;
        };
        if !allowed.contains(key) {
            return true;
        }
        let Some(map) = patch.as_object_mut() else { return true };
        if let Some(spec) = map.get_mut("spec").and_then(Value::as_object_mut) {
            spec.remove("replicas");
            if spec.is_empty() {
                map.remove("spec");
            }
        }
        !map.is_empty()
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn autoscaled_replicas_are_no_difference() {
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "n"}, "spec": {"replicas": 3}});
        let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h", "namespace": "n"},
            "spec": {"maxReplicas": 4, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
        let difference = (
            ObjectKey::of(&deployment),
            Difference::Modified(json!({"spec": {"replicas": 1}})),
        );
        let mut seen = Seen {
            live: vec![deployment, scaler],
            differences: vec![difference],
            ..Seen::default()
        };
        allow_autoscaling(&mut seen);
        assert!(seen.differences.is_empty());
    }
}
