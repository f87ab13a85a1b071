//! `toolwarden policy diff`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolwarden_text::visible;

use crate::authoring;
use crate::call::Call;
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::input;
use crate::cli::output::{self, OutputArguments};
use crate::cli::setup::{self, PolicyArguments, Profile, ToolArguments};
use crate::invoke::FactSource;
use crate::lifecycle::{Comparison, Disagreement, Safety, compare};
use crate::module::{Anatomy, Component, LoadError};
use crate::vectors::Vector;

const EXAMPLES: &str = "Examples:
  toolwarden policy diff old.wasm new.wasm
  toolwarden policy diff old.wasm new.wasm --profile locked --vectors vectors/gate.jsonl

What the modules say of themselves, what they import and export, their settings, and how their verdicts differ on the host's
own vectors and on those that are given. `toolwarden policy replay` compares them on real calls.";

/// Arguments of `policy diff`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// One module
    old: PathBuf,
    /// The other
    new: PathBuf,
    /// Settings for both
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Short for settings
    #[arg(long, value_enum)]
    profile: Option<Profile>,
    /// Vectors whose calls are judged by both; may be repeated
    #[arg(long, value_name = "FILE")]
    vectors: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let (old, new) = (portrait(&arguments.old)?, portrait(&arguments.new)?);
    let differences: Vec<Value> = old
        .iter()
        .zip(&new)
        .filter(|((_, before), (_, after))| before != after)
        .map(|((what, before), (_, after))| json!({ "what": what, "old": before, "new": after }))
        .collect();
    let (counts, disagreements) = verdicts(arguments)?;

    let mut out = output::stdout();
    if !arguments.output.is_human() {
        let record = json!({ "differences": differences, "verdicts": counts, "disagreements": disagreements });
        output::json_line(&mut out, &record)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let text = |value: &Value| visible(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)).into_owned();
    for difference in &differences {
        let member = |name: &str| difference.get(name).map(text).unwrap_or_default();
        writeln!(out, "{}\n  - {}\n  + {}", member("what"), member("old"), member("new"))?;
    }
    if differences.is_empty() {
        writeln!(out, "the same module")?;
    }
    writeln!(
        out,
        "verdicts on {} calls: {} the same, {} stricter, {} looser, {} for another reason",
        counts.calls, counts.same, counts.stricter, counts.looser, counts.other_reason
    )?;
    for Disagreement { id, verdict, candidate_verdict, tool, .. } in &disagreements {
        let (from, to) = (output::word(*verdict), output::word(*candidate_verdict));
        writeln!(out, "  {}  {from} -> {to}  {}", visible(&id.0), visible(tool))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// What can be told of a module without asking it about calls, in a fixed order.
fn portrait(path: &Path) -> Result<Vec<(String, Value)>, Failure> {
    let refused = |e: &LoadError| Failure::text(Exit::Module, format!("`{}`: {e} [{}]", path.display(), e.code()));
    let bytes = Component::read(path).map_err(|e| refused(&e))?;
    let anatomy = Anatomy::of(&bytes).map_err(|e| refused(&e))?;
    let component = Component::from_bytes(&bytes, crate::module::Limits::default()).map_err(|e| refused(&e))?;
    let info = component.info();
    let schema: Value = serde_json::from_str(&info.settings_schema).unwrap_or_default();
    let portrait = [
        ("name", json!(info.name)),
        ("version", json!(info.version)),
        ("summary", json!(info.summary)),
        ("digest", json!(info.digest.to_string())),
        ("sources", json!(authoring::stored_digest(&bytes))),
        ("size", json!(info.size)),
        ("imports", json!(anatomy.imports)),
        ("exports", json!(anatomy.exports)),
        ("settings schema", schema),
    ];
    Ok(portrait.into_iter().map(|(what, value)| (what.to_owned(), value)).collect())
}

fn verdicts(arguments: &Arguments) -> Result<(Comparison, Vec<Disagreement>), Failure> {
    let judge = |module: &PathBuf| {
        let settings = arguments.settings.clone();
        let policy = PolicyArguments { settings, profile: arguments.profile, module: Some(module.clone()) };
        setup::judge(&policy, &ToolArguments::default())
    };
    let (old, new) = (judge(&arguments.old)?, judge(&arguments.new)?);
    let mut calls: Vec<Call> = Safety::every_module().calls().cloned().collect();
    for file in &arguments.vectors {
        let vectors = Vector::parse_all(&input::whole_file(file)?);
        let vectors = vectors.map_err(|e| Failure::text(Exit::BadInput, format!("`{}`: {e}", file.display())))?;
        calls.extend(vectors.iter().map(|vector| vector.call().clone()));
    }
    let (mut counts, mut disagreements) = (Comparison::default(), Vec::new());
    for call in &calls {
        let before = old.judge(call, FactSource::Record, false).verdict;
        let after = new.judge(call, FactSource::Record, false).verdict;
        counts.count(compare(&before, &after));
        disagreements.extend(Disagreement::between(call, &before, &after));
    }
    Ok((counts, disagreements))
}
