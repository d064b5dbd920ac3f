//! Pods and the pod templates of workloads.

use kubeschema::field::{self, FieldError};
use kubeschema::name;
use kubeschema::quantity::Quantity;
use serde_json::Value;

use super::metadata;

/// A Pod; most of its spec may not change.
pub(super) fn check(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    spec(&object["spec"], "spec", errors);
    if let Some(old) = old
        && fixed(&old["spec"]) != fixed(&object["spec"])
    {
        let why = "pod updates may not change fields other than `spec.containers[*].image`,\
                       `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions \
                       to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it \
                       was previously negative)";
        errors.push(FieldError::forbidden("spec", why));
    }
}

/// The part of a spec that may not change.
fn fixed(spec: &Value) -> Value {
    let mut spec = spec.clone();
    if let Some(map) = spec.as_object_mut() {
        for field in [
            "activeDeadlineSeconds",
            "tolerations",
            "terminationGracePeriodSeconds",
            "schedulingGates",
            "nodeName",
        ] {
            map.remove(field);
        }
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            for container in map.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(container) = container.as_object_mut() {
                    container.remove("image");
                }
            }
        }
    }
    spec
}

/// A template inside a workload.
pub(super) fn template(template: &Value, path: &str, errors: &mut Vec<FieldError>) {
    metadata::maps(&template["metadata"], &field::child(path, "metadata"), errors);
    spec(&template["spec"], &field::child(path, "spec"), errors);
}

fn spec(spec: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let items = |key: &str| spec[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let volumes = volumes(items("volumes"), &field::child(path, "volumes"), errors);
    let containers = field::child(path, "containers");
    if items("containers").is_empty() {
        errors.push(FieldError::required(containers.as_str(), ""));
    }
    let mut names: Vec<&str> = Vec::new();
    for (list, place) in [
        ("containers", containers),
        ("initContainers", field::child(path, "initContainers")),
    ] {
        for (position, container) in items(list).iter().enumerate() {
            let path = field::index(&place, position);
            let given = container["name"].as_str().unwrap_or_default();
            unique_label(given, &mut names, &field::child(&path, "name"), errors);
            self::container(container, &volumes, &path, errors);
        }
    }
    metadata::labels_at(&spec["nodeSelector"], &field::child(path, "nodeSelector"), errors);
    let grace = spec["terminationGracePeriodSeconds"].as_i64();
    negative(grace, &field::child(path, "terminationGracePeriodSeconds"), errors);
}

/// A name that must be there, be a label and be the only one.
fn unique_label<'a>(given: &'a str, taken: &mut Vec<&'a str>, path: &str, errors: &mut Vec<FieldError>) {
    if given.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    errors.extend(
        name::dns_label(given)
            .into_iter()
            .map(|why| FieldError::invalid(path, given, why)),
    );
    if taken.contains(&given) {
        errors.push(FieldError::duplicate(path, given));
    }
    taken.push(given);
}

/// The order in which sources of a volume are looked for; the second one found is refused.
const SOURCES: [&str; 12] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
];

fn volumes(list: &[Value], path: &str, errors: &mut Vec<FieldError>) -> Vec<String> {
    let mut names = Vec::new();
    for (position, volume) in list.iter().enumerate() {
        let path = field::index(path, position);
        let given = volume["name"].as_str().unwrap_or_default();
        let mut sources: Vec<&String> = volume
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
            .filter(|key| *key != "name")
            .collect();
        sources.sort_by_key(|key| SOURCES.iter().position(|source| source == key).unwrap_or(SOURCES.len()));
        match sources.as_slice() {
            [] => errors.push(FieldError::required(path.as_str(), "must specify a volume type")),
            [_] => {}
            [_, second, ..] => {
                let why = "may not specify more than 1 volume type";
                errors.push(FieldError::forbidden(field::child(&path, second), why));
                continue;
            }
        }
        unique_label(given, &mut names, &field::child(&path, "name"), errors);
    }
    names.into_iter().map(str::to_owned).collect()
}

fn container(container: &Value, volumes: &[String], path: &str, errors: &mut Vec<FieldError>) {
    let items = |key: &str| container[key].as_array().map(Vec::as_slice).unwrap_or_default();
    if container["image"].as_str().is_none_or(str::is_empty) {
        errors.push(FieldError::required(field::child(path, "image"), ""));
    }
    let mut port_names: Vec<&str> = Vec::new();
    for (position, port) in items("ports").iter().enumerate() {
        let path = field::index(&field::child(path, "ports"), position);
        match port["containerPort"].as_i64().unwrap_or_default() {
            0 => errors.push(FieldError::required(field::child(&path, "containerPort"), "")),
            number => range(number, &field::child(&path, "containerPort"), errors),
        }
        if let Some(number) = port["hostPort"].as_i64().filter(|number| *number != 0) {
            range(number, &field::child(&path, "hostPort"), errors);
        }
        if let Some(given) = port["name"].as_str().filter(|name| !name.is_empty()) {
            let place = field::child(&path, "name");
            let problems = name::port_name(given);
            errors.extend(
                problems
                    .into_iter()
                    .map(|why| FieldError::invalid(place.as_str(), given, why)),
            );
            if port_names.contains(&given) {
                errors.push(FieldError::duplicate(place, given));
            }
            port_names.push(given);
        }
    }
    for (position, variable) in items("env").iter().enumerate() {
        let path = field::index(&field::child(path, "env"), position);
        if variable["name"].as_str().is_none_or(str::is_empty) {
            errors.push(FieldError::required(field::child(&path, "name"), ""));
        }
        if variable["valueFrom"].is_object() && variable["value"].as_str().is_some_and(|text| !text.is_empty()) {
            let why = "may not be specified when `value` is not empty";
            errors.push(FieldError::invalid(field::child(&path, "valueFrom"), "", why));
        }
    }
    let mut mounts: Vec<&str> = Vec::new();
    for (position, mount) in items("volumeMounts").iter().enumerate() {
        let path = field::index(&field::child(path, "volumeMounts"), position);
        let text = |key: &str| mount[key].as_str().unwrap_or_default();
        if text("name").is_empty() {
            errors.push(FieldError::required(field::child(&path, "name"), ""));
        } else if !volumes.iter().any(|volume| volume == text("name")) {
            let place = field::child(&path, "name");
            errors.push(FieldError::new(
                field::Kind::NotFound,
                place,
                Some(text("name").into()),
                "",
            ));
        }
        let place = text("mountPath");
        if place.is_empty() {
            errors.push(FieldError::required(field::child(&path, "mountPath"), ""));
        } else if mounts.contains(&place) {
            errors.push(FieldError::invalid(
                field::child(&path, "mountPath"),
                place,
                "must be unique",
            ));
        }
        mounts.push(place);
    }
    resources(&container["resources"], &field::child(path, "resources"), errors);
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        probe(name, &container[name], &field::child(path, name), errors);
    }
}

fn probe(name: &str, probe: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if !probe.is_object() {
        return;
    }
    let handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
    match handlers.iter().filter(|handler| probe[**handler].is_object()).count() {
        0 => errors.push(FieldError::required(path, "must specify a handler type")),
        1 => {}
        _ => errors.push(FieldError::forbidden(path, "may not specify more than 1 handler type")),
    }
    for handler in ["httpGet", "tcpSocket"] {
        let place = format!("{path}.{handler}.port");
        match &probe[handler]["port"] {
            Value::Number(number) => range(number.as_i64().unwrap_or_default(), &place, errors),
            Value::String(text) => {
                let problems = name::port_name(text);
                errors.extend(
                    problems
                        .into_iter()
                        .map(|why| FieldError::invalid(place.as_str(), text.as_str(), why)),
                );
            }
            Value::Null if probe[handler].is_object() => range(0, &place, errors),
            _ => {}
        }
    }
    for field in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        negative(probe[field].as_i64(), &field::child(path, field), errors);
    }
    if name != "readinessProbe" && probe["successThreshold"].as_i64().is_some_and(|count| count > 1) {
        errors.push(FieldError::invalid(
            format!("{path}.successThreshold"),
            probe["successThreshold"].clone(),
            "must be 1",
        ));
    }
}

fn resources(resources: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let amount = |value: &Value| value.as_str().and_then(|text| Quantity::parse(text).ok());
    for part in ["limits", "requests"] {
        for (name, value) in resources[part].as_object().into_iter().flatten() {
            let place = field::key(&field::child(path, part), name);
            if amount(value).is_some_and(|quantity| quantity.nano() < 0) {
                errors.push(FieldError::invalid(
                    place.as_str(),
                    value.clone(),
                    "must be greater than or equal to 0",
                ));
            }
            let limit = &resources["limits"][name.as_str()];
            if let ("requests", Some(request), Some(limit)) = (part, amount(value), amount(limit))
                && request > limit
            {
                let why = format!("must be less than or equal to {name} limit of {limit}");
                errors.push(FieldError::invalid(field::child(path, part), value.clone(), why));
            }
        }
    }
}

fn range(number: i64, path: &str, errors: &mut Vec<FieldError>) {
    if !(1..=65535).contains(&number) {
        errors.push(FieldError::invalid(
            path,
            number,
            "must be between 1 and 65535, inclusive",
        ));
    }
}

/// A number that may not be negative.
pub(super) fn negative(number: Option<i64>, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(number) = number.filter(|number| *number < 0) {
        errors.push(FieldError::invalid(path, number, "must be greater than or equal to 0"));
    }
}
