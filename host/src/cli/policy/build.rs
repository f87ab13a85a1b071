//! `toolwarden policy build`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::authoring::{self, AuthoringError, Face};
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::output::{self, OutputArguments};
use crate::module::{Component, Digest, Limits};

const EXAMPLES: &str = "Examples:
  toolwarden policy build my-policy
  toolwarden policy build my-policy --out my-policy.wasm

The crate is built with cargo for wasm32-unknown-unknown. Where rustup lacks that target it is added.";

/// Arguments of `policy build`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// Folder of the crate
    folder: PathBuf,
    /// Where the module goes; default: NAME-OF-FOLDER.wasm in the current folder
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Build the core module with the JSON memory interface: the crate's feature core-module
    #[arg(long)]
    core_module: bool,
    /// Features of the crate to turn on
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    features: Vec<String>,
    /// Write the module also where this host would refuse it
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let face = if arguments.core_module { Face::CoreModule } else { Face::Component };
    let progress = output::spinner("building");
    let module = authoring::build(&arguments.folder, face, &arguments.features).map_err(|e| {
        let exit = match e {
            AuthoringError::NoTarget(_) | AuthoringError::NoProgram { .. } | AuthoringError::NoCrate(_) => Exit::Usage,
            _ => Exit::BadInput,
        };
        Failure::new(exit, e)
    })?;
    if face == Face::Component && !arguments.no_check {
        // A module that this host would refuse is no module.
        Component::from_bytes(&module, Limits::default())
            .map_err(|e| Failure::text(Exit::Module, format!("{e} [{}]", e.code())))?;
    }
    progress.finish_and_clear();

    let out = arguments.out.clone().map_or_else(|| default_out(&arguments.folder), Ok)?;
    output::write_whole(&out, &module)
        .map_err(|e| Failure::text(Exit::BadInput, format!("cannot write `{}`: {e}", out.display())))?;
    let (digest, size) = (Digest::of(&module), module.len());
    let mut stdout = output::stdout();
    if arguments.output.is_human() {
        writeln!(stdout, "{}: {size} bytes, {digest}", out.display())?;
    } else {
        output::json_line(&mut stdout, &json!({ "path": out, "size": size, "digest": digest.to_string() }))?;
    }
    stdout.flush()?;
    Ok(Exit::Done)
}

fn default_out(folder: &Path) -> Result<PathBuf, Failure> {
    let folder =
        folder.canonicalize().map_err(|e| Failure::text(Exit::Usage, format!("`{}`: {e}", folder.display())))?;
    let name = folder.file_name().map_or_else(|| "policy".into(), |n| n.to_string_lossy().into_owned());
    Ok(PathBuf::from(name + ".wasm"))
}
