//! One request from authentication to response.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream;
use http::{Method, Response, request};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use jiff::Timestamp;
use kubeschema::selector::FieldSelector;

use super::metrics::{self, Requests};
use super::negotiate::{self, Encoding, Form, Shape};
use super::output::{self, Heads, Tabular};
use super::page;
use super::respond::{self, Body};
use super::route::{self, Route, Target};
use crate::access::{Attributes, Authenticator, Peer, User};
use crate::authn::impersonate;
use crate::authz;
use crate::cluster::Cluster;
use crate::query::Query;
use crate::registry::Resource;
use crate::status::{Result, Status};
use crate::verb::{self, Answer, Content, Item, Media, Request, Watch};

/// Largest body that is read.
const LARGEST_BODY: usize = 3 * 1024 * 1024;

/// Watch events that are sent together when they wait together.
const BATCH: usize = 64;

/// The HTTP face of a cluster.
#[derive(Clone)]
pub(crate) struct Shell {
    pub(crate) cluster: Arc<Cluster>,
    requests: Requests,
}

impl Shell {
    /// The face of a cluster that nobody has asked anything yet.
    pub(crate) fn new(cluster: Arc<Cluster>) -> Self {
        Self {
            cluster,
            requests: Requests::default(),
        }
    }

    /// Answers a request that came over a connection.
    pub(crate) async fn receive<B>(&self, peer: &Peer, request: http::Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        match self.cluster.security.authenticator.authenticate(&head, peer) {
            Ok(user) => self.handle(user, http::Request::from_parts(head, body)).await,
            Err(status) => {
                // An unread body would end the connection, under the client's next request.
                drop(read(body).await);
                respond::refusal(&status, Encoding::Json)
            }
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
                if head.uri.path() == "/metrics" {
                    return Ok(respond::bytes(200, metrics::CONTENT_TYPE, self.requests.text()));
                }
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
        let applying = negotiate::media(&head.headers) == Media::ApplyPatch;
        let counted = metrics::Key::new(&target.resource, &target.subresource, verb, applying);
        let result = self.perform(user, head, (target, verb), query, body).await;
        let code = match &result {
            Ok(response) => response.status().as_u16(),
            Err(status) => status.code,
        };
        self.requests.count(counted, code);
        result
    }

    async fn perform(
        &self,
        user: User,
        head: &request::Parts,
        (target, verb): (Target, &'static str),
        query: Query,
        body: Bytes,
    ) -> Result<Response<Body>> {
        self.authorize(&user, &attributes(&target, verb, head.uri.path(), &query))?;
        let form = negotiate::form(&head.headers).map_err(|status| match verb {
            "list" | "watch" => negotiate::streamed(status),
            _ => status,
        })?;
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
        if verb == "create"
            && let Some(answer) = verb::review(cluster, &request)
        {
            return write(
                answer?,
                &Output {
                    form: &form,
                    head,
                    query: &request.query,
                    now: cluster.clock.now(),
                },
            );
        }
        let warning = page::deprecation(&single);
        let mut answer = match self.act(&mut request, verb, &head.method).await {
            Ok(answer) => answer,
            Err(status) => return Err(status.warned(warning.as_slice())),
        };
        answer.warnings.splice(0..0, warning);
        write(
            answer,
            &Output {
                form: &form,
                head,
                query: &request.query,
                now: cluster.clock.now(),
            },
        )
    }

    /// Does what is asked for.
    async fn act(&self, request: &mut Request, verb: &'static str, method: &Method) -> Result<Answer> {
        let cluster = &self.cluster;
        match verb {
            "get" => verb::get(cluster, request),
            "list" => verb::list(cluster, request),
            "watch" => {
                if !request.name.is_empty() {
                    let name = std::mem::take(&mut request.name);
                    request.query.add("fieldSelector", &format!("metadata.name={name}"));
                }
                verb::watch(cluster, request)
            }
            "create" if request.subresource == "binding" => verb::bind(cluster, request).await,
            "create" if request.subresource == "eviction" => verb::evict(cluster, request).await,
            "create" => verb::create(cluster, request).await,
            "update" => verb::replace(cluster, request).await,
            "patch" => verb::change(cluster, request).await,
            "delete" => verb::delete(cluster, request).await,
            "deletecollection" => verb::delete_collection(cluster, request).await,
            _ => Err(not_allowed(method, &request.resource)),
        }
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

/// The refusal of a method; custom resources say it in their own words.
fn not_allowed(method: &Method, resource: &Resource) -> Box<Status> {
    if resource.custom.is_none() {
        return Box::new(Status::method_not_allowed());
    }
    let verb = match method.as_str() {
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => return Box::new(Status::method_not_allowed()),
    };
    let Resource { group, plural, .. } = resource;
    let message = format!("{verb} is not supported on resources of kind \"{plural}.{group}\"");
    Box::new(Status::new(405, "MethodNotAllowed", message).about(group, plural, ""))
}

fn attributes(target: &Target, verb: &str, path: &str, query: &Query) -> Attributes {
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
        name: match verb {
            "list" | "watch" if target.name.is_empty() => selected_name(query),
            _ => target.name.clone(),
        },
        path: path.to_owned(),
    }
}

/// The only object that a list or watch can show, so that rights to single objects let it through; empty if there may be
/// others.
fn selected_name(query: &Query) -> String {
    let selector = FieldSelector::parse(query.get("fieldSelector")).unwrap_or_default();
    let name = selector.exact("metadata.name").unwrap_or_default();
    let segment = !matches!(name, "." | "..") && !name.contains(['/', '%']);
    if segment { name.to_owned() } else { String::new() }
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

/// The form of an answer and what else its writing needs.
struct Output<'a> {
    form: &'a Form,
    head: &'a request::Parts,
    query: &'a Query,
    now: Timestamp,
}

fn write(answer: Answer, output: &Output<'_>) -> Result<Response<Body>> {
    let Output { form, head, query, now } = output;
    let shape = &form.shape;
    let table = matches!(shape, Shape::Table(_));
    let json = match answer.content {
        Content::Object(resource, entry) if table => {
            let metadata = serde_json::json!({"resourceVersion": entry.modified.to_string()});
            let tables = Tabular::new(&resource, query, *now)?;
            let table = tables.table(&resource, std::iter::once(&entry), &metadata, Heads::Shown)?;
            table.to_string().into_bytes()
        }
        Content::List(list) if table => {
            let tables = Tabular::new(&list.resource, query, *now)?;
            let metadata = output::list_metadata(&list, shape);
            tables
                .table(&list.resource, list.entries.iter(), &metadata, Heads::Shown)?
                .to_string()
                .into_bytes()
        }
        Content::Object(resource, entry) => output::object(&resource, &entry, shape),
        Content::List(list) => output::list(&list, shape),
        Content::Value(value) => value.to_string().into_bytes(),
        Content::Watch(watch) => {
            let tables = if table {
                Some(Tabular::new(&watch.resource, query, *now)?)
            } else {
                None
            };
            let stream = Events {
                watch: *watch,
                shape: shape.clone(),
                tables,
                heads: Heads::Shown,
                over: false,
            };
            return Ok(respond::stream("application/json", stream.chunks()));
        }
    };
    let gzip = respond::takes_gzip(&head.headers);
    let mut response = respond::compressed(answer.code, json, form.encoding, gzip);
    respond::warn(&mut response, &answer.warnings);
    Ok(response)
}

/// A watch as it is being written.
struct Events {
    watch: Watch,
    shape: Shape,
    tables: Option<Tabular>,
    heads: Heads,
    over: bool,
}

impl Events {
    /// The watch as chunks; events that wait together go together.
    fn chunks(self) -> impl futures::Stream<Item = Bytes> + Send + 'static {
        stream::unfold(self, |mut events| async move {
            if events.over {
                return None;
            }
            let item = events.watch.next().await?;
            let first = events.line(&item)?;
            let Some(second) = events.ready() else {
                return Some((first, events));
            };
            let mut chunk = first.to_vec();
            let mut waiting = Some(second);
            let mut taken = 0;
            while let Some(item) = waiting {
                chunk.extend_from_slice(&events.line(&item)?);
                taken += 1;
                waiting = if taken == BATCH { None } else { events.ready() };
            }
            Some((Bytes::from(chunk), events))
        })
    }

    fn ready(&mut self) -> Option<Item> {
        if self.over { None } else { self.watch.ready() }
    }

    fn line(&mut self, item: &Item) -> Option<Bytes> {
        self.over = matches!(item, Item::Error(_));
        let tables = self.tables.as_ref().map(|tables| (tables, self.heads));
        let line = output::event(&self.watch, item, &self.shape, tables).ok()?;
        self.heads = Heads::Known;
        Some(line)
    }
}
