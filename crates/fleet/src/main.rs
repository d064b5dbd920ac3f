//! The program `fleet`: arguments → settings → commands. This file only dispatches.

use std::process::ExitCode;

use clap::Parser;

mod args;
mod commands;
mod demo;
mod printer;
mod program;
mod standalone;

/// Rendering takes a fifth less time than with the C library's (docs/adr/0010-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    program::use_one_crypto_provider();
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    match args.command {
        args::Command::Demo(args) => commands::demo::run(args),
        args::Command::Serve(args) => commands::serve::run(args),
        args::Command::Apiserver(args) => commands::apiserver::run(args),
        args::Command::Apply(args) => commands::apply::run(*args),
        args::Command::Target(args) => commands::target::run(args),
        args::Command::Deploy(args) => commands::deploy::run(args),
        args::Command::Template(args) => commands::template::run(*args),
        args::Command::Build(args) => commands::build::run(&args),
        args::Command::GitWork => commands::git_work::run(),
    }
}

/// Help and version are results; everything else is a mistake, with the status that scripts know from upstream.
fn usage(error: &clap::Error) -> ExitCode {
    // Nobody is left to tell if the terminal is gone.
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
