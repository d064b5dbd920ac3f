//! Every directory with a kustomization: `kubectl kustomize` against `fleet build`.
//!
//! Nothing is fetched: what names something remote fails in both programs, and counts as such.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::Wanted;
use super::compare::difference;
use super::report;
use super::run::{self, Outcome};
use crate::run::target;
use crate::tools;

/// What stands around the generated table.
const BEGIN: &str = "<!-- begin: cargo xtask oracle kustomize -->";
const END: &str = "<!-- end: cargo xtask oracle kustomize -->";
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Our address space in MiB: a runaway must not hurt the machine.
const MEMORY: u32 = 2048;
/// Characters of a line that are shown.
const SHOWN: usize = 200;

/// One directory.
struct Case {
    repository: usize,
    name: String,
    path: PathBuf,
}

/// How it came out.
enum Verdict {
    Agreed,
    Differs(String),
    /// Both refuse; both reasons.
    BothFail(String),
    OnlyOursFails(String),
    OnlyRealFails(String),
    Crashed(String),
}

/// One repository.
#[derive(Default)]
struct Row {
    name: String,
    commit: String,
    agreed: usize,
    differing: usize,
    both_fail: usize,
    only_one_fails: usize,
    crashed: usize,
    /// KiB.
    memory: u64,
}

impl Row {
    fn all(&self) -> usize {
        self.agreed + self.differing + self.both_fail + self.only_one_fails + self.crashed
    }

    fn line(&self) -> String {
        let all = self.all();
        let share = 100.0 * (self.agreed + self.both_fail) as f64 / all.max(1) as f64;
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {:.1} % | {} |",
            self.name,
            self.commit,
            all,
            self.agreed,
            self.differing,
            self.both_fail,
            self.only_one_fails,
            self.crashed,
            share,
            self.memory.div_ceil(1024)
        )
    }
}

pub(crate) fn compare(wanted: &Wanted) -> Result<()> {
    let kubectl = tools::KUBECTL.find()?;
    let Some(ours) = &wanted.ours else {
        bail!("name our program: --bin target/release/fleet");
    };
    let scratch = target().join("oracle").join("kustomize");
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch).with_context(|| format!("empty {}", scratch.display()))?;
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut cases: Vec<Case> = Vec::new();
    for (repository, directory) in wanted.directories.iter().enumerate() {
        let (name, commit) = super::helm::named(directory);
        let mut found = Vec::new();
        directories(directory, &mut found)?;
        found.sort();
        for path in found {
            let inner = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
            let label = format!("{name}: {}", if inner.is_empty() { "." } else { &inner });
            if wanted.only.as_ref().is_none_or(|only| label.contains(only)) {
                cases.push(Case {
                    repository,
                    name: label,
                    path,
                });
            }
        }
        rows.push(Row {
            name,
            commit,
            ..Row::default()
        });
    }
    let numbered: Vec<(usize, &Case)> = cases.iter().enumerate().collect();
    let judged = run::all(&numbered, |(number, case)| {
        judge(case, &kubectl, ours, &scratch.join(number.to_string()))
    })?;
    let mut told = String::new();
    for (case, (verdict, memory)) in cases.iter().zip(&judged) {
        let row = &mut rows[case.repository];
        row.memory = row.memory.max(*memory);
        let (counter, what) = match verdict {
            Verdict::Agreed => (&mut row.agreed, None),
            Verdict::Differs(place) => (&mut row.differing, Some(("differs", place))),
            Verdict::BothFail(reasons) => {
                let shown = wanted.only.is_some().then_some(("both fail", reasons));
                (&mut row.both_fail, shown)
            }
            Verdict::OnlyOursFails(reason) => (&mut row.only_one_fails, Some(("only ours fails", reason))),
            Verdict::OnlyRealFails(reason) => (&mut row.only_one_fails, Some(("only the real one fails", reason))),
            Verdict::Crashed(reason) => (&mut row.crashed, Some(("crashed", reason))),
        };
        *counter += 1;
        if let Some((what, why)) = what {
            writeln!(told, "{what}: {}\n{why}", case.name)?;
        }
    }
    let table = table(&rows);
    print!("{told}\n{table}");
    if let Some(path) = &wanted.markdown {
        report::replace(path, &table, (BEGIN, END))?;
    }
    Ok(())
}

/// Directories with a kustomization, at any depth.
fn directories(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let failed = || format!("read {}", directory.display());
    let mut here = false;
    for entry in std::fs::read_dir(directory).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let kind = entry.file_type().with_context(failed)?;
        let name = entry.file_name();
        if kind.is_dir() && name != ".git" {
            directories(&entry.path(), found)?;
        }
        here |= !kind.is_dir() && NAMES.iter().any(|known| name == *known);
    }
    if here {
        found.push(directory.to_owned());
    }
    Ok(())
}

fn judge(case: &Case, kubectl: &Path, ours: &Path, scratch: &Path) -> Result<(Verdict, u64)> {
    std::fs::create_dir_all(scratch).with_context(|| format!("create {}", scratch.display()))?;
    let directory = case.path.display().to_string();
    let build = |program: &Path, word: &str, memory: u32| {
        let words = [program.display().to_string(), word.to_owned(), directory.clone()];
        run::run(&words, scratch, memory)
    };
    let mine = build(ours, "build", MEMORY)?;
    let real = build(kubectl, "kustomize", 0)?;
    std::fs::remove_dir_all(scratch).with_context(|| format!("remove {}", scratch.display()))?;
    Ok((verdict(&real, &mine), mine.memory))
}

fn verdict(real: &Outcome, ours: &Outcome) -> Verdict {
    let short = |text: &str| text.chars().take(SHOWN).collect::<String>().replace('\n', " ");
    if ours.status < 0 || ours.complained.contains("panicked at") {
        return Verdict::Crashed(short(&ours.reason()));
    }
    match (real.succeeded(), ours.succeeded()) {
        (true, true) => match difference(&[&real.printed], &ours.printed) {
            None => Verdict::Agreed,
            Some(found) => Verdict::Differs(format!(
                "  line {}\n  real: {}\n  ours: {}",
                found.line,
                short(&found.real),
                short(&found.ours)
            )),
        },
        (false, false) => Verdict::BothFail(format!(
            "  real: {}\n  ours: {}",
            short(&real.reason()),
            short(&ours.reason())
        )),
        (true, false) => Verdict::OnlyOursFails(format!("  {}", short(&ours.reason()))),
        (false, true) => Verdict::OnlyRealFails(format!("  {}", short(&real.reason()))),
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = "| repository | commit | kustomizations | agreed | differing | both fail | only one fails | crashed | agreement | max MiB |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut total = Row {
        name: "all".to_owned(),
        ..Row::default()
    };
    for row in rows.iter().filter(|row| row.all() > 0) {
        text.push_str(&row.line());
        text.push('\n');
        total.agreed += row.agreed;
        total.differing += row.differing;
        total.both_fail += row.both_fail;
        total.only_one_fails += row.only_one_fails;
        total.crashed += row.crashed;
        total.memory = total.memory.max(row.memory);
    }
    text.push_str(&total.line());
    text.push('\n');
    text
}
