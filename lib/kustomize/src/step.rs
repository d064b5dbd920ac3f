//! The transformations of one kustomization, in kustomize's order: its own fields first, then the transformers that are
//! configured by objects, then validators.

use crate::accumulate::{Accumulated, Level};
use crate::config::{self, Config, FieldSpec};
use crate::error::Error;
use crate::id::Gvk;
use crate::kustomization::{Kustomization, Labels, Patch, Replacement};
use crate::node::Node;
use crate::origin::Origin;
use crate::plugin::{self, Plugin};
use crate::resource::Resource;
use crate::select::Target;
use crate::transform::{self, Affix, Namespace, Subjects};
use crate::{document, patch, replacement, spelling, value};

/// The label that validators put on what they have seen, the only thing they may change.
const VALIDATED_BY: &str = "validated-by";

impl Level<'_> {
    /// Transforms the objects.
    pub(crate) fn transform(&self, own: &Kustomization, all: &mut Accumulated) -> Result<(), Error> {
        all.touched();
        self.patches(own, all)?;
        self.names(own, all)?;
        self.texts(own, all)?;
        for (index, entry) in own.patches_json6902.iter().enumerate() {
            let field = format!("patchesJson6902[{index}]");
            self.json(entry, &mut all.resources)
                .map_err(|message| self.part_failed(&field, &message))?;
            self.changed(all, "PatchJson6902Transformer");
        }
        let config = std::rc::Rc::clone(&all.config);
        for (index, replica) in own.replicas.iter().enumerate() {
            transform::replicas(&mut all.resources, replica, &config.replicas)
                .map_err(|message| self.failed(&format!("replicas[{index}]"), message))?;
            self.changed(all, "ReplicaCountTransformer");
        }
        for (index, image) in own.images.iter().enumerate() {
            transform::images(&mut all.resources, image, &config.images)
                .map_err(|message| self.failed(&format!("images[{index}]"), message))?;
            self.changed(all, "ImageTagTransformer");
        }
        if !own.replacements.is_empty() {
            self.replacements(&own.replacements, "replacements", all)?;
            self.changed(all, "ReplacementTransformer");
        }
        for (resource, field) in self.configured(&own.transformers, "transformers")? {
            let plugin = Plugin::read(&resource).map_err(|message| self.failed(&field, message))?;
            self.run(plugin, &field, all)?;
            if let Some(origin) = self.origin_of(&resource) {
                trace(all, &origin);
            }
        }
        all.touched();
        Ok(())
    }

    fn changed(&self, all: &mut Accumulated, kind: &str) {
        if self.build.traced {
            trace(all, &Origin::builtin(&self.configured_in(), kind));
        }
    }

    fn patches(&self, own: &Kustomization, all: &mut Accumulated) -> Result<(), Error> {
        let schemas = self.build.schemas();
        if !own.patches_strategic_merge.is_empty() {
            let mut patches = Vec::new();
            for (index, entry) in own.patches_strategic_merge.iter().enumerate() {
                let field = format!("patchesStrategicMerge[{index}]");
                patches.extend(self.strategic(entry).map_err(|message| self.failed(&field, message))?);
            }
            if patches.is_empty() {
                return Err(self.failed("patchesStrategicMerge", "the patches are empty"));
            }
            patch::apply_strategic(&schemas, patches, &mut all.resources)
                .map_err(|message| self.failed("patchesStrategicMerge", message))?;
            self.changed(all, "PatchStrategicMergeTransformer");
        }
        for (index, entry) in own.patches.iter().enumerate() {
            self.patch(entry, all)
                .map_err(|message| self.part_failed(&format!("patches[{index}]"), &message))?;
            self.changed(all, "PatchTransformer");
        }
        Ok(())
    }

    /// Partial objects written in place, or those of a file.
    fn strategic(&self, entry: &str) -> Result<Vec<Node>, String> {
        if let Ok(objects) = document::read(entry) {
            return Ok(objects);
        }
        let text = self.loader.text(entry)?;
        document::read(&text).map_err(|message| format!("{entry}: {message}"))
    }

    fn patch(&self, entry: &Patch, all: &mut Accumulated) -> Result<(), String> {
        let inline = entry.patch.trim();
        let text = match (entry.path.as_str(), inline) {
            ("", "") => return Err("one of path and patch is needed".to_owned()),
            ("", inline) => inline.to_owned(),
            (path, "") => self.loader.text(path).map_err(|message| format!("path: {message}"))?,
            _ => return Err("path and patch exclude one another".to_owned()),
        };
        let failed = |message: String| match entry.path.as_str() {
            "" => message,
            path => format!("path: {path}: {message}"),
        };
        patch::apply(&self.build.schemas(), entry, &text, &mut all.resources).map_err(failed)
    }

    /// An entry of `patchesJson6902`: operations for a target that has a name.
    fn json(&self, entry: &Patch, resources: &mut [Resource]) -> Result<(), String> {
        let selector = entry.target.as_ref().filter(|target| !target.name.is_empty());
        let Some(selector) = selector else {
            return Err("target: the name of the target is needed".to_owned());
        };
        let text = match (entry.path.as_str(), entry.patch.as_str()) {
            ("", "") => return Err("one of path and patch is needed".to_owned()),
            ("", inline) => inline.to_owned(),
            (path, "") => self.loader.text(path).map_err(|message| format!("path: {message}"))?,
            _ => return Err("path and patch exclude one another".to_owned()),
        };
        let operations = patch::operations(&text)?;
        if operations.as_array().is_none_or(Vec::is_empty) {
            return Err("the patch is empty".to_owned());
        }
        let target = Target::new(selector).map_err(|message| format!("target: {message}"))?;
        let mut meant = resources.iter_mut().filter(|resource| target.selects(resource));
        meant.try_for_each(|resource| patch::json(resource, &operations))
    }

    /// Namespace, prefix and suffix.
    fn names(&self, own: &Kustomization, all: &mut Accumulated) -> Result<(), Error> {
        let config = std::rc::Rc::clone(&all.config);
        if !own.namespace.is_empty() {
            let what = Namespace {
                namespace: &own.namespace,
                fields: &config.namespace,
                unset_only: false,
                subjects: Subjects::Default,
            };
            transform::namespace(&mut all.resources, &what).map_err(|message| self.failed("namespace", message))?;
            self.changed(all, "NamespaceTransformer");
        }
        for (field, affix, fields, kind) in [
            (
                "namePrefix",
                Affix::Prefix(&own.name_prefix),
                &config.name_prefix,
                "PrefixTransformer",
            ),
            (
                "nameSuffix",
                Affix::Suffix(&own.name_suffix),
                &config.name_suffix,
                "SuffixTransformer",
            ),
        ] {
            if let Affix::Prefix("") | Affix::Suffix("") = affix {
                continue;
            }
            transform::affix(&mut all.resources, affix, fields).map_err(|message| self.failed(field, message))?;
            self.changed(all, kind);
        }
        Ok(())
    }

    /// Labels and annotations.
    fn texts(&self, own: &Kustomization, all: &mut Accumulated) -> Result<(), Error> {
        let config = std::rc::Rc::clone(&all.config);
        for (index, labels) in own.labels.iter().enumerate() {
            let failed = |message: String| self.failed(&format!("labels[{index}]"), message);
            let fields = label_fields(labels, &config).map_err(failed)?;
            transform::add_texts(&mut all.resources, &labels.pairs, &fields).map_err(failed)?;
            self.changed(all, "LabelTransformer");
        }
        if !own.labels.is_empty() || !own.common_labels.is_empty() {
            transform::add_texts(&mut all.resources, &own.common_labels, &config.common_labels)
                .map_err(|message| self.failed("commonLabels", message))?;
            self.changed(all, "LabelTransformer");
        }
        if !own.common_annotations.is_empty() {
            transform::add_texts(&mut all.resources, &own.common_annotations, &config.common_annotations)
                .map_err(|message| self.failed("commonAnnotations", message))?;
            self.changed(all, "AnnotationsTransformer");
        }
        Ok(())
    }

    fn replacements(&self, entries: &[Replacement], field: &str, all: &mut Accumulated) -> Result<(), Error> {
        let mut read: Vec<(String, Replacement)> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let field = format!("{field}[{index}]");
            if entry.path.is_empty() {
                read.push((field, entry.clone()));
                continue;
            }
            if entry.source.is_some() || entry.targets.is_some() {
                return Err(self.failed(&field, "path excludes source and targets"));
            }
            let failed = |message: String| self.failed(&format!("{field}.path"), message);
            let text = self.loader.text(&entry.path).map_err(failed)?;
            let found = replacements_of(&text).map_err(|message| failed(format!("{}: {message}", entry.path)))?;
            let name = |own: Replacement| (format!("{field}: {}", entry.path), own);
            read.extend(found.into_iter().map(name));
        }
        for (field, replacement) in &read {
            replacement::apply(&mut all.resources, replacement, &self.build.budget)
                .map_err(|message| self.part_failed(field, &message))?;
        }
        Ok(())
    }

    /// Runs a transformer that is configured by an object.
    fn run(&self, plugin: Plugin, field: &str, all: &mut Accumulated) -> Result<(), Error> {
        let schemas = self.build.schemas();
        let done = match plugin {
            Plugin::ConfigMap(_) | Plugin::Secret(_) | Plugin::Policy(_) => {
                Err("a generator transforms nothing".to_owned())
            }
            Plugin::Annotations(texts, fields) | Plugin::Labels(texts, fields) => {
                transform::add_texts(&mut all.resources, &texts, &fields)
            }
            Plugin::Prefix(prefix, fields) => transform::affix(&mut all.resources, Affix::Prefix(&prefix), &fields),
            Plugin::Suffix(suffix, fields) => transform::affix(&mut all.resources, Affix::Suffix(&suffix), &fields),
            Plugin::PrefixSuffix(prefix, suffix, fields) => {
                transform::affix(&mut all.resources, Affix::Prefix(&prefix), &fields)
                    .and_then(|()| transform::affix(&mut all.resources, Affix::Suffix(&suffix), &fields))
            }
            Plugin::Namespace(own) => Subjects::read(&own.set_role_binding_subjects).and_then(|subjects| {
                let what = Namespace {
                    namespace: own.namespace(),
                    fields: &own.field_specs,
                    unset_only: own.unset_only,
                    subjects,
                };
                transform::namespace(&mut all.resources, &what)
            }),
            Plugin::Image(image, fields) => transform::images(&mut all.resources, &image, &fields),
            Plugin::Replica(replica, fields) => transform::replicas(&mut all.resources, &replica, &fields),
            Plugin::Patch(entry) => self.patch(&entry, all),
            Plugin::Json(entry) => self.json(&entry, &mut all.resources),
            Plugin::Strategic(paths, text) => self
                .all_strategic(&paths, &text)
                .and_then(|patches| patch::apply_strategic(&schemas, patches, &mut all.resources)),
            Plugin::Replacements(entries) => return self.replacements(&entries, field, all),
            Plugin::Values(values) => value::add(&self.loader, &values, &mut all.resources),
            Plugin::Hash => plugin::hash_names(&mut all.resources),
        };
        done.map_err(|message| self.failed(field, message))
    }

    fn all_strategic(&self, paths: &[String], text: &str) -> Result<Vec<Node>, String> {
        let mut patches = Vec::new();
        for path in paths {
            patches.extend(self.strategic(path)?);
        }
        patches.extend(document::read(text)?);
        if patches.is_empty() {
            return Err("the patch is empty".to_owned());
        }
        Ok(patches)
    }

    /// Runs validators: transformers that must change nothing.
    pub(crate) fn validate(&self, own: &Kustomization, all: &mut Accumulated) -> Result<(), Error> {
        for (resource, field) in self.configured(&own.validators, "validators")? {
            let plugin = Plugin::read(&resource).map_err(|message| self.failed(&field, message))?;
            let before = all.resources.clone();
            self.run(plugin, &field, all)?;
            let unmarked = |resource: &Resource| {
                let mut resource = resource.clone();
                let mut labels = resource.texts("labels");
                let count = labels.len();
                labels.retain(|(key, _)| key != VALIDATED_BY);
                if labels.len() < count {
                    resource.set_texts("labels", labels);
                }
                resource.object
            };
            let same = before.len() == all.resources.len()
                && before
                    .iter()
                    .zip(&all.resources)
                    .all(|(before, after)| before.object == unmarked(after));
            if !same {
                return Err(self.failed(&field, "a validator must not change objects"));
            }
        }
        Ok(())
    }
}

/// Records what changed the objects. What has no origin yet was made by it.
fn trace(all: &mut Accumulated, origin: &Origin) {
    for resource in &mut all.resources {
        match resource.origin {
            None => resource.origin = Some(origin.clone()),
            Some(_) => resource.transformations.push(origin.clone()),
        }
    }
}

fn label_fields(labels: &Labels, config: &Config) -> Result<Vec<FieldSpec>, String> {
    let mut fields = labels.fields.clone();
    let mut add = |more: &[FieldSpec]| {
        more.iter()
            .try_for_each(|field| config::add("fields", &mut fields, field))
    };
    add(&config.labels)?;
    if labels.include_selectors {
        add(&config.common_labels)?;
        return Ok(fields);
    }
    if labels.include_templates {
        add(&config.template_labels)?;
    }
    add(&[FieldSpec {
        gvk: Gvk::default(),
        path: "metadata/labels".to_owned(),
        create: true,
    }])?;
    Ok(fields)
}

/// Replacements of a file: one, or a list.
fn replacements_of(text: &str) -> Result<Vec<Replacement>, String> {
    let mut value = goyaml::parse(text).map_err(|error| error.to_string())?;
    spelling::canonical(&mut value);
    spelling::texts(&mut value);
    let list = match value {
        serde_json::Value::Array(_) => value,
        serde_json::Value::Object(_) => serde_json::Value::Array(vec![value]),
        _ => return Err("it holds no replacement".to_owned()),
    };
    serde_json::from_value(list).map_err(|error| error.to_string())
}
