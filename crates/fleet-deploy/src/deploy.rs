//! One BundleDeployment onto one cluster: assemble, render, post-render, then the loop of
//! release steps until a new revision is deployed. The whole is repeatable: killed at any
//! write, the next call finishes or repairs what it finds.

use std::time::Duration;

use fleet_api::{BundleDeploymentOptions, HelmOptions, names};
use helm::capabilities::Capabilities;
use helm::step::{self, Next, State, Step};
use serde_json::{Map, Value};

use crate::assemble::{self, Assembled, Subject};
use crate::cluster::{self, Cluster};
use crate::content::Resource;
use crate::object::{self, ObjectKey};
use crate::postrender::{self, ObjectSet, Objects, Rendered};
use crate::release::{self, Deployed, Mode, Ports, Target};
use crate::render;
use crate::store::{self, History};
use crate::values;
use crate::write::Method;

/// Revisions kept when the options give no number.
const HISTORY: usize = 2;

/// Why a deployment did not come about.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The files make no chart.
    #[error(transparent)]
    Assemble(#[from] assemble::Error),
    /// Values are missing.
    #[error(transparent)]
    Values(#[from] values::Error),
    /// Templates fail.
    #[error(transparent)]
    Render(#[from] render::Error),
    /// The objects cannot be made.
    #[error(transparent)]
    PostRender(#[from] postrender::Error),
    /// A namespace is forced, and the object cannot have one.
    #[error("error while running post render on files: invalid cluster scoped object [name={} kind={} apiVersion={}] found. Your config uses targetNamespace or namespace and thus forbids cluster-scoped resources. If you do not intend to disallow cluster scoped resources, you could switch to defaultNamespace", .0.name, .0.kind, .0.api_version)]
    ClusterScoped(ObjectKey),
    /// A namespace is forced, and the kind's scope cannot be found out.
    #[error("error while running post render on files: {0}")]
    Scope(String),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] release::Error),
    /// A record could not be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Somebody else works on the release.
    #[error("another operation (install/upgrade/rollback) is in progress")]
    Contended,
}

impl Error {
    /// Whether trying the same again is pointless until the bundle, the values or the
    /// obstacle on the cluster changes.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Step(release::Error::Foreign { .. }) | Self::PostRender(postrender::Error::Template { .. }) => true,
            Self::Render(error) => error.is_terminal(),
            _ => false,
        }
    }
}

/// What is deployed.
#[derive(Clone, Debug)]
pub struct Deployment<'a> {
    /// Who and what.
    pub subject: Subject<'a>,
    /// How; values secrets already merged in.
    pub options: &'a BundleDeploymentOptions,
    /// The bundle's files.
    pub resources: &'a [Resource],
    /// Scope of the agent, mostly empty.
    pub scope: &'a str,
}

/// Name of the release of a deployment.
#[must_use]
pub fn release_name(deployment: &str, options: &BundleDeploymentOptions) -> String {
    match options.helm.as_ref().map(|helm| helm.release_name.as_str()) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => names::helm_release_name(deployment),
    }
}

/// Namespace of the release of a deployment; empty if the options give none.
#[must_use]
pub fn given_namespace(options: &BundleDeploymentOptions) -> &str {
    if options.target_namespace.is_empty() {
        &options.default_namespace
    } else {
        &options.target_namespace
    }
}

/// Namespace of the release of a deployment, `default` if the options give none.
#[must_use]
pub fn release_namespace(options: &BundleDeploymentOptions) -> &str {
    match given_namespace(options) {
        "" => "default",
        namespace => namespace,
    }
}

/// How the options say the release is written.
#[must_use]
pub fn mode(options: &BundleDeploymentOptions) -> Mode {
    let default = HelmOptions::default();
    let helm = options.helm.as_ref().unwrap_or(&default);
    let timeout = u64::try_from(helm.timeout_seconds)
        .ok()
        .filter(|seconds| *seconds > 0)
        .map(Duration::from_secs);
    Mode {
        timeout,
        wait: timeout.is_some() || helm.atomic,
        wait_for_jobs: helm.wait_for_jobs,
        atomic: helm.atomic,
        force: helm.force || options.correct_drift.as_ref().is_some_and(|correct| correct.force),
        take_ownership: helm.take_ownership,
        create_namespace: options.create_namespace.unwrap_or(true),
        max_history: usize::try_from(helm.max_history)
            .ok()
            .filter(|max| *max > 0)
            .unwrap_or(HISTORY),
    }
}

/// Renders and deploys: one pass of repairs, if a predecessor left something unfinished, and one
/// new revision.
///
/// # Errors
/// What stands in the way; nothing but the chart's definitions was written if rendering failed.
pub async fn deploy(ports: &Ports, deployment: &Deployment<'_>) -> Result<Deployed, Error> {
    let options = deployment.options;
    let name = release_name(deployment.subject.name, options);
    let namespace = release_namespace(options).to_owned();
    let assembled = assemble::assemble(&deployment.subject, deployment.resources, options)?;
    let given = values::gather(&ports.cluster, options, &namespace).await?;
    let mode = mode(options);
    let mut made: Option<Target> = None;
    let mut done: Vec<Step> = Vec::new();
    loop {
        let history = store::history(&ports.agent, &namespace, &name).await?;
        let state = step::release_state(&history.revisions());
        let step = match step::next_step(state, &done) {
            Next::Run(step) => step,
            Next::Contended | Next::Settled => return Err(Error::Contended),
        };
        // Nothing is repaired for a bundle that cannot be rendered.
        let target = match made.take() {
            Some(target) => target,
            None => {
                let call = Call {
                    name: &name,
                    namespace: &namespace,
                    given: &given,
                    history: &history,
                    state,
                    step,
                };
                make_target(ports, deployment, &assembled, call).await?
            }
        };
        match step {
            Step::FinishRemoval { .. } => release::uninstall(ports, &history).await?,
            Step::MarkFailed { revision } => release::mark_failed(ports, &history, revision).await?,
            Step::RollBack { to, last } => {
                let way = release::Way {
                    to,
                    last,
                    method: Method::ClientSide,
                    wait: false,
                };
                release::roll_back(ports, &mode, &history, way).await?;
            }
            Step::Install { revision } => return Ok(release::install(ports, &target, &mode, &history, revision).await?),
            Step::Upgrade { base, revision } => {
                let numbers = release::Numbers { base, revision };
                return Ok(release::upgrade(ports, &target, &mode, &history, numbers).await?);
            }
        }
        made = Some(target);
        done.push(step);
    }
}

/// What a deployment would install, without a cluster: values are the inline ones, `lookup`
/// finds nothing, forced namespaces are written on every object.
///
/// # Errors
/// What stands in the way of rendering.
pub async fn template(deployment: &Deployment<'_>, capabilities: Capabilities) -> Result<Objects, Error> {
    let options = deployment.options;
    let name = release_name(deployment.subject.name, options);
    let assembled = assemble::assemble(&deployment.subject, deployment.resources, options)?;
    let given = options
        .helm
        .as_ref()
        .and_then(|helm| helm.values.clone())
        .unwrap_or_default();
    let release = render::Release {
        name: &name,
        namespace: given_namespace(options),
        revision: 1,
        install: true,
    };
    let world = render::World::Assumed(Box::new(capabilities));
    let output = render::render(world, &assembled, &release, &given, options, None).await?;
    let set = ObjectSet::of_template(deployment.subject.name);
    let mut documents = postrender::post_render(&output.rendered, &assembled, deployment.resources, options, &set)?;
    if !options.target_namespace.is_empty() {
        for document in &mut documents {
            object::set_namespace(&mut document.object, &options.target_namespace);
        }
    }
    Ok(postrender::sort(documents)?)
}

/// For which action a target is made.
#[derive(Clone, Copy)]
struct Call<'a> {
    name: &'a str,
    namespace: &'a str,
    /// Values that the deployment gives.
    given: &'a Map<String, Value>,
    history: &'a History,
    state: State,
    step: Step,
}

impl Call<'_> {
    fn installs(&self) -> bool {
        matches!(self.step, Step::Install { .. } | Step::FinishRemoval { .. })
    }

    fn release(&self) -> render::Release<'_> {
        render::Release {
            name: self.name,
            namespace: self.namespace,
            revision: self.history.last().map_or(1, |last| last.version + 1),
            install: self.installs(),
        }
    }

    /// Helm's rule: an upgrade without values keeps those of the revision it builds upon.
    fn values(&self) -> Map<String, Value> {
        if !self.given.is_empty() || self.installs() {
            return self.given.clone();
        }
        let base = match self.state {
            State::Present { base, .. } => self.history.find(base),
            _ => self.history.last(),
        };
        base.map(|base| base.config.clone()).unwrap_or_default()
    }
}

async fn make_target(
    ports: &Ports,
    deployment: &Deployment<'_>,
    assembled: &Assembled,
    call: Call<'_>,
) -> Result<Target, Error> {
    let options = deployment.options;
    let (release, values) = (call.release(), call.values());
    if call.installs() {
        // Templates may ask whether a kind is there, and objects of it need its scope.
        release::define(ports, &render::definitions(assembled)?).await?;
    }
    let output = render::render(
        render::World::Live(&ports.cluster),
        assembled,
        &release,
        &values,
        options,
        Some(&ports.charts),
    )
    .await?;
    let set = ObjectSet::of(deployment.subject.name, deployment.scope);
    let rendered: &[Rendered] = &output.rendered;
    let mut documents = postrender::post_render(rendered, assembled, deployment.resources, options, &set)?;
    if !options.target_namespace.is_empty() {
        for document in &mut documents {
            force_namespace(&ports.cluster, &mut document.object, &options.target_namespace).await?;
        }
    }
    let objects = postrender::sort(documents)?;
    Ok(Target {
        name: release.name.to_owned(),
        namespace: release.namespace.to_owned(),
        chart: output.chart,
        config: values,
        notes: output.notes,
        documents: objects.documents,
        hooks: objects.hooks,
    })
}

async fn force_namespace(cluster: &Cluster, object: &mut Value, namespace: &str) -> Result<(), Error> {
    let key = ObjectKey::of(object);
    let kind = match cluster.kind(&key.api_version, &key.kind).await {
        Ok(kind) => kind,
        Err(
            error @ (cluster::Error::UnknownKind { .. }
            | cluster::Error::Refused(_)
            | cluster::Error::Transport(_)
            | cluster::Error::NoName { .. }),
        ) => {
            return Err(Error::Scope(error.to_string()));
        }
    };
    if !kind.namespaced {
        return Err(Error::ClusterScoped(key));
    }
    object::set_namespace(object, namespace);
    Ok(())
}
