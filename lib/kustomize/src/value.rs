//! A value put into fields of objects, whole or as one part of a file path (`ValueAddTransformer`); and the service
//! account of a cloud (`IAMPolicyGenerator`).

use crate::field;
use crate::files::Loader;
use crate::node::{Map, Node};
use crate::plugin::{Policy, ValueTarget, Values};
use crate::resource::Resource;
use crate::select::Target;
use crate::spelling;
use crate::transform::{self, Namespace, Subjects};

/// Puts the value in.
///
/// # Errors
/// A target without a field, a field that holds no text.
pub(crate) fn add(loader: &Loader<'_>, values: &Values, resources: &mut [Resource]) -> Result<(), String> {
    let mut targets: Vec<ValueTarget> = values.targets.clone();
    if !values.target_file_path.is_empty() {
        let failed = |message: String| format!("targetFilePath: {message}");
        let text = loader.text(&values.target_file_path).map_err(failed)?;
        let mut value = goyaml::parse(&text).map_err(|error| failed(error.to_string()))?;
        spelling::canonical(&mut value);
        spelling::texts(&mut value);
        let more: Values = serde_json::from_value(value).map_err(|error| failed(error.to_string()))?;
        targets.extend(more.targets);
    }
    if targets.is_empty() {
        return Err("targets: at least one is needed".to_owned());
    }
    let value = match values.value.trim() {
        "" => loader.dir.rsplit('/').next().unwrap_or_default(),
        value => value,
    };
    for target in &targets {
        let path = target.field_path.as_str();
        if path.is_empty() || target.file_path_position < 0 {
            return Err("targets: fieldPath must be said and filePathPosition must not be negative".to_owned());
        }
        let selector = target.selector.as_ref().map(Target::new).transpose()?;
        for resource in resources.iter_mut() {
            if selector.as_ref().is_some_and(|selector| !selector.selects(resource)) {
                continue;
            }
            let done = if path == "metadata/namespace" {
                let whole = Namespace {
                    namespace: value,
                    fields: &[],
                    unset_only: false,
                    subjects: Subjects::Default,
                };
                transform::set_namespace(&mut resource.object, &whole)
            } else {
                set(&mut resource.object, path, target.file_path_position, value)
            };
            done.map_err(|message| format!("object {}: {message}", resource.id()))?;
        }
    }
    Ok(())
}

fn set(object: &mut Node, path: &str, position: i64, value: &str) -> Result<(), String> {
    let mut node = object;
    let parts = field::parts(path, '/');
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        node = match node {
            Node::List(items) => {
                let at: usize = part.parse().map_err(|_| format!("'{part}' of a list"))?;
                items.get_mut(at).ok_or_else(|| format!("there is no item {at}"))?
            }
            Node::Map(map) => map
                .entry(part.clone())
                .or_insert_with(|| if last { Node::text("") } else { Node::map() }),
            Node::Scalar(_) => return Err(format!("'{part}' of a single value")),
        };
    }
    let Some(old) = node.spelling() else {
        return Err(format!("field '{path}' is {}", node.shape()));
    };
    let new = match usize::try_from(position) {
        Ok(position) if position > 0 => with_part(old, position - 1, value),
        _ => value.to_owned(),
    };
    *node = Node::text(new);
    Ok(())
}

/// A file path with one part more. An absolute path stays one.
fn with_part(path: &str, position: usize, part: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(position.min(parts.len()), part);
    format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"))
}

/// The service account.
///
/// # Errors
/// The cloud is not known.
pub(crate) fn policy(policy: &Policy) -> Result<Resource, String> {
    if policy.cloud != "gke" {
        return Err(format!("cloud: '{}' is not gke", policy.cloud));
    }
    let (service, account) = (&policy.kubernetes_service, &policy.service_account);
    let address = format!("{}@{}.iam.gserviceaccount.com", account.name, account.project_id);
    let mut resource = Resource::new(Node::Map(Map::from_iter([
        ("apiVersion".to_owned(), Node::text("v1")),
        ("kind".to_owned(), Node::text("ServiceAccount")),
    ])));
    resource.set_name(&service.name);
    resource.set_namespace(&service.namespace);
    resource.set_texts(
        "annotations",
        vec![("iam.gke.io/gcp-service-account".to_owned(), address)],
    );
    Ok(resource)
}
