//! `bench apiserver`: what a client sees of the embedded API server and of kube-apiserver with etcd, in turns.
//!
//! Every figure is taken on both sides in one run, in alternating rounds, so that what else the machine does falls on
//! both; compare the ratios, not the figures.

mod create;
mod list;
mod watch;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::process::{self, Memory};
use crate::report::{self, Samples, figure, mebibytes};
use crate::side::Side;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder with kube-apiserver and etcd; without it only ours is measured
    #[arg(long)]
    programs: Option<PathBuf>,
    /// Objects to make and list
    #[arg(long, default_value_t = 100_000)]
    objects: u64,
    /// Clients that make them
    #[arg(long, default_value_t = 16)]
    clients: u64,
    /// Alternating rounds in which they are made
    #[arg(long, default_value_t = 10)]
    rounds: u64,
    /// Watchers
    #[arg(long, default_value_t = 1000)]
    watchers: usize,
    /// Writes whose way to all watchers is timed
    #[arg(long, default_value_t = 60)]
    writes: usize,
    /// Complete listings
    #[arg(long, default_value_t = 3)]
    lists: usize,
}

/// What is measured of one side.
#[derive(Default)]
struct Figures {
    creates: Samples,
    create_times: Samples,
    create_processor: f64,
    lists: Samples,
    lists_gzip: Samples,
    watch_last: Samples,
    watch_all: Samples,
    idle: Memory,
    full: Memory,
    watched: Memory,
}

pub(crate) async fn run(args: &Args, directory: &Path) -> Result<()> {
    let keep = tempfile::tempdir_in(directory).context("make a directory")?;
    let mut sides = vec![Side::ours(&keep.path().join("ours")).await?];
    if let Some(programs) = &args.programs {
        sides.push(Side::real(programs, &keep.path().join("real")).await?);
    }
    let mut figures: Vec<Figures> = sides.iter().map(|_| Figures::default()).collect();
    // A server has settled when its start is over and nothing was asked of it for a moment.
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    for (side, figures) in sides.iter().zip(&mut figures) {
        figures.idle = process::memory(&side.processes)?;
    }
    let share = args.objects / args.rounds.max(1);
    for round in 0..args.rounds {
        for (side, figures) in sides.iter().zip(&mut figures) {
            let busy = process::processor_time(&side.processes)?;
            let made = create::round(side, args.clients, round * share..(round + 1) * share).await?;
            figures.create_processor += process::processor_time(&side.processes)? - busy;
            figures.creates.add(made.per_second);
            figures.create_times.extend(made.times);
            let rate = figure(made.per_second);
            report::line(format_args!("{:5} creates, round {round}: {rate}/s", side.name));
        }
    }
    for (side, figures) in sides.iter().zip(&mut figures) {
        figures.full = process::memory(&side.processes)?;
    }
    let made = share * args.rounds;
    for _ in 0..args.lists {
        for (side, figures) in sides.iter().zip(&mut figures) {
            figures.lists.add_time(list::complete(side, made, false).await?);
            figures.lists_gzip.add_time(list::complete(side, made, true).await?);
        }
    }
    let mut watches = Vec::new();
    for side in &sides {
        watches.push(watch::Watches::open(side, args.watchers).await?);
    }
    for write in 0..args.writes {
        for (watches, figures) in watches.iter_mut().zip(&mut figures) {
            let seen = watches.write(write).await?;
            figures.watch_last.add_time(seen.last);
            figures.watch_all.extend(seen.all);
        }
    }
    for (side, figures) in sides.iter().zip(&mut figures) {
        figures.watched = process::memory(&side.processes)?;
    }
    let heading = format!(
        "{made} ConfigMaps of 1 KB, {} clients, {} watchers; requests: {} creates, {} pages, {} watches; min / median / max",
        args.clients,
        args.watchers,
        made + args.writes as u64,
        made.div_ceil(list::PAGE) * 2 * args.lists as u64,
        args.watchers
    );
    report::line(format_args!("\n{heading}"));
    for (side, figures) in sides.iter().zip(&figures) {
        show(side.name, figures, made);
    }
    if let [ours, real] = figures.as_slice() {
        compare(ours, real);
    }
    Ok(())
}

fn show(name: &str, figures: &Figures, made: u64) {
    let row = |what: &str, value: String| report::line(format_args!("{name:5} {what:32} {value}"));
    row("creates", figures.creates.spread("/s"));
    let (middle, late) = (figures.create_times.median(), figures.create_times.quantile(0.99));
    row(
        "create, p50 and p99",
        format!("{}, {} ms", figure(middle), figure(late)),
    );
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let each = figures.create_processor * 1e6 / made as f64;
    row("processor time per create", format!("{} µs", figure(each)));
    row("list all in pages", figures.lists.spread("ms"));
    row("list all in pages, gzip", figures.lists_gzip.spread("ms"));
    row("write to last watcher", figures.watch_last.spread("ms"));
    let late = figures.watch_last.quantile(0.99);
    row("write to last watcher, p99", format!("{} ms", figure(late)));
    row("write to any watcher", figures.watch_all.spread("ms"));
    for (when, memory) in [
        ("idle", figures.idle),
        ("with the objects", figures.full),
        ("with the watchers, too", figures.watched),
    ] {
        let (now, peak) = (mebibytes(memory.anonymous), mebibytes(memory.peak));
        row(
            &format!("memory {when}"),
            format!("{now} anonymous (peak {peak} resident)"),
        );
    }
}

fn compare(ours: &Figures, real: &Figures) {
    let row = |what: &str, ratio: f64| report::line(format_args!("ratio {what:32} {} x", figure(ratio)));
    row("creates", ours.creates.median() / real.creates.median());
    row("list all in pages", real.lists.median() / ours.lists.median());
    row(
        "list all in pages, gzip",
        real.lists_gzip.median() / ours.lists_gzip.median(),
    );
    row(
        "write to last watcher, p50",
        real.watch_last.median() / ours.watch_last.median(),
    );
    row(
        "write to last watcher, p99",
        real.watch_last.quantile(0.99) / ours.watch_last.quantile(0.99),
    );
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let memory = |of: fn(&Figures) -> Memory| of(real).anonymous as f64 / of(ours).anonymous.max(1) as f64;
    row("memory idle", memory(|figures| figures.idle));
    row("memory with the objects", memory(|figures| figures.full));
    row("memory with the watchers, too", memory(|figures| figures.watched));
}
