//! One request from authentication to response.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream;
use http::{Method, Response, request};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::negotiate::{self, Encoding, Form, Shape};
use super::respond::{self, Body};
use super::route::{self, Route, Target};
use super::{output, page};
use crate::access::{Attributes, Authenticator, Peer, User};
use crate::authn::impersonate;
use crate::authz;
use crate::cluster::Cluster;
use crate::query::Query;
use crate::status::{Result, Status};
use crate::verb::{self, Answer, Content, Request, Watch};

/// Largest body that is read.
const LARGEST_BODY: usize = 3 * 1024 * 1024;

/// Watch events that are sent together when they wait together.
const BATCH: usize = 64;

/// The HTTP face of a cluster.
#[derive(Clone)]
pub(crate) struct Shell {
    pub(crate) cluster: Arc<Cluster>,
}

impl Shell {
    /// Answers a request that came over a connection.
    pub(crate) async fn receive<B>(&self, peer: &Peer, request: http::Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        match self.cluster.security.authenticator.authenticate(&head, peer) {
            Ok(user) => self.handle(user, http::Request::from_parts(head, body)).await,
            Err(status) => respond::refusal(&status, Encoding::Json),
        }
    }

    /// Answers a request of an authenticated user.
    pub(crate) async fn handle<B>(&self, user: User, request: http::Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let result = match read(body).await {
            Ok(body) => self.answer(user, &head, body).await,
            Err(status) => Err(status),
        };
        result.unwrap_or_else(|status| {
            let encoding = negotiate::form(&head.headers).map_or(Encoding::Json, |form| form.encoding);
            respond::refusal(&status, encoding)
        })
    }

    async fn answer(&self, caller: User, head: &request::Parts, body: Bytes) -> Result<Response<Body>> {
        let user = impersonate(&head.headers, &caller, &*self.cluster.security.rbac)?.unwrap_or(caller);
        let registry = self.cluster.registry();
        let query = Query::parse(head.uri.query().unwrap_or_default());
        match route::route(&registry, head.uri.path()) {
            Route::Object(target) => self.object(user, head, target, query, body).await,
            Route::Page => {
                self.authorize(&user, &page_attributes(head))?;
                page::answer(&self.cluster, &registry, head, &query)
            }
        }
    }

    async fn object(
        &self,
        user: User,
        head: &request::Parts,
        target: Target,
        query: Query,
        body: Bytes,
    ) -> Result<Response<Body>> {
        let watching = target.watch || (query.has("watch") && query.flag("watch"));
        let verb = verb_of(&head.method, &target, watching);
        self.authorize(&user, &attributes(&target, verb, head.uri.path()))?;
        let form = negotiate::form(&head.headers)?;
        let agent = head
            .headers
            .get(http::header::USER_AGENT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let single = target.resource.clone();
        let mut request = Request {
            user,
            resource: target.resource,
            namespace: target.namespace,
            name: target.name,
            subresource: target.subresource,
            query,
            media: negotiate::media(&head.headers),
            body,
            agent: agent.to_owned(),
        };
        let cluster = &self.cluster;
        if let Some(answer) = verb::review(cluster, &request) {
            return write(answer?, &form, head);
        }
        let answer = match verb {
            "get" => verb::get(cluster, &request)?,
            "list" => verb::list(cluster, &request)?,
            "watch" => {
                if !request.name.is_empty() {
                    let name = std::mem::take(&mut request.name);
                    request.query.add("fieldSelector", &format!("metadata.name={name}"));
                }
                verb::watch(cluster, &request)?
            }
            "create" => verb::create(cluster, &request).await?,
            "update" => verb::replace(cluster, &request).await?,
            "patch" => verb::change(cluster, &request).await?,
            "delete" => verb::delete(cluster, &request).await?,
            "deletecollection" => verb::delete_collection(cluster, &request).await?,
            _ => return Err(Box::new(Status::method_not_allowed())),
        };
        let mut response = write(answer, &form, head)?;
        if let Some(text) = page::deprecation(&single) {
            respond::warn(&mut response, &[text]);
        }
        Ok(response)
    }

    fn authorize(&self, user: &User, attributes: &Attributes) -> Result<()> {
        let decision = self.cluster.authorize(user, attributes);
        if decision.allowed {
            Ok(())
        } else {
            Err(Box::new(authz::forbidden(user, attributes, &decision.reason)))
        }
    }
}

async fn read<B>(body: B) -> Result<Bytes>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, LARGEST_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("Request entity too large: limit is {LARGEST_BODY}");
            Err(Box::new(Status::new(413, "RequestEntityTooLarge", message)))
        }
        Err(error) => Err(Box::new(Status::bad_request(format!("cannot read the body: {error}")))),
    }
}

/// The verb of a request to a resource; empty if the path has no such method.
fn verb_of(method: &Method, target: &Target, watching: bool) -> &'static str {
    let single = !target.name.is_empty();
    let collection = !single && (!target.resource.namespaced || !target.namespace.is_empty());
    let verb = match (method.as_str(), single) {
        ("GET", true) if target.watch => "watch",
        ("GET", true) => "get",
        ("GET", false) if watching => "watch",
        ("GET", false) => "list",
        ("POST", false) if collection => "create",
        ("POST", true) if !target.subresource.is_empty() => "create",
        ("PUT", true) => "update",
        ("PATCH", true) => "patch",
        ("DELETE", true) => "delete",
        ("DELETE", false) if collection => "deletecollection",
        _ => "",
    };
    if target.resource.allows(&target.subresource, verb) {
        verb
    } else {
        ""
    }
}

fn attributes(target: &Target, verb: &str, path: &str) -> Attributes {
    Attributes {
        verb: verb.to_owned(),
        group: target.resource.group.clone(),
        version: target.resource.version.clone(),
        resource: target.resource.plural.clone(),
        subresource: target.subresource.clone(),
        // A namespace is an object in itself, too.
        namespace: if target.resource.is("", "namespaces") {
            target.name.clone()
        } else {
            target.namespace.clone()
        },
        name: target.name.clone(),
        path: path.to_owned(),
    }
}

fn page_attributes(head: &request::Parts) -> Attributes {
    let path = head.uri.path();
    let verb = head.method.as_str().to_lowercase();
    match route::split(path) {
        Some(parts) => Attributes {
            verb: match (verb.as_str(), parts.name.is_empty()) {
                ("get", true) => "list",
                ("post", _) => "create",
                ("put", _) => "update",
                ("delete", true) => "deletecollection",
                (other, _) => other,
            }
            .to_owned(),
            group: parts.group,
            version: parts.version,
            resource: parts.resource,
            subresource: parts.subresource,
            namespace: parts.namespace,
            name: parts.name,
            path: path.to_owned(),
        },
        None => Attributes {
            verb,
            path: path.to_owned(),
            ..Attributes::default()
        },
    }
}

fn write(answer: Answer, form: &Form, head: &request::Parts) -> Result<Response<Body>> {
    let gzip = respond::takes_gzip(&head.headers);
    let mut response = match answer.content {
        Content::Object(resource, entry) => respond::compressed(
            answer.code,
            output::object(&resource, &entry, &form.shape),
            form.encoding,
            gzip,
        ),
        Content::List(list) => respond::compressed(answer.code, output::list(&list, &form.shape), form.encoding, gzip),
        Content::Value(value) => respond::compressed(answer.code, value.to_string().into_bytes(), form.encoding, gzip),
        Content::Watch(watch) => respond::stream("application/json", events(*watch, form.shape.clone())),
    };
    respond::warn(&mut response, &answer.warnings);
    Ok(response)
}

/// A watch as chunks; events that wait together go together.
fn events(watch: Watch, shape: Shape) -> impl futures::Stream<Item = Bytes> + Send + 'static {
    stream::unfold((watch, shape, false), |(mut watch, shape, over)| async move {
        if over {
            return None;
        }
        let item = watch.next().await?;
        let mut over = matches!(item, verb::Item::Error(_));
        let first = output::event(&watch, &item, &shape).ok()?;
        let Some(second) = (if over { None } else { watch.ready() }) else {
            return Some((first, (watch, shape, over)));
        };
        let mut chunk = first.to_vec();
        let mut waiting = Some(second);
        let mut taken = 0;
        while let Some(item) = waiting {
            over = matches!(item, verb::Item::Error(_));
            chunk.extend_from_slice(&output::event(&watch, &item, &shape).ok()?);
            taken += 1;
            waiting = if over || taken == BATCH { None } else { watch.ready() };
        }
        Some((Bytes::from(chunk), (watch, shape, over)))
    })
}
