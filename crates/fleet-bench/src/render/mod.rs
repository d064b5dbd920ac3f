//! `bench render`: charts loaded and rendered by our engine in this process and by Helm's own as a library in another,
//! in turns, chart by chart.
//!
//! Three things are measured, each on both sides: *cold* and *first* are from files to manifests with nothing kept from
//! before, the former when the processor's caches hold what the other side did last, the latter right afterwards;
//! *again* is the loaded chart rendered once more. *Known*, beside Helm's *first*, is from files to manifests for an agent
//! that rendered the chart before: what was made of its templates is kept. Charts that make keys or hash passwords are told apart, because that
//! takes either side longer than everything else in most charts, and each time another time. What sorting and parsing
//! cost ours on top, as in `fleet template`, is shown beside.

mod side;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use helm::cache::Cache;

use self::side::{Helm, Times};
use crate::process;
use crate::report::{self, Samples, figure, mebibytes};

/// Charts that are shown: those where we are ahead least.
const SHOWN: usize = 10;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file that names a chart, a folder or an archive, on each line
    #[arg(long)]
    charts: PathBuf,
    /// A Python that can import helm_python; without it only ours is measured
    #[arg(long)]
    python: Option<PathBuf>,
    /// Times that each chart is loaded and rendered on each side
    #[arg(long, default_value_t = 5)]
    times: usize,
}

/// One side's times for one chart, in milliseconds.
#[derive(Default)]
struct Side {
    cold: Samples,
    first: Samples,
    again: Samples,
}

/// Both sides' times for one chart.
#[derive(Default)]
struct Row {
    chart: String,
    keys: bool,
    ours: Side,
    helm: Side,
    /// Ours from files, with templates that are known.
    known: Samples,
    /// Ours with sorting and parsing, from files.
    sorted: Samples,
}

impl Side {
    fn add(&mut self, times: Times) {
        self.cold.add_time(times.cold);
        self.first.add_time(times.first);
        self.again.add_time(times.again);
    }
}

/// What is measured, and where it is kept.
type Kind = (&'static str, fn(&Side) -> &Samples);

const COLD: Kind = ("cold (load and render after the other side)", |side| &side.cold);
const FIRST: Kind = ("first (load and render)", |side| &side.first);
const AGAIN: Kind = ("again (render what is loaded)", |side| &side.again);

pub(crate) fn run(args: &Args) -> Result<()> {
    let list = std::fs::read_to_string(&args.charts).with_context(|| format!("read {}", args.charts.display()))?;
    let mut helm = args.python.as_deref().map(Helm::start).transpose()?;
    let mut rows = Vec::new();
    let (mut only_ours, mut only_helm, mut neither) = (0, 0, 0);
    // All charts of a run fit.
    let cache = Cache::new(256 << 20);
    for path in list.lines().filter(|line| !line.is_empty()).map(PathBuf::from) {
        let mut theirs = || helm.as_mut().map(|helm| helm.render(&path)).transpose();
        // The first round warms the file cache for both and is not counted.
        let mut row = match (side::ours(&path), theirs()?) {
            (Some((_, keys)), None | Some(Some(_))) => Row {
                chart: path.display().to_string(),
                keys,
                ..Row::default()
            },
            (Some(_), Some(None)) => {
                only_ours += 1;
                continue;
            }
            (None, Some(Some(_))) => {
                only_helm += 1;
                report::line(format_args!("only Helm renders {}", path.display()));
                continue;
            }
            (None, None | Some(None)) => {
                neither += 1;
                continue;
            }
        };
        side::known(&path, &cache);
        for _ in 0..args.times {
            if let Some((times, _)) = side::ours(&path) {
                row.ours.add(times);
            }
            if let Some(times) = theirs()?.flatten() {
                row.helm.add(times);
            }
            if let Some(time) = side::known(&path, &cache) {
                row.known.add_time(time);
            }
            if let Some(time) = side::sorted(&path) {
                row.sorted.add_time(time);
            }
        }
        rows.push(row);
    }
    if rows.is_empty() {
        bail!("there is no chart that both sides render");
    }
    let (keys, plain): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.keys);
    slowest(&plain);
    summary("charts that make no keys and hash no passwords", &plain);
    summary("charts that make keys or hash passwords", &keys);
    let all: Vec<Row> = plain.into_iter().chain(keys).collect();
    summary("all charts", &all);
    report::line(format_args!(
        "\n{} charts rendered by both, {only_ours} only by ours, {only_helm} only by Helm, {neither} by neither",
        all.len()
    ));
    let memory = process::memory(&[std::process::id()])?;
    report::line(format_args!("memory, ours         peak {}", mebibytes(memory.peak)));
    if let Some(helm) = &helm {
        let memory = process::memory(&[helm.child.id()])?;
        report::line(format_args!(
            "memory, Helm         peak {} (Python included)",
            mebibytes(memory.peak)
        ));
    }
    Ok(())
}

fn ratio(row: &Row, of: fn(&Side) -> &Samples) -> f64 {
    of(&row.helm).median() / of(&row.ours).median()
}

fn slowest(rows: &[Row]) {
    let of = FIRST.1;
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by(|a, b| ratio(a, of).total_cmp(&ratio(b, of)));
    for row in rows.into_iter().take(SHOWN) {
        report::line(format_args!(
            "{} x first, {} x again: ours {}, Helm {}: {}",
            figure(ratio(row, of)),
            figure(ratio(row, AGAIN.1)),
            of(&row.ours).spread("ms"),
            of(&row.helm).spread("ms"),
            row.chart
        ));
    }
}

fn summary(name: &str, rows: &[Row]) {
    if rows.is_empty() {
        return;
    }
    report::line(format_args!("\n{} {name}, medians of each together", rows.len()));
    let sum = |value: &dyn Fn(&Row) -> f64| rows.iter().map(value).sum::<f64>();
    #[expect(clippy::cast_precision_loss, reason = "a number of charts")]
    let count = rows.len() as f64;
    for (kind, of) in [COLD, FIRST, AGAIN] {
        let ours = sum(&|row| of(&row.ours).median());
        let helm = sum(&|row| of(&row.helm).median());
        let geometric = (sum(&|row| ratio(row, of).ln()) / count).exp();
        let mut ratios = Samples::default();
        ratios.extend(rows.iter().map(|row| ratio(row, of)));
        report::line(format_args!(
            "{kind}: ours {} ms, Helm {} ms; ratio total {} x, geometric {} x, by chart {}",
            figure(ours),
            figure(helm),
            figure(helm / ours),
            figure(geometric),
            ratios.spread("x")
        ));
    }
    let known = sum(&|row| row.known.median());
    let helm = sum(&|row| row.helm.first.median());
    let geometric = sum(&|row| (row.helm.first.median() / row.known.median()).ln()) / count;
    report::line(format_args!(
        "known (load, render with known templates): ours {} ms; ratio to Helm's first total {} x, geometric {} x",
        figure(known),
        figure(helm / known),
        figure(geometric.exp())
    ));
    let sorted = sum(&|row| row.sorted.median());
    report::line(format_args!(
        "first, ours with sorting and parsing: {} ms",
        figure(sorted)
    ));
}
