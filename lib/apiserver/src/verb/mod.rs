//! What can be done with objects: one file per verb. A verb reads a [`Request`] and gives an [`Answer`]; it knows
//! neither paths nor output forms.
//!
//! Mirrors upstream's generic registry store with its REST strategies.

mod access;
mod bind;
mod bootstrap;
mod class;
mod create;
mod delete;
mod intake;
mod list;
mod namespace;
mod options;
mod patch;
mod priority;
mod review;
mod scale;
mod selection;
mod service;
mod strategy;
mod update;
mod watch;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::access::User;
use crate::cluster::Cluster;
use crate::query::Query;
use crate::registry::Resource;
use crate::status::Status;
use crate::store::Entry;

pub(crate) use bind::bind;
pub(crate) use create::create;
pub(crate) use delete::{delete, delete_collection, evict, remove};

pub(crate) use bootstrap::ensure_defaults;
pub(crate) use list::{get, list};
pub(crate) use review::review;
pub(crate) use service::Taken;
pub(crate) use update::{patch as change, replace};
pub(crate) use watch::{Change, Item, Watch, watch};

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Yaml,
    Protobuf,
    JsonPatch,
    MergePatch,
    StrategicPatch,
    ApplyPatch,
    Unknown,
}

/// What is asked for, after routing.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) user: User,
    pub(crate) resource: Arc<Resource>,
    /// Empty for cluster scope and for all namespaces.
    pub(crate) namespace: String,
    /// Empty for collections.
    pub(crate) name: String,
    /// Empty for the object itself.
    pub(crate) subresource: String,
    pub(crate) query: Query,
    pub(crate) media: Media,
    pub(crate) body: Bytes,
    /// What the client calls itself, the default for the field manager.
    pub(crate) agent: String,
}

/// What a verb gives back.
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) content: Content,
    /// Texts for `Warning` headers.
    pub(crate) warnings: Vec<String>,
}

/// The payload of an [`Answer`].
pub(crate) enum Content {
    /// One object; revision 0 leaves `resourceVersion` out.
    Object(Arc<Resource>, Entry),
    /// A list.
    List(List),
    /// A value of its own kind, written as it is.
    Value(Value),
    /// A watch.
    Watch(Box<Watch>),
}

/// A list of objects of one resource.
pub(crate) struct List {
    pub(crate) resource: Arc<Resource>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) revision: u64,
    pub(crate) next: String,
    pub(crate) remaining: Option<u64>,
}

impl Answer {
    pub(crate) fn new(code: u16, content: Content) -> Self {
        Self {
            code,
            content,
            warnings: Vec::new(),
        }
    }

    /// One object after a write or a read.
    pub(crate) fn object(code: u16, resource: &Arc<Resource>, entry: Entry) -> Self {
        Self::new(code, Content::Object(Arc::clone(resource), entry))
    }
}

impl Request {
    /// The object's key.
    pub(crate) fn key(&self) -> Arc<str> {
        self.resource.key(&self.namespace, &self.name)
    }

    /// The field manager's name.
    pub(crate) fn manager(&self) -> String {
        match self.query.get("fieldManager") {
            "" => self
                .agent
                .split('/')
                .next()
                .unwrap_or_default()
                .chars()
                .take(128)
                .collect(),
            name => name.to_owned(),
        }
    }

    pub(crate) fn not_found(&self) -> Box<Status> {
        Box::new(Status::not_found(
            &self.resource.group,
            &self.resource.plural,
            &self.name,
        ))
    }

    pub(crate) fn modified(&self) -> Box<Status> {
        Box::new(Status::modified(
            &self.resource.group,
            &self.resource.plural,
            &self.name,
        ))
    }

    pub(crate) fn conflict(&self, why: &str) -> Box<Status> {
        Box::new(Status::conflict(
            &self.resource.group,
            &self.resource.plural,
            &self.name,
            why,
        ))
    }

    pub(crate) fn forbidden(&self, name: &str, why: &str) -> Box<Status> {
        Box::new(Status::forbidden(
            &self.resource.group,
            &self.resource.plural,
            name,
            why,
        ))
    }

    pub(crate) fn invalid(&self, name: &str, causes: Vec<crate::status::Cause>) -> Box<Status> {
        // Events are judged as what they are in the group they come from.
        let group = match self.resource.group.as_str() {
            "events.k8s.io" => "",
            group => group,
        };
        Box::new(Status::invalid(group, &self.resource.kind, name, causes))
    }

    /// The manager record of a write now.
    pub(crate) fn writer(&self, cluster: &Cluster) -> crate::apply::Manager {
        crate::apply::Manager {
            name: self.manager(),
            subresource: self.subresource.clone(),
            time: cluster.timestamp(),
        }
    }
}
