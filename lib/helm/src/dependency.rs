//! Which charts inside a chart take part: conditions, tags and aliases decide; then values that a child exports move
//! up into its parent's defaults.
//!
//! Upstream concept: Helm's processing of dependencies before rendering.

use gotemplate::semver::{Constraint, Version};
use serde_json::Value;

use crate::chart::{Chart, Dependency};
use crate::go;
use crate::values::{self, Error, Null, Values};

/// Works on `chart` in place.
pub(crate) fn process(chart: &mut Chart, values: &Values) -> Result<(), Error> {
    select(chart, values, "")?;
    import(chart)
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

fn select(chart: &mut Chart, values: &Values, path: &str) -> Result<(), Error> {
    // Without a list of its own, a chart takes everything in it as it is, lists of the charts inside included.
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let found = std::mem::take(&mut chart.dependencies);
    let listed = |child: &Chart| {
        chart
            .metadata
            .dependencies
            .iter()
            .any(|dependency| matches(dependency, child))
    };
    let mut children: Vec<Chart> = found.iter().filter(|child| !listed(child)).cloned().collect();
    for dependency in &mut chart.metadata.dependencies {
        if let Some(original) = found.iter().find(|child| matches(dependency, child)) {
            let mut child = original.clone();
            if !dependency.alias.is_empty() {
                child.metadata.name.clone_from(&dependency.alias);
            }
            children.push(child);
        }
        if !dependency.alias.is_empty() {
            dependency.name.clone_from(&dependency.alias);
        }
        dependency.enabled = true;
    }
    chart.dependencies = children;

    let seen = values::combine(chart, values, Null::Removes)?;
    for dependency in &mut chart.metadata.dependencies {
        by_tags(dependency, &seen);
        by_condition(dependency, &seen, path);
    }
    let dropped: Vec<&str> = chart
        .metadata
        .dependencies
        .iter()
        .filter(|dependency| !dependency.enabled)
        .map(|dependency| dependency.name.as_str())
        .collect();
    chart.dependencies.retain(|child| !dropped.contains(&child.name()));
    for child in &mut chart.dependencies {
        let below = format!("{path}{}.", child.name());
        select(child, &seen, &below)?;
    }
    chart.metadata.dependencies.retain(|dependency| dependency.enabled);
    Ok(())
}

fn by_tags(dependency: &mut Dependency, values: &Values) {
    let Some(Value::Object(tags)) = values.get("tags") else {
        return;
    };
    let set: Vec<bool> = dependency
        .tags
        .iter()
        .filter_map(|tag| tags.get(tag).and_then(Value::as_bool))
        .collect();
    if set.contains(&false) && !set.contains(&true) {
        dependency.enabled = false;
    }
}

fn by_condition(dependency: &mut Dependency, values: &Values, path: &str) {
    for condition in dependency.condition.split(',') {
        let condition = condition.trim();
        if condition.is_empty() {
            continue;
        }
        if let Some(Value::Bool(enabled)) = values::at(values, &format!("{path}{condition}")) {
            dependency.enabled = *enabled;
            return;
        }
    }
}

fn import(chart: &mut Chart) -> Result<(), Error> {
    for child in &mut chart.dependencies {
        import(child)?;
    }
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let mut all = values::combine(chart, &Values::new(), Null::Stays)?;
    let mut imported = Values::new();
    for dependency in &chart.metadata.dependencies {
        for entry in &dependency.import_values {
            match entry {
                Value::Object(pair) => {
                    let word = |key: &str| match pair.get(key) {
                        // As Go prints what is not there.
                        None | Some(Value::Null) => "<nil>".to_owned(),
                        value => go::text(value).unwrap_or_default(),
                    };
                    let from = format!("{}.{}", dependency.name, word("child"));
                    if let Some(Value::Object(table)) = values::at(&all, &from) {
                        let table = placed(&word("parent"), table.clone());
                        values::tables(&mut imported, &table, Null::Stays);
                    }
                }
                Value::String(name) => {
                    let from = format!("{}.exports.{name}", dependency.name);
                    if let Some(Value::Object(table)) = values::at(&all, &from) {
                        values::tables(&mut imported, &table.clone(), Null::Stays);
                    }
                }
                _ => {}
            }
        }
    }
    values::tables(&mut all, &imported, Null::Stays);
    chart.values = all;
    Ok(())
}

/// A table at a dotted path; `.` is the root.
fn placed(path: &str, table: Values) -> Values {
    if path == "." || path.is_empty() {
        return table;
    }
    path.rsplit('.').fold(table, |inner, name| {
        let mut outer = Values::new();
        outer.insert(name.to_owned(), Value::Object(inner));
        outer
    })
}
