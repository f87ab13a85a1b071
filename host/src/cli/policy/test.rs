//! `toolwarden policy test`.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use toolwarden_text::visible;

use crate::authoring::{self, Face};
use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::input;
use crate::cli::output::{self, OutputArguments};
use crate::cli::setup::{self, PolicyArguments};
use crate::module::{Component, StepOutcome};
use crate::settings::Settings;
use crate::vectors::{Runner, Vector};

const EXAMPLES: &str = r#"Examples:
  toolwarden policy test                          the crate in this folder, with vectors/*.jsonl
  toolwarden policy test my-policy.wasm --vectors gate.jsonl --settings toolwarden.toml
  toolwarden policy test --filter ssh

A vector is a line of JSON, a call as for decide and what must come of it:
  {"id":"r1","note":"why","settings":{...},"call":{...},"expect":{"verdict":"ask","kind":"external-cwd"}}
expect takes verdict, kind, cwd, class, why, detail, detailContains, reasonContains, decidedBy (a rule), trail (all rules
looked at, in order).

Besides failures it tells which rules no vector reaches: rules of the module that never settled an answer, and [[rules]] of
the settings whose removal no vector notices."#;

/// Rules of the settings that are taken out one by one at most.
const MOST_RULES: usize = 500;

/// Arguments of `policy test`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// Folder of a crate, which is built first, or a module
    #[arg(default_value = ".", value_name = "FOLDER|MODULE")]
    what: PathBuf,
    /// Test the built-in module
    #[arg(long, conflicts_with = "what")]
    built_in: bool,
    /// Vectors; may be repeated. Default: vectors/*.jsonl in the folder, or beside the module
    #[arg(long, value_name = "FILE")]
    vectors: Vec<PathBuf>,
    /// Only vectors with this text in their id or note
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Settings for the vectors that bring none
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// What was seen of rules.
#[derive(Default)]
struct Rules {
    seen: BTreeSet<String>,
    settled: BTreeSet<String>,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let settings = PolicyArguments { settings: arguments.settings.clone(), profile: None, module: None }.settings()?;
    let vectors = vectors(arguments)?;
    let component = component(arguments, &settings)?;
    let human = arguments.output.is_human();
    let mut out = output::stdout();
    let mut runner = Runner::new(Arc::clone(&component), settings.clone());
    let (mut rules, mut failed) = (Rules::default(), 0_usize);
    for vector in &vectors {
        let problem = match runner.run(vector) {
            Err(problem) => Some(problem),
            Ok(judged) => {
                for step in &judged.trail {
                    rules.seen.insert(step.rule.clone());
                    if step.outcome == StepOutcome::Decided {
                        rules.settled.insert(step.rule.clone());
                    }
                }
                vector.mismatch(&judged)
            }
        };
        failed += usize::from(problem.is_some());
        match (human, problem) {
            (true, Some(problem)) => {
                writeln!(out, "FAILED  {}: {}", visible(&vector.id), visible(&problem))?;
                if !vector.note.is_empty() {
                    writeln!(out, "        {}", visible(&vector.note))?;
                }
            }
            (true, None) => {}
            (false, problem) => {
                output::json_line(&mut out, &json!({ "id": vector.id, "ok": problem.is_none(), "problem": problem }))?;
            }
        }
    }
    let unreached: Vec<&String> = rules.seen.difference(&rules.settled).collect();
    let unnoticed = if failed == 0 { unnoticed(&component, &settings, &vectors) } else { Vec::new() };
    let passed = vectors.len() - failed;
    if human {
        writeln!(out, "{passed} passed, {failed} failed")?;
        if !unreached.is_empty() {
            writeln!(
                out,
                "rules that settled no vector: {}",
                unreached.iter().map(|r| visible(r)).collect::<Vec<_>>().join(", ")
            )?;
        }
        for rule in &unnoticed {
            writeln!(out, "a rule of the settings that no vector notices: {rule}")?;
        }
    } else {
        let record = json!({
            "summary": { "passed": passed, "failed": failed, "unreached": unreached, "unnoticedRules": unnoticed },
        });
        output::json_line(&mut out, &record)?;
    }
    out.flush()?;
    Ok(if failed == 0 { Exit::Done } else { Exit::BadInput })
}

fn component(arguments: &Arguments, settings: &Settings) -> Result<Arc<Component>, Failure> {
    let refused = |e: &crate::module::LoadError| Failure::text(Exit::Module, format!("{e} [{}]", e.code()));
    if arguments.built_in {
        return Component::embedded(settings.limits).map(Arc::new).map_err(|e| refused(&e));
    }
    if !arguments.what.is_dir() {
        let mut settings = settings.clone();
        settings.module_path = Some(arguments.what.clone());
        return setup::component(&settings);
    }
    let progress = output::spinner("building");
    let module =
        authoring::build(&arguments.what, Face::Component, &[]).map_err(|e| Failure::new(Exit::BadInput, e))?;
    progress.finish_and_clear();
    Component::from_bytes(&module, settings.limits).map(Arc::new).map_err(|e| refused(&e))
}

fn vectors(arguments: &Arguments) -> Result<Vec<Vector>, Failure> {
    let files = if arguments.vectors.is_empty() { default_files(arguments)? } else { arguments.vectors.clone() };
    let mut vectors = Vec::new();
    for file in &files {
        let text = input::whole_file(file)?;
        let rows = Vector::parse_all(&text);
        vectors.extend(rows.map_err(|e| Failure::text(Exit::BadInput, format!("`{}`: {e}", file.display())))?);
    }
    if let Some(filter) = &arguments.filter {
        vectors.retain(|vector| vector.id.contains(filter.as_str()) || vector.note.contains(filter.as_str()));
    }
    if vectors.is_empty() {
        return Err(Failure::text(Exit::Usage, "there is no vector to run"));
    }
    Ok(vectors)
}

fn default_files(arguments: &Arguments) -> Result<Vec<PathBuf>, Failure> {
    let base = if arguments.what.is_dir() { Some(arguments.what.as_path()) } else { arguments.what.parent() };
    let folder = base.unwrap_or(Path::new("")).join("vectors");
    let entries = std::fs::read_dir(&folder).map_err(|e| {
        Failure::text(Exit::Usage, format!("no vectors: `{}`: {e}; name some with --vectors FILE", folder.display()))
    })?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    Ok(files)
}

/// The `[[rules]]` of the settings without which every vector comes out the same.
fn unnoticed(component: &Arc<Component>, settings: &Settings, vectors: &[Vector]) -> Vec<Value> {
    let ours: Vec<&Vector> = vectors.iter().filter(|vector| vector.settings.is_none()).collect();
    let indices = 0..settings.rules().min(MOST_RULES);
    let quiet = indices.filter(|&index| {
        let mut runner = Runner::new(Arc::clone(component), settings.without_rule(index));
        ours.iter().all(|vector| runner.run(vector).is_ok_and(|judged| vector.mismatch(&judged).is_none()))
    });
    quiet.filter_map(|index| settings.rule(index).cloned()).collect()
}
