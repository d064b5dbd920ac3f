//! Bundles that replace others → which objects they take over. When a directory is renamed, the
//! old bundle goes and the new one brings the same objects; recording them keeps the agent from
//! deleting what it has just deployed. Upstream's rule: same file name, same kind, name and
//! namespace.

use std::sync::LazyLock;

use fleet_api::{Bundle, BundleResource, OverwrittenResource};
use regex::Regex;

/// Records on the new bundle the objects that it shares with one that goes.
pub(crate) fn record(new: &mut Bundle, going: &Bundle) {
    for resource in &new.spec.resources {
        let twin = going.spec.resources.iter().find(|other| other.name == resource.name);
        let Some(twin) = twin else { continue };
        let (Some(ours), Some(theirs)) = (object(resource), object(twin)) else {
            continue;
        };
        if ours == theirs && !new.spec.options.overwrites.contains(&ours) {
            new.spec.options.overwrites.push(ours);
        }
    }
}

/// Kind, name and namespace of the object in a file, if it is one. Packed files are not looked
/// into; templates are, with a word in the place of their actions.
fn object(resource: &BundleResource) -> Option<OverwrittenResource> {
    static ACTION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\{\{[^}]*\}\}").ok());
    if !resource.encoding.is_empty() {
        return None;
    }
    let text = ACTION.as_ref()?.replace_all(&resource.content, "TEMPLATED");
    let value = goyaml::parse(&text).ok()?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let object = OverwrittenResource {
        kind: text(&value["kind"]),
        name: text(&value["metadata"]["name"]),
        namespace: text(&value["metadata"]["namespace"]),
    };
    (!object.kind.is_empty() && !object.name.is_empty()).then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(files: &[(&str, &str)]) -> Bundle {
        let mut bundle = Bundle::named("x");
        bundle.spec.resources = files
            .iter()
            .map(|(name, text)| BundleResource {
                name: (*name).to_owned(),
                content: (*text).to_owned(),
                encoding: String::new(),
            })
            .collect();
        bundle
    }

    #[test]
    fn the_same_object_in_the_same_file_is_taken_over() {
        let text = "kind: ConfigMap\nmetadata:\n  name: x\n  labels: {a: {{ .Values.a }} }\n";
        let mut new = bundle(&[
            ("a.yaml", text),
            ("b.yaml", "kind: A\nmetadata: {name: y}\n"),
            ("c", "{{"),
        ]);
        let going = bundle(&[
            ("a.yaml", "kind: ConfigMap\nmetadata: {name: x}\n"),
            ("b.yaml", "kind: A\nmetadata: {name: z}\n"),
        ]);
        record(&mut new, &going);
        assert_eq!(new.spec.options.overwrites.len(), 1);
        assert_eq!(new.spec.options.overwrites[0].name, "x");
    }
}
