//! Everything that happens to the objects of one resource, as a stream of changes.
//!
//! One list in pages, then a watch that goes on from there, over and over. Nothing is kept per object: what was deleted
//! while no watch ran is not reported one by one, but [`Change::Listed`] says that it may have happened.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use crate::controllers::api::{Api, Error};
use crate::controllers::object::{Meta, Resource};

/// Objects per page: enough to be quick, little enough to be small.
const PAGE: usize = 500;

/// Wait before the next attempt after an error, so that a resource that went away costs little until its feed ends.
const PAUSE: Duration = Duration::from_millis(200);

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Change {
    /// The object exists and looks like this.
    Present(Arc<Resource>, Value),
    /// The object is gone; this is how it last looked.
    Gone(Arc<Resource>, Value),
    /// Everything that exists was reported as present; what was known besides may be gone.
    Listed(Arc<Resource>),
}

/// How a feed asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// `Accept` of lists.
    pub(crate) list: &'static str,
    /// `Accept` of watches.
    pub(crate) watch: &'static str,
}

/// Reports changes until the receiver is gone.
pub(crate) async fn follow(api: Api, resource: Arc<Resource>, form: Form, changes: mpsc::Sender<Change>) {
    let mut position = None;
    while !changes.is_closed() {
        let result = match position.take() {
            None => list(&api, &resource, form, &changes).await,
            Some(version) => watch(&api, &resource, form, &changes, version).await,
        };
        match result {
            Ok(next) => position = next,
            Err(error) => {
                tracing::debug!(resource = %resource.dotted(), error = %error, "cannot follow");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Lists everything and gives the version to watch from.
async fn list(
    api: &Api,
    resource: &Arc<Resource>,
    form: Form,
    changes: &mpsc::Sender<Change>,
) -> Result<Option<String>, Error> {
    let path = resource.path("");
    let mut token = String::new();
    loop {
        let mut page = api
            .get(&format!("{path}?limit={PAGE}&continue={}", encoded(&token)), form.list)
            .await?;
        let items = page
            .get_mut("items")
            .and_then(Value::as_array_mut)
            .map(std::mem::take)
            .unwrap_or_default();
        for item in items {
            if changes.send(Change::Present(Arc::clone(resource), item)).await.is_err() {
                return Ok(None);
            }
        }
        page.pointer("/metadata/continue")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .clone_into(&mut token);
        if token.is_empty() {
            let version = Meta(&page).resource_version().to_owned();
            let _ = changes.send(Change::Listed(Arc::clone(resource))).await;
            return Ok(Some(version));
        }
    }
}

/// Watches from a version on and gives the version to go on from; none if that is too old.
async fn watch(
    api: &Api,
    resource: &Arc<Resource>,
    form: Form,
    changes: &mpsc::Sender<Change>,
    mut version: String,
) -> Result<Option<String>, Error> {
    let path = resource.path("");
    let path = format!("{path}?watch=true&allowWatchBookmarks=true&resourceVersion={version}");
    let mut stream = match api.watch(&path, form.watch).await {
        Ok(stream) => stream,
        Err(error) if error.code() == 410 => return Ok(None),
        Err(error) => {
            if error.code() == 404 {
                return Err(error);
            }
            tokio::time::sleep(PAUSE).await;
            return Ok(Some(version));
        }
    };
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            () = changes.closed() => None,
        };
        let Some(mut event) = event else {
            return Ok(Some(version));
        };
        let object = event.get_mut("object").map(Value::take).unwrap_or_default();
        let change = match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "ADDED" | "MODIFIED" => Change::Present(Arc::clone(resource), object),
            "DELETED" => Change::Gone(Arc::clone(resource), object),
            "BOOKMARK" => {
                Meta(&object).resource_version().clone_into(&mut version);
                continue;
            }
            _ => return Ok(None),
        };
        if let Change::Present(_, object) | Change::Gone(_, object) = &change {
            Meta(object).resource_version().clone_into(&mut version);
        }
        if changes.send(change).await.is_err() {
            return Ok(None);
        }
    }
}

/// A query value with everything but letters and digits escaped.
fn encoded(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
