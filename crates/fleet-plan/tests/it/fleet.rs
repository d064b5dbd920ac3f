//! A small world to plan in: objects go in as events, plans are carried out at once, agents report when told to.

use std::collections::BTreeMap;

use fleet_api::{Bundle, BundleDeployment, BundleDeploymentStatus, BundleNamespaceMapping, Cluster, ClusterGroup};
use fleet_plan::{
    BundleKey, ClusterKey, DeploymentKey, Dirty, Event, GroupKey, MappingKey, NamespacePolicy, Pass, Plan, SourceKey,
    SourceKind, State, deployment,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Default)]
pub(crate) struct Fleet {
    pub(crate) state: State,
    /// Everything that was fed and is still there, to start again from.
    objects: BTreeMap<(String, String, String), Value>,
    pub(crate) deployments: BTreeMap<DeploymentKey, BundleDeployment>,
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

impl Fleet {
    /// Takes in an object; `deleted: true` beside its metadata takes it away.
    pub(crate) fn feed(&mut self, object: &Value) -> Dirty {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = (
            text(&object["kind"]),
            text(&object["metadata"]["namespace"]),
            text(&object["metadata"]["name"]),
        );
        if object["deleted"] == true {
            self.objects.remove(&id);
        } else if id.0 != "BundleDeployment" {
            self.objects.insert(id, object.clone());
        }
        if object["kind"] == "BundleDeployment" {
            let deployment: BundleDeployment = read(object);
            let key = deployment_key(&deployment);
            if object["deleted"] == true {
                self.deployments.remove(&key);
            } else {
                self.deployments.insert(key, deployment);
            }
        }
        apply(&mut self.state, object)
    }

    /// A state that never saw anything but how things are now.
    pub(crate) fn restarted(&self) -> State {
        let mut state = State::new();
        for deployment in self.deployments.values() {
            state.apply(Event::Deployment(deployment));
        }
        for object in self.objects.values() {
            apply(&mut state, object);
        }
        state
    }

    pub(crate) fn bundles(&self) -> Vec<BundleKey> {
        let bundles = self.objects.keys().filter(|(kind, _, _)| kind == "Bundle");
        bundles
            .map(|(_, namespace, name)| BundleKey::new(namespace, name))
            .collect()
    }

    pub(crate) fn plan(&mut self, bundle: &BundleKey) -> Plan {
        self.state.desired(bundle, &Pass::manager()).unwrap()
    }

    /// Writes what a plan wants, as the manager would.
    pub(crate) fn carry_out(&mut self, plan: &Plan) -> Dirty {
        let mut dirty = Dirty::default();
        for planned in &plan.deployments {
            let current = self.deployments.get(&planned.key);
            assert_eq!(planned.create, current.is_none(), "{planned:?}");
            let (mut object, values) = planned.object(current);
            // The world keeps values inline; the hash is what the secret would have.
            object.spec = planned.spec(current.map(|current| &current.spec));
            object.spec.values_hash = values.hash;
            object
                .metadata
                .uid
                .get_or_insert_with(|| format!("uid-{}", planned.key));
            dirty.merge(self.state.apply(Event::Deployment(&object)));
            self.deployments.insert(planned.key.clone(), object);
        }
        for key in &plan.delete {
            self.deployments.remove(key);
            dirty.merge(self.state.apply(Event::DeploymentDeleted(key)));
        }
        dirty
    }

    /// The agent of one cluster applies what it is told.
    pub(crate) fn report(&mut self, key: &DeploymentKey) -> Dirty {
        let Some(deployment) = self.deployments.get_mut(key) else {
            return Dirty::default();
        };
        deployment.status = Some(BundleDeploymentStatus {
            applied_deployment_id: deployment.spec.deployment_id.clone(),
            ready: true,
            non_modified: true,
            ..BundleDeploymentStatus::default()
        });
        self.state.apply(Event::Deployment(deployment))
    }

    /// Somebody else writes a deployment.
    pub(crate) fn tamper(&mut self, key: &DeploymentKey, change: impl FnOnce(&mut BundleDeployment)) -> Dirty {
        let deployment = self.deployments.get_mut(key).unwrap();
        change(deployment);
        self.state.apply(Event::Deployment(deployment))
    }
}

fn deployment_key(deployment: &BundleDeployment) -> DeploymentKey {
    let meta = &deployment.metadata;
    DeploymentKey::new(
        meta.namespace.clone().unwrap_or_default(),
        meta.name.clone().unwrap_or_default(),
    )
}

fn apply(state: &mut State, object: &Value) -> Dirty {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let deleted = object["deleted"] == true;
    match (object["kind"].as_str().unwrap(), deleted) {
        ("Cluster", false) => state.apply(Event::Cluster(&read::<Cluster>(object))),
        ("Cluster", true) => state.apply(Event::ClusterDeleted(&ClusterKey::new(namespace, name))),
        ("ClusterGroup", false) => state.apply(Event::Group(&read::<ClusterGroup>(object))),
        ("ClusterGroup", true) => state.apply(Event::GroupDeleted(&GroupKey::new(namespace, name))),
        ("Bundle", false) => {
            let bundle: Bundle = read(object);
            let manifest = deployment::manifest_id(&bundle, &bundle.spec.resources, true);
            state.apply(Event::Bundle {
                bundle: &bundle,
                manifest: &manifest,
            })
        }
        ("Bundle", true) => state.apply(Event::BundleDeleted(&BundleKey::new(namespace, name))),
        ("BundleDeployment", false) => state.apply(Event::Deployment(&read::<BundleDeployment>(object))),
        ("BundleDeployment", true) => state.apply(Event::DeploymentDeleted(&DeploymentKey::new(namespace, name))),
        ("BundleNamespaceMapping", false) => state.apply(Event::Mapping(&read::<BundleNamespaceMapping>(object))),
        ("BundleNamespaceMapping", true) => state.apply(Event::MappingDeleted(&MappingKey::new(namespace, name))),
        ("Namespace", false) => {
            let labels: Option<BTreeMap<String, String>> = read(&object["metadata"]["labels"]);
            state.apply(Event::Namespace {
                name,
                labels: &labels.unwrap_or_default(),
            })
        }
        ("Namespace", true) => state.apply(Event::NamespaceDeleted(name)),
        ("Policy", deleted) => {
            let forbid_namespace_creation = !deleted && object["requireServiceAccount"] == true;
            let policy = NamespacePolicy {
                forbid_namespace_creation,
                target_namespace_selector: None,
            };
            state.apply(Event::Policy { namespace, policy })
        }
        ("GitRepo", false) => state.apply(Event::Source(&SourceKey::new(SourceKind::GitRepo, namespace, name))),
        ("GitRepo", true) => state.apply(Event::SourceDeleted(&SourceKey::new(
            SourceKind::GitRepo,
            namespace,
            name,
        ))),
        (kind, _) => panic!("unknown kind {kind}"),
    }
}
