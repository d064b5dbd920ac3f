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

/// All charts by their name, with their versions.
pub(crate) struct Shelf(BTreeMap<String, Vec<(String, PathBuf)>>);

impl Shelf {
    pub(crate) fn new<'f>(charts: impl IntoIterator<Item = &'f Found>) -> Self {
        let mut shelf: BTreeMap<String, Vec<(String, PathBuf)>> = BTreeMap::new();
        for chart in charts {
            if chart.packed() {
                continue;
            }
            let metadata = metadata(&chart.path, "Chart.yaml");
            if let Some(name) = text(&metadata, "name") {
                let version = text(&metadata, "version").unwrap_or_default();
                shelf.entry(name).or_default().push((version, chart.path.clone()));
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
        for Declared {
            name,
            version,
            repository,
        } in declared
        {
            if there.contains(&name) {
                continue;
            }
            let local = repository.strip_prefix("file://").map(|path| chart.join(path));
            let source = local.or_else(|| self.closest(&name, &version));
            if let Some(source) = source.filter(|source| source.join("Chart.yaml").is_file()) {
                missing.push((name, source));
            }
        }
        missing
    }

    /// The chart of that name whose version is most like the wanted one: several repositories have a `common`.
    fn closest(&self, name: &str, wanted: &str) -> Option<PathBuf> {
        let numbers = |version: &str| -> Vec<String> {
            let trimmed = version.trim_start_matches(|c: char| !c.is_ascii_digit());
            trimmed.split('.').map(str::to_owned).collect()
        };
        let wanted = numbers(wanted);
        let alike = |version: &str| numbers(version).iter().zip(&wanted).take_while(|(a, b)| a == b).count();
        // The first of those that are equally alike.
        let charts = self.0.get(name)?.iter().rev();
        let closest = charts.max_by_key(|(version, _)| alike(version))?;
        Some(closest.1.clone())
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

/// What a chart says of a chart it needs.
struct Declared {
    name: String,
    version: String,
    repository: String,
}

fn dependencies(metadata: &Value) -> Vec<Declared> {
    let listed = metadata.get("dependencies").and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            Some(Declared {
                name: text(entry, "name")?,
                version: text(entry, "version").unwrap_or_default(),
                repository: text(entry, "repository").unwrap_or_default(),
            })
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chart_with_the_closest_version_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let mut charts = Vec::new();
        for version in ["2.1.0", "4.0.1", "4.5.2", "4.5.9"] {
            let path = folder.path().join(version);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("Chart.yaml"), format!("name: common\nversion: {version}\n")).unwrap();
            let (name, values) = (version.to_owned(), Vec::new());
            charts.push(Found { name, path, values });
        }
        let shelf = Shelf::new(&charts);
        let closest = |wanted: &str| {
            let found = shelf.closest("common", wanted)?;
            Some(found.file_name()?.to_string_lossy().into_owned())
        };
        assert_eq!(closest("^4.5.3").as_deref(), Some("4.5.2"));
        assert_eq!(closest("2.x.x").as_deref(), Some("2.1.0"));
        assert_eq!(closest("*").as_deref(), Some("2.1.0"));
        assert_eq!(shelf.closest("other", "*"), None);
    }
}
