//! `Chart.yaml`: what a chart says about itself, and the rules for it.
//!
//! Upstream concept: Helm's chart metadata. Scalars pass for strings as Go's YAML reader lets them; what is refused is
//! refused in its words.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::go::{self, Fields};

/// Why metadata is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// A field holds something else than it should.
    #[error("{0}")]
    Shape(String),
    /// A rule is broken.
    #[error("validation: {0}")]
    Validate(String),
}

/// A chart somebody wrote a name and an address for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Maintainer {
    /// Name or organisation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Mail address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// Web address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
}

/// A chart that this one builds on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// The chart's name; after processing, its alias.
    pub name: String,
    /// A version constraint.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Where it comes from.
    pub repository: String,
    /// Values paths, comma-separated, the first of which that is a boolean decides.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub condition: String,
    /// Groups that are switched together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it is used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub enabled: bool,
    /// Values that move from the dependency to this chart.
    #[serde(rename = "import-values", skip_serializing_if = "Vec::is_empty")]
    pub import_values: Vec<Value>,
    /// The same, read.
    #[serde(skip)]
    pub(crate) imports: Vec<Import>,
    /// Another name to use it under.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub alias: String,
}

/// A table of values that moves from a chart to the one it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Import {
    /// The path in the chart's values.
    pub(crate) child: String,
    /// The path where it goes to; `.` or nothing for the root.
    pub(crate) parent: String,
}

impl Import {
    fn read(entry: &Value) -> Option<Self> {
        match entry {
            Value::Object(pair) => {
                let word = |key: &str| match pair.get(key) {
                    // As Go prints what is not there.
                    None | Some(Value::Null) => "<nil>".to_owned(),
                    value => go::text(value).unwrap_or_default(),
                };
                Some(Self {
                    child: word("child"),
                    parent: word("parent"),
                })
            }
            Value::String(name) => Some(Self {
                child: format!("exports.{name}"),
                parent: String::new(),
            }),
            _ => None,
        }
    }
}

/// `Chart.yaml`
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The chart's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// A web page.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub home: String,
    /// Source code addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The chart's version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// One sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Search words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Who looks after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub maintainers: Vec<Maintainer>,
    /// A picture's address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub icon: String,
    /// `v1` or `v2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// Unused by Helm itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub condition: String,
    /// Unused by Helm itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tags: String,
    /// The version of what the chart installs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub app_version: String,
    /// Whether nobody should use it any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// Free notes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// A constraint on the version of Kubernetes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kube_version: String,
    /// The charts it builds on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// `application` or `library`.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

impl Metadata {
    /// Reads `Chart.yaml`.
    ///
    /// # Errors
    /// A field holds something else than it should, or a list holds null.
    pub(crate) fn read(object: &Map<String, Value>) -> Result<Self, Error> {
        let mut fields = Fields::new(object, "Metadata", "");
        let maintainers = fields.objects("maintainers", "Maintainer", |inner| Maintainer {
            name: inner.text("name"),
            email: inner.text("email"),
            url: inner.text("url"),
        });
        let dependencies = fields.objects("dependencies", "Dependency", dependency);
        let metadata = Self {
            name: fields.text("name"),
            home: fields.text("home"),
            sources: fields.texts("sources"),
            version: fields.text("version"),
            description: fields.text("description"),
            keywords: fields.texts("keywords"),
            icon: fields.text("icon"),
            api_version: fields.text("apiVersion"),
            condition: fields.text("condition"),
            tags: fields.text("tags"),
            app_version: fields.text("appVersion"),
            deprecated: fields.flag("deprecated"),
            annotations: fields.words("annotations"),
            kube_version: fields.text("kubeVersion"),
            kind: fields.text("type"),
            maintainers: Vec::new(),
            dependencies: Vec::new(),
        };
        fields.finish().map_err(Error::Shape)?;
        Ok(Self {
            maintainers: present(maintainers, "maintainers")?,
            dependencies: present(dependencies, "dependencies")?,
            ..metadata
        })
    }

    /// Reads the dependencies of a `requirements.yaml`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn requirements(object: &Map<String, Value>) -> Result<Vec<Dependency>, Error> {
        let mut fields = Fields::new(object, "Metadata", "");
        let dependencies = fields.objects("dependencies", "Dependency", dependency);
        fields.finish().map_err(Error::Shape)?;
        present(dependencies, "dependencies")
    }
}

fn dependency(inner: &mut Fields<'_>) -> Dependency {
    let import_values = inner.items("import-values", "[]interface {}").to_vec();
    Dependency {
        name: inner.text("name"),
        version: inner.text("version"),
        repository: inner.text("repository"),
        condition: inner.text("condition"),
        tags: inner.texts("tags"),
        enabled: inner.flag("enabled"),
        imports: import_values.iter().filter_map(Import::read).collect(),
        import_values,
        alias: inner.text("alias"),
    }
}

fn present<T>(items: Vec<Option<T>>, list: &str) -> Result<Vec<T>, Error> {
    items
        .into_iter()
        .collect::<Option<Vec<T>>>()
        .ok_or_else(|| Error::Validate(format!("{list} must not contain empty or null nodes")))
}

/// Checks the rules.
///
/// # Errors
/// The first rule that is broken.
pub(crate) fn validate(metadata: &Metadata) -> Result<(), Error> {
    let wrong = |message: &str| Err(Error::Validate(message.to_owned()));
    if metadata.name.is_empty() {
        return wrong("chart.metadata.name is required");
    }
    if metadata.name == "." || metadata.name == ".." {
        return Err(Error::Validate(format!(
            "chart.metadata.name \"{}\" is not allowed",
            metadata.name
        )));
    }
    if metadata.name.contains('/') {
        return Err(Error::Validate(format!(
            "chart.metadata.name \"{}\" is invalid",
            metadata.name
        )));
    }
    if metadata.version.is_empty() {
        return wrong("chart.metadata.version is required");
    }
    if gotemplate::semver::Version::parse(&metadata.version).is_err() {
        return Err(Error::Validate(format!(
            "chart.metadata.version \"{}\" is invalid",
            metadata.version
        )));
    }
    if !matches!(metadata.kind.as_str(), "" | "application" | "library") {
        return wrong("chart.metadata.type must be application or library");
    }
    let mut names = Vec::new();
    for dependency in &metadata.dependencies {
        let key = if dependency.alias.is_empty() {
            &dependency.name
        } else {
            &dependency.alias
        };
        if names.contains(&key) {
            return Err(Error::Validate(format!(
                "more than one dependency with name or alias \"{key}\""
            )));
        }
        let bad = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-';
        if !dependency.alias.is_empty() && dependency.alias.contains(bad) {
            return Err(Error::Validate(format!(
                "dependency \"{}\" has disallowed characters in the alias",
                dependency.name
            )));
        }
        names.push(key);
    }
    Ok(())
}
