//! Fills ClusterRoles that have an aggregation rule with the rules of the ClusterRoles it selects.
//!
//! Mirrors upstream's cluster role aggregation controller. ClusterRoles are few, so all of them are remembered.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::controllers::api::{Error, optional};
use crate::controllers::feed::Change;
use crate::controllers::object::{Meta, Resource};
use crate::controllers::reactor::{Context, Outcome, State, Work};

/// A ClusterRole as far as aggregation needs it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Role {
    labels: BTreeMap<String, String>,
    rules: Value,
    selectors: Option<Vec<Value>>,
}

/// By name, because rules are collected in that order.
pub(crate) type Roles = BTreeMap<String, Role>;

pub(super) fn is_role(resource: &Resource) -> bool {
    resource.group == "rbac.authorization.k8s.io" && resource.plural == "clusterroles"
}

pub(super) fn observe(state: &mut State, change: Change, due: &mut Vec<Work>) {
    match change {
        Change::Present(resource, object) if is_role(&resource) => {
            let role = Role::parse(&object);
            if state.roles.get(Meta(&object).name()) != Some(&role) {
                state.roles.insert(Meta(&object).name().to_owned(), role);
                due.push(Work::Aggregate);
            }
        }
        Change::Gone(resource, object) if is_role(&resource) => {
            state.roles.remove(Meta(&object).name());
            due.push(Work::Aggregate);
        }
        _ => {}
    }
}

pub(super) async fn fill(context: &Context) -> Result<Outcome, Error> {
    let stale = stale(&context.state().roles);
    for (name, rules) in stale {
        let path = format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}");
        optional(context.api.merge(&path, &json!({"rules": rules})).await)?;
    }
    Ok(Outcome::Done)
}

/// The aggregating roles whose rules are not what they should be, with what they should be.
fn stale(roles: &Roles) -> Vec<(String, Value)> {
    let mut stale = Vec::new();
    for (name, role) in roles {
        let Some(selectors) = &role.selectors else { continue };
        let mut wanted: Vec<Value> = Vec::new();
        for selector in selectors {
            for (other_name, other) in roles {
                if other_name == name || !selects(selector, &other.labels) {
                    continue;
                }
                for rule in other.rules.as_array().into_iter().flatten() {
                    if !wanted.contains(rule) {
                        wanted.push(rule.clone());
                    }
                }
            }
        }
        let current = role.rules.as_array().map(Vec::as_slice).unwrap_or_default();
        if current != wanted {
            stale.push((name.clone(), wanted.into()));
        }
    }
    stale
}

fn selects(selector: &Value, labels: &BTreeMap<String, String>) -> bool {
    kubeschema::selector::LabelSelector::from_json(selector).is_ok_and(|selector| selector.matches(labels))
}

impl Role {
    fn parse(object: &Value) -> Self {
        let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
        let selectors = object
            .pointer("/aggregationRule/clusterRoleSelectors")
            .and_then(Value::as_array);
        Self {
            labels: labels
                .into_iter()
                .flatten()
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect(),
            rules: object.get("rules").cloned().unwrap_or_default(),
            selectors: selectors.cloned(),
        }
    }
}
