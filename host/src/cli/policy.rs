//! `toolwarden policy`: a module author's bench.

mod build;
mod check;

use clap::Subcommand;

use super::exit::Outcome;

const EXAMPLES: &str = "Examples:
  toolwarden policy build my-policy
  toolwarden policy check my-policy.wasm";

/// Commands for module authors.
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
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
