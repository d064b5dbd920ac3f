//! Groups that are Kubernetes' own: definitions in them say who approved them.
//!
//! Mirrors upstream's API approval policy: an annotation holds the address of the approval, or says that there is none.

use kubeschema::field::FieldError;
use serde_json::Value;

/// Says where a definition was approved.
const ANNOTATION: &str = "api-approved.kubernetes.io";

/// Where the policy is written down.
const POLICY: &str = "https://github.com/kubernetes/enhancements/pull/1111";

/// What a definition says about its approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    /// At this address.
    Given(String),
    /// None is asked for, in these words.
    Waived(String),
    /// Nothing.
    Missing,
    /// Something else.
    Unclear(String),
}

/// The approval of a definition; none if its group needs none.
pub(crate) fn of(definition: &Value) -> Option<Approval> {
    let group = definition["spec"]["group"].as_str().unwrap_or_default();
    let own = ["k8s.io", "kubernetes.io"];
    if !own.iter().any(|domain| {
        group
            .strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }) {
        return None;
    }
    let text = definition["metadata"]["annotations"][ANNOTATION]
        .as_str()
        .unwrap_or_default();
    Some(if text.is_empty() {
        Approval::Missing
    } else if text.starts_with("unapproved") {
        Approval::Waived(text.to_owned())
    } else if is_address(text) {
        Approval::Given(text.to_owned())
    } else {
        Approval::Unclear(text.to_owned())
    })
}

/// Refuses a definition without approval, unless it was stored like that.
pub(super) fn check(definition: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let Some(now) = of(definition) else { return };
    if old.and_then(of).as_ref() == Some(&now) {
        return;
    }
    let field = format!("metadata.annotations[{ANNOTATION}]");
    let must = format!("protected groups must have approval annotation {ANNOTATION:?}");
    match now {
        Approval::Missing => errors.push(FieldError::required(field, format!("{must}, see {POLICY}"))),
        Approval::Unclear(text) => {
            let why = format!("{must} with either a URL or a reason starting with \"unapproved\", see {POLICY}");
            errors.push(FieldError::invalid(field, text, why));
        }
        Approval::Given(_) | Approval::Waived(_) => {}
    }
}

fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
            && !host.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(group: &str, annotation: Option<&str>) -> Value {
        json!({"metadata": {"annotations": {ANNOTATION: annotation}}, "spec": {"group": group}})
    }

    fn told(definition: &Value, old: Option<&Value>) -> Vec<String> {
        let mut errors = Vec::new();
        check(definition, old, &mut errors);
        errors.iter().map(|error| error.kind.reason().to_owned()).collect()
    }

    #[test]
    fn only_kubernetes_groups_need_an_approval() {
        for group in ["example.com", "xk8s.io", "k8s.io.example.com"] {
            assert_eq!(of(&definition(group, None)), None, "{group}");
        }
        for group in [
            "k8s.io",
            "kubernetes.io",
            "gateway.networking.k8s.io",
            "a.kubernetes.io",
        ] {
            assert_eq!(of(&definition(group, None)), Some(Approval::Missing), "{group}");
        }
    }

    #[test]
    fn an_approval_is_an_address_or_a_waiver() {
        let told_of = |annotation| told(&definition("x.k8s.io", annotation), None);
        assert_eq!(told_of(None), ["FieldValueRequired"]);
        assert_eq!(told_of(Some("nonsense")), ["FieldValueInvalid"]);
        assert_eq!(told_of(Some("http//x")), ["FieldValueInvalid"]);
        assert!(told_of(Some("unapproved, experimental")).is_empty());
        assert!(told_of(Some("https://github.com/x/y/pull/1")).is_empty());
    }

    #[test]
    fn what_was_stored_without_approval_stays_so() {
        let (without, with) = (
            definition("x.k8s.io", None),
            definition("x.k8s.io", Some("https://a.b/c")),
        );
        assert!(told(&without, Some(&without)).is_empty());
        assert_eq!(told(&without, Some(&with)), ["FieldValueRequired"]);
    }
}
