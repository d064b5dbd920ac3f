//! A running server: the store, the shell around it, and the companions that were asked for.

use std::net::SocketAddr;

use bytes::Bytes;
use futures::future::BoxFuture;

use crate::access::User;
use crate::options::Options;

/// Why a server could not start or stop.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The store in the data directory cannot be used.
    #[error("cannot open the store")]
    Store(#[source] crate::store::Error),
}

/// A running API server. Dropping it does not stop it; see [`Server::shutdown`].
#[derive(Debug, Clone)]
pub struct Server {
    address: Option<SocketAddr>,
}

/// An answer's body.
pub type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// The server as one user sees it, without sockets.
#[derive(Debug, Clone)]
pub struct Service {}

impl Server {
    /// Opens the store, starts listening and starts the companions.
    ///
    /// # Errors
    /// When the store cannot be opened or the address not be used.
    pub async fn start(_options: Options) -> Result<Self, Error> {
        Ok(Self { address: None })
    }

    /// The server as one user sees it: a `tower::Service<http::Request<B>>` for `kube::Client::new`.
    #[must_use]
    pub fn service(&self, _user: User) -> Service {
        Service {}
    }

    /// Where it listens, if it does.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// A kubeconfig with the administrator's credentials; empty if the server does not listen.
    #[must_use]
    pub fn admin_kubeconfig(&self) -> String {
        String::new()
    }

    /// Stops listening, ends watches and companions, and closes the store.
    pub async fn shutdown(&self) {}
}

impl<B> tower::Service<http::Request<B>> for Service
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = http::Response<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: http::Request<B>) -> Self::Future {
        Box::pin(async { Ok(http::Response::new(Body::default())) })
    }
}
