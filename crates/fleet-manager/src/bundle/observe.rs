//! Reads what a bundle needs besides the plan's state: its values, and the rules of its namespace;
//! then asks the plan. Missing or wrong values are a fact that the user is told, not an error.

use std::sync::Arc;

use fleet_api::{Bundle, BundleDeployment, values};
use fleet_plan::{BundleKey, Pass, Plan, deployment};
use fleet_runtime::write::find;
use fleet_runtime::{Error, Key};
use k8s_openapi::api::core::v1::Secret;

use super::Parts;
use crate::policy::Rules;
use crate::shell::{deleting, name, namespace};

/// What is to become of the bundle.
#[derive(Debug)]
pub(super) enum Facts {
    /// It is leaving; its deployments that are still there.
    Leaving(Vec<Arc<BundleDeployment>>),
    /// It cannot be deployed until it, or a policy, changes.
    Refused(String),
    /// Its values are not there (yet).
    Incomplete(String),
    /// This is to be done.
    Planned {
        plan: Box<Plan>,
        manifest: String,
        sha256sum: String,
    },
    /// The plan does not know it; it will be asked again.
    Unknown,
}

pub(super) async fn observe(bundle: &Bundle, parts: &Parts) -> Result<Facts, Error> {
    let (space, shell) = (namespace(bundle), &parts.shell);
    if deleting(bundle) {
        let keys = parts.deployments.find(&format!("{space}/{}", name(bundle)));
        let mirror = shell.world.deployments.mirror();
        return Ok(Facts::Leaving(keys.iter().filter_map(|key| mirror.at(key)).collect()));
    }
    let world = &shell.world;
    let rules = Rules::new(
        &world.policies.mirror().within(space),
        &world.restrictions.mirror().within(space),
    );
    if let Err(message) = rules.check_bundle(&bundle.spec) {
        return Ok(Facts::Refused(message));
    }
    if let Some(message) = unresolved_chart(bundle) {
        return Ok(Facts::Refused(message));
    }
    let mut complete = bundle.clone();
    if !bundle.spec.values_hash.is_empty() {
        match stored_values(bundle, parts).await? {
            Ok(data) => {
                if let Err(error) = values::restore_bundle(&mut complete.spec, &data) {
                    return Ok(Facts::Refused(fleet_runtime::chain(&error)));
                }
            }
            Err(message) => return Ok(Facts::Incomplete(message)),
        }
    }
    let sha256sum = fleet_api::content::Manifest::new(&bundle.spec.resources).sha256sum;
    let manifest = deployment::manifest_id(bundle, &bundle.spec.resources, true);
    parts.planner.take_bundle(&complete, &manifest);
    let key = BundleKey::new(space, name(bundle));
    let plan = parts.planner.ask(|state| state.desired(&key, &Pass::manager()));
    Ok(plan.map_or(Facts::Unknown, |plan| Facts::Planned {
        plan: Box::new(plan),
        manifest,
        sha256sum,
    }))
}

/// The data of the values secret, or what is wrong with it.
async fn stored_values(
    bundle: &Bundle,
    parts: &Parts,
) -> Result<Result<std::collections::BTreeMap<String, Vec<u8>>, String>, Error> {
    let key = Key::of(bundle);
    let Some(secret) = find(&parts.shell.cx.namespaced::<Secret>(&key.namespace), &key.name).await? else {
        return Ok(Err(format!(
            "the secret '{key}' with the values of this bundle does not exist"
        )));
    };
    let data: std::collections::BTreeMap<_, _> = secret
        .data
        .unwrap_or_default()
        .into_iter()
        .map(|(key, bytes)| (key, bytes.0))
        .collect();
    if values::bundle_hash(&data) == bundle.spec.values_hash {
        return Ok(Ok(data));
    }
    Ok(Err(format!(
        "the values in secret '{key}' are not the ones that valuesHash names"
    )))
}

/// A chart whose version is still a range waits for its HelmOp.
fn unresolved_chart(bundle: &Bundle) -> Option<String> {
    bundle.spec.helm_op_options.as_ref()?;
    let version = &bundle.spec.options.helm.as_ref()?.version;
    let plain = version.strip_prefix('v').unwrap_or(version);
    if version.is_empty() || is_exact(plain) {
        return None;
    }
    Some(format!(
        "chart version cannot be deployed; check HelmOp status for more details: {version} is not a version"
    ))
}

/// `1.2.3`, `1.2.3-rc.1+build`.
fn is_exact(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    parts.len() == 3
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::is_exact;

    #[test]
    fn only_whole_versions_are_exact() {
        for (version, exact) in [
            ("1.2.3", true),
            ("1.2.3-rc.1+b", true),
            ("1.2", false),
            ("^1.2.3", false),
            ("1.x.0", false),
        ] {
            assert_eq!(is_exact(version), exact, "{version}");
        }
    }
}
