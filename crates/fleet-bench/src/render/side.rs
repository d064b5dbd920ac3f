//! A chart becomes the times that one side takes for it: our engine in this process, Helm's as a library in another.
//!
//! Both load the chart and render it with its default values, do so again, then render what they loaded once more. Neither sorts or
//! parses what was printed, and taking the chart apart afterwards counts on neither side.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use helm::cache::Cache;
use helm::capabilities::Capabilities;
use helm::chart::Chart;
use helm::render::{Manifest, ReleaseOptions, Rendered};
use helm::values::Values;
use serde_json::Value;

use crate::process::Killed;

/// What runs in the Python that has Helm's library.
const SCRIPT: &str = include_str!("helm.py");

/// What one side takes for one chart.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// To load it and render it while the processor's caches hold what the other side used.
    pub(super) cold: Duration,
    /// To load it and render it right afterwards.
    pub(super) first: Duration,
    /// To render the loaded chart again.
    pub(super) again: Duration,
}

/// Our times, and whether the chart makes keys; none if we refuse it.
pub(super) fn ours(path: &Path) -> Option<(Times, bool)> {
    let (_, _, cold) = load_and_render(path)?;
    let (chart, one, first) = load_and_render(path)?;
    let begin = Instant::now();
    let other = render(&chart)?;
    let again = begin.elapsed();
    let mut pairs = one.manifests.iter().zip(&other.manifests);
    let keys = pairs.any(|(one, other)| makes_keys(one, other)) || again >= SLOW && names_slow_function(&one.chart);
    Some((Times { cold, first, again }, keys))
}

/// A chart, what it renders to, and how long that took.
fn load_and_render(path: &Path) -> Option<(Chart, Rendered, Duration)> {
    let begin = Instant::now();
    let chart = helm::folder::load(path).ok()?;
    let rendered = render(&chart)?;
    let took = begin.elapsed();
    Some((chart, rendered, took))
}

fn render(chart: &Chart) -> Option<Rendered> {
    let release = ReleaseOptions {
        name: "release-name".to_owned(),
        namespace: "default".to_owned(),
        revision: 1,
        is_install: true,
        ..ReleaseOptions::default()
    };
    helm::render::render(chart, &Values::new(), &release, &Capabilities::default(), None).ok()
}

/// How long ours takes from files where `cache` may know the templates; none if it refuses.
pub(super) fn known(path: &Path, cache: &Cache) -> Option<Duration> {
    let begin = Instant::now();
    let mut chart = helm::folder::load(path).ok()?;
    cache.share(&mut chart);
    render(&chart)?;
    Some(begin.elapsed())
}

/// How long ours takes for the text that a user sees; none if it refuses.
pub(super) fn sorted(path: &Path) -> Option<Duration> {
    let begin = Instant::now();
    let chart = helm::folder::load(path).ok()?;
    let text = helm::template::template(&chart, &Values::new(), &helm::template::Options::default());
    let took = begin.elapsed();
    text.is_ok().then_some(took)
}

/// How a key or a certificate begins, as it is and in base64.
const PEM: [&str; 2] = ["-----BEGIN ", "LS0tLS1CRUdJTi"];

/// Whether two renders of one template hold different keys or certificates: a line that is not the same in both holds
/// the beginning of one, or follows it.
fn makes_keys(one: &Manifest, other: &Manifest) -> bool {
    let begins = |line: &str| PEM.iter().any(|mark| line.contains(mark));
    let mut above = "";
    one.text.lines().zip(other.text.lines()).any(|(line, beside)| {
        let found = line != beside && (begins(line) || begins(above));
        above = line;
        found
    })
}

/// Charts that name a slow function take so long only if they call it, though they may print nothing of the key.
const SLOW: Duration = Duration::from_millis(20);

/// Whether a template names a function that makes a key or hashes a password.
fn names_slow_function(chart: &Chart) -> bool {
    const FUNCTIONS: [&str; 7] = [
        "genCA",
        "genPrivateKey",
        "genSelfSignedCert",
        "genSignedCert",
        "htpasswd",
        "bcrypt",
        "derivePassword",
    ];
    let named = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        FUNCTIONS.iter().any(|function| text.contains(function))
    };
    chart.templates.iter().any(|file| named(&file.data)) || chart.dependencies.iter().any(names_slow_function)
}

/// Helm's engine in a Python.
pub(super) struct Helm {
    pub(super) child: Killed,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Helm {
    pub(super) fn start(python: &Path) -> Result<Self> {
        let mut child: Child = Command::new(python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {}", python.display()))?;
        let input = child.stdin.take().context("Helm has no input")?;
        let output = BufReader::new(child.stdout.take().context("Helm has no output")?);
        Ok(Self {
            child: Killed(child),
            input,
            output,
        })
    }

    /// Helm's times; none if it refuses.
    pub(super) fn render(&mut self, path: &Path) -> Result<Option<Times>> {
        writeln!(self.input, "{}", path.display()).context("ask Helm")?;
        let mut line = String::new();
        self.output.read_line(&mut line).context("hear from Helm")?;
        let answer: Value = serde_json::from_str(&line).context("Helm ended")?;
        let time = |name: &str| answer[name].as_u64().map(Duration::from_nanos);
        let times = |cold| {
            Some(Times {
                cold,
                first: time("first")?,
                again: time("again")?,
            })
        };
        Ok(time("cold").and_then(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> Manifest {
        Manifest {
            path: "x.yaml".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn only_a_key_that_is_another_one_each_time_counts() {
        let plain = |key: &str| manifest(&format!("password: {key}\nkey: |\n  -----BEGIN KEY-----\n  abc\n"));
        assert!(!makes_keys(&plain("a"), &plain("b")));
        let pem = |key: &str| manifest(&format!("key: |\n  -----BEGIN KEY-----\n  {key}\n"));
        assert!(makes_keys(&pem("a"), &pem("b")));
        assert!(!makes_keys(&pem("a"), &pem("a")));
        let encoded = |key: &str| manifest(&format!("tls.key: LS0tLS1CRUdJTiBSU0Eg{key}\n"));
        assert!(makes_keys(&encoded("a"), &encoded("b")));
    }
}
