//! Background work that ends together: every service gets the same shutdown token; the first
//! one that fails stops the others. There is no detached task.

use std::future::Future;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A service ended with an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It returned one.
    #[error("service '{name}' failed")]
    Failed {
        /// Which.
        name: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It panicked.
    #[error("a service panicked: {0}")]
    Panicked(String),
}

/// A set of running services.
pub struct Services {
    shutdown: CancellationToken,
    tasks: JoinSet<Result<(), Error>>,
}

impl Services {
    /// An empty set that ends when `shutdown` is cancelled.
    #[must_use]
    pub fn new(shutdown: CancellationToken) -> Self {
        Self {
            shutdown,
            tasks: JoinSet::new(),
        }
    }

    /// The token that the services watch.
    #[must_use]
    pub fn shutdown(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Starts a service. It has to return soon after the shutdown token is cancelled.
    pub fn spawn<E, F>(&mut self, name: &'static str, future: F)
    where
        E: std::error::Error + Send + Sync + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        self.tasks.spawn(async move {
            future.await.map_err(|error| Error::Failed {
                name,
                source: Box::new(error),
            })
        });
    }

    /// Waits for all services to end.
    ///
    /// # Errors
    /// The first failure; the others are stopped then.
    pub async fn wait(mut self) -> Result<(), Error> {
        let mut first = Ok(());
        while let Some(ended) = self.tasks.join_next().await {
            let result = match ended {
                Ok(result) => result,
                Err(error) if error.is_cancelled() => Ok(()),
                Err(error) => Err(Error::Panicked(error.to_string())),
            };
            if let Err(error) = result {
                self.shutdown.cancel();
                if first.is_ok() {
                    first = Err(error);
                }
            }
        }
        first
    }
}
