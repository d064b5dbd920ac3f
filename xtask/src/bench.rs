//! `cargo xtask bench NAME`: builds what a benchmark needs in release and runs it.
//!
//! The benchmarks themselves live in `crates/fleet-bench`; here they only get what they compare with.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::run::{command, root, run, target};
use crate::{kube, oracle, tools};

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
            let (folders, options) = apart(rest);
            arguments.extend(["--python".to_owned(), tools::helm_python()?.display().to_string()]);
            arguments.extend(["--charts".to_owned(), charts(&folders)?.display().to_string()]);
            return start(arguments, &options);
        }
        "releases" => build(&["fleet-bench", "fleet-agent"])?,
        other => bail!("unknown benchmark {other:?}: apiserver, store, render, releases"),
    }
    start(arguments, rest)
}

fn start(mut arguments: Vec<String>, rest: &[&str]) -> Result<()> {
    arguments.extend(rest.iter().copied().map(str::to_owned));
    let program = target().join("release").join("fleet-bench").display().to_string();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(command(&program, &arguments))
}

/// Folders, and options with their values.
fn apart<'a>(words: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut folders, mut options) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            options.push(word);
            if !word.contains('=') {
                options.extend(words.next());
            }
        } else {
            folders.push(word);
        }
    }
    (folders, options)
}

/// A file that lists the charts below folders, those that the comparison of outputs takes; below the project's own
/// folders where none are named.
fn charts(folders: &[&str]) -> Result<PathBuf> {
    let folders: Vec<PathBuf> = match folders {
        [] => ["examples", "charts"].map(|folder| root().join(folder)).into(),
        named => named
            .iter()
            .map(|folder| oracle::existing(folder))
            .collect::<Result<_>>()?,
    };
    let work = target().join("bench").join("render");
    let charts = oracle::whole_charts(&folders, &work.join("charts"))?;
    std::fs::create_dir_all(&work).with_context(|| format!("create {}", work.display()))?;
    let list = work.join("list");
    let lines: String = charts.iter().map(|chart| format!("{}\n", chart.display())).collect();
    std::fs::write(&list, lines).with_context(|| format!("write {}", list.display()))?;
    Ok(list)
}

fn build(packages: &[&str]) -> Result<()> {
    let mut arguments = vec!["build", "--release"];
    for package in packages {
        arguments.extend(["-p", package]);
    }
    run(command("cargo", &arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_keep_their_values() {
        let (folders, options) = apart(&["a", "--times", "3", "b", "--times=3", "c"]);
        assert_eq!(folders, ["a", "b", "c"]);
        assert_eq!(options, ["--times", "3", "--times=3"]);
    }
}
