//! Policies and GitRepoRestrictions of a namespace → one set of rules, and what a GitRepo or a
//! Bundle does against them. Pure. Upstream's concept: restrictions of the gitops reconciler and
//! the bundle policy. Words are upstream's, because users search for them.

use std::sync::Arc;

use fleet_api::{BundleSpec, GitRepoRestriction, GitRepoSpec, Policy};
use fleet_plan::NamespacePolicy;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// All rules of one namespace.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rules {
    require_service_account: bool,
    allow_namespace_creation: bool,
    service_accounts: Vec<String>,
    client_secrets: Vec<String>,
    /// Unanchored patterns of restrictions.
    loose_patterns: Vec<String>,
    /// Anchored patterns of policies.
    strict_patterns: Vec<String>,
    target_namespaces: Vec<String>,
    selector: Option<LabelSelector>,
    default_service_account: String,
    default_client_secret: String,
    /// Accounts that policies allow; restrictions bind GitRepos only.
    policy_accounts: Vec<String>,
}

fn first(into: &mut String, from: &str) {
    if into.is_empty() {
        from.clone_into(into);
    }
}

impl Rules {
    pub(crate) fn new(policies: &[Arc<Policy>], restrictions: &[Arc<GitRepoRestriction>]) -> Self {
        let mut rules = Self::default();
        for each in restrictions {
            first(&mut rules.default_service_account, &each.default_service_account);
            first(&mut rules.default_client_secret, &each.default_client_secret_name);
            rules
                .service_accounts
                .extend(each.allowed_service_accounts.iter().cloned());
            rules
                .client_secrets
                .extend(each.allowed_client_secret_names.iter().cloned());
            rules.loose_patterns.extend(each.allowed_repo_patterns.iter().cloned());
            rules
                .target_namespaces
                .extend(each.allowed_target_namespaces.iter().cloned());
            if let Some(selector) = &each.allowed_target_namespace_selector {
                merge(rules.selector.get_or_insert_default(), selector);
            }
        }
        for each in policies {
            rules.require_service_account |= each.require_service_account;
            rules.allow_namespace_creation |= each.allow_namespace_creation;
            rules
                .service_accounts
                .extend(each.allowed_service_accounts.iter().cloned());
            rules
                .policy_accounts
                .extend(each.allowed_service_accounts.iter().cloned());
            if let Some(git) = &each.git_repo {
                first(&mut rules.default_service_account, &git.default_service_account);
                first(&mut rules.default_client_secret, &git.default_client_secret_name);
                rules
                    .client_secrets
                    .extend(git.allowed_client_secret_names.iter().cloned());
                rules.strict_patterns.extend(git.allowed_repo_patterns.iter().cloned());
            }
        }
        rules
    }

    /// What the plan has to know.
    pub(crate) fn for_deployments(&self) -> NamespacePolicy {
        NamespacePolicy {
            forbid_namespace_creation: self.require_service_account && !self.allow_namespace_creation,
            target_namespace_selector: self.selector.clone(),
        }
    }

    /// The spec with defaults filled in, or what is wrong with it.
    pub(crate) fn check_repository(&self, spec: &GitRepoSpec) -> Result<GitRepoSpec, String> {
        if (!self.target_namespaces.is_empty() || self.selector.is_some()) && spec.target_namespace.is_empty() {
            return Err(
                "empty targetNamespace denied, because allowedTargetNamespaces restriction is present".to_owned(),
            );
        }
        let mut spec = spec.clone();
        first(&mut spec.service_account, &self.default_service_account);
        first(&mut spec.client_secret_name, &self.default_client_secret);
        allowed("targetNamespace", &spec.target_namespace, &self.target_namespaces)?;
        allowed("serviceAccount", &spec.service_account, &self.service_accounts)?;
        self.check_url(&spec.repo)?;
        allowed("clientSecretName", &spec.client_secret_name, &self.client_secrets)?;
        if self.require_service_account && spec.service_account.is_empty() {
            return Err("serviceAccount is required by Policy but is not set".to_owned());
        }
        Ok(spec)
    }

    fn check_url(&self, url: &str) -> Result<(), String> {
        if url.is_empty() || (self.loose_patterns.is_empty() && self.strict_patterns.is_empty()) {
            return Ok(());
        }
        for pattern in &self.loose_patterns {
            if pattern == url || expression(pattern)?.is_match(url) {
                return Ok(());
            }
        }
        for pattern in &self.strict_patterns {
            if pattern == url || expression(&format!("^(?:{pattern})$"))?.is_match(url) {
                return Ok(());
            }
        }
        let all: Vec<String> = self
            .loose_patterns
            .iter()
            .chain(&self.strict_patterns)
            .cloned()
            .collect();
        Err(refusal("repo", url, &all))
    }

    /// What is wrong with a bundle, wherever it comes from.
    pub(crate) fn check_bundle(&self, spec: &BundleSpec) -> Result<(), String> {
        let own = &spec.options.service_account;
        if self.require_service_account && own.is_empty() {
            return Err("serviceAccount is required by Policy but is not set on the Bundle".to_owned());
        }
        allowed("serviceAccount", own, &self.policy_accounts)?;
        spec.targets.iter().try_for_each(|target| {
            let theirs = &target.options.service_account;
            allowed("serviceAccount", theirs, &self.policy_accounts).map_err(|_| {
                let list = self.policy_accounts.join(" ");
                format!(
                    "disallowed serviceAccount {theirs} in target {}: {theirs} not in allowed set [{list}]",
                    target.name
                )
            })
        })
    }
}

fn expression(pattern: &str) -> Result<regex::Regex, String> {
    regex::Regex::new(pattern)
        .map_err(|_| format!("the pattern '{pattern}' of a policy or restriction is no regular expression"))
}

fn allowed(field: &str, value: &str, list: &[String]) -> Result<(), String> {
    if value.is_empty() || list.is_empty() || list.iter().any(|each| each == value) {
        return Ok(());
    }
    Err(refusal(field, value, list))
}

fn refusal(field: &str, value: &str, list: &[String]) -> String {
    format!(
        "disallowed {field} {value}: {value} not in allowed set [{}]",
        list.join(" ")
    )
}

fn merge(into: &mut LabelSelector, from: &LabelSelector) {
    if let Some(labels) = &from.match_labels {
        into.match_labels.get_or_insert_default().extend(labels.clone());
    }
    for each in from.match_expressions.iter().flatten() {
        let all = into.match_expressions.get_or_insert_default();
        if !all.contains(each) {
            all.push(each.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules(policy: serde_json::Value, restriction: serde_json::Value) -> Rules {
        let policies = [Arc::new(serde_json::from_value(policy).unwrap())];
        Rules::new(&policies, &[Arc::new(serde_json::from_value(restriction).unwrap())])
    }

    #[test]
    fn a_repository_passes_loose_or_strict_patterns() {
        let rules = rules(
            json!({"gitRepo": {"allowedRepoPatterns": ["https://good/.*"]}}),
            json!({"allowedRepoPatterns": ["exact"]}),
        );
        for (url, fine) in [
            ("https://good/x", true),
            ("https://evil/https://good/x", false),
            ("an-exact-one", true),
            ("no", false),
        ] {
            assert_eq!(rules.check_url(url).is_ok(), fine, "{url}");
        }
        assert_eq!(
            rules.check_url("no").unwrap_err(),
            "disallowed repo no: no not in allowed set [exact https://good/.*]"
        );
    }

    #[test]
    fn a_bundle_needs_an_allowed_account_in_every_target() {
        let rules = rules(
            json!({"requireServiceAccount": true, "allowedServiceAccounts": ["good"]}),
            json!({}),
        );
        let check = |spec: serde_json::Value| rules.check_bundle(&serde_json::from_value(spec).unwrap());
        assert!(check(json!({})).is_err());
        assert!(check(json!({"serviceAccount": "bad"})).is_err());
        assert!(check(json!({"serviceAccount": "good"})).is_ok());
        assert_eq!(
            check(json!({"serviceAccount": "good", "targets": [{"name": "t", "serviceAccount": "root"}]})).unwrap_err(),
            "disallowed serviceAccount root in target t: root not in allowed set [good]"
        );
    }

    #[test]
    fn defaults_are_filled_in_and_checked() {
        let rules = rules(
            json!({"requireServiceAccount": true}),
            json!({"defaultServiceAccount": "a", "allowedServiceAccounts": ["a"], "allowedTargetNamespaces": ["t"]}),
        );
        let spec = |service_account: &str, target: &str| GitRepoSpec {
            service_account: service_account.to_owned(),
            target_namespace: target.to_owned(),
            ..GitRepoSpec::default()
        };
        assert_eq!(rules.check_repository(&spec("", "t")).unwrap().service_account, "a");
        assert!(rules.check_repository(&spec("b", "t")).is_err());
        assert!(rules.check_repository(&spec("a", "")).is_err());
        assert!(rules.for_deployments().forbid_namespace_creation);
    }
}
