//! Containers: image, ports, environment, mounts.

use kubeschema::field::{self, FieldError};
use kubeschema::name;

use super::super::network;
use super::super::place::{Errors, Place};
use super::probe;

/// A container by itself.
pub(crate) fn check(container: &Place<'_>, errors: &mut Errors) {
    let image = container.at("image");
    if image.empty() {
        errors.push(image.required(""));
    } else if image.own().trim() != image.own() {
        errors.push(image.invalid("must not have leading or trailing whitespace"));
    }
    ports(container, errors);
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        probe::check(name, &container.at(name), errors);
    }
    for name in ["postStart", "preStop"] {
        probe::handler(&container.under("lifecycle", name), errors);
    }
    let mut resized = Vec::new();
    for policy in container.each("resizePolicy") {
        let given = policy.text("resourceName");
        if resized.contains(&given) {
            errors.push(FieldError::duplicate(policy.path.as_str(), given));
        }
        resized.push(given);
    }
}

fn ports(container: &Place<'_>, errors: &mut Errors) {
    let mut names: Vec<&str> = Vec::new();
    for port in container.each("ports") {
        let number = port.at("containerPort");
        match number.value.as_i64().unwrap_or_default() {
            0 => errors.push(number.required("")),
            _ => network::port(&number, errors),
        }
        if port.number("hostPort").is_some_and(|number| number != 0) {
            network::port(&port.at("hostPort"), errors);
        }
        let named = port.at("name");
        named.perhaps(name::port_name, errors);
        if !named.empty() {
            if names.contains(&named.own()) {
                errors.push(named.duplicate());
            }
            names.push(named.own());
        }
        if !port.has("protocol") {
            errors.push(port.at("protocol").required(""));
        }
    }
}

/// Ports of the node: each can be had once, and with the node's network they are the container's.
pub(super) fn host_ports(container: &Place<'_>, spec: &Place<'_>, taken: &mut Vec<String>, errors: &mut Errors) {
    for port in container.each("ports") {
        let Some(number) = port.number("hostPort").filter(|number| *number != 0) else {
            continue;
        };
        let key = format!("{}/{}/{number}", port.text("protocol"), port.text("hostIP"));
        let place = port.at("hostPort");
        if taken.contains(&key) {
            errors.push(FieldError::duplicate(place.path.as_str(), key.as_str()));
        }
        taken.push(key);
        if spec.value["hostNetwork"] == true && port.number("containerPort") != Some(number) {
            errors.push(place.invalid("must match `containerPort` when `hostNetwork` is true"));
        }
    }
}

/// What a container that runs before the others may not have.
pub(super) fn initial(container: &Place<'_>, errors: &mut Errors) {
    if container.text("restartPolicy") == "Always" {
        return;
    }
    for name in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
        if container.has(name) {
            let why = "may not be set for init containers without restartPolicy=Always";
            errors.push(container.at(name).forbidden(why));
        }
    }
}

/// A variable of the environment.
pub(crate) fn variable(variable: &Place<'_>, errors: &mut Errors) {
    let place = variable.at("name");
    if place.empty() {
        errors.push(place.required(""));
    } else if !place.own().chars().all(|c| matches!(c, ' '..='~') && c != '=') {
        let why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
        errors.push(place.invalid(why));
    }
    if variable.has("valueFrom") && !variable.text("value").is_empty() {
        let why = "may not be specified when `value` is not empty";
        errors.push(FieldError::invalid(variable.at("valueFrom").path, "", why));
    }
}

/// Where a variable's value comes from.
pub(crate) fn variable_source(source: &Place<'_>, errors: &mut Errors) {
    let kinds = [
        "fieldRef",
        "resourceFieldRef",
        "configMapKeyRef",
        "secretKeyRef",
        "fileKeyRef",
    ];
    match kinds.iter().filter(|kind| source.has(kind)).count() {
        0 => {
            let why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
            errors.push(FieldError::invalid(source.path.as_str(), "", why));
        }
        1 => {}
        _ => {
            let why = "may not have more than one field specified at a time";
            errors.push(FieldError::invalid(source.path.as_str(), "", why));
        }
    }
    const VALUES: [&str; 9] = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    if source.has("fieldRef") {
        pod_field(&source.under("fieldRef", "fieldPath"), &VALUES, errors);
    }
}

/// A field of the pod, chosen by its path.
pub(crate) fn field_selector(selector: &Place<'_>, errors: &mut Errors) {
    if selector.text("fieldPath").is_empty() {
        let path = super::volume::unlisted(&selector.at("fieldPath").path);
        errors.push(FieldError::required(path, ""));
    }
}

/// A field of the pod that its containers may read.
pub(super) fn pod_field(place: &Place<'_>, allowed: &[&str], errors: &mut Errors) {
    const KNOWN: [&str; 16] = [
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ];
    let given = place.own();
    if given.is_empty() {
        return;
    }
    if let Some((map, key)) = given.split_once("['") {
        let key = key.strip_suffix("']").unwrap_or(key);
        if matches!(map, "metadata.labels" | "metadata.annotations") {
            let complaints = name::qualified(&key.to_lowercase());
            errors.extend(complaints.into_iter().map(|why| place.invalid(why)));
        } else {
            errors.push(place.invalid(format!("{map:?} does not support subscript")));
        }
    } else if !KNOWN.contains(&given) {
        errors.push(place.invalid(format!(
            "error converting fieldPath: field label not supported: {given}"
        )));
    } else if !allowed.contains(&given) {
        errors.push(place.not_supported(allowed));
    }
}

/// How much of something a container may or wants to use.
pub(crate) fn resource_field(selector: &Place<'_>, errors: &mut Errors) {
    const NAMES: [&str; 6] = [
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
    ];
    let plain = Place::new(selector.value, super::volume::unlisted(&selector.path));
    let place = plain.at("resource");
    let given = place.own();
    if given.is_empty() {
        errors.push(place.required(""));
        return;
    }
    let pages = given.strip_prefix("limits.").or(given.strip_prefix("requests."));
    if !NAMES.contains(&given) && !pages.is_some_and(|name| name.starts_with("hugepages-")) {
        errors.push(place.not_supported(&NAMES));
        return;
    }
    let divisor = selector.text("divisor");
    let (fits, why): (&[&str], _) = if given.ends_with(".cpu") {
        (
            &["", "0", "1", "1m"],
            "only divisor's values 1m and 1 are supported with the cpu resource",
        )
    } else {
        (
            &[
                "", "0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
            ],
            "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the resource",
        )
    };
    if !fits.contains(&divisor) {
        errors.push(FieldError::invalid(plain.at("divisor").path, given, why));
    }
}

/// Where many variables come from; refused by the list's name.
pub(crate) fn environment_source(source: &Place<'_>, errors: &mut Errors) {
    let path = source
        .path
        .rsplit_once('[')
        .map_or(source.path.as_str(), |(list, _)| list);
    match (source.has("configMapRef"), source.has("secretRef")) {
        (false, false) => {
            let why = "must specify one of: `configMapRef` or `secretRef`";
            errors.push(FieldError::invalid(path, "", why));
        }
        (true, true) => {
            let why = "may not have more than one field specified at a time";
            errors.push(FieldError::invalid(path, "", why));
        }
        _ => {}
    }
}

/// Whether changed resources restart a container; refused by the list's name.
pub(crate) fn resize(policy: &Place<'_>, errors: &mut Errors) {
    let path = policy
        .path
        .rsplit_once('[')
        .map_or(policy.path.as_str(), |(list, _)| list);
    for (key, choices) in [
        ("resourceName", ["cpu", "memory"]),
        ("restartPolicy", ["NotRequired", "RestartContainer"]),
    ] {
        match policy.text(key) {
            "" => errors.push(FieldError::required(path, "")),
            given if !choices.contains(&given) => {
                errors.push(FieldError::not_supported(path, given, &choices));
            }
            _ => {}
        }
    }
}

/// What a pod's containers may mount: its volumes, each with whether it can be a raw device.
pub(super) type Volumes<'a> = Vec<(&'a str, bool)>;

/// Mounts and devices; names and paths may be used once.
pub(super) fn mounts(container: &Place<'_>, volumes: &Volumes<'_>, errors: &mut Errors) {
    let privileged = container.value["securityContext"]["privileged"] == true;
    let known = |name: &str| volumes.iter().find(|(volume, _)| *volume == name);
    let listed = |list: &str, key: &'static str| -> Vec<&str> {
        container.each(list).iter().map(|item| item.text(key)).collect()
    };
    let (device_names, device_paths) = (listed("volumeDevices", "name"), listed("volumeDevices", "devicePath"));
    let (mount_names, mount_paths) = (listed("volumeMounts", "name"), listed("volumeMounts", "mountPath"));
    let once = |given: &str, all: &[&str], position: usize| {
        !given.is_empty() && all.iter().take(position).any(|other| *other == given)
    };
    let without_position = field::child(&container.path, "volumeMounts");
    for (position, mount) in container.each("volumeMounts").iter().enumerate() {
        let (name, path) = (mount.at("name"), mount.at("mountPath"));
        name.want("", errors);
        if known(name.own()).is_none() {
            errors.push(FieldError::new(
                field::Kind::NotFound,
                name.path.as_str(),
                Some(name.own().into()),
                "",
            ));
        }
        path.want("", errors);
        if once(path.own(), &mount_paths, position) {
            errors.push(path.invalid("must be unique"));
        }
        if device_names.contains(&name.own()) && !name.empty() {
            errors.push(name.invalid("must not already exist in volumeDevices"));
        }
        if device_paths.contains(&path.own()) && !path.empty() {
            errors.push(path.invalid("must not already exist as a path in volumeDevices"));
        }
        for (key, choices) in [
            ("mountPropagation", ["Bidirectional", "HostToContainer", "None"]),
            ("recursiveReadOnly", ["Disabled", "Enabled", "IfPossible"]),
        ] {
            if mount.has(key) && !choices.contains(&mount.text(key)) {
                let path = field::child(&without_position, key);
                errors.push(FieldError::not_supported(path, mount.text(key), &choices));
            }
        }
        for key in ["subPath", "subPathExpr"] {
            let place = Place::new(&mount.value[key], field::child(&without_position, key));
            super::volume::relative(&place, errors);
        }
        if !mount.text("subPath").is_empty() && !mount.text("subPathExpr").is_empty() {
            let path = field::child(&without_position, "subPathExpr");
            let why = "subPathExpr and subPath are mutually exclusive";
            errors.push(FieldError::invalid(path, mount.text("subPathExpr"), why));
        }
        if mount.text("mountPropagation") == "Bidirectional" && !privileged {
            let why = "Bidirectional mount propagation is available only to privileged containers";
            errors.push(FieldError::forbidden(
                field::child(&without_position, "mountPropagation"),
                why,
            ));
        }
    }
    for (position, device) in container.each("volumeDevices").iter().enumerate() {
        let (name, path) = (device.at("name"), device.at("devicePath"));
        name.want("", errors);
        if once(name.own(), &device_names, position) {
            errors.push(name.invalid("must be unique"));
        }
        match known(name.own()) {
            None => {
                errors.push(FieldError::new(
                    field::Kind::NotFound,
                    name.path.as_str(),
                    Some(name.own().into()),
                    "",
                ));
            }
            Some((_, false)) => {
                let why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.push(name.invalid(why));
            }
            Some((_, true)) => {}
        }
        path.want("", errors);
        if once(path.own(), &device_paths, position) {
            errors.push(path.invalid("must be unique"));
        }
        if path.own().split('/').any(|part| part == "..") {
            errors.push(path.invalid("can not contain backsteps ('..')"));
        } else if mount_paths.contains(&path.own()) && !path.empty() {
            errors.push(path.invalid("must not already exist in volumeMounts"));
        }
        if mount_names.contains(&name.own()) && !name.empty() {
            errors.push(name.invalid("must not already exist in volumeMounts"));
        }
    }
}
