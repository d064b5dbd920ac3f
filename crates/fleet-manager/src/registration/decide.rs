//! Facts about a request → the next thing to do for it. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet_api::{Cluster, ClusterRegistration, labels, names};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;

use super::observe::{Facts, Owner, Reader};
use crate::account::Token;
use crate::objectset::{self, ObjectSet, REGISTRATION};
use crate::shell::{label, name, namespace, uid};
use crate::startup::rule;

/// What is to be done for a request.
#[derive(Debug)]
pub(super) enum Plan {
    /// The name of the cluster is taken by another client.
    Refuse { cluster: String },
    /// Make its cluster.
    Register(Box<Cluster>),
    /// The cluster has no namespace yet.
    Wait { cluster: String },
    /// Make the account and ask for its token.
    Prepare(Box<Prepare>),
    /// Everything is there: grant.
    Grant(Box<Grant>),
}

/// The account of a request.
#[derive(Debug)]
pub(super) struct Prepare {
    pub(super) cluster: String,
    pub(super) owners: Option<Vec<OwnerReference>>,
    pub(super) account: ServiceAccount,
    /// The account as stored, if it is.
    pub(super) stored: Option<ServiceAccount>,
    pub(super) ask: bool,
}

/// The objects of a granted request.
#[derive(Debug)]
pub(super) struct Grant {
    pub(super) cluster: String,
    pub(super) owners: Option<Vec<OwnerReference>>,
    pub(super) older: Vec<Arc<ClusterRegistration>>,
    pub(super) roles: Vec<Role>,
    pub(super) bindings: Vec<RoleBinding>,
    pub(super) content: ClusterRoleBinding,
    /// Last: the agent waits for it, and then everything else has to be there.
    pub(super) credential: Secret,
    /// Why nobody can read the credential, if so.
    pub(super) unreadable: Option<&'static str>,
}

/// Requests that are none of our business: granted ones, and those of another manager.
pub(super) fn ignored(registration: &ClusterRegistration) -> bool {
    registration.status.as_ref().is_some_and(|status| status.granted)
        || !label(registration, labels::CLUSTER_MANAGEMENT).is_empty()
        || crate::shell::deleting(registration)
}

pub(super) fn decide(registration: &ClusterRegistration, facts: &Facts) -> Plan {
    let cluster = match &facts.owner {
        Owner::Taken => {
            return Plan::Refuse {
                cluster: names::registered_cluster(&registration.spec.client_id),
            };
        }
        Owner::Nobody => return Plan::Register(Box::new(new_cluster(registration, facts.ignore_labels))),
        Owner::Known(cluster) => cluster,
    };
    let space = cluster
        .status
        .as_ref()
        .map(|status| status.namespace.as_str())
        .unwrap_or_default();
    if space.is_empty() {
        return Plan::Wait {
            cluster: name(&**cluster).to_owned(),
        };
    }
    let set = ObjectSet::new(REGISTRATION, Some(objectset::Owner::of(registration)));
    let owners = changed_owners(registration, cluster);
    match &facts.token {
        Token::Ready(token) => Plan::Grant(Box::new(grant(registration, cluster, token, facts, owners))),
        waiting => Plan::Prepare(Box::new(Prepare {
            cluster: name(&**cluster).to_owned(),
            owners,
            account: set.mark(account(registration, cluster, space)),
            stored: facts.account.clone(),
            ask: *waiting == Token::Unasked,
        })),
    }
}

fn new_cluster(registration: &ClusterRegistration, ignore_labels: bool) -> Cluster {
    let mut cluster = Cluster::named(&names::registered_cluster(&registration.spec.client_id));
    let mut asked = if ignore_labels {
        BTreeMap::new()
    } else {
        registration.spec.cluster_labels.clone()
    };
    asked.retain(|key, _| {
        key == labels::CREATED_BY_AGENT_POD || !labels::RESERVED_PREFIXES.iter().any(|prefix| key.starts_with(prefix))
    });
    asked.insert(labels::CLUSTER.to_owned(), name(&cluster).to_owned());
    cluster.metadata.namespace = registration.metadata.namespace.clone();
    cluster.metadata.labels = Some(asked);
    cluster.spec.client_id = registration.spec.client_id.clone();
    cluster
}

/// The owner references that have to be written; `None` if they are right.
fn changed_owners(registration: &ClusterRegistration, cluster: &Cluster) -> Option<Vec<OwnerReference>> {
    let wanted = vec![OwnerReference {
        api_version: format!("{}/{}", fleet_api::GROUP, fleet_api::VERSION),
        kind: "Cluster".to_owned(),
        name: name(cluster).to_owned(),
        uid: uid(cluster).to_owned(),
        ..OwnerReference::default()
    }];
    (registration.metadata.owner_references.as_ref() != Some(&wanted)).then_some(wanted)
}

fn managed(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
        labels: Some([(labels::MANAGED.to_owned(), "true".to_owned())].into()),
        ..ObjectMeta::default()
    }
}

fn account(registration: &ClusterRegistration, cluster: &Cluster, space: &str) -> ServiceAccount {
    let mut metadata = managed(space, &names::service_account(name(registration), uid(registration)));
    metadata.annotations = Some(
        [
            (labels::CLUSTER, name(cluster)),
            (labels::CLUSTER_REGISTRATION, name(registration)),
            (labels::CLUSTER_REGISTRATION_NAMESPACE, namespace(registration)),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into(),
    );
    ServiceAccount {
        metadata,
        ..ServiceAccount::default()
    }
}

fn role_ref(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: Some("rbac.authorization.k8s.io".to_owned()),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}

fn subject(namespace: &str, account: &str) -> Option<Vec<Subject>> {
    Some(vec![Subject {
        kind: "ServiceAccount".to_owned(),
        name: account.to_owned(),
        namespace: Some(namespace.to_owned()),
        api_group: None,
    }])
}

fn grant(
    registration: &ClusterRegistration,
    cluster: &Cluster,
    token: &str,
    facts: &Facts,
    owners: Option<Vec<OwnerReference>>,
) -> Grant {
    let set = ObjectSet::new(REGISTRATION, Some(objectset::Owner::of(registration)));
    let space = cluster
        .status
        .as_ref()
        .map(|status| status.namespace.as_str())
        .unwrap_or_default();
    let (reg, reg_space) = (name(registration), namespace(registration));
    let account = names::service_account(reg, uid(registration));
    let secret = names::credential_secret(&registration.spec.client_id, &registration.spec.client_random);
    let only = |mut rule: k8s_openapi::api::rbac::v1::PolicyRule, object: &str| {
        rule.resource_names = Some(vec![object.to_owned()]);
        rule
    };
    let mut roles = vec![set.mark(Role {
        metadata: managed(reg_space, reg),
        rules: Some(vec![only(
            rule(fleet_api::GROUP, &["clusters/status"], &["patch"]),
            name(cluster),
        )]),
    })];
    let mut bindings = vec![
        set.mark(RoleBinding {
            metadata: managed(reg_space, reg),
            role_ref: role_ref("Role", reg),
            subjects: subject(space, &account),
        }),
        set.mark(RoleBinding {
            metadata: managed(space, reg),
            role_ref: role_ref("ClusterRole", labels::ROLE_BUNDLE_DEPLOYMENT),
            subjects: subject(space, &account),
        }),
    ];
    let content = set.mark(ClusterRoleBinding {
        metadata: managed("", &names::content_role_binding(reg)),
        role_ref: role_ref("ClusterRole", labels::ROLE_CONTENT),
        subjects: subject(space, &account),
    });
    let unreadable = match &facts.reader {
        Reader::Nobody(why) => Some(*why),
        Reader::Account { account, base } => {
            let creds = names::credential_role(base);
            roles.push(set.mark(Role {
                metadata: managed(&facts.registration_namespace, &creds),
                rules: Some(vec![only(rule("", &["secrets"], &["get"]), &secret)]),
            }));
            bindings.push(set.mark(RoleBinding {
                metadata: managed(&facts.registration_namespace, &creds),
                role_ref: role_ref("Role", &creds),
                subjects: subject(reg_space, account),
            }));
            None
        }
    };
    let mut metadata = managed(&facts.registration_namespace, &secret);
    metadata
        .labels
        .get_or_insert_default()
        .insert(labels::CLUSTER.to_owned(), name(cluster).to_owned());
    let data = [
        ("token", token),
        ("deploymentNamespace", space),
        ("clusterNamespace", namespace(cluster)),
        ("clusterName", name(cluster)),
        ("systemNamespace", facts.system_namespace.as_str()),
    ];
    let credential = set.mark(Secret {
        metadata,
        type_: Some(labels::SECRET_AGENT_CREDENTIAL.to_owned()),
        data: Some(
            data.map(|(key, value)| (key.to_owned(), ByteString(value.as_bytes().to_vec())))
                .into(),
        ),
        ..Secret::default()
    });
    Grant {
        cluster: name(cluster).to_owned(),
        owners,
        older: older(registration, &facts.others),
        roles,
        bindings,
        content,
        credential,
        unreadable,
    }
}

/// Requests of the same client with another secret that were made before this one.
fn older(registration: &ClusterRegistration, others: &[Arc<ClusterRegistration>]) -> Vec<Arc<ClusterRegistration>> {
    let made = |each: &ClusterRegistration| each.metadata.creation_timestamp.as_ref().map(|time| time.0);
    others
        .iter()
        .filter(|other| other.spec.client_random != registration.spec.client_random)
        .filter(|other| made(other) < made(registration))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;

    fn registration(name: &str, random: &str, made: i64) -> ClusterRegistration {
        let mut each = ClusterRegistration::named(name);
        each.metadata.namespace = Some("n".to_owned());
        each.metadata.uid = Some("u".to_owned());
        each.metadata.creation_timestamp = Some(Time(Timestamp::from_second(made).unwrap()));
        each.spec.client_id = "my-client".to_owned();
        each.spec.client_random = random.to_owned();
        each
    }

    fn facts(owner: Owner, token: Token) -> Facts {
        Facts {
            owner,
            account: None,
            token,
            reader: Reader::Account {
                account: "tok-1".to_owned(),
                base: "reg".to_owned(),
            },
            others: Vec::new(),
            system_namespace: "cattle-fleet-system".to_owned(),
            registration_namespace: "cattle-fleet-clusters-system".to_owned(),
            ignore_labels: false,
        }
    }

    fn cluster(space: &str) -> Owner {
        let mut cluster = Cluster::named("c");
        cluster.metadata.namespace = Some("n".to_owned());
        cluster.status.get_or_insert_default().namespace = space.to_owned();
        Owner::Known(cluster.into())
    }

    #[test]
    fn a_request_goes_step_by_step() {
        let reg = registration("reg", "r", 1);
        let step = |owner, token| match decide(&reg, &facts(owner, token)) {
            Plan::Refuse { .. } => "refuse",
            Plan::Register(_) => "register",
            Plan::Wait { .. } => "wait",
            Plan::Prepare(prepare) if prepare.ask => "ask",
            Plan::Prepare(_) => "await",
            Plan::Grant(_) => "grant",
        };
        assert_eq!(step(Owner::Taken, Token::Unasked), "refuse");
        assert_eq!(step(Owner::Nobody, Token::Unasked), "register");
        assert_eq!(step(cluster(""), Token::Unasked), "wait");
        assert_eq!(step(cluster("cn"), Token::Unasked), "ask");
        assert_eq!(step(cluster("cn"), Token::Awaited), "await");
        assert_eq!(step(cluster("cn"), Token::Ready("t".to_owned())), "grant");
    }

    #[test]
    fn agents_cannot_set_reserved_labels() {
        let mut reg = registration("reg", "r", 1);
        reg.spec.cluster_labels = [
            ("env", "dev"),
            ("fleet.cattle.io/cluster", "evil"),
            ("management.cattle.io/x", "1"),
            ("fleet.cattle.io/created-by-agent-pod", "pod"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
        let labels = new_cluster(&reg, false).metadata.labels.unwrap();
        let shown: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            shown,
            [
                "env=dev",
                "fleet.cattle.io/cluster=cluster-ea0451815184",
                "fleet.cattle.io/created-by-agent-pod=pod"
            ]
        );
        assert_eq!(new_cluster(&reg, true).metadata.labels.unwrap().len(), 1);
    }

    #[test]
    fn only_older_requests_with_another_secret_are_revoked() {
        let others = [
            registration("a", "x", 1),
            registration("b", "r", 1),
            registration("c", "y", 2),
            registration("d", "z", 3),
        ]
        .map(Arc::new);
        let names: Vec<String> = older(&registration("reg", "r", 2), &others)
            .iter()
            .map(|each| name(&**each).to_owned())
            .collect();
        assert_eq!(names, ["a"]);
    }
}
