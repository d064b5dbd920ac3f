//! The transformations that go over all objects: namespace, prefix and suffix, labels, annotations, images, replicas,
//! and values added to fields.

use regex::Regex;

use crate::config::FieldSpec;
use crate::field::{self, Create};
use crate::id::Gvk;
use crate::kustomization::{Image, Replica, Texts};
use crate::node::{Node, Tag};
use crate::resource::Resource;

/// Which subjects of role bindings get the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// Those called `default`.
    #[default]
    Default,
    /// Service accounts.
    Accounts,
    /// None.
    Nobody,
}

impl Subjects {
    /// Reads `setRoleBindingSubjects`.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        match text {
            "" | "defaultOnly" => Ok(Self::Default),
            "allServiceAccounts" => Ok(Self::Accounts),
            "none" => Ok(Self::Nobody),
            other => Err(format!(
                "setRoleBindingSubjects: '{other}' is not one of defaultOnly, allServiceAccounts, none"
            )),
        }
    }
}

/// A namespace and where it goes.
pub(crate) struct Namespace<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) fields: &'a [FieldSpec],
    /// Fields that say a namespace already keep it.
    pub(crate) unset_only: bool,
    pub(crate) subjects: Subjects,
}

/// Puts everything that lives in a namespace into this one.
pub(crate) fn namespace(resources: &mut [Resource], what: &Namespace<'_>) -> Result<(), String> {
    if what.namespace.is_empty() {
        return Ok(());
    }
    for resource in resources.iter_mut() {
        resource.remember();
        set_namespace(&mut resource.object, what).map_err(|message| format!("object {}: {message}", resource.id()))?;
    }
    crate::patch::no_twins(resources)
}

/// The same for one object.
pub(crate) fn set_namespace(object: &mut Node, what: &Namespace<'_>) -> Result<(), String> {
    let gvk = Gvk::of(object);
    let core = object.spelling_at(&["apiVersion"]) == "v1";
    let mut set = |node: &mut Node| match node.spelling() {
        Some(text) if what.unset_only && !text.is_empty() => Ok(()),
        Some(_) => {
            *node = Node::text(what.namespace);
            Ok(())
        }
        None => Err(format!("a namespace cannot be set in {}", node.shape())),
    };
    if !gvk.is_cluster_scoped() {
        let own = FieldSpec {
            gvk: Gvk::default(),
            path: "metadata/namespace".to_owned(),
            create: true,
        };
        field::each(object, &own, Create::Text, &mut set)?;
    }
    let binding = matches!(gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
    if binding {
        set_subjects(object, what.subjects, &mut set)?;
    }
    for spec in what.fields {
        let of_bindings = matches!(spec.gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
        let handled = spec.path == "metadata/namespace"
            || (spec.path == "metadata/name" && !core)
            || (binding && of_bindings && spec.path == "subjects/namespace");
        if !handled {
            field::each(object, spec, Create::Text, &mut set)?;
        }
    }
    Ok(())
}

fn set_subjects(
    object: &mut Node,
    subjects: Subjects,
    set: &mut dyn FnMut(&mut Node) -> Result<(), String>,
) -> Result<(), String> {
    let (key, wanted) = match subjects {
        Subjects::Nobody => return Ok(()),
        Subjects::Default => ("name", "default"),
        Subjects::Accounts => ("kind", "ServiceAccount"),
    };
    let list = object.as_map_mut().and_then(|map| map.get_mut("subjects"));
    let items = match list {
        None => return Ok(()),
        Some(list) if list.is_null() => return Ok(()),
        Some(Node::List(items)) => items,
        Some(other) => return Err(format!("subjects: a list is expected, not {}", other.shape())),
    };
    for subject in items.iter_mut().filter(|subject| subject.spelling_at(&[key]) == wanted) {
        if let Some(map) = subject.as_map_mut() {
            set(map.entry("namespace".to_owned()).or_insert_with(|| Node::text("")))?;
        }
    }
    Ok(())
}

/// What is put before or behind names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Affix<'a> {
    Prefix(&'a str),
    Suffix(&'a str),
}

/// Kinds whose names never get a prefix or suffix: others depend on the very name.
fn has_fixed_name(gvk: &Gvk) -> bool {
    match gvk.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => gvk.group == "apiregistration.k8s.io",
        _ => false,
    }
}

/// Puts a prefix or a suffix around every name.
pub(crate) fn affix(resources: &mut [Resource], affix: Affix<'_>, fields: &[FieldSpec]) -> Result<(), String> {
    for resource in resources.iter_mut() {
        let gvk = resource.original_id().gvk;
        if has_fixed_name(&gvk) {
            continue;
        }
        for spec in fields.iter().filter(|spec| gvk.is_selected(&spec.gvk)) {
            if spec.path == "metadata/name" {
                let (list, text) = match affix {
                    Affix::Prefix(text) => (&mut resource.prefixes, text),
                    Affix::Suffix(text) => (&mut resource.suffixes, text),
                };
                if !text.is_empty() {
                    list.push(text.to_owned());
                    resource.remember();
                }
            }
            field::each(&mut resource.object, spec, Create::Text, &mut |node| {
                let Some(text) = node.spelling() else {
                    return Err(format!("{} has no name", node.shape()));
                };
                *node = Node::text(match affix {
                    Affix::Prefix(prefix) => format!("{prefix}{text}"),
                    Affix::Suffix(suffix) => format!("{text}{suffix}"),
                });
                Ok(())
            })
            .map_err(|message| format!("object {}: {message}", resource.id()))?;
        }
    }
    Ok(())
}

/// Adds labels or annotations to the fields.
pub(crate) fn add_texts(resources: &mut [Resource], texts: &Texts, fields: &[FieldSpec]) -> Result<(), String> {
    if texts.is_empty() {
        return Ok(());
    }
    for resource in resources.iter_mut() {
        for spec in fields {
            field::each(&mut resource.object, spec, Create::Map, &mut |node| {
                let shape = node.shape();
                let Some(map) = node.as_map_mut() else {
                    return Err(format!("a map is expected, not {shape}"));
                };
                for (key, text) in texts {
                    map.insert(key.clone(), Node::text(text));
                }
                Ok(())
            })
            .map_err(|message| format!("object {}: {message}", resource.id()))?;
        }
    }
    Ok(())
}

/// Changes images of all containers, wherever containers are, and in the fields.
pub(crate) fn images(resources: &mut [Resource], image: &Image, fields: &[FieldSpec]) -> Result<(), String> {
    // The name of an image is a pattern, as for the real program.
    let pattern = format!(
        "^{}(:[a-zA-Z0-9_.{{}}-]*)?(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{{}}-]*)?$",
        image.name
    );
    let pattern = Regex::new(&pattern).map_err(|_| format!("name: '{}' is no pattern", image.name))?;
    let mut change = |node: &mut Node| {
        let Some(text) = node.spelling() else {
            return Err(format!("an image is expected, not {}", node.shape()));
        };
        if pattern.is_match(text) {
            *node = Node::text(changed_image(text, image));
        }
        Ok(())
    };
    for resource in resources.iter_mut() {
        if resource.kind() == "CustomResourceDefinition" {
            continue;
        }
        in_containers(&mut resource.object, &mut change)
            .and_then(|()| {
                fields
                    .iter()
                    .try_for_each(|spec| field::each(&mut resource.object, spec, Create::Nothing, &mut change))
            })
            .map_err(|message| format!("object {}: {message}", resource.id()))?;
    }
    Ok(())
}

fn in_containers(node: &mut Node, change: &mut dyn FnMut(&mut Node) -> Result<(), String>) -> Result<(), String> {
    match node {
        Node::Map(map) => {
            for (key, value) in map {
                in_containers(value, change)?;
                if let ("containers" | "initContainers", Node::List(items)) = (key.as_str(), value) {
                    let maps = items.iter_mut().filter_map(Node::as_map_mut);
                    for image in maps.filter_map(|container| container.get_mut("image")) {
                        change(image)?;
                    }
                }
            }
            Ok(())
        }
        Node::List(items) => items.iter_mut().try_for_each(|item| in_containers(item, change)),
        Node::Scalar(_) => Ok(()),
    }
}

/// Name, tag and digest of an image.
fn split_image(text: &str) -> (&str, &str, &str) {
    // A colon before the first slash belongs to the registry's port.
    let after = text.find('/').filter(|at| *at > 0).unwrap_or(0);
    let place = |c: char| text.get(after..).and_then(|rest| rest.find(c)).map(|at| at + after);
    let cut = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let end = text.len();
    match (place(':'), place('@')) {
        (None, None) => (text, "", ""),
        (Some(colon), Some(at)) if colon < at => (cut(0, colon), cut(colon + 1, at), cut(at + 1, end)),
        (_, Some(at)) => (cut(0, at), "", cut(at + 1, end)),
        (Some(colon), None) => (cut(0, colon), cut(colon + 1, end), ""),
    }
}

fn changed_image(text: &str, image: &Image) -> String {
    let (name, tag, digest) = split_image(text);
    let name = if image.new_name.is_empty() {
        name
    } else {
        &image.new_name
    };
    let suffixed = format!("{tag}{}", image.tag_suffix);
    let (tag, digest) = match (image.new_tag.as_str(), image.digest.as_str(), image.tag_suffix.as_str()) {
        ("", "", "") => (tag, digest),
        ("", "", _) => (suffixed.as_str(), ""),
        (new, digest, _) => (new, digest),
    };
    let mut changed = name.to_owned();
    if !tag.is_empty() {
        changed.push_str(&format!(":{tag}"));
    }
    if !digest.is_empty() {
        changed.push_str(&format!("@{digest}"));
    }
    changed
}

/// Sets the number of replicas of what has the name.
pub(crate) fn replicas(resources: &mut [Resource], replica: &Replica, fields: &[FieldSpec]) -> Result<(), String> {
    let mut found = false;
    for spec in fields {
        let is_meant = |resource: &Resource| {
            let ids = resource.ids();
            ids.iter()
                .any(|id| id.name == replica.name && id.gvk.is_selected(&spec.gvk))
        };
        for resource in resources.iter_mut().filter(|resource| is_meant(resource)) {
            found = true;
            field::each(&mut resource.object, spec, Create::Integer, &mut |node| match node {
                Node::Scalar(_) => {
                    *node = Node::tagged(replica.count.to_string(), Tag::Int);
                    Ok(())
                }
                Node::List(_) | Node::Map(_) => Err(format!("a number is expected, not {}", node.shape())),
            })
            .map_err(|message| format!("object {}: {message}", resource.id()))?;
        }
    }
    if found {
        Ok(())
    } else {
        Err(format!("no object with replicas has the name '{}'", replica.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_names_tags_and_digests() {
        for (text, expected) in [
            ("nginx", ("nginx", "", "")),
            ("nginx:1", ("nginx", "1", "")),
            ("a:5000/b/c:1@sha256:x", ("a:5000/b/c", "1", "sha256:x")),
            ("a:5000/b@sha256:x", ("a:5000/b", "", "sha256:x")),
        ] {
            assert_eq!(split_image(text), expected, "{text}");
        }
    }
}
