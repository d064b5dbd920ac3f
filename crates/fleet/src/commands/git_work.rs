//! `fleet git-work`: the child process that fetches and scans a repository for the manager.

use std::process::ExitCode;

pub(crate) fn run() -> ExitCode {
    fleet_source::child::serve()
}
