//! Our binaries as processes: started, listened to, ended politely or not.

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// The binary of this name that was built together with the running test.
///
/// # Errors
/// It was not built; `cargo build --workspace --bins` with the test's profile does.
pub fn binary(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe().context("find the test's own file")?;
    // target/PROFILE/deps/TEST-HASH
    let folder = test.parent().and_then(Path::parent).context("find the build folder")?;
    let path = folder.join(name);
    if !path.exists() {
        bail!(
            "{} is missing; `cargo build --workspace --bins` (with the profile of this test) makes it",
            path.display()
        );
    }
    Ok(path)
}

/// Ports below those that the kernel gives to outgoing connections and to whoever asks for any.
const PORTS: std::ops::Range<u16> = 15_000..31_000;

/// An address on loopback that nothing listens on, for a program that is started there more than once. The kernel gives
/// its port to nobody meanwhile.
///
/// # Errors
/// No port is free.
pub fn free_address() -> Result<SocketAddr> {
    // Test programs that run at the same time start looking at different ports.
    let first = std::process::id() as usize * 97 % PORTS.len();
    PORTS
        .cycle()
        .skip(first)
        .take(PORTS.len())
        .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .find(|address| TcpListener::bind(address).is_ok())
        .context("find a free port")
}

/// A running process. Killed when dropped.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    lines: Receiver<String>,
    log: PathBuf,
}

impl Program {
    /// Starts `command` with its stderr in `log`; its stdout is read line by line.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(mut command: Command, log: &Path) -> Result<Self> {
        let name = Path::new(command.get_program())
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let file = std::fs::File::options()
            .create(true)
            .append(true)
            .open(log)
            .with_context(|| format!("open {}", log.display()))?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .with_context(|| format!("start {name}"))?;
        let (send, lines) = channel();
        let stdout = child.stdout.take().context("read its output")?;
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            name,
            child,
            lines,
            log: log.to_owned(),
        })
    }

    /// The next line of its stdout for which `wanted` says yes.
    ///
    /// # Errors
    /// It ended, or said no such thing in time; the end of its log is part of the message.
    pub fn line(&self, what: &str, within: Duration, wanted: impl Fn(&str) -> bool) -> Result<String> {
        let deadline = Instant::now() + within;
        let mut last = String::new();
        loop {
            match self
                .lines
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(line) if wanted(&line) => return Ok(line),
                Ok(line) => last = line,
                Err(RecvTimeoutError::Timeout) => {
                    bail!(
                        "{} did not say {what} within {within:?}; last line: {last}\n{}",
                        self.name,
                        self.log_end()
                    )
                }
                Err(RecvTimeoutError::Disconnected) => {
                    bail!(
                        "{} ended before it said {what}; last line: {last}\n{}",
                        self.name,
                        self.log_end()
                    )
                }
            }
        }
    }

    /// The last lines of its stderr.
    #[must_use]
    pub fn log_end(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// SIGKILL: no chance to write anything more.
    ///
    /// # Errors
    /// It cannot be killed.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill().with_context(|| format!("kill {}", self.name))?;
        self.child.wait().with_context(|| format!("wait for {}", self.name))?;
        Ok(())
    }

    /// SIGTERM, then its exit status.
    ///
    /// # Errors
    /// It does not end within the patience of the operating system's `kill` and `wait`.
    pub fn stop(mut self) -> Result<ExitStatus> {
        let status = Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .context("run kill")?;
        if !status.success() {
            bail!("kill {} failed", self.name);
        }
        self.child.wait().with_context(|| format!("wait for {}", self.name))
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn wait(mut self) -> Result<ExitStatus> {
        self.child.wait().with_context(|| format!("wait for {}", self.name))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already; there is nobody to tell.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
