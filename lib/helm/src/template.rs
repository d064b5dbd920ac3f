//! A chart, values and options become the text that `helm template` prints.
//!
//! Upstream concept: the command `helm template` without a cluster. Objects come in the order of installation, hooks
//! after them; every document follows a `# Source:` line.

use std::sync::LazyLock;

use regex::Regex;

use crate::capabilities::{self, Capabilities, KubeVersion};
use crate::chart::Chart;
use crate::document;
use crate::overlay::Numbers;
use crate::pattern;
use crate::render::{self, ReleaseOptions};
use crate::values::{self, Values};

/// The name of a release that has none.
pub const DEFAULT_NAME: &str = "release-name";

/// What a user may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The release's name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The version of Kubernetes to assume, such as `1.30` or `v1.30.2`.
    pub kube_version: Option<String>,
    /// Kinds to assume besides the built-in ones: `group/version` or `group/version/Kind`.
    pub api_versions: Vec<String>,
    /// Print what lies in `crds/` too, first.
    pub include_crds: bool,
    /// Render as for an upgrade.
    pub is_upgrade: bool,
    /// Leave hooks out.
    pub no_hooks: bool,
    /// Leave test hooks out.
    pub skip_tests: bool,
    /// Leave `values.schema.json` unread.
    pub skip_schema_validation: bool,
    /// Print only what comes from templates whose path (`templates/x.yaml`) matches one of these patterns.
    pub show_only: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: DEFAULT_NAME.into(),
            namespace: "default".into(),
            kube_version: None,
            api_versions: Vec::new(),
            include_crds: false,
            is_upgrade: false,
            no_hooks: false,
            skip_tests: false,
            skip_schema_validation: false,
            show_only: Vec::new(),
        }
    }
}

/// Why nothing is printed. The texts are Helm's.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The version of Kubernetes is none.
    #[error("invalid kube version '{given}': {source}")]
    KubeVersion {
        /// What was given.
        given: String,
        /// The reader's words.
        source: capabilities::Error,
    },
    /// The release's name is none.
    #[error(
        "release name check failed: release name \"{0}\": invalid release name, must match regex {NAME} and the length \
         must not be longer than {MAX_NAME}"
    )]
    Name(String),
    /// A chart of this type cannot be installed.
    #[error("{0} charts are not installable")]
    Type(String),
    /// Declared dependencies are not in `charts/`.
    #[error(
        "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch \
         missing dependencies: found in Chart.yaml, but missing in charts/ directory: {0}"
    )]
    Dependencies(String),
    /// It cannot be decided which charts take part.
    #[error("chart dependencies processing failed: {0}")]
    ProcessDependencies(values::Error),
    /// The chart or its values are refused, or a template failed.
    #[error(transparent)]
    Render(#[from] render::Error),
    /// What was printed is no manifest.
    #[error(transparent)]
    Sort(#[from] document::Error),
    /// No template of that name printed anything.
    #[error("could not find template {0} in chart")]
    Show(String),
}

const NAME: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
const MAX_NAME: usize = 53;

static NAME_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(NAME).ok());

/// Renders. Numbers of `values` that are integers came from `--set`; those of files are floats
/// ([`values::floats`](crate::values::floats)).
///
/// # Errors
/// Why Helm would refuse, in its words: what is wrong with the chart, the values, a template, or what it printed.
pub fn template(chart: &Chart, values: &Values, options: &Options) -> Result<String, Error> {
    let capabilities = capabilities(options)?;
    if !["", "application"].contains(&chart.metadata.kind.as_str()) {
        return Err(Error::Type(chart.metadata.kind.clone()));
    }
    dependencies(chart)?;
    let well_named = NAME_PATTERN.as_ref().is_some_and(|name| name.is_match(&options.name));
    if !well_named || options.name.len() > MAX_NAME {
        return Err(Error::Name(options.name.clone()));
    }
    let release = ReleaseOptions {
        name: options.name.clone(),
        namespace: options.namespace.clone(),
        revision: 1,
        is_install: !options.is_upgrade,
        is_upgrade: options.is_upgrade,
        skip_schema_validation: options.skip_schema_validation,
    };
    let printed =
        render::run(chart, values, &release, &capabilities, None, Numbers::Typed).map_err(|error| match error {
            render::Error::ProcessDependencies(error) => Error::ProcessDependencies(error),
            other => Error::Render(other),
        })?;
    let chart = &printed.chart;
    let found = document::sort(&printed.manifests)?;

    let mut text = String::new();
    let mut document = |path: &str, document: &str| {
        for part in ["---\n# Source: ", path, "\n", document, "\n"] {
            text.push_str(part);
        }
    };
    if options.include_crds {
        for (path, definition) in chart.crds() {
            document(&path, &definition);
        }
    }
    for object in &found.objects {
        document(&object.path, &object.text);
    }
    let mut text = format!("{}\n", text.trim());
    if !options.no_hooks {
        for hook in &found.hooks {
            let test = hook.events.iter().any(|event| event == "test");
            if !(test && options.skip_tests) {
                for part in ["---\n# Source: ", &hook.path, "\n", &hook.text, "\n"] {
                    text.push_str(part);
                }
            }
        }
    }
    if options.show_only.is_empty() {
        return Ok(text);
    }
    shown(&text, &options.show_only)
}

fn capabilities(options: &Options) -> Result<Capabilities, Error> {
    let mut capabilities = Capabilities {
        helm_version: "v4.2.3".into(),
        ..Capabilities::default()
    };
    if let Some(given) = &options.kube_version {
        capabilities.kube_version = KubeVersion::given(given).map_err(|source| Error::KubeVersion {
            given: given.clone(),
            source,
        })?;
    }
    let more = options.api_versions.iter().flat_map(|list| list.split(','));
    capabilities.api_versions.extend(more.map(str::to_owned));
    Ok(capabilities)
}

fn dependencies(chart: &Chart) -> Result<(), Error> {
    let missing: Vec<&str> = chart
        .metadata
        .dependencies
        .iter()
        .map(|dependency| dependency.name.as_str())
        .filter(|name| !chart.dependencies.iter().any(|child| child.name() == *name))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(Error::Dependencies(missing.join(", ")))
    }
}

/// The documents whose template matches, pattern by pattern.
fn shown(text: &str, patterns: &[String]) -> Result<String, Error> {
    let documents = document::split(text);
    let mut result = String::new();
    for wanted in patterns {
        let mut missing = true;
        for document in &documents {
            let path = document
                .lines()
                .find_map(|line| line.split_once("# Source: ")?.1.split_once('/'))
                .map(|(_, path)| path);
            if path.is_some_and(|path| pattern::matches(wanted, path) == Some(true)) {
                result.push_str("---\n");
                result.push_str(document);
                result.push('\n');
                missing = false;
            }
        }
        if missing {
            return Err(Error::Show(wanted.clone()));
        }
    }
    Ok(result)
}
