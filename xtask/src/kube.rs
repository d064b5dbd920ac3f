//! A real control plane for tests, built from Go modules into `target/kube/`.
//!
//! `xtask/kube/go.mod` pins the versions. A stamp holds what was built, so that an unchanged
//! pin builds nothing.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use controlplane::{ControlPlane, Options};

use crate::run::{command, exists, root, run, target, variable};

/// The version the API server reports; the one pinned in go.mod.
const KUBERNETES: (&str, &str) = ("1", "36");
const KWOK: &str = "sigs.k8s.io/kwok/cmd/kwok@v0.8.0";
const PROGRAMS: [&str; 5] = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
];

/// Variables that name a folder with the programs.
const FOLDERS: [&str; 2] = ["KUBE_BIN_DIR", "KUBEBUILDER_ASSETS"];

/// Whether the programs are there or can be built.
pub(crate) fn available() -> bool {
    FOLDERS.into_iter().any(|name| variable(name).is_some()) || exists("go", "version")
}

/// The folder with the programs: `KUBE_BIN_DIR` or `KUBEBUILDER_ASSETS` where set, else built.
pub(crate) fn build() -> Result<PathBuf> {
    for name in FOLDERS {
        if let Some(folder) = variable(name) {
            return Ok(folder.into());
        }
    }
    let folder = target().join("kube");
    let pins = std::fs::read_to_string(root().join("xtask/kube/go.mod")).context("read xtask/kube/go.mod")? + KWOK;
    let stamp = folder.join("built");
    if std::fs::read_to_string(&stamp).is_ok_and(|built| built == pins)
        && PROGRAMS.iter().all(|program| folder.join(program).exists())
    {
        return Ok(folder);
    }
    if !exists("go", "version") {
        bail!("building a control plane needs Go; install it, or set KUBE_BIN_DIR to a folder with {PROGRAMS:?}");
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let version = version()?;
    let (major, minor) = KUBERNETES;
    let flags = format!(
        "-s -w -X k8s.io/component-base/version.gitVersion={version} \
         -X k8s.io/component-base/version.gitMajor={major} -X k8s.io/component-base/version.gitMinor={minor}"
    );
    let output = format!("{}/", folder.display());
    let etcd = folder.join("etcd").display().to_string();
    let go = |arguments: &[&str]| {
        let mut command = command("go", arguments);
        command
            .current_dir(root().join("xtask/kube"))
            .env("CGO_ENABLED", "0")
            .env("GOFLAGS", "-buildvcs=false");
        command
    };
    run(go(&[
        "build",
        "-trimpath",
        "-ldflags",
        "-s -w",
        "-o",
        &etcd,
        "go.etcd.io/etcd/server/v3",
    ]))?;
    let mut arguments = vec!["build", "-trimpath", "-ldflags", &flags, "-o", &output];
    arguments.extend([
        "k8s.io/kubernetes/cmd/kube-apiserver",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
        "k8s.io/kubernetes/cmd/kube-scheduler",
    ]);
    run(go(&arguments))?;
    let mut kwok = go(&["install", KWOK]);
    kwok.env("GOBIN", &folder);
    run(kwok)?;
    std::fs::write(&stamp, pins).with_context(|| format!("write {}", stamp.display()))?;
    Ok(folder)
}

/// The Kubernetes version that go.mod pins.
fn version() -> Result<String> {
    let text = std::fs::read_to_string(root().join("xtask/kube/go.mod")).context("read xtask/kube/go.mod")?;
    text.lines()
        .find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "))
        .map(str::to_owned)
        .context("xtask/kube/go.mod requires no k8s.io/kubernetes")
}

fn directory(name: &str) -> PathBuf {
    target().join("controlplane").join(name)
}

pub(crate) fn up(name: &str) -> Result<()> {
    let programs = build()?;
    let directory = directory(name);
    if directory.join("pids").exists() {
        bail!("{name} is already up; `cargo xtask kube down {name}` stops it");
    }
    if directory.exists() {
        std::fs::remove_dir_all(&directory).with_context(|| format!("empty {}", directory.display()))?;
    }
    let plane = ControlPlane::start(
        &programs,
        &directory,
        Options {
            controllers: true,
            workloads: true,
        },
    )?;
    println!("{}", plane.kubeconfig().display());
    plane.detach();
    Ok(())
}

pub(crate) fn down(name: &str) -> Result<()> {
    controlplane::stop(&directory(name)).with_context(|| format!("stop {name}"))
}
