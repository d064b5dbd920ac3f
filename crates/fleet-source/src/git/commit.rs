//! A branch or revision → the commit it is at, without fetching anything.

use super::address::{address, is_commit, reference};
use super::command::{Error, Git};
use super::{Limits, Source};

/// The branch that is followed when neither branch nor revision is given.
pub(super) const DEFAULT_BRANCH: &str = "master";

/// The commit (hex) that the source's branch or revision is at. A full commit id is its own
/// answer; a tag is followed to its commit, a revision that is no tag may be a branch or `HEAD`;
/// the branch wins if both are given.
///
/// # Errors
/// An address that is refused, a server that does not answer, a name that is not there.
pub async fn commit(source: &Source, limits: Limits) -> Result<String, Error> {
    let address = address(source)?;
    if source.branch.is_empty() && is_commit(&source.revision) {
        return Ok(source.revision.to_ascii_lowercase());
    }
    let git = Git::new(address, &source.credentials, limits)?;
    find(&git, source).await
}

pub(super) async fn find(git: &Git, source: &Source) -> Result<String, Error> {
    let (what, name, wanted) = if source.branch.is_empty() && !source.revision.is_empty() {
        let name = reference("revision", &source.revision)?;
        // The peeled entry is the commit of an annotated tag.
        (
            "revision",
            name,
            vec![format!("refs/tags/{name}^{{}}"), format!("refs/tags/{name}")],
        )
    } else {
        let name = if source.branch.is_empty() {
            DEFAULT_BRANCH
        } else {
            &source.branch
        };
        ("branch", reference("branch", name)?, vec![format!("refs/heads/{name}")])
    };
    let mut arguments = vec!["ls-remote".to_owned(), "--".to_owned(), git.address.url.clone()];
    arguments.extend(wanted.iter().cloned());
    let output = git.run(std::path::Path::new("/"), &arguments).await?;
    let text = String::from_utf8_lossy(&output);
    let listed = |reference: &String| {
        text.lines().find_map(|line| {
            let (id, name) = line.split_once('\t')?;
            (name == reference && is_commit(id)).then(|| id.to_owned())
        })
    };
    wanted.iter().find_map(listed).ok_or_else(|| Error::Find {
        what,
        name: name.to_owned(),
        url: git.address.url.clone(),
    })
}
