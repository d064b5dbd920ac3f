//! Kustomize: the same files give the same objects, wherever they lie and in whatever order they are printed, and its
//! own output can be built again.

use std::collections::BTreeMap;

use goyaml::Dialect;
use kustomize::Order;
use serde_json::Value;

use crate::section;

type Files = BTreeMap<String, Vec<u8>>;

/// The files of a kustomization.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let files = section::files(text);
    let built = kustomize::build(&files, "");
    let again = kustomize::build(&files, "");
    let objects = match (built, again) {
        (Ok(first), Ok(second)) => {
            assert_eq!(first, second, "not the same twice");
            first
        }
        (Err(first), Err(second)) => {
            assert_eq!(first.to_string(), second.to_string(), "not the same twice");
            return;
        }
        (first, second) => panic!("once {first:?}, once {second:?}"),
    };
    for object in &objects {
        assert!(object.is_object(), "{object} is no object");
    }
    in_another_order(&files, &objects);
    elsewhere(&files, &objects);
    again_from_its_output(&objects);
}

fn in_another_order(files: &Files, objects: &[Value]) {
    let texts = |objects: &[Value]| {
        let mut texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    match kustomize::build_in_order(files, "", Order::Legacy) {
        Ok(sorted) => assert_eq!(texts(&sorted), texts(objects), "sorting changes objects"),
        Err(error) => panic!("{error} when sorted"),
    }
}

/// A kustomization does not know where it lies, but for what `buildMetadata` writes down.
fn elsewhere(files: &Files, objects: &[Value]) {
    let tells = |content: &Vec<u8>| String::from_utf8_lossy(content).contains("buildMetadata");
    if files.values().any(tells) {
        return;
    }
    let moved: Files = files
        .iter()
        .map(|(name, content)| (format!("x/y/{name}"), content.clone()))
        .collect();
    match kustomize::build(&moved, "x/y") {
        Ok(found) => assert_eq!(found, objects, "other objects in another directory"),
        // A path from the root was the file's name before.
        Err(error) => assert!(
            files.values().any(|content| has_rooted(content)),
            "{error} in another directory"
        ),
    }
}

/// Whether a word of the text begins with a slash.
fn has_rooted(content: &[u8]) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
    content
        .iter()
        .enumerate()
        .any(|(place, byte)| *byte == b'/' && (place == 0 || !is_word(content[place - 1])))
}

fn again_from_its_output(objects: &[Value]) {
    let mut text = String::new();
    for object in objects {
        // As kustomize writes; characters that its dialect cannot carry end the matter.
        let Ok(object) = goyaml::to_yaml_with(Dialect::V3, object) else {
            return;
        };
        text.push_str("---\n");
        text.push_str(&object);
    }
    let files = BTreeMap::from([
        ("kustomization.yaml".to_owned(), b"resources: [all.yaml]\n".to_vec()),
        ("all.yaml".to_owned(), text.into_bytes()),
    ]);
    // Its output may be refused (two objects of one name by different ways), but not come out different.
    if let Ok(rebuilt) = kustomize::build(&files, "") {
        assert_eq!(
            rebuilt.len(),
            objects.len(),
            "building again changes the number of objects"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target whose inputs are all refused at the door would find nothing.
    #[test]
    fn seeds_are_kustomizations() {
        for seed in [
            "basic",
            "patch",
            "bases",
            "generators",
            "replacements",
            "plugins",
            "overlay",
        ] {
            let path = format!(
                "{}/../../fuzz/seeds/kustomization/{seed}.txt",
                env!("CARGO_MANIFEST_DIR")
            );
            let built = kustomize::build(&section::files(&std::fs::read_to_string(path).unwrap()), "");
            match built {
                Ok(objects) => assert!(!objects.is_empty(), "{seed}"),
                Err(error) => panic!("{seed}: {error}"),
            }
        }
    }
}
