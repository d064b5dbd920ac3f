//! `cargo xtask fuzz`: runs the programs of `fuzz/`, one after the other.
//!
//! Works with the stable compiler: instrumented for coverage, without a sanitizer (the workspace has no unsafe code of
//! its own). What a run learns is kept in `target/fuzz/corpus`; what it finds lies in `target/fuzz/found` until it is
//! fixed and moves to `fuzz/regressions`, which the tests of `crates/fleet-fuzz` repeat.

use anyhow::{Context as _, Result, bail};

use crate::run::{command, exists, root, run, target};

/// Targets and the longest input each is given, in bytes: long enough for what it reads, short enough to be fast.
const TARGETS: &[(&str, u32)] = &[
    ("yaml", 2048),
    ("template", 2048),
    ("values", 2048),
    ("chart", 12288),
    ("index", 4096),
    ("kustomization", 4096),
    ("patch", 4096),
    ("apply", 4096),
    ("selector", 512),
];

const SECONDS: u32 = 600;
/// An input that needs more is a finding.
const MEMORY_MIB: u32 = 512;
/// An input that takes longer is a finding.
const TIMEOUT_SECONDS: u32 = 10;

/// `[TARGET…] [--seconds N]`
pub(crate) fn fuzz(arguments: &[&str]) -> Result<()> {
    let mut seconds = SECONDS;
    let mut wanted = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if *argument == "--seconds" {
            let number = rest.next().context("--seconds needs a number")?;
            seconds = number.parse().with_context(|| format!("--seconds {number}"))?;
        } else if let Some(target) = TARGETS.iter().find(|(name, _)| name == argument) {
            wanted.push(*target);
        } else {
            let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
            bail!("no target {argument:?}; there are {}", names.join(", "));
        }
    }
    if wanted.is_empty() {
        wanted.extend(TARGETS);
    }
    if !exists("cargo-fuzz", "--version") {
        bail!("cargo-fuzz is missing: cargo install cargo-fuzz --locked");
    }
    for (name, longest) in wanted {
        one(name, longest, seconds)?;
    }
    Ok(())
}

fn one(name: &str, longest: u32, seconds: u32) -> Result<()> {
    let home = target().join("fuzz");
    let (corpus, found) = (home.join("corpus").join(name), home.join("found").join(name));
    for folder in [&corpus, &found] {
        std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    }
    let mut program = command("cargo", &["fuzz", "run", "--fuzz-dir", "fuzz", "--sanitizer", "none"]);
    program.arg("--target-dir").arg(&home).arg(name).arg(&corpus);
    for folder in ["seeds", "regressions"] {
        let folder = root().join("fuzz").join(folder).join(name);
        if folder.is_dir() {
            program.arg(folder);
        }
    }
    program.arg("--");
    program.arg(format!("-max_total_time={seconds}"));
    program.arg(format!("-rss_limit_mb={MEMORY_MIB}"));
    program.arg(format!("-timeout={TIMEOUT_SECONDS}"));
    program.arg(format!("-max_len={longest}"));
    program.arg(format!("-artifact_prefix={}/", found.display()));
    program.arg("-print_final_stats=1");
    let dictionary = root().join("fuzz/dictionaries").join(format!("{name}.txt"));
    if dictionary.is_file() {
        program.arg(format!("-dict={}", dictionary.display()));
    }
    run(program).with_context(|| format!("fuzz {name}: the input lies in {}", found.display()))
}
