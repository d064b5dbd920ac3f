//! The order of the objects that come out: as they came in, or by kind, as people want to read and apply them.

use std::cmp::Ordering;

use crate::id::{Gvk, Id};
use crate::kustomization::SortOptions;
use crate::resource::Resource;

/// Kinds that others need, first.
const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];
/// Kinds that get in the way of others, last.
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Sorts as `sortOptions` asks.
///
/// # Errors
/// What is wrong with the options.
pub(crate) fn sort(resources: &mut [Resource], options: &SortOptions) -> Result<(), String> {
    let own = options.legacy_sort_options.as_ref();
    match options.order.as_str() {
        "fifo" if own.is_some() => Err("legacySortOptions are set, but the order is not legacy".to_owned()),
        "fifo" => Ok(()),
        "legacy" => {
            let (first, last) = match own {
                Some(own) => (
                    own.order_first.iter().map(String::as_str).collect(),
                    own.order_last.iter().map(String::as_str).collect(),
                ),
                None => (FIRST.to_vec(), LAST.to_vec()),
            };
            by_kind(resources, &first, &last);
            Ok(())
        }
        other => Err(format!("order: '{other}' is neither fifo nor legacy")),
    }
}

/// Sorts by kind as kustomize does if nobody says anything.
pub(crate) fn legacy(resources: &mut [Resource]) {
    by_kind(resources, &FIRST, &LAST);
}

fn by_kind(resources: &mut [Resource], first: &[&str], last: &[&str]) {
    resources.sort_by_cached_key(|resource| {
        let id = resource.id();
        let texts = (spelled(&id.gvk), named(&id));
        Key {
            place: place(&id.gvk.kind, first, last),
            // Namespaces come in the opposite order of their groups: those of the core group first.
            backwards: id.gvk.kind == "Namespace",
            texts,
        }
    });
}

#[derive(PartialEq, Eq)]
struct Key {
    place: i64,
    backwards: bool,
    texts: (String, String),
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let kinds = self.texts.0.cmp(&other.texts.0);
        let kinds = if self.backwards && other.backwards {
            kinds.reverse()
        } else {
            kinds
        };
        self.place
            .cmp(&other.place)
            .then(kinds)
            .then_with(|| self.texts.1.cmp(&other.texts.1))
    }
}

fn place(kind: &str, first: &[&str], last: &[&str]) -> i64 {
    // A kind that is given twice stands where it is given last.
    let position = |list: &[&str]| list.iter().rposition(|known| *known == kind);
    let number = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
    match (position(first), position(last)) {
        (_, Some(at)) => 1 + number(at),
        (Some(at), None) => number(at) - number(first.len()),
        (None, None) => 0,
    }
}

/// Where a kind stands among kinds.
pub(crate) fn rank(gvk: &Gvk) -> (i64, String) {
    (place(&gvk.kind, &FIRST, &LAST), spelled(gvk))
}

/// What is empty comes after everything that is said.
fn spelled(gvk: &Gvk) -> String {
    let or = |text: &str, otherwise: &str| {
        if text.is_empty() {
            otherwise.to_owned()
        } else {
            text.to_owned()
        }
    };
    format!(
        "{}_{}_{}",
        or(&gvk.group, "~G"),
        or(&gvk.version, "~V"),
        or(&gvk.kind, "~K")
    )
}

fn named(id: &Id) -> String {
    let or = |text: &str, otherwise: &str| {
        if text.is_empty() {
            otherwise.to_owned()
        } else {
            text.to_owned()
        }
    };
    format!("{}|{}", or(&id.namespace, "~X"), or(&id.name, "~N"))
}
