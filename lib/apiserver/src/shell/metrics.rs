//! How many requests there were, as text that monitoring systems read.
//!
//! Mirrors upstream's `apiserver_request_total` with its labels, so that one client can count the requests of both.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use crate::registry::Resource;

/// Content type of the text.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Counts of requests to objects. The number of entries is bounded by what is served, not by what is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Requests(Arc<Mutex<BTreeMap<Key, u64>>>);

/// What is counted apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    group: String,
    version: String,
    resource: String,
    subresource: String,
    verb: &'static str,
    code: u16,
}

impl Key {
    /// A request whose answer is not known yet; `verb` as authorization calls it.
    pub(super) fn new(resource: &Resource, subresource: &str, verb: &str, applying: bool) -> Self {
        let verb = match verb {
            "patch" if applying => "APPLY",
            "get" => "GET",
            "list" => "LIST",
            "watch" => "WATCH",
            "create" => "POST",
            "update" => "PUT",
            "patch" => "PATCH",
            "delete" => "DELETE",
            "deletecollection" => "DELETECOLLECTION",
            _ => "other",
        };
        Self {
            group: resource.group.clone(),
            version: resource.version.clone(),
            resource: resource.plural.clone(),
            subresource: subresource.to_owned(),
            verb,
            code: 0,
        }
    }
}

impl Requests {
    /// Counts a request that was answered with a code.
    pub(super) fn count(&self, key: Key, code: u16) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(Key { code, ..key }).or_default() += 1;
    }

    /// The counts as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "# HELP apiserver_request_total Counter of apiserver requests broken out for each verb, group, version, resource, \
             subresource and HTTP response code.\n# TYPE apiserver_request_total counter\n",
        );
        for (key, count) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            let Key {
                group,
                version,
                resource,
                subresource,
                verb,
                code,
            } = key;
            // Writing into memory cannot fail; names of kinds hold nothing that would have to be escaped.
            let _ = writeln!(
                text,
                "apiserver_request_total{{code=\"{code}\",group=\"{group}\",resource=\"{resource}\",\
                 subresource=\"{subresource}\",verb=\"{verb}\",version=\"{version}\"}} {count}"
            );
        }
        text
    }
}
