//! Creates per second: clients with a connection each, one request after the other.

use std::ops::Range;
use std::time::Instant;

use anyhow::Result;
use bytes::Bytes;

use crate::payload;
use crate::side::{NAMESPACE, Side, objects};

/// What one round showed.
pub(super) struct Made {
    pub(super) per_second: f64,
    /// How long each create took, in milliseconds.
    pub(super) times: Vec<f64>,
}

/// Makes the objects with the numbers of a range.
pub(super) async fn round(side: &Side, clients: u64, numbers: Range<u64>) -> Result<Made> {
    let count = numbers.end - numbers.start;
    let mut connections = Vec::new();
    for client in 0..clients {
        let connection = side.user.connect().await?;
        // Written before the clock starts: what is measured is the server.
        let mine = numbers.clone().filter(|number| number % clients == client);
        let bodies: Vec<Bytes> = mine
            .map(|number| payload::config_map(NAMESPACE, &format!("object-{number}"), number).into())
            .collect();
        connections.push((connection, bodies));
    }
    let begin = Instant::now();
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|(mut connection, bodies)| {
            tokio::spawn(async move {
                let path = objects();
                let mut times = Vec::with_capacity(bodies.len());
                for body in bodies {
                    let sent = Instant::now();
                    connection.create(&path, body).await?;
                    times.push(sent.elapsed().as_secs_f64() * 1e3);
                }
                Ok::<_, anyhow::Error>(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let per_second = count as f64 / begin.elapsed().as_secs_f64();
    Ok(Made { per_second, times })
}
