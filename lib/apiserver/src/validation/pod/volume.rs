//! Volumes of pods: names, sources, and the paths that files get.

use kubeschema::field::{self, FieldError};
use kubeschema::name;

use super::super::metadata;
use super::super::place::{Errors, Place};
use super::container::{Volumes, pod_field};
use super::unique_label;

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

/// Judges names and counts sources; gives the volumes that nothing is wrong with.
pub(super) fn known<'a>(volumes: &Place<'a>, errors: &mut Errors) -> Volumes<'a> {
    let mut names = Vec::new();
    let mut known = Volumes::new();
    for volume in volumes.items() {
        let before = errors.len();
        let sources = one_source(&volume, errors);
        if sources <= 1 {
            unique_label(&volume.at("name"), &mut names, errors);
        }
        // What the source itself was refused for stands there already.
        let inside = format!("{}.", volume.path);
        let refused = errors.len() > before || errors.iter().any(|error| error.field.starts_with(&inside));
        if !refused {
            let raw = volume.has("persistentVolumeClaim") || volume.has("ephemeral");
            known.push((volume.text("name"), raw));
        }
    }
    known
}

/// Claims that come and go with a pod are named after it and their volume.
pub(in super::super) fn own_claims(pod: &Place<'_>, errors: &mut Errors) {
    let pod_name = pod.under("metadata", "name");
    for volume in pod.at("spec").each("volumes") {
        if !volume.has("ephemeral") || pod_name.empty() {
            continue;
        }
        let name = volume.at("name");
        if name.empty() {
            continue;
        }
        let claim = format!("{}-{}", pod_name.own(), name.own());
        for why in name::dns_subdomain(&claim) {
            errors.push(name.invalid(format!("PVC name {claim:?}: {why}")));
        }
    }
}

/// A volume has one source; gives how many it has.
fn one_source(volume: &Place<'_>, errors: &mut Errors) -> usize {
    let keys = volume
        .value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str());
    let mut sources: Vec<&str> = keys.filter(|key| *key != "name").collect();
    sources.sort_by_key(|key| SOURCES.iter().position(|source| source == key).unwrap_or(SOURCES.len()));
    match sources.as_slice() {
        [] => errors.push(volume.required("must specify a volume type")),
        [_] => {}
        [_, second, ..] => {
            let why = "may not specify more than 1 volume type";
            errors.push(volume.at(second).forbidden(why));
        }
    }
    sources.len()
}

/// Tokens belong to an account.
pub(super) fn tokens_forbidden(volumes: &Place<'_>, errors: &mut Errors) {
    for volume in volumes.items() {
        for source in volume.at("projected").each("sources") {
            if source.has("serviceAccountToken") {
                let why = "must not be specified when serviceAccountName is not set";
                errors.push(source.at("serviceAccountToken").forbidden(why));
            }
        }
    }
}

/// A path below a directory.
pub(crate) fn relative(place: &Place<'_>, errors: &mut Errors) {
    if place.own().starts_with('/') {
        errors.push(place.invalid("must be a relative path"));
    } else {
        no_way_back(place, errors);
    }
}

/// A path that does not leave where it is.
pub(crate) fn no_way_back(place: &Place<'_>, errors: &mut Errors) {
    if place.own().split('/').any(|part| part == "..") {
        errors.push(place.invalid("must not contain '..'"));
    }
}

/// A path from the root.
pub(crate) fn absolute(place: &Place<'_>, errors: &mut Errors) {
    if !place.own().starts_with('/') {
        errors.push(FieldError::invalid(
            place.path.as_str(),
            place.own(),
            "must be an absolute path",
        ));
    }
}

/// The name of a storage driver.
pub(crate) fn driver(place: &Place<'_>, errors: &mut Errors) {
    const MAXIMUM: usize = 63;
    place.want("", errors);
    if place.own().len() > MAXIMUM {
        errors.push(FieldError::too_long(place.path.as_str(), MAXIMUM));
    }
    if !place.empty() {
        let complaints = name::dns_subdomain(&place.own().to_lowercase());
        errors.extend(complaints.into_iter().map(|why| place.invalid(why)));
    }
}

/// The secret a driver mounts with; a bad name is refused by the driver's path.
pub(crate) fn publish_secret(secret: &Place<'_>, errors: &mut Errors) {
    if !secret.value.is_object() {
        return;
    }
    let given = secret.text("name");
    if given.is_empty() {
        errors.push(secret.at("name").required(""));
    }
    let driver = secret.path.rsplit_once('.').map_or("", |(driver, _)| driver);
    if !given.is_empty() {
        let complaints = name::dns_subdomain(given);
        errors.extend(
            complaints
                .into_iter()
                .map(|why| FieldError::invalid(field::child(driver, "name"), given, why)),
        );
    }
}

/// Where a disk is.
pub(crate) fn disk_address(address: &Place<'_>, errors: &mut Errors) {
    if !address.own().starts_with("https://") && !address.own().starts_with("/subscriptions") {
        let form = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
        errors.push(FieldError::not_supported(address.path.as_str(), address.own(), &[form]));
    }
}

/// An amount of memory or disk.
pub(crate) fn size_limit(limit: &Place<'_>, errors: &mut Errors) {
    if limit.own().starts_with('-') {
        errors.push(limit.forbidden("SizeLimit field must be a valid resource quantity"));
    }
}

/// A disk on a fibre channel network.
pub(crate) fn fibre_channel(disk: &Place<'_>, errors: &mut Errors) {
    let names = disk.at("targetWWNs");
    if names.empty() == disk.at("wwids").empty() {
        let why = "must specify either targetWWNs or wwids, but not both";
        if names.empty() {
            errors.push(names.required(why));
        } else {
            errors.push(names.invalid(why));
        }
    }
    if !names.empty() && !disk.has("lun") {
        errors.push(disk.at("lun").required("lun is required if targetWWNs is specified"));
    }
}

/// A data set by name or identity.
pub(crate) fn flocker(set: &Place<'_>, errors: &mut Errors) {
    let name = set.at("datasetName");
    match (name.empty(), set.at("datasetUUID").empty()) {
        (true, true) => errors.push(set.required("one of datasetName and datasetUUID is required")),
        (false, false) => {
            let why = "datasetName and datasetUUID can not be specified simultaneously";
            errors.push(FieldError::invalid(set.path.as_str(), "resource", why));
        }
        _ => {}
    }
    if name.own().contains('/') {
        errors.push(name.invalid("must not contain '/'"));
    }
}

/// The name of a target on an iSCSI network.
pub(crate) fn initiator(name: &Place<'_>, errors: &mut Errors) {
    let known = ["iqn.", "eui.", "naa."]
        .iter()
        .any(|prefix| name.own().starts_with(prefix));
    if !name.empty() && !known {
        errors.push(name.invalid("must be valid format starting with iqn, eui, or naa"));
    }
}

/// A volume in a Quobyte cluster.
pub(crate) fn quobyte(volume: &Place<'_>, errors: &mut Errors) {
    let why = "must be a host:port pair or multiple pairs separated by commas";
    let registry = volume.at("registry");
    if registry.empty() {
        errors.push(registry.required(why));
    } else if !registry.own().split(',').all(|pair| pair.contains(':')) {
        errors.push(registry.invalid(why));
    }
    volume.at("volume").want("", errors);
}

/// The path of something in a file about the pod, without the file's place in its list: that is how it is refused.
pub(super) fn unlisted(path: &str) -> String {
    const LIST: &str = "downwardAPI.items[";
    match path.split_once(LIST) {
        Some((before, rest)) => {
            let rest = rest.split_once(']').map_or("", |(_, rest)| rest);
            format!("{before}downwardAPI{rest}")
        }
        None => path.to_owned(),
    }
}

/// A file with something about the pod; refused without its place in the list.
pub(crate) fn downward_file(file: &Place<'_>, errors: &mut Errors) {
    let plain = Place::new(file.value, unlisted(&file.path));
    let path = plain.at("path");
    path.want("", errors);
    relative(&path, errors);
    const VALUES: [&str; 5] = [
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
    ];
    let (of_pod, of_container) = (plain.at("fieldRef"), plain.at("resourceFieldRef"));
    match (of_pod.value.is_object(), of_container.value.is_object()) {
        (true, false) => pod_field(&of_pod.at("fieldPath"), &VALUES, errors),
        (false, true) => of_container.at("containerName").want("", errors),
        (false, false) => errors.push(plain.required("one of fieldRef and resourceFieldRef is required")),
        (true, true) => {
            let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.push(FieldError::invalid(plain.path.as_str(), "resource", why));
        }
    }
}

/// Where a token goes; refused without its place in the list.
pub(crate) fn token_path(path: &Place<'_>, errors: &mut Errors) {
    let base = path
        .path
        .split_once(".sources[")
        .map_or(path.path.as_str(), |(base, _)| base);
    let plain = Place::new(path.value, field::child(base, "path"));
    plain.want("", errors);
    relative(&plain, errors);
}

/// Several sources in one directory: each is one thing, and no two files have the same path.
pub(crate) fn projected(volume: &Place<'_>, errors: &mut Errors) {
    let mut paths: Vec<&str> = Vec::new();
    for source in volume.each("sources") {
        let kinds = source.value.as_object().map_or(0, serde_json::Map::len);
        if kinds > 1 {
            let why = "may not specify more than 1 volume type per source";
            errors.push(source.forbidden(why));
        }
        for kind in ["secret", "configMap", "downwardAPI"] {
            for item in source.at(kind).each("items") {
                let path = item.text("path");
                if !path.is_empty() && paths.contains(&path) {
                    let name = source.at(kind).text("name");
                    errors.push(FieldError::invalid(
                        volume.path.as_str(),
                        name,
                        "conflicting duplicate paths",
                    ));
                }
                paths.push(path);
            }
        }
    }
}

/// The claim a volume makes for itself.
pub(crate) fn claim_template(template: &Place<'_>, errors: &mut Errors) {
    template.want("", errors);
    metadata::maps(
        &template.value["metadata"],
        &field::child(&template.path, "metadata"),
        errors,
    );
}

/// The name of a disk, which users know as a persistent disk.
pub(crate) fn disk_name(disk: &Place<'_>, errors: &mut Errors) {
    if disk.text("pdName").is_empty() {
        let volume = disk.path.rsplit_once('.').map_or("", |(volume, _)| volume);
        errors.push(FieldError::required(format!("{volume}.persistentDisk.pdName"), ""));
    }
}
