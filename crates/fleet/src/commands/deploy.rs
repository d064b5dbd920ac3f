//! `fleet deploy`: one BundleDeployment and its Content, from a file, onto the current cluster
//! or as text. Upstream's command with its flags; the work is `fleet_deploy`'s.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use fleet_api::{BundleDeployment, Content};
use fleet_deploy::assemble::Subject;
use fleet_deploy::cluster::Cluster;
use fleet_deploy::content::{self, Resource};
use fleet_deploy::deploy::{self, Deployment};
use fleet_deploy::postrender;
use fleet_deploy::release::Ports;
use helm::capabilities::{Capabilities, KubeVersion};
use serde_json::Value;

use crate::printer;

/// Version of Kubernetes a dry run assumes, as upstream's.
const KUBE_VERSION: &str = "v1.25.0";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// File with the BundleDeployment and its Content, as `fleet target` prints them
    #[arg(short = 'i', long, value_name = "FILE")]
    input_file: Option<PathBuf>,
    /// Print what would be deployed; needs no cluster
    #[arg(short = 'd', long)]
    dry_run: bool,
    /// Namespace of the release where the deployment names none
    #[arg(short = 'n', long, default_value = "default", value_name = "NAMESPACE")]
    namespace: String,
    /// Version of Kubernetes that a dry run assumes
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// Namespace of the agent that is to look after the release
    #[arg(short = 'a', long, default_value = "", value_name = "NAMESPACE")]
    agent_namespace: String,
    /// Kubeconfig of the cluster
    #[arg(short = 'k', long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

pub(crate) fn run(args: Args) -> ExitCode {
    let Some(input) = args.input_file.clone() else {
        let mut command = <crate::args::Args as clap::CommandFactory>::command();
        if let Some(deploy) = command.find_subcommand_mut("deploy") {
            printer::raw(deploy.render_help());
        }
        return ExitCode::SUCCESS;
    };
    crate::program::run(move |_stop| async move {
        let objects = objects(&args, &input).await?;
        if !objects.is_empty() {
            let text = goyaml::to_yaml(&Value::Array(objects)).context("print objects")?;
            printer::line(text);
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// The two documents of an input file, in any order.
struct Input {
    deployment: BundleDeployment,
    resources: Vec<Resource>,
}

fn read(path: &Path) -> anyhow::Result<Input> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read '{}'", path.display()))?;
    let documents = goyaml::parse_documents(&text).with_context(|| format!("parse '{}'", path.display()))?;
    let (mut content, mut deployment) = (None, None);
    for document in documents {
        let line = document.line;
        match document.value["kind"].as_str() {
            Some("Content") => {
                let found: Content = serde_json::from_value(document.value)
                    .with_context(|| format!("{}:{line}: read Content", path.display()))?;
                content = Some(found);
            }
            Some("BundleDeployment") => {
                let found: BundleDeployment = serde_json::from_value(document.value)
                    .with_context(|| format!("{}:{line}: read BundleDeployment", path.display()))?;
                deployment = Some(found);
            }
            _ => {}
        }
    }
    let file = path.display();
    let content = content.ok_or_else(|| anyhow!("'{file}' has no content resource"))?;
    let deployment = deployment.ok_or_else(|| anyhow!("'{file}' has no bundledeployment resource"))?;
    let name = content.metadata.name.as_deref().unwrap_or_default();
    let resources =
        content::unpack(&content.content, &content.sha256sum).with_context(|| format!("content '{name}'"))?;
    Ok(Input { deployment, resources })
}

async fn objects(args: &Args, path: &Path) -> anyhow::Result<Vec<Value>> {
    let Input { deployment, resources } = read(path)?;
    let mut options = deployment.spec.options.clone().unwrap_or_default();
    let id = deployment.spec.deployment_id.as_str();
    let manifest_id = id.split_once(':').map_or(id, |(manifest, _)| manifest);
    let name = deployment.metadata.name.as_deref().unwrap_or_default();
    let subject = Subject {
        name,
        manifest_id,
        commit: "",
        agent_namespace: &args.agent_namespace,
    };
    if args.dry_run {
        let version = args.kube_version.as_deref().unwrap_or(KUBE_VERSION);
        let version = KubeVersion::parse(version).context("--kube-version")?;
        let deployment = Deployment {
            subject,
            options: &options,
            resources: &resources,
            scope: "",
        };
        let objects = deploy::template(&deployment, Capabilities::assumed(version)).await?;
        let mut printed: Vec<Value> = objects.documents.into_iter().map(|document| document.object).collect();
        for hook in &objects.hooks {
            printed.extend(postrender::objects_of(&hook.manifest)?);
        }
        return Ok(printed);
    }
    if args.kube_version.is_some() {
        bail!("--kube-version only works together with --dry-run");
    }
    if options.default_namespace.is_empty() && options.target_namespace.is_empty() {
        options.default_namespace.clone_from(&args.namespace);
    }
    let cluster = Cluster::new(client(args).await?);
    let ports = Ports {
        cluster: cluster.clone(),
        agent: cluster,
        now: Arc::new(jiff::Timestamp::now),
        charts: Arc::default(),
    };
    let deployment = Deployment {
        subject,
        options: &options,
        resources: &resources,
        scope: "",
    };
    let release = deploy::deploy(&ports, &deployment).await?.release;
    let mut printed = postrender::objects_of(&release.manifest)?;
    for hook in &release.hooks {
        printed.extend(postrender::objects_of(&hook.manifest)?);
    }
    Ok(printed)
}

async fn client(args: &Args) -> anyhow::Result<kube::Client> {
    let choice = kube::config::KubeConfigOptions {
        context: args.context.clone(),
        ..Default::default()
    };
    let config = match &args.kubeconfig {
        Some(path) => {
            let file = kube::config::Kubeconfig::read_from(path)
                .with_context(|| format!("read kubeconfig '{}'", path.display()))?;
            kube::Config::from_custom_kubeconfig(file, &choice).await?
        }
        None if args.context.is_some() => kube::Config::from_kubeconfig(&choice).await?,
        None => kube::Config::infer().await.context("find a cluster")?,
    };
    Ok(kube::Client::try_from(config)?)
}
