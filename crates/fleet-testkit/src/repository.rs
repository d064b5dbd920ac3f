//! A git repository in a directory, made with the real git.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// A repository with branch `main`.
#[derive(Debug)]
pub struct Repository {
    directory: PathBuf,
}

impl Repository {
    /// Makes an empty one.
    ///
    /// # Errors
    /// git is missing or refuses.
    pub fn create(directory: &Path) -> Result<Self> {
        std::fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
        let repository = Self::open(directory);
        repository.git(&["init", "--quiet", "--initial-branch=main"])?;
        repository.git(&["config", "user.name", "Test"])?;
        repository.git(&["config", "user.email", "test@fleet.invalid"])?;
        Ok(repository)
    }

    /// One that is there.
    #[must_use]
    pub fn open(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
        }
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("file://{}", self.directory.display())
    }

    /// Writes a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.directory.join(path);
        let folder = path.parent().context("a file has a folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))
    }

    /// Text of a file.
    ///
    /// # Errors
    /// There is no such file.
    pub fn read(&self, path: &str) -> Result<String> {
        let path = self.directory.join(path);
        std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
    }

    /// Commits everything; the commit's id.
    ///
    /// # Errors
    /// git refuses, for example because nothing changed.
    pub fn commit(&self, message: &str) -> Result<String> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", message])?;
        Ok(self.git(&["rev-parse", "HEAD"])?.trim().to_owned())
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(&self.directory)
            .output()
            .context("start git")?;
        if !output.status.success() {
            bail!(
                "git {}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
