//! The order of the objects that come out: as they came in, or by kind.

use crate::error::Error;
use crate::kustomization::SortOptions;
use crate::resource::Resource;

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
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Sorts as asked.
pub(crate) fn sort(resources: &mut [Resource], options: Option<&SortOptions>, file: &str) -> Result<(), Error> {
    let Some(options) = options else { return Ok(()) };
    match options.order.as_str() {
        "fifo" => return Ok(()),
        "legacy" => {}
        other => {
            return Err(Error::field(
                file,
                "sortOptions.order",
                format!("'{other}' is neither fifo nor legacy"),
            ));
        }
    }
    let own = options.legacy_sort_options.as_ref();
    let first: Vec<&str> = own.map_or(FIRST.to_vec(), |own| {
        own.order_first.iter().map(String::as_str).collect()
    });
    let last: Vec<&str> = own.map_or(LAST.to_vec(), |own| own.order_last.iter().map(String::as_str).collect());
    let rank = |kind: &str| {
        let position = |list: &[&str]| {
            list.iter()
                .position(|known| *known == kind)
                .and_then(|at| i64::try_from(at).ok())
        };
        match (position(&first), position(&last)) {
            (Some(at), _) => at - 1_000,
            (None, Some(at)) => at + 1_000,
            (None, None) => 0,
        }
    };
    resources.sort_by_cached_key(|resource| {
        let (group, version) = resource.group_version();
        let kind = resource.kind().to_owned();
        let place = (resource.namespace().to_owned(), resource.name().to_owned());
        (rank(&kind), group.to_owned(), version.to_owned(), kind, place)
    });
    Ok(())
}
