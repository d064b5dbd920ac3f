//! Directories become a list of charts: those with a `Chart.yaml`, and packed ones, as users would hand them to Helm.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

/// How many versions of one packed chart are taken, newest first.
const VERSIONS: usize = 3;

/// A chart on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its path relative to the directory that was named.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Values files of its `ci` folder, sorted.
    pub(crate) values: Vec<PathBuf>,
}

impl Found {
    /// Whether it is an archive.
    pub(crate) fn packed(&self) -> bool {
        self.path.is_file()
    }
}

/// All charts below a directory, sorted by path, except those that are part of another one.
pub(crate) fn charts(root: &Path) -> Result<Vec<Found>> {
    let mut walk = Walk::default();
    walk.directory(root, false)?;
    let mut found: Vec<PathBuf> = walk.charts;
    for versions in walk.archives.into_values() {
        let newest = versions.into_iter().rev().take(VERSIONS);
        found.extend(newest.map(|(_, path)| path).filter(|path| holds_chart(path)));
    }
    found.sort();
    found
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            let name = if name.is_empty() { ".".to_owned() } else { name };
            let values = values(&path)?;
            Ok(Found { name, path, values })
        })
        .collect()
}

#[derive(Default)]
struct Walk {
    charts: Vec<PathBuf>,
    /// By folder and chart: version and file.
    archives: BTreeMap<(PathBuf, String), BTreeMap<Version, PathBuf>>,
}

impl Walk {
    fn directory(&mut self, directory: &Path, inside_chart: bool) -> Result<()> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(directory).with_context(|| format!("list {}", directory.display()))? {
            let entry = entry.with_context(|| format!("list {}", directory.display()))?;
            entries.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
        entries.sort();
        let is_chart = entries
            .iter()
            .any(|(name, path)| name == "Chart.yaml" && path.is_file());
        if is_chart {
            self.charts.push(directory.to_owned());
        }
        let inside_chart = inside_chart || is_chart;
        for (name, path) in entries {
            if path.is_symlink() || name == ".git" || name == "node_modules" {
                continue;
            }
            if path.is_dir() {
                // What lies in a chart's `charts` is a part of it; templates may hold anything.
                if !(inside_chart && ["charts", "templates"].contains(&name.as_str())) {
                    self.directory(&path, inside_chart)?;
                }
            } else if let Some((chart, version)) = archive(&name) {
                self.archives
                    .entry((directory.to_owned(), chart))
                    .or_default()
                    .insert(version, path);
            }
        }
        Ok(())
    }
}

/// Numbers, then whether it is a final version, then the text.
type Version = (Vec<u64>, bool, String);

/// The chart and the version that a file name such as `web-1.2.3.tgz` tells.
fn archive(name: &str) -> Option<(String, Version)> {
    let stem = name.strip_suffix(".tgz")?;
    let start = stem.match_indices('-').map(|(at, _)| at).find(|at| {
        stem[at + 1..]
            .trim_start_matches('v')
            .starts_with(|c: char| c.is_ascii_digit())
    })?;
    let (chart, version) = (&stem[..start], &stem[start + 1..]);
    let numbers = version.trim_start_matches('v').split(['-', '+']).next().unwrap_or("");
    let numbers = numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    Some((chart.to_owned(), (numbers, !version.contains('-'), version.to_owned())))
}

fn holds_chart(archive: &Path) -> bool {
    let Ok(output) = Command::new("tar").arg("-tzf").arg(archive).output() else {
        return false;
    };
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    listed.lines().any(|path| path.split('/').nth(1) == Some("Chart.yaml"))
}

/// `ci/*-values.yaml`, as chart-testing takes them.
fn values(chart: &Path) -> Result<Vec<PathBuf>> {
    let folder = chart.join("ci");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
        let entry = entry.with_context(|| format!("list {}", folder.display()))?;
        if entry.file_name().to_string_lossy().ends_with("-values.yaml") {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_ordered_by_version() {
        let (chart, ten) = archive("my-web-1.10.0.tgz").unwrap();
        let (_, nine) = archive("my-web-1.9.0.tgz").unwrap();
        let (_, candidate) = archive("my-web-1.10.0-rc.1.tgz").unwrap();
        assert_eq!(chart, "my-web");
        assert!(nine < candidate && candidate < ten);
        assert_eq!(archive("readme.tgz"), None);
    }

    #[test]
    fn charts_inside_charts_are_no_charts_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "a/Chart.yaml",
            "a/charts/b/Chart.yaml",
            "a/ci/x-values.yaml",
            "a/ci/other.yaml",
            "charts/c/Chart.yaml",
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = charts(folder.path()).unwrap();
        let names: Vec<&str> = found.iter().map(|chart| chart.name.as_str()).collect();
        assert_eq!(names, ["a", "charts/c"]);
        assert_eq!(found[0].values.len(), 1);
    }
}
