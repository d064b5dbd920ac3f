//! `cargo xtask oracle`: the same input to a real program and to ours, and how often they agree.
//!
//! What is compared is public material below directories that the caller names; nothing of it becomes part of the
//! project. `helm` compares `helm template` with `fleet template`, `kustomize` compares `kubectl kustomize` with `fleet
//! build`.

mod compare;
mod find;
mod helm;
mod kustomize;
mod report;
mod run;
mod vendor;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use self::vendor::Shelf;

/// What the user asked for.
struct Wanted {
    /// Repositories or directories.
    directories: Vec<PathBuf>,
    /// Our program; built where none is named.
    ours: Option<PathBuf>,
    /// Only inputs whose name contains this.
    only: Option<String>,
    /// Where to write the results as JSON.
    json: Option<PathBuf>,
    /// The document whose table is to be replaced.
    markdown: Option<PathBuf>,
}

/// `arguments` are what follows `oracle`.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["helm", rest @ ..] => helm::compare(&wanted(rest)?),
        ["kustomize", rest @ ..] => kustomize::compare(&wanted(rest)?),
        _ => bail!(
            "cargo xtask oracle helm|kustomize DIR… [--bin PROGRAM] [--only TEXT] [--json FILE] [--markdown FILE]"
        ),
    }
}

/// All charts below directories, with dependencies that are found there; what has to be copied for that goes below
/// `work`, which is emptied first.
pub(crate) fn whole_charts(directories: &[PathBuf], work: &Path) -> Result<Vec<PathBuf>> {
    emptied(work)?;
    let mut charts = Vec::new();
    for directory in directories {
        charts.extend(find::charts(directory)?);
    }
    let shelf = Shelf::new(&charts);
    let numbered = charts.iter().enumerate();
    numbered
        .map(|(number, chart)| shelf.complete(chart, &work.join(number.to_string())))
        .collect()
}

fn emptied(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("empty {}", folder.display()))?;
    }
    Ok(())
}

fn wanted(arguments: &[&str]) -> Result<Wanted> {
    let mut wanted = Wanted {
        directories: Vec::new(),
        ours: None,
        only: None,
        json: None,
        markdown: None,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} wants a value"));
        match *word {
            "--bin" => wanted.ours = Some(existing(value()?)?),
            "--only" => wanted.only = Some((*value()?).to_owned()),
            "--json" => wanted.json = Some(value()?.into()),
            // It has to be there, with the place for the table in it: better said before the work than after.
            "--markdown" => wanted.markdown = Some(existing(value()?)?),
            option if option.starts_with('-') => bail!("unknown option {option}"),
            directory => wanted.directories.push(existing(directory)?),
        }
    }
    if wanted.directories.is_empty() {
        bail!("name at least one directory to look in");
    }
    Ok(wanted)
}

/// The programs run elsewhere: paths must not depend on where the user stands.
pub(crate) fn existing(path: &str) -> Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| format!("find {path}"))
}
