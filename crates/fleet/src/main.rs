//! The program `fleet`: arguments → settings → commands. This file only dispatches.

use std::process::ExitCode;

use clap::Parser;

mod args;
mod commands;
mod printer;
mod program;

fn main() -> ExitCode {
    program::use_one_crypto_provider();
    match args::Args::parse().command {
        args::Command::Apiserver(args) => commands::apiserver::run(args),
        args::Command::Apply(args) => commands::apply::run(args),
        args::Command::Target(args) => commands::target::run(args),
        args::Command::Deploy(args) => commands::deploy::run(args),
    }
}
