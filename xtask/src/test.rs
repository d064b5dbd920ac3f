//! `cargo xtask ci` and `cargo xtask test`.
//!
//! Everything is built once, in the release profile, because that is also what users run and what
//! the recorded corpora are checked with. What a machine lacks (Go) is left out loudly, never
//! silently; in continuous integration nothing may be left out.

use anyhow::{Result, bail};

use crate::run::{command, exists, run, variable};
use crate::{codegen, kube, tidy};

pub(crate) fn ci() -> Result<()> {
    if exists("cargo-fmt", "--version") {
        run(command("cargo", &["fmt", "--all", "--check"]))?;
    } else {
        leave_out("cargo fmt", "rustfmt is not installed")?;
    }
    codegen::check()?;
    tidy::check()?;
    if exists("cargo-clippy", "--version") {
        run(command(
            "cargo",
            &[
                "clippy",
                "--release",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
        ))?;
    } else {
        leave_out("clippy", "it is not installed")?;
    }
    test(&[])
}

pub(crate) fn test(arguments: &[&str]) -> Result<()> {
    let programs = if exists("go", "version") || variable("KUBE_BIN_DIR").is_some() {
        Some(kube::build()?)
    } else {
        leave_out(
            "tests against a real kube-apiserver",
            "neither Go nor KUBE_BIN_DIR is there to get one",
        )?;
        None
    };
    // The binaries first: tests start them as processes.
    run(command("cargo", &["build", "--release", "--workspace", "--bins"]))?;
    let mut tests = command("cargo", &["test", "--release", "--workspace"]);
    tests.args(arguments);
    if let Some(programs) = &programs {
        tests.env("KUBE_BIN_DIR", programs);
    }
    run(tests)?;
    if programs.is_none() {
        eprintln!("left out: tests against a real kube-apiserver; install Go, or set KUBE_BIN_DIR, to run them");
    }
    Ok(())
}

/// Says what is not checked here and why. In continuous integration that is a failure.
fn leave_out(what: &str, why: &str) -> Result<()> {
    if variable("CI").is_some() {
        bail!("{what} can't run: {why}");
    }
    eprintln!("left out: {what}: {why}");
    Ok(())
}
