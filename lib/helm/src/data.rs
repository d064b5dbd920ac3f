//! The built-in objects of templates: `.Chart`, `.Capabilities`, `.Release`.

use std::rc::Rc;

use gotemplate::object::Kind;
use gotemplate::value::{Element, MapType};
use gotemplate::{Failure, GoObject, List, Machine, Map, Signature, Value, json};

use crate::capabilities::{Capabilities, KubeVersion};
use crate::chart::{Dependency, Metadata};
use crate::render::ReleaseOptions;

/// `.Chart`
pub(crate) fn chart(metadata: &Metadata, is_root: bool) -> Value {
    let map = Map::new();
    let text = |name: &str, value: &str| map.insert(name, value);
    text("APIVersion", &metadata.api_version);
    text("AppVersion", &metadata.app_version);
    text("Condition", &metadata.condition);
    text("Description", &metadata.description);
    text("Home", &metadata.home);
    text("Icon", &metadata.icon);
    text("KubeVersion", &metadata.kube_version);
    text("Name", &metadata.name);
    text("Tags", &metadata.tags);
    text("Type", &metadata.kind);
    text("Version", &metadata.version);
    map.insert("Deprecated", metadata.deprecated);
    map.insert("IsRoot", is_root);
    map.insert("Keywords", List::strings(&metadata.keywords));
    map.insert("Sources", List::strings(&metadata.sources));
    let annotations = Map::typed(MapType::Str);
    for (key, value) in &metadata.annotations {
        annotations.insert(key, value.as_str());
    }
    map.insert("Annotations", annotations);
    let maintainers = metadata.maintainers.iter().map(|maintainer| {
        let map = Map::typed(MapType::Named("*chart.Maintainer"));
        map.insert("Name", maintainer.name.as_str());
        map.insert("Email", maintainer.email.as_str());
        map.insert("URL", maintainer.url.as_str());
        Value::Map(map)
    });
    map.insert("Maintainers", List::typed(Element::Any, maintainers.collect()));
    map.insert(
        "Dependencies",
        List::new(metadata.dependencies.iter().map(dependency).collect()),
    );
    map.into()
}

fn dependency(dependency: &Dependency) -> Value {
    let map = Map::typed(MapType::Named("*chart.Dependency"));
    map.insert("Name", dependency.name.as_str());
    map.insert("Version", dependency.version.as_str());
    map.insert("Repository", dependency.repository.as_str());
    map.insert("Condition", dependency.condition.as_str());
    map.insert("Tags", List::strings(&dependency.tags));
    map.insert("Enabled", dependency.enabled);
    map.insert(
        "ImportValues",
        List::new(dependency.import_values.iter().map(json::from_json).collect()),
    );
    map.insert("Alias", dependency.alias.as_str());
    map.into()
}

/// `.Release`
pub(crate) fn release(options: &ReleaseOptions) -> Value {
    let map = Map::new();
    map.insert("Name", options.name.as_str());
    map.insert("Namespace", options.namespace.as_str());
    map.insert("Revision", Value::Int(options.revision));
    map.insert("IsInstall", options.is_install);
    map.insert("IsUpgrade", options.is_upgrade);
    map.insert("Service", "Helm");
    map.into()
}

/// `.Capabilities`
pub(crate) fn capabilities(capabilities: &Capabilities) -> Value {
    let version = Rc::new(KubeVersionObject(capabilities.kube_version.clone()));
    let fields = vec![
        ("KubeVersion", Value::Object(version)),
        (
            "APIVersions",
            Value::Object(Rc::new(VersionSet(capabilities.api_versions.clone()))),
        ),
        (
            "HelmVersion",
            Value::Object(Rc::new(Struct {
                name: "common.BuildInfo",
                kind: Kind::Struct,
                fields: vec![
                    ("Version", capabilities.helm_version.as_str().into()),
                    ("GitCommit", "".into()),
                    ("GitTreeState", "".into()),
                    ("GoVersion", "go1.26.6".into()),
                    ("KubeClientVersion", "v1.36".into()),
                ],
            })),
        ),
    ];
    Value::Object(Rc::new(Struct {
        name: "*common.Capabilities",
        kind: Kind::Pointer,
        fields,
    }))
}

/// A plain struct.
struct Struct {
    name: &'static str,
    kind: Kind,
    fields: Vec<(&'static str, Value)>,
}

impl GoObject for Struct {
    fn type_name(&self) -> String {
        self.name.into()
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.fields
            .iter()
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value.clone())
    }

    fn entries(&self) -> Vec<(Value, Value)> {
        self.fields
            .iter()
            .map(|(name, value)| (Value::str(name), value.clone()))
            .collect()
    }
}

/// `common.KubeVersion`
struct KubeVersionObject(KubeVersion);

impl GoObject for KubeVersionObject {
    fn type_name(&self) -> String {
        "common.KubeVersion".into()
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Version" => Some(self.0.version.as_str().into()),
            "Major" => Some(self.0.major.as_str().into()),
            "Minor" => Some(self.0.minor.as_str().into()),
            _ => None,
        }
    }

    fn method(&self, name: &str) -> Option<Signature> {
        matches!(name, "String" | "GitVersion").then(Signature::default)
    }

    fn call(&self, _: &mut Machine<'_>, name: &str, _: &[Value]) -> Result<Value, Failure> {
        let text = if name == "String" {
            self.0.compared()
        } else {
            &self.0.version
        };
        Ok(text.into())
    }

    fn entries(&self) -> Vec<(Value, Value)> {
        ["Version", "Major", "Minor"]
            .into_iter()
            .filter_map(|name| Some((Value::str(name), self.field(name)?)))
            .collect()
    }

    fn display(&self) -> Option<String> {
        Some(self.0.compared().to_owned())
    }
}

/// `common.VersionSet`: a list that knows what it has.
struct VersionSet(Vec<String>);

impl GoObject for VersionSet {
    fn type_name(&self) -> String {
        "common.VersionSet".into()
    }

    fn kind(&self) -> Kind {
        Kind::Slice
    }

    fn field(&self, _name: &str) -> Option<Value> {
        None
    }

    fn method(&self, name: &str) -> Option<Signature> {
        (name == "Has").then(|| Signature::short("s"))
    }

    fn call(&self, _: &mut Machine<'_>, _: &str, args: &[Value]) -> Result<Value, Failure> {
        let wanted = args.first().and_then(Value::as_str).unwrap_or("");
        Ok(self.0.iter().any(|version| version == wanted).into())
    }

    fn entries(&self) -> Vec<(Value, Value)> {
        (0..)
            .map(Value::Int)
            .zip(self.0.iter().map(|version| Value::str(version)))
            .collect()
    }

    fn json(&self) -> Option<Value> {
        Some(List::strings(&self.0).into())
    }
}
