//! From an assembled chart and values to rendered templates, and the chart as a release record
//! keeps it. The engine is `lib/helm`; this module gives it what it may know of the cluster,
//! and asks the cluster only what the chart's templates mention.

use std::sync::Arc;

use fleet_api::BundleDeploymentOptions;
use helm::cache::Cache;
use helm::capabilities::{Capabilities, KubeVersion};
use helm::chart::Chart;
use helm::render::{Lookup, ReleaseOptions};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use crate::assemble::Assembled;
use crate::cluster::{self, Cluster};
use crate::object::{self, ObjectKey};
use crate::postrender::Rendered;

/// Why nothing could be rendered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The chart's own files are damaged.
    #[error(transparent)]
    Chart(#[from] helm::chart::Error),
    /// Templates, values or schema are at fault.
    #[error(transparent)]
    Render(Box<helm::render::Error>),
    /// A definition below `crds/` is damaged.
    #[error("{path}: {source}")]
    Definition {
        /// The file.
        path: String,
        /// Cause.
        source: goyaml::Error,
    },
    /// The cluster could not be asked for its version or kinds.
    #[error("ask the cluster what it serves")]
    Capabilities(#[source] cluster::Error),
    /// Rendering was cut short.
    #[error("rendering ended early: {0}")]
    Ended(String),
}

impl Error {
    /// Whether only another bundle or another cluster version helps.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Render(error) if matches!(**error, helm::render::Error::MatchKubeVersion { .. }))
    }
}

/// What templates see as `.Release`.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Name.
    pub name: &'a str,
    /// Namespace.
    pub namespace: &'a str,
    /// Number of the new revision.
    pub revision: i64,
    /// First revision.
    pub install: bool,
}

/// What templates may know of a cluster.
#[derive(Clone)]
pub enum World<'a> {
    /// Ask this one.
    Live(&'a Cluster),
    /// Take this for granted; `lookup` finds nothing.
    Assumed(Box<Capabilities>),
}

/// What rendering gives.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Templates with their text.
    pub rendered: Vec<Rendered>,
    /// Rendered NOTES.txt.
    pub notes: String,
    /// The chart, for the release record.
    pub chart: Value,
}

/// Objects of the chart's and its dependencies' `crds/`.
///
/// # Errors
/// The file that is at fault.
pub fn definitions(assembled: &Assembled) -> Result<Vec<Value>, Error> {
    let may_define = |path: &String| path.contains("crds/") || path.starts_with("charts/");
    if !assembled.files.keys().any(may_define) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (path, text) in Chart::from_files(assembled.files.clone())?.crds() {
        let documents = goyaml::parse_documents(&text).map_err(|source| Error::Definition { path, source })?;
        let objects = documents
            .into_iter()
            .flat_map(|document| object::flatten(document.value));
        found.extend(objects.filter(|object| !object::kind(object).is_empty()));
    }
    Ok(found)
}

/// Renders. Templates that `known` holds are not parsed again.
///
/// # Errors
/// The template or file that is at fault.
pub async fn render(
    world: World<'_>,
    assembled: &Assembled,
    release: &Release<'_>,
    given: &Map<String, Value>,
    options: &BundleDeploymentOptions,
    known: Option<&Cache>,
) -> Result<Output, Error> {
    let mut chart = Chart::from_files(assembled.files.clone())?;
    if let Some(known) = known {
        known.share(&mut chart);
    }
    for (key, value) in &assembled.annotations {
        let metadata = Arc::make_mut(&mut chart.metadata);
        metadata.annotations.insert(key.clone(), value.clone());
    }
    let mut output = Output::default();
    let (capabilities, lookup) = know(world, &chart).await?;
    let release = ReleaseOptions {
        name: release.name.to_owned(),
        namespace: release.namespace.to_owned(),
        revision: release.revision,
        is_install: release.install,
        is_upgrade: !release.install,
        skip_schema_validation: options.helm.as_ref().is_some_and(|helm| helm.skip_schema_validation),
    };
    let values = given.clone();
    // Templates are programs of other people: they get a thread of their own.
    let task = tokio::task::spawn_blocking(move || {
        let lookup = lookup.as_ref().map(|lookup| lookup as &dyn Lookup);
        helm::render::render(&chart, &values, &release, &capabilities, lookup).map_err(Box::new)
    });
    let rendered = task
        .await
        .map_err(|error| Error::Ended(error.to_string()))?
        .map_err(Error::Render)?;
    output.notes = rendered.notes;
    output.chart = rendered.chart.to_json();
    output.rendered = rendered
        .manifests
        .into_iter()
        .map(|file| Rendered {
            path: file.path,
            text: file.text,
        })
        .collect();
    Ok(output)
}

fn mentions(chart: &Chart, words: &[&str]) -> bool {
    chart.templates.iter().any(|file| {
        let text = String::from_utf8_lossy(&file.data);
        words.iter().any(|word| text.contains(word))
    }) || chart.dependencies.iter().any(|inner| mentions(inner, words))
}

fn wants_version(chart: &Chart) -> bool {
    !chart.metadata.kube_version.is_empty() || chart.dependencies.iter().any(wants_version)
}

async fn know(world: World<'_>, chart: &Chart) -> Result<(Capabilities, Option<Live>), Error> {
    let cluster = match world {
        World::Live(cluster) => cluster,
        World::Assumed(capabilities) => return Ok((*capabilities, None)),
    };
    let mut capabilities = Capabilities::default();
    // What `tpl` runs comes from values and may ask for anything.
    if wants_version(chart) || mentions(chart, &["Capabilities", "tpl"]) {
        let version = cluster.version().await.map_err(Error::Capabilities)?;
        if let Ok(parsed) = KubeVersion::parse(&version) {
            capabilities.kube_version = KubeVersion { version, ..parsed };
        }
        let served = cluster.api_versions().await.map_err(Error::Capabilities)?;
        if !served.is_empty() {
            capabilities.api_versions = served.into_iter().collect();
        }
    }
    let live = mentions(chart, &["lookup", "tpl"]).then(|| Live {
        cluster: cluster.clone(),
        handle: Arc::new(Handle::current()),
    });
    Ok((capabilities, live))
}

/// `lookup` on a real cluster, with the rights of whoever deploys.
struct Live {
    cluster: Cluster,
    handle: Arc<Handle>,
}

impl Lookup for Live {
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Value, String> {
        let found = self.handle.block_on(async {
            if name.is_empty() {
                let items = self.cluster.list(api_version, kind, namespace, "").await?;
                return Ok(json!({"apiVersion": api_version, "kind": format!("{kind}List"), "items": items}));
            }
            let key = ObjectKey {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            };
            Ok(self.cluster.get(&key).await?.unwrap_or_default())
        });
        match found {
            // A kind that is not served has no objects.
            Err(cluster::Error::UnknownKind { .. }) => Ok(Value::Null),
            other => other.map_err(|error| error.to_string()),
        }
    }
}
