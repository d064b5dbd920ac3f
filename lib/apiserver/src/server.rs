//! A running server: the store, the shell around it, and the companions that were asked for.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::User;
use crate::cluster::Cluster;
use crate::controllers::{Api, Housekeeping, Switches};
use crate::options::Options;
use crate::security::Security;
use crate::shell::{Listener, Shell};
use crate::store::Store;
use crate::store::disk::Disk;
use crate::store::memory::Memory;
use crate::workloads::Simulator;
use crate::{definition, verb};

pub use crate::shell::Body;

/// Directory of the persistent store below the data directory.
const STORE: &str = "store";

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
    /// Keys, tokens or rights could not be set up.
    #[error("cannot set up security")]
    Security(#[source] crate::security::Error),
    /// What every cluster has could not be made.
    #[error("cannot prepare the cluster")]
    Prepare(#[source] Box<crate::status::Status>),
}

/// A running API server. Dropping it does not stop it; see [`Server::shutdown`].
#[derive(Clone)]
pub struct Server {
    shell: Shell,
    listener: Option<Listener>,
    admin: Arc<str>,
    stop: CancellationToken,
    companions: TaskTracker,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address())
            .finish_non_exhaustive()
    }
}

/// The server as one user sees it, without sockets.
#[derive(Clone)]
pub struct Service {
    shell: Shell,
    user: User,
}

impl Server {
    /// Opens the store, starts listening and starts the companions.
    ///
    /// # Errors
    /// When the store cannot be opened or the address not be used.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let store: Arc<dyn Store> = match &options.data {
            Some(directory) => Arc::new(Disk::open(&directory.join(STORE), options.history).map_err(Error::Store)?),
            None => Arc::new(Memory::new(options.history)),
        };
        let directory = options.data.clone();
        let Options {
            clock, random, names, ..
        } = &options;
        let security = Security::open(directory.as_deref(), names, &store, clock, random).map_err(Error::Security)?;
        let cluster = Arc::new(Cluster::new(store, options.clock, options.random, security));
        verb::ensure_defaults(&cluster).await.map_err(Error::Prepare)?;
        definition::serve_all(&cluster).map_err(Error::Prepare)?;
        let shell = Shell::new(cluster);
        let listener = match options.listen {
            Some(address) => {
                let started = Listener::start(address, shell.clone()).await;
                Some(started.map_err(|source| Error::Listen { address, source })?)
            }
            None => None,
        };
        let admin = match &listener {
            Some(listener) => {
                let url = format!("https://{}", listener.address());
                let kubeconfig = shell.cluster.security.pki.admin_kubeconfig(&url);
                kubeconfig.map_err(|error| Error::Security(crate::security::Error::Pki(error)))?
            }
            None => String::new(),
        };
        let server = Self {
            shell,
            listener,
            admin: admin.into(),
            stop: CancellationToken::new(),
            companions: TaskTracker::new(),
        };
        if options.controllers {
            server.keep_house();
        }
        if let Some(workloads) = options.workloads {
            let (api, clock) = (
                Api::new(server.service(User::admin())),
                Arc::clone(&server.shell.cluster.clock),
            );
            server
                .companions
                .spawn(Simulator::new(api, workloads, clock).run(server.stop.clone()));
        }
        Ok(server)
    }

    /// Starts the housekeeping controllers, clients of this server like any other.
    fn keep_house(&self) {
        let Cluster { security, clock, .. } = &*self.shell.cluster;
        let housekeeping = Housekeeping::new(
            Api::new(self.service(User::admin())),
            Arc::clone(&security.tokens),
            security.pki.server_ca_pem().to_owned(),
            Arc::clone(clock),
            Switches::default(),
        );
        self.companions.spawn(housekeeping.run(self.stop.clone()));
    }

    /// The server as one user sees it: a `tower::Service<http::Request<B>>` for `kube::Client::new`.
    #[must_use]
    pub fn service(&self, user: User) -> Service {
        Service {
            shell: self.shell.clone(),
            user,
        }
    }

    /// Where it listens, if it does.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.as_ref().map(Listener::address)
    }

    /// A kubeconfig with the administrator's credentials; empty if the server does not listen.
    #[must_use]
    pub fn admin_kubeconfig(&self) -> String {
        self.admin.to_string()
    }

    /// Stops listening, ends watches and companions, and closes the store.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.companions.close();
        self.companions.wait().await;
        self.shell.cluster.tasks.close();
        self.shell.cluster.tasks.wait().await;
        self.shell.cluster.store.history().end("");
        if let Some(listener) = &self.listener {
            listener.stop().await;
        }
    }
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

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let Self { shell, user } = self.clone();
        Box::pin(async move { Ok(shell.handle(user, request).await) })
    }
}
