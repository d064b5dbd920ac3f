//! What a repository holds → Bundles in the API: values moved to secrets, objects taken over from
//! bundles that are going, then those removed that the repository does not have any more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet_api::values::{self, Extracted};
use fleet_api::{Bundle, OverwrittenResource, labels};
use fleet_runtime::write::{self, ensure, find};
use fleet_runtime::{Context, Error, ResultExt as _};
use fleet_source::child::Scanned;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{ObjectMeta, PostParams};
use serde_json::{Value, json};

use crate::shell::{Shell, deleting, label, name, namespace, uid};

/// Writes the bundles and removes those that are not wanted any more. Returns what could not be
/// done, for the user; nothing is removed in that case, so that the last good state stays.
pub(super) async fn store(
    repository: &str,
    mut wanted: Vec<Scanned>,
    known: &[Arc<Bundle>],
    shell: &Shell,
) -> Result<(), Vec<String>> {
    let produced: BTreeSet<String> = wanted.iter().map(|each| name(&each.bundle).to_owned()).collect();
    let obsolete: Vec<&Arc<Bundle>> = known
        .iter()
        .filter(|bundle| !produced.contains(name(&***bundle)))
        .collect();
    for each in &mut wanted {
        take_over(&mut each.bundle, &obsolete);
    }
    let mut problems = Vec::new();
    for each in wanted {
        let bundle_name = name(&each.bundle).to_owned();
        if let Err(problem) = put(repository, each.bundle, shell).await {
            problems.push(format!("bundle '{bundle_name}': {problem}"));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    for bundle in obsolete {
        let api = shell.cx.namespaced::<Bundle>(namespace(&**bundle));
        if let Err(error) = write::delete(&api, &**bundle).await {
            problems.push(fleet_runtime::chain(&error));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Writes one bundle: values first, then the bundle that names their hash.
async fn put(repository: &str, mut bundle: Bundle, shell: &Shell) -> Result<(), String> {
    let (space, bundle_name) = (namespace(&bundle).to_owned(), name(&bundle).to_owned());
    let stored = shell.world.bundles.mirror().find(&space, &bundle_name);
    if let Some(stored) = &stored {
        refuse(repository, stored, shell)?;
    }
    let extracted = values::of_bundle(&bundle.spec).map_err(|error| fleet_runtime::chain(&error))?;
    if !extracted.hash.is_empty() {
        values::clear_bundle(&mut bundle.spec);
    }
    bundle.spec.values_hash.clone_from(&extracted.hash);
    write_bundle(&bundle, stored.as_deref(), &extracted, &shell.cx)
        .await
        .map_err(|error| fleet_runtime::chain(&error))
}

/// Bundles of others are not taken over.
fn refuse(repository: &str, stored: &Bundle, shell: &Shell) -> Result<(), String> {
    if deleting(stored) {
        return Err("is being deleted; it is written when that is done".to_owned());
    }
    if stored.spec.helm_op_options.is_some() {
        return Err(format!(
            "a helmOps bundle with name \"{}\" already exists",
            name(stored)
        ));
    }
    let owner = label(stored, labels::REPO_NAME);
    let alive = !owner.is_empty()
        && owner != repository
        && shell
            .world
            .repositories
            .mirror()
            .find(namespace(stored), owner)
            .is_some();
    if alive {
        Err(format!("belongs to GitRepo '{owner}'"))
    } else {
        Ok(())
    }
}

async fn write_bundle(
    bundle: &Bundle,
    stored: Option<&Bundle>,
    extracted: &Extracted,
    cx: &Context,
) -> Result<(), Error> {
    let had_values = stored.is_some_and(|stored| !stored.spec.values_hash.is_empty());
    if stored.is_none_or(|stored| stored.spec.values_hash != extracted.hash) {
        put_values(bundle, extracted, stored, cx).await?;
    }
    let api = cx.namespaced::<Bundle>(namespace(bundle));
    let live = match stored {
        Some(stored) => Some(stored.clone()),
        None => match api
            .create(&PostParams::default(), bundle)
            .await
            .doing("create", || write::describe(bundle))
        {
            Ok(created) => {
                put_values(bundle, extracted, Some(&created), cx).await?;
                None
            }
            // The watch is behind.
            Err(error) if error.is_already_exists() => find(&api, name(bundle)).await?,
            Err(error) => return Err(error),
        },
    };
    if let Some(live) = live {
        let part = |object: &Bundle| -> Value {
            let meta = &object.metadata;
            json!({"metadata": {"labels": meta.labels, "annotations": meta.annotations},
                   "spec": serde_json::to_value(&object.spec).unwrap_or_default()})
        };
        let mut wanted = part(bundle);
        // The API server fills this in.
        if bundle.spec.target_customization_mode.is_empty() && !live.spec.target_customization_mode.is_empty() {
            wanted["spec"]["targetCustomizationMode"] = json!(live.spec.target_customization_mode);
        }
        if let Some(change) = write::difference(&part(&live), &wanted) {
            write::patch(&api, name(bundle), &change).await?;
        }
    }
    if had_values && extracted.hash.is_empty() {
        drop_values(bundle, cx).await?;
    }
    Ok(())
}

async fn put_values(bundle: &Bundle, extracted: &Extracted, owner: Option<&Bundle>, cx: &Context) -> Result<(), Error> {
    if extracted.hash.is_empty() {
        return Ok(());
    }
    let api = cx.namespaced::<Secret>(namespace(bundle));
    let owners = owner.map(|owner| {
        vec![OwnerReference {
            api_version: format!("{}/{}", fleet_api::GROUP, fleet_api::VERSION),
            kind: "Bundle".to_owned(),
            name: name(owner).to_owned(),
            uid: uid(owner).to_owned(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }]
    });
    let secret = Secret {
        metadata: ObjectMeta {
            name: bundle.metadata.name.clone(),
            namespace: bundle.metadata.namespace.clone(),
            owner_references: owners,
            ..ObjectMeta::default()
        },
        type_: Some(labels::SECRET_BUNDLE_VALUES.to_owned()),
        data: Some(
            extracted
                .data
                .iter()
                .map(|(key, bytes)| (key.clone(), ByteString(bytes.clone())))
                .collect(),
        ),
        ..Secret::default()
    };
    let live = find(&api, name(bundle)).await?;
    ensure(&api, live.as_ref(), &secret).await.map(drop)
}

async fn drop_values(bundle: &Bundle, cx: &Context) -> Result<(), Error> {
    let api = cx.namespaced::<Secret>(namespace(bundle));
    api.delete(name(bundle), &kube::api::DeleteParams::background())
        .await
        .unless_missing("delete", || format!("values of {}", write::describe(bundle)))
        .map(drop)
}

/// Notes on a bundle the objects that it takes over from bundles that are going: those that a file
/// of the same name defines in both.
fn take_over(bundle: &mut Bundle, obsolete: &[&Arc<Bundle>]) {
    if obsolete.is_empty() {
        return;
    }
    let own = identities(bundle);
    for old in obsolete {
        let theirs = identities(old);
        for (file, objects) in &own {
            let Some(others) = theirs.get(file) else { continue };
            for object in objects.iter().filter(|object| others.contains(object)) {
                if !bundle.spec.options.overwrites.contains(object) {
                    bundle.spec.options.overwrites.push(object.clone());
                }
            }
        }
    }
}

/// The objects that plain files of a bundle define, by file.
fn identities(bundle: &Bundle) -> BTreeMap<String, Vec<OverwrittenResource>> {
    let mut all = BTreeMap::new();
    for resource in bundle
        .spec
        .resources
        .iter()
        .filter(|resource| resource.encoding.is_empty())
    {
        let Ok(documents) = goyaml::parse_documents(&without_templates(&resource.content)) else {
            continue;
        };
        let objects: Vec<OverwrittenResource> = documents.iter().filter_map(|each| identity(&each.value)).collect();
        all.insert(resource.name.clone(), objects);
    }
    all
}

fn identity(value: &Value) -> Option<OverwrittenResource> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let meta = value.get("metadata")?;
    let object = OverwrittenResource {
        kind: text(value.get("kind")),
        name: text(meta.get("name")),
        namespace: text(meta.get("namespace")),
    };
    (!object.kind.is_empty() && !object.name.is_empty() && !object.namespace.is_empty()).then_some(object)
}

/// Templates make a file unreadable as YAML; a word in their place keeps the rest readable.
fn without_templates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        out.push_str(&rest[..start]);
        let Some(end) = rest[start..].find("}}") else { break };
        out.push_str("TEMPLATED");
        rest = &rest[start + end + 2..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(name: &str, file: &str, content: &str) -> Bundle {
        let mut bundle = Bundle::named(name);
        bundle.spec.resources = vec![fleet_api::BundleResource {
            name: file.to_owned(),
            content: content.to_owned(),
            encoding: String::new(),
        }];
        bundle
    }

    #[test]
    fn objects_of_a_file_that_moves_between_bundles_are_taken_over() {
        let text = "kind: ConfigMap\nmetadata: {name: a, namespace: prod}\ndata: {x: {{ .Values.x }}}\n---\nkind: Pod\nmetadata: {name: b}\n";
        let old = Arc::new(bundle("old", "cm.yaml", text));
        let mut new = bundle("new", "cm.yaml", text);
        take_over(&mut new, &[&old]);
        let names: Vec<&str> = new
            .spec
            .options
            .overwrites
            .iter()
            .map(|each| each.name.as_str())
            .collect();
        assert_eq!(names, ["a"]);
        let mut other = bundle("other", "else.yaml", text);
        take_over(&mut other, &[&old]);
        assert!(other.spec.options.overwrites.is_empty());
    }
}
