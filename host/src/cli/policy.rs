//! `toolwarden policy`: a module author's bench.

mod build;
mod check;

use clap::Subcommand;

use super::exit::Outcome;

/// Commands for module authors.
#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    /// Build the policy module of a crate
    Build(build::Arguments),
    /// Say whether a module can be used, and what it is
    Check(check::Arguments),
}

pub(super) fn run(command: &Command) -> Outcome {
    match command {
        Command::Build(arguments) => build::run(arguments),
        Command::Check(arguments) => check::run(arguments),
    }
}
