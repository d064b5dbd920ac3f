//! HorizontalPodAutoscalers have two faces, `autoscaling/v1` and `autoscaling/v2`: one stored form, that of `v2`.
//!
//! The older face knows one metric. What else there is stands in annotations, as JSON of the older spelling, so that
//! whoever reads and writes the older face loses nothing. Mirrors upstream's conversion between the versions.

mod ordered;
mod spelling;

use kubeschema::defaulting::normalise;
use serde_json::{Map, Value, json};

use self::spelling::{Direction, metrics};
use crate::registry::Resource;

const GROUP: &str = "autoscaling";
const KIND: &str = "HorizontalPodAutoscaler";

/// Annotations of the older face.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// The one metric that the older face has a field for.
const TARGET: &str = "targetCPUUtilizationPercentage";

/// Whether the resource is the older face.
pub(crate) fn is_older(resource: &Resource) -> bool {
    resource.version == "v1" && resource.is(GROUP, "horizontalpodautoscalers")
}

/// Shows a stored autoscaler as the older face does.
pub(crate) fn to_older(object: &mut Value) {
    let mut notes: Vec<(&str, String)> = Vec::new();
    let spec = &mut object["spec"];
    let mut all = taken_list(spec, "metrics");
    let cpu = all.iter().find(|metric| is_cpu(metric)).map(target);
    all.retain(|metric| !is_cpu(metric));
    if !all.is_empty() {
        notes.push((METRICS, metrics(&all, Direction::Older, "target")));
    }
    if let Some(behavior) = taken(spec, "behavior") {
        notes.push((BEHAVIOR, spelling::behavior(&behavior)));
    }
    if let Some(cpu) = cpu {
        spec[TARGET] = cpu;
    }
    let status = &mut object["status"];
    let current = taken_list(status, "currentMetrics");
    if !current.is_empty() {
        notes.push((CURRENT, metrics(&current, Direction::Older, "current")));
        let cpu = current.iter().find(|metric| metric["resource"]["name"] == "cpu");
        if let Some(percent) = cpu.and_then(|cpu| cpu.pointer("/resource/current/averageUtilization")) {
            status["currentCPUUtilizationPercentage"] = percent.clone();
        }
    }
    let conditions = taken_list(status, "conditions");
    if !conditions.is_empty() {
        notes.push((CONDITIONS, spelling::conditions(&conditions)));
    }
    annotate(object, notes);
    settle(object, "v1");
}

/// Brings an autoscaler of the older face into the stored form. Annotations that cannot be read are dropped.
pub(crate) fn to_stored(object: &mut Value) {
    let mut note = |name: &str| {
        let annotations = object.pointer_mut("/metadata/annotations")?.as_object_mut()?;
        let text = annotations.remove(name)?;
        let value: Value = serde_json::from_str(text.as_str()?).ok()?;
        if annotations.is_empty() {
            object["metadata"].as_object_mut()?.remove("annotations");
        }
        Some(value)
    };
    let (wanted, current, conditions, behavior) = (note(METRICS), note(CURRENT), note(CONDITIONS), note(BEHAVIOR));
    let newer = |list: Option<Value>, prefix: &str| -> Vec<Value> {
        let list = list
            .as_ref()
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        serde_json::from_str(&metrics(list, Direction::Newer, prefix)).unwrap_or_default()
    };
    let spec = &mut object["spec"];
    let mut all = newer(wanted, "target");
    if let Some(percent) = taken(spec, TARGET) {
        let target = json!({"type": "Utilization", "averageUtilization": percent});
        all.push(json!({"type": "Resource", "resource": {"name": "cpu", "target": target}}));
    }
    if !all.is_empty() {
        spec["metrics"] = all.into();
    }
    if let Some(behavior) = behavior {
        spec["behavior"] = spelling::lowered(behavior);
    }
    let status = &mut object["status"];
    let mut all = newer(current, "current");
    let percent = taken(status, "currentCPUUtilizationPercentage");
    if let (Some(percent), true) = (percent, all.is_empty()) {
        all.push(json!({"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}}));
    }
    if !all.is_empty() {
        status["currentMetrics"] = all.into();
    }
    if let Some(conditions @ Value::Array(_)) = conditions {
        status["conditions"] = conditions;
    }
    settle(object, "v2");
}

/// Gives an object the version's defaults and zeroes. What cannot be read stays as it is, for validation to refuse.
fn settle(object: &mut Value, version: &str) {
    object["apiVersion"] = format!("{GROUP}/{version}").into();
    let mut settled = object.clone();
    if normalise(GROUP, version, KIND, &mut settled).is_ok() {
        *object = settled;
    }
}

fn annotate(object: &mut Value, notes: Vec<(&str, String)>) {
    if notes.is_empty() {
        return;
    }
    let annotations = &mut object["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = json!({});
    }
    for (name, text) in notes {
        annotations[name] = text.into();
    }
}

fn is_cpu(metric: &Value) -> bool {
    metric["type"] == "Resource" && metric["resource"]["name"] == "cpu" && target(metric).is_number()
}

fn target(metric: &Value) -> Value {
    metric["resource"]["target"]["averageUtilization"].clone()
}

fn taken(object: &mut Value, field: &str) -> Option<Value> {
    object
        .as_object_mut()
        .and_then(|map: &mut Map<String, Value>| map.remove(field))
        .filter(|value| !value.is_null())
}

fn taken_list(object: &mut Value, field: &str) -> Vec<Value> {
    match taken(object, field) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> Value {
        let mut object = json!({
            "apiVersion": "autoscaling/v2", "kind": KIND, "metadata": {"name": "a"},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                "minReplicas": 1, "maxReplicas": 5,
                "metrics": [
                    {"type": "Resource", "resource": {"name": "memory",
                        "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
                    {"type": "Pods", "pods": {"metric": {"name": "p"},
                        "target": {"type": "AverageValue", "averageValue": "10"}}},
                    {"type": "Object", "object": {
                        "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"},
                        "metric": {"name": "r", "selector": {"matchLabels": {"a": "b"}}},
                        "target": {"type": "Value", "value": "5"}}},
                    {"type": "External", "external": {"metric": {"name": "q"},
                        "target": {"type": "AverageValue", "averageValue": "30"}}},
                    {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c",
                        "target": {"type": "Utilization", "averageUtilization": 50}}},
                    {"type": "Resource", "resource": {"name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 60}}},
                ],
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
            },
            "status": {
                "currentReplicas": 1, "desiredReplicas": 2,
                "currentMetrics": [
                    {"type": "Resource", "resource": {"name": "cpu",
                        "current": {"averageUtilization": 33, "averageValue": "100m"}}},
                    {"type": "Pods", "pods": {"metric": {"name": "p"}, "current": {"averageValue": "7"}}},
                ],
                "conditions": [{"type": "AbleToScale", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z",
                    "reason": "x", "message": "y"}],
            },
        });
        settle(&mut object, "v2");
        object
    }

    #[test]
    fn the_older_face_keeps_the_rest_in_annotations() {
        let mut older = stored();
        to_older(&mut older);
        assert_eq!(older["spec"][TARGET], 60);
        assert!(older["spec"].get("metrics").is_none() && older["spec"].get("behavior").is_none());
        assert_eq!(older["status"]["currentCPUUtilizationPercentage"], 33);
        let annotations = &older["metadata"]["annotations"];
        assert_eq!(
            annotations[METRICS],
            concat!(
                r#"[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},"#,
                r#"{"type":"Pods","pods":{"metricName":"p","targetAverageValue":"10"}},"#,
                r#"{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"#,
                r#""metricName":"r","targetValue":"5","selector":{"matchLabels":{"a":"b"}}}},"#,
                r#"{"type":"External","external":{"metricName":"q","targetAverageValue":"30"}},"#,
                r#"{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":50,"#,
                r#""container":"c"}}]"#,
            )
        );
        assert_eq!(
            annotations[BEHAVIOR],
            concat!(
                r#"{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"#,
                r#""PeriodSeconds":15},{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":"#,
                r#"{"StabilizationWindowSeconds":60,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":100,"#,
                r#""PeriodSeconds":15}],"Tolerance":null}}"#,
            )
        );
        assert_eq!(
            annotations[CURRENT],
            concat!(
                r#"[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":33,"#,
                r#""currentAverageValue":"100m"}},{"type":"Pods","pods":{"metricName":"p","currentAverageValue":"7"}}]"#,
            )
        );
        assert_eq!(
            annotations[CONDITIONS],
            r#"[{"type":"AbleToScale","status":"True","lastTransitionTime":"2020-01-01T00:00:00Z","reason":"x","message":"y"}]"#
        );
    }

    #[test]
    fn there_and_back_is_the_same() {
        let mut object = stored();
        to_older(&mut object);
        to_stored(&mut object);
        assert_eq!(object, stored());
    }

    #[test]
    fn without_a_metric_there_is_the_default_one() {
        let mut object = json!({"kind": KIND, "apiVersion": "autoscaling/v1",
            "metadata": {"name": "a", "annotations": {METRICS: "nonsense"}},
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 5}});
        to_stored(&mut object);
        assert!(object["metadata"].get("annotations").is_none());
        to_older(&mut object);
        assert_eq!(object["spec"][TARGET], 80);
    }
}
