//! How fast a change spreads: budgets of unavailability and partitions that follow each other.
//!
//! Mirrors upstream's roll-out strategy as its code has it, not as its documentation does: a partition without its own
//! budget has the bundle's; clusters that no manual partition selects get nothing.

use fleet_api::RolloutStrategy;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::plan::Problem;
use crate::target::Criteria;

/// New deployments per pass unless the bundle says otherwise.
const MAX_NEW: i64 = 50;
/// Clusters from which on partitions are made automatically.
const AUTO_THRESHOLD: i64 = 200;

/// The strategy of a bundle, ready to be applied to a number of clusters.
#[derive(Debug, Default)]
pub(crate) struct Strategy {
    pub(crate) max_new: usize,
    max_unavailable: Option<IntOrString>,
    max_unavailable_partitions: Option<IntOrString>,
    auto_size: Option<IntOrString>,
    auto_threshold: i64,
    manual: Vec<Manual>,
}

#[derive(Debug)]
struct Manual {
    name: String,
    max_unavailable: Option<IntOrString>,
    criteria: Criteria,
}

/// One partition: which targets, and how many of them may be unavailable.
#[derive(Debug, PartialEq)]
pub(crate) struct Cut {
    pub(crate) name: String,
    /// Positions of its targets in the order of targets.
    pub(crate) members: Vec<usize>,
    pub(crate) max_unavailable: i64,
}

impl Strategy {
    /// Reads a strategy.
    ///
    /// # Errors
    /// A selector that cannot be understood.
    pub(crate) fn new(strategy: Option<&RolloutStrategy>) -> Result<Self, Problem> {
        let default = RolloutStrategy::default();
        let strategy = strategy.unwrap_or(&default);
        let mut manual = Vec::with_capacity(strategy.partitions.len());
        for (index, partition) in strategy.partitions.iter().enumerate() {
            let place = format!("rolloutStrategy.partitions[{index}]");
            manual.push(Manual {
                name: partition.name.clone(),
                max_unavailable: partition.max_unavailable.clone(),
                criteria: Criteria::of_partition(partition).map_err(|problem| problem.within(&place))?,
            });
        }
        Ok(Self {
            max_new: usize::try_from(strategy.max_new.unwrap_or(MAX_NEW)).unwrap_or(0),
            max_unavailable: strategy.max_unavailable.clone(),
            max_unavailable_partitions: strategy.max_unavailable_partitions.clone(),
            auto_size: strategy.auto_partition_size.clone(),
            auto_threshold: strategy.auto_partition_threshold.unwrap_or(AUTO_THRESHOLD),
            manual,
        })
    }

    /// Partitions are defined by hand: a cluster's labels decide where it belongs.
    pub(crate) fn is_manual(&self) -> bool {
        !self.manual.is_empty()
    }

    /// Clusters of the bundle that may be unavailable.
    pub(crate) fn max_unavailable(&self, targets: usize) -> Result<i64, Problem> {
        limit(count(targets), [self.max_unavailable.as_ref()])
    }

    /// Partitions that may be unavailable.
    pub(crate) fn max_unavailable_partitions(&self, partitions: usize) -> Result<i64, Problem> {
        let none = IntOrString::Int(0);
        limit(
            count(partitions),
            [self.max_unavailable_partitions.as_ref(), Some(&none)],
        )
    }

    /// Cuts targets into partitions. `selected` tells whether a criterion selects the target at a position.
    pub(crate) fn partitions(
        &self,
        targets: usize,
        selected: impl Fn(&Criteria, usize) -> bool,
    ) -> Result<Vec<Cut>, Problem> {
        if self.manual.is_empty() {
            return self.automatic(targets);
        }
        let mut cuts = Vec::with_capacity(self.manual.len());
        for partition in &self.manual {
            let members: Vec<usize> = (0..targets).filter(|at| selected(&partition.criteria, *at)).collect();
            let own = [partition.max_unavailable.as_ref(), self.max_unavailable.as_ref()];
            let max_unavailable = limit(count(members.len()), own)?;
            cuts.push(Cut {
                name: partition.name.clone(),
                members,
                max_unavailable,
            });
        }
        Ok(cuts)
    }

    fn automatic(&self, targets: usize) -> Result<Vec<Cut>, Problem> {
        let quarter = IntOrString::String("25%".to_owned());
        let size = limit(count(targets), [self.auto_size.as_ref(), Some(&quarter)])?;
        let size = usize::try_from(size).unwrap_or(0);
        let whole = size == 0 || self.auto_threshold <= 0 || count(targets) < self.auto_threshold;
        let cut = |name: String, members: Vec<usize>| {
            let max_unavailable = limit(count(members.len()), [self.max_unavailable.as_ref()])?;
            Ok(Cut {
                name,
                members,
                max_unavailable,
            })
        };
        if whole {
            return Ok(vec![cut("All".to_owned(), (0..targets).collect())?]);
        }
        (0..targets)
            .step_by(size)
            .map(|from| {
                let to = targets.min(from + size);
                cut(format!("Partition {from} - {to}"), (from..to).collect())
            })
            .collect()
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of things out of `count`, from the first value that is given; all of them if none is.
///
/// Integers are held between 0 and `count`; integers written as text are not; percentages are rounded down but give at
/// least one.
///
/// # Errors
/// Text that is neither.
pub(crate) fn limit<'a>(count: i64, values: impl IntoIterator<Item = Option<&'a IntOrString>>) -> Result<i64, Problem> {
    let value = values.into_iter().flatten().next();
    if count <= 0 {
        return Ok(1);
    }
    let text = match value {
        None => return Ok(count),
        Some(IntOrString::Int(number)) => return Ok(i64::from(*number).clamp(0, count)),
        Some(IntOrString::String(text)) => text,
    };
    if let Some(number) = text.parse::<i64>().ok().filter(|number| *number > 0) {
        return Ok(number);
    }
    let percent = text
        .strip_suffix('%')
        .and_then(|digits| digits.parse::<f64>().ok())
        .filter(|p| p.is_finite());
    let Some(percent) = percent else {
        let message = format!("invalid maxUnavailable, must be int or percentage (ending with %): {text}");
        return Err(Problem { message });
    };
    if percent <= 0.0 {
        return Ok(1);
    }
    let part = (count as f64 * percent) as i64 / 100;
    Ok(part.clamp(1, count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Strategy, *};

    fn of(count: i64, value: &str) -> i64 {
        limit(count, [Some(&IntOrString::String(value.to_owned()))]).unwrap()
    }

    #[test]
    fn limits_are_upstreams() {
        assert_eq!(limit(10, [None]).unwrap(), 10);
        assert_eq!(limit(0, [None]).unwrap(), 1);
        assert_eq!(limit(10, [Some(&IntOrString::Int(0))]).unwrap(), 0);
        assert_eq!(limit(10, [Some(&IntOrString::Int(-1))]).unwrap(), 0);
        assert_eq!(limit(10, [Some(&IntOrString::Int(11))]).unwrap(), 10);
        assert_eq!(
            (of(10, "11"), of(10, "50%"), of(10, "0%"), of(10, "1%"), of(10, "200%")),
            (11, 5, 1, 1, 10)
        );
        let message = limit(10, [Some(&IntOrString::String("lots".to_owned()))])
            .unwrap_err()
            .message;
        assert_eq!(
            message,
            "invalid maxUnavailable, must be int or percentage (ending with %): lots"
        );
    }

    proptest! {
        #[test]
        fn automatic_partitions_cover_every_target_once(
            targets in 0_usize..500, size in 1_i32..100, threshold in 0_i64..300,
        ) {
            let strategy = Strategy {
                auto_size: Some(IntOrString::Int(size)), auto_threshold: threshold, ..Strategy::default()
            };
            let cuts = strategy.partitions(targets, |_, _| false).unwrap();
            let members: Vec<usize> = cuts.iter().flat_map(|cut| cut.members.clone()).collect();
            prop_assert_eq!(members, (0..targets).collect::<Vec<_>>());
        }

        #[test]
        fn a_percentage_stays_between_one_and_all(count in 1_i64..1_000_000, percent in 0_u32..1000) {
            let limit = of(count, &format!("{percent}%"));
            prop_assert!((1..=count).contains(&limit));
        }
    }
}
