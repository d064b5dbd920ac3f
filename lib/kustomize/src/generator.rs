//! Config maps and secrets made from literals, files and lists of variables.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::bound::Budget;
use crate::files::Loader;
use crate::kustomization::{Generator, GeneratorOptions};
use crate::node::{Map, Node, Tag};
use crate::resource::{Behavior, Resource};

/// Which of the two is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    ConfigMap,
    Secret,
}

impl Made {
    fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

/// The object of one generator.
///
/// # Errors
/// The part that is wrong, and why.
pub(crate) fn generate(
    loader: &Loader<'_>,
    made: Made,
    generator: &Generator,
    shared: Option<&GeneratorOptions>,
    budget: &Budget,
) -> Result<Resource, String> {
    if generator.name.is_empty() {
        return Err(format!("name: a {} needs a name", made.kind()));
    }
    let options = merged(shared, generator.options.as_ref());
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), Node::text(&generator.name));
    if !generator.namespace.is_empty() {
        metadata.insert("namespace".to_owned(), Node::text(&generator.namespace));
    }
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), Node::text("v1"));
    object.insert("kind".to_owned(), Node::text(made.kind()));
    object.insert("metadata".to_owned(), Node::Map(metadata));
    if made == Made::Secret {
        let own = generator.secret_type.as_str();
        let kind = if own.is_empty() { "Opaque" } else { own };
        object.insert("type".to_owned(), Node::text(kind));
        object.insert("data".to_owned(), Node::map());
    }
    for (key, bytes) in pairs(loader, generator, budget)? {
        let (field, value) = match (made, std::str::from_utf8(&bytes)) {
            (Made::ConfigMap, Ok(text)) => ("data", text.to_owned()),
            (Made::ConfigMap, Err(_)) => ("binaryData", encoded(&bytes)),
            (Made::Secret, _) => ("data", encoded(&bytes)),
        };
        let slot = object.entry(field.to_owned()).or_insert_with(Node::map);
        if let Some(map) = slot.as_map_mut() {
            map.insert(key, Node::text(value));
        }
    }
    if options.immutable {
        object.insert("immutable".to_owned(), Node::tagged("true", Tag::Bool));
    }
    let mut resource = Resource::new(Node::Map(object));
    resource.set_texts("labels", options.labels.into_iter().collect());
    resource.set_texts("annotations", options.annotations.into_iter().collect());
    // Only a generator's own options keep it from the hash here; the shared ones are part of `options`.
    resource.hashed = !options.disable_name_suffix_hash;
    resource.behavior = Behavior::read(&generator.behavior);
    Ok(resource)
}

/// Keys and values in the order variables, literals, files.
fn pairs(loader: &Loader<'_>, generator: &Generator, budget: &Budget) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut seen = std::collections::BTreeSet::new();
    let mut pairs: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |part: &str, key: &str, bytes: &[u8]| {
        budget
            .spend(bytes.len() + key.len())
            .map_err(|message| format!("{part}: {message}"))?;
        if !seen.insert(key.to_owned()) {
            return Err(format!("{part}: key '{key}' is given twice"));
        }
        pairs.push((key.to_owned(), bytes.to_vec()));
        Ok(())
    };
    let own = (!generator.env.is_empty()).then_some(&generator.env);
    for path in generator.envs.iter().chain(own) {
        let text = loader.text(path).map_err(|message| format!("envs: {message}"))?;
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            if !key.is_empty() {
                add("envs", key, value.as_bytes())?;
            }
        }
    }
    for literal in &generator.literals {
        let Some((key, value)) = literal.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(format!("literals: '{literal}' is not of the form key=value"));
        };
        add("literals", key, unquoted(value).as_bytes())?;
    }
    for entry in &generator.files {
        let (key, path) = match entry.split_once('=') {
            None => (entry.rsplit('/').next().unwrap_or(entry), entry.as_str()),
            Some((key, path)) if !key.is_empty() && !path.is_empty() && !path.contains('=') => (key, path),
            Some(_) => return Err(format!("files: '{entry}' is not of the form key=path")),
        };
        let bytes = loader.bytes(path).map_err(|message| format!("files: {message}"))?;
        add("files", key, &bytes)?;
    }
    Ok(pairs)
}

/// A literal without the quotes around it, if they are the same on both sides.
fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

/// Base64 in lines of 70 characters, as soon as it is that long.
fn encoded(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let text = STANDARD.encode(bytes);
    if text.len() < LINE {
        return text;
    }
    let mut lines = String::with_capacity(text.len() + text.len() / LINE + 1);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(LINE));
        lines.push_str(line);
        lines.push('\n');
        rest = more;
    }
    lines
}

/// Shared options and those of a generator, which win.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_secrets_are_broken_into_lines() {
        assert_eq!(encoded(&[0; 51]).lines().count(), 1);
        assert!(!encoded(&[0; 51]).contains('\n'));
        assert_eq!(encoded(&[0; 52]).matches('\n').count(), 2);
    }

    #[test]
    fn only_matching_quotes_are_taken_off() {
        assert_eq!(
            [unquoted("'a'"), unquoted("\"a'"), unquoted("\""), unquoted("")],
            ["a", "\"a'", "\"", ""]
        );
    }
}
