//! From the objects of one revision to those of another: what is wanted is written, what is only
//! in the old revision is removed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::cluster::{self, Cluster};
use crate::object::ObjectKey;
use crate::release::item::Item;
use crate::release::{Error, migrate};
use crate::write::{self, Method};

/// What a change did.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Objects as the server answered.
    pub(super) live: Vec<Value>,
    /// Objects of the old revision that are not in the new one, kept ones too.
    pub(super) removed: usize,
}

/// Writes `new` over `old`, and removes what is only in `old`.
pub(super) async fn change(cluster: &Cluster, method: Method, new: &[Item], old: &[Item]) -> Result<Changed, Error> {
    let before: BTreeMap<&ObjectKey, &Value> = old.iter().map(|item| (&item.key, &item.object)).collect();
    let mut changed = Changed::default();
    for item in new {
        let previous = before.get(&item.key).copied();
        let mut live = write::write(cluster, method, &item.object, previous, false).await?;
        if let Some(previous) = previous.filter(|_| method == Method::ServerSide)
            && let Some(again) = migrate::take_over(cluster, item, previous, &live).await?
        {
            live = again;
        }
        changed.live.push(live);
    }
    for item in gone(new, old) {
        changed.removed += 1;
        remove(cluster, item).await?;
    }
    Ok(changed)
}

/// Objects that are only in `old`. The same object under another version of its group is not
/// gone.
fn gone<'a>(new: &[Item], old: &'a [Item]) -> Vec<&'a Item> {
    fn place(key: &ObjectKey) -> (&str, &str, &str, &str) {
        (key.group_version().0, &key.kind, &key.namespace, &key.name)
    }
    let wanted: BTreeSet<_> = new.iter().map(|item| place(&item.key)).collect();
    old.iter().filter(|item| !wanted.contains(&place(&item.key))).collect()
}

async fn remove(cluster: &Cluster, item: &Item) -> Result<(), Error> {
    let failed = |source| Error::Delete(Box::new(item.key.clone()), source);
    let live = match cluster.get(&item.key).await {
        Ok(live) => live,
        Err(cluster::Error::UnknownKind { .. }) => None,
        Err(error) => return Err(failed(error)),
    };
    if live.is_some_and(|live| !write::is_kept(&live)) {
        cluster.delete(&item.key).await.map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(api_version: &str, kind: &str, name: &str) -> Item {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "n"}});
        Item {
            key: ObjectKey::of(&object),
            object,
        }
    }

    #[test]
    fn an_object_under_another_version_of_its_group_is_not_gone() {
        let old = [
            item("autoscaling/v1", "HorizontalPodAutoscaler", "a"),
            item("v1", "ConfigMap", "b"),
            item("extensions/v1beta1", "Ingress", "c"),
        ];
        let new = [
            item("autoscaling/v2", "HorizontalPodAutoscaler", "a"),
            item("networking.k8s.io/v1", "Ingress", "c"),
        ];
        let names: Vec<&str> = gone(&new, &old).iter().map(|item| item.key.name.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
    }
}
