//! `toolwarden policy new`.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use crate::authoring::{self, NewError};
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::output::{self, OutputArguments};

const EXAMPLES: &str = "Examples:
  toolwarden policy new my-policy
  cd my-policy && cargo test && toolwarden policy build . && toolwarden policy check my-policy.wasm

The new crate takes the default decisions and adds a rule of its own. All that it needs of Toolwarden lies in its vendor folder;
a WebAssembly target is added by `policy build` where rustup lacks it.";

/// Arguments of `policy new`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// Folder to make; its last part is the name of the crate
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    let name = authoring::new(folder).map_err(|e| {
        let exit = match e {
            NewError::BadName { .. } | NewError::Exists(_) => Exit::Usage,
            NewError::Unwritable { .. } => Exit::BadInput,
        };
        Failure::text(exit, format!("{e} [{}]", e.code()))
    })?;
    let mut out = output::stdout();
    if arguments.output.is_human() {
        writeln!(out, "{name}: a policy module that asks before `git push`. Next:\n")?;
        writeln!(out, "  cd {}", folder.display())?;
        writeln!(out, "  cargo test\n  toolwarden policy build .\n  toolwarden policy check {name}.wasm")?;
    } else {
        output::json_line(&mut out, &json!({ "name": name, "path": folder }))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
