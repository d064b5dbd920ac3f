//! `fleet-bench NAME`: measures what promises.md and the issues set figures for, each beside its real counterpart where
//! there is one, both sides in one run.
//!
//! Every benchmark starts what it needs on loopback, below one directory that is emptied at the end, and prints samples
//! as min / median / max. It asserts nothing: a loaded machine is no failure; who reads the ratios decides. Nothing of
//! the product depends on it.

mod apiserver;
mod client;
mod payload;
mod process;
mod releases;
mod render;
mod report;
mod side;
mod store;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

/// Rendering takes a fifth less time than with the C library's (docs/adr/0010-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(name = "fleet-bench", about = "Measures Fleet beside its real counterparts")]
struct Args {
    /// Directory for what the benchmarks write, on the disk to be measured
    #[arg(long, global = true, default_value = "target/bench")]
    directory: PathBuf,
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// The embedded API server beside kube-apiserver and etcd: creates, lists, watches, memory
    Apiserver(apiserver::Args),
    /// The embedded store: load rate, memory per object, restart after being killed
    Store(store::Args),
    /// Our template engine beside Helm's as a library
    Render(render::Args),
    /// An agent with very many releases
    Releases(releases::Args),
    /// The API server as `bench apiserver` measures it
    #[command(hide = true)]
    Serve(side::Serve),
    /// The writer that `bench store` kills
    #[command(hide = true)]
    Load(store::Load),
    /// The reopening that `bench store` times
    #[command(hide = true)]
    Reopen(store::Reopen),
}

fn main() -> ExitCode {
    // One provider for every TLS connection of this process; a second call could only find the same one.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    allow_files();
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::line(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Allows as many open files as the system lets us: a thousand watchers on two servers need more than the usual 1024.
fn allow_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With less the benchmarks that need it say what they could not open.
    let _ = setrlimit(Resource::Nofile, limit);
}

fn run(args: Args) -> anyhow::Result<()> {
    std::fs::create_dir_all(&args.directory).with_context(|| format!("create {}", args.directory.display()))?;
    let directory = args.directory.canonicalize().context("find the directory")?;
    let runtime = tokio::runtime::Runtime::new().context("start the runtime")?;
    match args.bench {
        Bench::Apiserver(args) => runtime.block_on(apiserver::run(&args, &directory)),
        Bench::Store(args) => store::run(&args, &directory),
        Bench::Render(args) => render::run(&args),
        Bench::Releases(args) => runtime.block_on(releases::run(&args, &directory)),
        Bench::Serve(args) => runtime.block_on(side::serve(args)),
        Bench::Load(args) => runtime.block_on(store::load(&args)),
        Bench::Reopen(args) => store::reopen(&args),
    }
}
