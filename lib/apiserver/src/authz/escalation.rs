//! Nobody can grant what they do not hold: the check before a role or binding is written.
//!
//! Passed by members of `system:masters`, by holders of the verbs `escalate` (roles) and `bind` (bindings), and by
//! writes that change no rights. Mirrors the policy-based storage of upstream's RBAC registry.

use serde_json::Value;

use crate::access::{Attributes, Authorizer, User};
use crate::authz::rbac::{Rbac, missing_roles};
use crate::authz::rule::{Rule, quoted};
use crate::authz::{GROUP, MASTERS};
use crate::status::Status;

impl Rbac {
    /// Whether `user` may write `new` over `old` (none: create). To be asked for the group
    /// `rbac.authorization.k8s.io` after ordinary authorization and validation, with the object as it will be stored.
    ///
    /// # Errors
    /// 403 with the rules that the user lacks, 404 if the role of a binding does not exist.
    pub fn check_write(
        &self,
        user: &User,
        resource: &str,
        namespace: &str,
        new: &Value,
        old: Option<&Value>,
    ) -> Result<(), Box<Status>> {
        if user.groups.iter().any(|group| group == MASTERS) {
            return Ok(());
        }
        let write = Write {
            user,
            resource,
            namespace,
            new,
            old,
        };
        match resource {
            "roles" | "clusterroles" => {
                let target = ("escalate", resource, name(new));
                let aggregates = new.get("aggregationRule").is_some_and(|rule| !rule.is_null());
                if aggregates
                    && !write.keeps("aggregationRule")
                    && !self.holds(user, target.0, resource, namespace, target.2)
                    && self.confirm(user, namespace, &everything()).is_err()
                {
                    // Whoever aggregates may get anything that others label.
                    let why = "must have cluster-admin privileges to use the aggregationRule";
                    return Err(Box::new(Status::forbidden(GROUP, resource, target.2, why)));
                }
                self.check(&write, ["rules", "aggregationRule"], target, || {
                    Ok(Rule::list(new.get("rules")))
                })
            }
            "rolebindings" | "clusterrolebindings" => {
                let role = |field: &str| new["roleRef"][field].as_str().unwrap_or_default();
                let (role_resource, role_namespace) = if role("kind") == "Role" {
                    ("roles", namespace)
                } else {
                    ("clusterroles", "")
                };
                let target = ("bind", role_resource, role("name"));
                self.check(&write, ["roleRef", "subjects"], target, || {
                    self.rules_of_role(role_namespace, role("name"))
                        .map(|rules| rules.to_vec())
                        .ok_or_else(|| Box::new(Status::not_found(GROUP, resource, role("name"))))
                })
            }
            _ => Ok(()),
        }
    }

    /// Passes writes that keep both fields and users who hold a verb on a role; others have to hold the `rules`.
    fn check(
        &self,
        write: &Write<'_>,
        fields: [&str; 2],
        (verb, resource, role): (&str, &str, &str),
        rules: impl FnOnce() -> Result<Vec<Rule>, Box<Status>>,
    ) -> Result<(), Box<Status>> {
        let kept = fields.iter().all(|field| write.keeps(field));
        if kept || self.holds(write.user, verb, resource, write.namespace, role) {
            return Ok(());
        }
        self.confirm(write.user, write.namespace, &rules()?)
            .map_err(|why| Box::new(Status::forbidden(GROUP, write.resource, name(write.new), &why)))
    }

    fn holds(&self, user: &User, verb: &str, resource: &str, namespace: &str, name: &str) -> bool {
        let attributes = Attributes {
            verb: verb.to_owned(),
            group: GROUP.to_owned(),
            version: "v1".to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Attributes::default()
        };
        self.authorize(user, &attributes).allowed
    }

    /// Whether the user's own rules cover `rules`; else the text that lists what is missing.
    fn confirm(&self, user: &User, namespace: &str, rules: &[Rule]) -> Result<(), String> {
        let grants = self.grants(user, namespace);
        let own: Vec<&Rule> = grants
            .iter()
            .filter_map(|grant| grant.rules.as_deref())
            .flatten()
            .collect();
        let mut missing: Vec<Rule> = rules
            .iter()
            .flat_map(Rule::parts)
            .filter(|part| !own.iter().any(|rule| rule.covers(part)))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        missing = compact(missing);
        let mut lines: Vec<String> = missing.iter().map(Rule::text).collect();
        lines.sort_unstable();
        lines.dedup();
        let mut text = format!(
            "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
            user.name,
            quoted(&user.groups),
            lines.join("\n")
        );
        let errors = missing_roles(&grants);
        if !errors.is_empty() {
            text.push_str(&format!("; resolution errors: [{}]", errors.join(", ")));
        }
        Err(text)
    }
}

/// A role or binding that is to be written.
struct Write<'a> {
    user: &'a User,
    resource: &'a str,
    namespace: &'a str,
    new: &'a Value,
    old: Option<&'a Value>,
}

impl Write<'_> {
    /// Whether a field stays what it was.
    fn keeps(&self, field: &str) -> bool {
        self.old.is_some_and(|old| old.get(field) == self.new.get(field))
    }
}

/// Single-valued rules joined where only the verb differs.
fn compact(parts: Vec<Rule>) -> Vec<Rule> {
    let mut joined: Vec<Rule> = Vec::new();
    for part in parts {
        let same = joined.iter_mut().find(|other| {
            other.api_groups == part.api_groups
                && other.resources == part.resources
                && other.resource_names == part.resource_names
                && other.non_resource_urls == part.non_resource_urls
                && part.non_resource_urls.is_empty()
        });
        match same {
            Some(other) => other.verbs.extend(
                part.verbs
                    .into_iter()
                    .filter(|verb| !other.verbs.contains(verb))
                    .collect::<Vec<_>>(),
            ),
            None => joined.push(part),
        }
    }
    joined
}

fn everything() -> [Rule; 2] {
    let all = || vec!["*".to_owned()];
    [
        Rule {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            ..Rule::default()
        },
        Rule {
            verbs: all(),
            non_resource_urls: all(),
            ..Rule::default()
        },
    ]
}

fn name(object: &Value) -> &str {
    object
        .pointer("/metadata/name")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
