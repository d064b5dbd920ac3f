//! One directory → one bundle: options file, targets, files and charts put together in upstream's
//! order, which decides who wins.

use std::fs;
use std::io;
use std::path::Path;

use fleet_api::content::resource;
use fleet_api::{
    Bundle, BundleResource, BundleSpec, BundleTarget, Duration, HelmOptions, ImageScan, TargetSelector, json, labels,
    names,
};

use crate::chart;
use crate::child::Scanned;
use crate::dependency;
use crate::fleetyaml::{self, FleetYaml};
use crate::options::{ApplyOptions, ChartAuth};
use crate::path;
use crate::resources::{self, Files, Selection};
use crate::values_file;

/// JSON size of a bundle, in bytes, from which on all its files are packed.
const PACK_FROM: usize = 1_000_000;

/// Why a directory makes no bundle.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The options file.
    #[error("open {file}")]
    Open {
        /// Relative to the root.
        file: String,
        /// The cause.
        source: io::Error,
    },
    /// The options file's content.
    #[error("{}", place(file, source.line))]
    Parse {
        /// Relative to the root.
        file: String,
        /// The cause.
        source: fleetyaml::Error,
    },
    /// Image scans that are not enabled.
    #[error(
        "{file}: imageScans need image scanning to be enabled (--imagescan-enabled; chart value imagescan.enabled)"
    )]
    EnableScans {
        /// Relative to the root.
        file: String,
    },
    /// An image scan without a tag name.
    #[error("{file}: imageScans[{index}]: tagName, the name of scan, is required")]
    NameScan {
        /// Relative to the root.
        file: String,
        /// Which one.
        index: usize,
    },
    /// The files.
    #[error("read files of {directory:?}")]
    ReadFiles {
        /// Relative to the root.
        directory: String,
        /// The cause.
        source: resources::Error,
    },
    /// A values file.
    #[error("{directory}")]
    ReadValues {
        /// Relative to the root.
        directory: String,
        /// The cause.
        source: values_file::Error,
    },
    /// A chart.
    #[error("get charts of {directory:?}")]
    FetchChart {
        /// Relative to the root.
        directory: String,
        /// The cause.
        source: chart::Error,
    },
}

fn place(file: &str, line: Option<usize>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}: line {line}"))
}

impl Error {
    /// The file it is about, and the line in it.
    #[must_use]
    pub fn place(&self) -> (Option<String>, Option<usize>) {
        match self {
            Self::Open { file, .. } | Self::EnableScans { file } | Self::NameScan { file, .. } => {
                (Some(file.clone()), None)
            }
            Self::Parse { file, source } => (Some(file.clone()), source.line),
            Self::ReadFiles { directory, .. }
            | Self::ReadValues { directory, .. }
            | Self::FetchChart { directory, .. } => (Some(directory.clone()), None),
        }
    }
}

/// Where a bundle comes from.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// What paths are relative to.
    pub root: &'a Path,
    /// What no file may lie outside of.
    pub boundary: &'a Path,
    /// The bundle's directory, cleaned.
    pub directory: &'a str,
    /// Name of the options file in it; "" looks for fleet.yaml and fleet.yml.
    pub options_file: &'a str,
}

/// The bundle of a directory; `None` if it has no files at all.
///
/// # Errors
/// Anything in the directory that cannot be used.
pub fn bundle(place: &Place<'_>, options: &ApplyOptions, auth: &ChartAuth) -> Result<Option<Scanned>, Error> {
    let (file, text) = read_options_file(place)?;
    let mut input = fleetyaml::parse(&text).map_err(|source| Error::Parse {
        file: file.clone(),
        source,
    })?;
    let stem = path::without_extension(place.options_file);
    let derived = names::helm_release_name(&path::join(&[&options.name, place.directory, stem]));
    let scans = image_scans(&file, &input, &derived, options)?;

    let mut spec = std::mem::take(&mut input.spec);
    spec.targets.append(&mut input.target_customizations);
    for (index, target) in spec
        .targets
        .iter_mut()
        .enumerate()
        .filter(|(_, target)| target.name.is_empty())
    {
        target.name = format!("target{index:03}");
    }
    inherit_chart(&mut spec);
    let files = read_files(place, options, auth, &mut spec)?;

    let mut bundle = Bundle::named(if input.name.is_empty() { &derived } else { &input.name });
    bundle.metadata.namespace = Some(options.namespace.clone());
    let mut all_labels = options.labels.clone();
    all_labels.extend(input.labels);
    bundle.metadata.labels = Some(all_labels).filter(|labels| !labels.is_empty());
    bundle.metadata.annotations = Some(input.annotations).filter(|annotations| !annotations.is_empty());
    bundle.spec = spec;
    apply_options(&mut bundle.spec, options);
    append_targets(&mut bundle.spec, input.override_targets, options);
    if !options.target_namespace.is_empty() {
        for target in &mut bundle.spec.targets {
            target.options.target_namespace.clone_from(&options.target_namespace);
        }
        bundle
            .spec
            .options
            .target_namespace
            .clone_from(&options.target_namespace);
    }
    bundle.spec.resources = packed(&files, options.compress);
    if bundle.spec.resources.is_empty() {
        return Ok(None);
    }
    if !options.compress && json::to_string(&bundle).len() >= PACK_FROM {
        bundle.spec.resources = packed(&files, true);
    }
    Ok(Some(Scanned {
        bundle,
        image_scans: scans,
    }))
}

fn packed(files: &Files, compress: bool) -> Vec<BundleResource> {
    files
        .iter()
        .map(|(name, bytes)| resource(name, bytes, compress))
        .collect()
}

/// The options file's name relative to the root, and its text ("" if there is none).
fn read_options_file(place: &Place<'_>) -> Result<(String, String), Error> {
    let candidates: &[&str] = if place.options_file.is_empty() {
        &["fleet.yaml", "fleet.yml"]
    } else {
        &[place.options_file]
    };
    let directory = place.root.join(place.directory);
    let mut name = String::new();
    for candidate in candidates {
        name = path::join(&[place.directory, candidate]);
        let open = |source| Error::Open {
            file: name.clone(),
            source,
        };
        let full = match fs::canonicalize(directory.join(candidate)) {
            Ok(full) => full,
            Err(error) if error.kind() == io::ErrorKind::NotFound && place.options_file.is_empty() => continue,
            Err(error) => return Err(open(error)),
        };
        let boundary = fs::canonicalize(place.boundary).map_err(open)?;
        if !full.starts_with(boundary) {
            return Err(open(io::Error::other("it lies outside of the repository")));
        }
        if !fs::metadata(&full).map_err(open)?.is_file() {
            return Err(open(io::Error::other("not a file")));
        }
        let text = fs::read(&full).map_err(open)?;
        return Ok((name, String::from_utf8_lossy(&text).into_owned()));
    }
    Ok((name, String::new()))
}

fn image_scans(file: &str, input: &FleetYaml, bundle: &str, options: &ApplyOptions) -> Result<Vec<ImageScan>, Error> {
    if !input.image_scans.is_empty() && !options.image_scan {
        return Err(Error::EnableScans { file: file.to_owned() });
    }
    let mut scans = Vec::new();
    for (index, scan) in input
        .image_scans
        .iter()
        .enumerate()
        .filter(|(_, scan)| !scan.image.is_empty())
    {
        if scan.tag_name.is_empty() {
            return Err(Error::NameScan {
                file: file.to_owned(),
                index,
            });
        }
        let mut object = ImageScan::named(&names::image_scan(bundle, index));
        object.spec = scan.clone();
        object.spec.interval.get_or_insert(Duration(0));
        scans.push(object);
    }
    Ok(scans)
}

/// Targets with Helm options of their own deploy the bundle's chart unless they name another.
fn inherit_chart(spec: &mut BundleSpec) {
    let Some(root) = &spec.options.helm else { return };
    for helm in spec
        .targets
        .iter_mut()
        .filter_map(|target| target.options.helm.as_mut())
    {
        for (own, inherited) in [
            (&mut helm.repo, &root.repo),
            (&mut helm.chart, &root.chart),
            (&mut helm.version, &root.version),
        ] {
            if own.is_empty() {
                own.clone_from(inherited);
            }
        }
    }
}

fn read_files(
    place: &Place<'_>,
    options: &ApplyOptions,
    auth: &ChartAuth,
    spec: &mut BundleSpec,
) -> Result<Files, Error> {
    let directory = place.root.join(place.directory);
    let named = || place.directory.to_owned();
    let root = spec.options.helm.as_ref();
    // Dependencies come from other repositories than the chart, so no credentials go there.
    let update = !root.is_some_and(|helm| helm.disable_dependency_update);
    let selection = Selection {
        configuration: configuration_files(place, spec),
        dependencies: update.then_some(dependency::Access {
            boundary: place.boundary,
        }),
    };
    let hidden =
        place.directory != "." && path::base(place.directory).starts_with('.') && path::base(place.directory) != "..";
    let mut files = resources::read_directory(&directory, hidden, &selection).map_err(|source| Error::ReadFiles {
        directory: named(),
        source,
    })?;
    let access = chart::Access {
        auth,
        url_regex: &options.charts.url_regex,
    };
    for helm in charts(spec) {
        let fetched = chart::files(helm, &directory, place.boundary, &access).map_err(|source| Error::FetchChart {
            directory: named(),
            source,
        })?;
        files.extend(fetched);
    }
    let read = |helm: &mut HelmOptions| {
        values_file::read_into(helm, &directory, place.boundary).map_err(|source| Error::ReadValues {
            directory: named(),
            source,
        })
    };
    if let Some(helm) = spec
        .options
        .helm
        .as_mut()
        .filter(|helm| !helm.chart.is_empty() || !helm.repo.is_empty())
    {
        read(helm)?;
    }
    for helm in spec
        .targets
        .iter_mut()
        .filter_map(|target| target.options.helm.as_mut())
    {
        read(helm)?;
    }
    Ok(files)
}

/// Helm options that name a chart: the bundle's, then its targets'.
fn charts(spec: &BundleSpec) -> impl Iterator<Item = &HelmOptions> {
    let targets = spec.targets.iter().filter_map(|target| target.options.helm.as_ref());
    spec.options
        .helm
        .iter()
        .chain(targets)
        .filter(|helm| !helm.chart.is_empty() || !helm.repo.is_empty())
}

/// Names of files that are not content. Only the root's `fleet.yaml` counts; `fleet.yml` is
/// shipped, as upstream does; values files count with their path and with their bare name.
fn configuration_files(place: &Place<'_>, spec: &BundleSpec) -> std::collections::BTreeSet<String> {
    let targets = spec.targets.iter().filter_map(|target| target.options.helm.as_ref());
    let values = spec
        .options
        .helm
        .iter()
        .chain(targets)
        .flat_map(|helm| &helm.values_files);
    let mut names: std::collections::BTreeSet<String> = values.clone().cloned().collect();
    names.extend(values.map(|file| path::base(file).to_owned()));
    names.insert("fleet.yaml".to_owned());
    if !place.options_file.is_empty() {
        names.insert(place.options_file.to_owned());
    }
    names
}

fn apply_options(spec: &mut BundleSpec, options: &ApplyOptions) {
    if !options.service_account.is_empty() {
        spec.options.service_account.clone_from(&options.service_account);
    }
    spec.options.force_sync_generation = options.sync_generation;
    spec.paused |= options.paused;
    spec.options.keep_resources |= options.keep_resources;
    spec.options.delete_namespace |= options.delete_namespace;
    if options.correct_drift.enabled {
        spec.options.correct_drift = Some(options.correct_drift.clone());
    }
}

fn append_targets(spec: &mut BundleSpec, overriding: Option<Vec<TargetSelector>>, options: &ApplyOptions) {
    if let Some(targets) = overriding {
        spec.targets.extend(targets.iter().map(as_target));
        spec.target_restrictions.extend(targets);
    } else if let Some(given) = &options.targets {
        spec.targets.extend(given.targets.iter().cloned());
        spec.target_restrictions
            .extend(given.target_restrictions.iter().cloned());
    }
    if spec.targets.is_empty() {
        spec.targets.push(BundleTarget {
            name: "default".to_owned(),
            cluster_group: "default".to_owned(),
            ..BundleTarget::default()
        });
    }
}

fn as_target(selector: &TargetSelector) -> BundleTarget {
    let TargetSelector {
        name,
        cluster_name,
        cluster_selector,
        cluster_group,
        cluster_group_selector,
    } = selector.clone();
    BundleTarget {
        name,
        cluster_name,
        cluster_selector,
        cluster_group,
        cluster_group_selector,
        ..BundleTarget::default()
    }
}

/// The commit label of a bundle, if it has none.
pub(crate) fn set_commit(bundle: &mut Bundle, commit: &str) {
    let all = bundle.metadata.labels.get_or_insert_default();
    all.entry(labels::COMMIT.to_owned())
        .or_insert_with(|| commit.to_owned());
}
