//! `fleet build` as a process: a directory in, manifests or a reason out.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use fleet_testkit::binary;

fn write(folder: &Path, files: &[(&str, &str)]) -> Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().context("no folder")?)?;
        std::fs::write(path, text)?;
    }
    Ok(())
}

#[test]
fn a_kustomization_is_printed_with_bases_outside_of_it() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n";
    write(
        folder.path(),
        &[
            ("base/kustomization.yaml", "resources: [pod.yaml]\n"),
            ("base/pod.yaml", pod),
            ("prod/kustomization.yaml", "resources: [../base]\nnamePrefix: prod-\n"),
        ],
    )?;
    let output = Command::new(binary("fleet")?)
        .arg("build")
        .arg(folder.path().join("prod"))
        .output()?;
    let printed = String::from_utf8(output.stdout)?;
    let expected = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ns\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: prod-web\n";
    ensure!(
        printed == expected,
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

#[test]
fn a_refused_kustomization_says_file_and_field() -> Result<()> {
    let folder = tempfile::tempdir()?;
    write(folder.path(), &[("kustomization.yaml", "resources: [nope.yaml]\n")])?;
    let output = Command::new(binary("fleet")?)
        .arg("build")
        .arg(folder.path())
        .output()?;
    let complained = String::from_utf8(output.stderr)?;
    ensure!(!output.status.success() && output.stdout.is_empty(), "it did not fail");
    ensure!(
        complained.contains("kustomization.yaml: resources[0]: 'nope.yaml' does not exist"),
        "{complained}"
    );
    Ok(())
}
