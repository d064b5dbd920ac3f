//! `fleet apply`: directories → bundles, printed or stored. Upstream's command with its flags; this
//! file turns arguments and environment into settings, the work is `fleet_source`'s.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use base64::Engine as _;
use fleet_api::CorrectDrift;
use fleet_api::chain::chain;
use fleet_source::options::{ApplyOptions, ChartAccess, ChartAuth, Scan, Targets};
use fleet_source::scan::{self, Scanned};
use fleet_source::{env, fleetyaml, git, store};
use serde_json::Value;

use crate::printer;

const DEFAULT_NAMESPACE: &str = "fleet-local";
const DEFAULT_CONCURRENCY: usize = 4;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// First part of the names of the bundles, then the directories to look at (default: .)
    #[arg(value_name = "BUNDLE_NAME PATH...")]
    names: Vec<String>,
    /// Not supported: use kubectl apply for a bundle in a file
    #[arg(short, long)]
    file: Option<String>,
    /// Name of the options file in each directory, instead of fleet.yaml
    #[arg(short, long, default_value = "")]
    bundle_file: String,
    /// Print to a file, or to the terminal with -, instead of storing
    #[arg(short, long)]
    output: Option<String>,
    /// Labels of the bundles, key=value; repeatable, or separated by commas
    #[arg(short, long, value_delimiter = ',')]
    label: Vec<String>,
    /// File with targets and targetRestrictions to append
    #[arg(long)]
    targets_file: Option<PathBuf>,
    /// Pack every file
    #[arg(short, long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    compress: bool,
    /// Service account on the downstream clusters
    #[arg(short = 'a', long, default_value = "")]
    service_account: String,
    /// Another number than last time deploys again
    #[arg(long, default_value_t = 0)]
    sync_generation: i64,
    /// Namespace forced on everything
    #[arg(long, default_value = "")]
    target_namespace: String,
    /// Stage changes, release nothing
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    paused: bool,
    /// Commit label; default: $COMMIT, else the commit of the repository around the current directory
    #[arg(long, default_value = "")]
    commit: String,
    /// User for chart repositories; default: $HELM_USERNAME
    #[arg(long, default_value = "")]
    username: String,
    /// File with the password for chart repositories
    #[arg(long)]
    password_file: Option<PathBuf>,
    /// File with authorities of chart repositories
    #[arg(long)]
    cacerts_file: Option<PathBuf>,
    /// File with an SSH key for charts in git repositories
    #[arg(long)]
    ssh_privatekey_file: Option<PathBuf>,
    /// Chart repositories that may see credentials, a regular expression; none if empty
    #[arg(long, default_value = "")]
    helm_repo_url_regex: String,
    /// File with credentials for chart repositories by path
    #[arg(long)]
    helm_credentials_by_path_file: Option<PathBuf>,
    /// Plain HTTP for chart registries
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    helm_basic_http: bool,
    /// Do not check certificates of chart repositories
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    helm_insecure_skip_tls: bool,
    /// Keep objects when a bundle goes
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    keep_resources: bool,
    /// Remove namespaces when a bundle goes
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    delete_namespace: bool,
    /// Correct drift
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    correct_drift: bool,
    /// Replace objects whose drift cannot be patched
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    correct_drift_force: bool,
    /// Keep the records of failed corrections
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    correct_drift_keep_fail_history: bool,
    /// Secret with access to an OCI registry for content
    #[arg(long, default_value = "")]
    oci_registry_secret: String,
    /// Paths are directory:options file; no recursion
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    driven_scan: bool,
    /// What separates directory and options file
    #[arg(long, default_value = ":")]
    driven_scan_sep: String,
    /// Directories worked on at the same time
    #[arg(long, default_value_t = DEFAULT_CONCURRENCY, allow_negative_numbers = true, value_parser = concurrency)]
    bundle_creation_max_concurrency: usize,
    /// Allow imageScans
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    imagescan_enabled: bool,
    /// Namespace of the bundles; $NAMESPACE wins over the default
    #[arg(short, long, default_value = DEFAULT_NAMESPACE)]
    namespace: String,
    /// File with access to the cluster; default: $KUBECONFIG, the pod's account, ~/.kube/config
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// Say more
    #[arg(long, default_value = "false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    debug: bool,
    /// How much more
    #[arg(long, default_value_t = 0)]
    debug_level: i32,
}

/// Zero and less mean the default, as upstream has it.
fn concurrency(text: &str) -> Result<usize, std::num::ParseIntError> {
    text.parse::<i64>().map(|number| {
        usize::try_from(number)
            .ok()
            .filter(|number| *number > 0)
            .unwrap_or(DEFAULT_CONCURRENCY)
    })
}

pub(crate) fn run(args: Args) -> ExitCode {
    let result = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("start")
        .and_then(|runtime| runtime.block_on(apply(args)));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

/// Errors for people, or as the one JSON line that a program asked for.
fn report(error: &anyhow::Error) {
    if env::read(env::JSON_OUTPUT).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        let line = serde_json::json!({
            "time": jiff::Timestamp::now().to_string(), "level": "ERROR", "msg": "Fleet cli failed",
            "fleetErrorMessage": chain(error.as_ref()),
        });
        printer::remark(line);
    } else {
        printer::error(&anyhow!(chain(error.as_ref())));
    }
}

/// What to do, resolved from arguments and environment.
struct Settings {
    apply: ApplyOptions,
    root: PathBuf,
    boundary: PathBuf,
    output: Option<String>,
    store: store::Settings,
    attempts: u32,
}

async fn apply(args: Args) -> anyhow::Result<()> {
    let kubeconfig = args.kubeconfig.clone();
    let settings = settings(args)?;
    // Printing needs no cluster, but upstream's users rely on a missing kubeconfig being found early.
    let config = client_config(kubeconfig.as_deref()).await?;
    let scanned = {
        let (root, boundary, apply) = (settings.root.clone(), settings.boundary.clone(), settings.apply.clone());
        tokio::task::spawn_blocking(move || scan::bundles_within(&root, &boundary, &apply)).await??
    };
    if let Some(output) = &settings.output {
        if scanned.is_empty() {
            return Err(scan::nothing(&settings.apply).into());
        }
        return print(output, scanned);
    }
    let client = kube::Client::try_from(config).context("connect to the cluster")?;
    let empty = scanned.is_empty();
    let stored = store_with_retries(&client, scanned, &settings).await?;
    for store::Stored { name, change } in stored {
        let change = match change {
            store::Change::Created => "created",
            store::Change::Updated => "updated",
            store::Change::Unchanged => "unchanged",
            store::Change::Deleted => "deleted",
        };
        printer::remark(format_args!("{change} (bundle): {}/{name}", settings.store.namespace));
    }
    if empty {
        Err(scan::nothing(&settings.apply).into())
    } else {
        Ok(())
    }
}

async fn store_with_retries(
    client: &kube::Client,
    scanned: Vec<Scanned>,
    settings: &Settings,
) -> anyhow::Result<Vec<store::Stored>> {
    for attempt in 1..=settings.attempts {
        match store::store(client, scanned.clone(), &settings.store).await {
            Err(error) if error.is_conflict() && attempt < settings.attempts => {
                tracing::debug!(attempt, error = chain(&error), "somebody else wrote at the same time");
            }
            other => return Ok(other?),
        }
    }
    Ok(Vec::new())
}

async fn client_config(kubeconfig: Option<&Path>) -> anyhow::Result<kube::Config> {
    let hint = "find out which cluster to talk to: set KUBECONFIG or --kubeconfig (needed with -o too)";
    match kubeconfig {
        Some(file) => {
            let read = kube::config::Kubeconfig::read_from(file).context(hint)?;
            kube::Config::from_custom_kubeconfig(read, &kube::config::KubeConfigOptions::default())
                .await
                .context(hint)
        }
        None => kube::Config::infer().await.context(hint),
    }
}

fn settings(args: Args) -> anyhow::Result<Settings> {
    if args.file.is_some() {
        bail!(
            "-f is not supported: it has never worked; store a bundle in a file with kubectl apply, or name a directory (no resource found)"
        );
    }
    if args.bundle_file == "-" {
        bail!("-b -: the options file cannot be read from standard input: name a file in each directory");
    }
    let Some((name, paths)) = args.names.split_first() else {
        bail!("at least one argument is required: BUNDLE_NAME");
    };
    let root = std::env::current_dir().context("find the current directory")?;
    let namespace = match env::read(env::NAMESPACE) {
        Some(namespace) if args.namespace == DEFAULT_NAMESPACE => namespace,
        _ => args.namespace.clone(),
    };
    let mut labels = label_map(&args.label);
    if let Some(commit) = given(&args.commit)
        .or_else(|| env::read(env::COMMIT))
        .or_else(|| git::head(&root))
    {
        labels.insert(fleet_api::labels::COMMIT.to_owned(), commit);
    }
    let concurrency = match env::read(env::CONCURRENCY) {
        Some(text) if args.bundle_creation_max_concurrency == DEFAULT_CONCURRENCY => {
            self::concurrency(&text).unwrap_or(DEFAULT_CONCURRENCY)
        }
        _ => args.bundle_creation_max_concurrency,
    };
    let store = store::Settings {
        namespace: namespace.clone(),
        repository: name.clone(),
        registry: env::switch(env::OCI_STORAGE) != Some(false),
        registry_secret: args.oci_registry_secret.clone(),
    };
    let attempts =
        env::read(env::CONFLICT_RETRIES).map_or(1, |text| text.parse::<i64>().map_or(1, |n| n.clamp(0, 1000) as u32));
    let apply = ApplyOptions {
        name: name.clone(),
        namespace,
        paths: paths.to_vec(),
        scan: if args.driven_scan {
            Scan::Driven {
                separator: args.driven_scan_sep.clone(),
            }
        } else {
            Scan::Classic
        },
        bundle_file: args.bundle_file.clone(),
        labels,
        targets: args.targets_file.as_deref().map(read_targets).transpose()?,
        compress: args.compress,
        service_account: args.service_account.clone(),
        sync_generation: args.sync_generation,
        target_namespace: args.target_namespace.clone(),
        paused: args.paused,
        keep_resources: args.keep_resources,
        delete_namespace: args.delete_namespace,
        correct_drift: CorrectDrift {
            enabled: args.correct_drift,
            force: args.correct_drift_force,
            keep_fail_history: args.correct_drift_keep_fail_history,
        },
        image_scan: args.imagescan_enabled,
        concurrency,
        charts: chart_access(&args)?,
    };
    let boundary = git::top(&root).unwrap_or_else(|| root.clone());
    Ok(Settings {
        apply,
        root,
        boundary,
        output: args.output,
        store,
        attempts,
    })
}

fn given(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn label_map(labels: &[String]) -> BTreeMap<String, String> {
    let pair = |label: &String| {
        let (key, value) = label.split_once('=').unwrap_or((label, ""));
        (key.to_owned(), value.to_owned())
    };
    labels.iter().filter(|label| !label.is_empty()).map(pair).collect()
}

fn read_targets(file: &Path) -> anyhow::Result<Targets> {
    let text = std::fs::read(file).with_context(|| format!("open {}", file.display()))?;
    fleetyaml::parse_targets(&String::from_utf8_lossy(&text)).map_err(|error| {
        let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        anyhow!("{}: {line}{error}", file.display())
    })
}

fn chart_access(args: &Args) -> anyhow::Result<ChartAccess> {
    let url_regex = args.helm_repo_url_regex.clone();
    if let Some(file) = &args.helm_credentials_by_path_file {
        let text = std::fs::read(file).with_context(|| format!("open {}", file.display()))?;
        let by_path = credentials_by_path(&String::from_utf8_lossy(&text))
            .with_context(|| format!("add auth from {}", file.display()))?;
        return Ok(ChartAccess {
            auth: ChartAuth::default(),
            by_path: Some(by_path),
            url_regex,
        });
    }
    let mut auth = ChartAuth {
        ca_bundle: optional(args.cacerts_file.as_deref())?,
        ssh_private_key: optional(args.ssh_privatekey_file.as_deref())?,
        ssh_known_hosts: env::read(env::KNOWN_HOSTS).unwrap_or_default(),
        insecure_skip_verify: args.helm_insecure_skip_tls,
        basic_http: args.helm_basic_http,
        ..ChartAuth::default()
    };
    let password = optional(args.password_file.as_deref())?;
    if !password.is_empty() {
        auth.username = given(&args.username)
            .or_else(|| env::read(env::HELM_USERNAME))
            .unwrap_or_default();
        auth.password = password;
    }
    Ok(ChartAccess {
        auth,
        by_path: None,
        url_regex,
    })
}

/// A file that may be missing: mounted secrets have only some of their keys.
fn optional(file: Option<&Path>) -> anyhow::Result<String> {
    let Some(file) = file else { return Ok(String::new()) };
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("open {}", file.display())),
    }
}

/// Path → credentials, from YAML. Keys and certificates are base64 there.
fn credentials_by_path(text: &str) -> anyhow::Result<BTreeMap<String, ChartAuth>> {
    let value = goyaml::parse(text).map_err(|error| anyhow!("yaml: line {}: {}", error.line, error.message))?;
    let Value::Object(paths) = value else {
        if value.is_null() {
            return Ok(BTreeMap::new());
        }
        bail!("yaml: a map from paths to credentials is needed");
    };
    paths
        .into_iter()
        .map(|(path, value)| Ok((path.clone(), credentials(&value).context(path)?)))
        .collect()
}

fn credentials(value: &Value) -> anyhow::Result<ChartAuth> {
    let field = |name: &str| {
        value.as_object().and_then(|map| {
            map.iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        })
    };
    let text = |name: &str| match field(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(anyhow!("{name} must be a string")),
    };
    let decoded = |name: &str| {
        let text = text(name)?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text.trim())
            .with_context(|| format!("{name} must be base64"))?;
        String::from_utf8(bytes).with_context(|| format!("{name} must be text"))
    };
    let flag = |name: &str| match field(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(anyhow!("{name} must be true or false")),
    };
    Ok(ChartAuth {
        username: text("username")?,
        password: text("password")?,
        ca_bundle: decoded("caBundle")?,
        ssh_private_key: decoded("sshPrivateKey")?,
        ssh_known_hosts: decoded("sshKnownHosts")?,
        insecure_skip_verify: flag("insecureSkipVerify")?,
        basic_http: flag("basicHTTP")?,
    })
}

/// Writes bundles and image scans as YAML documents, separated by `---` (upstream leaves it out
/// between bundles, which is not readable as YAML).
fn print(output: &str, scanned: Vec<Scanned>) -> anyhow::Result<()> {
    let mut documents = Vec::new();
    for Scanned { bundle, image_scans } in scanned {
        documents.push(document(&bundle)?);
        for scan in &image_scans {
            documents.push(document(scan)?);
        }
    }
    let text = documents.join("---\n");
    if output == "-" {
        printer::raw(text);
        return Ok(());
    }
    let file = Path::new(output);
    if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).with_context(|| format!("create {}", parent.display()))?;
    }
    std::fs::write(file, text).with_context(|| format!("write {}", file.display()))
}

fn document(object: &impl serde::Serialize) -> anyhow::Result<String> {
    // Through Go's JSON, because that is where the numbers of values get their digits.
    let value = serde_json::from_str(&fleet_api::json::to_string(object)).context("print")?;
    goyaml::to_yaml(&value).map_err(|error| anyhow!("print: {}", error.message))
}
