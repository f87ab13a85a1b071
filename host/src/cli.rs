//! The command line: one file a command, each a thin shell over the library.

mod approvals;
mod audit;
mod baseline;
mod completions;
mod data;
mod decide;
mod doctor;
mod events;
mod exit;
mod explain;
mod input;
mod output;
mod policy;
mod registry;
mod serve;
mod setup;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use exit::Exit;

const ABOUT: &str = "Decides, for every tool call of an AI agent, whether it may run, must be approved by a person first, or is refused";

const EXAMPLES: &str = "\
Examples:
  toolwarden decide --profile dangerous calls.jsonl    one verdict for each call in a file
  toolwarden explain --profile locked call.json        why one call comes out as it does
  toolwarden registry --server github tools.json       which tools the model is shown up front
  toolwarden doctor                                    what is set up, what is missing, what to type

Exit codes: 0 done, 1 some input was bad, 2 wrong usage or settings, 3 the policy module cannot be used.";

#[derive(Parser)]
#[command(name = "toolwarden", version, about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// One verdict for each call, from a file or standard input
    Decide(decide::Arguments),
    /// One call, with every rule that was looked at
    Explain(explain::Arguments),
    /// What the model is shown of a list of tools, and why
    Registry(registry::Arguments),
    /// Make, build and check policy modules
    #[command(subcommand)]
    Policy(policy::Command),
    /// Answer over a Unix socket or loopback HTTP, beside any host
    Serve(serve::Arguments),
    /// Questions that wait in the store, and their answers
    #[command(subcommand)]
    Approvals(approvals::Command),
    /// What was accepted of MCP servers, and whether it is still so
    #[command(subcommand)]
    Baseline(baseline::Command),
    /// The audit trail: read, export, check
    #[command(subcommand)]
    Audit(audit::Command),
    /// What is set up, what is missing, what to type
    Doctor(doctor::Arguments),
    /// Write a completion script for your shell
    Completions(completions::Arguments),
}

/// Runs the program with its arguments.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // Help that nobody can read is no reason to fail louder.
            let _ = error.print();
            return exit.into();
        }
    };
    let outcome = match arguments.command {
        Command::Decide(arguments) => decide::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Registry(arguments) => registry::run(&arguments),
        Command::Policy(command) => policy::run(&command),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Approvals(command) => approvals::run(&command),
        Command::Baseline(command) => baseline::main(&command),
        Command::Audit(command) => audit::run(&command),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report().into(),
    }
}
