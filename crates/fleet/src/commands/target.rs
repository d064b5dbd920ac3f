//! `fleet target`: which clusters a bundle would be deployed to now, and with which options.
//!
//! Bundle file + clusters, groups, mappings, policies and deployments of the server → one Content and one
//! BundleDeployment per targeted cluster on stdout. Reads only. The decision is `fleet-plan`'s, the same the manager
//! takes; here without a limit on new deployments and with the roll-out budget of the given status.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;
use fleet_api::{
    Bundle, BundleDeployment, BundleNamespaceMapping, Cluster, ClusterGroup, GitRepoRestriction, Policy, content,
    labels, values,
};
use fleet_plan::{BundleKey, ClusterKey, DeploymentKey, Event, NamespacePolicy, Pass, Plan, State};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{args, printer, program};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// File with a Bundle as YAML or JSON
    #[arg(short = 'b', long, value_name = "FILE")]
    bundle_file: Option<PathBuf>,
    /// Also print the clusters that are looked at, with their groups, to stderr
    #[arg(short = 'l', long)]
    dump_input_list: bool,
    /// Namespace of the bundle, instead of the one in the file
    #[arg(short, long)]
    namespace: Option<String>,
    /// Say on stderr why each other cluster gets nothing or has to wait
    #[arg(long)]
    explain: bool,
    /// Kubeconfig of the management cluster; otherwise $KUBECONFIG, the pod's account or ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    log: LogArgs,
}

/// Accepted for the sake of scripts written for other programs; they change nothing.
#[derive(clap::Args)]
struct LogArgs {
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true)]
    zap_devel: Option<Option<String>>,
    #[arg(long, hide = true)]
    zap_encoder: Option<String>,
    #[arg(long, hide = true)]
    zap_log_level: Option<String>,
    #[arg(long, hide = true)]
    zap_stacktrace_level: Option<String>,
    #[arg(long, hide = true)]
    zap_time_encoding: Option<String>,
}

impl LogArgs {
    fn ignore(self) {
        let Self {
            zap_devel: _,
            zap_encoder: _,
            zap_log_level: _,
            zap_stacktrace_level: _,
            zap_time_encoding: _,
        } = self;
    }
}

pub(crate) fn run(args: Args) -> ExitCode {
    args.log.ignore();
    let Some(file) = args.bundle_file else {
        let mut command = args::Args::command();
        if let Some(target) = command.find_subcommand_mut("target") {
            printer::line(target.render_help());
        }
        return ExitCode::SUCCESS;
    };
    let (dump, explain) = (args.dump_input_list, args.explain);
    program::run(async move |_stop| {
        let bundle = read_bundle(&file, args.namespace)?;
        let client = client(args.kubeconfig.as_deref()).await?;
        let mut view = View::new(&client, &bundle).await?;
        if dump {
            printer::remark(format_args!("{}", goyaml::to_yaml(&view.inputs())?.trim_end()));
        }
        let plan = view.plan(&bundle)?;
        for document in documents(&bundle, &plan, &view.deployments)? {
            printer::raw(format_args!("---\n{}", goyaml::to_yaml(&document)?));
        }
        if explain {
            for (cluster, reason) in view.reasons(&plan.bundle) {
                printer::remark(format_args!("{cluster}: {reason}"));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn read_bundle(file: &Path, namespace: Option<String>) -> anyhow::Result<Bundle> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("read bundle file '{name}'"))?;
    let value = goyaml::parse(&text).with_context(|| format!("read bundle file '{name}' as yaml"))?;
    let value = if value.is_null() { json!({}) } else { value };
    let mut bundle: Bundle = serde_json::from_value(value).with_context(|| format!("read a Bundle from '{name}'"))?;
    if namespace.is_some() {
        bundle.metadata.namespace = namespace;
    }
    Ok(bundle)
}

async fn client(kubeconfig: Option<&Path>) -> anyhow::Result<Client> {
    let config = match kubeconfig {
        Some(file) => {
            let read = kube::config::Kubeconfig::read_from(file)
                .with_context(|| format!("read kubeconfig '{}'", file.display()))?;
            kube::Config::from_custom_kubeconfig(read, &kube::config::KubeConfigOptions::default())
                .await
                .with_context(|| format!("use kubeconfig '{}'", file.display()))?
        }
        None => kube::Config::infer()
            .await
            .context("find the cluster (no usable kubeconfig and not in a pod)")?,
    };
    Client::try_from(config).context("connect to the cluster")
}

/// What is read of the server, and the plan's state made from it.
struct View {
    state: State,
    clusters: Vec<Cluster>,
    groups: Vec<ClusterGroup>,
    deployments: BTreeMap<DeploymentKey, BundleDeployment>,
}

impl View {
    async fn new(client: &Client, bundle: &Bundle) -> anyhow::Result<Self> {
        let namespace = bundle.namespace().unwrap_or_default();
        let everything = ListParams::default();
        let mut state = State::new();
        let mappings: Vec<BundleNamespaceMapping> = list(client, Some(&namespace), &everything).await?;
        let mut namespaces = vec![namespace.clone()];
        if !mappings.is_empty() {
            let all = Api::<Namespace>::all(client.clone())
                .list(&everything)
                .await
                .context("list namespaces")?;
            namespaces.clear();
            for object in all {
                state.apply(Event::Namespace {
                    name: &object.name_any(),
                    labels: object.labels(),
                });
                namespaces.push(object.name_any());
            }
        }
        for mapping in &mappings {
            state.apply(Event::Mapping(mapping));
        }
        let scope = (mappings.is_empty()).then_some(namespace.as_str());
        let mut clusters: Vec<Cluster> = list(client, scope, &everything).await?;
        let mut groups: Vec<ClusterGroup> = list(client, scope, &everything).await?;
        clusters.retain(|cluster| namespaces.contains(&cluster.namespace().unwrap_or_default()));
        groups.retain(|group| namespaces.contains(&group.namespace().unwrap_or_default()));
        for cluster in &clusters {
            state.apply(Event::Cluster(cluster));
        }
        for group in &groups {
            state.apply(Event::Group(group));
        }
        state.apply(Event::Policy {
            namespace: &namespace,
            policy: policy(client, &namespace).await?,
        });
        let deployments = deployments(client, &bundle.name_any(), &namespace).await?;
        for deployment in deployments.values() {
            state.apply(Event::Deployment(deployment));
        }
        Ok(Self {
            state,
            clusters,
            groups,
            deployments,
        })
    }

    fn plan(&mut self, bundle: &Bundle) -> anyhow::Result<Plan> {
        let manifest = content::Manifest::new(&bundle.spec.resources).id();
        self.state.apply(Event::Bundle {
            bundle,
            manifest: &manifest,
        });
        let key = BundleKey::new(bundle.namespace().unwrap_or_default(), bundle.name_any());
        let pass = Pass::preview(bundle.status.as_ref());
        let plan = self.state.desired(&key, &pass).context("plan the bundle")?;
        match plan.problem {
            Some(problem) => Err(problem.into()),
            None => Ok(plan),
        }
    }

    fn reasons(&mut self, bundle: &BundleKey) -> Vec<(ClusterKey, fleet_plan::Reason)> {
        self.state
            .explain(bundle)
            .map(|explanation| explanation.clusters)
            .unwrap_or_default()
    }

    /// The clusters that are looked at, each with the groups it is in.
    fn inputs(&self) -> Value {
        let groups_of = |cluster: &Cluster| -> Vec<&ClusterGroup> {
            let key = ClusterKey::new(cluster.namespace().unwrap_or_default(), cluster.name_any());
            let names = self.state.groups_of(&key);
            let within =
                |group: &&ClusterGroup| group.namespace() == cluster.namespace() && names.contains(&group.name_any());
            self.groups.iter().filter(within).collect()
        };
        let entry = |cluster: &Cluster| json!({"cluster": cluster, "clusterGroups": groups_of(cluster)});
        self.clusters.iter().map(entry).collect()
    }
}

async fn list<K>(client: &Client, namespace: Option<&str>, parameters: &ListParams) -> anyhow::Result<Vec<K>>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let api: Api<K> = match namespace {
        Some(namespace) if !namespace.is_empty() => Api::namespaced(client.clone(), namespace),
        _ => Api::all(client.clone()),
    };
    Ok(api
        .list(parameters)
        .await
        .with_context(|| format!("list {}", K::plural(&())))?
        .items)
}

/// Existing deployments of the bundle, their values put back from their secrets.
async fn deployments(
    client: &Client,
    name: &str,
    namespace: &str,
) -> anyhow::Result<BTreeMap<DeploymentKey, BundleDeployment>> {
    if name.is_empty() || name.len() > 63 {
        // Cannot be a label value; the plan says so.
        return Ok(BTreeMap::new());
    }
    let selector = format!(
        "{}={name},{}={namespace}",
        labels::BUNDLE_NAME,
        labels::BUNDLE_NAMESPACE
    );
    let mut found = BTreeMap::new();
    for mut deployment in list::<BundleDeployment>(client, None, &ListParams::default().labels(&selector)).await? {
        let key = DeploymentKey::new(deployment.namespace().unwrap_or_default(), deployment.name_any());
        if !deployment.spec.values_hash.is_empty() {
            let secrets: Api<Secret> = Api::namespaced(client.clone(), &key.namespace);
            let secret = secrets
                .get(&key.name)
                .await
                .with_context(|| format!("read the values of deployment {key}"))?;
            let data = secret
                .data
                .unwrap_or_default()
                .into_iter()
                .map(|(key, value)| (key, value.0))
                .collect();
            let spec = &mut deployment.spec;
            for (options, part) in [
                (&mut spec.options, values::DEPLOYMENT_KEY),
                (&mut spec.staged_options, values::STAGED_KEY),
            ] {
                if let Some(options) = options {
                    values::restore(options, &data, part)
                        .with_context(|| format!("read the values of deployment {key}"))?;
                }
            }
        }
        found.insert(key, deployment);
    }
    Ok(found)
}

/// What policies and restrictions of the bundle's namespace mean for its deployments.
async fn policy(client: &Client, namespace: &str) -> anyhow::Result<NamespacePolicy> {
    let api: Api<Policy> = Api::namespaced(client.clone(), namespace);
    let policies = match api.list(&ListParams::default()).await {
        // A server without this kind has no restrictions of either kind.
        Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(NamespacePolicy::default()),
        listed => listed.context("list policies")?,
    };
    let required = policies.iter().any(|policy| policy.require_service_account);
    let allowed = policies.iter().any(|policy| policy.allow_namespace_creation);
    let restrictions: Vec<GitRepoRestriction> = list(client, Some(namespace), &ListParams::default()).await?;
    let mut selector: Option<LabelSelector> = None;
    for each in restrictions
        .iter()
        .filter_map(|restriction| restriction.allowed_target_namespace_selector.as_ref())
    {
        let sum = selector.get_or_insert_default();
        if let Some(more) = &each.match_labels {
            sum.match_labels.get_or_insert_default().extend(more.clone());
        }
        for expression in each.match_expressions.iter().flatten() {
            let expressions = sum.match_expressions.get_or_insert_default();
            if !expressions.contains(expression) {
                expressions.push(expression.clone());
            }
        }
    }
    Ok(NamespacePolicy {
        forbid_namespace_creation: required && !allowed,
        target_namespace_selector: selector,
    })
}

/// The Content and the deployments, as they are printed.
fn documents(
    bundle: &Bundle,
    plan: &Plan,
    existing: &BTreeMap<DeploymentKey, BundleDeployment>,
) -> anyhow::Result<Vec<Value>> {
    let mut content = serde_json::to_value(content::Manifest::new(&bundle.spec.resources).content())?;
    content["status"] = json!({});
    let mut documents = vec![content];
    let mut planned: Vec<_> = plan.deployments.iter().collect();
    planned.sort_by(|a, b| (&a.cluster.name, &a.cluster.namespace).cmp(&(&b.cluster.name, &b.cluster.namespace)));
    for deployment in planned {
        let mut object = BundleDeployment::named(&deployment.key.name);
        object.metadata.namespace = Some(deployment.key.namespace.clone());
        let mut labels = (*deployment.labels).clone();
        labels.remove(labels::CONTENT_NAME);
        object.metadata.labels = Some(labels);
        object.spec = deployment.spec(existing.get(&deployment.key).map(|existing| &existing.spec));
        let mut document = serde_json::to_value(&object)?;
        document["status"] = json!({"display": {}, "resourceCounts": fleet_api::ResourceCounts::default()});
        documents.push(document);
    }
    Ok(documents)
}
