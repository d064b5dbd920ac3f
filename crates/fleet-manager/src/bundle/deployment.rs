//! One planned deployment → its values secret and its object, written in this order: the object
//! names the hash of the values, so whoever sees it finds them.

use fleet_api::values::{self, Extracted};
use fleet_api::{BundleDeployment, labels};
use fleet_plan::{DeploymentPlan, Release};
use fleet_runtime::write::{self, ensure, find};
use fleet_runtime::{Context, Error};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{ObjectMeta, PostParams};
use serde_json::{Value, json};

use super::Parts;
use crate::shell::{name, namespace, uid};

/// Writes a deployment; gives it back as stored.
pub(super) async fn write_one(plan: &DeploymentPlan, parts: &Parts) -> Result<BundleDeployment, Error> {
    let cx = &parts.shell.cx;
    let mirror = parts.shell.world.deployments.mirror();
    let known = mirror.find(&plan.key.namespace, &plan.key.name);
    let current = match known {
        Some(known) => Some(complete(&known, plan, cx).await?),
        None => None,
    };
    let (mut wanted, extracted) = plan.object(current.as_ref());
    let stored = match &current {
        Some(current) => update(current, &wanted, &extracted, cx).await?,
        None => {
            put_values(&wanted, &extracted, None, cx).await?;
            wanted.metadata.finalizers = Some(vec![labels::BUNDLE_DEPLOYMENT_FINALIZER.to_owned()]);
            wanted.status = None;
            let stored = create(&wanted, cx).await?;
            if !extracted.hash.is_empty() {
                put_values(&wanted, &extracted, Some(&stored), cx).await?;
            }
            stored
        }
    };
    let stored = (*mirror.note(stored)).clone();
    parts.planner.take_deployment(&stored);
    Ok(stored)
}

/// The deployment as stored, with its values put back where the plan keeps what is released.
async fn complete(known: &BundleDeployment, plan: &DeploymentPlan, cx: &Context) -> Result<BundleDeployment, Error> {
    let mut current = known.clone();
    let replaced = plan.release == Release::Staged && plan.staged.is_some();
    if replaced || current.spec.values_hash.is_empty() {
        return Ok(current);
    }
    let secret = find(&cx.namespaced::<Secret>(namespace(known)), name(known)).await?;
    let data: std::collections::BTreeMap<_, _> = secret
        .and_then(|secret| secret.data)
        .unwrap_or_default()
        .into_iter()
        .map(|(key, bytes)| (key, bytes.0))
        .collect();
    let of = |key: &str| data.get(key).map(Vec::as_slice).unwrap_or_default();
    if values::deployment_hash(of(values::DEPLOYMENT_KEY), of(values::STAGED_KEY)) != known.spec.values_hash {
        return recovered(current, plan);
    }
    for (options, key) in [
        (&mut current.spec.options, values::DEPLOYMENT_KEY),
        (&mut current.spec.staged_options, values::STAGED_KEY),
    ] {
        if let Some(options) = options {
            values::restore(options, &data, key).map_err(|error| lost(known, &fleet_runtime::chain(&error)))?;
        }
    }
    Ok(current)
}

/// The secret is lost or was changed. Equal ids mean equal options, so that the plan's values are
/// those of the release too; otherwise nobody knows what was released, and nothing is written.
fn recovered(mut current: BundleDeployment, plan: &DeploymentPlan) -> Result<BundleDeployment, Error> {
    match &plan.staged {
        Some((options, id)) if current.spec.deployment_id == **id => {
            current.spec.options = Some((**options).clone());
            // Makes the secret be written again.
            current.spec.values_hash = String::new();
            Ok(current)
        }
        _ => Err(lost(
            &current,
            "the secret with the values of the running release is missing or was changed",
        )),
    }
}

fn lost(deployment: &BundleDeployment, why: &str) -> Error {
    Error::new("read", format!("values of {}", write::describe(deployment)), why)
}

async fn create(wanted: &BundleDeployment, cx: &Context) -> Result<BundleDeployment, Error> {
    use fleet_runtime::ResultExt as _;
    let api = cx.namespaced::<BundleDeployment>(namespace(wanted));
    match api
        .create(&PostParams::default(), wanted)
        .await
        .doing("create", || write::describe(wanted))
    {
        // The watch is behind: look, and bring it up to date.
        Err(error) if error.is_already_exists() => {
            let live = api.get(name(wanted)).await.doing("get", || write::describe(wanted))?;
            patch(&live, wanted, cx).await
        }
        other => other,
    }
}

async fn update(
    current: &BundleDeployment,
    wanted: &BundleDeployment,
    extracted: &Extracted,
    cx: &Context,
) -> Result<BundleDeployment, Error> {
    if current.spec.values_hash != extracted.hash {
        if extracted.hash.is_empty() {
            drop_values(current, cx).await?;
        } else {
            put_values(wanted, extracted, Some(current), cx).await?;
        }
    }
    let mut bare = current.clone();
    for options in [&mut bare.spec.options, &mut bare.spec.staged_options]
        .into_iter()
        .flatten()
    {
        values::clear_deployment(options);
    }
    patch(&bare, wanted, cx).await
}

/// Sends what differs in labels and spec; both are completely the manager's.
async fn patch(live: &BundleDeployment, wanted: &BundleDeployment, cx: &Context) -> Result<BundleDeployment, Error> {
    let part = |object: &BundleDeployment| json!({"metadata": {"labels": object.metadata.labels}, "spec": serde_json::to_value(&object.spec).unwrap_or(Value::Null)});
    let Some(change) = write::difference(&part(live), &part(wanted)) else {
        return Ok(live.clone());
    };
    write::patch(
        &cx.namespaced::<BundleDeployment>(namespace(wanted)),
        name(wanted),
        &change,
    )
    .await
}

/// The secret with the values of a deployment.
async fn put_values(
    wanted: &BundleDeployment,
    extracted: &Extracted,
    owner: Option<&BundleDeployment>,
    cx: &Context,
) -> Result<(), Error> {
    if extracted.hash.is_empty() {
        return Ok(());
    }
    let api = cx.namespaced::<Secret>(namespace(wanted));
    let secret = Secret {
        metadata: ObjectMeta {
            name: wanted.metadata.name.clone(),
            namespace: wanted.metadata.namespace.clone(),
            owner_references: owner.map(|owner| vec![owner_of(owner)]),
            ..ObjectMeta::default()
        },
        type_: Some(labels::SECRET_DEPLOYMENT_VALUES.to_owned()),
        data: Some(
            extracted
                .data
                .iter()
                .map(|(key, bytes)| (key.clone(), ByteString(bytes.clone())))
                .collect(),
        ),
        ..Secret::default()
    };
    if owner.is_some() {
        let live = find(&api, name(wanted)).await?;
        return ensure(&api, live.as_ref(), &secret).await.map(drop);
    }
    ensure(&api, None, &secret).await.map(drop)
}

/// The reference by which objects beside a deployment go when it goes.
pub(super) fn owner_of(deployment: &BundleDeployment) -> OwnerReference {
    OwnerReference {
        api_version: format!("{}/{}", fleet_api::GROUP, fleet_api::VERSION),
        kind: "BundleDeployment".to_owned(),
        name: name(deployment).to_owned(),
        uid: uid(deployment).to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// Removes a deployment and its values.
pub(super) async fn remove(deployment: &BundleDeployment, cx: &Context) -> Result<(), Error> {
    write::delete(&cx.namespaced::<BundleDeployment>(namespace(deployment)), deployment).await?;
    if deployment.spec.values_hash.is_empty() {
        Ok(())
    } else {
        drop_values(deployment, cx).await
    }
}

async fn drop_values(deployment: &BundleDeployment, cx: &Context) -> Result<(), Error> {
    use fleet_runtime::ResultExt as _;
    let api = cx.namespaced::<Secret>(namespace(deployment));
    api.delete(name(deployment), &kube::api::DeleteParams::background())
        .await
        .unless_missing("delete", || format!("values of {}", write::describe(deployment)))
        .map(drop)
}
