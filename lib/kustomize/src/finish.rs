//! The end of a build, which happens once, for the outermost kustomization: hashes of contents, references, variables,
//! what is only for local use, the order, and the annotations that a build leaves.

use serde_json::Value;

use crate::accumulate::{Accumulated, Build, Level};
use crate::error::Error;
use crate::files::{Files, Loader};
use crate::kustomization::Kustomization;
use crate::node::Node;
use crate::origin;
use crate::resource::Resource;
use crate::{Order, order, patch, plugin, reference, variable};

/// Objects with this annotation are input of tools, not for a cluster.
const LOCAL: &str = "config.kubernetes.io/local-config";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The program whose behaviour this is.
const MANAGER: &str = "kustomize-v5.8.1";

/// Annotations that tools leave for one another.
fn is_internal(key: &str) -> bool {
    const INTERNAL: [&str; 15] = [
        "previousKinds",
        "previousNames",
        "prefixes",
        "suffixes",
        "previousNamespaces",
        "allowNameChange",
        "allowKindChange",
        "refBy",
        "generatorBehavior",
        "needsHashSuffix",
        "path",
        "index",
        "seqindent",
        "id",
        "annotations-migration-resource-id",
    ];
    match key.strip_prefix("internal.config.kubernetes.io/") {
        Some(rest) => INTERNAL.contains(&rest),
        None => matches!(
            key,
            "config.kubernetes.io/path"
                | "config.kubernetes.io/index"
                | "config.k8s.io/id"
                | "kustomize.config.k8s.io/helm-generated"
                | origin::ORIGIN
                | origin::TRANSFORMATIONS
        ),
    }
}

/// Builds the kustomization of a directory.
pub(crate) fn build(files: &dyn Files, dir: &str, order: Order) -> Result<Vec<Value>, Error> {
    let loader = Loader::new(files, dir)?;
    let mut build = Build::default();
    // Whether objects are traced is said by the outermost kustomization, which is read for that alone first.
    let (file, text) = loader.kustomization()?;
    build.traced = !Kustomization::read(&file, &text)?.build_metadata.is_empty();
    let (level, own) = Level::open(&build, loader, "")?;
    let mut all = level.accumulate(&own, Accumulated::default())?;
    let failed = |field: &str| {
        let (field, level) = (field.to_owned(), &level);
        move |message: String| level.failed(&field, message)
    };
    plugin::hash_names(&mut all.resources).map_err(failed("generatorOptions"))?;
    reference::update(&mut all.resources, &all.config.name_reference).map_err(failed("nameReference"))?;
    let fields = &all.config.var_reference;
    variable::resolve(&all.variables, &mut all.resources, fields, &build.budget).map_err(failed("vars"))?;
    all.resources.retain(|resource| !is_local(resource));
    match (&own.sort_options, order) {
        (Some(options), _) => order::sort(&mut all.resources, options).map_err(failed("sortOptions"))?,
        (None, Order::Legacy) => order::legacy(&mut all.resources),
        (None, Order::Given) => {}
    }
    patch::no_twins(&all.resources).map_err(failed("resources"))?;
    let wants = |option: &str| own.build_metadata.iter().any(|asked| asked == option);
    let mut objects = Vec::with_capacity(all.resources.len());
    for mut resource in all.resources {
        if wants("managedByLabel")
            && let Some(labels) = resource.object.map_under("metadata").and_then(labels)
        {
            labels.insert(MANAGED_BY.to_owned(), Node::text(MANAGER));
        }
        annotate(
            &mut resource,
            wants("originAnnotations"),
            wants("transformerAnnotations"),
        );
        let id = resource.id();
        let value = resource.object.value();
        objects.push(value.map_err(|message| Error::file(&level.file, format!("object {id}: {message}")))?);
    }
    Ok(objects)
}

fn labels(metadata: &mut crate::node::Map) -> Option<&mut crate::node::Map> {
    let slot = metadata.entry("labels".to_owned()).or_insert_with(Node::map);
    if slot.is_null() {
        *slot = Node::map();
    }
    slot.as_map_mut()
}

fn is_local(resource: &Resource) -> bool {
    let annotation = resource.object.at(&["metadata", "annotations", LOCAL]);
    annotation.is_some_and(|value| value.spelling() != Some("false"))
}

/// Leaves the annotations that are wanted, all as texts.
fn annotate(resource: &mut Resource, origins: bool, transformations: bool) {
    let mut texts = resource.texts("annotations");
    texts.retain(|(key, _)| !is_internal(key));
    if let Some(origin) = resource.origin.as_ref().filter(|_| origins) {
        texts.push((origin::ORIGIN.to_owned(), origin.text()));
    }
    if transformations && !resource.transformations.is_empty() {
        let list = origin::list(&resource.transformations);
        texts.push((origin::TRANSFORMATIONS.to_owned(), list));
    }
    resource.set_texts("annotations", texts);
}
