//! What is allowed but unwise: the warnings that come with an accepted object.
//!
//! Mirrors upstream's `WarningsOnCreate` and `WarningsOnUpdate` for what charts and people commonly write.

use kubeschema::field;
use kubeschema::name;
use serde_json::Value;

use super::place::Place;
use crate::crd;
use crate::registry::Resource;

/// Warnings about an object that was accepted, in the order of its fields.
pub(crate) fn advice(resource: &Resource, object: &Value, old: Option<&Value>) -> Vec<String> {
    let place = Place::new(object, "");
    let mut texts = Vec::new();
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Pod") => {
            if old.is_none() {
                dotted(&place, "this is used in the Pod's hostname", &mut texts);
            }
            pod(&place.at("spec"), &mut texts);
            annotations(&place, &mut texts);
        }
        ("networking.k8s.io", "Ingress") if old.is_none() => ingress(&place, &mut texts),
        ("", "Service") => service(&place, &mut texts),
        ("", "Secret") => certificate(object, &mut texts),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => texts.extend(crd::definition::advice(object)),
        ("storage.k8s.io", "CSIDriver") => driver(&place.at("spec"), &mut texts),
        ("apps" | "batch", kind) | ("", kind @ ("ReplicationController" | "PodTemplate")) => {
            if old.is_none()
                && matches!(
                    kind,
                    "Deployment" | "Job" | "CronJob" | "ReplicaSet" | "ReplicationController"
                )
            {
                dotted(&place, "this is used in Pod names and hostnames", &mut texts);
            }
            let template = match kind {
                "CronJob" => place.under("spec", "jobTemplate").under("spec", "template"),
                "PodTemplate" => place.at("template"),
                _ => place.under("spec", "template"),
            };
            pod(&template.at("spec"), &mut texts);
            annotations(&template, &mut texts);
        }
        _ => {}
    }
    texts
}

/// The class of an Ingress was an annotation once.
fn ingress(object: &Place<'_>, texts: &mut Vec<String>) {
    const CLASS: &str = "kubernetes.io/ingress.class";
    if object.under("metadata", "annotations").has(CLASS) {
        texts.push(format!(
            "annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
}

/// Names with dots are no host names.
fn dotted(object: &Place<'_>, used: &str, texts: &mut Vec<String>) {
    let name = object.under("metadata", "name");
    let mut complaints: Vec<String> = Vec::new();
    if name.own().contains('.') && name::dns_label(&name.own().replace('.', "-")).is_empty() {
        complaints.push("must not contain dots".to_owned());
    } else if !name.empty() {
        complaints.extend(name::dns_label(name.own()));
    }
    if !complaints.is_empty() {
        texts.push(format!(
            "metadata.name: {used}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            complaints.join(" ")
        ));
    }
}

fn pod(spec: &Place<'_>, texts: &mut Vec<String>) {
    for (old, new) in [
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        (
            "failure-domain.beta.kubernetes.io/region",
            "topology.kubernetes.io/region",
        ),
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ] {
        if spec.at("nodeSelector").has(old) {
            let path = field::key(&spec.at("nodeSelector").path, old);
            let since = if new.starts_with("kubernetes.io") {
                "1.14"
            } else {
                "1.17"
            };
            texts.push(format!("{path}: deprecated since v{since}; use {new:?} instead"));
        }
    }
    for secret in spec.each("imagePullSecrets") {
        if secret.text("name").is_empty() {
            texts.push(format!("{}: invalid empty name {:?}", secret.path, ""));
        }
    }
    for list in ["initContainers", "containers"] {
        for container in spec.each(list) {
            repeated_variables(&container, texts);
            fractions(&container, texts);
        }
    }
    repeated_ports(spec, texts);
}

/// Security profiles have become fields.
fn annotations(owner: &Place<'_>, texts: &mut Vec<String>) {
    for (key, place) in owner.under("metadata", "annotations").entries() {
        if key.starts_with("container.apparmor.security.beta.kubernetes.io/") {
            texts.push(format!(
                "{}: deprecated since v1.30; use the \"appArmorProfile\" field instead",
                place.path
            ));
        }
    }
}

/// A name of a port that two containers have leads to the first.
fn repeated_ports(spec: &Place<'_>, texts: &mut Vec<String>) {
    let mut seen: Vec<(&str, String)> = Vec::new();
    for container in spec.each("containers") {
        let before = seen.len();
        for port in container.each("ports") {
            let name = port.value["name"].as_str().unwrap_or_default();
            if let Some((_, first)) = seen
                .iter()
                .take(before)
                .find(|(other, _)| !name.is_empty() && *other == name)
            {
                texts.push(format!(
                    "{}: duplicate port name {name:?} with {first}, services and probes that select ports by name will \
                     use {first}",
                    port.path
                ));
            }
            seen.push((name, port.path.clone()));
        }
    }
}

/// A variable that is set twice hides the first one.
fn repeated_variables(container: &Place<'_>, texts: &mut Vec<String>) {
    let mut seen: Vec<(&str, bool)> = Vec::new();
    for variable in container.each("env") {
        let name = variable.value["name"].as_str().unwrap_or_default();
        // A value that refers to its former self is meant.
        let refers = variable.text("value").contains(&format!("$({name})"));
        if seen.iter().any(|(other, _)| *other == name) && !refers {
            texts.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                variable.path
            ));
        }
        seen.push((name, refers));
    }
}

/// Memory comes in bytes.
fn fractions(container: &Place<'_>, texts: &mut Vec<String>) {
    for part in ["limits", "requests"] {
        for name in ["memory", "ephemeral-storage"] {
            let amount = container.under("resources", part).at(name);
            let whole = super::pod::resources::parsed(&amount).is_none_or(|amount| amount.nano() % 1_000_000_000 == 0);
            if !whole {
                let path = field::key(&container.under("resources", part).path, name);
                texts.push(format!(
                    "{path}: fractional byte value {:?} is invalid, must be an integer",
                    amount.own()
                ));
            }
        }
    }
}

fn service(object: &Place<'_>, texts: &mut Vec<String>) {
    let spec = object.at("spec");
    if !spec.at("externalIPs").empty() {
        texts.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".to_owned());
    }
    if spec.text("trafficDistribution") == "PreferClose" {
        texts.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".to_owned());
    }
}

/// A certificate that no server could use.
fn certificate(secret: &Value, texts: &mut Vec<String>) {
    use base64::Engine;
    if secret["type"] != "kubernetes.io/tls" {
        return;
    }
    let text = secret["data"]["tls.crt"].as_str().unwrap_or_default();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .unwrap_or_default();
    if !String::from_utf8_lossy(&bytes).contains("-----BEGIN") {
        texts.push("tls: failed to find any PEM data in certificate input".to_owned());
    }
}

fn driver(spec: &Place<'_>, texts: &mut Vec<String>) {
    if !spec.at("tokenRequests").empty() && !spec.has("serviceAccountTokenInSecrets") {
        let text = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
                    possible logging of tokens in volume attributes";
        texts.push(text.to_owned());
    }
}
