//! The program `fleet`: arguments → settings → commands. This file only dispatches.

use std::process::ExitCode;

use clap::Parser;

mod args;
mod commands;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match args.command {
        args::Command::Apply(args) => commands::apply::run(args),
        args::Command::Target(args) => commands::target::run(args),
        args::Command::Deploy(args) => commands::deploy::run(args),
    }
}
