//! Which fields of which kinds the transformers touch: kustomize's defaults, what `configurations` and `crds` add, and
//! how the sets of nested kustomizations join.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::id::Gvk;
use crate::{order, table};

/// A field of some kinds. Empty parts of the kind stand for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "Written", into = "Written")]
pub(crate) struct FieldSpec {
    pub(crate) gvk: Gvk,
    /// Keys separated by slashes; `\/` is a slash inside of a key; `[]` marks a list.
    pub(crate) path: String,
    /// Whether a field that is not there is made.
    pub(crate) create: bool,
}

/// A field as files say it.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Written {
    group: String,
    version: String,
    kind: String,
    path: String,
    create: bool,
}

impl From<Written> for FieldSpec {
    fn from(written: Written) -> Self {
        let Written {
            group,
            version,
            kind,
            path,
            create,
        } = written;
        Self {
            gvk: Gvk { group, version, kind },
            path,
            create,
        }
    }
}

impl From<FieldSpec> for Written {
    fn from(field: FieldSpec) -> Self {
        let FieldSpec { gvk, path, create } = field;
        let Gvk { group, version, kind } = gvk;
        Self {
            group,
            version,
            kind,
            path,
            create,
        }
    }
}

/// Fields that name objects of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct NameReference {
    group: String,
    version: String,
    kind: String,
    #[serde(rename = "fieldSpecs")]
    pub(crate) fields: Vec<FieldSpec>,
}

impl NameReference {
    pub(crate) fn new(group: &str, version: &str, kind: &str, fields: Vec<FieldSpec>) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            fields,
        }
    }

    /// The kind that is named.
    pub(crate) fn gvk(&self) -> Gvk {
        Gvk {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
        }
    }
}

/// All the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Config {
    pub(crate) name_prefix: Vec<FieldSpec>,
    pub(crate) name_suffix: Vec<FieldSpec>,
    pub(crate) namespace: Vec<FieldSpec>,
    pub(crate) common_labels: Vec<FieldSpec>,
    pub(crate) labels: Vec<FieldSpec>,
    pub(crate) template_labels: Vec<FieldSpec>,
    pub(crate) common_annotations: Vec<FieldSpec>,
    pub(crate) name_reference: Vec<NameReference>,
    pub(crate) var_reference: Vec<FieldSpec>,
    pub(crate) images: Vec<FieldSpec>,
    pub(crate) replicas: Vec<FieldSpec>,
}

thread_local! {
    static DEFAULTS: Rc<Config> = Rc::new(table::defaults());
}

impl Config {
    /// Kustomize's own.
    pub(crate) fn defaults() -> Rc<Config> {
        DEFAULTS.with(Rc::clone)
    }

    /// This and the other.
    ///
    /// # Errors
    /// A field that one wants made and the other does not.
    pub(crate) fn join(self: Rc<Self>, other: &Rc<Config>) -> Result<Rc<Config>, String> {
        if Rc::ptr_eq(&self, other) || **other == Config::default() {
            return Ok(self);
        }
        if *self == Config::default() {
            return Ok(Rc::clone(other));
        }
        let mut joined = Rc::unwrap_or_clone(self);
        // Without `..`, so that no field is forgotten.
        let Config {
            name_prefix,
            name_suffix,
            namespace,
            common_labels,
            labels,
            template_labels,
            common_annotations,
            name_reference,
            var_reference,
            images,
            replicas,
        } = &mut joined;
        add_all("namePrefix", name_prefix, &other.name_prefix)?;
        add_all("nameSuffix", name_suffix, &other.name_suffix)?;
        add_all("namespace", namespace, &other.namespace)?;
        add_all("commonLabels", common_labels, &other.common_labels)?;
        add_all("labels", labels, &other.labels)?;
        add_all("templateLabels", template_labels, &other.template_labels)?;
        add_all("commonAnnotations", common_annotations, &other.common_annotations)?;
        add_all("varReference", var_reference, &other.var_reference)?;
        add_all("images", images, &other.images)?;
        add_all("replicas", replicas, &other.replicas)?;
        for reference in &other.name_reference {
            let same = name_reference.iter_mut().find(|known| known.gvk() == reference.gvk());
            match same {
                Some(known) => add_all("nameReference", &mut known.fields, &reference.fields)?,
                None => name_reference.push(reference.clone()),
            }
        }
        // Where one name means several kinds, the kind that usually comes first is looked for first.
        name_reference.sort_by_cached_key(|reference| order::rank(&reference.gvk()));
        Ok(Rc::new(joined))
    }
}

fn add_all(what: &str, fields: &mut Vec<FieldSpec>, more: &[FieldSpec]) -> Result<(), String> {
    more.iter().try_for_each(|field| add(what, fields, field))
}

/// Adds a field if it is not there.
///
/// # Errors
/// It is there, but one is made where it is missing and the other is not.
pub(crate) fn add(what: &str, fields: &mut Vec<FieldSpec>, field: &FieldSpec) -> Result<(), String> {
    let known = fields
        .iter()
        .find(|known| known.path == field.path && known.gvk.is_selected(&field.gvk));
    match known {
        Some(known) if known.create != field.create => Err(format!(
            "{what}: field '{}' of kind '{}' is given with and without create",
            field.path, field.gvk.kind
        )),
        Some(_) => Ok(()),
        None => {
            fields.push(field.clone());
            Ok(())
        }
    }
}
