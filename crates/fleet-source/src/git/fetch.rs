//! A commit → a directory with its files, as shallow as the server allows, with submodules.

use std::path::{Path, PathBuf};

use super::address::{address, is_commit};
use super::command::{Error, Git};
use super::commit::find;
use super::{Limits, Source};

/// A checked-out commit. The directory goes when this goes.
#[derive(Debug)]
pub struct Fetched {
    /// The commit, hex.
    pub commit: String,
    directory: tempfile::TempDir,
}

impl Fetched {
    /// The files.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.directory.path().join("source")
    }
}

/// Fetches a commit, or what the branch or revision is at if `commit` is empty. Limits are checked
/// before files are written.
///
/// # Errors
/// Anything git refuses, a tree over the limits.
pub async fn fetch(source: &Source, commit: &str, limits: Limits) -> Result<Fetched, Error> {
    let git = Git::new(address(source)?, &source.credentials, limits)?;
    let commit = match commit {
        "" if source.branch.is_empty() && is_commit(&source.revision) => source.revision.to_ascii_lowercase(),
        "" => find(&git, source).await?,
        commit if is_commit(commit) => commit.to_ascii_lowercase(),
        commit => {
            return Err(Error::Refuse {
                what: "commit",
                text: commit.to_owned(),
                why: "it is not a full commit id",
            });
        }
    };
    let directory = tempfile::Builder::new()
        .prefix("fleet-source-")
        .tempdir()
        .map_err(|source| Error::Prepare {
            what: "a temporary directory",
            source,
        })?;
    let fetched = Fetched { commit, directory };
    let root = fetched.directory();
    std::fs::create_dir(&root).map_err(|source| Error::Prepare {
        what: "a temporary directory",
        source,
    })?;
    git.run(&root, &["init", "--quiet"]).await?;
    git.run(&root, &["remote", "add", "--", "origin", &git.address.url])
        .await?;
    fetch_commit(&git, &root, &fetched.commit).await?;
    check_size(&git, &root, &fetched.commit, limits).await?;
    git.run(&root, &["checkout", "--quiet", "--force", "--detach", &fetched.commit])
        .await?;
    if root.join(".gitmodules").is_file() {
        git.run(
            &root,
            &[
                "submodule",
                "--quiet",
                "update",
                "--init",
                "--recursive",
                "--depth",
                "1",
            ],
        )
        .await?;
    }
    Ok(fetched)
}

/// The commit alone where the server gives it out, else all branches and tags.
async fn fetch_commit(git: &Git, root: &Path, commit: &str) -> Result<(), Error> {
    let quiet = [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
    ];
    let shallow = [&quiet[..], &["--depth", "1", "origin", commit]].concat();
    let Err(error) = git.run(root, &shallow).await else {
        return Ok(());
    };
    if !matches!(error, Error::Fail { .. }) {
        return Err(error);
    }
    let everything = [
        &quiet[..],
        &[
            "origin",
            "+refs/heads/*:refs/remotes/origin/*",
            "+refs/tags/*:refs/tags/*",
        ],
    ]
    .concat();
    git.run(root, &everything).await?;
    git.run(root, &["cat-file", "-e", &format!("{commit}^{{commit}}")])
        .await
        .map(|_| ())
        .map_err(|_| Error::Find {
            what: "revision",
            name: commit.to_owned(),
            url: git.address.url.clone(),
        })
}

async fn check_size(git: &Git, root: &Path, commit: &str, limits: Limits) -> Result<(), Error> {
    let listing = git
        .run(root, &["ls-tree", "-r", "-l", "-z", "--full-tree", commit])
        .await?;
    let (mut files, mut bytes) = (0_u64, 0_u64);
    for entry in listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        files += 1;
        // mode, type, object, size; then a tab and the name.
        let facts = entry.split(|byte| *byte == b'\t').next().unwrap_or_default();
        let size = String::from_utf8_lossy(facts)
            .split_whitespace()
            .nth(3)
            .and_then(|size| size.parse::<u64>().ok());
        bytes = bytes.saturating_add(size.unwrap_or(0));
    }
    for (found, what, limit) in [(files, "files", limits.tree_files), (bytes, "bytes", limits.tree_bytes)] {
        if found > limit {
            return Err(Error::Exceed { found, what, limit });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::commit;

    /// A repository with two commits on `master`, a branch and an annotated tag.
    fn repository() -> (tempfile::TempDir, Source) {
        let dir = tempfile::tempdir().unwrap();
        let script = "git init -q -b master . && git config user.email a@b && git config user.name n \
            && echo one > a && git add a && git commit -q -m 1 && git tag -a v1 -m v1 && git branch old \
            && echo two > a && mkdir sub && echo x > sub/b && git add . && git commit -q -m 2";
        let status = std::process::Command::new("sh")
            .args(["-ec", script])
            .current_dir(dir.path())
            .status()
            .unwrap();
        assert!(status.success());
        let source = Source {
            url: format!("file://{}", dir.path().display()),
            allow_file: true,
            ..Source::default()
        };
        (dir, source)
    }

    #[tokio::test]
    async fn branches_tags_and_commits_are_found_and_fetched() {
        let (_dir, source) = repository();
        let limits = Limits::default();
        let head = commit(&source, limits).await.unwrap();
        let fetched = fetch(&source, &head, limits).await.unwrap();
        assert_eq!(std::fs::read_to_string(fetched.directory().join("a")).unwrap(), "two\n");
        let old = Source {
            branch: "old".to_owned(),
            revision: "ignored".to_owned(),
            ..source.clone()
        };
        let tag = Source {
            revision: "v1".to_owned(),
            ..source.clone()
        };
        let first = commit(&old, limits).await.unwrap();
        assert_eq!(commit(&tag, limits).await.unwrap(), first);
        let fetched = fetch(&tag, "", limits).await.unwrap();
        assert_eq!(fetched.commit, first);
        assert_eq!(std::fs::read_to_string(fetched.directory().join("a")).unwrap(), "one\n");
        let gone = Source {
            branch: "gone".to_owned(),
            ..source
        };
        assert!(matches!(commit(&gone, limits).await, Err(Error::Find { .. })));
    }

    #[tokio::test]
    async fn a_tree_over_the_limits_is_not_written() {
        let (_dir, source) = repository();
        let limits = Limits {
            tree_files: 1,
            ..Limits::default()
        };
        assert!(matches!(
            fetch(&source, "", limits).await,
            Err(Error::Exceed { found: 2, limit: 1, .. })
        ));
    }
}
