//! Kustomize: the same files give the same objects, and its own output built again is unchanged.

use std::collections::BTreeMap;

use goyaml::Dialect;

use crate::section;

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
    let mut text = String::new();
    for object in &objects {
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
        for seed in ["basic", "patch", "bases"] {
            let path = format!(
                "{}/../../fuzz/seeds/kustomization/{seed}.txt",
                env!("CARGO_MANIFEST_DIR")
            );
            let built = kustomize::build(&section::files(&std::fs::read_to_string(path).unwrap()), "");
            assert!(!built.unwrap().is_empty(), "{seed}");
        }
    }
}
