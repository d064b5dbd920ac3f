//! A chart and values become manifests.
//!
//! Upstream concept: Helm's render engine: every template of the chart and of the charts inside it is parsed into one
//! set, deep paths first; each file is executed with the values of its own chart; partials print nothing.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use gotemplate::value::MapType;
use gotemplate::{Engine, Machine, Map, MissingKey, Value};

use crate::ahead::Ahead;
use crate::capabilities::Capabilities;
use crate::chart::{Chart, File};
use crate::files::Files;
use crate::overlay::{self, Numbers, Table};
use crate::values::{self, Null, Values};
use crate::{data, dependency, function, method, schema};

/// Why nothing was rendered.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The chart wants another version of Kubernetes.
    #[error("chart requires kubeVersion: {wanted} which is incompatible with Kubernetes {found}")]
    MatchKubeVersion {
        /// The chart's constraint.
        wanted: String,
        /// The cluster's version.
        found: String,
    },
    /// A library chart was given.
    #[error("library charts are not installable")]
    InstallLibrary,
    /// The values do not fit the chart's structure.
    #[error(transparent)]
    CombineValues(#[from] values::Error),
    /// The values of a chart inside have no structure to decide by which charts take part.
    #[error(transparent)]
    ProcessDependencies(values::Error),
    /// The values do not meet the chart's schema.
    #[error(transparent)]
    CheckSchema(#[from] schema::Error),
    /// A template is broken or stopped; the text is Helm's.
    #[error("{message}")]
    Execute {
        /// What Helm prints.
        message: String,
        /// The structure behind it.
        source: Box<gotemplate::Error>,
    },
}

/// What `lookup` asks.
pub trait Lookup: Send + Sync {
    /// The object of that name, or a list of all where `name` is empty. Null if there is none.
    ///
    /// # Errors
    /// The cluster refuses or cannot be reached; the text appears in the template's error.
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<serde_json::Value, String>;
}

/// The release that is rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseOptions {
    /// The release's name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The revision that will be made, from 1.
    pub revision: i64,
    /// Whether it is the first one.
    pub is_install: bool,
    /// Whether it replaces another one.
    pub is_upgrade: bool,
    /// Leaves `values.schema.json` unread.
    pub skip_schema_validation: bool,
}

/// What one template printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// `CHART/templates/x.yaml`
    pub path: String,
    /// The text; may be blank, may hold several documents.
    pub text: String,
}

/// What a chart printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// By path; partials and notes are not among them.
    pub manifests: Vec<Manifest>,
    /// The chart's own `NOTES.txt`.
    pub notes: String,
    /// The chart without what is switched off inside it, as it is recorded.
    pub chart: Chart,
}

/// Levels of one template inside itself are counted by the functions; this names the set in their errors.
const SET: &str = "gotpl";

const NOTES: &str = "NOTES.txt";

/// Renders `chart` with `values` over its defaults.
///
/// # Errors
/// The chart does not fit the cluster, the values do not fit the chart, or a template failed.
pub fn render(
    chart: &Chart,
    values: &Values,
    release: &ReleaseOptions,
    capabilities: &Capabilities,
    lookup: Option<&dyn Lookup>,
) -> Result<Rendered, Error> {
    if chart.metadata.kind == "library" {
        return Err(Error::InstallLibrary);
    }
    run(chart, values, release, capabilities, lookup, Numbers::Floats)
}

/// [`render`], with a choice of numbers.
pub(crate) fn run(
    chart: &Chart,
    values: &Values,
    release: &ReleaseOptions,
    capabilities: &Capabilities,
    lookup: Option<&dyn Lookup>,
    numbers: Numbers,
) -> Result<Rendered, Error> {
    let mut chart = chart.clone();
    dependency::choose(&mut chart, values).map_err(Error::ProcessDependencies)?;
    Ahead::begin(engine(), &chart);
    let defaults = dependency::import(&chart).map_err(Error::ProcessDependencies)?;
    let values = values::combine(&chart, &defaults, overlay::given(values), Null::Removes)?;
    if !release.skip_schema_validation {
        schema::check_table(&chart, &values, numbers)?;
    }
    if !capabilities.allow(&chart.metadata.kube_version) {
        return Err(Error::MatchKubeVersion {
            wanted: chart.metadata.kube_version.clone(),
            found: capabilities.kube_version.compared().to_owned(),
        });
    }

    let asking = lookup.map(|lookup| engine().clone().functions(function::asking(lookup)));
    let printed = asking.as_ref().unwrap_or(engine()).run(|machine| {
        machine.name_set(SET);
        Ok(Job {
            chart: &chart,
            values: &values,
            release,
            capabilities,
            numbers,
        }
        .run(machine))
    });
    let mut printed = match printed {
        Ok(result) => result?,
        Err(source) => {
            return Err(Error::Execute {
                message: source.to_string(),
                source: Box::new(source),
            });
        }
    };

    let notes = printed
        .remove(&format!("{}/templates/{NOTES}", chart.name()))
        .unwrap_or_default();
    let manifests = printed.into_iter().filter(|(path, _)| !path.ends_with(NOTES));
    Ok(Rendered {
        manifests: manifests.map(|(path, text)| Manifest { path, text }).collect(),
        notes,
        chart,
    })
}

/// The engine that asks no cluster, made once: it knows some three hundred functions.
pub(crate) fn engine() -> &'static Engine<'static> {
    static ENGINE: OnceLock<Engine<'static>> = OnceLock::new();
    ENGINE.get_or_init(|| {
        Engine::new()
            .missing_key(MissingKey::Zero)
            .functions(function::functions())
            .methods(method::VALUES, method::values())
    })
}

/// Everything one execution needs.
struct Job<'j> {
    chart: &'j Chart,
    values: &'j Table<'j>,
    release: &'j ReleaseOptions,
    capabilities: &'j Capabilities,
    numbers: Numbers,
}

/// One template with what it sees.
struct Page<'j> {
    path: String,
    /// How many folders it lies in.
    depth: usize,
    file: &'j File,
    base: Value,
    scope: Map,
}

impl Job<'_> {
    fn run(&self, machine: &mut Machine<'_>) -> Result<BTreeMap<String, String>, Error> {
        let values = overlay::to_map(self.values, self.numbers).retyped(MapType::Named(method::VALUES));
        let mut pages = Vec::new();
        let release = data::release(self.release);
        let capabilities = data::capabilities(self.capabilities);
        scope(
            self.chart,
            self.chart.name(),
            &values,
            (&release, &capabilities),
            &mut pages,
        );
        // Deep paths first: what lies higher may replace their definitions.
        pages.sort_by(|left, right| right.depth.cmp(&left.depth).then_with(|| right.path.cmp(&left.path)));
        // A helper may be at it from the other end. What is no template is told below, in order.
        for page in pages.iter().rev() {
            let _ = page.file.parsed(engine(), &page.path);
        }
        for page in &pages {
            page.file
                .parsed(engine(), &page.path)
                .and_then(|parsed| machine.add(&page.path, parsed))
                .map_err(|source| failed(source, &page.path))?;
        }
        let mut printed = BTreeMap::new();
        for page in pages {
            if page.path.rsplit('/').next().is_some_and(|base| base.starts_with('_')) {
                continue;
            }
            let template = Map::typed(MapType::Named(method::VALUES));
            template.insert("Name", page.path.as_str());
            template.insert("BasePath", page.base);
            page.scope.insert("Template", template);
            let dot = Value::Map(page.scope.clone());
            let text = machine
                .execute(&page.path, dot)
                .map_err(|source| failed(source, &page.path))?;
            printed.insert(page.path, gotemplate::without_missing(text));
        }
        Ok(printed)
    }
}

fn values_of(value: Value) -> Map {
    match value {
        Value::Map(map) => map.retyped(MapType::Named(method::VALUES)),
        _ => Map::typed(MapType::Named(method::VALUES)),
    }
}

/// Collects a chart's templates and those of the charts inside it; returns what the chart's templates see.
fn scope<'j>(
    chart: &'j Chart,
    path: &str,
    values: &Map,
    (release, capabilities): (&Value, &Value),
    pages: &mut Vec<Page<'j>>,
) -> Map {
    let inner = Map::new();
    let scope = Map::typed(MapType::Named(method::VALUES));
    scope.insert("Chart", data::chart(&chart.metadata, path == chart.name()));
    scope.insert("Files", Value::Object(Rc::new(Files(Arc::clone(&chart.files)))));
    scope.insert("Release", release.clone());
    scope.insert("Capabilities", capabilities.clone());
    scope.insert("Values", values.clone());
    scope.insert("Subcharts", inner.clone());
    for child in &chart.dependencies {
        let child_values = match values.get(child.name()) {
            Some(value @ Value::Map(_)) => values_of(value),
            _ => values_of(Value::Nil),
        };
        let below = format!("{path}/charts/{}", child.name());
        let child_scope = self::scope(child, &below, &child_values, (release, capabilities), pages);
        inner.insert(child.name(), child_scope);
    }
    let base = Value::from(format!("{path}/templates"));
    for file in chart.templates.iter() {
        let partial = file.name.rsplit('/').next().is_some_and(|base| base.starts_with('_'));
        if chart.metadata.kind == "library" && !partial {
            continue;
        }
        let path = format!("{path}/{}", file.name);
        pages.push(Page {
            depth: path.matches('/').count(),
            path,
            file,
            base: base.clone(),
            scope: scope.clone(),
        });
    }
    scope
}

fn failed(source: gotemplate::Error, path: &str) -> Error {
    Error::Execute {
        message: message(&source, path),
        source: Box::new(source),
    }
}

/// The error in Helm's words.
fn message(error: &gotemplate::Error, path: &str) -> String {
    match error {
        gotemplate::Error::Parse { name, line, message } => {
            // Helm keeps what stands behind the last colon.
            let message = message.rsplit(": ").next().unwrap_or(message);
            format!("parse error at ({name}:{line}): {message}")
        }
        gotemplate::Error::Execute { .. } => laid_out(error).unwrap_or_else(|| error.to_string()),
        gotemplate::Error::Template { .. } => format!("{path}: {error}"),
        gotemplate::Error::Raised { .. } | gotemplate::Error::Limit { .. } => error.to_string(),
    }
}

/// One paragraph per template that was running. `None` where a function's own words end the chain: Helm then prints
/// the error as it is.
fn laid_out(error: &gotemplate::Error) -> Option<String> {
    let mut parts = Vec::new();
    for frame in error.frames() {
        match frame {
            gotemplate::Error::Execute { by_function: true, .. } | gotemplate::Error::Parse { .. } => return None,
            gotemplate::Error::Execute {
                location,
                template,
                context,
                message,
                ..
            } => {
                let message = message.trim_end();
                parts.push(format!(
                    "{location}\n  executing \"{template}\" at <{context}>:\n    {message}"
                ));
            }
            other => parts.push(other.to_string()),
        }
    }
    Some(parts.join("\n"))
}
