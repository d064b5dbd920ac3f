//! A client of the server in the same process: JSON requests without sockets.
//!
//! It speaks the public API only, so whatever stands on it could as well run outside.

use std::convert::Infallible;

use bytes::{Bytes, BytesMut};
use http::{Method, Request, Response, header};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt};

use crate::server::Body;

/// Metadata instead of whole objects.
pub(crate) const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/// The same for lists.
pub(crate) const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/// Whole objects.
pub(crate) const OBJECT: &str = "application/json";

const MERGE_PATCH: &str = "application/merge-patch+json";

/// Why a request did not give an object.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused.
    #[error("the server answered {code}: {message}")]
    Refused {
        /// HTTP status code.
        code: u16,
        /// The Status' reason.
        reason: String,
        /// The Status' message.
        message: String,
    },
    /// The answer is not JSON.
    #[error("the server's answer is no JSON")]
    Answer(#[source] serde_json::Error),
    /// The path is no URI.
    #[error("make the request")]
    Request(#[source] http::Error),
}

impl Error {
    /// The HTTP status code, 0 if there was no answer to read.
    pub(crate) fn code(&self) -> u16 {
        match self {
            Error::Refused { code, .. } => *code,
            Error::Answer(_) | Error::Request(_) => 0,
        }
    }
}

/// Turns "not found" into none.
pub(crate) fn optional<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

/// The client. Clones share the server.
#[derive(Clone)]
pub struct Api {
    service: BoxCloneSyncService<Request<Full<Bytes>>, Response<Body>, Infallible>,
}

impl Api {
    /// A client that sends its requests to `service`, which decides as whom.
    pub fn new<S>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<Body>, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        Self {
            service: BoxCloneSyncService::new(service),
        }
    }

    pub(crate) async fn get(&self, path: &str, accept: &str) -> Result<Value, Error> {
        self.json(Method::GET, path, accept, OBJECT, None).await
    }

    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<Value, Error> {
        self.json(Method::POST, path, OBJECT, OBJECT, Some(object)).await
    }

    pub(crate) async fn replace(&self, path: &str, object: &Value) -> Result<Value, Error> {
        self.json(Method::PUT, path, OBJECT, OBJECT, Some(object)).await
    }

    pub(crate) async fn merge(&self, path: &str, patch: &Value) -> Result<Value, Error> {
        self.json(Method::PATCH, path, OBJECT, MERGE_PATCH, Some(patch)).await
    }

    pub(crate) async fn delete(&self, path: &str, options: &Value) -> Result<Value, Error> {
        self.json(Method::DELETE, path, OBJECT, OBJECT, Some(options)).await
    }

    /// Starts a watch; the path holds the query.
    pub(crate) async fn watch(&self, path: &str, accept: &str) -> Result<Stream, Error> {
        let response = self.send(Method::GET, path, accept, OBJECT, None).await?;
        let code = response.status().as_u16();
        let mut stream = Stream {
            body: response.into_body(),
            buffer: BytesMut::new(),
        };
        if code == 200 {
            return Ok(stream);
        }
        while stream.fill().await {}
        Err(refused(code, &stream.buffer))
    }

    async fn json(
        &self,
        method: Method,
        path: &str,
        accept: &str,
        content: &str,
        body: Option<&Value>,
    ) -> Result<Value, Error> {
        let response = self.send(method, path, accept, content, body).await?;
        let code = response.status().as_u16();
        let bytes = match response.into_body().collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(never) => match never {},
        };
        if (200..300).contains(&code) {
            serde_json::from_slice(&bytes).map_err(Error::Answer)
        } else {
            Err(refused(code, &bytes))
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        accept: &str,
        content: &str,
        body: Option<&Value>,
    ) -> Result<Response<Body>, Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT, accept);
        let bytes = match body {
            Some(body) => {
                request = request.header(header::CONTENT_TYPE, content);
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        let request = request.body(Full::new(bytes)).map_err(Error::Request)?;
        match self.service.clone().oneshot(request).await {
            Ok(response) => Ok(response),
            Err(never) => match never {},
        }
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

fn refused(code: u16, bytes: &[u8]) -> Error {
    let status: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text = |field: &str| status.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    Error::Refused {
        code,
        reason: text("reason"),
        message: text("message"),
    }
}

/// The events of a watch.
pub(crate) struct Stream {
    body: Body,
    buffer: BytesMut,
}

impl Stream {
    /// The next event; none at the end of the watch or after something that is no event.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end + 1);
                return serde_json::from_slice(&line).ok();
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn fill(&mut self) -> bool {
        match self.body.frame().await {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.buffer.extend_from_slice(data);
                }
                true
            }
            Some(Err(never)) => match never {},
            None => false,
        }
    }
}
