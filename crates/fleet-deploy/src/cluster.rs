//! The cluster that is deployed to: typed verbs over plain JSON objects, and the kinds it
//! serves. Every error carries the server's answer. Asks for a kind once and remembers it; a
//! kind that is not served is asked for again each time, because its definition may come.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, Request};
use kube::client::Body;
use kube::core::Status;
use serde_json::{Value, json};

use crate::object::{self, ObjectKey};

/// Name under which fields are owned; upstream's agent uses the same.
pub const FIELD_MANAGER: &str = "fleetagent";

/// A failed call.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused; its own words.
    #[error("{}", .0.message)]
    Refused(Box<Status>),
    /// The call did not get through, or its answer is not understood.
    #[error("{0}")]
    Transport(String),
    /// The cluster does not serve this kind.
    #[error("no matches for kind \"{kind}\" in version \"{api_version}\"")]
    UnknownKind {
        /// Kind.
        kind: String,
        /// Group and version.
        api_version: String,
    },
    /// The object has no name.
    #[error("{kind} without a name")]
    NoName {
        /// Kind.
        kind: String,
    },
}

impl Error {
    /// HTTP status; 0 if there was no answer.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self {
            Self::Refused(status) => status.code,
            _ => 0,
        }
    }

    /// The object is not there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code() == 404
    }

    /// The account may not.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.code() == 403
    }

    /// A create met an existing object.
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        matches!(self, Self::Refused(status) if status.code == 409 && status.reason == "AlreadyExists")
    }
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Refused(status),
            other => Self::Transport(other.to_string()),
        }
    }
}

/// A kind the cluster serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// `group/version`, or `version` of the core group.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Name in URLs.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl Kind {
    /// URL of one object, or of all objects (of one namespace) if `name` is empty.
    #[must_use]
    pub fn path(&self, namespace: &str, name: &str) -> String {
        let root = if self.api_version.contains('/') {
            "/apis/"
        } else {
            "/api/"
        };
        let mut path = format!("{root}{}", self.api_version);
        if self.namespaced && !namespace.is_empty() {
            path.push_str("/namespaces/");
            path.push_str(namespace);
        }
        path.push('/');
        path.push_str(&self.plural);
        if !name.is_empty() {
            path.push('/');
            path.push_str(name);
        }
        path
    }
}

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// JSON merge patch.
    Merge,
    /// Strategic merge patch; built-in kinds only.
    Strategic,
}

type Kinds = Arc<Mutex<BTreeMap<(String, String), Kind>>>;

/// A connection with what is known of the cluster's kinds. Cheap to clone.
#[derive(Clone)]
pub struct Cluster {
    client: kube::Client,
    kinds: Kinds,
    recalled: Option<Arc<Vec<Value>>>,
}

impl Cluster {
    /// Nothing is asked yet.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self {
            client,
            kinds: Kinds::default(),
            recalled: None,
        }
    }

    /// The client itself.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// The same cluster through the eyes of `user`: every request carries the header that
    /// makes the server act as that user, and is refused if this account may not do so.
    #[must_use]
    pub fn impersonating(&self, user: &str) -> Self {
        let inner = self.client.clone();
        let user: Arc<str> = user.into();
        let service = tower::service_fn(move |mut request: Request<Body>| {
            let (inner, user) = (inner.clone(), user.clone());
            async move {
                let value = http::HeaderValue::from_str(&user).map_err(|error| kube::Error::HttpError(error.into()))?;
                request.headers_mut().insert("impersonate-user", value);
                inner.send(request).await
            }
        });
        Self {
            client: kube::Client::new(service, "default"),
            kinds: self.kinds.clone(),
            recalled: None,
        }
    }

    /// The same cluster, whose lists are answered from `objects`: what the server said when it
    /// wrote them need not be asked for again. Single reads and writes still go to the server.
    #[must_use]
    pub fn recalling(&self, objects: Vec<Value>) -> Self {
        Self {
            recalled: Some(Arc::new(objects)),
            ..self.clone()
        }
    }

    async fn call(&self, method: Method, uri: &str, content_type: &str, body: Option<&Value>) -> Result<Value, Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .header("accept", "application/json");
        if body.is_some() {
            request = request.header("content-type", content_type);
        }
        let bytes = match body {
            Some(body) => serde_json::to_vec(body).map_err(|error| Error::Transport(error.to_string()))?,
            None => Vec::new(),
        };
        let request = request
            .body(bytes)
            .map_err(|error| Error::Transport(error.to_string()))?;
        Ok(self.client.request::<Value>(request).await?)
    }

    /// The kind's facts, from memory or from the cluster.
    ///
    /// # Errors
    /// [`Error::UnknownKind`] if it is not served.
    pub async fn kind(&self, api_version: &str, kind: &str) -> Result<Kind, Error> {
        let key = (api_version.to_owned(), kind.to_owned());
        if let Some(found) = self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(found.clone());
        }
        let unknown = || Error::UnknownKind {
            kind: kind.to_owned(),
            api_version: api_version.to_owned(),
        };
        if api_version.is_empty() || kind.is_empty() {
            return Err(unknown());
        }
        let root = if api_version.contains('/') { "/apis/" } else { "/api/" };
        let list = match self.call(Method::GET, &format!("{root}{api_version}"), "", None).await {
            Ok(list) => list,
            Err(error) if error.is_not_found() => return Err(unknown()),
            Err(error) => return Err(error),
        };
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        for resource in list["resources"].as_array().into_iter().flatten() {
            let (Some(plural), Some(name)) = (resource["name"].as_str(), resource["kind"].as_str()) else {
                continue;
            };
            if plural.contains('/') {
                continue;
            }
            let found = Kind {
                api_version: api_version.to_owned(),
                kind: name.to_owned(),
                plural: plural.to_owned(),
                namespaced: resource["namespaced"].as_bool().unwrap_or_default(),
            };
            kinds.insert((api_version.to_owned(), name.to_owned()), found);
        }
        kinds.get(&key).cloned().ok_or_else(unknown)
    }

    /// Forgets a kind, so that it is asked for again.
    pub fn forget_kind(&self, api_version: &str, kind: &str) {
        let key = (api_version.to_owned(), kind.to_owned());
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    /// The server's version, `v1.36.3`.
    ///
    /// # Errors
    /// The call's.
    pub async fn version(&self) -> Result<String, Error> {
        let version = self.call(Method::GET, "/version", "", None).await?;
        Ok(version["gitVersion"].as_str().unwrap_or_default().to_owned())
    }

    /// Everything served, as `group/version` and `group/version/Kind`, from one aggregated
    /// discovery document per root.
    ///
    /// # Errors
    /// The call's.
    pub async fn api_versions(&self) -> Result<BTreeSet<String>, Error> {
        let mut found = BTreeSet::new();
        for root in ["/api", "/apis"] {
            let request = Request::builder()
                .uri(root)
                .header(
                    "accept",
                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
                )
                .body(Vec::new())
                .map_err(|error| Error::Transport(error.to_string()))?;
            let document = self.client.request::<Value>(request).await?;
            for group in document["items"].as_array().into_iter().flatten() {
                let group_name = object::name(group);
                for version in group["versions"].as_array().into_iter().flatten() {
                    let version_name = version["version"].as_str().unwrap_or_default();
                    let api_version = if group_name.is_empty() {
                        version_name.to_owned()
                    } else {
                        format!("{group_name}/{version_name}")
                    };
                    for resource in version["resources"].as_array().into_iter().flatten() {
                        if let Some(kind) = resource["responseKind"]["kind"].as_str() {
                            found.insert(format!("{api_version}/{kind}"));
                        }
                    }
                    found.insert(api_version);
                }
            }
        }
        Ok(found)
    }

    fn named<'a>(&self, key: &'a ObjectKey) -> Result<&'a str, Error> {
        if key.name.is_empty() {
            Err(Error::NoName { kind: key.kind.clone() })
        } else {
            Ok(&key.name)
        }
    }

    /// Reads one object; `None` if it is not there.
    ///
    /// # Errors
    /// The call's, [`Error::UnknownKind`].
    pub async fn get(&self, key: &ObjectKey) -> Result<Option<Value>, Error> {
        let kind = self.kind(&key.api_version, &key.kind).await?;
        match self
            .call(Method::GET, &kind.path(&key.namespace, self.named(key)?), "", None)
            .await
        {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Server-side apply by [`FIELD_MANAGER`]; fields of others are taken over. Returns the
    /// live object.
    ///
    /// # Errors
    /// The call's, [`Error::UnknownKind`].
    pub async fn apply(&self, object: &Value) -> Result<Value, Error> {
        let key = ObjectKey::of(object);
        let kind = self.kind(&key.api_version, &key.kind).await?;
        let uri = format!(
            "{}?fieldManager={FIELD_MANAGER}&force=true&fieldValidation=Strict",
            kind.path(&key.namespace, self.named(&key)?)
        );
        self.call(Method::PATCH, &uri, "application/apply-patch+yaml", Some(object))
            .await
    }

    /// Creates.
    ///
    /// # Errors
    /// The call's, [`Error::UnknownKind`].
    pub async fn create(&self, object: &Value) -> Result<Value, Error> {
        let key = ObjectKey::of(object);
        let kind = self.kind(&key.api_version, &key.kind).await?;
        let uri = format!("{}?fieldManager={FIELD_MANAGER}", kind.path(&key.namespace, ""));
        self.call(Method::POST, &uri, "application/json", Some(object)).await
    }

    /// Writes the whole object over the live one.
    ///
    /// # Errors
    /// The call's, [`Error::UnknownKind`].
    pub async fn replace(&self, object: &Value) -> Result<Value, Error> {
        let key = ObjectKey::of(object);
        let kind = self.kind(&key.api_version, &key.kind).await?;
        let uri = format!(
            "{}?fieldManager={FIELD_MANAGER}",
            kind.path(&key.namespace, self.named(&key)?)
        );
        self.call(Method::PUT, &uri, "application/json", Some(object)).await
    }

    /// Patches.
    ///
    /// # Errors
    /// The call's, [`Error::UnknownKind`].
    pub async fn patch(&self, key: &ObjectKey, how: PatchKind, patch: &Value) -> Result<Value, Error> {
        let kind = self.kind(&key.api_version, &key.kind).await?;
        let uri = format!(
            "{}?fieldManager={FIELD_MANAGER}",
            kind.path(&key.namespace, self.named(key)?)
        );
        let content_type = match how {
            PatchKind::Merge => "application/merge-patch+json",
            PatchKind::Strategic => "application/strategic-merge-patch+json",
        };
        self.call(Method::PATCH, &uri, content_type, Some(patch)).await
    }

    /// Deletes in the background; `false` if it was not there.
    ///
    /// # Errors
    /// The call's. An unknown kind has no objects: that is `false`.
    pub async fn delete(&self, key: &ObjectKey) -> Result<bool, Error> {
        let kind = match self.kind(&key.api_version, &key.kind).await {
            Ok(kind) => kind,
            Err(Error::UnknownKind { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let options = json!({"propagationPolicy": "Background"});
        let path = kind.path(&key.namespace, self.named(key)?);
        match self
            .call(Method::DELETE, &path, "application/json", Some(&options))
            .await
        {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Objects of a kind with a label, each with `apiVersion` and `kind` filled in. An empty
    /// namespace means all.
    ///
    /// # Errors
    /// The call's, [`Error::UnknownKind`].
    pub async fn list(
        &self,
        api_version: &str,
        kind_name: &str,
        namespace: &str,
        selector: &str,
    ) -> Result<Vec<Value>, Error> {
        if let Some(objects) = &self.recalled {
            let fits = |object: &&Value| {
                (object::api_version(object), object::kind(object)) == (api_version, kind_name)
                    && (namespace.is_empty() || object::namespace(object) == namespace)
                    && selector
                        .split_once('=')
                        .is_none_or(|(key, value)| object::label(object, key) == Some(value))
            };
            return Ok(objects.iter().filter(fits).cloned().collect());
        }
        let kind = self.kind(api_version, kind_name).await?;
        let uri = format!("{}?labelSelector={}", kind.path(namespace, ""), encode(selector));
        let mut list = self.call(Method::GET, &uri, "", None).await?;
        let Some(Value::Array(items)) = list.get_mut("items").map(Value::take) else {
            return Ok(Vec::new());
        };
        Ok(items
            .into_iter()
            .map(|mut item| {
                item["apiVersion"] = api_version.into();
                item["kind"] = kind_name.into();
                item
            })
            .collect())
    }
}

/// Percent-encodes a query value.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
