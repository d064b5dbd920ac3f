//! From the files of a bundle to a chart: finds out whether they are a chart, a kustomization,
//! plain manifests or a mix, and lays them out as Helm expects. Reads nothing but its
//! arguments; renders nothing. Mirrors upstream's style detection and chart assembly.

use std::collections::BTreeMap;

use fleet_api::{BundleDeploymentOptions, labels, names};
use serde_json::json;

use crate::content::{self, Resource};
use crate::overlay;

/// Directory of plain manifests inside the chart; not rendered.
pub const RAW: &str = "raw-yaml/";
/// Largest file Helm takes in a chart.
const MAX_FILE: usize = 5 * 1024 * 1024;

/// Why no chart can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An overlay cannot be applied.
    #[error("apply overlays")]
    Overlay(#[source] overlay::Error),
    /// A file Helm would refuse.
    #[error("chart file \"{name}\" is larger than the maximum file size {MAX_FILE}")]
    FileTooLarge {
        /// Path inside the chart.
        name: String,
    },
}

/// What is deployed and by whom: everything that enters the chart besides the files.
#[derive(Clone, Debug, Default)]
pub struct Subject<'a> {
    /// Name of the BundleDeployment.
    pub name: &'a str,
    /// First part of the deployment id: names the content.
    pub manifest_id: &'a str,
    /// Commit label, may be empty.
    pub commit: &'a str,
    /// Namespace of the agent; empty if none (command line).
    pub agent_namespace: &'a str,
}

/// A chart laid out, and what the post-renderer needs to know of its origin.
#[derive(Clone, Debug, Default)]
pub struct Assembled {
    /// Files by path inside the chart, `Chart.yaml` included.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Annotations that tie the release to its BundleDeployment.
    pub annotations: BTreeMap<String, String>,
}

fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.join("/")
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Path of the bundle's `Chart.yaml`, if it has one. The last match wins.
fn chart_path(resources: &[Resource], options: &BundleDeploymentOptions) -> Option<String> {
    let (wanted, downloaded) = match &options.helm {
        None => ("Chart.yaml".to_owned(), None),
        Some(helm) => {
            let place = if helm.chart.is_empty() { &helm.repo } else { &helm.chart };
            let key = names::sha256_hex(format!("{}:{}:{}", helm.chart, helm.repo, helm.version).as_bytes());
            (clean(&format!("{place}/Chart.yaml")), Some(format!(".chart/{key}/")))
        }
    };
    let matches = |name: &str| {
        name == wanted
            || downloaded
                .as_deref()
                .and_then(|prefix| name.strip_prefix(prefix))
                .is_some_and(|rest| {
                    rest == "Chart.yaml"
                        || rest
                            .strip_suffix("/Chart.yaml")
                            .is_some_and(|directory| !directory.contains('/'))
                })
    };
    resources
        .iter()
        .rev()
        .map(|resource| &resource.name)
        .find(|name| matches(name))
        .cloned()
}

/// Directory of the kustomization the options name, if the bundle has one there.
#[must_use]
pub fn kustomize_directory(resources: &[Resource], options: &BundleDeploymentOptions) -> Option<String> {
    let dir = options
        .kustomize
        .as_ref()
        .map(|kustomize| clean(&kustomize.dir))
        .unwrap_or_default();
    let nested = clean(&format!("{dir}/kustomization.yaml"));
    resources
        .iter()
        .any(|resource| resource.name == "kustomization.yaml" || resource.name == nested)
        .then_some(dir)
}

/// Lays out the chart.
///
/// # Errors
/// What cannot be used, by name of the file.
pub fn assemble(
    subject: &Subject<'_>,
    resources: &[Resource],
    options: &BundleDeploymentOptions,
) -> Result<Assembled, Error> {
    let mut files = BTreeMap::new();
    let mut id = subject.manifest_id.to_owned();
    if let Some(chart) = chart_path(resources, options) {
        let root = directory(&chart);
        for resource in resources {
            let inside = if root.is_empty() {
                Some(resource.name.as_str())
            } else {
                resource.name.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'))
            };
            if let Some(name) = inside.filter(|name| !name.is_empty()) {
                files.insert(name.to_owned(), resource.data.clone());
            }
        }
    } else if kustomize_directory(resources, options).is_none() {
        let plain = plain_manifests(resources, options)?;
        id = content::id(&plain);
        for Resource { name, data, .. } in plain {
            let place = if name.starts_with("templates/") {
                name
            } else {
                format!("{RAW}{name}")
            };
            files.insert(place, data);
        }
    }
    if let Some((name, _)) = files.iter().find(|(_, data)| data.len() > MAX_FILE) {
        return Err(Error::FileTooLarge { name: name.clone() });
    }
    files
        .entry("Chart.yaml".to_owned())
        .or_insert_with(|| generated_chart(subject, &id));
    Ok(Assembled {
        files,
        annotations: annotations(subject, options),
    })
}

fn plain_manifests(resources: &[Resource], options: &BundleDeploymentOptions) -> Result<Vec<Resource>, Error> {
    let overlays = options
        .yaml
        .as_ref()
        .map(|yaml| yaml.overlays.as_slice())
        .unwrap_or_default();
    let resources = overlay::apply(resources, overlays).map_err(Error::Overlay)?;
    let bundles: Vec<&str> = resources
        .iter()
        .filter_map(|resource| {
            let (directory, base) = resource.name.rsplit_once('/')?;
            matches!(base, "fleet.yaml" | "fleet.yml" | "Chart.yaml").then_some(directory)
        })
        .collect();
    let nested = |name: &str| {
        bundles
            .iter()
            .any(|directory| name.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')))
    };
    let taken: Vec<bool> = resources
        .iter()
        .map(|resource| {
            let name = resource.name.as_str();
            (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"))
                && !matches!(name, "fleet.yaml" | "fleet.yml")
                && !nested(name)
        })
        .collect();
    Ok(resources
        .into_iter()
        .zip(taken)
        .filter(|(_, taken)| *taken)
        .map(|(resource, _)| resource)
        .collect())
}

/// The version names what is in the chart: the commit, or the files that were taken.
fn generated_chart(subject: &Subject<'_>, id: &str) -> Vec<u8> {
    let name = subject.name.split_once('/').map_or(subject.name, |(_, rest)| rest);
    let version = match subject.commit.get(..12) {
        Some(short) if subject.commit.len() > 12 => format!("git-{short}"),
        _ => id.to_owned(),
    };
    // JSON is YAML, and no name can break out of it.
    json!({"apiVersion": "v2", "name": name, "version": format!("v0.0.0+{version}")})
        .to_string()
        .into_bytes()
}

fn annotations(subject: &Subject<'_>, options: &BundleDeploymentOptions) -> BTreeMap<String, String> {
    let mut annotations = BTreeMap::from([
        (labels::SERVICE_ACCOUNT.to_owned(), options.service_account.clone()),
        (labels::BUNDLE_ID.to_owned(), subject.name.to_owned()),
        (labels::AGENT_NAMESPACE.to_owned(), subject.agent_namespace.to_owned()),
        (labels::KEEP_RESOURCES.to_owned(), options.keep_resources.to_string()),
    ]);
    if !subject.commit.is_empty() {
        annotations.insert(labels::COMMIT.to_owned(), subject.commit.to_owned());
    }
    annotations
}

impl Assembled {
    /// Plain manifests, by path inside the chart.
    pub fn raw(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files
            .iter()
            .filter(|(name, _)| name.starts_with(RAW))
            .map(|(name, data)| (name.as_str(), data.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_api::{HelmOptions, KustomizeOptions};

    fn resources(names: &[&str]) -> Vec<Resource> {
        names.iter().map(|name| Resource::plain(name, b"a: 1")).collect()
    }

    fn files(names: &[&str], options: &BundleDeploymentOptions) -> Vec<String> {
        let subject = Subject {
            name: "ns/bundle",
            manifest_id: "s-1",
            ..Subject::default()
        };
        assemble(&subject, &resources(names), options)
            .unwrap()
            .files
            .into_keys()
            .collect()
    }

    #[test]
    fn plain_manifests_leave_out_other_bundles_and_other_files() {
        let names = [
            "a.yaml",
            "b.txt",
            "fleet.yaml",
            "sub/c.json",
            "other/fleet.yaml",
            "other/d.yaml",
            "templates/t.yml",
        ];
        let found = files(&names, &BundleDeploymentOptions::default());
        assert_eq!(
            found,
            [
                "Chart.yaml",
                "raw-yaml/a.yaml",
                "raw-yaml/sub/c.json",
                "templates/t.yml"
            ]
        );
    }

    #[test]
    fn a_chart_is_found_where_the_options_say() {
        let options = BundleDeploymentOptions {
            helm: Some(HelmOptions {
                chart: "./deep//chart/".into(),
                ..HelmOptions::default()
            }),
            ..BundleDeploymentOptions::default()
        };
        let found = files(
            &["a.yaml", "deep/chart/Chart.yaml", "deep/chart/templates/x.yaml"],
            &options,
        );
        assert_eq!(found, ["Chart.yaml", "templates/x.yaml"]);
    }

    #[test]
    fn a_kustomization_brings_no_files() {
        let options = BundleDeploymentOptions {
            kustomize: Some(KustomizeOptions { dir: "dir".into() }),
            ..BundleDeploymentOptions::default()
        };
        assert_eq!(files(&["a.yaml", "dir/kustomization.yaml"], &options), ["Chart.yaml"]);
        assert_eq!(files(&["a.yaml"], &options), ["Chart.yaml", "raw-yaml/a.yaml"]);
    }

    #[test]
    fn a_generated_chart_names_the_commit_or_the_content() {
        let mut subject = Subject {
            name: "ns/bundle",
            manifest_id: "s-1",
            ..Subject::default()
        };
        let text = |subject: &Subject<'_>| String::from_utf8(generated_chart(subject, "s-1")).unwrap();
        assert!(text(&subject).contains(r#""name":"bundle","version":"v0.0.0+s-1""#));
        subject.commit = "0123456789abcdef";
        assert!(text(&subject).contains("v0.0.0+git-0123456789ab"));
    }
}
