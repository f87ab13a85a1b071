//! The command-line program; [`toolwarden::cli`] says all there is to say.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolwarden::cli::run()
}
