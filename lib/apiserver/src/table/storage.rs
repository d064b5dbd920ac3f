//! Rows of volumes and what makes them.

use serde_json::{Value, json};

use super::text::or_none;
use super::{Builtin, Row};

pub(super) fn printer(kind: &str) -> Option<Builtin> {
    Some(match kind {
        "PersistentVolume" => (
            "Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|VolumeMode::1",
            volume,
        ),
        "PersistentVolumeClaim" => (
            "Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode::1",
            claim,
        ),
        "StorageClass" => (
            "Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age",
            class,
        ),
        "CSIDriver" => (
            "AttachRequired:boolean|PodInfoOnMount:boolean|StorageCapacity:boolean|TokenRequests|RequiresRepublish:boolean|Modes|Age",
            driver,
        ),
        "CSINode" => ("Drivers:integer|Age", |row| {
            vec![json!(row.list("/spec/drivers").len()), row.age()]
        }),
        "VolumeAttachment" => ("Attacher::0:name|PV|Node|Attached:boolean|Age", |row| {
            vec![
                row.text("/spec/attacher").into(),
                row.text("/spec/source/persistentVolumeName").into(),
                row.text("/spec/nodeName").into(),
                json!(row.get("/status/attached") == true),
                row.age(),
            ]
        }),
        "VolumeAttributesClass" => ("DriverName|Age", |row| vec![row.text("/driverName").into(), row.age()]),
        _ => return None,
    })
}

fn modes(modes: &[Value]) -> Value {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let found = SHORT
        .iter()
        .filter(|(long, _)| modes.iter().any(|mode| mode == long))
        .map(|(_, short)| *short);
    found.collect::<Vec<_>>().join(",").into()
}

fn class_name(row: &Row<'_>) -> Value {
    match row.get("/metadata/annotations")["volume.beta.kubernetes.io/storage-class"].as_str() {
        Some(name) => name.into(),
        None => row.text("/spec/storageClassName").into(),
    }
}

/// An object's name; the default storage class says so with it.
pub(super) fn name(row: &Row<'_>) -> Value {
    let flag = |name: &str| row.get("/metadata/annotations")[name] == "true";
    let default = row.object["kind"] == "StorageClass"
        && (flag("storageclass.kubernetes.io/is-default-class")
            || flag("storageclass.beta.kubernetes.io/is-default-class"));
    if default {
        format!("{} (default)", row.text("/metadata/name")).into()
    } else {
        row.get("/metadata/name").clone()
    }
}

fn unset(row: &Row<'_>, pointer: &str) -> Value {
    match row.get(pointer).as_str() {
        Some(text) => text.into(),
        None => "<unset>".into(),
    }
}

fn phase(row: &Row<'_>) -> Value {
    if row.text("/metadata/deletionTimestamp").is_empty() {
        row.text("/status/phase").into()
    } else {
        "Terminating".into()
    }
}

fn volume(row: &Row<'_>) -> Vec<Value> {
    let claim = row.get("/spec/claimRef");
    let claim = if claim.is_object() {
        let part = |name: &str| claim[name].as_str().unwrap_or_default();
        format!("{}/{}", part("namespace"), part("name"))
    } else {
        String::new()
    };
    vec![
        row.text("/spec/capacity/storage").into(),
        modes(row.list("/spec/accessModes")),
        row.text("/spec/persistentVolumeReclaimPolicy").into(),
        phase(row),
        claim.into(),
        class_name(row),
        unset(row, "/spec/volumeAttributesClassName"),
        row.text("/status/reason").into(),
        row.age(),
        unset(row, "/spec/volumeMode"),
    ]
}

fn claim(row: &Row<'_>) -> Vec<Value> {
    let bound = !row.text("/spec/volumeName").is_empty();
    vec![
        phase(row),
        row.text("/spec/volumeName").into(),
        if bound {
            let capacity = row.text("/status/capacity/storage");
            if capacity.is_empty() {
                "0".into()
            } else {
                capacity.into()
            }
        } else {
            "".into()
        },
        if bound {
            modes(row.list("/status/accessModes"))
        } else {
            "".into()
        },
        class_name(row),
        unset(row, "/spec/volumeAttributesClassName"),
        row.age(),
        unset(row, "/spec/volumeMode"),
    ]
}

fn class(row: &Row<'_>) -> Vec<Value> {
    let policy = row.get("/reclaimPolicy").as_str().unwrap_or("Delete");
    let mode = row.get("/volumeBindingMode").as_str().unwrap_or("Immediate");
    let expansion = row.get("/allowVolumeExpansion") == true;
    vec![
        row.text("/provisioner").into(),
        policy.into(),
        mode.into(),
        expansion.into(),
        row.age(),
    ]
}

fn driver(row: &Row<'_>) -> Vec<Value> {
    let flag = |pointer: &str, default: bool| json!(row.get(pointer).as_bool().unwrap_or(default));
    let audiences: Vec<&str> = row
        .list("/spec/tokenRequests")
        .iter()
        .map(|token| token["audience"].as_str().unwrap_or_default())
        .collect();
    let tokens = if row.get("/spec/tokenRequests").is_array() {
        audiences.join(",")
    } else {
        "<unset>".to_owned()
    };
    let modes: Vec<&str> = row
        .list("/spec/volumeLifecycleModes")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    vec![
        flag("/spec/attachRequired", true),
        flag("/spec/podInfoOnMount", false),
        flag("/spec/storageCapacity", false),
        tokens.into(),
        flag("/spec/requiresRepublish", false),
        or_none(&modes.join(",")),
        row.age(),
    ]
}
