//! Names of other objects inside of objects, brought up to date after everything was renamed.
//!
//! A reference may say any name its object ever had. Where several objects qualify, the one in the same namespace and
//! with the same prefixes and suffixes is meant.

use serde_json::Value;

use crate::field;
use crate::resource::{Resource, effective};
use crate::table;

/// What an object is called now, for one kind.
struct Called {
    identities: Vec<(String, String)>,
    affixes: Vec<(String, String)>,
    name: String,
    namespace: String,
    namespaced: bool,
}

/// Updates every reference.
pub(crate) fn update(resources: &mut [Resource]) {
    for naming in table::NAMES.iter() {
        let candidates: Vec<Called> = resources
            .iter()
            .filter(|resource| resource.kind() == naming.kind && !resource.former.is_empty())
            .map(called)
            .collect();
        if candidates.is_empty() {
            continue;
        }
        for resource in resources.iter_mut() {
            let (group, kind) = (resource.group_version().0.to_owned(), resource.kind().to_owned());
            let fields = naming.fields.iter().filter(|spec| {
                spec.kind == kind && (spec.group.is_empty() || spec.group == group || is_legacy(&group, &kind))
            });
            let referrer = Referrer::of(resource);
            for spec in fields {
                let (way, last) = spec.path.rsplit_once('/').unwrap_or(("", &spec.path));
                // Annotations have slashes in their keys.
                let (way, last) = match way.strip_suffix('\\') {
                    Some(way) => way.rsplit_once('/').map_or((way, spec.path.as_str()), |(way, key)| {
                        (way, &spec.path[spec.path.len() - key.len() - last.len() - 2..])
                    }),
                    None => (way, last),
                };
                let last = last.replace("\\/", "/");
                field::at(&mut resource.object, way, false, &mut |holder| {
                    each_holder(holder, &mut |holder| {
                        point(holder, &last, naming.kind, &referrer, &candidates);
                    });
                });
            }
        }
    }
}

/// Old groups of kinds that have moved since.
fn is_legacy(group: &str, kind: &str) -> bool {
    (group == "extensions" && matches!(kind, "Deployment" | "ReplicaSet" | "DaemonSet")) || group == "autoscaling"
}

/// Calls for a map, or for each map of a list.
fn each_holder(value: &mut Value, call: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| each_holder(item, call)),
        Value::Object(_) => call(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn called(resource: &Resource) -> Called {
    Called {
        identities: resource
            .identities()
            .map(|(name, space)| (name.to_owned(), space.to_owned()))
            .collect(),
        affixes: resource.affixes.clone(),
        name: resource.name().to_owned(),
        namespace: resource.namespace().to_owned(),
        namespaced: resource.is_namespaced(),
    }
}

struct Referrer {
    namespaces: Vec<String>,
    affixes: Vec<(String, String)>,
    namespaced: bool,
}

impl Referrer {
    fn of(resource: &Resource) -> Self {
        Self {
            namespaces: resource
                .identities()
                .map(|(_, namespace)| effective(namespace).to_owned())
                .collect(),
            affixes: resource.affixes.clone(),
            namespaced: resource.is_namespaced(),
        }
    }
}

/// Updates the reference in one field of `holder`.
fn point(holder: &mut Value, field: &str, kind: &str, referrer: &Referrer, candidates: &[Called]) {
    // A reference that says its kind means that kind; subjects are renamed whatever they say, as the reference does.
    if let Some(said) = holder.get("kind").and_then(Value::as_str)
        && said != kind
        && kind != "ServiceAccount"
    {
        return;
    }
    let subject = holder.get("kind").is_some() && kind == "ServiceAccount";
    let service = kind == "Service" && holder.get("namespace").is_some();
    let space = holder.get("namespace").and_then(Value::as_str).map(str::to_owned);
    let mut moved: Option<String> = None;
    let mut update = |value: &mut Value| {
        let Some(name) = value.as_str() else { return };
        if let Some(found) = meant(name, space.as_deref(), referrer, candidates) {
            moved = Some(found.namespace.clone());
            *value = found.name.as_str().into();
        }
    };
    match holder.get_mut(field) {
        Some(Value::Array(items)) => items.iter_mut().for_each(&mut update),
        Some(value) => update(value),
        None => return,
    }
    if let Some(namespace) = moved.filter(|namespace| (subject || service) && !namespace.is_empty()) {
        holder["namespace"] = namespace.into();
    }
}

/// The one object that a name means.
fn meant<'c>(name: &str, space: Option<&str>, referrer: &Referrer, candidates: &'c [Called]) -> Option<&'c Called> {
    let mut found: Vec<&Called> = candidates
        .iter()
        .filter(|called| {
            called.identities.iter().any(|(known, namespace)| {
                known == name
                    && match space {
                        Some(space) => effective(namespace) == effective(space),
                        None => {
                            !called.namespaced
                                || !referrer.namespaced
                                || referrer.namespaces.iter().any(|own| own == effective(namespace))
                        }
                    }
            })
        })
        .collect();
    if found.len() > 1 {
        let same: Vec<&Called> = found
            .iter()
            .copied()
            .filter(|called| shares(&called.affixes, &referrer.affixes))
            .collect();
        if !same.is_empty() {
            found = same;
        }
    }
    if found.len() > 1 {
        // The original name says more than one that was given on the way.
        let original: Vec<&Called> = found
            .iter()
            .copied()
            .filter(|called| called.identities.first().is_some_and(|(first, _)| first == name))
            .collect();
        if original.len() == 1 {
            found = original;
        }
    }
    match found.as_slice() {
        [one] => Some(one),
        [first, rest @ ..] if rest.iter().all(|other| other.name == first.name) => Some(first),
        _ => None,
    }
}

/// Whether one history of prefixes and suffixes ends as the other does.
fn shares(a: &[(String, String)], b: &[(String, String)]) -> bool {
    let common = a.len().min(b.len());
    a[a.len() - common..] == b[b.len() - common..]
}
