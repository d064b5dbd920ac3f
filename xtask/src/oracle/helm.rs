//! Every chart with its default values and with each of its `ci/*-values.yaml`: `helm template` against `fleet template`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::Wanted;
use super::compare::{Difference, difference};
use super::find::{self, Found};
use super::report::{self, Counts, Row};
use super::run::{self, Outcome};
use super::vendor::Shelf;
use crate::run::{self as command, target};
use crate::tools;

/// Our address space in MiB. The peak resident set is what is promised; this only keeps a runaway from hurting the
/// machine.
const MEMORY: u32 = 2048;

/// Times the real program runs in all where it prints something else each time.
const RUNS: usize = 4;

/// What many charts round their times to, and a bit.
const SECOND: Duration = Duration::from_millis(1100);

/// One rendering.
struct Case {
    repository: usize,
    name: String,
    chart: PathBuf,
    values: Option<PathBuf>,
}

/// How a rendering came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The same output.
    Agreed,
    /// Another output.
    Differs(Difference),
    /// Both refuse, for the same reason.
    BothFail,
    /// Both refuse, each in its own words.
    ReasonDiffers {
        /// The real program's.
        real: String,
        /// Ours.
        ours: String,
    },
    /// We refuse what the real program renders.
    OnlyOursFails(String),
    /// We render what the real program refuses.
    OnlyRealFails(String),
    /// We ended by a signal, or took too long.
    Crashed(String),
}

/// A verdict with what ours took.
pub(crate) struct Judged {
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
    pub(crate) ours: f64,
    pub(crate) memory: u64,
}

pub(crate) fn compare(wanted: &Wanted) -> Result<()> {
    let helm = tools::HELM.find()?;
    let ours = match &wanted.ours {
        Some(named) => named.clone(),
        None => {
            command::run(command::command("cargo", &["build", "--release", "-p", "fleet"]))?;
            target().join("release/fleet")
        }
    };
    let scratch = target().join("oracle").join("helm");
    super::emptied(&scratch)?;
    let mut charts: Vec<(usize, Found)> = Vec::new();
    for (index, directory) in wanted.directories.iter().enumerate() {
        charts.extend(find::charts(directory)?.into_iter().map(|chart| (index, chart)));
    }
    let shelf = Shelf::new(charts.iter().map(|(_, chart)| chart));
    let mut cases = Vec::new();
    let mut rows: Vec<Row> = wanted.directories.iter().map(|directory| row(directory)).collect();
    for (number, (repository, chart)) in charts.iter().enumerate() {
        let label = format!("{}: {}", rows[*repository].name, chart.name);
        if wanted.only.as_ref().is_some_and(|only| !label.contains(only)) {
            continue;
        }
        rows[*repository].charts += 1;
        let path = shelf.complete(chart, &scratch.join("charts").join(number.to_string()))?;
        let values = std::iter::once(None).chain(chart.values.iter().cloned().map(Some));
        cases.extend(values.map(|values| Case {
            repository: *repository,
            name: match &values {
                Some(values) => format!("{label} with {}", base(values)),
                None => label.clone(),
            },
            chart: path.clone(),
            values,
        }));
    }
    let numbered: Vec<(usize, &Case)> = cases.iter().enumerate().collect();
    let judged = run::all(&numbered, |(number, case)| {
        let scratch = scratch.join("runs").join(number.to_string());
        judge(case, &helm, &ours, &scratch)
    })?;
    for (case, judged) in cases.iter().zip(&judged) {
        rows[case.repository].counts.add(judged);
    }
    report::write(wanted, &rows, &judged)
}

fn base(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn row(directory: &Path) -> Row {
    let (name, commit) = named(directory);
    Row {
        name,
        commit,
        charts: 0,
        counts: Counts::default(),
    }
}

/// Name of a repository, and the commit that is checked out.
pub(super) fn named(directory: &Path) -> (String, String) {
    let git = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["rev-parse", "--short=10", "HEAD"])
        .output();
    let commit = git.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    (base(directory).replacen('+', "/", 1), commit.unwrap_or_default())
}

fn judge(case: &Case, helm: &Path, ours: &Path, scratch: &Path) -> Result<Judged> {
    std::fs::create_dir_all(scratch).with_context(|| format!("create {}", scratch.display()))?;
    let render = |program: &Path, memory: u32| {
        let mut words = vec![shown(program), "template".to_owned(), shown(&case.chart)];
        if let Some(values) = &case.values {
            words.extend(["-f".to_owned(), shown(values)]);
        }
        run::run(&words, scratch, memory)
    };
    let mine = render(ours, MEMORY)?;
    let real = render(helm, 0)?;
    let mut runs = vec![real];
    let verdict = loop {
        let verdict = verdict(&runs, &mine);
        // A difference may be chance or a clock's doing; one in words for a reason is rarely.
        let chance = matches!(verdict, Verdict::Differs(_) | Verdict::ReasonDiffers { .. });
        if !chance || runs.len() >= RUNS {
            break verdict;
        }
        let_a_second_pass();
        runs.push(render(helm, 0)?);
    };
    // Large outputs of many charts need not be kept.
    std::fs::remove_dir_all(scratch).with_context(|| format!("remove {}", scratch.display()))?;
    Ok(Judged {
        name: case.name.clone(),
        verdict,
        ours: mine.seconds,
        memory: mine.memory,
    })
}

/// Several runs within one second would print the same times, as if those did not vary.
#[expect(
    clippy::disallowed_methods,
    reason = "the clock of another program has to go on; there is no signal for that"
)]
fn let_a_second_pass() {
    std::thread::sleep(SECOND);
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn verdict(runs: &[Outcome], ours: &Outcome) -> Verdict {
    let Some(real) = runs.first() else {
        return Verdict::Crashed("nothing to compare with".to_owned());
    };
    if ours.status < 0 || ours.complained.contains("panicked at") {
        return Verdict::Crashed(ours.reason());
    }
    match (real.succeeded(), ours.succeeded()) {
        (true, true) => {
            // Only runs of one shape can be laid side by side.
            let lines = |text: &str| text.matches('\n').count();
            let printed: Vec<&str> = runs.iter().map(|run| run.printed.as_str()).collect();
            let shape = printed
                .iter()
                .map(|text| lines(text))
                .find(|count| *count == lines(&ours.printed));
            let same: Vec<&str> = match shape {
                Some(shape) => printed.iter().copied().filter(|text| lines(text) == shape).collect(),
                None => printed,
            };
            difference(&same, &ours.printed).map_or(Verdict::Agreed, Verdict::Differs)
        }
        (false, false) if runs.iter().any(|run| run.reason() == ours.reason()) => Verdict::BothFail,
        (false, false) => Verdict::ReasonDiffers {
            real: real.reason(),
            ours: ours.reason(),
        },
        (true, false) => Verdict::OnlyOursFails(ours.reason()),
        (false, true) => Verdict::OnlyRealFails(real.reason()),
    }
}
