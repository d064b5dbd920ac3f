//! `bench store`: what the embedded store does as it grows: load rate, memory per object, restart after kill -9.
//!
//! The load runs in a child process as the API server writes: many writers, each waiting for its own write to be
//! durable. The child is killed while it writes on; another child opens what is left, finds everything that was
//! acknowledged, and says how long that took.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::ChildStdout;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::apiserver::store::disk::Disk;
use ::apiserver::store::{Expect, Scan, Store, Write};
use anyhow::{Context as _, Result, bail};

use crate::payload;
use crate::process::{self, Killed};
use crate::report::{self, Samples, figure, mebibytes};

/// Parts of the load whose rates are compared: growth is linear if they are alike.
const PARTS: u64 = 10;

/// Random reads after the restart.
const READS: u64 = 10_000;

/// Writes that the child makes after the load, to be killed in the middle of one.
const BEYOND: u64 = 1_000_000;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Objects of about 1 KB
    #[arg(long, default_value_t = 100_000)]
    objects: u64,
    /// Writers that wait for their write
    #[arg(long, default_value_t = 512)]
    writers: u64,
    /// Restarts after the kill; the first one replays the journal
    #[arg(long, default_value_t = 3)]
    restarts: usize,
}

pub(crate) fn run(args: &Args, directory: &Path) -> Result<()> {
    let keep = tempfile::tempdir_in(directory).context("make a directory")?;
    let data = keep.path().join("store").display().to_string();
    let (objects, writers) = (args.objects.to_string(), args.writers.to_string());
    let mut child = Killed::this_program(&["load", "--data", &data, "--objects", &objects, "--writers", &writers])?;
    let mut lines = lines(&mut child)?;
    let mut empty = 0;
    let (mut rates, mut costs, mut writes) = (Samples::default(), Samples::default(), Samples::default());
    let (mut busy, mut flushed) = (0.0, 0);
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let part = (args.objects / PARTS) as f64;
    let begin = Instant::now();
    let mut last = begin;
    loop {
        let line = next(&mut lines)?;
        match line.split_once(' ') {
            Some(("opened", _)) => empty = process::memory(&[child.id()])?.anonymous,
            Some(("written", written)) => {
                let rate = part / last.elapsed().as_secs_f64();
                last = Instant::now();
                rates.add(rate);
                let now = process::processor_time(&[child.id()])?;
                costs.add((now - busy) * 1e6 / part);
                busy = now;
                let now = process::written(child.id())?;
                #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
                writes.add((now - flushed) as f64 / part);
                flushed = now;
                let memory = process::memory(&[child.id()])?;
                let (rate, memory) = (figure(rate), mebibytes(memory.anonymous));
                report::line(format_args!("{written} objects, {rate}/s, {memory} anonymous"));
            }
            _ => break,
        }
    }
    let took = begin.elapsed();
    let loaded = process::memory(&[child.id()])?;
    let acknowledged: u64 = next(&mut lines)?.trim_start_matches("acknowledged ").parse()?;
    child.0.kill().context("kill the writer")?;
    child.0.wait().context("wait for the writer")?;
    let per_object = |kilobytes: u64| {
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let bytes = kilobytes as f64 * 1024.0 / args.objects as f64;
        format!("{} ({} B/object)", mebibytes(kilobytes), figure(bytes))
    };
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let rate = args.objects as f64 / took.as_secs_f64();
    report::line(format_args!(
        "\n{} objects, {} writers; min / median / max",
        args.objects, args.writers
    ));
    report::line(format_args!(
        "load                 {} objects/s; by tenths {}",
        figure(rate),
        rates.spread("/s")
    ));
    report::line(format_args!(
        "processor time       by tenths {}",
        costs.spread("µs/object")
    ));
    report::line(format_args!(
        "written to disk      by tenths {}",
        writes.spread("B/object")
    ));
    report::line(format_args!("memory, empty        {}", mebibytes(empty)));
    report::line(format_args!("memory, loaded       {}", per_object(loaded.anonymous)));
    report::line(format_args!("memory, peak         {}", per_object(loaded.peak)));
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let per = size(Path::new(&data))? as f64 / args.objects as f64;
    report::line(format_args!("disk                 {} B/object", figure(per)));
    for restart in 0..args.restarts {
        let least = acknowledged.to_string();
        let mut child = Killed::this_program(&["reopen", "--data", &data, "--objects", &objects, "--least", &least])?;
        let mut lines = self::lines(&mut child)?;
        let what = if restart == 0 { "restart after kill" } else { "restart" };
        let opened = next(&mut lines)?;
        let memory = process::memory(&[child.id()])?;
        let rest = next(&mut lines)?;
        report::line(format_args!(
            "{what:21}{opened}, {}; {rest}; then {}",
            mebibytes(memory.anonymous),
            per_object(process::memory(&[child.id()])?.anonymous)
        ));
    }
    Ok(())
}

fn lines(child: &mut Killed) -> Result<std::io::Lines<BufReader<ChildStdout>>> {
    let output = child.0.stdout.take().context("the child has no output")?;
    Ok(BufReader::new(output).lines())
}

fn next(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Result<String> {
    lines
        .next()
        .context("the child ended early")?
        .context("read from the child")
}

fn size(directory: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(directory).with_context(|| format!("list {}", directory.display()))? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += if metadata.is_dir() {
            size(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(sum)
}

/// The writer.
#[derive(clap::Args)]
pub(crate) struct Load {
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    objects: u64,
    #[arg(long)]
    writers: u64,
}

/// Loads, says so, and goes on writing until it is killed.
pub(crate) async fn load(args: &Load) -> Result<()> {
    let store = Arc::new(Disk::open(&args.data, ::apiserver::Options::default().history)?);
    report::line(format_args!("opened store"));
    let part = args.objects / PARTS;
    for at in 0..PARTS {
        write(&store, at * part, (at + 1) * part, args.writers, None).await?;
        report::line(format_args!("written {}", (at + 1) * part));
    }
    report::line(format_args!("loaded"));
    let (acknowledged, loaded) = (Arc::new(AtomicU64::new(0)), part * PARTS);
    let more = write(
        &store,
        loaded,
        loaded + BEYOND,
        args.writers,
        Some(Arc::clone(&acknowledged)),
    );
    let enough = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        report::line(format_args!(
            "acknowledged {}",
            loaded + acknowledged.load(Ordering::SeqCst)
        ));
        std::future::pending::<Result<()>>().await
    };
    tokio::select! {
        ended = more => ended,
        never = enough => never,
    }
}

async fn write(store: &Arc<Disk>, from: u64, to: u64, writers: u64, count: Option<Arc<AtomicU64>>) -> Result<()> {
    let following = Arc::new(AtomicU64::new(from));
    let tasks: Vec<_> = (0..writers)
        .map(|_| {
            let (store, following, count) = (Arc::clone(store), Arc::clone(&following), count.clone());
            tokio::spawn(async move {
                loop {
                    let number = following.fetch_add(1, Ordering::Relaxed);
                    if number >= to {
                        return Ok::<_, ::apiserver::store::Error>(());
                    }
                    let (key, value) = payload::stored(number);
                    let write = Write {
                        key: key.into(),
                        expect: Expect::Absent,
                        value: Some(value.into()),
                    };
                    store.write(write).await?;
                    if let Some(count) = &count {
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// The reader after the kill.
#[derive(clap::Args)]
pub(crate) struct Reopen {
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    objects: u64,
    /// Objects that were acknowledged before the kill
    #[arg(long)]
    least: u64,
}

/// Opens the store, reads at random, and counts everything.
pub(crate) fn reopen(args: &Reopen) -> Result<()> {
    let begin = Instant::now();
    let store = Disk::open(&args.data, ::apiserver::Options::default().history)?;
    report::line(format_args!("{} ms", figure(begin.elapsed().as_secs_f64() * 1e3)));
    let mut reads = Samples::default();
    for at in 0..READS {
        let number = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) % args.objects;
        let (key, _) = payload::stored(number);
        let begin = Instant::now();
        if store.get(&key)?.is_none() {
            bail!("object {number} is lost");
        }
        reads.add(begin.elapsed().as_secs_f64() * 1e6);
    }
    let begin = Instant::now();
    let found = count(&store)?;
    if found < args.least {
        bail!("{} objects were acknowledged and {found} are there", args.least);
    }
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let rate = found as f64 / begin.elapsed().as_secs_f64();
    report::line(format_args!(
        "{found} objects there, none lost; random read {}; all read in pages {}/s",
        reads.spread("µs"),
        figure(rate)
    ));
    // The owner of this process looks at its memory now.
    let mut end = String::new();
    std::io::stdin().read_line(&mut end).context("wait for the end")?;
    Ok(())
}

fn count(store: &Disk) -> Result<u64> {
    let mut after: Option<Arc<str>> = None;
    let mut found = 0;
    loop {
        let page = store.scan(&Scan {
            scope: "/core/configmaps/",
            after: after.as_deref(),
            limit: 500,
            left: u64::MAX,
            ..Scan::default()
        })?;
        found += page.entries.len() as u64;
        match page.entries.into_iter().next_back() {
            Some((key, _)) if page.more => after = Some(key),
            _ => return Ok(found),
        }
    }
}
