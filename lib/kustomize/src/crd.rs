//! Fields of custom resources that hold names, labels or annotations, as the OpenAPI definitions of `crds` say.

use serde_json::{Map, Value};

use crate::config::{self, Config, FieldSpec, NameReference};
use crate::id::Gvk;

const ANNOTATION: &str = "x-kubernetes-annotation";
const LABEL_SELECTOR: &str = "x-kubernetes-label-selector";
const IDENTITY: &str = "x-kubernetes-identity";
const VERSION: &str = "x-kubernetes-object-ref-api-version";
const KIND: &str = "x-kubernetes-object-ref-kind";
const NAME_KEY: &str = "x-kubernetes-object-ref-name-key";
/// Types that hold themselves would go on for ever.
const MAX_DEPTH: usize = 30;
/// Fields of one file; far more than any type has.
const MAX_FIELDS: usize = 20_000;

/// Reads the definitions of a file.
///
/// # Errors
/// It is no map of definitions, or a type holds itself.
pub(crate) fn read(text: &str) -> Result<Config, String> {
    let value = goyaml::parse(text).map_err(|error| error.to_string())?;
    let Value::Object(definitions) = value else {
        return Err("it is no map of OpenAPI definitions".to_owned());
    };
    let mut found = Found {
        definitions: &definitions,
        config: Config::default(),
        visited: 0,
    };
    for (name, definition) in &definitions {
        let has = |key: &str| properties(definition).is_some_and(|properties| properties.contains_key(key));
        if has("kind") && has("apiVersion") && has("metadata") {
            let kind = name.rsplit('.').next().unwrap_or(name);
            found.fields(kind, definition, &mut Vec::new())?;
        }
    }
    Ok(found.config)
}

fn properties(definition: &Value) -> Option<&Map<String, Value>> {
    let schema = definition.get("Schema").or_else(|| definition.get("schema"))?;
    schema["properties"].as_object()
}

struct Found<'a> {
    definitions: &'a Map<String, Value>,
    config: Config,
    visited: usize,
}

impl Found<'_> {
    fn fields(&mut self, kind: &str, definition: &Value, path: &mut Vec<String>) -> Result<(), String> {
        if path.len() > MAX_DEPTH {
            return Err(format!("a type of {kind} holds itself"));
        }
        let definitions = self.definitions;
        for (name, property) in properties(definition).into_iter().flatten() {
            self.visited += 1;
            if self.visited > MAX_FIELDS {
                return Err(format!("there are more than {MAX_FIELDS} fields"));
            }
            path.push(name.clone());
            self.field(kind, property, path)?;
            if let Some(definition) = property["$ref"].as_str().and_then(|name| definitions.get(name)) {
                self.fields(kind, definition, path)?;
            }
            path.pop();
        }
        Ok(())
    }

    fn field(&mut self, kind: &str, property: &Value, path: &[String]) -> Result<(), String> {
        let said = |key: &str| property[key].as_str();
        let spec = |path: String| FieldSpec {
            gvk: Gvk {
                kind: kind.to_owned(),
                ..Gvk::default()
            },
            path,
            create: false,
        };
        let own = path.join("/");
        if said(ANNOTATION).is_some() {
            config::add("crds", &mut self.config.common_annotations, &spec(own.clone()))?;
        }
        if said(LABEL_SELECTOR).is_some() {
            config::add("crds", &mut self.config.common_labels, &spec(own.clone()))?;
        }
        if said(IDENTITY).is_some() {
            config::add("crds", &mut self.config.name_prefix, &spec(own.clone()))?;
        }
        if let (Some(version), Some(named)) = (said(VERSION), said(KIND)) {
            let key = said(NAME_KEY).unwrap_or("name");
            let fields = vec![spec(format!("{own}/{key}"))];
            let reference = NameReference::new("", version, named, fields);
            let known = &mut self.config.name_reference;
            match known.iter_mut().find(|known| known.gvk() == reference.gvk()) {
                Some(known) => {
                    for field in &reference.fields {
                        config::add("crds", &mut known.fields, field)?;
                    }
                }
                None => known.push(reference),
            }
        }
        Ok(())
    }
}
