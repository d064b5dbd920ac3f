//! What a server is told at its start: where to store, where to listen, which companions to run, whose time and dice.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use crate::workloads::Workloads;

/// The server's only source of time.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The server's only source of randomness (uids, generated names, tokens, keys of its own).
pub trait Random: Send + Sync + 'static {
    /// Fills the slice with random bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// A fresh version 4 UUID.
pub(crate) fn uuid(random: &dyn Random) -> String {
    let mut bytes = [0_u8; 16];
    random.fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex::encode(bytes);
    format!(
        "{}-{}-{}-{}-{}",
        &text[..8],
        &text[8..12],
        &text[12..16],
        &text[16..20],
        &text[20..]
    )
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// The operating system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        // The system's generator fails only before it is seeded, which no server start precedes.
        let _ = aws_lc_rs::rand::fill(bytes);
    }
}

/// How to start a [`crate::Server`].
#[derive(Clone)]
pub struct Options {
    /// Directory of the persistent store, certificates and keys; none keeps everything in memory.
    pub data: Option<PathBuf>,
    /// Address to listen on with TLS; none serves in process only. Port 0 picks a free one.
    pub listen: Option<SocketAddr>,
    /// Further DNS names and addresses for the serving certificate.
    pub names: Vec<String>,
    /// Run Kubernetes' own housekeeping beside the server.
    pub controllers: bool,
    /// Run the workload simulator beside the server.
    pub workloads: Option<Workloads>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// How many events are kept for watches that resume; older ones are answered with 410.
    pub history: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data: None,
            listen: None,
            names: Vec::new(),
            controllers: false,
            workloads: None,
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            history: 100_000,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("data", &self.data)
            .field("listen", &self.listen)
            .field("names", &self.names)
            .field("controllers", &self.controllers)
            .field("workloads", &self.workloads)
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}
