//! Git work through its public surface: in this process against a real repository, the protocol
//! with a child process played by small scripts, and both ways against a git server over HTTP(S).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod https;
mod server;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fleet_source::child::{Error, Request, Runner, Stage, Work};
use fleet_source::git::{Limits, Source};
use fleet_source::options::ApplyOptions;

fn shell(directory: &Path, script: &str) {
    let status = std::process::Command::new("sh")
        .args(["-ec", script])
        .current_dir(directory)
        .status()
        .unwrap();
    assert!(status.success(), "{script}");
}

/// A repository with one commit that holds these files.
fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, Source) {
    let dir = tempfile::tempdir().unwrap();
    shell(
        dir.path(),
        "git init -q -b master . && git config user.email a@b && git config user.name n",
    );
    for (name, text) in files {
        let file = dir.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    shell(dir.path(), "git add -A && git commit -q -m one");
    let source = Source {
        url: format!("file://{}", dir.path().display()),
        allow_file: true,
        ..Source::default()
    };
    (dir, source)
}

fn request(source: Source, paths: &[&str]) -> Request {
    let apply = ApplyOptions {
        name: "repo".to_owned(),
        namespace: "ns".to_owned(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..ApplyOptions::default()
    };
    let work = Work::Bundles {
        commit: String::new(),
        apply: Box::new(apply),
    };
    Request {
        source,
        work,
        limits: Limits {
            total_seconds: 2,
            ..Limits::default()
        },
    }
}

/// A program that plays the child.
fn program(dir: &tempfile::TempDir, script: &str) -> Runner {
    let file: PathBuf = dir.path().join("child");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    Runner::Program(file)
}

#[tokio::test]
async fn a_repository_becomes_bundles_with_its_commit() {
    let (_dir, source) = repository(&[
        ("a/cm.yaml", "kind: ConfigMap\n"),
        ("b/fleet.yaml", "namespace: nn\n"),
        ("b/x", ""),
    ]);
    let output = Runner::InProcess
        .run(&request(source.clone(), &["a", "b"]))
        .await
        .unwrap();
    let names: Vec<_> = output
        .bundles
        .iter()
        .map(|scanned| scanned.bundle.metadata.name.clone().unwrap())
        .collect();
    assert_eq!(names, ["repo-a", "repo-b"]);
    let labels = output.bundles[0].bundle.metadata.labels.clone().unwrap();
    assert_eq!(labels["fleet.cattle.io/commit"], output.commit);
    let resolve = Request {
        work: Work::Resolve,
        ..request(source, &[])
    };
    assert_eq!(Runner::InProcess.run(&resolve).await.unwrap().commit, output.commit);
}

#[tokio::test]
async fn a_mistake_in_a_file_is_data_with_file_and_line() {
    let (_dir, source) = repository(&[("app/fleet.yaml", "namespace: x\nhelm:\n  chart: [a]\n")]);
    let Err(Error::Work(failure)) = Runner::InProcess.run(&request(source, &["app"])).await else {
        panic!("the file is wrong");
    };
    assert_eq!(
        (failure.stage, failure.file.as_deref(), failure.line),
        (Stage::Bundles, Some("app/fleet.yaml"), Some(3))
    );
    assert!(failure.what.contains("helm.chart"), "{}", failure.what);
}

#[tokio::test]
async fn links_of_a_repository_lead_nowhere_else() {
    let (dir, source) = repository(&[("app/cm.yaml", "kind: A\n")]);
    shell(
        dir.path(),
        "ln -s /etc/passwd app/leak && git add -A && git commit -q -m two",
    );
    let Err(Error::Work(failure)) = Runner::InProcess.run(&request(source, &["app"])).await else {
        panic!("the link leaves the repository");
    };
    assert!(failure.what.contains("leak"), "{}", failure.what);
}

#[tokio::test]
async fn a_child_gets_the_request_and_no_environment_of_ours() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"grep -q '"url":"https://h/r"' || exit 3
        test "$1" = git-work && test -z "$CARGO_MANIFEST_DIR$HOME$KUBECONFIG" || exit 4
        echo '{"commit":"abc"}'; echo '"end"'"#;
    let source = Source {
        url: "https://h/r".to_owned(),
        ..Source::default()
    };
    let output = program(&dir, script).run(&request(source, &[])).await.unwrap();
    assert_eq!(output.commit, "abc");
}

#[tokio::test]
async fn a_child_that_dies_or_stops_halfway_is_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    for script in ["echo oops >&2; exit 9", r#"echo '{"commit":"abc"}'"#, "echo nonsense"] {
        let result = program(&dir, script).run(&request(Source::default(), &[])).await;
        assert!(matches!(result, Err(Error::Died { .. })), "{script}: {result:?}");
    }
}

#[tokio::test]
async fn a_child_that_hangs_is_killed_with_all_it_started() {
    let dir = tempfile::tempdir().unwrap();
    // The grandchild holds the pipe open for writing; its end shows that it is gone.
    shell(dir.path(), "mkfifo pipe");
    let runner = program(&dir, "sleep 600 > \"$(dirname \"$0\")/pipe\" & wait");
    let pipe = dir.path().join("pipe");
    let end = tokio::task::spawn_blocking(move || std::fs::read(pipe));
    let began = Instant::now();
    let result = runner.run(&request(Source::default(), &[])).await;
    assert!(matches!(result, Err(Error::TimeOut { seconds: 2 })), "{result:?}");
    tokio::time::timeout(Duration::from_secs(60), end)
        .await
        .expect("the grandchild is gone")
        .unwrap()
        .unwrap();
    assert!(began.elapsed() < Duration::from_secs(60));
}
