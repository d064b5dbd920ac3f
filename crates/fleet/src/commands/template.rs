//! `fleet template`: what a chart prints with these values, without a cluster.
//!
//! Chart directory or archive + values → manifests on stdout, as `helm template` prints them. The rendering is
//! `lib/helm`'s, the same as the agent's; here are only the reading of files and the printing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use helm::folder;
use helm::set::{self, Mode};
use helm::template::{self, Options};
use helm::values::{self, Values};

use crate::printer;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The chart: a directory, or an archive (.tgz)
    chart: PathBuf,
    /// Name of the release
    #[arg(long, default_value = template::DEFAULT_NAME, value_name = "NAME")]
    name: String,
    /// Namespace of the release
    #[arg(short, long, default_value = "default")]
    namespace: String,
    /// File with values; later ones win. Several may be separated by commas
    #[arg(short = 'f', long, value_name = "FILE", value_delimiter = ',')]
    values: Vec<PathBuf>,
    /// Values such as a.b=1,c[0]=x
    #[arg(long, value_name = "VALUES")]
    set: Vec<String>,
    /// Values that are strings whatever they look like
    #[arg(long, value_name = "VALUES")]
    set_string: Vec<String>,
    /// Values as JSON: a={"b":1}, or one JSON object
    #[arg(long, value_name = "VALUES")]
    set_json: Vec<String>,
    /// Values read from files: a=FILE
    #[arg(long, value_name = "VALUES")]
    set_file: Vec<String>,
    /// One value, everything after the first = as it is
    #[arg(long, value_name = "VALUE")]
    set_literal: Vec<String>,
    /// Version of Kubernetes to assume
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// Kinds to assume besides the built-in ones, as group/version or group/version/Kind
    #[arg(short, long, value_name = "KINDS")]
    api_versions: Vec<String>,
    /// Print the chart's CRDs too
    #[arg(long)]
    include_crds: bool,
    /// Render as for an upgrade
    #[arg(long)]
    is_upgrade: bool,
    /// Leave hooks out
    #[arg(long)]
    no_hooks: bool,
    /// Leave test hooks out
    #[arg(long)]
    skip_tests: bool,
    /// Do not hold the values against the chart's schema
    #[arg(long)]
    skip_schema_validation: bool,
    /// Print only what comes from this template, such as templates/service.yaml; may be a pattern
    #[arg(short, long, value_name = "TEMPLATE")]
    show_only: Vec<String>,
}

pub(crate) fn run(args: Args) -> ExitCode {
    printer::outcome(rendered(args))
}

fn rendered(args: Args) -> anyhow::Result<String> {
    let given = given(&args)?;
    // The causes of these two are in their texts already, which are Helm's.
    let chart = folder::load(&args.chart).map_err(|error| match error {
        folder::Error::Load(error) => anyhow!("{error}"),
        other => other.into(),
    })?;
    let options = Options {
        name: args.name,
        namespace: args.namespace,
        kube_version: args.kube_version,
        api_versions: args.api_versions,
        include_crds: args.include_crds,
        is_upgrade: args.is_upgrade,
        no_hooks: args.no_hooks,
        skip_tests: args.skip_tests,
        skip_schema_validation: args.skip_schema_validation,
        show_only: args.show_only,
    };
    template::template(&chart, &given, &options).map_err(|error| anyhow!("{error}"))
}

/// Values files first, then what stands on the command line, by kind of option.
fn given(args: &Args) -> anyhow::Result<Values> {
    let mut given = Values::new();
    for path in &args.values {
        let read = std::fs::read(path).with_context(|| format!("open {}", path.display()))?;
        let found = values::parse(&read).with_context(|| format!("failed to parse {}", path.display()))?;
        given = values::merge(given, values::floats(found));
    }
    let read = |path: &str| text_of(Path::new(path));
    let sources: [(&str, &[String], Mode<'_>); 5] = [
        ("set-json", &args.set_json, Mode::Json),
        ("set", &args.set, Mode::Typed),
        ("set-string", &args.set_string, Mode::Text),
        ("set-file", &args.set_file, Mode::File(&read)),
        ("set-literal", &args.set_literal, Mode::Literal),
    ];
    for (option, expressions, mode) in sources {
        for expression in expressions {
            set::set(&mut given, expression, &mode).with_context(|| format!("failed parsing --{option} data"))?;
        }
    }
    Ok(given)
}

fn text_of(path: &Path) -> Result<String, String> {
    match std::fs::read(path) {
        Ok(data) => Ok(String::from_utf8_lossy(&data).into_owned()),
        Err(error) => Err(format!("open {}: {error}", path.display())),
    }
}
