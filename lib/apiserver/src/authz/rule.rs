//! One rule of a role: what it lets through, and whether it covers another rule.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::access::Attributes;

/// A rule as stored. Empty lists are absent ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Rule {
    #[serde(deserialize_with = "nullable")]
    pub(crate) verbs: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    pub(crate) api_groups: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    pub(crate) resources: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    pub(crate) resource_names: Vec<String>,
    #[serde(rename = "nonResourceURLs", deserialize_with = "nullable")]
    pub(crate) non_resource_urls: Vec<String>,
}

fn nullable<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::<Vec<String>>::deserialize(deserializer)?.unwrap_or_default())
}

impl Rule {
    /// The rules of a role object. What is no rule grants nothing.
    pub(crate) fn list(rules: Option<&Value>) -> Vec<Rule> {
        let rules = rules.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        rules.iter().filter_map(|rule| Rule::deserialize(rule).ok()).collect()
    }

    /// Whether the rule lets a request through.
    pub(crate) fn allows(&self, request: &Attributes) -> bool {
        if !has(&self.verbs, &request.verb) {
            return false;
        }
        if request.resource.is_empty() {
            return self
                .non_resource_urls
                .iter()
                .any(|pattern| url_matches(pattern, &request.path));
        }
        has(&self.api_groups, &request.group)
            && self
                .resources
                .iter()
                .any(|pattern| resource_matches(pattern, &request.resource, &request.subresource))
            && (self.resource_names.is_empty() || self.resource_names.contains(&request.name))
    }

    /// Whether everything the single-valued rule `part` grants is granted by this one.
    pub(crate) fn covers(&self, part: &Rule) -> bool {
        let all = |have: &[String], want: &[String]| want.iter().all(|one| has(have, one));
        if !all(&self.verbs, &part.verbs) {
            return false;
        }
        if !part.non_resource_urls.is_empty() {
            return part.non_resource_urls.iter().all(|url| {
                self.non_resource_urls
                    .iter()
                    .any(|pattern| pattern == url || url_matches(pattern, url))
            });
        }
        let names = self.resource_names.is_empty()
            || (!part.resource_names.is_empty()
                && part
                    .resource_names
                    .iter()
                    .all(|name| self.resource_names.contains(name)));
        let resources = part.resources.iter().all(|want| {
            let (resource, subresource) = want.split_once('/').unwrap_or((want, ""));
            self.resources
                .iter()
                .any(|have| have == want || resource_matches(have, resource, subresource))
        });
        names && resources && !part.resources.is_empty() && all(&self.api_groups, &part.api_groups)
    }

    /// The rule as rules of one verb and one resource (or URL) each.
    pub(crate) fn parts(&self) -> Vec<Rule> {
        let mut parts = Vec::new();
        for verb in &self.verbs {
            let verbs = vec![verb.clone()];
            for url in &self.non_resource_urls {
                parts.push(Rule {
                    verbs: verbs.clone(),
                    non_resource_urls: vec![url.clone()],
                    ..Rule::default()
                });
            }
            for group in &self.api_groups {
                for resource in &self.resources {
                    let part = Rule {
                        verbs: verbs.clone(),
                        api_groups: vec![group.clone()],
                        resources: vec![resource.clone()],
                        ..Rule::default()
                    };
                    if self.resource_names.is_empty() {
                        parts.push(part);
                        continue;
                    }
                    parts.extend(self.resource_names.iter().map(|name| Rule {
                        resource_names: vec![name.clone()],
                        ..part.clone()
                    }));
                }
            }
        }
        parts
    }

    /// The short text of refusals: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`.
    pub(crate) fn text(&self) -> String {
        let fields = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let fields: Vec<String> = fields
            .iter()
            .filter(|(_, values)| !values.is_empty())
            .map(|(name, values)| format!("{name}:{}", quoted(values)))
            .collect();
        format!("{{{}}}", fields.join(", "))
    }

    /// The rule as SelfSubjectRulesReview shows it.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({"verbs": self.verbs});
        let fields = [
            ("apiGroups", &self.api_groups),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.non_resource_urls),
        ];
        for (name, values) in fields {
            if !values.is_empty() {
                value[name] = json!(values);
            }
        }
        value
    }
}

/// `["a" "b"]`, as Go prints a list of quoted strings.
pub(crate) fn quoted(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("[{}]", values.join(" "))
}

fn has(list: &[String], value: &str) -> bool {
    list.iter().any(|one| one == "*" || one == value)
}

fn resource_matches(pattern: &str, resource: &str, subresource: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    match pattern.split_once('/') {
        None => subresource.is_empty() && pattern == resource,
        Some((left, right)) => !subresource.is_empty() && right == subresource && (left == "*" || left == resource),
    }
}

fn url_matches(pattern: &str, url: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => url.starts_with(prefix),
        None => pattern == url,
    }
}
