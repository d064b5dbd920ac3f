//! Which controllers run in a process, and what they share.

use std::sync::Arc;

use fleet_runtime::{Context, Services};
use tokio_util::sync::CancellationToken;

use crate::planner::{Planner, Scope};
use crate::settings::Settings;
use crate::shell::Shell;
use crate::world::World;
use crate::{
    bundle, bundledeployment, chart, cleanup, cluster, clustergroup, clusternamespace, config, content, gitrepo,
    gitrepostatus, registration, startup, token,
};

/// Field manager of all writes.
const MANAGER: &str = "fleetcontroller";

/// A group of controllers that upstream runs as a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Bundles, deployments, contents, clusters, groups.
    Bundles,
    /// Namespaces of clusters, tokens, registrations.
    Agents,
    /// Git repositories.
    Git,
    /// Helm charts.
    Helm,
    /// What deleted objects left behind.
    Cleanup,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Bundles, Self::Agents, Self::Git, Self::Helm, Self::Cleanup];
}

/// Why the manager ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something that has to exist before the controllers could not be written.
    #[error("prepare the management cluster")]
    Prepare(#[source] fleet_runtime::Error),
    /// A controller ended.
    #[error("run the controllers")]
    Services(#[source] fleet_runtime::service::Error),
}

/// Runs all controllers until `shutdown`.
///
/// # Errors
/// The management cluster refuses what has to exist, or a controller ended by itself.
pub async fn run(client: kube::Client, settings: Settings, shutdown: CancellationToken) -> Result<(), Error> {
    run_parts(client, settings, &Part::ALL, shutdown).await
}

/// Runs some of the controllers until `shutdown`.
///
/// # Errors
/// As [`run`].
pub async fn run_parts(
    client: kube::Client,
    settings: Settings,
    parts: &[Part],
    shutdown: CancellationToken,
) -> Result<(), Error> {
    let mut services = Services::new(shutdown);
    let cx = Context::new(client, MANAGER);
    let config = config::load(&settings.config, &settings.namespace, &cx, &mut services).await;
    if parts.contains(&Part::Agents) {
        startup::prepare(&settings, &cx).await.map_err(Error::Prepare)?;
    }
    let shell = Arc::new(Shell {
        cx,
        settings,
        config,
        world: World::default(),
    });
    let scope = if parts.contains(&Part::Bundles) {
        Some(Scope::Plan)
    } else {
        parts.contains(&Part::Git).then_some(Scope::Sources)
    };
    let planner = scope.map(|scope| Planner::start(&shell, scope)).unwrap_or_default();
    for part in parts {
        match part {
            Part::Bundles => {
                bundledeployment::start(&shell, &mut services);
                content::start(&shell, &mut services);
                bundle::start(&shell, &planner, &mut services);
                cluster::start(&shell, &planner, &mut services);
                clustergroup::start(&shell, &planner, &mut services);
            }
            Part::Agents => {
                clusternamespace::start(&shell, &mut services);
                token::start(&shell, &mut services);
                registration::start(&shell, &mut services);
            }
            Part::Git => {
                gitrepo::start(&shell, &mut services);
                gitrepostatus::start(&shell, &planner, &mut services);
            }
            Part::Helm => {
                chart::start(&shell, &mut services);
            }
            Part::Cleanup => cleanup::start(&shell, &mut services),
        }
    }
    shell.world.start(&shell.cx, &mut services).await;
    services.wait().await.map_err(Error::Services)
}
