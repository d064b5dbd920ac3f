//! Drift taken back: exactly one write per object that differs, and no new revision. Objects
//! that are missing are made again; objects that are extra are left, as upstream leaves them.

use helm::release::Release;

use crate::cluster::Cluster;
use crate::monitor::{Difference, Seen};
use crate::object::ObjectKey;
use crate::ownership;
use crate::write::{self, Method};

/// What could not be corrected; the others were.
#[derive(Debug, thiserror::Error)]
#[error("correct {}", .key.display())]
pub struct Error {
    /// The object.
    pub key: ObjectKey,
    /// Cause.
    #[source]
    pub source: write::Error,
}

/// Corrects every difference; returns how many objects were written and the first failure.
pub async fn correct(cluster: &Cluster, release: &Release, seen: &Seen, force: bool) -> (usize, Result<(), Error>) {
    let mut written = 0;
    let mut outcome = Ok(());
    for (key, difference) in &seen.differences {
        let Some(desired) = seen.desired.get(key).filter(|_| *difference != Difference::Extra) else {
            continue;
        };
        let object = ownership::marked(desired, &release.name, &release.namespace);
        let method = match (force, difference) {
            (true, Difference::Modified(_)) => Method::Replace,
            _ => Method::ServerSide,
        };
        match write::write(cluster, method, &object, None, true).await {
            Ok(_) => written += 1,
            Err(source) => {
                if outcome.is_ok() {
                    outcome = Err(Error {
                        key: key.clone(),
                        source,
                    });
                }
            }
        }
    }
    (written, outcome)
}
