//! A command line becomes what it printed and what it took, within limits.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::run::{command, root};

/// Seconds a program may take.
const TIMEOUT: u32 = 60;

/// Programs that run at the same time.
const PARALLEL: usize = 2;

/// What a program did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// 0 if it succeeded, negative if a signal ended it.
    pub(crate) status: i64,
    /// Standard output.
    pub(crate) printed: String,
    /// Standard error.
    pub(crate) complained: String,
    /// Seconds it ran.
    pub(crate) seconds: f64,
    /// Peak resident set in KiB.
    pub(crate) memory: u64,
}

impl Outcome {
    pub(crate) fn succeeded(&self) -> bool {
        self.status == 0
    }

    /// The error without the program's prefix, up to the first empty line.
    pub(crate) fn reason(&self) -> String {
        let mut lines = self.complained.lines().map(str::trim_end);
        let first = lines.find_map(|line| line.strip_prefix("Error: ").or_else(|| line.strip_prefix("error: ")));
        let Some(first) = first else {
            return match self.status {
                -9 => format!("killed after {TIMEOUT} s"),
                status => format!("status {status}: {}", self.complained.lines().last().unwrap_or("")),
            };
        };
        let rest = lines.take_while(|line| !line.trim().is_empty());
        std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n")
    }
}

/// Runs a command line. `scratch` is a folder for its output; `memory` limits the address space in MiB, 0 does not.
pub(crate) fn run(words: &[String], scratch: &Path, memory: u32) -> Result<Outcome> {
    let (out, err) = (scratch.join("out"), scratch.join("err"));
    let script = root().join("xtask/tools/measured.py");
    let mut measured = command("python3", &[]);
    measured
        .arg(script)
        .args([TIMEOUT.to_string(), memory.to_string()])
        .args([&out, &err])
        .args(words)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", scratch);
    let output = measured.output().context("start python3")?;
    let measured: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        format!(
            "measure {}: {}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    let Some(status) = measured["status"].as_i64() else {
        bail!("measured.py says no status of {}", words.join(" "));
    };
    let read = |path: &Path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Outcome {
        status,
        printed: read(&out).with_context(|| format!("read {}", out.display()))?,
        complained: read(&err).with_context(|| format!("read {}", err.display()))?,
        seconds: measured["seconds"].as_f64().unwrap_or_default(),
        memory: measured["rss"].as_u64().unwrap_or_default(),
    })
}

/// Does `work` for all items, some at a time; the results are in the order of the items.
pub(crate) fn all<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> Result<O> + Sync) -> Result<Vec<O>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    if let Ok(mut done) = done.lock() {
                        done.insert(index, result);
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.into_values().collect()
}
