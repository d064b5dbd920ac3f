//! Config maps and secrets made from literals, files and lists of variables.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::file::Tree;
use crate::kustomization::{Generator, GeneratorOptions};
use crate::resource::Resource;

/// Which of the two is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    ConfigMap,
    Secret,
}

/// Where a generator stands, for messages and for reading files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a str,
    pub(crate) dir: &'a str,
    pub(crate) field: &'a str,
}

/// The object of one generator.
pub(crate) fn generate(
    tree: &Tree<'_>,
    place: Place<'_>,
    made: Made,
    generator: &Generator,
    shared: Option<&GeneratorOptions>,
) -> Result<Resource, Error> {
    let failed = |part: &str, message: String| Error::field(place.file, format!("{}.{part}", place.field), message);
    if generator.name.is_empty() {
        return Err(failed("name", "a name is needed".to_owned()));
    }
    let mut pairs: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |part: &str, key: &str, bytes: &[u8]| {
        if key.is_empty() {
            return Err(failed(part, "a key is empty".to_owned()));
        }
        if pairs.iter().any(|(known, _)| known == key) {
            return Err(failed(part, format!("key '{key}' is given twice")));
        }
        pairs.push((key.to_owned(), bytes.to_vec()));
        Ok(())
    };
    let envs = generator
        .envs
        .iter()
        .chain((!generator.env.is_empty()).then_some(&generator.env));
    for path in envs {
        let (_, text) = tree.text(place.dir, path).map_err(|message| failed("envs", message))?;
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            add("envs", key, value.as_bytes())?;
        }
    }
    for literal in &generator.literals {
        let Some((key, value)) = literal.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(failed("literals", format!("'{literal}' is not of the form key=value")));
        };
        add("literals", key, value.trim_matches(['"', '\'']).as_bytes())?;
    }
    for entry in &generator.files {
        let (key, path) = entry.split_once('=').unwrap_or_else(|| (base_name(entry), entry));
        let (_, bytes) = tree.read(place.dir, path).map_err(|message| failed("files", message))?;
        add("files", key, bytes)?;
    }
    let options = merged(shared, generator.options.as_ref());
    let mut resource = Resource::new(object(made, generator, &options, pairs));
    resource.hashed = !options.disable_name_suffix_hash;
    Ok(resource)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn merged(shared: Option<&GeneratorOptions>, own: Option<&GeneratorOptions>) -> GeneratorOptions {
    let mut options = shared.cloned().unwrap_or_default();
    if let Some(own) = own {
        options.labels.extend(own.labels.clone());
        options.annotations.extend(own.annotations.clone());
        options.disable_name_suffix_hash |= own.disable_name_suffix_hash;
        options.immutable |= own.immutable;
    }
    options
}

fn object(made: Made, generator: &Generator, options: &GeneratorOptions, pairs: Vec<(String, Vec<u8>)>) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), generator.name.as_str().into());
    if !generator.namespace.is_empty() {
        metadata.insert("namespace".to_owned(), generator.namespace.as_str().into());
    }
    if !options.labels.is_empty() {
        metadata.insert("labels".to_owned(), json!(options.labels));
    }
    if !options.annotations.is_empty() {
        metadata.insert("annotations".to_owned(), json!(options.annotations));
    }
    let mut data = Map::new();
    let mut binary = Map::new();
    for (key, bytes) in pairs {
        match (made, String::from_utf8(bytes)) {
            (Made::ConfigMap, Ok(text)) => data.insert(key, text.into()),
            (Made::ConfigMap, Err(error)) => binary.insert(key, STANDARD.encode(error.as_bytes()).into()),
            (Made::Secret, Ok(text)) => data.insert(key, STANDARD.encode(text).into()),
            (Made::Secret, Err(error)) => data.insert(key, STANDARD.encode(error.as_bytes()).into()),
        };
    }
    let kind = if made == Made::ConfigMap { "ConfigMap" } else { "Secret" };
    let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
    if made == Made::Secret {
        let kind = if generator.secret_type.is_empty() {
            "Opaque"
        } else {
            &generator.secret_type
        };
        object["type"] = kind.into();
    }
    if !data.is_empty() || made == Made::Secret {
        object["data"] = Value::Object(data);
    }
    if !binary.is_empty() {
        object["binaryData"] = Value::Object(binary);
    }
    if options.immutable {
        object["immutable"] = true.into();
    }
    object
}
