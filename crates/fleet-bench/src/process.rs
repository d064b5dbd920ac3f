//! What the kernel says about processes: memory and processor time; and child processes that end with their owner.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

/// Ticks per second of `/proc/PID/stat` on Linux.
const TICKS: f64 = 100.0;

/// Memory of one or more processes together, in kilobytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    /// Anonymous memory that is resident now.
    pub(crate) anonymous: u64,
    /// Most that was ever resident, mapped files included.
    pub(crate) peak: u64,
}

/// Sums up what processes hold.
pub(crate) fn memory(processes: &[u32]) -> Result<Memory> {
    let mut sum = Memory::default();
    for process in processes {
        let text = said(*process, "status")?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
                .unwrap_or_default()
        };
        sum.anonymous += field("RssAnon:");
        sum.peak += field("VmHWM:");
    }
    Ok(sum)
}

/// Seconds of processor time that processes have used.
pub(crate) fn processor_time(processes: &[u32]) -> Result<f64> {
    let mut ticks = 0;
    for process in processes {
        let text = said(*process, "stat")?;
        // The name in parentheses may hold anything; user and system time are the 14th and 15th field.
        let rest = text.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        ticks += rest
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse::<u64>().ok())
            .sum::<u64>();
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let seconds = ticks as f64 / TICKS;
    Ok(seconds)
}

/// Bytes that a process has had written to disk; exact, unlike times.
pub(crate) fn written(process: u32) -> Result<u64> {
    said(process, "io")?
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok())
        .with_context(|| format!("no write_bytes in /proc/{process}/io"))
}

/// A file that the kernel keeps about a process.
fn said(process: u32, file: &str) -> Result<String> {
    let path = PathBuf::from(format!("/proc/{process}/{file}"));
    std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
}

/// A child process that is killed when this value goes.
#[derive(Debug)]
pub(crate) struct Killed(pub(crate) Child);

impl Killed {
    /// Starts this program with other arguments; its output can be read line by line.
    pub(crate) fn this_program(arguments: &[&str]) -> Result<Self> {
        let program = std::env::current_exe().context("find this program")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(Self(command.spawn().context("start a child of this program")?))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody to tell.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
