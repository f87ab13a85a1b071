//! `toolwarden policy`: a module author's bench.

mod build;
mod check;
mod new;

use clap::Subcommand;

use super::exit::Outcome;

const EXAMPLES: &str = "Examples:
  toolwarden policy new my-policy
  toolwarden policy build my-policy
  toolwarden policy check my-policy.wasm";

/// Commands for module authors.
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) enum Command {
    /// Make a crate for a policy module of your own
    New(new::Arguments),
    /// Build the policy module of a crate
    Build(build::Arguments),
    /// Say whether a module can be used, and what it is
    Check(check::Arguments),
}

pub(super) fn run(command: &Command) -> Outcome {
    match command {
        Command::New(arguments) => new::run(arguments),
        Command::Build(arguments) => build::run(arguments),
        Command::Check(arguments) => check::run(arguments),
    }
}
