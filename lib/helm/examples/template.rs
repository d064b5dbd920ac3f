//! `template [template] CHART [-f FILE]… [--set K=V]… [-n NS] [--name REL] [--kube-version V] [--include-crds]`: the library alone
//! as a program, for comparisons that should not wait for the whole of `fleet` to build.

use std::path::Path;
use std::process::ExitCode;

use helm::set::Mode;
use helm::template::{self, Options};
use helm::{folder, set, values};

fn main() -> ExitCode {
    match run() {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let mut words = std::env::args().skip(1).peekable();
    // Called like `fleet template`.
    words.next_if(|word| word == "template");
    let mut chart = None;
    let mut given = values::Values::new();
    let mut options = Options::default();
    while let Some(word) = words.next() {
        let mut argument = || words.next().ok_or(format!("{word} wants a value"));
        match word.as_str() {
            "-f" => {
                let path = argument()?;
                let text = std::fs::read(&path).map_err(|error| error.to_string())?;
                let found = values::parse(&text).map_err(|error| format!("failed to parse {path}: {error}"))?;
                given = values::merge(given, values::floats(found));
            }
            "--set" => {
                let expression = argument()?;
                set::set(&mut given, &expression, &Mode::Typed)
                    .map_err(|error| format!("failed parsing --set data: {error}"))?;
            }
            "-n" => options.namespace = argument()?,
            "--name" => options.name = argument()?,
            "--kube-version" => options.kube_version = Some(argument()?),
            "--include-crds" => options.include_crds = true,
            _ => chart = Some(word),
        }
    }
    let chart = chart.ok_or("which chart?")?;
    let chart = folder::load(Path::new(&chart)).map_err(|error| error.to_string())?;
    template::template(&chart, &given, &options).map_err(|error| error.to_string())
}
