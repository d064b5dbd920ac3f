//! The demo's git repository: the examples as a first commit, in a directory the user may commit to.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use include_dir::{Dir, include_dir};
use tokio::process::Command;

static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../examples");

/// A repository on this machine.
pub(crate) struct Repository {
    directory: PathBuf,
}

impl Repository {
    /// Makes a repository with branch `main` and the examples in `directory`; keeps one that is there already.
    pub(crate) async fn create(directory: &Path) -> Result<Self> {
        let repository = Self {
            directory: directory.to_owned(),
        };
        if directory.join(".git").exists() {
            return Ok(repository);
        }
        std::fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
        EXAMPLES
            .extract(directory)
            .with_context(|| format!("write the examples to {}", directory.display()))?;
        repository.git(&["init", "--quiet", "--initial-branch=main"]).await?;
        // A machine without a git identity can commit to this one.
        repository.git(&["config", "user.name", "Fleet demo"]).await?;
        repository.git(&["config", "user.email", "demo@fleet.invalid"]).await?;
        repository.git(&["add", "--all"]).await?;
        repository
            .git(&["commit", "--quiet", "--message", "Add the examples"])
            .await?;
        Ok(repository)
    }

    /// Its URL for a GitRepo.
    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.directory.display())
    }

    async fn git(&self, arguments: &[&str]) -> Result<()> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&self.directory)
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .stdin(Stdio::null())
            .output()
            .await
            .context("start git; the demo needs it to make a repository")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!(
                "git {} in {}: {}",
                arguments.join(" "),
                self.directory.display(),
                said.trim()
            );
        }
        Ok(())
    }
}
