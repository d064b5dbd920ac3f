//! One selection of clusters: by name, by group, by labels of either; all that are given must hold.

use std::collections::BTreeMap;

use fleet_api::{BundleTarget, Partition, TargetSelector, labels};
use kubeschema::selector::LabelSelector;

use crate::plan::Problem;

/// A group that contains the cluster that is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Its name; empty for a cluster that is in no group.
    pub name: &'a str,
    /// Its labels.
    pub labels: &'a BTreeMap<String, String>,
}

/// A cluster with the groups it is in.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Name of the Cluster.
    pub name: &'a str,
    /// Its labels.
    pub labels: &'a BTreeMap<String, String>,
    /// The groups of its namespace that contain it, by name.
    pub groups: Vec<Group<'a>>,
}

impl<'a> Candidate<'a> {
    /// The groups under which criteria are looked at: a cluster in no group is looked at once, as if in a group without
    /// name and labels.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group<'a>> {
        let none = self.groups.is_empty().then_some(Group {
            name: "",
            labels: &NO_LABELS,
        });
        self.groups.iter().copied().chain(none)
    }
}

static NO_LABELS: BTreeMap<String, String> = BTreeMap::new();

/// A compiled selection.
#[derive(Clone, Debug, Default)]
pub struct Criteria {
    cluster_name: String,
    cluster_group: String,
    clusters: Option<LabelSelector>,
    groups: Option<LabelSelector>,
}

/// The selector type of the API, wherever it stands.
type ApiSelector = k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

impl Criteria {
    /// The selection of a target.
    ///
    /// # Errors
    /// A selector that cannot be understood.
    pub fn of_target(target: &BundleTarget) -> Result<Self, Problem> {
        Self::new(
            &target.cluster_name,
            &target.cluster_group,
            target.cluster_selector.as_ref(),
            target.cluster_group_selector.as_ref(),
        )
    }

    /// The selection of a restriction.
    ///
    /// # Errors
    /// A selector that cannot be understood.
    pub fn of_selector(selector: &TargetSelector) -> Result<Self, Problem> {
        Self::new(
            &selector.cluster_name,
            &selector.cluster_group,
            selector.cluster_selector.as_ref(),
            selector.cluster_group_selector.as_ref(),
        )
    }

    /// The selection of a partition.
    ///
    /// # Errors
    /// A selector that cannot be understood.
    pub fn of_partition(partition: &Partition) -> Result<Self, Problem> {
        Self::new(
            &partition.cluster_name,
            &partition.cluster_group,
            partition.cluster_selector.as_ref(),
            partition.cluster_group_selector.as_ref(),
        )
    }

    fn new(
        cluster_name: &str,
        cluster_group: &str,
        clusters: Option<&ApiSelector>,
        groups: Option<&ApiSelector>,
    ) -> Result<Self, Problem> {
        Ok(Self {
            cluster_name: cluster_name.to_owned(),
            cluster_group: cluster_group.to_owned(),
            clusters: clusters
                .map(|selector| compile(selector, "clusterSelector"))
                .transpose()?,
            groups: groups
                .map(|selector| compile(selector, "clusterGroupSelector"))
                .transpose()?,
        })
    }

    /// Whether a cluster is selected when looked at as a member of `group`. Without any criterion nothing is.
    #[must_use]
    pub fn matches(&self, cluster: &Candidate<'_>, group: Group<'_>) -> bool {
        let Self {
            cluster_name,
            cluster_group,
            clusters,
            groups,
        } = self;
        let by_name = (!cluster_name.is_empty())
            .then(|| cluster_name == cluster.name || cluster.labels.get(labels::DISPLAY_NAME) == Some(cluster_name));
        let by_group = (!cluster_group.is_empty()).then(|| cluster_group == group.name);
        let by_labels = clusters.as_ref().map(|selector| selector.matches(cluster.labels));
        let by_group_labels = groups.as_ref().map(|selector| selector.matches(group.labels));
        let mut given = [by_name, by_group, by_labels, by_group_labels]
            .into_iter()
            .flatten()
            .peekable();
        given.peek().is_some() && given.all(|holds| holds)
    }

    /// Whether a cluster is selected, whatever its group.
    #[must_use]
    pub fn matches_any(&self, cluster: &Candidate<'_>) -> bool {
        cluster.groups().any(|group| self.matches(cluster, group))
    }

    /// The one name a selected cluster must have.
    pub(crate) fn cluster_name(&self) -> Option<&str> {
        (!self.cluster_name.is_empty()).then_some(self.cluster_name.as_str())
    }
}

/// The selector of the API as one that can be asked.
///
/// # Errors
/// Operators, keys or values that make no sense.
pub(crate) fn compile(selector: &ApiSelector, field: &str) -> Result<LabelSelector, Problem> {
    let json = serde_json::to_value(selector).unwrap_or_default();
    LabelSelector::from_json(&json).map_err(|error| Problem {
        message: format!("{field}: {error}"),
    })
}
