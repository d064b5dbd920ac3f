//! A GitRepo and what is known of it → when to look, and what to work on. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_api::{BundleTarget, GitRepo, GitRepoSpec, TargetSelector, labels};
use fleet_runtime::clock::between;
use fleet_source::child::{Request, Work};
use fleet_source::options::{ApplyOptions, Scan, Targets};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::memory::{Failed, Task};
use super::observe::{Facts, source};
use crate::shell::{deleting, finalizers, has_finalizer, label, name, namespace};

/// Longest delay between two looks at a repository that does not answer.
const SLOWEST_LOOK: Duration = Duration::from_secs(10 * 60);
/// First and longest delay between two attempts at work that fails.
const RETRY: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(30 * 60));
/// State of work that is done, or of which there is none.
pub(super) const CURRENT: &str = "Current";

/// What is to be done for a GitRepo.
#[derive(Debug)]
pub(super) enum Plan {
    /// Nothing until something changes.
    Nothing,
    /// It breaks the rules of its namespace.
    Refuse(String),
    /// Write down what the rules fill in; everything else follows from that write.
    FillIn(Value),
    /// It is leaving.
    Leave(Leave),
    /// Follow it.
    Follow(Box<Follow>),
}

/// What goes with a GitRepo.
#[derive(Debug)]
pub(super) struct Leave {
    /// Namespace on the management cluster that has to go too.
    pub(super) namespace: Option<String>,
    pub(super) remaining: Vec<String>,
}

/// The next steps for a GitRepo.
#[derive(Debug)]
pub(super) struct Follow {
    /// Metadata to be written first.
    pub(super) metadata: Option<Value>,
    /// Work to be done now.
    pub(super) work: Option<(Task, Box<Request>)>,
    /// When to come back.
    pub(super) again: Option<Duration>,
}

pub(super) fn decide(repository: &GitRepo, facts: &Facts, now: Timestamp) -> Plan {
    if deleting(repository) {
        return leave(repository);
    }
    let spec = match &facts.spec {
        Err(message) => return Plan::Refuse(message.clone()),
        Ok(spec) if *spec != repository.spec => {
            return Plan::FillIn(json!({"spec": {
                "serviceAccount": spec.service_account, "clientSecretName": spec.client_secret_name}}));
        }
        Ok(spec) => spec,
    };
    if spec.repo.is_empty() {
        return Plan::Nothing;
    }
    let work = work(repository, spec, facts, now);
    let again = work
        .is_none()
        .then(|| next_look(repository, spec, facts, now))
        .flatten();
    Plan::Follow(Box::new(Follow {
        metadata: metadata(repository),
        work,
        again,
    }))
}

fn leave(repository: &GitRepo) -> Plan {
    const KEPT: [&str; 6] = [
        "",
        "fleet-local",
        "fleet-default",
        "cattle-fleet-system",
        "cattle-fleet-clusters-system",
        "default",
    ];
    if !has_finalizer(repository, labels::GITREPO_FINALIZER) {
        return Plan::Nothing;
    }
    let spec = &repository.spec;
    let target = spec.target_namespace.as_str();
    let removable = !KEPT.contains(&target) && !target.starts_with("kube-");
    Plan::Leave(Leave {
        namespace: (spec.delete_namespace && !spec.keep_resources && removable).then(|| target.to_owned()),
        remaining: finalizers(repository, labels::GITREPO_FINALIZER, false),
    })
}

fn metadata(repository: &GitRepo) -> Option<Value> {
    let mut metadata = json!({});
    if !has_finalizer(repository, labels::GITREPO_FINALIZER) {
        metadata["finalizers"] = json!(finalizers(repository, labels::GITREPO_FINALIZER, true));
    }
    if !label(repository, labels::CREATED_BY_DISPLAY_NAME).is_empty() {
        metadata["labels"] = json!({labels::CREATED_BY_DISPLAY_NAME: null});
    }
    (metadata != json!({})).then_some(metadata)
}

/// Time between two looks.
pub(super) fn interval(spec: &GitRepoSpec, default: Duration) -> Duration {
    spec.polling_interval
        .map(fleet_api::Duration::to_std)
        .filter(|given| !given.is_zero())
        .unwrap_or(default)
}

/// Time until the branch is to be looked at; zero means now, the largest duration never.
pub(super) fn look_due(repository: &GitRepo, facts: &Facts, now: Timestamp) -> Duration {
    let status = repository.status.clone().unwrap_or_default();
    let generation = repository.metadata.generation.unwrap_or_default();
    let memory = &facts.memory;
    let told = !status.webhook_commit.is_empty() && status.webhook_commit != status.commit;
    let (Some(looked), true) = (memory.looked, memory.looked_generation == generation) else {
        let polled = !repository.spec.disable_polling;
        return if polled || told || is_open(repository) {
            Duration::ZERO
        } else {
            Duration::MAX
        };
    };
    let mut pause = interval(&repository.spec, facts.interval);
    if memory.look_failures > 0 {
        let slower = pause.saturating_mul(1 << (memory.look_failures - 1).min(10));
        pause = slower.min(SLOWEST_LOOK.max(pause));
    } else if repository.spec.disable_polling && !told {
        return Duration::MAX;
    }
    (pause + jitter(repository, pause)).saturating_sub(between(looked, now))
}

/// Up to a tenth, always the same for one GitRepo: those made together do not poll together.
fn jitter(repository: &GitRepo, pause: Duration) -> Duration {
    let digest = fleet_api::names::sha256_hex(crate::shell::uid(repository).as_bytes());
    let share = u32::from_str_radix(digest.get(..4).unwrap_or("0"), 16).unwrap_or(0);
    pause.mul_f64(f64::from(share) / f64::from(0xffff_u16) / 10.0)
}

/// Whether work is outstanding, whatever the commit: never done, asked for again, not finished.
fn is_open(repository: &GitRepo) -> bool {
    let status = repository.status.clone().unwrap_or_default();
    status.commit.is_empty()
        || status.git_job_status != CURRENT
        || status.observed_generation != repository.metadata.generation.unwrap_or_default()
        || status.update_generation != repository.spec.force_sync_generation
}

/// The task that the world asks for, if the commit is known.
fn task(repository: &GitRepo, facts: &Facts) -> Option<Task> {
    let status = repository.status.clone().unwrap_or_default();
    let commit = match &facts.looked {
        Some(Ok(commit)) => commit.clone(),
        Some(Err(_)) => return None,
        None => status.polling_commit.clone(),
    };
    let wanted = !commit.is_empty() && (commit != status.commit || is_open(repository));
    wanted.then(|| Task {
        commit,
        generation: repository.metadata.generation.unwrap_or_default(),
        force: repository.spec.force_sync_generation,
    })
}

fn retry_in(failed: Option<&Failed>, task: &Task, now: Timestamp) -> Duration {
    let Some(failed) = failed.filter(|failed| failed.task == *task) else {
        return Duration::ZERO;
    };
    let pause = RETRY
        .0
        .saturating_mul(1 << (failed.times.saturating_sub(1)).min(16))
        .min(RETRY.1);
    pause.saturating_sub(between(failed.at, now))
}

fn work(repository: &GitRepo, spec: &GitRepoSpec, facts: &Facts, now: Timestamp) -> Option<(Task, Box<Request>)> {
    let access = facts.access.as_ref().ok()?;
    let task = task(repository, facts)?;
    if !retry_in(facts.memory.failed.as_ref(), &task, now).is_zero() {
        return None;
    }
    let mut apply = options(repository, spec);
    apply.charts = access.charts.clone();
    let request = Request {
        source: source(spec, access, facts.allow_file),
        work: Work::Bundles {
            commit: task.commit.clone(),
            apply: Box::new(apply),
        },
        limits: facts.limits,
    };
    Some((task, Box::new(request)))
}

fn next_look(repository: &GitRepo, spec: &GitRepoSpec, facts: &Facts, now: Timestamp) -> Option<Duration> {
    let mut next = look_due(repository, facts, now);
    if let Some(task) = task(repository, facts) {
        next = next.min(retry_in(facts.memory.failed.as_ref(), &task, now));
    }
    if facts.access.is_err() {
        next = next.min(interval(spec, facts.interval));
    }
    (next < Duration::MAX).then(|| next.max(Duration::from_millis(100)))
}

/// The settings of a GitRepo as those of `fleet apply`.
fn options(repository: &GitRepo, spec: &GitRepoSpec) -> ApplyOptions {
    let mut own: BTreeMap<String, String> = repository.metadata.labels.clone().unwrap_or_default();
    own.remove(labels::CREATED_BY_DISPLAY_NAME);
    own.insert(labels::REPO_NAME.to_owned(), name(repository).to_owned());
    let (paths, scan) = paths(spec);
    ApplyOptions {
        name: name(repository).to_owned(),
        namespace: namespace(repository).to_owned(),
        paths,
        scan,
        labels: own,
        targets: Some(targets(&spec.targets)),
        service_account: spec.service_account.clone(),
        sync_generation: spec.force_sync_generation,
        target_namespace: spec.target_namespace.clone(),
        paused: spec.paused,
        keep_resources: spec.keep_resources,
        delete_namespace: spec.delete_namespace,
        correct_drift: spec.correct_drift.clone().unwrap_or_default(),
        ..ApplyOptions::default()
    }
}

fn paths(spec: &GitRepoSpec) -> (Vec<String>, Scan) {
    if spec.bundles.is_empty() {
        return (spec.paths.clone(), Scan::Classic);
    }
    let used = |mark: char| {
        spec.bundles
            .iter()
            .any(|each| each.base.contains(mark) || each.options.contains(mark))
    };
    let mark = [':', ',', '|', '?', '<', '>']
        .into_iter()
        .find(|mark| !used(*mark))
        .unwrap_or('\u{1}');
    let paths = spec
        .bundles
        .iter()
        .map(|each| {
            if each.options.is_empty() {
                each.base.clone()
            } else {
                format!("{}{mark}{}", each.base, each.options)
            }
        })
        .collect();
    (
        paths,
        Scan::Driven {
            separator: mark.to_string(),
        },
    )
}

/// Targets of a GitRepo are targets and restrictions of its bundles; without any, the group
/// `default` is meant.
fn targets(given: &[TargetSelector]) -> Targets {
    let restrictions = if given.is_empty() {
        vec![TargetSelector {
            name: "default".to_owned(),
            cluster_group: "default".to_owned(),
            ..TargetSelector::default()
        }]
    } else {
        given.to_vec()
    };
    let targets = restrictions
        .iter()
        .map(|each| BundleTarget {
            name: each.name.clone(),
            cluster_name: each.cluster_name.clone(),
            cluster_selector: each.cluster_selector.clone(),
            cluster_group: each.cluster_group.clone(),
            cluster_group_selector: each.cluster_group_selector.clone(),
            ..BundleTarget::default()
        })
        .collect();
    Targets {
        targets,
        target_restrictions: restrictions,
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::Access;
    use super::super::memory::Memory;
    use super::*;
    use fleet_api::GitRepoStatus;

    fn facts(looked: Option<Result<String, String>>, memory: Memory) -> Facts {
        Facts {
            spec: Err(String::new()),
            access: Ok(Access::default()),
            looked,
            looked_at: Timestamp::UNIX_EPOCH,
            memory,
            bundles: Vec::new(),
            interval: Duration::from_secs(15),
            limits: Default::default(),
            allow_file: false,
        }
    }

    fn repository(status: GitRepoStatus) -> GitRepo {
        let mut repository = GitRepo::named("r");
        repository.metadata.namespace = Some("n".to_owned());
        repository.metadata.generation = Some(1);
        repository.spec.repo = "https://x".to_owned();
        repository.status = Some(status);
        repository
    }

    fn done(commit: &str) -> GitRepoStatus {
        GitRepoStatus {
            commit: commit.to_owned(),
            polling_commit: commit.to_owned(),
            git_job_status: CURRENT.to_owned(),
            observed_generation: 1,
            ..GitRepoStatus::default()
        }
    }

    fn wants_work(repository: &GitRepo, mut facts: Facts, at: i64) -> bool {
        facts.spec = Ok(repository.spec.clone());
        match decide(repository, &facts, Timestamp::from_second(at).unwrap()) {
            Plan::Follow(follow) => follow.work.is_some(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn work_follows_from_commit_generation_force_and_failure() {
        let found = |commit: &str| Some(Ok(commit.to_owned()));
        assert!(wants_work(
            &repository(GitRepoStatus::default()),
            facts(found("a"), Memory::default()),
            0
        ));
        assert!(!wants_work(
            &repository(done("a")),
            facts(found("a"), Memory::default()),
            0
        ));
        assert!(wants_work(
            &repository(done("a")),
            facts(found("b"), Memory::default()),
            0
        ));
        let mut forced = repository(done("a"));
        forced.spec.force_sync_generation = 1;
        assert!(wants_work(&forced, facts(None, Memory::default()), 0));
        let mut changed = repository(done("a"));
        changed.metadata.generation = Some(2);
        assert!(wants_work(&changed, facts(found("a"), Memory::default()), 0));
        let mut unfinished = done("a");
        unfinished.git_job_status = "InProgress".to_owned();
        assert!(wants_work(
            &repository(unfinished),
            facts(found("a"), Memory::default()),
            0
        ));
        assert!(!wants_work(
            &repository(done("a")),
            facts(Some(Err("down".to_owned())), Memory::default()),
            0
        ));
    }

    #[test]
    fn failed_work_is_repeated_ever_more_slowly() {
        let mut status = done("a");
        status.git_job_status = "Failed".to_owned();
        let failed = Failed {
            task: Task {
                commit: "a".to_owned(),
                generation: 1,
                force: 0,
            },
            at: Timestamp::from_second(100).unwrap(),
            times: 3,
        };
        let memory = Memory {
            failed: Some(failed),
            ..Memory::default()
        };
        let at = |second| wants_work(&repository(status.clone()), facts(None, memory.clone()), second);
        assert!(!at(139));
        assert!(at(140));
        assert!(wants_work(
            &repository(status.clone()),
            facts(Some(Ok("b".to_owned())), memory.clone()),
            101
        ));
    }

    #[test]
    fn a_repository_that_does_not_answer_is_asked_less_often() {
        let looked = |failures| Memory {
            looked: Some(Timestamp::from_second(0).unwrap()),
            looked_generation: 1,
            look_failures: failures,
            failed: None,
        };
        let due = |failures| {
            look_due(
                &repository(done("a")),
                &facts(None, looked(failures)),
                Timestamp::from_second(0).unwrap(),
            )
            .as_secs()
        };
        let shown = [due(0), due(1), due(2), due(3), due(12)];
        assert!(
            shown[0] >= 15 && shown[0] <= 16 && shown[2] >= 30 && shown[3] >= 60 && shown[4] <= 660,
            "{shown:?}"
        );
        let mut quiet = repository(done("a"));
        quiet.spec.disable_polling = true;
        let now = Timestamp::from_second(9999).unwrap();
        assert_eq!(look_due(&quiet, &facts(None, looked(0)), now), Duration::MAX);
        assert_eq!(look_due(&quiet, &facts(None, Memory::default()), now), Duration::MAX);
    }

    #[test]
    fn directories_with_options_get_a_separator_that_none_of_them_uses() {
        let bundles = vec![
            fleet_api::BundlePath {
                base: "a:b".to_owned(),
                options: "o.yaml".to_owned(),
            },
            fleet_api::BundlePath {
                base: "c".to_owned(),
                options: String::new(),
            },
        ];
        let spec = GitRepoSpec {
            bundles,
            ..GitRepoSpec::default()
        };
        let (paths, scan) = paths(&spec);
        assert_eq!(paths, ["a:b,o.yaml", "c"]);
        assert_eq!(
            scan,
            Scan::Driven {
                separator: ",".to_owned()
            }
        );
    }
}
