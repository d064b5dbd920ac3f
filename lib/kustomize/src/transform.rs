//! The transformations that go over all objects: namespace, prefix and suffix, labels, annotations, images, replicas.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::field;
use crate::kustomization::{FieldSpec, Image, Labels, Replica};
use crate::resource::Resource;
use crate::table::{self, Spec};

type Texts = BTreeMap<String, String>;

fn applies(group: &str, kind: &str, resource: &Resource) -> bool {
    (group.is_empty() || group == resource.group_version().0) && (kind.is_empty() || kind == resource.kind())
}

/// Puts everything that lives in a namespace into this one.
pub(crate) fn namespace(resources: &mut [Resource], namespace: &str) {
    for resource in resources {
        if resource.is_namespaced() {
            resource.move_to(namespace);
        }
        for spec in table::NAMESPACES.iter() {
            if applies(spec.group, spec.kind, resource) {
                resource.remember();
                field::at(&mut resource.object, &spec.path, spec.create, &mut |value| {
                    *value = namespace.into();
                });
            }
        }
        if matches!(resource.kind(), "RoleBinding" | "ClusterRoleBinding") {
            default_subjects(&mut resource.object, namespace);
        }
    }
}

/// The account `default` has no object of its own that could be renamed; it is the namespace's.
fn default_subjects(object: &mut Value, namespace: &str) {
    field::at(object, "subjects", false, &mut |subjects| {
        for subject in subjects.as_array_mut().into_iter().flatten() {
            if subject["kind"] == "ServiceAccount" && subject["name"] == "default" {
                subject["namespace"] = namespace.into();
            }
        }
    });
}

/// Puts a prefix and a suffix around every name.
pub(crate) fn affix(resources: &mut [Resource], prefix: &str, suffix: &str) {
    for resource in resources
        .iter_mut()
        .filter(|resource| !table::FIXED_NAMES.contains(&resource.kind()))
    {
        let name = format!("{prefix}{}{suffix}", resource.name());
        resource.rename(&name);
        resource.affixes.push((prefix.to_owned(), suffix.to_owned()));
    }
}

/// Adds labels as one entry of `labels` asks.
pub(crate) fn labels(resources: &mut [Resource], labels: &Labels) {
    let mut tables: Vec<&[Spec]> = Vec::new();
    if labels.include_selectors {
        tables.push(&table::SELECTOR_LABELS);
    } else if labels.include_templates {
        tables.push(&table::TEMPLATE_LABELS);
    }
    for resource in resources {
        add_texts(resource, "metadata/labels", true, &labels.pairs);
        for spec in tables.iter().copied().flatten() {
            if applies(spec.group, spec.kind, resource) {
                add_texts(resource, &spec.path, spec.create, &labels.pairs);
            }
        }
        for FieldSpec {
            group,
            version,
            kind,
            path,
            create,
        } in &labels.field_specs
        {
            if applies(group, kind, resource) && (version.is_empty() || *version == resource.group_version().1) {
                add_texts(resource, path, *create, &labels.pairs);
            }
        }
    }
}

/// Adds labels everywhere, selectors included.
pub(crate) fn common_labels(resources: &mut [Resource], pairs: &Texts) {
    let all = Labels {
        pairs: pairs.clone(),
        include_selectors: true,
        ..Labels::default()
    };
    labels(resources, &all);
}

/// Adds annotations to objects and their templates.
pub(crate) fn annotations(resources: &mut [Resource], pairs: &Texts) {
    for resource in resources {
        add_texts(resource, "metadata/annotations", true, pairs);
        for spec in table::TEMPLATE_ANNOTATIONS.iter() {
            if applies(spec.group, spec.kind, resource) {
                add_texts(resource, &spec.path, spec.create, pairs);
            }
        }
    }
}

fn add_texts(resource: &mut Resource, path: &str, create: bool, pairs: &Texts) {
    if pairs.is_empty() {
        return;
    }
    field::at(&mut resource.object, path, create, &mut |value| {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        if let Value::Object(map) = value {
            map.extend(pairs.iter().map(|(key, text)| (key.clone(), text.as_str().into())));
        }
    });
}

/// Changes images of all containers, wherever containers are.
pub(crate) fn images(resources: &mut [Resource], image: &Image) {
    for resource in resources
        .iter_mut()
        .filter(|resource| resource.kind() != "CustomResourceDefinition")
    {
        in_containers(&mut resource.object, image);
    }
}

fn in_containers(value: &mut Value, image: &Image) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if matches!(key.as_str(), "containers" | "initContainers") {
                    for container in value.as_array_mut().into_iter().flatten() {
                        if let Some(Value::String(text)) = container.get_mut("image")
                            && let Some(changed) = changed_image(text, image)
                        {
                            *text = changed;
                        }
                    }
                }
                in_containers(value, image);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| in_containers(item, image)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The new spelling of an image, if it is the one that is meant.
fn changed_image(text: &str, image: &Image) -> Option<String> {
    let rest = text
        .strip_prefix(&image.name)
        .filter(|rest| rest.is_empty() || rest.starts_with([':', '@']))?;
    if image.name.is_empty() {
        return None;
    }
    let (tag, digest) = match rest.split_once('@') {
        Some((tag, digest)) => (tag, Some(digest)),
        None => (rest, None),
    };
    let tag = tag.strip_prefix(':');
    if tag.is_some_and(|tag| tag.contains('/')) {
        // A port of a registry, not a tag.
        return None;
    }
    let name = if image.new_name.is_empty() {
        &image.name
    } else {
        &image.new_name
    };
    let new_tag = image.new_tag.as_ref().map(|tag| match tag {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let (tag, digest) = match (new_tag.filter(|tag| !tag.is_empty()), image.digest.as_str()) {
        (None, "") => (tag.map(str::to_owned), digest.map(str::to_owned)),
        (None, digest) => (None, Some(digest.to_owned())),
        (Some(tag), "") => (Some(tag), None),
        (Some(tag), digest) => (Some(tag), Some(digest.to_owned())),
    };
    let tag = tag.map(|tag| format!(":{tag}{}", image.tag_suffix)).unwrap_or_default();
    let digest = digest.map(|digest| format!("@{digest}")).unwrap_or_default();
    Some(format!("{name}{tag}{digest}"))
}

/// Sets the number of replicas; whether anything of that name has one.
pub(crate) fn replicas(resources: &mut [Resource], replica: &Replica) -> bool {
    let mut found = false;
    for resource in resources
        .iter_mut()
        .filter(|resource| table::REPLICAS.contains(&resource.kind()))
    {
        if resource.identities().any(|(name, _)| name == replica.name) {
            found = true;
            field::at(&mut resource.object, "spec/replicas", true, &mut |value| {
                *value = replica.count.into();
            });
        }
    }
    found
}
