//! Options under options: what a target or customization says wins over what the bundle says, field by field.
//!
//! Mirrors upstream's option merge, with its gaps: fields that are listed as left alone come from the base only, and
//! changing that would change deployment ids.

use std::collections::BTreeMap;

use fleet_api::{BundleDeploymentOptions, GenericMap, HelmOptions, ValuesFrom};
use serde_json::Value;

/// `base` with what `custom` sets.
#[must_use]
pub fn merge(base: &BundleDeploymentOptions, custom: &BundleDeploymentOptions) -> BundleDeploymentOptions {
    let mut result = base.clone();
    let BundleDeploymentOptions {
        yaml,
        kustomize,
        default_namespace,
        target_namespace,
        helm,
        service_account,
        force_sync_generation,
        diff,
        keep_resources,
        correct_drift,
        downstream_resources,
        // Left alone: the base decides.
        create_namespace: _,
        delete_namespace: _,
        ignore: _,
        namespace_labels: _,
        namespace_annotations: _,
        delete_crd_resources: _,
        overwrites: _,
        allowed_target_namespace_selector: _,
    } = custom;
    set_text(&mut result.default_namespace, default_namespace);
    set_text(&mut result.target_namespace, target_namespace);
    set_text(&mut result.service_account, service_account);
    if let Some(helm) = helm {
        merge_helm(result.helm.get_or_insert_default(), helm);
    }
    if let Some(kustomize) = kustomize {
        set_text(&mut result.kustomize.get_or_insert_default().dir, &kustomize.dir);
    }
    if let Some(diff) = diff {
        let patches = &mut result.diff.get_or_insert_default().compare_patches;
        keyed(patches, &diff.compare_patches, |patch| {
            Some(
                [&patch.api_version, &patch.kind, &patch.namespace, &patch.name]
                    .map(Clone::clone)
                    .join("|"),
            )
        });
    }
    if let Some(yaml) = yaml {
        result
            .yaml
            .get_or_insert_default()
            .overlays
            .extend(yaml.overlays.iter().cloned());
    }
    if *force_sync_generation > 0 {
        result.force_sync_generation = *force_sync_generation;
    }
    result.keep_resources |= keep_resources;
    if correct_drift.is_some() {
        result.correct_drift.clone_from(correct_drift);
    }
    keyed(&mut result.downstream_resources, downstream_resources, |resource| {
        Some(format!("{}|{}", resource.kind.to_lowercase(), resource.name))
    });
    result
}

fn merge_helm(base: &mut HelmOptions, custom: &HelmOptions) {
    let HelmOptions {
        chart,
        repo,
        release_name,
        version,
        timeout_seconds,
        values,
        template_values,
        values_from,
        force,
        take_ownership,
        wait_for_jobs,
        atomic,
        disable_pre_process,
        disable_dns,
        // Left alone: the base decides.
        values_files: _,
        max_history: _,
        skip_schema_validation: _,
        disable_dependency_update: _,
    } = custom;
    for (target, text) in [
        (&mut base.chart, chart),
        (&mut base.repo, repo),
        (&mut base.release_name, release_name),
        (&mut base.version, version),
    ] {
        set_text(target, text);
    }
    if *timeout_seconds != 0 {
        base.timeout_seconds = (*timeout_seconds).max(0);
    }
    match (&mut base.values, values) {
        (Some(base), Some(values)) => merge_values(base, values),
        (none @ None, Some(values)) => *none = Some(values.clone()),
        (_, None) => {}
    }
    base.template_values.extend(template_values.clone());
    keyed(&mut base.values_from, values_from, source_key);
    base.force |= force;
    base.take_ownership |= take_ownership;
    base.wait_for_jobs |= wait_for_jobs;
    base.atomic |= atomic;
    base.disable_pre_process |= disable_pre_process;
    base.disable_dns |= disable_dns;
}

fn set_text(target: &mut String, text: &str) {
    if !text.is_empty() {
        text.clone_into(target);
    }
}

/// Maps are merged, everything else is replaced.
fn merge_values(base: &mut GenericMap, custom: &GenericMap) {
    for (key, value) in custom {
        match (base.get_mut(key), value) {
            (Some(Value::Object(base)), Value::Object(custom)) => merge_values(base, custom),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Entries of `custom` replace those of the same key in place; others follow. Entries without a key always follow.
fn keyed<T: Clone>(base: &mut Vec<T>, custom: &[T], key: impl Fn(&T) -> Option<String>) {
    let mut replacements: BTreeMap<String, &T> = BTreeMap::new();
    for entry in custom {
        if let Some(key) = key(entry) {
            replacements.entry(key).or_insert(entry);
        }
    }
    let mut used: Vec<String> = Vec::new();
    for entry in base.iter_mut() {
        let Some(key) = key(entry) else { continue };
        if let Some(replacement) = replacements.get(&key) {
            *entry = (*replacement).clone();
            used.push(key);
        }
    }
    let rest = custom
        .iter()
        .filter(|entry| key(entry).is_none_or(|key| !used.contains(&key)));
    base.extend(rest.cloned());
}

fn source_key(source: &ValuesFrom) -> Option<String> {
    let (kind, reference) = match (&source.config_map_key_ref, &source.secret_key_ref) {
        (Some(reference), _) => ("configmap", reference),
        (None, Some(reference)) => ("secret", reference),
        (None, None) => return None,
    };
    Some(format!(
        "{kind}|{}|{}|{}",
        reference.namespace, reference.name, reference.key
    ))
}
