//! What a pod's priority class says about it.
//!
//! Mirrors upstream's priority admission plugin: the class decides, and a pod that says otherwise is refused.

use serde_json::{Value, json};

use super::Request;
use crate::cluster::Cluster;
use crate::object::{self, text};
use crate::status::Result;

/// What pods do to others when they say nothing.
const PREEMPT: &str = "PreemptLowerPriority";

/// Classes that every cluster has.
pub(super) const BUILT_IN: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

/// What a class says.
struct Class {
    name: String,
    value: i64,
    policy: String,
}

impl Class {
    fn of(object: &Value) -> Self {
        Self {
            name: text(object, "/metadata/name").to_owned(),
            value: object["value"].as_i64().unwrap_or_default(),
            policy: object["preemptionPolicy"].as_str().unwrap_or(PREEMPT).to_owned(),
        }
    }
}

/// Gives a new pod the priority of its class.
///
/// # Errors
/// 403 for a class that is not there, and for a pod that gives itself another priority.
pub(super) fn admit(cluster: &Cluster, request: &Request, pod: &mut Value) -> Result<()> {
    if !request.resource.is("", "pods") || !pod["spec"].is_object() {
        return Ok(());
    }
    let wanted = text(pod, "/spec/priorityClassName").to_owned();
    let refuse = |why: String| request.forbidden(text(pod, "/metadata/name"), &why);
    let class = if wanted.is_empty() {
        by_default(cluster)?
    } else {
        named(cluster, &wanted)?.ok_or_else(|| refuse(format!("no PriorityClass with name {wanted} was found")))?
    };
    let must = "must not be provided in pod spec; priority admission controller computed";
    let from = "from the given PriorityClass name";
    if let Some(given) = pod["spec"]["priority"].as_i64().filter(|given| *given != class.value) {
        let computed = class.value;
        return Err(refuse(format!(
            "the integer value of priority ({given}) {must} {computed} {from}"
        )));
    }
    if let Some(given) = pod["spec"]["preemptionPolicy"]
        .as_str()
        .filter(|given| *given != class.policy)
    {
        let computed = &class.policy;
        return Err(refuse(format!(
            "the string value of PreemptionPolicy ({given}) {must} {computed} {from}"
        )));
    }
    let spec = &mut pod["spec"];
    if !class.name.is_empty() {
        spec["priorityClassName"] = class.name.into();
    }
    spec["priority"] = class.value.into();
    spec["preemptionPolicy"] = json!(class.policy);
    Ok(())
}

fn named(cluster: &Cluster, name: &str) -> Result<Option<Class>> {
    if let Some((name, value)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Ok(Some(Class {
            name: (*name).to_owned(),
            value: *value,
            policy: PREEMPT.to_owned(),
        }));
    }
    let classes = cluster.builtin("scheduling.k8s.io", "v1", "priorityclasses")?;
    let Some(entry) = cluster.get(&classes.key("", name))? else {
        return Ok(None);
    };
    Ok(Some(Class::of(&object::decode(&classes, &entry)?)))
}

/// The class of pods that name none: of those for everybody the one with the least priority.
fn by_default(cluster: &Cluster) -> Result<Class> {
    let classes = cluster.builtin("scheduling.k8s.io", "v1", "priorityclasses")?;
    let scope = classes.scope();
    let entries = cluster.all(&scope)?;
    let mut found: Option<Class> = None;
    for (_, entry) in entries {
        let object = object::decode(&classes, &entry)?;
        if object["globalDefault"] != true {
            continue;
        }
        let class = Class::of(&object);
        if found.as_ref().is_none_or(|found| class.value < found.value) {
            found = Some(class);
        }
    }
    Ok(found.unwrap_or(Class {
        name: String::new(),
        value: 0,
        policy: PREEMPT.to_owned(),
    }))
}
