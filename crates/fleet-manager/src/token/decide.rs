//! Facts about a token → the objects it should have. Pure.

use std::time::Duration;

use fleet_api::{ClusterRegistrationToken, ClusterRegistrationTokenStatus, condition, labels, names};
use fleet_runtime::clock::{after, between};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::jiff::Timestamp;
use kube::api::ObjectMeta;
use serde_json::{Map, Value};

use super::observe::Facts;
use crate::account::Token;
use crate::objectset::{ObjectSet, Owner, TOKEN};
use crate::shell::{deleting, name, namespace, uid};
use crate::startup::rule;

/// What is to be done for a token.
#[derive(Debug)]
pub(super) enum Plan {
    /// Nothing: it is on its way out, and its objects go with it.
    Leave,
    /// It is expired, or lives for ever where that is forbidden.
    Delete,
    /// Its objects have to be there.
    Keep(Box<Objects>),
}

/// The objects of a token and what its status says once they are there.
#[derive(Debug)]
pub(super) struct Objects {
    pub(super) account: ServiceAccount,
    pub(super) role: Role,
    pub(super) binding: RoleBinding,
    /// Only once the account's token is known.
    pub(super) values: Option<Secret>,
    pub(super) status: ClusterRegistrationTokenStatus,
    /// Time until it expires.
    pub(super) expires_in: Option<Duration>,
}

pub(super) fn decide(token: &ClusterRegistrationToken, facts: &Facts, now: Timestamp) -> Plan {
    if deleting(token) {
        return Plan::Leave;
    }
    let ttl = token.spec.ttl.filter(|ttl| ttl.0 > 0).map(fleet_api::Duration::to_std);
    if facts.ttl_required && ttl.is_none() {
        return Plan::Delete;
    }
    let created = token.metadata.creation_timestamp.as_ref().map_or(now, |time| time.0);
    let end = ttl.map(|ttl| after(created, ttl));
    if end.is_some_and(|end| now > end) {
        return Plan::Delete;
    }
    // A ttl of zero is shown as having ended at once, and means for ever; upstream's choice.
    let shown = token.spec.ttl.map(|ttl| after(created, ttl.to_std()));
    let set = ObjectSet::new(TOKEN, Some(Owner::of(token)));
    let account = names::service_account(name(token), uid(token));
    let values = match &facts.token {
        Token::Ready(text) => Some(set.mark(values(token, text, facts))),
        Token::Unasked | Token::Awaited => None,
    };
    Plan::Keep(Box::new(Objects {
        status: ClusterRegistrationTokenStatus {
            expires: shown.map(condition::rfc3339),
            secret_name: values.as_ref().map(|_| name(token).to_owned()).unwrap_or_default(),
        },
        expires_in: end.map(|end| between(now, end) + Duration::from_secs(1)),
        role: set.mark(role(namespace(token), &account)),
        binding: set.mark(binding(namespace(token), &account)),
        account: set.mark(ServiceAccount {
            metadata: managed(namespace(token), &account),
            ..ServiceAccount::default()
        }),
        values,
    }))
}

fn managed(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(namespace.to_owned()),
        labels: Some([(labels::MANAGED.to_owned(), "true".to_owned())].into()),
        ..ObjectMeta::default()
    }
}

fn role(namespace: &str, account: &str) -> Role {
    Role {
        metadata: managed(namespace, &names::token_role(account)),
        rules: Some(vec![rule(fleet_api::GROUP, &["clusterregistrations"], &["create"])]),
    }
}

fn binding(namespace: &str, account: &str) -> RoleBinding {
    RoleBinding {
        metadata: managed(namespace, &names::token_role_binding(account)),
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "Role".to_owned(),
            name: names::token_role(account),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: account.to_owned(),
            namespace: Some(namespace.to_owned()),
            api_group: None,
        }]),
    }
}

/// The secret that is the values file of the agent's chart.
fn values(token: &ClusterRegistrationToken, account_token: &str, facts: &Facts) -> Secret {
    let mut values = Map::new();
    let mut put = |key: &str, value: &str| values.insert(key.to_owned(), Value::String(value.to_owned()));
    put("apiServerURL", &facts.config.api_server_url);
    put("apiServerCA", &facts.config.api_server_ca);
    put("clusterNamespace", namespace(token));
    put("systemRegistrationNamespace", &facts.registration_namespace);
    put("token", account_token);
    put("tokenName", name(token));
    if facts.system_namespace != labels::SYSTEM_NAMESPACE {
        values.insert(
            "internal".to_owned(),
            serde_json::json!({"systemNamespace": facts.system_namespace}),
        );
    }
    let text = goyaml::to_yaml(&Value::Object(values)).unwrap_or_default();
    Secret {
        metadata: managed(namespace(token), name(token)),
        type_: Some(labels::SECRET_REGISTRATION_VALUES.to_owned()),
        data: Some([("values".to_owned(), ByteString(text.into_bytes()))].into()),
        ..Secret::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    fn facts(ttl_required: bool, token: Token) -> Facts {
        Facts {
            account: None,
            token,
            role: None,
            binding: None,
            values: None,
            config: Config::default().into(),
            system_namespace: labels::SYSTEM_NAMESPACE.to_owned(),
            registration_namespace: "r".to_owned(),
            ttl_required,
        }
    }

    fn token(ttl: Option<&str>) -> ClusterRegistrationToken {
        let mut token = ClusterRegistrationToken::named("tok");
        token.metadata.namespace = Some("n".to_owned());
        token.metadata.uid = Some("u".to_owned());
        token.metadata.creation_timestamp = Some(Time(Timestamp::from_second(1000).unwrap()));
        token.spec.ttl = ttl.and_then(fleet_api::Duration::parse);
        token
    }

    #[test]
    fn a_token_is_kept_as_long_as_it_lives() {
        let kept = |ttl, required, at| {
            let plan = decide(
                &token(ttl),
                &facts(required, Token::Awaited),
                Timestamp::from_second(at).unwrap(),
            );
            matches!(plan, Plan::Keep(_))
        };
        for (ttl, required, at, expected) in [
            (Some("1h"), false, 4600, true),
            (Some("1h"), false, 4601, false),
            (None, false, 1_000_000, true),
            (None, true, 1000, false),
            (Some("0"), false, 9999, true),
            (Some("0"), true, 1000, false),
            (Some("1h"), true, 1000, true),
        ] {
            assert_eq!(kept(ttl, required, at), expected, "{ttl:?} {required} {at}");
        }
    }

    #[test]
    fn values_wait_for_the_accounts_token() {
        let now = Timestamp::from_second(1000).unwrap();
        let objects = |state| match decide(&token(Some("1h")), &facts(false, state), now) {
            Plan::Keep(objects) => objects,
            other => panic!("{other:?}"),
        };
        assert!(objects(Token::Awaited).values.is_none());
        let ready = objects(Token::Ready("secret".to_owned()));
        assert_eq!(ready.status.secret_name, "tok");
        assert_eq!(ready.status.expires.as_deref(), Some("1970-01-01T01:16:40Z"));
        assert_eq!(ready.expires_in, Some(Duration::from_secs(3601)));
    }
}
