//! Connections: TLS, HTTP/1.1 and HTTP/2, until the server stops.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Shell;
use crate::access::Peer;

/// A handshake that takes longer is given up.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long requests in flight may take to finish when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// Streams that one HTTP/2 connection may hold open, as upstream has it.
const STREAMS: u32 = 1000;

/// A listening socket and its connections.
#[derive(Clone)]
pub(crate) struct Listener {
    address: SocketAddr,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Listener {
    /// Listens and answers from now on.
    pub(crate) async fn start(address: SocketAddr, shell: Shell) -> std::io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let listener = Self {
            address: socket.local_addr()?,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        let acceptor = TlsAcceptor::from(shell.cluster.security.pki.server_config());
        let (stop, tasks) = (listener.stop.clone(), listener.tasks.clone());
        listener.tasks.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = socket.accept() => accepted,
                    () = stop.cancelled() => return,
                };
                match accepted {
                    Ok((stream, from)) => {
                        tasks.spawn(connection(stream, from, acceptor.clone(), shell.clone(), stop.clone()));
                    }
                    Err(error) => {
                        // Usually too many open files: give connections a moment to end.
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        });
        Ok(listener)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections and lets the open ones finish for a moment.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        if timeout(GRACE, self.tasks.wait()).await.is_err() {
            tracing::debug!("connections were still open at the end");
        }
    }
}

async fn connection(stream: TcpStream, from: SocketAddr, acceptor: TlsAcceptor, shell: Shell, stop: CancellationToken) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot turn off delays");
    }
    let stream = match timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, %from, "handshake failed"),
        Err(_) => return tracing::debug!(%from, "handshake took too long"),
    };
    let certificates = stream.get_ref().1.peer_certificates();
    let certificates = certificates
        .unwrap_or_default()
        .iter()
        .map(|certificate| certificate.clone().into_owned())
        .collect();
    let peer = Arc::new(Peer {
        address: Some(from),
        certificates,
    });
    let service = service_fn(move |request| {
        let (shell, peer) = (shell.clone(), Arc::clone(&peer));
        async move { Ok::<_, Infallible>(shell.receive(&peer, request).await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http2().max_concurrent_streams(STREAMS);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, %from, "connection ended");
    }
}
