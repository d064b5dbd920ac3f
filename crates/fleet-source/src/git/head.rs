//! The repository around a directory of this machine: its top and its commit.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::env;

/// The commit (hex) that is checked out around `directory`; `None` outside of a repository, in an
/// empty one, or without the git program.
#[must_use]
pub fn head(directory: &Path) -> Option<String> {
    ask(directory, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
}

/// The top directory of the repository around `directory`.
#[must_use]
pub fn top(directory: &Path) -> Option<PathBuf> {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(".git").exists())
        .map(Path::to_path_buf)
}

fn ask(directory: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .env_clear()
        .envs(env::passed_on());
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0");
    // The user runs this on a directory of their choice; only its HEAD is read.
    command
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*");
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
