//! Reads what a GitRepo depends on: the rules of its namespace, its credentials, and, when it is
//! time, where its branch is. Failures of all three are facts for its status.

use std::sync::Arc;
use std::time::Duration;

use fleet_api::{Bundle, GitRepo, GitRepoSpec};
use fleet_runtime::{Error, Key};
use fleet_source::git::{Limits, Source};
use k8s_openapi::jiff::Timestamp;

use super::access::Access;
use super::lookup::Answer;
use super::memory::Memory;
use super::{Parts, access, decide};
use crate::policy::Rules;
use crate::shell::{deleting, name, namespace};

/// What a GitRepo depends on.
#[derive(Debug)]
pub(super) struct Facts {
    /// The spec with defaults of the rules, or what breaks them.
    pub(super) spec: Result<GitRepoSpec, String>,
    /// Credentials, or what is missing.
    pub(super) access: Result<Access, String>,
    /// Where the branch is, if that was asked now.
    pub(super) looked: Option<Answer>,
    /// When that was asked.
    pub(super) looked_at: Timestamp,
    /// Earlier attempts, this one included.
    pub(super) memory: Memory,
    /// Bundles that carry its name.
    pub(super) bundles: Vec<Arc<Bundle>>,
    /// Time between looks where the GitRepo says nothing.
    pub(super) interval: Duration,
    pub(super) limits: Limits,
    pub(super) allow_file: bool,
}

pub(super) async fn observe(repository: &GitRepo, parts: &Parts) -> Result<Facts, Error> {
    let (space, shell) = (namespace(repository), &parts.shell);
    let key = Key::of(repository);
    let rules = Rules::new(
        &shell.world.policies.mirror().within(space),
        &shell.world.restrictions.mirror().within(space),
    );
    let mirror = shell.world.bundles.mirror();
    let limits = Limits {
        git_seconds: shell.config.borrow().git_client_timeout.as_secs().max(1),
        ..Limits::default()
    };
    let mut facts = Facts {
        spec: rules.check_repository(&repository.spec),
        access: Ok(Access::default()),
        looked: None,
        looked_at: shell.cx.now(),
        memory: parts.memory.of(&key),
        bundles: parts
            .bundles
            .find(&format!("{space}/{}", name(repository)))
            .iter()
            .filter_map(|key| mirror.at(key))
            .collect(),
        interval: shell.settings.polling_interval,
        limits,
        allow_file: shell.settings.allow_file,
    };
    let Ok(spec) = &facts.spec else { return Ok(facts) };
    if deleting(repository) || spec.repo.is_empty() || *spec != repository.spec {
        return Ok(facts);
    }
    facts.access = access::read(space, spec, shell).await?;
    let Ok(access) = &facts.access else { return Ok(facts) };
    if decide::look_due(repository, &facts, facts.looked_at).is_zero() {
        // Half an interval: those that poll alike share an answer, nobody sees an old one.
        let age = decide::interval(spec, facts.interval) / 2;
        let fresh = facts.memory.looked_generation != repository.metadata.generation.unwrap_or_default();
        let age = if fresh { Duration::ZERO } else { age };
        let answer = parts
            .lookups
            .commit(source(spec, access, facts.allow_file), limits, age)
            .await;
        parts.memory.looked(
            &key,
            facts.looked_at,
            repository.metadata.generation.unwrap_or_default(),
            answer.is_ok(),
        );
        facts.looked = Some(answer);
        facts.memory = parts.memory.of(&key);
    }
    Ok(facts)
}

/// The repository as git work is told of it.
pub(super) fn source(spec: &GitRepoSpec, access: &Access, allow_file: bool) -> Source {
    Source {
        url: spec.repo.clone(),
        branch: spec.branch.clone(),
        revision: spec.revision.clone(),
        credentials: access.git.clone(),
        allow_file,
    }
}
