//! `toolwarden policy check`.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use crate::cli::exit::{Exit, Outcome};
use crate::cli::output::{self, OutputArguments};
use crate::cli::setup::{self, PolicyArguments, Profile};
use crate::lifecycle::{Budget, Candidate, Check, ModuleFile, Refusal};
use crate::module::ModuleInfo;
use crate::settings::Settings;

const EXAMPLES: &str = "Examples:
  toolwarden policy check my-policy.wasm
  toolwarden policy check my-policy.wasm --settings toolwarden.toml
  toolwarden policy check                      the built-in module

A module goes through the same as before a swap: digest and signature where settings ask for them, contract and imports,
settings, its own vectors where settings name some, and the host's safety vectors.";

/// Arguments of `policy check`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// The module; without it the settings' one or the built-in one
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
    let checked = checked(policy.settings()?);
    let mut out = output::stdout();
    let human = arguments.output.is_human();
    let exit = match checked {
        Ok(candidate) if human => {
            let info = candidate.info();
            writeln!(out, "{} {}: can be put in force", info.name, info.version)?;
            writeln!(out, "  {}\n  {} bytes, {}", info.summary, info.size, info.digest)?;
            writeln!(out, "  imports {}", imports(info))?;
            Exit::Done
        }
        Ok(candidate) => {
            let info = candidate.info();
            let record = json!({
                "ok": true, "name": info.name, "version": info.version, "summary": info.summary, "size": info.size,
                "digest": info.digest.to_string(), "imports": info.imports,
                "wasi": if info.imports.is_empty() { "none" } else { "inert" },
            });
            output::json_line(&mut out, &record)?;
            Exit::Done
        }
        Err(refusal) => {
            if human {
                writeln!(out, "cannot be put in force: {refusal}")?;
            } else {
                let error = json!({ "code": refusal.code, "message": refusal.message, "check": refusal.check });
                output::json_line(&mut out, &json!({ "ok": false, "error": error }))?;
            }
            if refusal.code == "settings-rejected" || refusal.check == Check::Settings {
                Exit::Usage
            } else {
                Exit::Module
            }
        }
    };
    out.flush()?;
    Ok(exit)
}

fn checked(settings: Settings) -> Result<Candidate, Refusal> {
    let read = |path: &PathBuf| ModuleFile::read(path, &settings.release.provenance);
    let file = settings.module_path.as_ref().map(read).transpose()?;
    Candidate::admit(settings, file.as_ref(), Budget::default(), &setup::cache())
}

/// What a module imports, for a person.
fn imports(info: &ModuleInfo) -> String {
    if info.imports.is_empty() {
        return "nothing".into();
    }
    format!("inert WASI, which reaches nothing: {}", info.imports.join(", "))
}
