//! The form of the tree: what a compiler does not see and a reviewer should not have to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::run::{command, root};

/// Which of our crates each of our crates may name (design invariants I1 and I2). Every entry is
/// a decision; a new edge needs a decision record.
const EDGES: &[(&str, &[&str])] = &[
    ("goyaml", &[]),
    ("rsakey", &[]),
    ("gotemplate", &["goyaml", "rsakey"]),
    ("kubeschema", &["goyaml"]),
    ("helm", &["goyaml", "gotemplate", "kubeschema"]),
    ("kustomize", &["goyaml", "kubeschema"]),
    ("apiserver", &["goyaml", "kubeschema"]),
    ("controlplane", &[]),
    ("fleet-api", &["goyaml"]),
    ("fleet-source", &["fleet-api", "goyaml", "gotemplate"]),
    ("fleet-plan", &["fleet-api", "goyaml", "gotemplate", "kubeschema"]),
    (
        "fleet-deploy",
        &["fleet-api", "goyaml", "helm", "kustomize", "kubeschema"],
    ),
    ("fleet-runtime", &["fleet-api"]),
    (
        "fleet-manager",
        &["fleet-api", "fleet-plan", "fleet-source", "fleet-runtime", "goyaml"],
    ),
    (
        "fleet-agent",
        &[
            "fleet-api",
            "fleet-deploy",
            "fleet-runtime",
            "goyaml",
            "helm",
            "kubeschema",
        ],
    ),
    (
        "fleet",
        &[
            "apiserver",
            "goyaml",
            "helm",
            "kustomize",
            "fleet-api",
            "fleet-source",
            "fleet-plan",
            "fleet-deploy",
            "fleet-runtime",
            "fleet-manager",
            "fleet-agent",
        ],
    ),
    ("fleet-testkit", &["goyaml", "fleet-api"]),
    (
        "fleet-fuzz",
        &[
            "apiserver",
            "goyaml",
            "gotemplate",
            "helm",
            "kubeschema",
            "kustomize",
            "fleet-source",
        ],
    ),
    (
        "fleet-bench",
        &[
            "apiserver",
            "controlplane",
            "fleet-api",
            "fleet-testkit",
            "goyaml",
            "helm",
        ],
    ),
    ("xtask", &["controlplane", "goyaml", "kubeschema", "fleet-api"]),
];

/// What the pure crate may name besides ours: no runtime, no client, no file system, no clock.
const PURE: (&str, &[&str]) = (
    "fleet-plan",
    &["serde", "serde_json", "thiserror", "k8s-openapi", "regex"],
);

pub(crate) fn check() -> Result<()> {
    let mut problems = Vec::new();
    dependencies(&mut problems)?;
    let sources = files(&root(), "rs")?;
    module_headers(&sources, &mut problems)?;
    named_paths(&mut problems)?;
    largest(&sources)?;
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{} things are untidy:\n  {}", problems.len(), problems.join("\n  "))
}

fn dependencies(problems: &mut Vec<String>) -> Result<()> {
    let output = command("cargo", &["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .context("cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("read cargo metadata")?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let allowed: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let folder = package["manifest_path"]
            .as_str()
            .and_then(|path| Path::new(path).parent()?.file_name()?.to_str());
        if folder != Some(name) {
            problems.push(format!("crate {name} lives in the folder {folder:?}"));
        }
        let Some(edges) = allowed.get(name) else {
            problems.push(format!(
                "crate {name} is not in xtask's list of dependencies (and in design)"
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            if dependency["kind"] == "dev" {
                continue;
            }
            let other = dependency["name"].as_str().unwrap_or_default();
            if allowed.contains_key(other) && !edges.contains(&other) {
                problems.push(format!("{name} may not depend on {other}"));
            }
            if name == PURE.0 && !allowed.contains_key(other) && !PURE.1.contains(&other) {
                problems.push(format!("{name} is pure and may not depend on {other}"));
            }
        }
    }
    Ok(())
}

fn module_headers(sources: &[PathBuf], problems: &mut Vec<String>) -> Result<()> {
    for path in sources {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        let shown = path.strip_prefix(root()).unwrap_or(path).display().to_string();
        if !text.starts_with("//!") {
            problems.push(format!("{shown} does not say what it is (`//!` first)"));
        }
        for (number, line) in text.lines().enumerate() {
            let marks = ["TODO", "XXX"].iter().any(|mark| line.contains(&format!("// {mark}")));
            if marks && !line.contains('#') {
                problems.push(format!("{shown}:{} marks work without naming an issue", number + 1));
            }
        }
    }
    Ok(())
}

/// Paths in backticks in the documents that describe the tree must exist.
fn named_paths(problems: &mut Vec<String>) -> Result<()> {
    for document in ["ARCHITECTURE.md", "PARITY.md", "README.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root().join(document)).with_context(|| format!("read {document}"))?;
        for word in text.split('`').skip(1).step_by(2) {
            let first = word.split('/').next().unwrap_or_default();
            let path = word.split(['#', ' ']).next().unwrap_or_default();
            let looks_like_path = word.contains('/') && !word.contains(['<', '*', '{', '$', ':']);
            if looks_like_path
                && ["lib", "crates", "docs", "charts", "examples", "xtask", "schemas", ".ci"].contains(&first)
                && !root().join(path).exists()
            {
                problems.push(format!("{document} names {path}, which does not exist"));
            }
        }
    }
    Ok(())
}

/// Lists the largest files, so that somebody looks; no failure.
fn largest(sources: &[PathBuf]) -> Result<()> {
    let mut sizes = Vec::new();
    for path in sources {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        sizes.push((
            text.lines().count(),
            path.strip_prefix(root()).unwrap_or(path).display().to_string(),
        ));
    }
    sizes.sort();
    eprintln!("largest files:");
    for (lines, path) in sizes.iter().rev().take(5) {
        eprintln!("  {lines:5} {path}");
    }
    Ok(())
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let skipped: BTreeSet<&str> = ["target", ".git", "kube"].into();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !skipped.contains(name) {
                found.extend(files(&path, extension)?);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
