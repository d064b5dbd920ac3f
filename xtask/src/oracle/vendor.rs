//! Charts whose dependencies lie elsewhere become whole ones: in a copy, `charts/` is filled from charts of the same
//! name below the given directories.
//!
//! It fetches nothing. What is not found stays missing, and both programs then say so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::find::Found;

/// Charts that are dependencies of dependencies of …
const MAX_DEPTH: usize = 8;

/// All charts by their name.
pub(crate) struct Shelf(BTreeMap<String, PathBuf>);

impl Shelf {
    pub(crate) fn new<'f>(charts: impl IntoIterator<Item = &'f Found>) -> Self {
        let mut shelf = BTreeMap::new();
        for chart in charts {
            if chart.packed() {
                continue;
            }
            if let Some(name) = text(&metadata(&chart.path, "Chart.yaml"), "name") {
                shelf.entry(name).or_insert_with(|| chart.path.clone());
            }
        }
        Self(shelf)
    }

    /// Where to render a chart: where it is if nothing is missing, else in a copy below `work`.
    pub(crate) fn complete(&self, chart: &Found, work: &Path) -> Result<PathBuf> {
        if chart.packed() || self.missing(&chart.path).is_empty() {
            return Ok(chart.path.clone());
        }
        copy(&chart.path, work)?;
        self.fill(&chart.path, work, 0)?;
        Ok(work.to_owned())
    }

    /// Dependencies that are declared but not there, with where they are to be had.
    fn missing(&self, chart: &Path) -> Vec<(String, PathBuf)> {
        let mut declared = dependencies(&metadata(chart, "Chart.yaml"));
        declared.extend(dependencies(&metadata(chart, "requirements.yaml")));
        let there = vendored(chart);
        let mut missing = Vec::new();
        for (name, repository) in declared {
            if there.contains(&name) {
                continue;
            }
            let local = repository.strip_prefix("file://").map(|path| chart.join(path));
            let source = local.or_else(|| self.0.get(&name).cloned());
            if let Some(source) = source.filter(|source| source.join("Chart.yaml").is_file()) {
                missing.push((name, source));
            }
        }
        missing
    }

    fn fill(&self, original: &Path, copied: &Path, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        for (name, source) in self.missing(original) {
            let target = copied.join("charts").join(&name);
            if target.exists() {
                continue;
            }
            copy(&source, &target)?;
            self.fill(&source, &target, depth + 1)?;
        }
        Ok(())
    }
}

/// Names of the charts in `charts/`; archives by their file name.
fn vendored(chart: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(chart.join("charts")).into_iter().flatten().flatten();
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            names.extend(text(&metadata(&path, "Chart.yaml"), "name"));
        } else {
            let file = entry.file_name().to_string_lossy().into_owned();
            if let Some((name, _)) = file.rsplit_once(".tgz").and_then(|(stem, _)| stem.rsplit_once('-')) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

fn metadata(chart: &Path, file: &str) -> Value {
    std::fs::read_to_string(chart.join(file))
        .ok()
        .and_then(|text| goyaml::parse(&text).ok())
        .unwrap_or_default()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn dependencies(metadata: &Value) -> Vec<(String, String)> {
    let listed = metadata.get("dependencies").and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((text(entry, "name")?, text(entry, "repository").unwrap_or_default())))
        .collect()
}

/// Copies a directory; links are followed.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("create {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("list {}", from.display()))? {
        let entry = entry.with_context(|| format!("list {}", from.display()))?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target).with_context(|| format!("copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}
