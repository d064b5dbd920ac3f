//! A URL's path as the resource, object or page it names.
//!
//! Mirrors upstream's `RequestInfo`.

use std::sync::Arc;

use crate::query::decode;
use crate::registry::{Registry, Resource};

/// What a path names.
#[derive(Debug, Clone)]
pub(super) enum Route {
    /// A collection, an object or a subresource.
    Object(Target),
    /// Something without a registered resource behind it: discovery, health and so on.
    Page,
}

/// A path below `/api/v1` or `/apis/GROUP/VERSION` that names a served resource.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) resource: Arc<Resource>,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) subresource: String,
    /// The deprecated `/watch/` form.
    pub(super) watch: bool,
}

/// The parts of a path below a group and version, whether served or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) subresource: String,
    pub(super) watch: bool,
}

/// Splits a path; none if it is not below a group and version.
pub(super) fn split(path: &str) -> Option<Parts> {
    let mut segments: Vec<String> = path.split('/').skip(1).map(|part| decode(part, false)).collect();
    while segments.last().is_some_and(String::is_empty) {
        segments.pop();
    }
    let mut rest = segments.into_iter();
    let mut parts = Parts::default();
    match rest.next()?.as_str() {
        "api" => parts.version = rest.next()?,
        "apis" => {
            parts.group = rest.next()?;
            parts.version = rest.next()?;
        }
        _ => return None,
    }
    let mut rest: Vec<String> = rest.collect();
    if rest.first().is_some_and(|first| first == "watch") {
        parts.watch = true;
        rest.remove(0);
    }
    if rest.first()? == "namespaces"
        && rest.len() > 2
        && !matches!(rest.get(2).map(String::as_str), Some("status" | "finalize"))
    {
        parts.namespace = rest.get(1)?.clone();
        rest.drain(..2);
    }
    let mut rest = rest.into_iter();
    parts.resource = rest.next()?;
    parts.name = rest.next().unwrap_or_default();
    parts.subresource = rest.collect::<Vec<_>>().join("/");
    Some(parts)
}

/// Finds what a path names.
pub(super) fn route(registry: &Registry, path: &str) -> Route {
    let Some(parts) = split(path) else { return Route::Page };
    let Some(resource) = registry.find(&parts.group, &parts.version, &parts.resource) else {
        return Route::Page;
    };
    let object = !parts.name.is_empty();
    let fits = if resource.namespaced {
        // All namespaces can be listed, but an object lives in one.
        !parts.namespace.is_empty() || !object
    } else {
        parts.namespace.is_empty()
    };
    if !fits || !served(resource, &parts.subresource) {
        return Route::Page;
    }
    Route::Object(Target {
        resource: Arc::clone(resource),
        namespace: parts.namespace,
        name: parts.name,
        subresource: parts.subresource,
        watch: parts.watch,
    })
}

/// Whether a subresource is one that is answered; some are only told of, because nothing runs here.
fn served(resource: &Resource, subresource: &str) -> bool {
    let told = matches!(subresource, "attach" | "exec" | "log" | "portforward" | "proxy");
    subresource.is_empty() || (!told && resource.subresources.iter().any(|sub| sub.name == subresource))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> (String, String, String, String, String, String) {
        let parts = split(path).unwrap_or_default();
        (
            parts.group,
            parts.version,
            parts.resource,
            parts.namespace,
            parts.name,
            parts.subresource,
        )
    }

    #[test]
    fn a_path_says_what_it_names() {
        for (path, group, version, resource, namespace, name, subresource) in [
            ("/api/v1/pods", "", "v1", "pods", "", "", ""),
            ("/api/v1/namespaces", "", "v1", "namespaces", "", "", ""),
            ("/api/v1/namespaces/a", "", "v1", "namespaces", "", "a", ""),
            (
                "/api/v1/namespaces/a/finalize",
                "",
                "v1",
                "namespaces",
                "",
                "a",
                "finalize",
            ),
            ("/api/v1/namespaces/a/pods", "", "v1", "pods", "a", "", ""),
            (
                "/apis/apps/v1/namespaces/a/deployments/b/scale",
                "apps",
                "v1",
                "deployments",
                "a",
                "b",
                "scale",
            ),
            ("/apis/x.io/v1/widgets/b/", "x.io", "v1", "widgets", "", "b", ""),
            (
                "/api/v1/watch/namespaces/a/pods/b%2Fc",
                "",
                "v1",
                "pods",
                "a",
                "b/c",
                "",
            ),
        ] {
            let found = parts(path);
            let expected = [group, version, resource, namespace, name, subresource].map(str::to_owned);
            assert_eq!(
                [found.0, found.1, found.2, found.3, found.4, found.5],
                expected,
                "{path}"
            );
        }
        assert_eq!(split("/healthz"), None);
        assert_eq!(split("/apis/apps"), None);
    }

    #[test]
    fn what_cannot_be_is_no_route() {
        let registry = Registry::builtin();
        let is_object = |path: &str| matches!(route(&registry, path), Route::Object(_));
        assert!(is_object("/api/v1/namespaces/a/configmaps/b"));
        assert!(!is_object("/api/v1/configmaps/b"));
        assert!(!is_object("/api/v1/namespaces/a/nodes/b"));
        assert!(!is_object("/api/v1/namespaces/a/pods/b/exec"));
        assert!(!is_object("/apis/none/v1/things"));
    }
}
