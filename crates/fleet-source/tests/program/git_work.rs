//! The hidden sub-command `git-work` as a program of its own, for the tests of this crate: a
//! request on standard input, documents on standard output. Never part of a release.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(fleet_source::child::SUB_COMMAND) {
        fleet_source::child::serve()
    } else {
        ExitCode::FAILURE
    }
}
