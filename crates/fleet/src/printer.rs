//! The one place that writes to the terminal: results to stdout, everything else to stderr.
//!
//! A reader that goes away (`fleet … | head`) ends the output, not the program's work.

use std::io::Write as _;
use std::process::ExitCode;

/// A result, with a line end.
pub(crate) fn line(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// A result exactly as it is.
pub(crate) fn raw(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// What a command is for: its result exactly as it is, or why there is none.
pub(crate) fn outcome(result: anyhow::Result<String>) -> ExitCode {
    match result {
        Ok(text) => {
            raw(text);
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            error(&wrong);
            ExitCode::FAILURE
        }
    }
}

/// A remark for the person at the terminal.
pub(crate) fn remark(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// An error with all its causes.
pub(crate) fn error(error: &anyhow::Error) {
    remark(format_args!("error: {error:#}"));
}
