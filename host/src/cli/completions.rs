//! `toolwarden completions`: a completion script.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::exit::{Exit, Outcome};
use super::output;

/// Arguments of `completions`.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  toolwarden completions bash > ~/.local/share/bash-completion/completions/toolwarden"
)]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "toolwarden", &mut script);
    let mut out = output::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}
