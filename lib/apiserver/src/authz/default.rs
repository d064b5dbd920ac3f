//! The roles and bindings that exist from the start, as objects to be created where they are missing.
//!
//! A table of facts read from a real server. Left out are the accounts of Kubernetes' own controllers and of nodes, which
//! do not exist here. Mirrors upstream's RBAC bootstrap policy.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::authz::GROUP;

const TABLE: &str = include_str!("default.json");

#[derive(Deserialize)]
struct Table {
    roles: Vec<Role>,
    bindings: Vec<Binding>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Role {
    name: String,
    #[serde(default)]
    labels: Map<String, Value>,
    #[serde(default)]
    rules: Option<Value>,
    #[serde(default)]
    aggregation_rule: Option<Value>,
}

#[derive(Deserialize)]
struct Binding {
    name: String,
    subjects: Value,
}

/// The ClusterRoles.
#[must_use]
pub fn default_roles() -> Vec<Value> {
    table().roles.into_iter().map(Role::into_object).collect()
}

/// The ClusterRoleBindings; each binds the ClusterRole of the same name.
#[must_use]
pub fn default_bindings() -> Vec<Value> {
    table().bindings.into_iter().map(Binding::into_object).collect()
}

fn table() -> Table {
    serde_json::from_str(TABLE).expect("the table is part of the program and read by its tests")
}

fn object(kind: &str, name: &str, mut labels: Map<String, Value>) -> Value {
    labels.insert("kubernetes.io/bootstrapping".to_owned(), "rbac-defaults".into());
    json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": kind,
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        },
    })
}

impl Role {
    fn into_object(self) -> Value {
        let mut role = object("ClusterRole", &self.name, self.labels);
        // An aggregated role's rules are filled in by the aggregation controller.
        role["rules"] = self.rules.unwrap_or(Value::Null);
        if let Some(rule) = self.aggregation_rule {
            role["aggregationRule"] = rule;
        }
        role
    }
}

impl Binding {
    fn into_object(self) -> Value {
        let mut binding = object("ClusterRoleBinding", &self.name, Map::new());
        binding["roleRef"] = json!({"apiGroup": GROUP, "kind": "ClusterRole", "name": self.name});
        binding["subjects"] = self.subjects;
        binding
    }
}
