//! Claims, volumes and classes of storage and of priority.

use std::collections::{BTreeMap, BTreeSet};

use kubeschema::field::FieldError;
use kubeschema::name;
use kubeschema::quantity::Quantity;
use serde_json::Value;

use super::place::{Errors, Place};
use super::pod::resources;

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// A volume needs a capacity, modes and one source.
pub(super) fn volume(object: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    const SETTINGS: [&str; 9] = [
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    ];
    let spec = object.at("spec");
    let modes = spec.at("accessModes");
    modes.want("", errors);
    self::modes(&modes, errors);
    let capacity = spec.at("capacity");
    capacity.want("", errors);
    if !capacity.has("storage") || capacity.entries().count() > 1 {
        errors.push(capacity.not_supported(&["storage"]));
    }
    positive(
        &Place::new(&capacity.value["storage"], "spec.capacity[storage]"),
        errors,
    );
    let sources = spec
        .value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str());
    match sources
        .filter(|key| !SETTINGS.contains(key))
        .collect::<Vec<_>>()
        .as_slice()
    {
        [] => errors.push(spec.required("must specify a volume type")),
        [_] => {}
        several => {
            // The first of them in the reference's order stands, the others are too many.
            let first = SOURCES.iter().find(|source| several.contains(source)).copied();
            for source in several.iter().filter(|source| Some(**source) != first) {
                errors.push(spec.at(source).forbidden("may not specify more than 1 volume type"));
            }
        }
    }
    spec.at("storageClassName").perhaps(name::dns_subdomain, errors);
    if spec.has("local") && !spec.has("nodeAffinity") {
        errors.push(spec.at("nodeAffinity").required("Local volume requires node affinity"));
    }
    let policy = spec.text("persistentVolumeReclaimPolicy");
    if policy == "Recycle" && spec.under("hostPath", "path").own() == "/" {
        let why = "may not be 'recycle' for a hostPath mount of '/'";
        errors.push(spec.at("persistentVolumeReclaimPolicy").forbidden(why));
    }
    let Some(old) = old else { return };
    for source in old["spec"].as_object().into_iter().flatten().map(|(key, _)| key) {
        if !SETTINGS.contains(&source.as_str()) && old["spec"][source.as_str()] != *spec.at(source).value {
            let why = "spec.persistentvolumesource is immutable after creation";
            errors.push(FieldError::forbidden("spec.persistentvolumesource", why));
        }
    }
    super::immutable("volumeMode", "/spec/volumeMode", object.value, Some(old), errors);
    let affinity = spec.at("nodeAffinity");
    if !old["spec"]["nodeAffinity"].is_null() && old["spec"]["nodeAffinity"] != *affinity.value {
        let why = "field is immutable, except for updating from beta label to GA";
        errors.push(FieldError::invalid("nodeAffinity", affinity.value.clone(), why));
    }
}

/// Which nodes can reach a volume.
pub(super) fn node_constraints(required: &Place<'_>, errors: &mut Errors) {
    if required.value.is_null() {
        errors.push(required.required("must specify required node constraints"));
    }
}

fn modes(modes: &Place<'_>, errors: &mut Errors) {
    for mode in modes.items() {
        if !MODES.contains(&mode.own()) {
            errors.push(FieldError::not_supported(modes.path.as_str(), mode.own(), &MODES));
        }
    }
    let others = modes.items().any(|mode| mode.own() != "ReadWriteOncePod");
    if others && modes.items().any(|mode| mode.own() == "ReadWriteOncePod") {
        let why = "may not use ReadWriteOncePod with other access modes";
        errors.push(modes.forbidden(why));
    }
}

fn positive(amount: &Place<'_>, errors: &mut Errors) {
    if resources::parsed(amount).is_some_and(|amount| amount.nano() <= 0) {
        errors.push(amount.invalid("must be greater than zero"));
    }
}

/// What a claim asks for, in a claim, a template or a pod.
pub(super) fn claim_spec(spec: &Place<'_>, errors: &mut Errors) {
    let modes = spec.at("accessModes");
    modes.want("at least 1 access mode is required", errors);
    self::modes(&modes, errors);
    spec.at("storageClassName").perhaps(name::dns_subdomain, errors);
    let size = Place::new(
        &spec.value["resources"]["requests"]["storage"],
        format!("{}[storage]", spec.at("resources").path),
    );
    size.want("", errors);
    positive(&size, errors);
    for field in ["dataSource", "dataSourceRef"] {
        let source = spec.at(field);
        if source.value.is_object() {
            for key in ["name", "kind"] {
                source.at(key).want("", errors);
            }
            let core = source.text("apiGroup").is_empty() && source.text("kind") != "PersistentVolumeClaim";
            if core && !source.text("kind").is_empty() {
                errors.push(source.invalid("must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
            }
        }
    }
}

/// What of a claim may change: how much, and once, which volume.
pub(super) fn claim(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    let Some(old) = old else { return };
    let fixed = |claim: &Value| {
        let mut spec = claim["spec"].clone();
        if let Some(map) = spec.as_object_mut() {
            map.remove("volumeAttributesClassName");
            let bound = object["status"]["phase"] == "Bound";
            if let Some(requests) = map
                .get_mut("resources")
                .and_then(|r| r.get_mut("requests"))
                .and_then(Value::as_object_mut)
                .filter(|_| bound)
            {
                requests.remove("storage");
            }
            // A claim gets a class once, and is bound once.
            if old["spec"]["storageClassName"].is_null() && old["metadata"]["annotations"][CLASS].is_null() {
                map.remove("storageClassName");
            }
            if old["spec"]["volumeName"].as_str().is_none_or(str::is_empty) {
                map.remove("volumeName");
            }
        }
        spec
    };
    if fixed(old) != fixed(object) {
        let why =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        errors.push(FieldError::forbidden("spec", why));
    }
    let size = |claim: &Value, pointer: &str| {
        let text = claim.pointer(pointer).and_then(Value::as_str).unwrap_or("0");
        Quantity::parse(text).map_or(0, |size| size.nano())
    };
    let (before, now) = (size(old, REQUEST), size(object, REQUEST));
    // A growth that failed may be taken back, down to what there is.
    if now < before && now <= size(object, "/status/capacity/storage") {
        let why = "field can not be less than status.capacity";
        errors.push(FieldError::forbidden("spec.resources.requests.storage", why));
    }
    super::immutable("volumeMode", "/spec/volumeMode", object, Some(old), errors);
}

/// Where the class of a claim stood before it had a field.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// What volumes can be made of, in the order in which the reference asks.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flocker",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
    "flexVolume",
];

const REQUEST: &str = "/spec/resources/requests/storage";

/// Which places volumes of a class can be in.
pub(super) fn topology(term: &Place<'_>, errors: &mut Errors) {
    let labels = term.at("matchLabelExpressions");
    labels.unique(|label| label.at("key"), errors);
    for label in labels.items() {
        label.at("key").named(name::qualified, errors);
        let values = label.at("values");
        values.want("", errors);
        values.unique(Place::clone, errors);
    }
}

/// A storage driver.
pub(super) fn driver(object: &Place<'_>, errors: &mut Errors) {
    const MODES: [&str; 2] = ["Persistent", "Ephemeral"];
    let spec = object.at("spec");
    let modes = spec.at("volumeLifecycleModes");
    for mode in modes.items() {
        if !MODES.contains(&mode.own()) {
            errors.push(FieldError::not_supported(modes.path.as_str(), mode.own(), &MODES));
        }
    }
    spec.at("tokenRequests")
        .unique(|request| request.at("audience"), errors);
}

/// Drivers on a node.
pub(super) fn node_drivers(drivers: &Place<'_>, errors: &mut Errors) {
    drivers.unique(|driver| driver.at("name"), errors);
}

/// Whether pods of a class push others out.
pub(super) fn preemption(policy: &Place<'_>, errors: &mut Errors) {
    policy.want("", errors);
    if !policy.empty() {
        policy.choice(&["Never", "PreemptLowerPriority"], errors);
    }
}

/// A driver on a node.
pub(super) fn node_driver(driver: &Place<'_>, errors: &mut Errors) {
    const IDENTITY: usize = 192;
    super::pod::volume::driver(&driver.at("name"), errors);
    let identity = driver.at("nodeID");
    identity.want("", errors);
    if identity.own().len() > IDENTITY {
        errors.push(identity.invalid(format!("must be {IDENTITY} characters or less")));
    }
    let mut seen = Vec::new();
    for key in driver.each("topologyKeys") {
        let given = key.own();
        if given.is_empty() {
            errors.push(driver.required(""));
        }
        if seen.contains(&given) {
            errors.push(FieldError::duplicate(driver.path.as_str(), given));
        }
        seen.push(key.value.as_str().unwrap_or_default());
        let complaints = name::qualified(given);
        errors.extend(
            complaints
                .into_iter()
                .map(|why| FieldError::invalid(driver.path.as_str(), given, why)),
        );
    }
}

/// A volume attached to a node.
pub(super) fn attachment(spec: &Place<'_>, errors: &mut Errors) {
    let source = spec.at("source");
    let name = source.at("persistentVolumeName");
    if name.value.is_null() != source.has("inlineVolumeSpec") {
        let why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
        errors.push(source.required(why));
    }
    if !name.value.is_null() {
        if name.empty() {
            errors.push(name.required("must specify non empty persistentVolumeName"));
        }
        name.named(name::dns_subdomain, errors);
    }
}

/// How much storage there is somewhere.
pub(super) fn capacity(object: &Place<'_>, errors: &mut Errors) {
    let class = object.at("storageClassName");
    let complaints = name::dns_subdomain(class.own());
    errors.extend(
        complaints
            .into_iter()
            .map(|why| FieldError::invalid(class.path.as_str(), class.own(), why)),
    );
    for field in ["capacity", "maximumVolumeSize"] {
        let amount = object.at(field);
        if resources::parsed(&amount).is_some_and(|amount| amount.nano() < 0) {
            errors.push(amount.invalid("must be greater than or equal to 0"));
        }
    }
}

pub(super) fn class(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    if object["provisioner"].as_str().is_none_or(str::is_empty) {
        errors.push(FieldError::required("provisioner", ""));
    }
    topologies(&Place::new(object, ""), errors);
    Place::new(&object["provisioner"], "provisioner").perhaps(|given| name::qualified(&given.to_lowercase()), errors);
    let Some(old) = old else { return };
    for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
        super::immutable(field, &format!("/{field}"), object, Some(old), errors);
    }
}

/// No two terms of the allowed topologies say the same; what says nothing is refused in the same words, once for every
/// term there is.
fn topologies(class: &Place<'_>, errors: &mut Vec<FieldError>) {
    let terms = class.each("allowedTopologies");
    let mut seen: Vec<BTreeMap<&str, BTreeSet<&str>>> = vec![BTreeMap::new(); terms.len()];
    for term in &terms {
        let expressions = term.at("matchLabelExpressions");
        let said: BTreeMap<&str, BTreeSet<&str>> = expressions
            .items()
            .map(|expression| {
                let values = expression.at("values");
                let values = values.value.as_array().into_iter().flatten().filter_map(Value::as_str);
                (expression.text("key"), values.collect())
            })
            .collect();
        for _ in seen.iter().filter(|other| **other == said) {
            errors.push(FieldError::duplicate(expressions.path.as_str(), ""));
        }
        seen.push(said);
    }
}

pub(super) fn priority(object: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    const HIGHEST: i64 = 1_000_000_000;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if object["value"].as_i64().is_some_and(|value| value > HIGHEST) && !name.starts_with("system-") {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        errors.push(FieldError::forbidden("value", why));
    }
    const OWN: [&str; 2] = ["system-cluster-critical", "system-node-critical"];
    if old.is_none() && name.starts_with("system-") && !OWN.contains(&name) {
        let why = format!(
            "priority class names with 'system-' prefix are reserved for system use only. error: {name} is not a known system \
             priority class"
        );
        errors.push(FieldError::forbidden("metadata.name", why));
    }
    if old.is_some_and(|old| old["value"].as_i64().unwrap_or_default() != object["value"].as_i64().unwrap_or_default())
    {
        errors.push(FieldError::forbidden("value", "may not be changed in an update."));
    }
    super::immutable("preemptionPolicy", "/preemptionPolicy", object, old, errors);
}
