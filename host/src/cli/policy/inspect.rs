//! `toolwarden policy inspect`.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolwarden_text::visible;

use crate::authoring;
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::output::{self, OutputArguments};
use crate::module::{Anatomy, Component, Digest, Limits};

const EXAMPLES: &str = "Examples:
  toolwarden policy inspect my-policy.wasm
  toolwarden policy inspect my-policy.wasm --json | jq .settingsSchema";

/// Arguments of `policy inspect`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// The module
    module: PathBuf,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let refused = |e: &crate::module::LoadError| Failure::text(Exit::Module, format!("{e} [{}]", e.code()));
    let bytes = Component::read(&arguments.module).map_err(|e| refused(&e))?;
    let anatomy = Anatomy::of(&bytes).map_err(|e| refused(&e))?;
    let (digest, sources) = (Digest::of(&bytes), authoring::stored_digest(&bytes));
    let component = Component::from_bytes(&bytes, Limits::default());
    let mut out = output::stdout();
    if !arguments.output.is_human() {
        let (said, problem) = match &component {
            Ok(component) => {
                let info = component.info();
                let schema: Value = serde_json::from_str(&info.settings_schema).unwrap_or_default();
                let said = json!({ "name": info.name, "version": info.version, "summary": info.summary });
                (json!({ "module": said, "settingsSchema": schema }), Value::Null)
            }
            Err(error) => (json!({}), json!({ "code": error.code(), "message": error.to_string() })),
        };
        let mut record = json!({
            "path": arguments.module, "size": bytes.len(), "digest": digest.to_string(), "sources": sources,
            "imports": anatomy.imports, "exports": anatomy.exports, "problem": problem,
        });
        if let (Value::Object(record), Value::Object(said)) = (&mut record, said) {
            record.extend(said);
        }
        output::json_line(&mut out, &record)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    match &component {
        Ok(component) => {
            let info = component.info();
            writeln!(out, "{} {}: {}", visible(&info.name), visible(&info.version), visible(&info.summary))?;
        }
        Err(error) => writeln!(out, "cannot be used: {} [{}]", visible(&error.to_string()), error.code())?,
    }
    writeln!(out, "  size      {} bytes\n  digest    {digest}", bytes.len())?;
    writeln!(out, "  sources   {}", sources.as_deref().map_or("not told".into(), visible))?;
    let list = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", "),
    };
    writeln!(out, "  imports   {}\n  exports   {}", list(&anatomy.imports), list(&anatomy.exports))?;
    if let Ok(component) = &component {
        writeln!(out, "  settings  {}", visible(&component.info().settings_schema))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
