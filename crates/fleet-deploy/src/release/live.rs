//! The live objects of a release, read one by one. A list by label makes the server look at every
//! object of its kind in the namespace, release records among them; for the few objects of an
//! ordinary release single reads cost it next to nothing. Where a release has many objects of a
//! kind, or an object may be left over that only a list can find, lists are better.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use helm::release::Release;
use serde_json::Value;

use crate::cluster::{self, Cluster};
use crate::object::{self, ObjectKey};
use crate::postrender;
use crate::release::item::{AT_ONCE, item};

/// Objects of one kind and namespace that are read one by one.
const FEW: usize = 4;
/// Longest manifest that is looked through for this.
const SHORT: usize = 64 * 1024;

/// The objects of `release` that are there; `None` if lists are the better way, or if reading one
/// failed (whoever lists then finds out why). `previous` is the revision before.
pub async fn live(cluster: &Cluster, release: &Release, previous: Option<&Release>) -> Option<Vec<Value>> {
    let keys = keys(cluster, release).await?;
    if previous.is_some_and(|previous| may_leave_over(previous, &keys)) || !are_few(&keys) {
        return None;
    }
    let mut reads = Vec::with_capacity(keys.len());
    for key in &keys {
        reads.push(cluster.get(key));
    }
    let found: Result<Vec<Option<Value>>, cluster::Error> = stream::iter(reads).buffered(AT_ONCE).try_collect().await;
    Some(found.ok()?.into_iter().flatten().collect())
}

async fn keys(cluster: &Cluster, release: &Release) -> Option<Vec<ObjectKey>> {
    if release.manifest.len() > SHORT {
        return None;
    }
    let mut keys = Vec::new();
    for object in postrender::objects_of(&release.manifest).ok()? {
        keys.push(item(cluster, object, &release.namespace).await.ok()?.key);
    }
    Some(keys)
}

fn are_few(keys: &[ObjectKey]) -> bool {
    let mut numbers: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for key in keys {
        *numbers
            .entry((&key.api_version, &key.kind, &key.namespace))
            .or_default() += 1;
    }
    numbers.values().all(|number| *number <= FEW)
}

/// Whether `previous` had an object that is not among `keys`.
fn may_leave_over(previous: &Release, keys: &[ObjectKey]) -> bool {
    let wanted: BTreeSet<(&str, &str)> = keys.iter().map(|key| (key.kind.as_str(), key.name.as_str())).collect();
    let Ok(objects) = postrender::objects_of(&previous.manifest) else {
        return true;
    };
    objects
        .iter()
        .any(|object| !wanted.contains(&(object::kind(object), object::name(object))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str) -> ObjectKey {
        ObjectKey {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            namespace: "n".into(),
            name: name.into(),
        }
    }

    fn with(names: &[&str]) -> Release {
        let document = |name: &&str| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
        Release {
            manifest: names.iter().map(document).collect(),
            ..Release::default()
        }
    }

    #[test]
    fn many_objects_of_a_kind_are_listed() {
        assert!(are_few(&["a", "b", "c", "d"].map(map)));
        assert!(!are_few(&["a", "b", "c", "d", "e"].map(map)));
    }

    #[test]
    fn only_a_list_finds_what_a_revision_before_left_over() {
        assert!(!may_leave_over(&with(&["a"]), &["a", "b"].map(map)));
        assert!(may_leave_over(&with(&["a", "c"]), &["a", "b"].map(map)));
    }
}
