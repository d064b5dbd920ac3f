//! Generated files: written here, committed, and checked to be what would be written.
//!
//! - `charts/fleet-crd/templates/crds.yaml` from the types of `fleet-api`. Its check is a test of that crate.
//! - `lib/kubeschema/data/kinds.json` from the documents of a real kube-apiserver; needs Go or `KUBE_BIN_DIR` and Go.

use anyhow::{Context as _, Result, bail};
use controlplane::{ControlPlane, Options};
use kubeschema::generate::{Documents, table};
use serde_json::{Map, Value};

use crate::kube;
use crate::run::{command, exists, root, run};
use crate::test::leave_out;

const KINDS: &str = "lib/kubeschema/data/kinds.json";

pub(crate) fn write() -> Result<()> {
    let mut crds = command("cargo", &["test", "--quiet", "--package", "fleet-api", "crd"]);
    crds.env("UPDATE_EXPECT", "1");
    run(crds)?;
    std::fs::write(root().join(KINDS), kinds()?).with_context(|| format!("write {KINDS}"))
}

pub(crate) fn check() -> Result<()> {
    if !exists("go", "version") {
        let what = format!("the check that {KINDS} is what a real kube-apiserver says");
        return leave_out(&what, "building one needs Go");
    }
    let on_disk = std::fs::read_to_string(root().join(KINDS)).with_context(|| format!("read {KINDS}"))?;
    if on_disk != kinds()? {
        bail!("{KINDS} is out of date; `cargo xtask codegen` writes it");
    }
    Ok(())
}

/// The table of built-in kinds, made from a control plane that is started for it.
fn kinds() -> Result<String> {
    let programs = kube::build()?;
    let directory = tempfile::tempdir().context("make a directory")?;
    let plane = ControlPlane::start(&programs, directory.path(), Options::default())?;
    let index = plane.document("/openapi/v3")?;
    let paths = index["paths"].as_object().context("the OpenAPI index has no paths")?;
    let mut openapi = Vec::new();
    for entry in paths.values() {
        openapi.push(plane.document(entry["serverRelativeURL"].as_str().context("a document has no URL")?)?);
    }
    let groups = plane.document("/apis")?;
    let mut versions = vec![("v1".to_owned(), "/api/v1".to_owned())];
    for group in groups["groups"].as_array().context("no groups")? {
        for version in group["versions"].as_array().context("no versions")? {
            let version = version["groupVersion"].as_str().context("a version without a name")?;
            versions.push((version.to_owned(), format!("/apis/{version}")));
        }
    }
    let mut resources = Map::new();
    for (version, path) in versions {
        resources.insert(version, plane.document(&path)?);
    }
    table(&Documents {
        openapi,
        resources,
        groups,
        zeroes: zeroes()?,
    })
    .context("make the table of kinds")
}

/// What the Go types do with zero values, which the OpenAPI documents do not say.
fn zeroes() -> Result<Value> {
    let program = root().join("lib/kubeschema/generate/main.go");
    let output = command("go", &["run"])
        .arg(&program)
        .current_dir(root().join("xtask/kube"))
        .env("GOFLAGS", "-buildvcs=false")
        .output()
        .context("run go")?;
    if !output.status.success() {
        bail!(
            "go run {}: {}",
            program.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    serde_json::from_slice(&output.stdout).context("read what the Go types do")
}
