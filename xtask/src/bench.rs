//! `cargo xtask bench NAME`: builds what a benchmark needs in release and runs it.
//!
//! The benchmarks themselves live in `crates/fleet-bench`; here they only get what they compare with.

use anyhow::{Result, bail};

use crate::run::{command, run, target};
use crate::{kube, tools};

pub(crate) fn bench(name: &str, rest: &[&str]) -> Result<()> {
    let mut arguments: Vec<String> = vec![name.to_owned()];
    match name {
        "apiserver" => {
            build(&["fleet-bench"])?;
            arguments.extend(["--programs".to_owned(), kube::build()?.display().to_string()]);
        }
        "store" => build(&["fleet-bench"])?,
        "render" => {
            build(&["fleet-bench"])?;
            arguments.extend(["--python".to_owned(), tools::helm_python()?.display().to_string()]);
            if rest.iter().all(|argument| argument.starts_with('-')) {
                arguments.extend(["examples", "charts"].map(str::to_owned));
            }
        }
        "releases" => build(&["fleet-bench", "fleet-agent"])?,
        other => bail!("unknown benchmark {other:?}: apiserver, store, render, releases"),
    }
    arguments.extend(rest.iter().copied().map(str::to_owned));
    let program = target().join("release").join("fleet-bench").display().to_string();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(command(&program, &arguments))
}

fn build(packages: &[&str]) -> Result<()> {
    let mut arguments = vec!["build", "--release"];
    for package in packages {
        arguments.extend(["-p", package]);
    }
    run(command("cargo", &arguments))
}
