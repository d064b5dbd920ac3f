//! Prints what the kustomization of a directory makes, or why it makes nothing: `build DIR`.

use std::path::Path;
use std::process::ExitCode;

use kustomize::Order;

fn run(dir: &str) -> Result<String, String> {
    let objects = kustomize::build_directory(Path::new(dir), Order::Legacy).map_err(|error| error.to_string())?;
    kustomize::to_yaml(&objects).map_err(|error| error.to_string())
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]
fn main() -> ExitCode {
    let dir = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    match run(&dir) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
