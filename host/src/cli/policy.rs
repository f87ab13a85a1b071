//! `toolwarden policy`: a module author's bench.

mod bench;
mod build;
mod check;
mod diff;
mod inspect;
mod new;
mod replay;
mod sign;
mod test;
mod verify;

use clap::Subcommand;

use super::exit::Outcome;

const EXAMPLES: &str = "Examples:
  toolwarden policy new my-policy
  toolwarden policy build my-policy
  toolwarden policy test my-policy
  toolwarden policy replay calls.jsonl --new-module my-policy.wasm
  toolwarden policy sign my-policy.wasm --key key.pem";

/// Commands for module authors.
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) enum Command {
    /// Make a crate for a policy module of your own
    New(new::Arguments),
    /// Build the policy module of a crate
    Build(build::Arguments),
    /// Say whether a module can be put in force, and what it is
    Check(check::Arguments),
    /// Run a module's vectors, and tell which rules none of them reaches
    Test(test::Arguments),
    /// Measure a module
    Bench(bench::Arguments),
    /// Judge calls by two policies: what would change
    Replay(replay::Arguments),
    /// Compare two modules
    Diff(diff::Arguments),
    /// Show what a module is made of, also one that cannot be used
    Inspect(inspect::Arguments),
    /// Sign a module
    Sign(sign::Arguments),
    /// Verify a module's signature
    Verify(verify::Arguments),
}

pub(super) fn run(command: &Command) -> Outcome {
    match command {
        Command::New(arguments) => new::run(arguments),
        Command::Build(arguments) => build::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Test(arguments) => test::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Sign(arguments) => sign::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
    }
}
