//! What has to be known before anything is written: whether the deployment may run, whether it
//! has to, with which options, and which release is there.

use std::collections::BTreeMap;

use fleet_api::{BundleDeployment, BundleDeploymentOptions, values};
use fleet_deploy::store;
use fleet_runtime::{ResultExt, chain};
use helm::release::{Release, Status};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;

use super::{gate, options_of};
use crate::context::Context;

/// What was found out. A field that holds an error says what the status has to tell.
pub(crate) struct Facts {
    /// Options with the values of the values secret.
    pub(crate) options: BundleDeploymentOptions,
    /// Why nothing may be deployed now.
    pub(crate) obstacle: Option<Obstacle>,
    /// The release the status names, if its record is still there.
    pub(crate) release: Option<Release>,
    /// The content or the options are not those of the release.
    pub(crate) outdated: bool,
}

/// Why nothing may be deployed now.
pub(crate) enum Obstacle {
    /// Other bundles are not ready; their names are in the text.
    Dependencies(String),
    /// Anything else.
    Other(String),
    /// Could not even look, or only just began to wait; says nothing about the deployment.
    Quiet(String),
}

pub(crate) async fn observe(deployment: &BundleDeployment, cx: &Context) -> Facts {
    let mut facts = Facts {
        options: options_of(deployment),
        obstacle: None,
        release: None,
        outdated: true,
    };
    let status = deployment.status.clone().unwrap_or_default();
    if let Err(obstacle) = look(deployment, cx, &mut facts).await {
        facts.obstacle = Some(obstacle);
    }
    if let Some(id) = ReleaseId::parse(&status.release) {
        match store::revision(&cx.local, &id.namespace, &id.name, id.revision).await {
            // A record that `helm uninstall --keep-history` left stands for nothing that is there.
            Ok(release) => facts.release = release.filter(|found| found.info.status != Status::Uninstalled),
            // As good as gone: the next revision replaces it.
            Err(store::Error::Record(..)) => {}
            Err(error) => facts.obstacle = Some(Obstacle::Quiet(chain(&error))),
        }
    }
    let applied = status.applied_deployment_id == deployment.spec.deployment_id;
    // Nothing to look at, although it was applied: it ended in an error that is tried again slowly.
    let given_up = applied && status.release.is_empty();
    facts.outdated = !(applied && (given_up || facts.release.is_some()));
    facts
}

async fn look(deployment: &BundleDeployment, cx: &Context, facts: &mut Facts) -> Result<(), Obstacle> {
    values_secret(deployment, cx, &mut facts.options).await?;
    gate::namespace(&cx.local, &facts.options)
        .await
        .map_err(Obstacle::Other)?;
    gate::dependencies(deployment, cx)?;
    Ok(())
}

/// Values that are too secret or too large for the deployment itself live in a secret of the
/// same name; they count only if they are those the deployment was made with.
async fn values_secret(
    deployment: &BundleDeployment,
    cx: &Context,
    options: &mut BundleDeploymentOptions,
) -> Result<(), Obstacle> {
    if deployment.spec.values_hash.is_empty() {
        return Ok(());
    }
    let name = deployment.metadata.name.as_deref().unwrap_or_default();
    let api: Api<Secret> = Api::namespaced(cx.upstream.client.clone(), &cx.upstream.namespace);
    let place = format!("{}/{name}", cx.upstream.namespace);
    let late = |message: String| {
        if cx
            .patience
            .is_long_for_values(name, &deployment.spec.values_hash, cx.now())
        {
            Obstacle::Other(message)
        } else {
            Obstacle::Quiet(message)
        }
    };
    let secret = match api.get(name).await.doing("get", || format!("values secret '{place}'")) {
        Ok(secret) => secret,
        Err(error) if error.is_not_found() => return Err(late(format!("values secret '{place}' not found"))),
        Err(error) => return Err(Obstacle::Quiet(chain(&error))),
    };
    let data: BTreeMap<String, Vec<u8>> = secret
        .data
        .unwrap_or_default()
        .into_iter()
        .map(|(key, value)| (key, value.0))
        .collect();
    let part = |key: &str| data.get(key).map(Vec::as_slice).unwrap_or_default();
    let hash = values::deployment_hash(part(values::DEPLOYMENT_KEY), part(values::STAGED_KEY));
    if hash != deployment.spec.values_hash {
        return Err(late(format!(
            "values secret '{place}' does not have the values of this deployment"
        )));
    }
    cx.patience.have_values(name);
    let bytes = part(values::DEPLOYMENT_KEY);
    if !bytes.is_empty() {
        let parsed = serde_json::from_slice(bytes)
            .map_err(|error| Obstacle::Other(format!("values secret '{place}': {error}")))?;
        options.helm.get_or_insert_default().values = Some(parsed);
    }
    Ok(())
}

/// `<namespace>/<name>:<revision>` of a status.
pub(crate) struct ReleaseId {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) revision: i64,
}

impl ReleaseId {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (namespace, rest) = text.split_once('/')?;
        let (name, revision) = rest.rsplit_once(':')?;
        Some(Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            revision: revision.parse().ok()?,
        })
    }

    pub(crate) fn of(release: &Release) -> String {
        format!("{}/{}:{}", release.namespace, release.name, release.version)
    }
}
