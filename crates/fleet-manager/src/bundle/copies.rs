//! Secrets and config maps that a bundle asks to have on its clusters, copied into the namespace
//! of each cluster, from where the agent takes them. A source that is missing is named in the
//! bundle's status and looked for again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use fleet_api::{Bundle, BundleDeployment, DownstreamResource};
use fleet_runtime::write::{self, Object, ensure, find};
use fleet_runtime::{Change, Context, Error, Key, Queue};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::ObjectMeta;
use serde_json::json;

use super::Parts;
use super::deployment::owner_of;
use crate::shell::{Index, Shell, name, namespace};

/// Follows what bundles copy: a bundle is looked at again when a source of it changes.
pub(super) fn follow(shell: &Arc<Shell>, queue: &Queue<Key>, copied: &Index) {
    let known = copied.clone();
    shell.world.bundles.on(move |change| {
        for position in 0..sources(change.object()).len().max(previous(change)) {
            known.follow(change, |bundle| {
                let source = sources(bundle).into_iter().nth(position)?;
                Some(format!("{}/{}/{}", namespace(bundle), source.kind, source.name))
            });
        }
    });
    let (known, add) = (copied.clone(), queue.clone());
    shell
        .world
        .secrets
        .on(move |change| touched(change, "secret", &known, &add));
    let (known, add) = (copied.clone(), queue.clone());
    shell
        .world
        .config_maps
        .on(move |change| touched(change, "configmap", &known, &add));
}

fn previous(change: &Change<Bundle>) -> usize {
    match change {
        Change::Applied { old: Some(old), .. } => sources(old).len(),
        _ => 0,
    }
}

fn touched<K: kube::Resource>(change: &Change<K>, kind: &str, copied: &Index, queue: &Queue<Key>) {
    let object = &**change.object();
    for bundle in copied.find(&format!("{}/{kind}/{}", namespace(object), name(object))) {
        queue.add(bundle);
    }
}

/// What a bundle and its targets copy, kinds in lower case.
fn sources(bundle: &Bundle) -> Vec<DownstreamResource> {
    let own = bundle.spec.options.downstream_resources.iter();
    let targets = bundle
        .spec
        .targets
        .iter()
        .flat_map(|target| target.options.downstream_resources.iter());
    let all: BTreeSet<(String, String)> = own
        .chain(targets)
        .map(|each| (each.kind.to_lowercase(), each.name.clone()))
        .collect();
    all.into_iter()
        .map(|(kind, name)| DownstreamResource { kind, name })
        .collect()
}

/// For which versions of their sources the copies of a bundle are known to be complete. Only saves
/// looking again; a manager that starts anew looks once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Complete {
    versions: Arc<Mutex<BTreeMap<Key, String>>>,
}

impl Complete {
    fn is(&self, bundle: &Key, versions: &str) -> bool {
        let known = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(bundle).is_some_and(|each| each == versions)
    }

    fn forget(&self, bundle: &Key) {
        self.versions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(bundle);
    }

    fn set(&self, bundle: Key, versions: String) {
        self.versions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(bundle, versions);
    }
}

/// Versions of all sources of a bundle, as the watches know them.
fn versions(bundle: &Bundle, shell: &Shell) -> String {
    let space = namespace(bundle);
    let version = |meta: &ObjectMeta| meta.resource_version.clone().unwrap_or_default();
    let mut all = bundle.metadata.uid.clone().unwrap_or_default();
    for each in sources(bundle) {
        let found = match each.kind.as_str() {
            "secret" => shell
                .world
                .secrets
                .mirror()
                .find(space, &each.name)
                .map(|object| version(&object.metadata)),
            "configmap" => shell
                .world
                .config_maps
                .mirror()
                .find(space, &each.name)
                .map(|object| version(&object.metadata)),
            _ => None,
        };
        all.push_str(&format!(" {}/{}={}", each.kind, each.name, found.unwrap_or_default()));
    }
    all
}

/// Brings the copies of all deployments of a bundle up to date, if a source changed since that was
/// done last or deployments were `written`. Returns what is missing, for the user.
pub(super) async fn refresh(
    bundle: &Bundle,
    written: &[BundleDeployment],
    parts: &Parts,
) -> Result<Vec<String>, Error> {
    if sources(bundle).is_empty() {
        return Ok(Vec::new());
    }
    let (key, versions) = (Key::of(bundle), versions(bundle, &parts.shell));
    let complete = parts.complete.is(&key, &versions);
    let mirror = parts.shell.world.deployments.mirror();
    let all = || {
        let keys = parts.deployments.find(&key.to_string());
        keys.iter()
            .filter_map(|key| mirror.at(key))
            .map(|each| (*each).clone())
            .collect::<Vec<_>>()
    };
    let mut deployments = if complete { Vec::new() } else { all() };
    for each in written {
        if !deployments.iter().any(|known| known.metadata.uid == each.metadata.uid) {
            deployments.push(each.clone());
        }
    }
    let mut missing = BTreeSet::new();
    for deployment in &deployments {
        missing.extend(copy(bundle, deployment, &parts.shell.cx).await?);
    }
    if missing.is_empty() {
        parts.complete.set(key, versions);
    } else {
        parts.complete.forget(&key);
    }
    Ok(missing.into_iter().collect())
}

/// Copies what the options of a deployment ask for.
async fn copy(bundle: &Bundle, deployment: &BundleDeployment, cx: &Context) -> Result<Vec<String>, Error> {
    let options = deployment.spec.staged_options.as_ref();
    let wanted = options
        .map(|options| options.downstream_resources.as_slice())
        .unwrap_or_default();
    let mut missing = Vec::new();
    let mut wrote = false;
    for each in wanted {
        let result = match each.kind.to_lowercase().as_str() {
            "secret" => copy_one::<Secret>(bundle, deployment, &each.name, strip_secret, cx).await?,
            "configmap" => copy_one::<ConfigMap>(bundle, deployment, &each.name, strip_config_map, cx).await?,
            _ => {
                missing.push(format!(
                    "failed to clone config maps and secrets downstream: unsupported kind for object to copy to downstream: \"{}\"",
                    each.kind
                ));
                continue;
            }
        };
        match result {
            Some(changed) => wrote |= changed,
            None => missing.push(format!(
                "failed to clone config maps and secrets downstream: {} '{}/{}' does not exist",
                each.kind,
                namespace(bundle),
                each.name
            )),
        }
    }
    if wrote {
        let next = deployment.spec.downstream_resources_generation + 1;
        let api = cx.namespaced::<BundleDeployment>(namespace(deployment));
        write::patch(
            &api,
            name(deployment),
            &json!({"spec": {"downstreamResourcesGeneration": next}}),
        )
        .await?;
    }
    Ok(missing)
}

/// Whether the copy was written; `None` if there is no source.
async fn copy_one<K>(
    bundle: &Bundle,
    deployment: &BundleDeployment,
    source: &str,
    strip: fn(&K) -> K,
    cx: &Context,
) -> Result<Option<bool>, Error>
where
    K: Object + kube::Resource<Scope = NamespaceResourceScope>,
{
    let Some(source) = find(&cx.namespaced::<K>(namespace(bundle)), source).await? else {
        return Ok(None);
    };
    let mut copy = strip(&source);
    *copy.meta_mut() = ObjectMeta {
        name: source.meta().name.clone(),
        namespace: deployment.metadata.namespace.clone(),
        owner_references: Some(vec![owner_of(deployment)]),
        ..ObjectMeta::default()
    };
    let api = cx.namespaced::<K>(namespace(deployment));
    let live = find(&api, name(&copy)).await?;
    ensure(&api, live.as_ref(), &copy)
        .await
        .map(|written| Some(written.wrote()))
}

fn strip_secret(source: &Secret) -> Secret {
    Secret {
        data: source.data.clone(),
        type_: source.type_.clone(),
        ..Secret::default()
    }
}

fn strip_config_map(source: &ConfigMap) -> ConfigMap {
    ConfigMap {
        data: source.data.clone(),
        binary_data: source.binary_data.clone(),
        ..ConfigMap::default()
    }
}
