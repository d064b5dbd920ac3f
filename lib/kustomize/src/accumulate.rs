//! One kustomization → objects: its resources and bases, what it generates, its components, then its transformations
//! in kustomize's order. At the end of the outermost one, content hashes and references.

use serde_json::Value;

use crate::error::Error;
use crate::file::{self, Tree};
use crate::generator::{self, Made, Place};
use crate::kustomization::{Generator, Kustomization, Patch, Replacement};
use crate::merge::Left;
use crate::patch::{self, Content, Target};
use crate::resource::{Resource, effective};
use crate::{hash, order, reference, replacement, transform};

/// Kustomizations inside of kustomizations; more is a mistake.
const MAX_DEPTH: usize = 50;

pub(crate) fn build(tree: &Tree<'_>, dir: &str) -> Result<Vec<Value>, Error> {
    let dir = file::join("", dir).ok_or_else(|| Error::file(dir, "the directory is outside of the files"))?;
    let mut resources = Vec::new();
    let (file, root) = read(tree, &dir)?;
    if root.is_component() {
        return Err(Error::file(&file, "a Component cannot be built on its own"));
    }
    Level {
        tree,
        file: &file,
        dir: &dir,
        parents: &[],
    }
    .accumulate(&root, &mut resources)?;
    for resource in resources.iter_mut().filter(|resource| resource.hashed) {
        let name = format!("{}-{}", resource.name(), hash::suffix(&resource.object));
        resource.rename(&name);
    }
    reference::update(&mut resources);
    order::sort(&mut resources, root.sort_options.as_ref(), &file)?;
    Ok(resources.into_iter().map(|resource| resource.object).collect())
}

fn read(tree: &Tree<'_>, dir: &str) -> Result<(String, Kustomization), Error> {
    let missing = if dir.is_empty() { "." } else { dir };
    let file = tree
        .kustomization(dir)
        .map_err(|message| Error::file(missing, message))?;
    let (_, text) = tree.text("", &file).map_err(|message| Error::file(&file, message))?;
    let kustomization = Kustomization::read(&file, text)?;
    Ok((file, kustomization))
}

/// One kustomization and where it stands.
struct Level<'a> {
    tree: &'a Tree<'a>,
    file: &'a str,
    dir: &'a str,
    /// Directories of the kustomizations around it.
    parents: &'a [String],
}

impl Level<'_> {
    fn failed(&self, field: &str, message: impl Into<String>) -> Error {
        Error::field(self.file, field, message)
    }

    fn accumulate(&self, own: &Kustomization, resources: &mut Vec<Resource>) -> Result<(), Error> {
        for (index, path) in own.resources.iter().enumerate() {
            self.resource(path, &format!("resources[{index}]"), resources)?;
        }
        for (index, path) in own.bases.iter().enumerate() {
            self.resource(path, &format!("bases[{index}]"), resources)?;
        }
        for (made, field, generators) in [
            (Made::ConfigMap, "configMapGenerator", &own.config_map_generator),
            (Made::Secret, "secretGenerator", &own.secret_generator),
        ] {
            for (index, generator) in generators.iter().enumerate() {
                self.generate(own, made, generator, &format!("{field}[{index}]"), resources)?;
            }
        }
        for (index, path) in own.components.iter().enumerate() {
            self.directory(path, &format!("components[{index}]"), true, resources)?;
        }
        self.transform(own, resources)
    }

    /// A file with objects, or a directory with a kustomization.
    fn resource(&self, path: &str, field: &str, resources: &mut Vec<Resource>) -> Result<(), Error> {
        if file::is_remote(path) {
            return Err(self.failed(
                field,
                format!("'{path}' is remote; only files of the bundle can be used"),
            ));
        }
        if file::join(self.dir, path).is_some_and(|full| self.tree.is_directory(&full)) {
            return self.directory(path, field, false, resources);
        }
        let (full, text) = self
            .tree
            .text(self.dir, path)
            .map_err(|message| self.failed(field, message))?;
        let documents = goyaml::parse_documents_with(goyaml::Dialect::V3, text)
            .map_err(|error| Error::file(&full, error.to_string()))?;
        for document in documents {
            for object in flattened(document.value) {
                let missing = ["/kind", "/apiVersion", "/metadata/name"].into_iter().find(|pointer| {
                    object
                        .pointer(pointer)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .is_empty()
                });
                if let Some(pointer) = missing {
                    let what = pointer.trim_start_matches('/').replace('/', ".");
                    return Err(Error::file(
                        &full,
                        format!("line {}: an object has no {what}", document.line),
                    ));
                }
                self.add(Resource::new(object), field, resources)?;
            }
        }
        Ok(())
    }

    fn add(&self, resource: Resource, field: &str, resources: &mut Vec<Resource>) -> Result<(), Error> {
        let id = resource.id();
        if resources.iter().any(|known| known.id() == id) {
            return Err(self.failed(field, format!("object {id} is already there")));
        }
        resources.push(resource);
        Ok(())
    }

    /// Another kustomization: a base with objects of its own, or a component over the objects that are there.
    fn directory(&self, path: &str, field: &str, component: bool, resources: &mut Vec<Resource>) -> Result<(), Error> {
        let dir = file::join(self.dir, path)
            .filter(|dir| !file::is_remote(path) && self.tree.is_directory(dir))
            .ok_or_else(|| self.failed(field, format!("directory '{path}' does not exist")))?;
        let mut parents = self.parents.to_vec();
        parents.push(self.dir.to_owned());
        if parents.contains(&dir) || parents.len() > MAX_DEPTH {
            return Err(self.failed(field, format!("'{path}' leads back to where it is used")));
        }
        let (file, kustomization) = read(self.tree, &dir)?;
        if kustomization.is_component() != component {
            let wanted = if component { "Component" } else { "Kustomization" };
            return Err(self.failed(field, format!("'{file}' is no {wanted}")));
        }
        let level = Level {
            tree: self.tree,
            file: &file,
            dir: &dir,
            parents: &parents,
        };
        if component {
            return level.accumulate(&kustomization, resources);
        }
        let mut own = Vec::new();
        level.accumulate(&kustomization, &mut own)?;
        for resource in own {
            self.add(resource, field, resources)?;
        }
        Ok(())
    }

    fn generate(
        &self,
        own: &Kustomization,
        made: Made,
        generator: &Generator,
        field: &str,
        resources: &mut Vec<Resource>,
    ) -> Result<(), Error> {
        let place = Place {
            file: self.file,
            dir: self.dir,
            field,
        };
        let resource = generator::generate(self.tree, place, made, generator, own.generator_options.as_ref())?;
        let behavior = generator.behavior.as_str();
        if matches!(behavior, "" | "create" | "unspecified") {
            return self.add(resource, field, resources);
        }
        if !matches!(behavior, "merge" | "replace") {
            return Err(self.failed(
                &format!("{field}.behavior"),
                format!("'{behavior}' is not one of create, merge, replace"),
            ));
        }
        let wanted = (resource.name(), effective(resource.namespace()));
        let existing = resources.iter_mut().find(|known| {
            known.kind() == resource.kind()
                && known
                    .identities()
                    .any(|(name, space)| (name, effective(space)) == wanted)
        });
        let Some(existing) = existing else {
            return Err(self.failed(field, format!("there is no object to {behavior}: {}", resource.id())));
        };
        let keep = (existing.name().to_owned(), existing.namespace().to_owned());
        if behavior == "merge" {
            let mut merged = existing.object.clone();
            for part in ["data", "binaryData", "type", "immutable"] {
                overlay(&mut merged[part], resource.object.get(part));
            }
            for part in ["labels", "annotations"] {
                overlay(&mut merged["metadata"][part], resource.object["metadata"].get(part));
            }
            existing.object = merged;
            drop_nulls(&mut existing.object);
            existing.hashed |= resource.hashed;
        } else {
            existing.object = resource.object;
            existing.hashed = resource.hashed;
        }
        existing.metadata().insert("name".to_owned(), keep.0.into());
        if !keep.1.is_empty() {
            existing.metadata().insert("namespace".to_owned(), keep.1.into());
        }
        Ok(())
    }

    fn transform(&self, own: &Kustomization, resources: &mut Vec<Resource>) -> Result<(), Error> {
        for (index, entry) in own.patches_strategic_merge.iter().enumerate() {
            let field = format!("patchesStrategicMerge[{index}]");
            let text = match self.tree.text(self.dir, entry) {
                Ok((_, text)) => text,
                // An entry that is no file is the patch itself.
                Err(_) if entry.contains('\n') || entry.contains(": ") => entry,
                Err(message) => return Err(self.failed(&field, message)),
            };
            self.untargeted(text, &field, resources)?;
        }
        for (index, entry) in own.patches.iter().enumerate() {
            self.patch(entry, &format!("patches[{index}]"), resources)?;
        }
        if let Some(namespace) = own.namespace.as_deref().filter(|namespace| !namespace.is_empty()) {
            transform::namespace(resources, namespace);
        }
        let (prefix, suffix) = (
            own.name_prefix.as_deref().unwrap_or_default(),
            own.name_suffix.as_deref().unwrap_or_default(),
        );
        if !prefix.is_empty() || !suffix.is_empty() {
            transform::affix(resources, prefix, suffix);
        }
        for labels in &own.labels {
            transform::labels(resources, labels);
        }
        if !own.common_labels.is_empty() {
            transform::common_labels(resources, &own.common_labels);
        }
        if !own.common_annotations.is_empty() {
            transform::annotations(resources, &own.common_annotations);
        }
        for (index, entry) in own.patches_json6902.iter().enumerate() {
            self.patch(entry, &format!("patchesJson6902[{index}]"), resources)?;
        }
        for (index, replica) in own.replicas.iter().enumerate() {
            if !transform::replicas(resources, replica) {
                let message = format!("no object with replicas has the name '{}'", replica.name);
                return Err(self.failed(&format!("replicas[{index}]"), message));
            }
        }
        for image in &own.images {
            transform::images(resources, image);
        }
        for (index, entry) in own.replacements.iter().enumerate() {
            self.replace(entry, &format!("replacements[{index}]"), resources)?;
        }
        Ok(())
    }

    fn patch(&self, entry: &Patch, field: &str, resources: &mut Vec<Resource>) -> Result<(), Error> {
        let text = match (entry.path.is_empty(), entry.patch.is_empty()) {
            (false, true) => {
                let read = self.tree.text(self.dir, &entry.path);
                read.map_err(|message| self.failed(&format!("{field}.path"), message))?
                    .1
            }
            (true, false) => &entry.patch,
            _ => return Err(self.failed(field, "exactly one of path and patch is needed")),
        };
        let Some(selector) = &entry.target else {
            return self.untargeted(text, field, resources);
        };
        let target = Target::new(selector).map_err(|message| self.failed(&format!("{field}.target"), message))?;
        let content = Content::read(text).map_err(|message| self.failed(field, message))?;
        let option = |name: &str| entry.options.get(name).copied().unwrap_or(false);
        let mut kept = Vec::with_capacity(resources.len());
        for mut resource in std::mem::take(resources) {
            if !target.selects(&resource) {
                kept.push(resource);
                continue;
            }
            let mut left = Left::Merged;
            match &content {
                Content::Json(operations) => {
                    let before = (resource.name().to_owned(), resource.namespace().to_owned());
                    resource.remember();
                    kubeschema::patch::json::apply(&mut resource.object, operations)
                        .map_err(|error| self.failed(field, format!("object {}: {error}", resource.id())))?;
                    if (resource.name(), resource.namespace()) == (before.0.as_str(), before.1.as_str()) {
                        resource.former.retain(|former| *former != before);
                    }
                }
                Content::Strategic(patches) => {
                    for patch in patches {
                        let (names, kinds) = (option("allowNameChange"), option("allowKindChange"));
                        if left == Left::Merged {
                            left = patch::strategic(&mut resource, patch, names, kinds);
                        }
                    }
                }
            }
            if left == Left::Merged {
                kept.push(resource);
            }
        }
        *resources = kept;
        Ok(())
    }

    /// A replacement, or the replacements of a file.
    fn replace(&self, entry: &Replacement, field: &str, resources: &mut [Resource]) -> Result<(), Error> {
        let carry_out = |replacement: &Replacement, resources: &mut [Resource]| {
            replacement::apply(resources, replacement)
                .map_err(|(part, message)| self.failed(&format!("{field}.{part}"), message))
        };
        if entry.path.is_empty() {
            return carry_out(entry, resources);
        }
        let (full, text) = self
            .tree
            .text(self.dir, &entry.path)
            .map_err(|message| self.failed(&format!("{field}.path"), message))?;
        let value = goyaml::parse(text).map_err(|error| Error::file(&full, error.to_string()))?;
        let list = if value.is_array() {
            value
        } else {
            Value::Array(vec![value])
        };
        let read: Vec<Replacement> =
            serde_json::from_value(list).map_err(|error| Error::file(&full, error.to_string()))?;
        read.iter()
            .try_for_each(|replacement| carry_out(replacement, resources))
    }

    /// A patch that says itself which object it is for.
    fn untargeted(&self, text: &str, field: &str, resources: &mut Vec<Resource>) -> Result<(), Error> {
        let patches = match Content::read(text).map_err(|message| self.failed(field, message))? {
            Content::Strategic(patches) => patches,
            Content::Json(_) => return Err(self.failed(field, "a list of operations needs a target")),
        };
        for patch in patches {
            let matching: Vec<usize> = (0..resources.len())
                .filter(|at| patch::is_for(&patch, &resources[*at]))
                .collect();
            let [at] = matching.as_slice() else {
                let name = patch
                    .pointer("/metadata/name")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let kind = patch["kind"].as_str().unwrap_or_default();
                let message = format!("{} objects are called {kind} '{name}', one is needed", matching.len());
                return Err(self.failed(field, message));
            };
            if patch::strategic(&mut resources[*at], &patch, false, false) == Left::Deleted {
                resources.remove(*at);
            }
        }
        Ok(())
    }
}

/// The objects of a document; a list of a kind `…List` is its items.
fn flattened(mut value: Value) -> Vec<Value> {
    if !value.is_object() {
        return vec![value];
    }
    let is_list = value["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) && value["items"].is_array();
    match value["items"].take() {
        Value::Array(items) if is_list => items.into_iter().flat_map(flattened).collect(),
        items => {
            if !items.is_null() {
                value["items"] = items;
            } else if let Some(map) = value.as_object_mut() {
                map.remove("items");
            }
            vec![value]
        }
    }
}

fn overlay(target: &mut Value, more: Option<&Value>) {
    match (target, more) {
        (Value::Object(target), Some(Value::Object(more))) => target.extend(more.clone()),
        (target, Some(more)) => *target = more.clone(),
        (_, None) => {}
    }
}

fn drop_nulls(value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|_, value| !value.is_null());
        map.values_mut().for_each(drop_nulls);
    }
}
