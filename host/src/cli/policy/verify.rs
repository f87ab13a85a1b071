//! `toolwarden policy verify`.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use crate::cli::exit::{Exit, Outcome};
use crate::cli::output::{self, OutputArguments};
use crate::lifecycle::ModuleFile;
use crate::settings::Provenance;
use crate::signature::PublicKey;

const EXAMPLES: &str = "Example:
  toolwarden policy verify my-policy.wasm --key ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

/// Arguments of `policy verify`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// The module
    module: PathBuf,
    /// A public key that may have signed it; may be repeated
    #[arg(long, value_name = "KEY", required = true)]
    key: Vec<PublicKey>,
    /// The signature; default: the module's name with .sig behind
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let provenance = Provenance { sha256: None, signature: arguments.signature.clone(), keys: arguments.key.clone() };
    let verified = ModuleFile::read(&arguments.module, &provenance);
    let mut out = output::stdout();
    let human = arguments.output.is_human();
    let exit = match &verified {
        Ok(file) if human => {
            writeln!(out, "signed: {}", file.digest())?;
            Exit::Done
        }
        Ok(file) => {
            output::json_line(&mut out, &json!({ "ok": true, "digest": file.digest().to_string() }))?;
            Exit::Done
        }
        Err(refusal) if human => {
            writeln!(out, "not signed: {refusal}")?;
            Exit::Module
        }
        Err(refusal) => {
            let error = json!({ "code": refusal.code, "message": refusal.message });
            output::json_line(&mut out, &json!({ "ok": false, "error": error }))?;
            Exit::Module
        }
    };
    out.flush()?;
    Ok(exit)
}
