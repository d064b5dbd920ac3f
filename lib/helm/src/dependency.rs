//! Which charts inside a chart take part: conditions, tags and aliases decide; then values that a child exports move
//! up into its parent's defaults.
//!
//! Upstream concept: Helm's processing of dependencies before rendering.

use std::sync::Arc;

use gotemplate::semver::{Constraint, Version};

use crate::chart::{Chart, Dependency};
use crate::overlay::{self, Node, Table};
use crate::values::{self, Defaults, Error, MAX_CHARTS, MAX_PATH, Null, Values};

/// Leaves the charts in `chart` that are switched on, each under its alias.
pub(crate) fn choose(chart: &mut Chart, values: &Values) -> Result<(), Error> {
    select(chart, &overlay::given(values), "", &mut 0)
}

/// The chart and all charts inside it.
fn size(chart: &Chart) -> usize {
    1 + chart.dependencies.iter().map(size).sum::<usize>()
}

/// Whether a chart is the one a dependency means.
fn matches(dependency: &Dependency, chart: &Chart) -> bool {
    if chart.name() != dependency.name {
        return false;
    }
    if dependency.version.is_empty() {
        return true;
    }
    match (
        Constraint::parse(&dependency.version),
        Version::parse(&chart.metadata.version),
    ) {
        (Ok(constraint), Ok(version)) => constraint.allows(&version),
        _ => false,
    }
}

fn select(chart: &mut Chart, values: &Table<'_>, path: &str, count: &mut usize) -> Result<(), Error> {
    // Without a list of its own, a chart takes everything in it as it is, lists of the charts inside included.
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let metadata = Arc::make_mut(&mut chart.metadata);
    let listed = |child: &Chart| {
        let mut list = metadata.dependencies.iter();
        list.any(|dependency| matches(dependency, child))
    };
    let found = std::mem::take(&mut chart.dependencies);
    let mut children: Vec<Chart> = found.iter().filter(|child| !listed(child)).cloned().collect();
    for dependency in &mut metadata.dependencies {
        if let Some(original) = found.iter().find(|child| matches(dependency, child)) {
            *count += size(original);
            if *count > MAX_CHARTS {
                return Err(Error::Count);
            }
            let mut child = original.clone();
            if !dependency.alias.is_empty() {
                Arc::make_mut(&mut child.metadata).name.clone_from(&dependency.alias);
            }
            children.push(child);
        }
        if !dependency.alias.is_empty() {
            dependency.name.clone_from(&dependency.alias);
        }
        dependency.enabled = true;
    }
    chart.dependencies = children;

    // What is seen is lent by the chart as it is now.
    let whole = chart.clone();
    let seen = values::combine(&whole, &Defaults::of(&whole), values.clone(), Null::Removes)?;
    let metadata = Arc::make_mut(&mut chart.metadata);
    for dependency in &mut metadata.dependencies {
        by_tags(dependency, &seen);
        by_condition(dependency, &seen, path);
    }
    let dropped = |child: &Chart| {
        let mut list = metadata.dependencies.iter();
        list.any(|dependency| !dependency.enabled && dependency.name == child.name())
    };
    chart.dependencies.retain(|child| !dropped(child));
    metadata.dependencies.retain(|dependency| dependency.enabled);
    for child in &mut chart.dependencies {
        let below = format!("{path}{}.", child.name());
        select(child, &seen, &below, count)?;
    }
    Ok(())
}

fn by_tags(dependency: &mut Dependency, values: &Table<'_>) {
    let Some(tags) = values.get("tags") else { return };
    let set = dependency.tags.iter().filter_map(|tag| tags.get(tag)?.as_bool());
    let set: Vec<bool> = set.collect();
    if set.contains(&false) && !set.contains(&true) {
        dependency.enabled = false;
    }
}

fn by_condition(dependency: &mut Dependency, values: &Table<'_>, path: &str) {
    for condition in dependency.condition.split(',') {
        let condition = condition.trim();
        if condition.is_empty() {
            continue;
        }
        let decided = overlay::at(values, &format!("{path}{condition}"));
        if let Some(enabled) = decided.and_then(|node| node.as_bool()) {
            dependency.enabled = enabled;
            return;
        }
    }
}

/// The defaults of a chart and of the charts inside it, with what these export.
pub(crate) fn import(chart: &Chart) -> Result<Defaults<'_>, Error> {
    let inside = chart.dependencies.iter().map(import).collect::<Result<_, _>>()?;
    let mut defaults = Defaults {
        own: overlay::defaults(&chart.values),
        inside,
    };
    if chart.metadata.dependencies.is_empty() {
        return Ok(defaults);
    }
    let all = values::combine(chart, &defaults, Table::new(), Null::Stays)?;
    defaults.own = all;
    let mut imported = Table::new();
    for dependency in &chart.metadata.dependencies {
        for import in &dependency.imports {
            if import.parent.split('.').count() > MAX_PATH {
                return Err(Error::Nest);
            }
            let from = format!("{}.{}", dependency.name, import.child);
            if let Some(table) = overlay::at(&defaults.own, &from).filter(Node::is_table) {
                overlay::lay(&mut imported, &placed(&import.parent, table), Null::Stays);
            }
        }
    }
    overlay::lay(&mut defaults.own, &Node::Table(imported), Null::Stays);
    Ok(defaults)
}

/// A table at a dotted path; `.` is the root.
fn placed<'v>(path: &'v str, table: Node<'v>) -> Node<'v> {
    if path == "." || path.is_empty() {
        return table;
    }
    path.rsplit('.')
        .fold(table, |inner, name| Node::Table(Table::from([(name, inner)])))
}
