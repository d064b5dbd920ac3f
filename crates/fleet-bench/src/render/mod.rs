//! `bench render`: charts loaded and rendered by our engine in this process and by Helm's own as a library in another,
//! in turns, chart by chart.
//!
//! Loading counts: a render in the product starts with files, too. Neither side sorts or parses what was printed; what
//! that costs ours on top, as in `fleet template`, is shown apart.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use helm::capabilities::Capabilities;
use helm::render::ReleaseOptions;
use helm::values::Values;
use serde_json::Value;

use crate::process::{self, Killed};
use crate::report::{self, Samples, figure, mebibytes};

/// What runs in the Python that has Helm's library.
const SCRIPT: &str = include_str!("helm.py");

/// Charts that are shown: those where we are ahead least.
const SHOWN: usize = 10;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folders below which charts are looked for
    folders: Vec<PathBuf>,
    /// A Python that can import helm_python; without it only ours is measured
    #[arg(long)]
    python: Option<PathBuf>,
    /// Times that each chart is loaded and rendered on each side
    #[arg(long, default_value_t = 5)]
    times: usize,
}

/// Both sides' times for one chart, in milliseconds.
struct Row {
    chart: String,
    ours: Samples,
    /// With sorting and parsing.
    sorted: Samples,
    helm: Samples,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut charts = Vec::new();
    for folder in &args.folders {
        find(folder, &mut charts)?;
    }
    let mut helm = args.python.as_deref().map(Helm::start).transpose()?;
    let mut rows = Vec::new();
    let (mut only_ours, mut only_helm, mut neither) = (0, 0, 0);
    for path in &charts {
        // The first round warms the file cache for both and is not counted.
        let first = (ours(path).is_some(), theirs(helm.as_mut(), path)?.is_some());
        match first {
            (true, true) => {}
            (true, false) => {
                only_ours += 1;
                continue;
            }
            (false, true) => {
                only_helm += 1;
                report::line(format_args!("only Helm renders {}", path.display()));
                continue;
            }
            (false, false) => {
                neither += 1;
                continue;
            }
        }
        let mut row = Row {
            chart: path.display().to_string(),
            ours: Samples::default(),
            sorted: Samples::default(),
            helm: Samples::default(),
        };
        for _ in 0..args.times {
            if let Some(time) = ours(path) {
                row.ours.add_time(time);
            }
            if let Some(time) = sorted(path) {
                row.sorted.add_time(time);
            }
            if let Some(time) = theirs(helm.as_mut(), path)? {
                row.helm.add_time(time);
            }
        }
        rows.push(row);
    }
    if rows.is_empty() {
        bail!("there is no chart that both sides render");
    }
    rows.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    for row in rows.iter().take(SHOWN) {
        let (ours, helm) = (row.ours.spread("ms"), row.helm.spread("ms"));
        report::line(format_args!(
            "{} x: ours {ours}, Helm {helm}: {}",
            figure(ratio(row)),
            row.chart
        ));
    }
    summary(&rows);
    report::line(format_args!(
        "{} charts rendered by both, {only_ours} only by ours, {only_helm} only by Helm, {neither} by neither",
        rows.len()
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

fn ratio(row: &Row) -> f64 {
    row.helm.median() / row.ours.median()
}

fn summary(rows: &[Row]) {
    let mut ratios = Samples::default();
    ratios.extend(rows.iter().map(ratio));
    let sum = |side: fn(&Row) -> f64| rows.iter().map(side).sum::<f64>();
    let (ours, helm) = (sum(|row| row.ours.median()), sum(|row| row.helm.median()));
    let sorted = sum(|row| row.sorted.median());
    #[expect(clippy::cast_precision_loss, reason = "a number of charts")]
    let count = rows.len() as f64;
    let geometric = (rows.iter().map(|row| ratio(row).ln()).sum::<f64>() / count).exp();
    report::line(format_args!(
        "\nmedians of all charts together: ours {} ms, Helm {} ms",
        figure(ours),
        figure(helm)
    ));
    report::line(format_args!("ours with sorting and parsing: {} ms", figure(sorted)));
    report::line(format_args!("ratio, total         {} x", figure(helm / ours)));
    report::line(format_args!("ratio, geometric     {} x", figure(geometric)));
    report::line(format_args!("ratio, by chart      {}", ratios.spread("x")));
}

/// Charts below a folder; what lies inside a chart belongs to it.
fn find(folder: &Path, charts: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("Chart.yaml").is_file() {
        charts.push(folder.canonicalize().context("find a chart")?);
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut below: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    below.sort();
    for path in below {
        if path.is_dir() && !path.is_symlink() && !path.ends_with(".git") {
            find(&path, charts)?;
        }
    }
    Ok(())
}

/// How long ours takes; none if it refuses.
fn ours(path: &Path) -> Option<Duration> {
    let begin = Instant::now();
    let chart = helm::folder::load(path).ok()?;
    let release = ReleaseOptions {
        name: "release-name".to_owned(),
        namespace: "default".to_owned(),
        revision: 1,
        is_install: true,
        ..ReleaseOptions::default()
    };
    let rendered = helm::render::render(&chart, &Values::new(), &release, &Capabilities::default(), None);
    let took = begin.elapsed();
    rendered.is_ok().then_some(took)
}

/// How long ours takes for the text that a user sees.
fn sorted(path: &Path) -> Option<Duration> {
    let begin = Instant::now();
    let chart = helm::folder::load(path).ok()?;
    let text = helm::template::template(&chart, &Values::new(), &helm::template::Options::default());
    let took = begin.elapsed();
    text.is_ok().then_some(took)
}

fn theirs(helm: Option<&mut Helm>, path: &Path) -> Result<Option<Duration>> {
    match helm {
        Some(helm) => helm.render(path),
        // Nothing to compare with: any time will do, and ours is shown beside it.
        None => Ok(Some(Duration::from_millis(1))),
    }
}

/// Helm's engine in a Python.
struct Helm {
    child: Killed,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Helm {
    fn start(python: &Path) -> Result<Self> {
        let mut child: Child = Command::new(python)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {}", python.display()))?;
        let input = child.stdin.take().context("Helm has no input")?;
        let output = BufReader::new(child.stdout.take().context("Helm has no output")?);
        Ok(Self {
            child: Killed(child),
            input,
            output,
        })
    }

    /// How long Helm takes; none if it refuses.
    fn render(&mut self, path: &Path) -> Result<Option<Duration>> {
        writeln!(self.input, "{}", path.display()).context("ask Helm")?;
        let mut line = String::new();
        self.output.read_line(&mut line).context("hear from Helm")?;
        let answer: Value = serde_json::from_str(&line).context("Helm ended")?;
        Ok(answer["nanoseconds"].as_u64().map(Duration::from_nanos))
    }
}
