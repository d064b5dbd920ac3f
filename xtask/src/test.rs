//! `cargo xtask ci` and `cargo xtask test`.
//!
//! Everything is built in the dev profile: optimising the test programs took longer than everything else together, and
//! overflow checks are wanted here. What users run is built and checked in the release profile by `.ci/run`. What a
//! machine lacks (Go, Python) is left out loudly, never silently; in continuous integration nothing may be left out.

use anyhow::{Result, bail};

use crate::run::{command, exists, run, variable};
use crate::{codegen, kube, tidy, tools};

/// Why the real programs may be missing.
const NO_TOOLS: &str = "neither Python 3 nor HELM_BIN, HELM3_BIN, KUBECTL_BIN and KUBECTL31_BIN are there to get them";

pub(crate) fn ci() -> Result<()> {
    if exists("cargo-fmt", "--version") {
        run(command("cargo", &["fmt", "--all", "--check"]))?;
    } else {
        leave_out("cargo fmt", "rustfmt is not installed")?;
    }
    codegen::check()?;
    tidy::check()?;
    if exists("cargo-clippy", "--version") {
        let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
        run(command("cargo", &arguments))?;
    } else {
        leave_out("clippy", "it is not installed")?;
    }
    test(&[])
}

pub(crate) fn test(arguments: &[&str]) -> Result<()> {
    let programs = if kube::available() {
        Some(kube::build()?)
    } else {
        leave_out(
            "tests against a real kube-apiserver",
            "neither Go nor KUBE_BIN_DIR is there to get one",
        )?;
        None
    };
    let tools = if tools::available() {
        tools::for_tests()?
    } else {
        leave_out("tests against real helm and kubectl", NO_TOOLS)?;
        Vec::new()
    };
    // The binaries first: tests start them as processes.
    run(command("cargo", &["build", "--workspace", "--bins"]))?;
    let mut tests = command("cargo", &["test", "--workspace"]);
    tests.args(arguments);
    if let Some(programs) = &programs {
        tests.env("KUBE_BIN_DIR", programs);
    }
    let found = !tools.is_empty();
    tests.envs(tools);
    run(tests)?;
    if !found {
        eprintln!("left out: tests against real helm and kubectl: {NO_TOOLS}");
    }
    if programs.is_none() {
        eprintln!("left out: tests against a real kube-apiserver; install Go, or set KUBE_BIN_DIR, to run them");
    }
    Ok(())
}

/// Says what is not checked here and why. In continuous integration that is a failure.
pub(crate) fn leave_out(what: &str, why: &str) -> Result<()> {
    if variable("CI").is_some() {
        bail!("{what} can't run: {why}");
    }
    eprintln!("left out: {what}: {why}");
    Ok(())
}
