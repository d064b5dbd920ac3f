//! Verdicts become a table, a list of differences, JSON, and the table in `docs/fidelity.md`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Wanted;
use super::helm::{Judged, Verdict};

/// What stands around the generated table.
const BEGIN: &str = "<!-- begin: cargo xtask oracle helm -->";
const END: &str = "<!-- end: cargo xtask oracle helm -->";

/// Characters of a line that are shown.
const SHOWN: usize = 160;

/// One repository.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) commit: String,
    pub(crate) charts: usize,
    pub(crate) counts: Counts,
}

/// How its renderings came out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) renders: usize,
    pub(crate) agreed: usize,
    pub(crate) differing: usize,
    pub(crate) both_fail: usize,
    pub(crate) reason_differs: usize,
    pub(crate) only_one_fails: usize,
    pub(crate) crashed: usize,
    /// KiB.
    pub(crate) memory: u64,
    pub(crate) seconds: f64,
}

impl Counts {
    pub(crate) fn add(&mut self, judged: &Judged) {
        self.renders += 1;
        let counter = match judged.verdict {
            Verdict::Agreed => &mut self.agreed,
            Verdict::Differs(_) => &mut self.differing,
            Verdict::BothFail => &mut self.both_fail,
            Verdict::ReasonDiffers { .. } => &mut self.reason_differs,
            Verdict::OnlyOursFails(_) | Verdict::OnlyRealFails(_) => &mut self.only_one_fails,
            Verdict::Crashed(_) => &mut self.crashed,
        };
        *counter += 1;
        self.memory = self.memory.max(judged.memory);
        self.seconds = self.seconds.max(judged.ours);
    }

    fn sum(&mut self, other: &Self) {
        self.renders += other.renders;
        self.agreed += other.agreed;
        self.differing += other.differing;
        self.both_fail += other.both_fail;
        self.reason_differs += other.reason_differs;
        self.only_one_fails += other.only_one_fails;
        self.crashed += other.crashed;
        self.memory = self.memory.max(other.memory);
        self.seconds = self.seconds.max(other.seconds);
    }

    /// The same output, or both refuse: per cent of all.
    fn agreement(&self) -> f64 {
        if self.renders == 0 {
            return 100.0;
        }
        (self.agreed + self.both_fail + self.reason_differs) as f64 * 100.0 / self.renders as f64
    }
}

/// Prints the results, and writes them where the user wants them.
pub(crate) fn write(wanted: &Wanted, rows: &[Row], judged: &[Judged]) -> Result<()> {
    for one in judged {
        if let Some(text) = told(&one.verdict) {
            println!("{}\n{text}", one.name);
        }
    }
    let table = table(rows);
    println!("\n{table}");
    if let Some(path) = &wanted.json {
        let text = serde_json::to_string_pretty(&as_json(rows, judged)).context("write JSON")?;
        std::fs::write(path, text + "\n").with_context(|| format!("write {}", path.display()))?;
    }
    if let Some(path) = &wanted.markdown {
        replace(path, &table, (BEGIN, END))?;
    }
    Ok(())
}

fn told(verdict: &Verdict) -> Option<String> {
    Some(match verdict {
        Verdict::Agreed | Verdict::BothFail => return None,
        Verdict::Differs(found) => format!(
            "  differs in line {} ({})\n    helm: {}\n    ours: {}",
            found.line,
            found.source,
            cut(&found.real),
            cut(&found.ours)
        ),
        Verdict::ReasonDiffers { real, ours } => {
            format!(
                "  both fail, for other reasons\n    helm: {}\n    ours: {}",
                cut(real),
                cut(ours)
            )
        }
        Verdict::OnlyOursFails(reason) => format!("  only ours fails: {}", cut(reason)),
        Verdict::OnlyRealFails(reason) => format!("  only helm fails: {}", cut(reason)),
        Verdict::Crashed(reason) => format!("  ours crashed: {}", cut(reason)),
    })
}

fn cut(text: &str) -> String {
    let text = format!("{text:?}");
    let text = text.trim_matches('"');
    if text.chars().count() <= SHOWN * 3 {
        return text.to_owned();
    }
    text.chars().take(SHOWN * 3).chain("…".chars()).collect()
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| repository | commit | charts | renders | same output | output differs | both refuse, same reason | other \
         reason | only one refuses | crash or timeout | agreement | most memory | longest |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut line = |name: &str, commit: &str, charts: usize, counts: &Counts| {
        let _ = writeln!(
            text,
            "| {name} | {commit} | {charts} | {} | {} | {} | {} | {} | {} | {} | {:.1} % | {} MiB | {:.2} s |",
            counts.renders,
            counts.agreed,
            counts.differing,
            counts.both_fail,
            counts.reason_differs,
            counts.only_one_fails,
            counts.crashed,
            counts.agreement(),
            counts.memory.div_ceil(1024),
            counts.seconds,
        );
    };
    let mut total = Counts::default();
    let mut charts = 0;
    // Directories given for what others depend on may have nothing to render.
    for row in rows.iter().filter(|row| row.counts.renders > 0) {
        line(&row.name, &row.commit, row.charts, &row.counts);
        total.sum(&row.counts);
        charts += row.charts;
    }
    line("all", "", charts, &total);
    text
}

fn as_json(rows: &[Row], judged: &[Judged]) -> Value {
    let repositories: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "repository": row.name,
                "commit": row.commit,
                "charts": row.charts,
                "renders": row.counts.renders,
                "agreed": row.counts.agreed,
                "differing": row.counts.differing,
                "bothFail": row.counts.both_fail,
                "reasonDiffers": row.counts.reason_differs,
                "onlyOneFails": row.counts.only_one_fails,
                "crashed": row.counts.crashed,
                "agreement": row.counts.agreement(),
                "maxRssKiB": row.counts.memory,
                "maxSeconds": row.counts.seconds,
            })
        })
        .collect();
    let differences: Vec<Value> = judged
        .iter()
        .filter_map(|one| Some(json!({ "render": one.name, "difference": told(&one.verdict)? })))
        .collect();
    json!({ "repositories": repositories, "differences": differences })
}

/// Puts the table between the two marks of a document.
pub(super) fn replace(path: &Path, table: &str, (begin, end): (&str, &str)) -> Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let missing = || format!("{} has no lines {begin} and {end}", path.display());
    let (before, rest) = text.split_once(begin).with_context(missing)?;
    let (_, after) = rest.split_once(end).with_context(missing)?;
    let text = format!("{before}{begin}\n{table}{end}{after}");
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}
