//! How a snapshot is shown: JSON lines, plain lines, or a picture on the terminal that is drawn over.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use super::snapshot::{BundleState, Snapshot, short};
use crate::printer;

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    /// For people: a picture on a terminal, plain lines otherwise
    Text,
    /// One JSON object per line
    Json,
}

/// Shows snapshots as they come.
pub(crate) struct Screen {
    style: Style,
    last: Option<Snapshot>,
    drawn: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Json,
    Plain,
    Terminal,
}

/// Erases from the cursor to the end of the screen.
const CLEAR: &str = "\x1b[J";
const WIDTH: usize = 24;

impl Screen {
    pub(crate) fn new(output: Output) -> Self {
        let style = match output {
            Output::Json => Style::Json,
            Output::Text if std::io::stdout().is_terminal() => Style::Terminal,
            Output::Text => Style::Plain,
        };
        Self {
            style,
            last: None,
            drawn: 0,
        }
    }

    /// A remark between snapshots.
    pub(crate) fn remark(&mut self, text: &str) {
        match self.style {
            Style::Json => printer::remark(text),
            Style::Plain | Style::Terminal => {
                self.erase();
                printer::line(text);
            }
        }
    }

    /// Shows what is new.
    pub(crate) fn show(&mut self, snapshot: &Snapshot) {
        let news = self
            .last
            .as_ref()
            .is_none_or(|last| last.essence() != snapshot.essence());
        match self.style {
            Style::Json if news => json(snapshot),
            Style::Json => {}
            Style::Plain => self.plain(snapshot),
            Style::Terminal => {
                self.erase();
                let picture = picture(snapshot);
                printer::raw(&picture);
                self.drawn = picture.lines().count();
            }
        }
        self.last = Some(snapshot.clone());
    }

    /// The last word: the final state, whatever was shown before.
    pub(crate) fn finish(&mut self, snapshot: &Snapshot) {
        match self.style {
            Style::Json => json(snapshot),
            Style::Plain => printer::raw(summary(snapshot)),
            Style::Terminal => {
                self.erase();
                printer::raw(picture(snapshot));
                printer::raw(summary(snapshot));
                self.drawn = 0;
            }
        }
        self.last = Some(snapshot.clone());
    }

    /// One line for every deployment that changed its state, and one when the overall message changes.
    fn plain(&mut self, snapshot: &Snapshot) {
        let clock = |text: String| printer::line(format_args!("{:>4}s  {text}", snapshot.seconds));
        let last = self.last.clone().unwrap_or_default();
        if last.commit != snapshot.commit && !snapshot.commit.is_empty() {
            clock(format!(
                "commit {} is read: {}",
                short(&snapshot.commit),
                snapshot.bundles.join(", ")
            ));
        }
        for cluster in &snapshot.clusters {
            let before = last.clusters.iter().find(|found| found.name == cluster.name);
            if cluster.registered && !before.is_some_and(|before| before.registered) {
                clock(format!("cluster {} is registered", cluster.name));
            }
            for bundle in &cluster.bundles {
                let known = before.and_then(|before| before.bundles.iter().find(|found| found.name == bundle.name));
                if known.is_none_or(|known| known.state != bundle.state) {
                    clock(format!("{} on {}: {}", bundle.name, cluster.name, described(bundle)));
                }
            }
        }
        for problem in &snapshot.problems {
            if !last.problems.contains(problem) {
                clock(format!("failed: {problem}"));
            }
        }
        if !last.problems.is_empty() && snapshot.problems.is_empty() {
            clock("healed".to_owned());
        }
    }

    fn erase(&mut self) {
        if self.drawn > 0 {
            printer::raw(format_args!("\x1b[{}A{CLEAR}", self.drawn));
            self.drawn = 0;
        }
    }
}

fn json(snapshot: &Snapshot) {
    match serde_json::to_string(snapshot) {
        Ok(line) => printer::line(line),
        Err(error) => printer::remark(format_args!("cannot write the state as JSON: {error}")),
    }
}

fn described(bundle: &BundleState) -> String {
    match (bundle.state.as_str(), bundle.message.as_str()) {
        ("Ready", _) => format!("Ready ({} objects)", bundle.objects),
        (state, "") => state.to_owned(),
        (state, message) => format!("{state}: {message}"),
    }
}

/// A bar per stage, then clusters × bundles.
fn picture(snapshot: &Snapshot) -> String {
    let all: Vec<&BundleState> = snapshot.clusters.iter().flat_map(|cluster| &cluster.bundles).collect();
    let wanted = snapshot.clusters.len() * snapshot.bundles.len();
    let ready = all.iter().filter(|bundle| bundle.state == "Ready").count();
    let applied = all
        .iter()
        .filter(|bundle| bundle.state != "WaitApplied" && bundle.state != "Pending")
        .count();
    let registered = snapshot.clusters.iter().filter(|cluster| cluster.registered).count();
    let mut text = String::new();
    let mut bar = |name: &str, done: usize, of: usize, note: &str| {
        let filled = (done * WIDTH).checked_div(of).unwrap_or(0).min(WIDTH);
        let _ = writeln!(
            text,
            "  {name:<10} {}{}  {done}/{of}  {note}",
            "█".repeat(filled),
            "░".repeat(WIDTH - filled)
        );
    };
    bar("clusters", registered, snapshot.clusters.len(), "registered");
    let commit = if snapshot.commit.is_empty() {
        "no commit yet".to_owned()
    } else {
        format!("commit {}", short(&snapshot.commit))
    };
    bar("git", usize::from(!snapshot.commit.is_empty()), 1, &commit);
    bar("deployed", applied, wanted, "");
    bar("ready", ready, wanted, &format!("{}s", snapshot.seconds));
    text.push('\n');
    table(snapshot, &mut text);
    let mark = if snapshot.ready {
        "\x1b[32m✔\x1b[0m"
    } else if snapshot.problems.is_empty() {
        "…"
    } else {
        "\x1b[31m✘\x1b[0m"
    };
    let _ = writeln!(text, "\n  {mark} {}", one_line(&snapshot.message, 110));
    text
}

fn table(snapshot: &Snapshot, text: &mut String) {
    let width = |name: &str| name.chars().count().max(11) + 2;
    let _ = write!(text, "  {:<16}", "");
    for bundle in &snapshot.bundles {
        let _ = write!(text, "{bundle:<0$}", width(bundle));
    }
    text.push('\n');
    for cluster in &snapshot.clusters {
        let _ = write!(text, "  {:<16}", cluster.name);
        for name in &snapshot.bundles {
            let state = cluster
                .bundles
                .iter()
                .find(|bundle| &bundle.name == name)
                .map_or("–", |bundle| bundle.state.as_str());
            let colour = match state {
                "Ready" => 32,
                "ErrApplied" | "Modified" => 31,
                "–" => 90,
                _ => 33,
            };
            let _ = write!(text, "\x1b[{colour}m{state:<0$}\x1b[0m", width(name));
        }
        text.push('\n');
    }
}

/// What runs where, what does not and why.
fn summary(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    let outcome = if snapshot.ready {
        "everything is ready"
    } else {
        "not everything is ready"
    };
    let _ = writeln!(
        text,
        "\n{outcome} after {} s, commit {}\n",
        snapshot.seconds,
        short(&snapshot.commit)
    );
    for cluster in &snapshot.clusters {
        let labels: Vec<String> = cluster
            .labels
            .iter()
            .filter(|(key, _)| !key.contains("cattle.io/"))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let _ = writeln!(text, "  {} ({})", cluster.name, labels.join(","));
        for bundle in &cluster.bundles {
            let _ = writeln!(text, "    {:<28} {}", bundle.name, described(bundle));
        }
        for missing in snapshot
            .bundles
            .iter()
            .filter(|name| cluster.bundles.iter().all(|bundle| &&bundle.name != name))
        {
            let _ = writeln!(
                text,
                "    {missing:<28} not deployed: no target of the bundle selects this cluster"
            );
        }
    }
    if !snapshot.problems.is_empty() {
        let _ = writeln!(text, "\n  what failed:");
        for problem in &snapshot.problems {
            let _ = writeln!(text, "    {}", problem.replace('\n', "\n      "));
        }
    } else if !snapshot.ready {
        let _ = writeln!(text, "\n  {}", snapshot.message);
    }
    text
}

/// Control characters of a foreign message must not reach the terminal.
fn one_line(text: &str, width: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.chars().count() <= width {
        return clean;
    }
    clean.chars().take(width - 1).chain(['…']).collect()
}
