//! `fleet template` as a process: files and options in, manifests or a reason out; and the same from the real `helm`
//! where `HELM_BIN` names one (`cargo xtask test` sets it).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use fleet_testkit::binary;

const VALUES: &str = "port: 80\nname: web\n";

const SERVICE: &str = "apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-{{ .Values.name }}
  namespace: {{ .Release.Namespace }}
spec:
  ports: [{port: {{ .Values.port }}}]
";

const HOOK: &str = "apiVersion: batch/v1
kind: Job
metadata:
  name: before
  annotations: {helm.sh/hook: pre-install}
";

fn chart(folder: &Path) -> Result<PathBuf> {
    let chart = folder.join("web");
    for (name, text) in [
        ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
        ("values.yaml", VALUES),
        ("templates/service.yaml", SERVICE),
        ("templates/hook.yaml", HOOK),
        (
            "templates/broken.yaml",
            "{{ if .Values.broken }}a: {{ .Values.broken.x.y }}{{ end }}",
        ),
        ("crds/thing.yaml", "kind: CustomResourceDefinition\n"),
        ("ignored.txt", "x"),
        (".helmignore", "*.txt\n"),
    ] {
        let path = chart.join(name);
        std::fs::create_dir_all(path.parent().context("no folder")?)?;
        std::fs::write(path, text)?;
    }
    std::fs::write(folder.join("given.yaml"), "port: 8080\n")?;
    Ok(chart)
}

/// What a program printed, or its reason to refuse.
fn run(program: &Path, folder: &Path, words: &[&str]) -> Result<Result<String, String>> {
    let output = Command::new(program)
        .current_dir(folder)
        .args(words)
        .output()
        .with_context(|| format!("start {}", program.display()))?;
    if output.status.success() {
        return Ok(Ok(String::from_utf8(output.stdout)?));
    }
    ensure!(
        output.status.code() == Some(1),
        "{words:?} ended with {}",
        output.status
    );
    let text = String::from_utf8(output.stderr)?;
    let lines = text
        .lines()
        .skip_while(|line| !line.to_lowercase().starts_with("error: "));
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let reason = lines.join("\n");
    Ok(Err(reason.get("error: ".len()..).unwrap_or_default().to_owned()))
}

#[test]
fn a_chart_is_printed_with_values_from_files_and_the_command_line() -> Result<()> {
    let folder = tempfile::tempdir()?;
    chart(folder.path())?;
    let words = [
        "template",
        "web",
        "--name",
        "r",
        "-n",
        "n",
        "-f",
        "given.yaml",
        "--set",
        "name=x",
        "--no-hooks",
    ];
    let printed = run(&binary("fleet")?, folder.path(), &words)?;
    let expected = "---\n# Source: web/templates/service.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  name: r-x\n  \
                    namespace: n\nspec:\n  ports: [{port: 8080}]\n";
    ensure!(printed == Ok(expected.to_owned()), "{printed:?}");
    Ok(())
}

#[test]
fn a_refusal_names_file_line_and_reason() -> Result<()> {
    let folder = tempfile::tempdir()?;
    chart(folder.path())?;
    let refused = run(
        &binary("fleet")?,
        folder.path(),
        &["template", "web", "--set", "broken.z=1"],
    )?;
    let expected = "web/templates/broken.yaml:1:36\n  executing \"web/templates/broken.yaml\" at <.Values.broken.x.y>:\n    \
                    nil pointer evaluating interface {}.y";
    ensure!(refused == Err(expected.to_owned()), "{refused:?}");
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test runner says here where the program is"
)]
fn real() -> Result<Option<PathBuf>> {
    let named = std::env::var_os("HELM_BIN").map(PathBuf::from);
    ensure!(
        named.is_some() || std::env::var_os("CI").is_none(),
        "HELM_BIN names no real helm"
    );
    Ok(named)
}

#[test]
fn helm_and_fleet_print_and_refuse_the_same() -> Result<()> {
    let Some(helm) = real()? else {
        println!("left out: HELM_BIN names no real helm; `cargo xtask test` fetches one");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let chart = chart(folder.path())?;
    let packed = Command::new("tar")
        .args(["-czf", "web-1.0.0.tgz", "web"])
        .current_dir(folder.path())
        .status()?;
    ensure!(packed.success(), "tar ended with {packed}");
    std::fs::write(chart.join("ignored.txt"), "y")?;
    for words in [
        &["web"][..],
        &["web-1.0.0.tgz"],
        &["web", "--include-crds", "-n", "other"],
        &["web", "--show-only", "templates/hook.yaml"],
        &["web", "--show-only", "templates/none.yaml"],
        &[
            "web",
            "--set",
            "port=1,name={a,b}",
            "--set-string",
            "port=2",
            "--set-json",
            "name=\"j\"",
        ],
        &["web", "--set-file", "name=given.yaml"],
        &["web", "--set-literal", "name=a,b=c"],
        &["web", "--set", "a.b"],
        &["web", "--set", "broken.z=1"],
        &["web", "--kube-version", "nonsense"],
        &[
            "web",
            "--kube-version",
            "1.30",
            "--api-versions",
            "x/v1,y/v1",
            "--is-upgrade",
            "--skip-tests",
        ],
    ] {
        let with = |name: &[&'static str]| [name, words].concat();
        let expected = run(&helm, folder.path(), &with(&["template", "release-name"]))?;
        let found = run(&binary("fleet")?, folder.path(), &with(&["template"]))?;
        ensure!(found == expected, "{words:?}\nhelm: {expected:?}\nours: {found:?}");
    }
    Ok(())
}
