//! Where an object comes from and what changed it, as `buildMetadata` asks for it in annotations.

use goyaml::Dialect;
use serde_json::Value;

use crate::id::Gvk;

/// The annotation that says where an object comes from.
pub(crate) const ORIGIN: &str = "config.kubernetes.io/origin";
/// The annotation that lists what changed it.
pub(crate) const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

/// A file, or a generator or transformer and the file that configures it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The file with the object, seen from the outermost kustomization.
    pub(crate) path: String,
    pub(crate) configured_in: String,
    /// `apiVersion`, kind, name and namespace of what did it.
    pub(crate) configured_by: Option<(String, String, String, String)>,
}

impl Origin {
    pub(crate) fn file(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..Self::default()
        }
    }

    /// A built-in generator or transformer of a kustomization file.
    pub(crate) fn builtin(file: &str, kind: &str) -> Self {
        Self {
            path: String::new(),
            configured_in: file.to_owned(),
            configured_by: Some(("builtin".to_owned(), kind.to_owned(), String::new(), String::new())),
        }
    }

    /// One that has an object of its own.
    pub(crate) fn configured(file: &str, gvk: &Gvk, name: &str, namespace: &str) -> Self {
        let slash = if gvk.group.is_empty() { "" } else { "/" };
        let version = format!("{}{slash}{}", gvk.group, gvk.version);
        Self {
            path: String::new(),
            configured_in: file.to_owned(),
            configured_by: Some((version, gvk.kind.clone(), name.to_owned(), namespace.to_owned())),
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = |indent: &str, key: &str, text: &str| {
            if !text.is_empty() {
                let quoted = goyaml::to_yaml_with(Dialect::V3, &Value::from(text)).unwrap_or_default();
                lines.push(format!("{indent}{key}: {}", quoted.trim_end()));
            }
        };
        line("", "path", &self.path);
        line("", "configuredIn", &self.configured_in);
        if let Some((version, kind, name, namespace)) = &self.configured_by {
            lines.push("configuredBy:".to_owned());
            let mut line = |key: &str, text: &str| {
                if !text.is_empty() {
                    lines.push(format!("  {key}: {text}"));
                }
            };
            line("apiVersion", version);
            line("kind", kind);
            line("name", name);
            line("namespace", namespace);
        }
        lines
    }

    /// As the annotation says it.
    pub(crate) fn text(&self) -> String {
        self.lines().iter().map(|line| format!("{line}\n")).collect()
    }
}

/// Transformations as the annotation lists them.
pub(crate) fn list(origins: &[Origin]) -> String {
    let mut text = String::new();
    for origin in origins {
        for (index, line) in origin.lines().iter().enumerate() {
            text.push_str(if index == 0 { "- " } else { "  " });
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// A path seen from where another path leads: `base` and `../a.yaml` is `a.yaml`. May lead out of where it starts.
pub(crate) fn joined(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
