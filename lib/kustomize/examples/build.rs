//! Prints what the kustomization of a directory makes, or why it makes nothing: `build DIR`.

use std::path::Path;
use std::process::ExitCode;

use kustomize::{Disk, Order};

fn run(dir: &str) -> Result<String, String> {
    let full = Path::new(dir).canonicalize().map_err(|error| format!("{dir}: {error}"))?;
    let disk = Disk::new(Path::new("/")).map_err(|error| error.to_string())?;
    let path = full.to_str().ok_or("the path is no text")?.trim_start_matches('/');
    let objects = kustomize::build_in_order(&disk, path, Order::Legacy).map_err(|error| error.to_string())?;
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
