//! Who gets a bundle, and with which options: targets, restrictions and customizations of one Bundle, compiled once and
//! asked per cluster.
//!
//! Mirrors upstream's bundle matcher. An invalid selector is an error for the whole bundle, because a target that
//! silently matches nothing would remove deployments.

mod criteria;
mod merge;

use std::collections::BTreeMap;

use fleet_api::{BundleDeploymentOptions, BundleSpec};

pub(crate) use self::criteria::compile;
pub use self::criteria::{Candidate, Criteria, Group};
pub use self::merge::merge;
use crate::explain::Reason;
use crate::plan::Problem;

/// Targets of a bundle, ready to be asked.
#[derive(Debug)]
pub struct Targeting {
    /// All entries of `spec.targets`; the first [`Self::customizations`] of them are customizations.
    targets: Vec<Target>,
    customizations: usize,
    restrictions: Vec<Criteria>,
    all_matches: bool,
}

#[derive(Debug)]
struct Target {
    criteria: Criteria,
    name: String,
    skip: bool,
}

/// The entries of `spec.targets` that make up the options of a cluster, by index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// The target that selected the cluster.
    pub target: usize,
    /// Customizations that apply, in order.
    pub customizations: Vec<usize>,
}

impl Targeting {
    /// Compiles the targets of a bundle.
    ///
    /// # Errors
    /// A selector that cannot be understood.
    pub fn new(spec: &BundleSpec) -> Result<Self, Problem> {
        let mut targets = Vec::with_capacity(spec.targets.len());
        for (index, target) in spec.targets.iter().enumerate() {
            let name = if target.name.is_empty() {
                format!("targets[{index}]")
            } else {
                target.name.clone()
            };
            let criteria =
                Criteria::of_target(target).map_err(|problem| problem.within(&format!("target '{name}'")))?;
            targets.push(Target {
                criteria,
                name,
                skip: target.do_not_deploy,
            });
        }
        let mut restrictions = Vec::with_capacity(spec.target_restrictions.len());
        for (index, selector) in spec.target_restrictions.iter().enumerate() {
            let place = format!("targetRestrictions[{index}]");
            restrictions.push(Criteria::of_selector(selector).map_err(|problem| problem.within(&place))?);
        }
        // Without restrictions there are no customizations; with them, the real targets stand last.
        let customizations = if restrictions.is_empty() {
            0
        } else {
            targets.len().saturating_sub(restrictions.len())
        };
        let all_matches = spec.target_customization_mode == "AllMatches";
        Ok(Self {
            targets,
            customizations,
            restrictions,
            all_matches,
        })
    }

    /// What a cluster gets.
    ///
    /// # Errors
    /// Why it gets nothing.
    pub fn choose(&self, cluster: &Candidate<'_>) -> Result<Choice, Reason> {
        let matching = |criteria: &Criteria| cluster.groups().any(|group| criteria.matches(cluster, group));
        let (custom, real) = self.targets.split_at(self.customizations);
        let mut selected_but_restricted = false;
        let chosen = real.iter().position(|target| {
            cluster.groups().any(|group| {
                let selected = target.criteria.matches(cluster, group);
                let allowed =
                    self.restrictions.is_empty() || self.restrictions.iter().any(|r| r.matches(cluster, group));
                selected_but_restricted |= selected && !allowed;
                selected && allowed
            })
        });
        let Some(chosen) = chosen else {
            return Err(if selected_but_restricted {
                Reason::Restricted
            } else {
                Reason::NoTarget
            });
        };
        let skip = |target: &Target| Reason::DoNotDeploy {
            target: target.name.clone(),
        };
        if real[chosen].skip {
            return Err(skip(&real[chosen]));
        }
        let mut customizations = Vec::new();
        for (index, target) in custom
            .iter()
            .enumerate()
            .filter(|(_, target)| matching(&target.criteria))
        {
            if target.skip {
                return Err(skip(target));
            }
            customizations.push(index);
            if !self.all_matches {
                break;
            }
        }
        Ok(Choice {
            target: self.customizations + chosen,
            customizations,
        })
    }

    /// The options of a choice: those of the bundle, under those of the target, under (or replaced by) those of the
    /// customizations.
    #[must_use]
    pub fn options(&self, spec: &BundleSpec, choice: &Choice) -> BundleDeploymentOptions {
        let of = |index: usize| spec.targets.get(index).map(|target| &target.options);
        let empty = BundleDeploymentOptions::default();
        let mut own = of(choice.target).unwrap_or(&empty).clone();
        for options in choice.customizations.iter().filter_map(|index| of(*index)) {
            own = if self.all_matches {
                merge(&own, options)
            } else {
                options.clone()
            };
        }
        merge(&spec.options, &own)
    }

    /// Names of clusters outside of which nothing is ever selected; `None` if a target selects by other means.
    #[must_use]
    pub fn cluster_names(&self) -> Option<Vec<&str>> {
        self.targets[self.customizations..]
            .iter()
            .map(|target| target.criteria.cluster_name())
            .collect()
    }
}

/// Labels and annotations that all targets of a bundle, matching or not, ask for on the release namespace.
#[must_use]
pub fn namespace_metadata(spec: &BundleSpec) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let mut labels = BTreeMap::new();
    let mut annotations = BTreeMap::new();
    for target in &spec.targets {
        labels.extend(target.namespace_labels.clone().unwrap_or_default());
        annotations.extend(target.namespace_annotations.clone().unwrap_or_default());
    }
    (labels, annotations)
}
