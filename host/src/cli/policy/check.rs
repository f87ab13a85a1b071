//! `toolwarden policy check`.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::cli::exit::{Exit, Outcome};
use crate::cli::output::{self, OutputArguments};
use crate::cli::setup::{self, PolicyArguments, Profile};
use crate::module::{ConfigureError, ModuleInfo, PolicyModule};

const EXAMPLES: &str = "Examples:
  toolwarden policy check my-policy.wasm
  toolwarden policy check my-policy.wasm --settings toolwarden.toml
  toolwarden policy check                      the built-in module";

/// Arguments of `policy check`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// The module; without it the built-in one
    module: Option<PathBuf>,
    /// Settings that it is to be run under
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Short for settings
    #[arg(long, value_enum)]
    profile: Option<Profile>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let policy = PolicyArguments {
        settings: arguments.settings.clone(),
        profile: arguments.profile,
        module: arguments.module.clone(),
    };
    let settings = policy.settings()?;
    let checked =
        setup::component(&settings).map_err(|e| (e.code(), e.to_string(), Exit::Module)).and_then(|component| {
            let info = component.info().clone();
            match PolicyModule::new(Arc::new(component), &settings.policy_json()) {
                Ok(_) => Ok(info),
                Err(e @ ConfigureError::Rejected(_)) => Err(("settings-rejected", e.to_string(), Exit::Usage)),
                Err(ConfigureError::Fault(fault)) => Err((fault.code(), fault.to_string(), Exit::Module)),
            }
        });

    let mut out = output::stdout();
    let human = arguments.output.is_human();
    let exit = match checked {
        Ok(info) if human => {
            writeln!(out, "{} {}: can be used", info.name, info.version)?;
            writeln!(out, "  {}\n  {} bytes, {}", info.summary, info.size, info.digest)?;
            writeln!(out, "  imports {}", imports(&info))?;
            Exit::Done
        }
        Ok(info) => {
            let record = json!({
                "ok": true, "name": info.name, "version": info.version, "summary": info.summary, "size": info.size,
                "digest": info.digest.to_string(), "imports": info.imports,
                "wasi": if info.imports.is_empty() { "none" } else { "inert" },
            });
            output::json_line(&mut out, &record)?;
            Exit::Done
        }
        Err((code, message, exit)) if human => {
            writeln!(out, "cannot be used: {message} [{code}]")?;
            exit
        }
        Err((code, message, exit)) => {
            output::json_line(&mut out, &json!({ "ok": false, "error": { "code": code, "message": message } }))?;
            exit
        }
    };
    out.flush()?;
    Ok(exit)
}

/// What a module imports, for a person.
fn imports(info: &ModuleInfo) -> String {
    if info.imports.is_empty() {
        return "nothing".into();
    }
    format!("inert WASI, which reaches nothing: {}", info.imports.join(", "))
}
